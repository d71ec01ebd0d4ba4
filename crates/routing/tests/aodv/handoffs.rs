//! Reactions to a spectrum handoff, of the node or of a neighbour: `at_handoff`.

use crate::aodv::harness::*;
use cogtcp_routing::message::Hello;
use cogtcp_routing::{
    AodvConfig, AtHandoff, ChannelNumber, Forwarding, HostUpdate, NodeAddress, RoutingEvent, RoutingMessage,
};
use cogtcp_units::Duration;

impl TestNode {
    /// The node's receiver moves.
    fn handoff(&mut self, channel: u32) -> &mut Self {
        let channel = ChannelNumber(channel);
        self.aodv.handle_host_update(self.now, HostUpdate::Handoff { channel });
        self
    }

    /// The node learns a neighbour's channel.
    fn told(&mut self, neighbor: NodeAddress, channel: u32) -> &mut Self {
        let channel = ChannelNumber(channel);
        self.aodv.handle_host_update(self.now, HostUpdate::NeighborChannel { neighbor, channel });
        self
    }

    /// Requests sent since the last look: time to live and number asked for.
    fn requests(&mut self) -> Vec<(u8, Option<u32>)> {
        let sent = self.sent();
        sent.iter().map(|packet| (packet.ttl, as_request(packet).destination_sequence)).collect()
    }
}

/// A node whose own data goes to TARGET, over A and two more hops, with number 7.
fn with_route(at_handoff: AtHandoff) -> TestNode {
    let mut node = TestNode::new(AodvConfig { at_handoff, ..rfc() });
    node.handoff(1).reply(A, rrep(SELF, 2, 7));
    assert_eq!(node.data(TARGET), Forwarding::Send { next_hop: A, channel: None });
    node.sent();
    node.events();
    node
}

/// The network layer of MSWiM 2009 hears of a spectrum handoff: AODV then tells its neighbours that it is
/// there, as CR-AODV does.
#[test]
fn a_handoff_is_followed_by_a_hello_where_that_is_wanted() {
    for wanted in [false, true] {
        let mut node = TestNode::new(AodvConfig {
            at_handoff: if wanted { AtHandoff::Hello } else { AtHandoff::Nothing },
            ..rfc()
        });
        let notice = |channel| HostUpdate::Handoff { channel: ChannelNumber(channel) };
        node.aodv.handle_host_update(node.now, notice(1));
        assert!(node.sent().is_empty(), "where it begins is no handoff");
        node.at(500).aodv.handle_host_update(ms(500), notice(2));
        let sent = node.sent();
        assert_eq!(sent.len(), usize::from(wanted));
        let hello = Hello { sequence: 0, lifetime: Duration::from_secs(2) };
        assert!(sent.iter().all(|packet| (packet.to, packet.ttl) == (ALL, 1)));
        assert!(sent.iter().all(|packet| packet.message == RoutingMessage::Hello(hello)));
        node.at(5000);
        assert!(node.sent().is_empty(), "one hello for a handoff, and no others");
    }
}

/// A neighbour that says a hello after its handoff keeps the route to it, and is not expected to say others.
#[test]
fn a_hello_after_a_handoff_prolongs_the_route_and_promises_no_others() {
    let mut node = TestNode::new(AodvConfig { at_handoff: AtHandoff::Hello, ..rfc() });
    node.reply(A, rrep(A, 3, 0)).at(2900).hello(A, 3);
    node.at(4800);
    assert!(node.aodv.route(ms(4800), A).is_some(), "it would have ended at 3 s without use");
    node.at(20_000);
    assert!(!node.events().iter().any(|event| matches!(event, RoutingEvent::RouteLost { .. })));
}

