//! Dissemination in rings and what follows without a reply: sections 6.3 and 6.4.

use crate::aodv::harness::*;
use cogtcp_routing::{AodvConfig, Forwarding, RoutingEvent};
use cogtcp_units::Duration;

/// The requests of a search that nobody answers: (ms, TTL).
fn unanswered(config: AodvConfig, until: u64) -> (Vec<(u64, u8)>, Vec<RoutingEvent>) {
    let mut node = TestNode::new(config);
    node.data(TARGET);
    let (mut sent, mut events) = (Vec::new(), Vec::new());
    for now in 0..=until {
        node.at(now);
        sent.extend(node.sent().iter().map(|packet| (now, packet.ttl)));
        events.extend(node.events());
    }
    (sent, events)
}

/// 6.4: TTL 1, 3, 5, 7, then 35; RING_TRAVERSAL_TIME = 2 * 40 * (TTL + 2) = 240, 400, 560, 720 ms. 6.3: two
/// requests through the whole network, the first waits 2800 ms, the second twice that. The end: 240 + 400 +
/// 560 + 720 = 1920, + 2800 + 5600 = 10320 ms.
#[test]
fn rings_grow_and_the_wait_doubles() {
    let (sent, events) = unanswered(rfc(), 11_000);
    assert_eq!(sent, [(0, 1), (240, 3), (640, 5), (1200, 7), (1920, 35), (4720, 35)]);
    assert_eq!(events.last(), Some(&RoutingEvent::DiscoveryFailed { destination: TARGET }));
    let (_, before) = unanswered(rfc(), 10_319);
    assert!(!before.contains(&RoutingEvent::DiscoveryFailed { destination: TARGET }));
}

/// 6.3: a network of one ring: TTL_START is NET_DIAMETER, and RREQ_RETRIES further requests have been made.
#[test]
fn retries_without_rings() {
    let config = AodvConfig { ttl_start: 35, ..rfc() };
    let (sent, _) = unanswered(config, 20_000);
    assert_eq!(sent, [(0, 35), (2800, 35), (8400, 35)]);
}

/// 6.4: a route that was lost is sought with its last hop count plus TTL_INCREMENT; above TTL_THRESHOLD
/// everywhere.
#[test]
fn a_lost_route_guides_the_first_ring() {
    // One hop more from here, and TTL_INCREMENT of 2. 8 is above TTL_THRESHOLD, 7.
    for (hops, ttl) in [(2, 5), (4, 7), (5, 35)] {
        let mut node = TestNode::new(rfc());
        node.reply(A, rrep(SELF, hops, 7)).fail(A);
        node.sent();
        node.data(TARGET);
        assert_eq!(node.sent()[0].ttl, ttl, "{hops} hops from the neighbour, {} from here", hops + 1);
    }
}

/// 6.4 and 6.11: the hop count of a lost route is kept for DELETE_PERIOD = 5 * 3 s; its number, here, for
/// ever.
#[test]
fn the_hop_count_is_forgotten_after_the_delete_period() {
    let mut node = TestNode::new(rfc());
    node.reply(A, rrep(SELF, 2, 7)).fail(A);
    node.sent();
    node.at(15_000);
    node.data(TARGET);
    let sent = node.sent();
    assert_eq!((sent[0].ttl, as_request(&sent[0]).destination_sequence), (1, Some(8)));
}

/// 6.3: the search ends when the reply comes, and no further request is sent.
#[test]
fn a_reply_ends_the_search() {
    let mut node = TestNode::new(rfc());
    node.data(TARGET);
    node.at(30).reply(A, rrep(SELF, 0, 5));
    let found = RoutingEvent::RouteFound { destination: TARGET, hops: 1, took: Duration::from_millis(30) };
    assert!(node.events().contains(&found));
    assert_eq!(node.data(TARGET), Forwarding::Send { next_hop: A, channel: None });
    node.sent();
    node.at(2000);
    assert!(node.sent().is_empty());
}

/// A search ends too when the route comes by another way: the destination's own request, or its hello.
#[test]
fn any_news_of_the_destination_ends_the_search() {
    let mut node = TestNode::new(rfc());
    node.data(SOURCE);
    node.at(10).request(A, 3, rreq(1, 1, 5, None));
    let found = RoutingEvent::RouteFound { destination: SOURCE, hops: 2, took: Duration::from_millis(10) };
    assert!(node.events().contains(&found));
    node.data(B);
    node.hello(B, 4);
    assert!(
        node.events().iter().any(|event| matches!(event, RoutingEvent::RouteFound { destination: B, .. }))
    );
}

/// After a failed search the next packet begins a new one, with a new request ID.
#[test]
fn the_next_packet_searches_again() {
    let mut node = TestNode::new(rfc());
    node.data(TARGET);
    node.at(10_320);
    node.sent();
    assert_eq!(node.data(TARGET), Forwarding::Hold);
    assert_eq!(node.sent().len(), 1);
    assert_eq!(node.aodv.stats().discoveries, 2);
}
