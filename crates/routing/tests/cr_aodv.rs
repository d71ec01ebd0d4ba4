//! CR-AODV: what the released code adds to AODV.

use cogtcp_routing::message::RouteReply;
use cogtcp_routing::{
    AodvSettings, AtHandoff, ChannelHello, ChannelNumber, CrAodv, CrAodvConfig, CrAodvProfile, DataPacket,
    Forwarding, HostUpdate, NextHopKnowledge, NodeAddress, Routing, RoutingEvent, RoutingMessage,
    RoutingPacket,
};
use cogtcp_units::{Duration, Time};

const SELF: NodeAddress = NodeAddress::new(0);

fn node(config: CrAodvConfig) -> CrAodv {
    let mut node = CrAodv::new(SELF, config, 1);
    node.start(Time::ZERO);
    node.handle_host_update(Time::ZERO, HostUpdate::Handoff { channel: ChannelNumber(3) });
    node
}

fn hello(node: &mut CrAodv, now: Time, from: u32, channel: u32, neighbors: &[(u32, u32)]) {
    let neighbors = neighbors.iter().map(|(n, c)| (NodeAddress::new(*n), ChannelNumber(*c))).collect();
    let message = RoutingMessage::own(ChannelHello { channel: Some(ChannelNumber(channel)), neighbors });
    let to = NodeAddress::BROADCAST;
    node.handle_message(
        now,
        &RoutingPacket { from: NodeAddress::new(from), to, ttl: 1, channel: None, bytes: 0, message },
    );
}

fn sent(node: &mut CrAodv, now: Time) -> Vec<RoutingPacket> {
    std::iter::from_fn(|| node.poll_transmit(now)).collect()
}

/// `recvNotification`: a handoff is followed by a hello with the new channel and those of the neighbours, not
/// of theirs.
#[test]
fn a_handoff_is_followed_by_a_hello() {
    let mut node = node(CrAodvConfig::default());
    assert!(sent(&mut node, Time::ZERO).is_empty(), "where it begins is no handoff");
    let now = Time::from_millis(100);
    hello(&mut node, now, 1, 5, &[(0, 3), (2, 7)]);
    node.handle_host_update(now, HostUpdate::Handoff { channel: ChannelNumber(4) });
    let packets = sent(&mut node, now);
    // 8 + 4 + 8 + 10 * 8 octets, and 20 of IP.
    assert_eq!(
        (packets.len(), packets[0].to, packets[0].ttl, packets[0].bytes),
        (1, NodeAddress::BROADCAST, 1, 120)
    );
    let expected = ChannelHello {
        channel: Some(ChannelNumber(4)),
        neighbors: vec![(NodeAddress::new(1), ChannelNumber(5))],
    };
    assert_eq!(packets[0].message.get(), Some(&expected));
    assert_eq!(node.stats().packets(), 1);
}

/// A neighbour that another names stays a neighbour, with the channel that it said itself.
#[test]
fn a_neighbor_stays_one() {
    let mut node = node(CrAodvConfig::default());
    hello(&mut node, Time::ZERO, 1, 5, &[]);
    hello(&mut node, Time::ZERO, 2, 6, &[(1, 9)]);
    assert_eq!(node.channel_of(NodeAddress::new(1)), Some(ChannelNumber(5)));
    hello(&mut node, Time::ZERO, 1, 8, &[]);
    assert_eq!(node.channel_of(NodeAddress::new(1)), Some(ChannelNumber(8)));
}

/// The AODV below reacts to handoffs as AODV alone does.
#[test]
fn the_aodv_below_hears_of_handoffs() {
    let aodv = AodvSettings { at_handoff: Some(AtHandoff::Search), ..AodvSettings::default() };
    let mut node = node(CrAodvConfig { aodv, ..CrAodvConfig::default() });
    let (relay, target) = (NodeAddress::new(1), NodeAddress::new(9));
    let reply = RouteReply {
        hops: 1,
        destination: target,
        destination_sequence: 4,
        originator: SELF,
        lifetime: Duration::from_secs(100),
        acknowledge: false,
    };
    let message = RoutingMessage::Reply(reply);
    let packet = RoutingPacket { from: relay, to: SELF, ttl: 9, channel: None, bytes: 0, message };
    node.handle_message(Time::ZERO, &packet);
    let data = DataPacket { source: SELF, destination: target, previous_hop: None, hops: 0 };
    let _ = node.forward(Time::ZERO, data);
    let now = Time::from_millis(1000);
    node.handle_host_update(now, HostUpdate::NeighborChannel { neighbor: relay, channel: ChannelNumber(5) });
    // A request waits for a random time.
    let requests = sent(&mut node, Time::from_millis(2000));
    assert!(
        matches!(&requests[..], [RoutingPacket { message: RoutingMessage::Request(_), .. }]),
        "{requests:?}"
    );
}

/// At most ten neighbours fit in a hello.
#[test]
fn ten_neighbors_fit() {
    let mut node = node(CrAodvConfig::default());
    for neighbor in 1..=12 {
        hello(&mut node, Time::ZERO, neighbor, 5, &[]);
    }
    node.handle_host_update(Time::ZERO, HostUpdate::Handoff { channel: ChannelNumber(4) });
    let packets = sent(&mut node, Time::ZERO);
    assert_eq!(packets[0].message.get().map(|hello: &ChannelHello| hello.neighbors.len()), Some(10));
}

