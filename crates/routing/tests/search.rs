//! SEARCH among nodes that stand where the test puts them: greedy paths, the route around a primary user, the
//! joint choice of channels, and what keeps routes.

use cogtcp_routing::search::{Search, SearchConfig, SearchId, SearchMessage};
use cogtcp_routing::{
    ChannelNumber, DataPacket, Forwarding, HostUpdate, LostPacket, MessageKind, NodeAddress, Routing,
    RoutingDropCause, RoutingEvent, RoutingMessage, RoutingPacket,
};
use cogtcp_units::{Duration, Position, Time};
use std::collections::BTreeMap;

fn node(number: u32) -> NodeAddress {
    NodeAddress::new(number)
}

/// Nodes with a range of 250 m. A frame takes 1 ms, or what the test says for its channel.
struct Air {
    nodes: Vec<Search>,
    places: Vec<Position>,
    flying: BTreeMap<(Time, u64), RoutingPacket>,
    count: u64,
    now: Time,
    latency: BTreeMap<u32, u64>,
    events: Vec<(u32, RoutingEvent)>,
}

impl Air {
    fn new(places: &[(f64, f64)], channels: u32) -> Self {
        let config = SearchConfig { channels, ..SearchConfig::default() };
        let nodes = (0..places.len()).map(|n| Search::new(node(n as u32), config, 1)).collect();
        let places: Vec<_> = places.iter().map(|(x, y)| Position::new(*x, *y)).collect();
        let mut air = Self {
            nodes,
            places,
            flying: BTreeMap::new(),
            count: 0,
            now: Time::ZERO,
            latency: BTreeMap::new(),
            events: Vec::new(),
        };
        for number in 0..air.nodes.len() {
            air.nodes[number].handle_host_update(Time::ZERO, HostUpdate::Position(air.places[number]));
            air.nodes[number].start(Time::ZERO);
        }
        air
    }

    /// Lets this many ms pass.
    fn pass(&mut self, millis: u64) {
        let end = self.now + Duration::from_millis(millis);
        loop {
            self.settle();
            let arrives = self.flying.first_key_value().map_or(Time::MAX, |((time, _), _)| *time);
            let due = self.nodes.iter().map(Routing::poll_timeout).min().unwrap_or(Time::MAX);
            let next = arrives.min(due);
            if next > end {
                break;
            }
            self.now = next;
            if arrives <= due {
                let packet = self.flying.pop_first().unwrap().1;
                self.arrive(&packet);
            } else {
                self.nodes
                    .iter_mut()
                    .filter(|node| node.poll_timeout() <= next)
                    .for_each(|node| node.handle_timeout(next));
            }
        }
        self.now = end;
    }

    fn arrive(&mut self, packet: &RoutingPacket) {
        let from = packet.from.number() as usize;
        for number in 0..self.nodes.len() {
            let near = number != from && self.places[number].distance(self.places[from]) <= 250.0;
            if near && (packet.to.is_broadcast() || packet.to == node(number as u32)) {
                self.nodes[number].handle_message(self.now, packet);
            }
        }
        let gone = !packet.to.is_broadcast()
            && self.places[packet.to.number() as usize].distance(self.places[from]) > 250.0;
        if gone {
            let _ = self.nodes[from].handle_link_failure(self.now, packet.to, LostPacket::Routing(packet));
        }
    }

    fn settle(&mut self) {
        for number in 0..self.nodes.len() {
            while let Some(event) = self.nodes[number].poll_event() {
                if let RoutingEvent::LocationWanted { node: other } = event {
                    let position = self.places[other.number() as usize];
                    self.nodes[number]
                        .handle_host_update(self.now, HostUpdate::Location { node: other, position });
                }
                self.events.push((number as u32, event));
            }
            while let Some(packet) = self.nodes[number].poll_transmit(self.now) {
                let millis =
                    packet.channel.and_then(|channel| self.latency.get(&channel.0)).copied().unwrap_or(1);
                self.flying.insert((self.now + Duration::from_millis(millis), self.count), packet);
                self.count += 1;
            }
        }
    }

