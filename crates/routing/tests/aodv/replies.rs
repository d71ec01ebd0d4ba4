//! Generating, receiving and forwarding replies: sections 6.6, 6.7 and 6.8.

use crate::aodv::harness::*;
use cogtcp_routing::message::RouteReply;
use cogtcp_routing::{AodvConfig, LostPacket, RoutingMessage};
use cogtcp_units::Duration;

/// 6.6.1: the destination replies: hop count 0, its own number, MY_ROUTE_TIMEOUT, to the previous hop.
#[test]
fn the_destination_replies() {
    let mut node = TestNode::new(rfc());
    let request = cogtcp_routing::message::RouteRequest { destination: SELF, ..rreq(2, 1, 40, None) };
    node.request(A, 5, request);
    let sent = node.sent();
    assert_eq!((sent.len(), sent[0].to, sent[0].bytes), (1, A, 48));
    let reply = as_reply(&sent[0]);
    assert_eq!((reply.hops, reply.destination, reply.destination_sequence), (0, SELF, 0));
    assert_eq!((reply.originator, reply.lifetime), (SOURCE, Duration::from_secs(6)));
}

/// 6.1 and 6.6.1: its number becomes the one asked for if that is greater, and stays otherwise.
#[test]
fn the_destination_takes_the_greater_number() {
    for (own_requests, asked, replied) in [(0, Some(1), 1), (3, Some(2), 3), (3, None, 3), (3, Some(9), 9)] {
        let mut node = TestNode::new(rfc());
        for number in 0..own_requests {
            node.data(cogtcp_routing::NodeAddress::new(100 + number));
        }
        node.sent();
        let request = cogtcp_routing::message::RouteRequest { destination: SELF, ..rreq(0, 1, 40, asked) };
        node.request(A, 5, request);
        assert_eq!(as_reply(&node.sent()[0]).destination_sequence, replied);
    }
}

/// 6.1: numbers are compared as signed 32-bit differences: 1 is newer than 2^32 - 1.
#[test]
fn numbers_wrap_around() {
    let mut node = TestNode::new(rfc());
    node.reply(A, rrep(SELF, 3, u32::MAX));
    node.reply(B, rrep(SELF, 5, 1));
    assert_eq!(node.route(TARGET), Some((B, 6, Some(1))));
    node.reply(A, rrep(SELF, 0, u32::MAX));
    assert_eq!(node.route(TARGET), Some((B, 6, Some(1))));
}

/// 6.6.2: an intermediate node with a route that is new enough replies: own hop count and number, what is
/// left of the route's life; the previous hop becomes a precursor of the route, the next hop one of the route
/// back.
#[test]
fn an_intermediate_node_replies_from_its_table() {
    let mut node = TestNode::new(rfc());
    node.reply(B, rrep(SELF, 2, 9));
    node.at(1000).request(A, 5, rreq(0, 1, 40, Some(9)));
    let sent = node.sent();
    assert_eq!((sent.len(), sent[0].to), (1, A));
    let lifetime = Duration::from_secs(5);
    assert_eq!(*as_reply(&sent[0]), RouteReply { lifetime, ..rrep(SOURCE, 3, 9) });
    assert_eq!((node.precursors(TARGET), node.precursors(SOURCE)), (vec![A], vec![B]));
}

/// 6.6: it does not if its number is older than the one asked for, and passes the request on.
#[test]
fn an_old_route_is_no_reply() {
    let mut node = TestNode::new(rfc());
    node.reply(B, rrep(SELF, 2, 9));
    node.request(A, 5, rreq(0, 1, 40, Some(10)));
    assert_eq!(as_request(&node.sent()[0]).destination_sequence, Some(10));
}

/// 6.6: nor if its number is not known (it only heard the destination), nor with the D flag, nor once the
/// route is over.
#[test]
fn what_is_no_valid_route_is_no_reply() {
    let mut node = TestNode::new(rfc());
    node.hear(TARGET, ALL, 1, RoutingMessage::ReplyAck);
    node.request(A, 5, rreq(0, 1, 40, None));
    as_request(&node.sent()[0]);
    node.reply(B, rrep(SELF, 2, 9));
    let only = cogtcp_routing::message::RouteRequest { destination_only: true, ..rreq(0, 2, 41, None) };
    node.request(A, 5, only);
    assert!(as_request(&node.sent()[0]).destination_only);
    node.at(6000).request(A, 5, rreq(0, 3, 42, None));
    // 9, and one more when the route ended.
    assert_eq!(as_request(&node.sent()[0]).destination_sequence, Some(10));
}

/// D flag: the destination raises its number, so that nodes that hold the old one pass the reply on.
#[test]
fn a_request_for_the_destination_only_gets_a_new_number() {
    let mut node = TestNode::new(rfc());
    let request = |id| cogtcp_routing::message::RouteRequest {
        destination: SELF,
        destination_only: true,
        ..rreq(0, id, 40 + id, Some(4))
    };
    node.request(A, 5, request(1)).request(A, 5, request(2));
    let numbers: Vec<_> = node.sent().iter().map(|packet| as_reply(packet).destination_sequence).collect();
    assert_eq!(numbers, [5, 6]);
}

/// 6.6.3: with the G flag the destination is told the route to the originator: hop count and number of the
/// originator, to the next hop towards the destination.
#[test]
fn a_gratuitous_reply_goes_to_the_destination() {
    let mut node = TestNode::new(rfc());
    node.reply(B, rrep(SELF, 2, 9));
    let request = cogtcp_routing::message::RouteRequest { gratuitous: true, ..rreq(1, 1, 40, Some(9)) };
    node.request(A, 5, request);
    let sent = node.sent();
    assert_eq!((sent.len(), sent[0].to, sent[1].to), (2, A, B));
    let gratuitous = as_reply(&sent[1]);
    assert_eq!((gratuitous.destination, gratuitous.originator), (SOURCE, TARGET));
    assert_eq!((gratuitous.hops, gratuitous.destination_sequence), (2, 40));
    // What is left of the route back: 5600 - 2 * 2 * 40.
    assert_eq!(gratuitous.lifetime, Duration::from_millis(5440));
}

