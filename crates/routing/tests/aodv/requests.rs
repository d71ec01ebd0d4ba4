//! Generating, processing and forwarding requests: sections 6.1, 6.3 and 6.5.

use crate::aodv::harness::*;
use cogtcp_routing::{AodvConfig, Forwarding};
use cogtcp_units::Duration;

/// 6.3: no route, so the packet waits and a request goes out; U flag, as nothing is known of the destination;
/// hop count 0.
#[test]
fn a_packet_without_a_route_starts_a_request() {
    let mut node = TestNode::new(rfc());
    assert_eq!(node.data(TARGET), Forwarding::Hold);
    let sent = node.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!((sent[0].from, sent[0].to, sent[0].ttl, sent[0].bytes), (SELF, ALL, 1, 52));
    let request = as_request(&sent[0]);
    assert_eq!((request.hops, request.destination, request.originator), (0, TARGET, SELF));
    assert_eq!(request.destination_sequence, None);
}

/// 6.3: a search under way is not begun twice.
#[test]
fn further_packets_wait_for_the_same_search() {
    let mut node = TestNode::new(rfc());
    node.data(TARGET);
    node.sent();
    assert_eq!(node.data(TARGET), Forwarding::Hold);
    assert!(node.sent().is_empty());
}

/// 6.1: the own number rises immediately before a search. 6.3: every request has a new ID.
#[test]
fn number_and_id_rise_with_every_request() {
    let mut node = TestNode::new(rfc());
    node.data(TARGET);
    node.data(B);
    let sent = node.sent();
    let of = |i: usize| (as_request(&sent[i]).originator_sequence, as_request(&sent[i]).id);
    assert_eq!((of(0), of(1)), ((1, 1), (2, 2)));
}

/// 6.3: the last known number of the destination is in the request.
#[test]
fn a_known_number_is_asked_for() {
    let mut node = TestNode::new(rfc());
    node.reply(A, rrep(SELF, 3, 7)).fail(A);
    node.sent();
    node.data(TARGET);
    // 7, and one more when the link broke (6.11).
    assert_eq!(as_request(&node.sent()[0]).destination_sequence, Some(8));
}

/// 6.3: no more than RREQ_RATELIMIT requests in a second; the eleventh waits until a second after the first.
#[test]
fn requests_are_limited_in_a_second() {
    let mut node = TestNode::new(rfc());
    for number in 0..12 {
        node.at(number * 10);
        node.data(cogtcp_routing::NodeAddress::new(100 + number as u32));
    }
    let first: Vec<_> =
        node.sent().iter().filter(|packet| as_request(packet).destination.number() >= 100).cloned().collect();
    assert_eq!(first.len(), 10);
    node.at(999);
    assert!(node.sent().is_empty());
    node.at(1000);
    assert_eq!(node.sent().len(), 1);
    // A second after the second request, which went out at 10 ms.
    assert!(node.aodv.poll_timeout() <= ms(1010));
}

/// 6.3 and 6.5: the own request that comes back is not passed on.
#[test]
fn the_own_request_is_dropped() {
    let mut node = TestNode::new(rfc());
    node.data(TARGET);
    let mut own = as_request(&node.sent()[0]).clone();
    own.hops = 1;
    node.request(A, 5, own);
    assert!(node.sent().is_empty());
    assert_eq!(node.route(A), Some((A, 1, None)), "but A was heard");
}

/// 6.5: the previous hop gets a route without a number; the originator one with its number; hop count plus
/// one; time to live less one.
#[test]
fn a_request_is_passed_on_with_a_route_back() {
    let mut node = TestNode::new(rfc());
    node.request(A, 5, rreq(2, 1, 40, Some(9)));
    assert_eq!(node.route(A), Some((A, 1, None)));
    assert_eq!(node.route(SOURCE), Some((A, 3, Some(40))));
    let sent = node.sent();
    assert_eq!((sent.len(), sent[0].ttl, sent[0].to), (1, 4, ALL));
    assert_eq!(*as_request(&sent[0]), rreq(3, 1, 40, Some(9)));
}

/// 6.5: time to live 1 is not passed on.
#[test]
fn a_request_ends_with_its_time_to_live() {
    let mut node = TestNode::new(rfc());
    node.request(A, 1, rreq(0, 1, 40, None));
    assert!(node.sent().is_empty());
    assert_eq!(node.route(SOURCE), Some((A, 1, Some(40))));
}