    fn data(&mut self, source: u32, destination: u32) -> Forwarding {
        let packet =
            DataPacket { source: node(source), destination: node(destination), previous_hop: None, hops: 0 };
        self.nodes[source as usize].forward(self.now, packet)
    }

    /// The route of a packet, with the channel of each hop; `None` if it does not arrive.
    fn route(&mut self, source: u32, destination: u32) -> Option<Vec<(u32, u32)>> {
        let (mut at, mut previous_hop, mut route) = (source, None, Vec::new());
        while at != destination {
            let packet =
                DataPacket { source: node(source), destination: node(destination), previous_hop, hops: 1 };
            let Forwarding::Send { next_hop, channel } = self.nodes[at as usize].forward(self.now, packet)
            else {
                return None;
            };
            route.push((at, channel?.0));
            previous_hop = Some(node(at));
            at = next_hop.number();
            assert!(route.len() <= self.nodes.len(), "a loop: {route:?}");
        }
        Some(route)
    }

    fn occupy(&mut self, number: u32, channel: u32) {
        let notice = HostUpdate::PrimaryUser { channel: ChannelNumber(channel), active: true };
        self.nodes[number as usize].handle_host_update(self.now, notice);
    }

    /// Seeks a route and waits for it.
    fn seek(&mut self, source: u32, destination: u32) -> Option<Vec<(u32, u32)>> {
        // Until everybody has heard beacons, one a second.
        self.pass(1500);
        assert_eq!(self.data(source, destination), Forwarding::Hold);
        // The destination collects requests for 100 ms.
        self.pass(900);
        self.route(source, destination)
    }

    fn count(&self, number: u32, kind: MessageKind) -> u64 {
        self.nodes[number as usize].stats().of(kind)
    }
}

const CHAIN: [(f64, f64); 5] = [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0), (600.0, 0.0), (800.0, 0.0)];

/// On a chain the greedy path is the chain, on the lowest channel; one request a hop and channel.
#[test]
fn a_chain() {
    let mut air = Air::new(&CHAIN, 3);
    assert_eq!(air.seek(0, 4), Some(vec![(0, 1), (1, 1), (2, 1), (3, 1)]));
    assert_eq!(air.nodes[0].route(air.now, node(4)).unwrap().hops, 4);
    for number in 0..4 {
        assert_eq!(air.count(number, MessageKind::Request), 3, "node {number}");
    }
    let found = |(number, event): &(u32, RoutingEvent)| {
        *number == 0 && matches!(event, RoutingEvent::RouteFound { hops: 4, .. })
    };
    assert!(air.events.iter().any(found));
    // Receivers are asked onto the channel of the hop before them.
    let wanted = RoutingEvent::ChannelWanted { channel: ChannelNumber(1) };
    let asked: Vec<u32> = air.events.iter().filter(|(_, event)| *event == wanted).map(|(n, _)| *n).collect();
    assert_eq!(asked, [4, 3, 2, 1]);
}

/// The neighbour nearest to the destination is 2, but off the focus region of 45 degrees: 1 is taken.
#[test]
fn greedy_keeps_to_the_focus_region() {
    let places = [(0.0, 0.0), (60.0, 0.0), (90.0, 100.0), (200.0, 240.0), (290.0, 0.0)];
    let mut air = Air::new(&places, 1);
    assert_eq!(air.seek(0, 4), Some(vec![(0, 1), (1, 1)]));
}

/// A primary user on channel 1 around node 2 of the chain: channel 1 goes around by 5 and 6, if there is no
/// other channel.
#[test]
fn around_a_primary_user() {
    let mut places = CHAIN.to_vec();
    places.extend([(300.0, 150.0), (500.0, 150.0)]);
    let mut air = Air::new(&places, 1);
    air.occupy(2, 1);
    let route = air.seek(0, 4).unwrap();
    assert_eq!(route.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 1, 5, 6, 3]);
}