/// A source asks with the hop count of its route and TTL_INCREMENT, for the next number: only the destination has
/// it. The route stays in use until the reply, which may come over another neighbour.
#[test]
fn a_source_seeks_another_route_after_its_handoff() {
    let mut node = with_route(AtHandoff::Search);
    node.at(500).handoff(2);
    assert_eq!(node.requests(), [(5, Some(8))], "three hops and two");
    assert_eq!(node.data(TARGET), Forwarding::Send { next_hop: A, channel: None });
    node.reply(A, rrep(SELF, 2, 7));
    assert_eq!(node.route(TARGET), Some((A, 3, Some(7))), "the old route is no news");
    node.at(600).reply(B, rrep(SELF, 3, 8));
    assert_eq!(node.data(TARGET), Forwarding::Send { next_hop: B, channel: None });
    let changed = RoutingEvent::RouteChanged { destination: TARGET, from: A, to: B };
    let events = node.events();
    assert!(events.contains(&changed), "{events:?}");
    assert!(events.iter().any(|event| matches!(event, RoutingEvent::RouteFound { hops: 4, .. })));
}

/// The first relay moved. News that is told twice, or of other neighbours, changes nothing.
#[test]
fn a_source_seeks_another_route_after_a_handoff_of_its_first_relay() {
    let mut node = with_route(AtHandoff::Search);
    node.at(500).told(B, 3);
    assert_eq!(node.requests(), []);
    node.told(A, 3);
    assert_eq!(node.requests(), [(5, Some(8))]);
    node.reply(A, rrep(SELF, 2, 8)).told(A, 3);
    assert_eq!(node.requests(), []);
    node.told(A, 4);
    assert_eq!(node.requests(), [(5, Some(9))]);
}

/// Neither a relay nor a source that has been silent for ACTIVE_ROUTE_TIMEOUT seeks; nor does another setting.
#[test]
fn only_a_source_in_use_seeks_another_route() {
    for at_handoff in [AtHandoff::Nothing, AtHandoff::Hello] {
        let mut node = with_route(at_handoff);
        node.told(A, 3).handoff(2);
        assert!(node.sent().iter().all(|packet| !matches!(packet.message, RoutingMessage::Request(_))));
    }
    let mut relay = TestNode::new(AodvConfig { at_handoff: AtHandoff::Search, ..rfc() });
    relay.handoff(1).reply(A, rrep(SELF, 2, 7));
    assert_eq!(relay.relay(SOURCE, TARGET, B), Forwarding::Send { next_hop: A, channel: None });
    relay.sent();
    relay.handoff(2).told(A, 3);
    assert_eq!(relay.requests(), []);
    let mut idle = with_route(AtHandoff::Search);
    idle.at(3000).handoff(2);
    assert_eq!(idle.requests(), []);
}

/// A search for another route that nobody answers ends, and leaves the route that is there.
#[test]
fn a_route_outlives_a_search_for_another() {
    let mut node = with_route(AtHandoff::Search);
    node.at(100).handoff(2);
    for now in (200..12_000).step_by(1000) {
        node.at(now);
        assert_eq!(node.data(TARGET), Forwarding::Send { next_hop: A, channel: None }, "{now} ms");
    }
    let asked: Vec<_> = node.requests();
    assert!(asked.iter().all(|(_, number)| *number == Some(8)), "{asked:?}");
    let events = node.events();
    assert!(events.contains(&RoutingEvent::DiscoveryFailed { destination: TARGET }), "{events:?}");
}

/// A change of power counts as a handoff: the own one, and a first relay's that no longer reaches the source.
#[test]
fn a_source_seeks_another_route_after_a_change_of_power() {
    for (at_handoff, seeks) in [(AtHandoff::Nothing, false), (AtHandoff::Search, true)] {
        for (update, is_news) in [
            (HostUpdate::Power, true),
            (HostUpdate::NeighborLost { neighbor: A }, true),
            (HostUpdate::NeighborLost { neighbor: B }, false),
        ] {
            let mut node = with_route(at_handoff);
            node.at(500).aodv.handle_host_update(ms(500), update.clone());
            let asked = if seeks && is_news { vec![(5, Some(8))] } else { vec![] };
            assert_eq!(node.requests(), asked, "{update:?}");
        }
    }
}