/// 6.5: a request already received within PATH_DISCOVERY_TIME (5.6 s) is dropped; after that it is new.
#[test]
fn copies_are_dropped_for_the_path_discovery_time() {
    let mut node = TestNode::new(rfc());
    node.request(A, 5, rreq(2, 1, 40, None)).sent();
    node.at(5599).request(B, 5, rreq(1, 1, 40, None));
    assert!(node.sent().is_empty());
    node.at(5600).request(B, 5, rreq(1, 1, 40, None));
    assert_eq!(node.sent().len(), 1);
}

/// 6.5: the number asked for becomes the greater of the request's and the node's own knowledge, which does
/// not change.
#[test]
fn the_number_asked_for_rises_on_the_way() {
    let mut node = TestNode::new(rfc());
    node.reply(B, rrep(SELF, 1, 12)).fail(B);
    node.sent();
    node.request(A, 5, rreq(0, 1, 40, Some(9)));
    assert_eq!(as_request(&node.sent()[0]).destination_sequence, Some(13));
    node.request(A, 5, rreq(0, 2, 41, None));
    assert_eq!(as_request(&node.sent()[0]).destination_sequence, Some(13));
    node.request(A, 5, rreq(0, 3, 42, Some(20)));
    assert_eq!(as_request(&node.sent()[0]).destination_sequence, Some(20));
    assert_eq!(node.number(TARGET), Some(13));
}

/// 6.5: MinimalLifetime = 2 * NET_TRAVERSAL_TIME - 2 * HopCount * NODE_TRAVERSAL_TIME = 5600 - 2 * 3 * 40 =
/// 5360 ms; and a longer life is kept.
#[test]
fn the_route_back_lives_for_the_minimal_lifetime() {
    let mut node = TestNode::new(rfc());
    node.at(100).request(A, 5, rreq(2, 1, 40, None));
    assert_eq!(node.expires(SOURCE), 100 + 5360);
    node.at(200).request(A, 5, rreq(1, 2, 41, None));
    assert_eq!(node.expires(SOURCE), 200 + 5600 - 160);
    node.at(210).request(A, 5, rreq(30, 3, 41, None));
    assert_eq!(node.expires(SOURCE), 200 + 5600 - 160);
}

/// Broadcasts wait for up to the jitter; under ns-2's rules own ones do not.
#[test]
fn requests_wait_a_little() {
    let mut seeker = TestNode::new(AodvConfig { jitter: Duration::from_millis(10), ..rfc() });
    seeker.data(B);
    let due = seeker.aodv.poll_timeout();
    assert!(due > ms(0) && due <= ms(10) && seeker.sent().is_empty(), "{due:?}");
    assert_eq!(seeker.at(10).sent().len(), 1);
    let mut node =
        TestNode::new(AodvConfig { jitter: Duration::from_millis(10), jitter_own: false, ..rfc() });
    node.request(A, 5, rreq(0, 1, 40, None));
    let due = node.aodv.poll_timeout();
    assert!(due > ms(0) && due <= ms(10), "{due:?}");
    assert!(node.sent().is_empty());
    node.at(10);
    assert_eq!(node.sent().len(), 1);
    node.data(B);
    assert_eq!(node.sent().len(), 1);
}

/// 6.5: the life of the route back is at least the minimal lifetime, also where the request's route is no
/// better than the known one.
#[test]
fn a_request_by_a_longer_way_prolongs_the_route_back() {
    let mut node = TestNode::new(rfc());
    node.request(A, 5, rreq(2, 1, 40, None));
    assert_eq!((node.route(SOURCE), node.expires(SOURCE)), (Some((A, 3, Some(40))), 5360));
    // Five hops: 1000 + 2 * 2800 - 2 * 5 * 40 ms.
    node.at(1000).request(B, 5, rreq(4, 2, 40, None));
    assert_eq!((node.route(SOURCE), node.expires(SOURCE)), (Some((A, 3, Some(40))), 6200));
}

/// 6.1 and 6.3: each search has the next sequence number and the next identifier, and begins with 0 hops.
#[test]
fn each_request_is_numbered_by_one_more() {
    let mut node = TestNode::new(rfc());
    node.data(TARGET);
    node.data(C);
    let numbers: Vec<_> = node
        .sent()
        .iter()
        .map(as_request)
        .map(|request| (request.hops, request.id, request.originator_sequence))
        .collect();
    let (_, id, sequence) = numbers[0];
    assert_eq!(numbers, [(0, id, sequence), (0, id + 1, sequence + 1)]);
}