/// 5 is nearer to the destination than the decision point 1 (587 m to 600 m), so greedy works again there: it
/// takes 6, which is nearest, and not 7, which comes first counter-clockwise.
#[test]
fn greedy_works_again_beyond_the_primary_user() {
    let mut places = CHAIN.to_vec();
    places.extend([(260.0, 230.0), (500.0, 200.0), (396.0, 167.0)]);
    let mut air = Air::new(&places, 1);
    air.occupy(2, 1);
    let route = air.seek(0, 4).unwrap();
    assert_eq!(route.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 1, 5, 6, 3]);
}

/// 5 is farther from the destination than the decision point 1 (693 m to 600 m): greedy does not work there
/// yet, and would take 7, which is nearest. 6 comes first counter-clockwise.
#[test]
fn greedy_does_not_work_before_the_decision_point_is_passed() {
    let mut places = CHAIN.to_vec();
    places.extend([(150.0, 240.0), (300.0, 235.0), (385.0, 290.0), (480.0, 150.0)]);
    let mut air = Air::new(&places, 1);
    air.occupy(2, 1);
    let route = air.seek(0, 4).unwrap();
    assert_eq!(route.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 1, 5, 6, 8, 3]);
}

/// Counter-clockwise from 5 the source comes before 6: it is on the path already, and passed over.
#[test]
fn a_request_goes_to_nobody_twice() {
    let mut places = CHAIN.to_vec();
    places.extend([(150.0, 190.0), (110.0, -40.0), (300.0, -160.0), (500.0, -150.0)]);
    let mut air = Air::new(&places, 1);
    air.occupy(2, 1);
    let route = air.seek(0, 4).unwrap();
    assert_eq!(route.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 1, 5, 6, 7, 8, 3]);
}

/// A primary user on channel 1 at the source: it asks on channel 2 alone.
#[test]
fn no_request_on_a_channel_that_is_taken_here() {
    let mut air = Air::new(&CHAIN, 2);
    air.occupy(0, 1);
    assert_eq!(air.seek(0, 4), Some(vec![(0, 2), (1, 2), (2, 2), (3, 2)]));
    assert_eq!(air.count(0, MessageKind::Request), 1);
}

/// With a second channel the chain itself is free, and faster than the route around on channel 1.
#[test]
fn another_channel_through_a_primary_user() {
    let mut places = CHAIN.to_vec();
    places.extend([(300.0, 150.0), (500.0, 150.0)]);
    let mut air = Air::new(&places, 2);
    air.occupy(2, 1);
    assert_eq!(air.seek(0, 4), Some(vec![(0, 2), (1, 2), (2, 2), (3, 2)]));
}

/// A primary user on the only channel that blocks the only relay: no route; when it is gone, one.
#[test]
fn a_primary_user_that_blocks_the_only_relay() {
    let mut air = Air::new(&CHAIN, 1);
    air.occupy(2, 1);
    assert_eq!(air.seek(0, 4), None);
    air.pass(2500);
    let failed = RoutingEvent::DiscoveryFailed { destination: node(4) };
    assert!(air.events.contains(&(0, failed)));
    air.nodes[2]
        .handle_host_update(air.now, HostUpdate::PrimaryUser { channel: ChannelNumber(1), active: false });
    assert_eq!(air.seek(0, 4).map(|route| route.len()), Some(4));
}

/// Channel 1 is slow (20 ms a hop) and channel 2 fast (2 ms): 2 is chosen; if a primary user bars it at node
/// 1, whose only route on is the chain, 1 is.
#[test]
fn the_fastest_channel_is_chosen() {
    let mut air = Air::new(&CHAIN, 2);
    air.latency = BTreeMap::from([(1, 20), (2, 2)]);
    assert_eq!(air.seek(0, 4), Some(vec![(0, 2), (1, 2), (2, 2), (3, 2)]));
    let mut air = Air::new(&CHAIN, 2);
    air.latency = BTreeMap::from([(1, 20), (2, 2)]);
    air.occupy(1, 2);
    assert_eq!(air.seek(0, 4), Some(vec![(0, 1), (1, 1), (2, 1), (3, 1)]));
}

