//! Broken links and route errors: sections 6.10 and 6.11.

use crate::aodv::harness::*;
use cogtcp_routing::{AodvConfig, Forwarding, LossCause, RoutingDropCause, RoutingEvent};

/// A node with a route to TARGET by B, 9, of which A is a precursor.
fn between() -> TestNode {
    let mut node = TestNode::new(rfc());
    node.request(A, 5, rreq(2, 1, 40, None)).reply(B, rrep(SOURCE, 3, 9));
    node.sent();
    node.relay(SOURCE, TARGET, A);
    node.events();
    node
}

/// 6.11 (i): all routes through the neighbour end, their numbers rise, and the precursors are told: one by
/// unicast.
#[test]
fn a_broken_link_ends_the_routes_through_it() {
    let mut node = between();
    node.fail(B);
    assert_eq!((node.route(TARGET), node.route(B), node.number(TARGET)), (None, None, Some(10)));
    assert_eq!(node.route(SOURCE), Some((A, 3, Some(40))), "others stay");
    let sent = node.sent();
    assert_eq!((sent.len(), sent[0].to, sent[0].ttl), (1, A, 1));
    // B itself has no known number; TARGET's is 10. 28 + 4 + 2 * 8 octets.
    assert_eq!(as_error(&sent[0]), [(B, None), (TARGET, Some(10))]);
    assert_eq!(sent[0].bytes, 48);
    let lost = RoutingEvent::RouteLost { destination: TARGET, cause: LossCause::LinkBroken };
    assert!(node.events().contains(&lost));
}

/// 6.11 (iii): an error ends routes by the neighbour that sent it, not the route to that neighbour, whom it
/// has just heard.
#[test]
fn an_error_does_not_end_the_route_to_its_sender() {
    let mut node = between();
    let to_sender = node.route(B);
    assert!(to_sender.is_some());
    node.error(B, &[(B, Some(99))]);
    assert_eq!(node.route(B), to_sender);
}

/// 6.11: several precursors are told by one broadcast.
#[test]
fn several_precursors_are_told_by_broadcast() {
    let mut node = between();
    let other = cogtcp_routing::message::RouteRequest { originator: C, ..rreq(0, 1, 3, Some(9)) };
    node.request(C, 5, other).sent();
    assert_eq!(node.precursors(TARGET), [A, C]);
    node.fail(B);
    assert_eq!(node.sent()[0].to, ALL);
}

/// 6.11: a route without precursors ends silently.
#[test]
fn nobody_is_told_of_a_route_that_nobody_uses() {
    let mut node = TestNode::new(rfc());
    node.reply(A, rrep(SELF, 3, 9)).fail(A);
    assert!(node.sent().is_empty());
}

/// A second failure of the same link changes nothing and says nothing.
#[test]
fn a_link_breaks_once() {
    let mut node = between();
    node.fail(B).sent();
    node.fail(B);
    assert_eq!((node.sent().len(), node.number(TARGET)), (0, Some(10)));
}

/// 6.10: without link-layer feedback a failed frame breaks nothing.
#[test]
fn feedback_can_be_off() {
    let mut node = TestNode::new(AodvConfig { link_feedback: false, ..rfc() });
    node.reply(A, rrep(SELF, 3, 9)).fail(A);
    assert_eq!(node.route(TARGET), Some((A, 4, Some(9))));
}

/// 6.11 (ii): a packet of another node without a route here is dropped, and its previous hop is told. The
/// number does not rise again.
#[test]
fn a_packet_without_a_route_is_dropped_and_reported() {
    let mut node = between();
    node.fail(B).sent();
    for _ in 0..3 {
        assert_eq!(node.relay(SOURCE, TARGET, C), Forwarding::Drop(RoutingDropCause::NoRoute));
    }
    let sent = node.sent();
    assert_eq!((sent.len(), sent[0].to, as_error(&sent[2])), (3, C, &[(TARGET, Some(10))][..]));
    // What has arrived is reported to nobody.
    node.relay(SOURCE, SELF, C);
    assert_eq!(
        node.relay(SOURCE, cogtcp_routing::NodeAddress::new(77), C),
        Forwarding::Drop(RoutingDropCause::NoRoute)
    );
    assert_eq!(as_error(&node.sent()[0]), [(cogtcp_routing::NodeAddress::new(77), None)]);
}