/// With shared knowledge the host knows the channel; otherwise it is that of the last hello.
#[test]
fn the_channel_of_the_next_hop() {
    for (channel_knowledge, channel) in
        [(NextHopKnowledge::Shared, None), (NextHopKnowledge::Hello, Some(ChannelNumber(5)))]
    {
        // A message of the neighbour's is to make a route to it.
        let aodv = AodvSettings { neighbor_routes: Some(true), ..AodvSettings::default() };
        let mut node = node(CrAodvConfig { channel_knowledge, aodv, ..CrAodvConfig::default() });
        hello(&mut node, Time::ZERO, 1, 5, &[]);
        let packet =
            DataPacket { source: SELF, destination: NodeAddress::new(1), previous_hop: None, hops: 0 };
        assert_eq!(node.forward(Time::ZERO, packet), Forwarding::Hold, "a hello makes no route");
        let from = NodeAddress::new(1);
        let ack = RoutingMessage::ReplyAck;
        node.handle_message(
            Time::ZERO,
            &RoutingPacket { from, to: SELF, ttl: 1, channel: None, bytes: 0, message: ack },
        );
        assert_eq!(node.forward(Time::ZERO, packet), Forwarding::Send { next_hop: from, channel });
        assert_eq!(node.route(Time::ZERO, from).unwrap().channel, channel);
    }
}

/// Of four channels the own, 3, has two receivers near and 4 alone is empty. Then the own has two, and of 2
/// and 3, with one each, either will do.
#[test]
fn the_channel_with_the_fewest_receivers_is_wanted() {
    let wanted = |near: &[u32], own: u32| {
        let mut node = node(CrAodvConfig { channels: 4, ..CrAodvConfig::default() });
        node.handle_host_update(Time::ZERO, HostUpdate::Handoff { channel: ChannelNumber(own) });
        for (index, channel) in near.iter().enumerate() {
            hello(&mut node, Time::ZERO, 1 + index as u32, *channel, &[]);
        }
        let due = Time::from_millis(1000);
        node.handle_timeout(due);
        sent(&mut node, due);
        // `channel_interval` is 500 s.
        assert!(node.poll_timeout() > Time::from_millis(500_999));
        std::iter::from_fn(|| node.poll_event()).find_map(|event| match event {
            RoutingEvent::ChannelWanted { channel } => Some(channel.0),
            _ => None,
        })
    };
    assert_eq!(wanted(&[3, 3, 1, 2], 3), Some(4));
    assert_eq!(wanted(&[1, 1, 2, 3, 4, 4], 4).map(|channel| channel == 2 || channel == 3), Some(true));
    assert_eq!(wanted(&[1, 2, 3, 4], 3), None, "none is better by one");
    assert_eq!(wanted(&[1, 1], 3), None);
}

/// A failed frame breaks a link, but in the released code; there it can be set.
#[test]
fn the_released_settings() {
    assert!(CrAodvConfig::default().aodv().link_feedback);
    let profile = Some(CrAodvProfile::Released);
    let released = CrAodvConfig { profile, ..CrAodvConfig::default() }.aodv();
    assert!(!released.link_feedback);
    assert_eq!(
        (released.request_memory().as_secs_f64(), released.my_route_timeout.as_secs_f64()),
        (6000.0, 1000.0)
    );
    let aodv = AodvSettings { link_feedback: Some(true), ..AodvSettings::default() };
    let set = CrAodvConfig { profile, aodv, ..CrAodvConfig::default() }.aodv();
    assert!(set.link_feedback && set.ttl_start == 30);
}

/// `HELLO_MSG_OPTIMIZATION`: at its choice of a channel a node says a hello if it forwarded more than ten
/// packets since the last one.
#[test]
fn only_who_forwarded_enough_says_hello() {
    for (packets, hellos) in [(10, 0), (11, 1)] {
        let aodv = AodvSettings { neighbor_routes: Some(true), ..AodvSettings::default() };
        let mut node = node(CrAodvConfig { aodv, choose_channel: false, ..CrAodvConfig::default() });
        let from = NodeAddress::new(1);
        let message = RoutingMessage::ReplyAck;
        let ack = RoutingPacket { from, to: SELF, ttl: 1, channel: None, bytes: 0, message };
        node.handle_message(Time::ZERO, &ack);
        let packet = DataPacket { source: SELF, destination: from, previous_hop: None, hops: 0 };
        for _ in 0..packets {
            assert!(matches!(node.forward(Time::ZERO, packet), Forwarding::Send { .. }));
        }
        let choices = [Time::from_millis(1000), Time::from_millis(502_000)];
        let said = choices.map(|now| {
            node.handle_timeout(now);
            let is_hello = |packet: &RoutingPacket| packet.message.get::<ChannelHello>().is_some();
            sent(&mut node, now).iter().filter(|packet| is_hello(packet)).count()
        });
        assert_eq!(said, [hellos, 0], "{packets} packets");
    }
}
