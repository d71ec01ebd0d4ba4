//! Lifetimes and the use of routes: section 6.2.

use crate::aodv::harness::*;
use cogtcp_routing::{Forwarding, LossCause, RoutingDropCause, RoutingEvent};

/// 6.2: each use sets the life of destination, source, next hop and previous hop to ACTIVE_ROUTE_TIMEOUT at
/// least.
#[test]
fn use_prolongs_the_routes_in_both_directions() {
    let mut node = TestNode::new(rfc());
    node.request(A, 5, rreq(2, 1, 40, None)).reply(B, rrep(SOURCE, 3, 9));
    node.at(5200);
    node.hear(A, ALL, 1, cogtcp_routing::RoutingMessage::ReplyAck);
    node.hear(B, ALL, 1, cogtcp_routing::RoutingMessage::ReplyAck);
    // 5360: 2 * 2800 - 2 * 3 * 40 ms.
    assert_eq!((node.expires(TARGET), node.expires(SOURCE)), (6000, 5360));
    node.at(5300);
    assert_eq!(node.relay(SOURCE, TARGET, A), Forwarding::Send { next_hop: B, channel: None });
    for end in [TARGET, SOURCE, A, B] {
        assert_eq!(node.expires(end), 8300, "{end}");
    }
}

/// 6.2 and 6.1: a route that nobody used ends with its life, and its number rises.
#[test]
fn an_unused_route_expires() {
    let mut node = TestNode::new(rfc());
    node.reply(A, rrep(SELF, 3, 9));
    node.data(TARGET);
    node.at(5999);
    assert!(node.route(TARGET).is_some());
    node.events();
    node.at(6000);
    assert_eq!((node.route(TARGET), node.number(TARGET)), (None, Some(10)));
    let lost = RoutingEvent::RouteLost { destination: TARGET, cause: LossCause::Expired };
    assert!(node.events().contains(&lost));
}

/// What no data took ends without an event.
#[test]
fn an_unused_route_ends_silently() {
    let mut node = TestNode::new(rfc());
    node.reply(A, rrep(SELF, 3, 9));
    node.events();
    node.reply(B, rrep(SELF, 3, 10));
    node.at(7000);
    assert_eq!((node.events(), node.route(TARGET)), (vec![], None));
}

/// Even if the host is late with the timer, a route past its life is not used.
#[test]
fn a_late_host_cannot_use_an_expired_route() {
    let mut node = TestNode::new(rfc());
    node.reply(A, rrep(SELF, 3, 9));
    // Not `at`, which would run the timer.
    node.now = ms(6000);
    assert_eq!(node.data(TARGET), Forwarding::Hold);
    assert_eq!(node.number(TARGET), Some(10));
}

/// The destination heard directly: one hop, whatever the table said; the number stays.
#[test]
fn hearing_a_node_makes_it_a_neighbor() {
    let mut node = TestNode::new(rfc());
    node.reply(A, rrep(SELF, 3, 9));
    node.data(TARGET);
    node.events();
    node.hear(TARGET, ALL, 1, cogtcp_routing::RoutingMessage::ReplyAck);
    assert_eq!(node.route(TARGET), Some((TARGET, 1, Some(9))));
    let changed = RoutingEvent::RouteChanged { destination: TARGET, from: A, to: TARGET };
    assert_eq!(node.events(), [changed]);
}

/// A node has no route to itself, whatever others say.
#[test]
fn nobody_is_told_the_way_to_himself() {
    let mut node = TestNode::new(rfc());
    node.reply(A, cogtcp_routing::message::RouteReply { destination: SELF, ..rrep(SELF, 3, 9) });
    assert_eq!(node.aodv.table().get(SELF), None);
    assert_eq!(node.data(SELF), Forwarding::Deliver);
    assert_eq!(node.relay(SELF, TARGET, A), Forwarding::Drop(RoutingDropCause::Loop));
}

/// What is not for this node is not taken in.
#[test]
fn others_messages_are_left_alone() {
    let mut node = TestNode::new(rfc());
    let reply = cogtcp_routing::RoutingMessage::Reply(rrep(B, 3, 9));
    node.hear(A, B, 35, reply);
    assert!(node.aodv.table().iter().next().is_none());
}

/// 6.2: what is heard of a neighbour gives it the life of ACTIVE_ROUTE_TIMEOUT, and takes nothing from a
/// longer one.
#[test]
fn a_shorter_life_takes_nothing_from_a_route() {
    let mut node = TestNode::new(rfc());
    let of_itself = cogtcp_routing::message::RouteReply { destination: A, ..rrep(SELF, 0, 9) };
    node.reply(A, of_itself);
    assert_eq!(node.expires(A), 6000);
    node.at(100).hear(A, ALL, 1, cogtcp_routing::RoutingMessage::ReplyAck);
    assert_eq!((node.expires(A), node.route(A)), (6000, Some((A, 1, Some(9)))));
    node.at(4000).hear(A, ALL, 1, cogtcp_routing::RoutingMessage::ReplyAck);
    assert_eq!(node.expires(A), 7000);
}