/// A primary user comes on the channel of a route, at node 2: both of its hops move to another channel,
/// without a search.
#[test]
fn a_route_leaves_the_channel_of_a_primary_user() {
    let mut air = Air::new(&CHAIN, 2);
    air.seek(0, 4).unwrap();
    air.occupy(2, 1);
    air.pass(20);
    assert_eq!(air.route(0, 4), Some(vec![(0, 1), (1, 2), (2, 2), (3, 1)]));
    assert_eq!(air.nodes[0].stats().discoveries, 1);
    let wanted = |number| (number, RoutingEvent::ChannelWanted { channel: ChannelNumber(2) });
    assert!(air.events.contains(&wanted(2)) && air.events.contains(&wanted(3)));
}

/// Without another channel the route ends, the source is told, and its next packet seeks again.
#[test]
fn a_route_without_a_channel_ends() {
    let mut air = Air::new(&CHAIN, 1);
    air.seek(0, 4).unwrap();
    air.occupy(2, 1);
    air.pass(20);
    assert_eq!(air.route(0, 4), None);
    let lost = air.events.iter().filter(|(_, event)| matches!(event, RoutingEvent::RouteLost { .. }));
    assert_eq!(lost.map(|(number, _)| *number).collect::<Vec<_>>(), [2, 1, 0]);
}

/// Node 2 walks off; node 5 stands near its anchor and takes its place, without a search and without a gap.
#[test]
fn a_neighbor_takes_the_place_of_a_node_that_leaves() {
    let mut places = CHAIN.to_vec();
    places.push((410.0, 30.0));
    let mut air = Air::new(&places, 1);
    // 5 is off the line when the route is made, so that it is not chosen at once.
    air.places[5] = Position::new(410.0, 200.0);
    air.nodes[5].handle_host_update(Time::ZERO, HostUpdate::Position(air.places[5]));
    assert_eq!(air.seek(0, 4).unwrap()[2].0, 2);
    air.places[5] = Position::new(410.0, 30.0);
    air.nodes[5].handle_host_update(air.now, HostUpdate::Position(air.places[5]));
    air.pass(1500);
    air.places[2] = Position::new(400.0, -60.0);
    air.nodes[2].handle_host_update(air.now, HostUpdate::Position(air.places[2]));
    air.pass(50);
    let route = air.route(0, 4).unwrap();
    assert_eq!(route.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 1, 5, 3]);
    assert_eq!(air.nodes[0].stats().discoveries, 1);
    // 2 offers its place; 5 tells both neighbours of the place that it has taken it.
    assert!(air.count(2, MessageKind::Repair) == 1 && air.count(5, MessageKind::Repair) == 2);
}

/// The place goes to the neighbour nearest to the anchor, and only when its node is off it by more than the
/// threshold of 50 m.
#[test]
fn a_place_is_offered_beyond_the_threshold_to_the_nearest() {
    let mut places = CHAIN.to_vec();
    places.extend([(410.0, 200.0), (390.0, 200.0)]);
    let mut air = Air::new(&places, 1);
    assert_eq!(air.seek(0, 4).unwrap()[2].0, 2);
    for (number, place) in [(5, (410.0, 40.0)), (6, (400.0, 10.0))] {
        air.places[number] = Position::new(place.0, place.1);
        air.nodes[number].handle_host_update(air.now, HostUpdate::Position(air.places[number]));
    }
    air.pass(1500);
    let leave = |air: &mut Air, off: f64| {
        air.places[2] = Position::new(400.0, -off);
        air.nodes[2].handle_host_update(air.now, HostUpdate::Position(air.places[2]));
        air.pass(50);
        let route = air.route(0, 4).unwrap();
        (air.count(2, MessageKind::Repair), route[2].0)
    };
    assert_eq!(leave(&mut air, 49.0), (0, 2));
    assert_eq!(leave(&mut air, 51.0), (1, 6));
}

