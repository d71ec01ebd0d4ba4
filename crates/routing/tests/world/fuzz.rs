//! Messages that nobody would send, in any order: no panic, time goes on, no route to oneself, and the
//! table's rules hold.

use crate::committed::{compare, compare_cases, hash};
use cogtcp_routing::message::{Hello, RouteError, RouteReply, RouteRequest};
use cogtcp_routing::search::{ForwardingMode, SearchId, SearchMessage, SearchRequest};
use cogtcp_routing::{
    Aodv, AodvConfig, AtHandoff, ChannelHello, ChannelNumber, DataPacket, HostUpdate, LostPacket,
    NodeAddress, NodeSite, Routing, RoutingMessage, RoutingPacket, RoutingSpec,
};
use cogtcp_units::{Duration, Position, RandomStream, Time};
use std::collections::BTreeMap;

struct Nonsense(RandomStream);

impl Nonsense {
    fn node(&mut self) -> NodeAddress {
        match self.0.below(12) {
            0 => NodeAddress::BROADCAST,
            1 => NodeAddress::new(u32::MAX - 1),
            other => NodeAddress::new(other as u32 - 2),
        }
    }

    // Small ones, ones just before the wrap, and any.
    fn number(&mut self) -> u32 {
        match self.0.below(3) {
            0 => self.0.below(6) as u32,
            1 => u32::MAX - self.0.below(6) as u32,
            _ => self.0.next_u64() as u32,
        }
    }

    fn maybe(&mut self) -> Option<u32> {
        let number = self.number();
        (self.0.below(3) > 0).then_some(number)
    }

    fn flag(&mut self) -> bool {
        self.0.below(2) == 0
    }

    fn span(&mut self) -> Duration {
        match self.0.below(3) {
            0 => Duration::ZERO,
            1 => Duration::MAX,
            _ => Duration::from_millis(self.0.below(10_000)),
        }
    }

    fn byte(&mut self) -> u8 {
        [0, 1, 2, 254, 255][self.0.below(5) as usize]
    }

    fn message(&mut self) -> RoutingMessage {
        match self.0.below(10) {
            6.. => RoutingMessage::own(self.search()),
            0 => RoutingMessage::Request(RouteRequest {
                hops: self.byte(),
                id: self.number(),
                destination: self.node(),
                destination_sequence: self.maybe(),
                originator: self.node(),
                originator_sequence: self.number(),
                gratuitous: self.flag(),
                destination_only: self.flag(),
            }),
            1 => RoutingMessage::Reply(RouteReply {
                hops: self.byte(),
                destination: self.node(),
                destination_sequence: self.number(),
                originator: self.node(),
                lifetime: self.span(),
                acknowledge: self.flag(),
            }),
            2 => {
                let count = self.0.below(5);
                let unreachable = (0..count).map(|_| (self.node(), self.maybe())).collect();
                RoutingMessage::Error(RouteError { unreachable })
            }
            3 => RoutingMessage::ReplyAck,
            4 => RoutingMessage::Hello(Hello { sequence: self.number(), lifetime: self.span() }),
            _ => {
                let count = self.0.below(12);
                let neighbors = (0..count).map(|_| (self.node(), ChannelNumber(self.number()))).collect();
                let channel = self.maybe().map(ChannelNumber);
                RoutingMessage::own(ChannelHello { channel, neighbors })
            }
        }
    }

    fn channel(&mut self) -> ChannelNumber {
        // A beacon has 64 bits for channels.
        ChannelNumber([0, 1, 2, 5, 63, 64, u32::MAX][self.0.below(7) as usize])
    }

    fn place(&mut self) -> Position {
        let far = [1.0, 300.0, 1e12][self.0.below(3) as usize];
        Position::new(self.0.uniform_in(-far, far), self.0.uniform_in(-far, far))
    }

    fn search(&mut self) -> SearchMessage {
        let search = SearchId { source: self.node(), destination: self.node(), number: self.number() };
        match self.0.below(7) {
            0 => SearchMessage::Beacon { position: self.place(), occupied: self.0.next_u64() },
            1 => {
                let count = self.0.below(4);
                let mut path: Vec<_> =
                    (0..count).map(|_| (self.node(), Time::from_millis(self.0.below(9000)))).collect();
                if self.flag() {
                    path.insert(0, (search.source, Time::ZERO));
                }
                let mode = if self.flag() {
                    ForwardingMode::Greedy
                } else {
                    ForwardingMode::Avoiding { decision: self.0.uniform() * 900.0 }
                };
                let (channel, target) = (self.channel(), self.place());
                SearchMessage::Request(SearchRequest { search, channel, target, path, mode })
            }
            2 => {
                let count = self.0.below(4);
                let mut path: Vec<_> = (0..count).map(|_| (self.node(), self.channel())).collect();
                if self.flag() {
                    path.insert(0, (search.source, ChannelNumber(1)));
                    path.push((search.destination, ChannelNumber(1)));
                }
                SearchMessage::Reply { search, path }
            }
            3 => SearchMessage::Error(search),
            4 => SearchMessage::Switch { search, channel: self.channel(), upstream: self.flag() },
            5 => SearchMessage::Handover {
                search,
                previous: self.node(),
                next: (self.node(), self.channel(), self.byte()),
                receive: self.channel(),
                anchor: self.place(),
            },
            _ => SearchMessage::Takeover { search, replaced: self.node() },
        }
    }