/// 6.7: hop count plus one, next hop the sender, life as told; forwarded along the route back, whose life
/// rises to ACTIVE_ROUTE_TIMEOUT at least; precursors of destination and next hop: who it went to.
#[test]
fn a_reply_is_passed_on_along_the_route_back() {
    let mut node = TestNode::new(rfc());
    node.request(A, 5, rreq(2, 1, 40, None)).sent();
    node.at(5000).reply(B, rrep(SOURCE, 3, 9));
    // The reply's 6 s from now on; and for the route back, below, ACTIVE_ROUTE_TIMEOUT of 3 s.
    assert_eq!((node.route(TARGET), node.expires(TARGET)), (Some((B, 4, Some(9))), 11_000));
    let sent = node.sent();
    assert_eq!((sent.len(), sent[0].to), (1, A));
    assert_eq!(*as_reply(&sent[0]), rrep(SOURCE, 4, 9));
    assert_eq!(node.expires(SOURCE), 8000);
    assert_eq!((node.precursors(TARGET), node.precursors(B)), (vec![A], vec![A]));
}

/// 6.7: an existing route is replaced by a newer number, by the same with fewer hops, and by nothing else; a
/// reply that brings nothing is not passed on.
#[test]
fn only_a_better_reply_replaces_a_route() {
    let mut node = TestNode::new(rfc());
    node.request(A, 5, rreq(2, 1, 40, None)).sent();
    for (from, hops, number, taken) in
        [(B, 3, 9, true), (C, 3, 9, false), (C, 1, 8, false), (C, 2, 9, true), (B, 7, 10, true)]
    {
        node.reply(from, rrep(SOURCE, hops, number));
        assert_eq!(node.route(TARGET) == Some((from, hops + 1, Some(number))), taken);
        assert_eq!(node.sent().len(), usize::from(taken), "{hops} hops, number {number}");
    }
}

/// 6.7 (iii): the same number serves if the route is not active.
#[test]
fn the_same_number_revives_an_ended_route() {
    let mut node = TestNode::new(rfc());
    node.reply(A, rrep(SELF, 3, 9)).fail(A);
    assert_eq!(node.route(TARGET), None);
    node.reply(B, rrep(SELF, 6, 10));
    assert_eq!(node.route(TARGET), Some((B, 7, Some(10))));
}

/// The reply that says once more what stands is passed on, though 6.7 would drop it.
#[test]
fn a_reply_that_confirms_is_passed_on() {
    let mut node = TestNode::new(rfc());
    node.request(A, 5, rreq(2, 1, 40, None)).sent();
    node.reply(B, rrep(SOURCE, 3, 9)).sent();
    node.reply(B, rrep(SOURCE, 3, 9));
    assert_eq!(node.sent().len(), 1);
}

/// 6.7: without a route back the reply ends here, but its route is kept.
#[test]
fn a_reply_without_a_way_back_is_kept_to_oneself() {
    let mut node = TestNode::new(rfc());
    node.reply(B, rrep(SOURCE, 3, 9));
    assert!(node.sent().is_empty());
    assert_eq!(node.route(TARGET), Some((B, 4, Some(9))));
}

/// 6.8: a reply that did not get through puts the neighbour on the blacklist for BLACKLIST_TIMEOUT (5.6 s),
/// in which its requests are ignored.
#[test]
fn a_failed_reply_blacklists_the_neighbor() {
    let mut node = TestNode::new(rfc());
    let request =
        |id| cogtcp_routing::message::RouteRequest { destination: SELF, ..rreq(0, id, 40 + id, None) };
    node.request(A, 5, request(1));
    let reply = node.sent().remove(0);
    let _ = node.aodv.handle_link_failure(node.now, A, LostPacket::Routing(&reply));
    node.at(5599).request(A, 5, request(2));
    assert!(node.sent().is_empty() && node.route(A).is_none());
    node.request(B, 5, request(3));
    assert_eq!(node.sent().len(), 1, "others are heard");
    node.at(5600).request(A, 5, request(4));
    assert_eq!(node.sent().len(), 1);
}

/// 6.8: with the A flag the next hop acknowledges; who does not within NEXT_HOP_WAIT (50 ms) goes on the
/// blacklist.
#[test]
fn an_unacknowledged_reply_blacklists_the_neighbor() {
    let config = AodvConfig { reply_acknowledgement: true, ..rfc() };
    let mut node = TestNode::new(config.clone());
    let request = cogtcp_routing::message::RouteRequest { destination: SELF, ..rreq(0, 1, 40, None) };
    node.request(A, 5, request.clone());
    assert!(as_reply(&node.sent()[0]).acknowledge);
    node.at(49);
    assert!(!node.aodv.is_blacklisted(node.now, A));
    node.at(50);
    assert!(node.aodv.is_blacklisted(node.now, A));

    let mut node = TestNode::new(config);
    node.request(A, 5, request).sent();
    node.at(20).hear(A, SELF, 1, RoutingMessage::ReplyAck);
    node.at(60);
    assert!(!node.aodv.is_blacklisted(node.now, A));
    node.reply(B, RouteReply { acknowledge: true, ..rrep(SELF, 0, 1) });
    let sent = node.sent();
    assert_eq!((sent[0].to, &sent[0].message), (B, &RoutingMessage::ReplyAck));
}