/// 6.11 (iii): an error from the next hop ends the route with the number it says, and goes on to the
/// precursors.
#[test]
fn an_error_of_the_next_hop_ends_the_route() {
    let mut node = between();
    node.error(B, &[(TARGET, Some(12)), (C, Some(1))]);
    assert_eq!((node.route(TARGET), node.number(TARGET)), (None, Some(12)));
    let sent = node.sent();
    assert_eq!((sent[0].to, as_error(&sent[0])), (A, &[(TARGET, Some(12))][..]));
    let lost = RoutingEvent::RouteLost { destination: TARGET, cause: LossCause::ErrorReceived };
    assert!(node.events().contains(&lost));
    node.error(B, &[(TARGET, Some(12))]);
    assert!(node.sent().is_empty(), "told once");
}

/// 6.11 (iii): an error of another neighbour says nothing about this route.
#[test]
fn an_error_of_another_neighbor_is_no_news() {
    let mut node = between();
    node.error(C, &[(TARGET, Some(12))]);
    assert_eq!(node.route(TARGET), Some((B, 4, Some(9))));
}

/// An error that is not newer than the route came late: it is left alone (a departure, for the sake of loop
/// freedom).
#[test]
fn a_late_error_is_left_alone() {
    let mut node = between();
    for number in [8, 9] {
        node.error(B, &[(TARGET, Some(number))]);
        assert_eq!(node.route(TARGET), Some((B, 4, Some(9))));
    }
}

/// 6.11: no more than RERR_RATELIMIT errors in a second.
#[test]
fn errors_are_limited_in_a_second() {
    let mut node = TestNode::new(rfc());
    for _ in 0..15 {
        node.relay(SOURCE, TARGET, A);
    }
    assert_eq!((node.sent().len(), node.aodv.stats().limited), (10, 5));
    node.at(1000);
    node.relay(SOURCE, TARGET, A);
    assert_eq!(node.sent().len(), 1);
}

/// The source of a broken route seeks it again with the next packet.
#[test]
fn the_source_searches_after_an_error() {
    let mut node = TestNode::new(rfc());
    node.reply(B, rrep(SELF, 3, 9));
    assert_eq!(node.data(TARGET), Forwarding::Send { next_hop: B, channel: None });
    node.error(B, &[(TARGET, Some(10))]);
    assert_eq!(node.data(TARGET), Forwarding::Hold);
    // 4 hops before, plus TTL_INCREMENT.
    let sent = node.sent();
    assert_eq!((sent[0].ttl, as_request(&sent[0]).destination_sequence), (6, Some(10)));
}

/// Who sends data through this node is told of a break, though no reply to him went through here.
#[test]
fn a_sender_of_data_becomes_a_precursor() {
    let mut node = TestNode::new(rfc());
    node.reply(B, rrep(SELF, 3, 9));
    node.relay(SOURCE, TARGET, C);
    node.fail(B);
    assert_eq!(node.sent()[0].to, C);
}

/// 6.11: a neighbour to which the link is broken is told of nothing any more.
#[test]
fn a_neighbor_that_is_gone_is_no_precursor() {
    let mut node = between();
    let other = cogtcp_routing::message::RouteRequest { originator: C, ..rreq(0, 1, 3, Some(9)) };
    node.request(C, 5, other);
    assert_eq!(node.precursors(TARGET), [A, C]);
    node.fail(A).sent();
    assert_eq!(node.precursors(TARGET), [C]);
    node.fail(B);
    assert_eq!(node.sent().iter().map(|packet| packet.to).collect::<Vec<_>>(), [C]);
}