    fn packet(&mut self) -> RoutingPacket {
        let message = self.message();
        let (from, to, ttl) = (self.node(), self.node(), self.byte());
        let to = if self.flag() { NodeAddress::BROADCAST } else { to };
        RoutingPacket { from, to, ttl, channel: None, bytes: 0, message }
    }

    fn data(&mut self) -> DataPacket {
        let previous_hop = if self.flag() { None } else { Some(self.node()) };
        DataPacket { source: self.node(), destination: self.node(), previous_hop, hops: 3 }
    }

    /// One call, at `now`.
    /// Calls the node once, and returns a hash of what the node says then.
    fn poke(&mut self, now: Time, node: &mut dyn Routing) -> u64 {
        match self.0.below(10) {
            0..5 => {
                let packet = self.packet();
                node.handle_message(now, &packet);
            }
            5 => {
                let data = self.data();
                node.forward(now, data);
            }
            6 => {
                let (neighbor, data) = (self.node(), self.data());
                let _ = node.handle_link_failure(now, neighbor, LostPacket::Data(data));
            }
            7 => {
                let (neighbor, packet) = (self.node(), self.packet());
                let _ = node.handle_link_failure(now, neighbor, LostPacket::Routing(&packet));
            }
            8 => {
                let channel = ChannelNumber(self.number());
                let position = Position::new(self.0.uniform_in(-9e3, 9e3), self.0.uniform_in(-9e3, 9e3));
                let notice = match self.0.below(5) {
                    0 => HostUpdate::Handoff { channel },
                    1 => HostUpdate::PrimaryUser { channel, active: self.flag() },
                    2 => HostUpdate::Position(position),
                    3 => HostUpdate::Location { node: self.node(), position },
                    _ => HostUpdate::NeighborChannel { neighbor: self.node(), channel },
                };
                node.handle_host_update(now, notice);
            }
            _ => node.handle_timeout(now),
        }
        // Nobody sends without end at one instant.
        let mut sent: Vec<_> = std::iter::from_fn(|| node.poll_transmit(now)).take(5000).collect();
        assert!(sent.len() < 5000);
        let events: Vec<_> = std::iter::from_fn(|| node.poll_event()).collect();
        node.handle_timeout(now);
        sent.extend(std::iter::from_fn(|| node.poll_transmit(now)));
        assert!(node.poll_timeout() > now, "{:?} at {now:?}: {node:?}", node.poll_timeout());
        hash(format!("{sent:?} {events:?} {:?}", node.poll_timeout()).as_bytes())
    }
}

#[test]
fn constants_of_profiles() {
    let profiles = [AodvConfig::rfc(), AodvConfig::ns2(), AodvConfig::ns3()];
    compare("profiles", &profiles.map(|profile| format!("{profile:#?}\n")).concat());
}

#[test]
fn every_protocol_survives_nonsense() {
    let mut digests = Vec::new();
    for (index, info) in RoutingSpec::ALL.iter().enumerate() {
        for seed in 0..20 {
            let mut nonsense = Nonsense(RandomStream::new(seed, "nonsense", index as u64));
            let mut node = RoutingSpec::of_name(info.name)
                .unwrap()
                .kind()
                .build(NodeSite::new(NodeAddress::new(0), seed));
            let mut now = Time::ZERO;
            node.start(now);
            let mut digest = 0u64;
            for _ in 0..2000 {
                if nonsense.0.below(3) == 0 {
                    now += Duration::from_micros(nonsense.0.below(400_000));
                }
                digest = digest.rotate_left(7) ^ nonsense.poke(now, &mut *node);
                assert_eq!(node.route(now, NodeAddress::new(0)), None);
            }
            digests.push(digest);
        }
    }
    compare_cases("nonsense", digests.into_iter());
}

/// What loop freedom rests on: the number of an entry never goes back, whatever is said.
#[test]
fn numbers_never_go_back() {
    for seed in 0..40 {
        let mut nonsense = Nonsense(RandomStream::new(seed, "numbers", 0));
        let mut node = Aodv::new(
            NodeAddress::new(0),
            AodvConfig { at_handoff: AtHandoff::Search, ..AodvConfig::ns3() },
            seed,
        );
        let (mut now, mut numbers) = (Time::ZERO, BTreeMap::new());
        node.start(now);
        for _ in 0..2000 {
            now += Duration::from_micros(nonsense.0.below(200_000));
            nonsense.poke(now, &mut node);
            for (destination, route) in node.table().iter() {
                let before = numbers.insert(destination, route.sequence).flatten();
                if let Some(before) = before {
                    let after = route.sequence.unwrap();
                    assert!(!cogtcp_routing::table::is_newer(before, after), "{before} became {after}");
                }
            }
        }
    }
}

/// The same calls give the same answers.
#[test]
fn the_same_seed_is_the_same_run() {
    let run = |seed| {
        let mut nonsense = Nonsense(RandomStream::new(5, "twice", 0));
        let mut node = Aodv::new(NodeAddress::new(0), AodvConfig::rfc(), seed);
        let mut sent = Vec::new();
        for step in 0..3000 {
            let now = Time::from_millis(step * 7);
            let packet = nonsense.packet();
            node.handle_message(now, &packet);
            node.handle_timeout(now);
            sent.extend(
                std::iter::from_fn(|| node.poll_transmit(now)).map(|packet| format!("{now:?} {packet:?}")),
            );
        }
        sent
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2), "the jitter is the run's");
}