/// Who does not hear both sides of a place does not take it.
#[test]
fn a_place_needs_both_neighbors() {
    for (next_hop, taken) in [(1, Some(1)), (7, None)] {
        let mut search = alone();
        let handover = SearchMessage::Handover {
            search: named(5),
            previous: node(2),
            next: (node(next_hop), ChannelNumber(1), 2),
            receive: ChannelNumber(1),
            anchor: Position::new(0.0, 0.0),
        };
        tell(&mut search, 2, handover);
        assert_eq!(next(&mut search), taken);
    }
}

/// A node that leaves a lost link tells the source; requests that fail go to another neighbour.
#[test]
fn a_broken_link_ends_the_route() {
    let mut air = Air::new(&CHAIN, 1);
    air.seek(0, 4).unwrap();
    let data = DataPacket { source: node(0), destination: node(4), previous_hop: Some(node(1)), hops: 1 };
    let _ = air.nodes[2].handle_link_failure(air.now, node(3), LostPacket::Data(data));
    air.pass(20);
    assert_eq!(air.route(0, 4), None);
    let data = DataPacket { source: node(9), destination: node(4), previous_hop: Some(node(1)), hops: 1 };
    assert_eq!(air.nodes[2].forward(air.now, data), Forwarding::Drop(RoutingDropCause::NoRoute));
}

/// An unused route ends after its lifetime of 10 s, a used one does not.
#[test]
fn a_route_lives_while_it_is_used() {
    let mut air = Air::new(&CHAIN, 1);
    air.seek(0, 4).unwrap();
    air.pass(9000);
    assert!(air.route(0, 4).is_some());
    air.pass(9000);
    assert!(air.route(0, 4).is_some());
    air.pass(10_001);
    assert_eq!(air.route(0, 4), None);
}

/// Beacons say where a node is and what it senses, and go out at once when that changes.
#[test]
fn beacons() {
    let mut air = Air::new(&CHAIN[..2], 1);
    air.pass(10_000);
    let sent = air.count(0, MessageKind::Hello);
    assert!((8..=11).contains(&sent), "{sent} in 10 s");
    let now = air.now;
    air.occupy(0, 1);
    let packet = air.nodes[0].poll_transmit(now).unwrap();
    let Some(message) = packet.message.get::<SearchMessage>() else { panic!("{packet:?}") };
    // Bit 1 is channel 1.
    assert_eq!(*message, SearchMessage::Beacon { position: Position::new(0.0, 0.0), occupied: 0b10 });
    assert_eq!((packet.bytes, packet.ttl, packet.channel), (48, 1, None));
}

/// A node on its own, with neighbours 1 and 2 that said beacons, and primary users nowhere.
fn alone() -> Search {
    let mut search = Search::new(node(0), SearchConfig { channels: 2, ..SearchConfig::default() }, 1);
    search.handle_host_update(Time::ZERO, HostUpdate::Position(Position::new(0.0, 0.0)));
    for neighbor in [1, 2] {
        let position = Position::new(100.0 * f64::from(neighbor), 0.0);
        tell(&mut search, neighbor, SearchMessage::Beacon { position, occupied: 0 });
    }
    search
}

fn tell(search: &mut Search, from: u32, message: SearchMessage) {
    let message = RoutingMessage::own(message);
    let (from, to) = (node(from), node(0));
    search.handle_message(Time::ZERO, &RoutingPacket { from, to, ttl: 1, channel: None, bytes: 0, message });
}

fn named(number: u32) -> SearchId {
    SearchId { source: node(8), destination: node(9), number }
}

/// A reply that puts node 0 between `before` and `after` on the route from 8 to 9.
fn reply(number: u32, before: u32, after: u32) -> SearchMessage {
    let path = [8, before, 0, after, 9].map(|hop| (node(hop), ChannelNumber(1))).to_vec();
    SearchMessage::Reply { search: named(number), path }
}

fn next(search: &mut Search) -> Option<u32> {
    let packet = DataPacket { source: node(8), destination: node(9), previous_hop: Some(node(1)), hops: 1 };
    match search.forward(Time::ZERO, packet) {
        Forwarding::Send { next_hop, .. } => Some(next_hop.number()),
        _ => None,
    }
}

/// What keeps old and new routes of a pair from forming a loop: an older search never takes the place of a
/// newer one, nor a second reply of the same search that of the first.
#[test]
fn an_older_search_counts_no_more() {
    let mut search = alone();
    tell(&mut search, 2, reply(5, 1, 2));
    assert_eq!(next(&mut search), Some(2));
    tell(&mut search, 1, reply(4, 2, 1));
    tell(&mut search, 1, reply(5, 2, 1));
    assert_eq!(next(&mut search), Some(2));
    tell(&mut search, 1, reply(6, 2, 1));
    assert_eq!(next(&mut search), Some(1));
}

/// A node that has, or had, a place on the route of a search takes no second one: it would come twice on it.
#[test]
fn nobody_comes_twice_on_a_route() {
    let handover = |number| SearchMessage::Handover {
        search: named(number),
        previous: node(2),
        next: (node(1), ChannelNumber(1), 2),
        receive: ChannelNumber(1),
        anchor: Position::new(0.0, 0.0),
    };
    let mut search = alone();
    tell(&mut search, 2, reply(5, 1, 2));
    tell(&mut search, 7, handover(5));
    assert_eq!(next(&mut search), Some(2));
    tell(&mut search, 2, SearchMessage::Error(named(5)));
    tell(&mut search, 7, handover(5));
    assert_eq!(next(&mut search), None, "had one");
    tell(&mut search, 7, handover(6));
    assert_eq!(next(&mut search), Some(1));
}

/// Whoever is told to use another channel of a route is on that route, and on the side that the message says:
/// the next hop tells on which channel to send to it, the previous one on which to listen.
#[test]
fn only_the_neighbors_of_a_route_move_it_to_another_channel() {
    let switch = |number, upstream| SearchMessage::Switch {
        search: named(number),
        channel: ChannelNumber(2),
        upstream,
    };
    let channel = |search: &mut Search| {
        let packet =
            DataPacket { source: node(8), destination: node(9), previous_hop: Some(node(1)), hops: 1 };
        match search.forward(Time::ZERO, packet) {
            Forwarding::Send { channel, .. } => channel,
            other => panic!("{other:?}"),
        }
    };
    let wanted = |search: &mut Search| {
        let mut wanted = Vec::new();
        while let Some(event) = search.poll_event() {
            if let RoutingEvent::ChannelWanted { channel } = event {
                wanted.push(channel);
            }
        }
        wanted
    };
    let one = Some(ChannelNumber(1));
    let mut search = alone();
    tell(&mut search, 2, reply(5, 1, 2));
    wanted(&mut search);
    tell(&mut search, 1, switch(5, true));
    tell(&mut search, 7, switch(5, true));
    assert_eq!(channel(&mut search), one, "neither is the next hop");
    tell(&mut search, 2, switch(5, false));
    tell(&mut search, 7, switch(5, false));
    assert_eq!((channel(&mut search), wanted(&mut search)), (one, vec![]), "neither is the previous hop");
    tell(&mut search, 2, switch(4, true));
    assert_eq!(channel(&mut search), one, "of an older search");
    tell(&mut search, 1, switch(5, false));
    assert_eq!((channel(&mut search), wanted(&mut search)), (one, vec![ChannelNumber(2)]));
    tell(&mut search, 2, switch(5, true));
    assert_eq!(channel(&mut search), Some(ChannelNumber(2)));
}

/// What `search` sent and said since the last look.
fn done(search: &mut Search, now: Time) -> (Vec<RoutingPacket>, Vec<RoutingEvent>) {
    let sent = std::iter::from_fn(|| search.poll_transmit(now)).collect();
    (sent, std::iter::from_fn(|| search.poll_event()).collect())
}

/// A newer search takes the place of a route: a change, unless that route was over.
#[test]
fn a_route_that_lives_is_changed_by_a_newer_search() {
    let changed = |later: Time| {
        let mut search = alone();
        tell(&mut search, 2, reply(5, 1, 2));
        let message = RoutingMessage::own(reply(6, 2, 1));
        let (from, to) = (node(1), node(0));
        search.handle_message(later, &RoutingPacket { from, to, ttl: 1, channel: None, bytes: 0, message });
        let change = RoutingEvent::RouteChanged { destination: node(9), from: node(2), to: node(1) };
        done(&mut search, later).1.contains(&change)
    };
    assert!(changed(Time::from_millis(9_999)));
    assert!(!changed(Time::from_millis(10_000)), "a route lives for 10 s");
}

/// An error ends a route only where it comes from the next hop.
#[test]
fn only_the_next_hop_ends_a_route() {
    let mut search = alone();
    tell(&mut search, 2, reply(5, 1, 2));
    for stranger in [1, 7] {
        tell(&mut search, stranger, SearchMessage::Error(named(5)));
        assert_eq!(next(&mut search), Some(2));
    }
    tell(&mut search, 2, SearchMessage::Error(named(5)));
    assert_eq!(next(&mut search), None);
}

/// A node that leaves its anchor offers its place on a route that lives, and none on one that has ended.
#[test]
fn a_place_on_a_route_that_ended_is_not_offered() {
    let offers = |ends: bool| {
        let mut search = alone();
        let beside = SearchMessage::Beacon { position: Position::new(10.0, 10.0), occupied: 0 };
        tell(&mut search, 3, beside);
        tell(&mut search, 2, reply(5, 1, 2));
        if ends {
            tell(&mut search, 2, SearchMessage::Error(named(5)));
        }
        done(&mut search, Time::ZERO);
        search.handle_host_update(Time::ZERO, HostUpdate::Position(Position::new(0.0, -60.0)));
        let sent = done(&mut search, Time::ZERO).0;
        sent.iter().filter(|packet| packet.to == node(3)).count()
    };
    assert_eq!((offers(false), offers(true)), (1, 0));
}

/// A primary user on the channel on which a node receives moves that hop and leaves the hop onwards where it
/// is.
#[test]
fn the_hop_onwards_keeps_its_channel() {
    let mut search = Search::new(node(0), SearchConfig { channels: 4, ..SearchConfig::default() }, 1);
    search.handle_host_update(Time::ZERO, HostUpdate::Position(Position::new(0.0, 0.0)));
    for neighbor in [1, 2] {
        let position = Position::new(100.0 * f64::from(neighbor), 0.0);
        tell(&mut search, neighbor, SearchMessage::Beacon { position, occupied: 0 });
    }
    let path =
        [(8, 1), (1, 1), (0, 4), (2, 4), (9, 4)].map(|(hop, channel)| (node(hop), ChannelNumber(channel)));
    tell(&mut search, 2, SearchMessage::Reply { search: named(5), path: path.to_vec() });
    done(&mut search, Time::ZERO);
    search
        .handle_host_update(Time::ZERO, HostUpdate::PrimaryUser { channel: ChannelNumber(1), active: true });
    let switch = |packet: &RoutingPacket| match packet.message.get() {
        Some(SearchMessage::Switch { channel, upstream, .. }) => Some((packet.to, *channel, *upstream)),
        _ => None,
    };
    let told: Vec<_> = done(&mut search, Time::ZERO).0.iter().filter_map(switch).collect();
    assert_eq!(told, [(node(1), ChannelNumber(2), true)]);
}
