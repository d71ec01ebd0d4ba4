//! The rules of ns-2 and ns-3, as settings.

use crate::aodv::harness::*;
use cogtcp_routing::message::{RouteReply, RouteRequest};
use cogtcp_routing::{
    AfterFailure, AodvConfig, AodvProfile, AodvSettings, DataPacket, Forwarding, LostPacket,
    RoutingDropCause, RoutingEvent, RoutingMessage, RoutingPacket,
};
use cogtcp_units::Duration;

fn profile(profile: AodvProfile) -> AodvConfig {
    AodvSettings::of(profile).config()
}

/// ns-2's rules without random waits.
fn quiet() -> AodvConfig {
    AodvConfig { jitter: Duration::ZERO, ..profile(AodvProfile::Ns2) }
}

fn ns2() -> TestNode {
    TestNode::new(quiet())
}

/// The initial values of ns-3's attributes: NetTraversalTime 2.8 s, PathDiscoveryTime 5.6 s, BlackListTimeout
/// 5.6 s, DeletePeriod 15 s, NextHopWait 50 ms.
#[test]
fn derived_times_are_those_of_ns3() {
    let config = profile(AodvProfile::Ns3);
    assert_eq!(config.net_traversal_time(), Duration::from_millis(2800));
    assert_eq!(config.request_memory(), Duration::from_millis(5600));
    assert_eq!(config.blacklist_timeout(), Duration::from_millis(5600));
    assert_eq!(config.delete_period(), Duration::from_secs(15));
    assert_eq!(config.next_hop_wait(), Duration::from_millis(50));
    assert!(config.hello && config.hello_always && config.gratuitous_replies);
    assert_eq!(config.my_route_timeout, Duration::from_millis(11_200));
}

/// ns-2: the first request goes through the whole network. 2 * TTL * 30 ms, times how many did, 10 s at most;
/// and the timer looks every 0.5 s alone: after 1.8, 3.6, 5.4 and 7.2 s, so at 2, 6, 11.5 and 19 s.
#[test]
fn a_search_as_in_ns2() {
    let mut node = ns2();
    node.data(TARGET);
    let (mut sent, mut failed) = (Vec::new(), None);
    for now in 0..30_000 {
        node.at(now);
        sent.extend(node.sent().iter().map(|packet| (now, packet.ttl, packet.bytes)));
        if node.events().contains(&RoutingEvent::DiscoveryFailed { destination: TARGET }) {
            failed = failed.or(Some(now));
        }
    }
    assert_eq!(sent, [(0, 30, 48), (2000, 30, 48), (6000, 30, 48), (11_500, 30, 48)]);
    assert_eq!(failed, Some(19_000));
}

/// Without the timer: each at its time, in rings of 5 and 7 as `TTL_START` and `TTL_THRESHOLD` would have it.
#[test]
fn rings_without_the_timer() {
    let config = AodvConfig { ttl_start: 5, timer_interval: Duration::ZERO, ..quiet() };
    let mut node = TestNode::new(config);
    node.data(TARGET);
    let mut sent = Vec::new();
    for now in 0..12_000 {
        node.at(now);
        sent.extend(node.sent().iter().map(|packet| (now, packet.ttl)));
    }
    // 2 * 5 * 30, 2 * 7 * 30 and 2 * 30 * 30 ms; then twice and three times the last.
    assert_eq!(sent, [(0, 5), (300, 7), (720, 30), (2520, 30), (6120, 30), (11_520, 30)]);
}

/// `AODV::sendRequest` is asked by the timer, and by every packet that wants a route.
#[test]
fn a_packet_asks_before_the_timer() {
    let mut node = ns2();
    node.data(TARGET);
    node.at(1799).sent();
    node.data(TARGET);
    assert!(node.sent().is_empty(), "the wait is 1.8 s");
    node.at(1850);
    assert_eq!(node.data(TARGET), Forwarding::Hold);
    assert_eq!(node.sent().len(), 1);
    node.at(2000);
    assert!(node.sent().is_empty(), "the next wait has begun");
}

/// ns-2: after a failed search the next for the same destination waits 10 s; a packet in between is held and
/// begins it. It goes through the whole network, whatever the last hop count was.
#[test]
fn a_pause_follows_a_failed_search() {
    let mut node = ns2();
    node.data(TARGET);
    node.at(19_000).sent();
    node.at(20_000);
    assert_eq!(node.data(TARGET), Forwarding::Hold);
    node.at(28_999);
    assert!(node.sent().is_empty());
    node.at(29_000);
    assert_eq!(node.sent()[0].ttl, 30);
}

/// The search after a lost route begins two hops beyond it; the one after a failed search with everybody.
#[test]
fn the_ring_of_the_next_search() {
    for (wide_after_failure, last) in [(false, 4), (true, 30)] {
        let config = AodvConfig { rreq_retries: 1, wide_after_failure, ..quiet() };
        let mut node = TestNode::new(config);
        node.data(TARGET);
        node.reply(A, rrep(SELF, 1, 8)).sent();
        node.fail(A).sent();
        node.data(TARGET);
        assert_eq!(node.sent()[0].ttl, 4);
        // Rings of 4, 6 and everybody, then a pause of 10 s.
        node.at(5000).sent();
        node.at(13_000);
        node.data(TARGET);
        node.at(16_000);
        assert_eq!(node.sent()[0].ttl, last);
    }
}

/// A route of six hops was lost: 6 is below 7, so the next ring is 8 in ns-2; in RFC 3561 8 is above 7, and
/// everybody is asked.
#[test]
fn a_ring_beyond_the_threshold() {
    for (threshold_of_last_ring, rings) in [(true, [8, 30]), (false, [30, 30])] {
        let config = AodvConfig { threshold_of_last_ring, timer_interval: Duration::ZERO, ..quiet() };
        let mut node = TestNode::new(config);
        node.data(TARGET);
        node.reply(A, rrep(SELF, 5, 8)).sent();
        node.fail(A).sent();
        node.data(TARGET);
        let first = node.sent()[0].ttl;
        node.at(4000);
        assert_eq!([first, node.sent()[0].ttl], rings);
    }
}

/// `PerHopTime`: the mean of the last three searches, by hop, in place of 30 ms.
#[test]
fn a_hop_takes_as_long_as_it_took() {
    for (measured, again) in [(false, 240), (true, 80)] {
        let config = AodvConfig { measured_hop_time: measured, timer_interval: Duration::ZERO, ..quiet() };
        let mut node = TestNode::new(config);
        node.data(TARGET);
        node.at(20);
        // Two hops in 20 ms.
        node.reply(A, rrep(SELF, 1, 8)).sent();
        node.fail(A).sent();
        node.data(TARGET);
        assert_eq!(node.sent()[0].ttl, 4);
        node.at(20 + again - 1);
        assert!(node.sent().is_empty());
        node.at(20 + again);
        assert_eq!(node.sent().len(), 1, "2 * 4 * 30 ms, or 2 * 4 * 10 ms");
    }
}

/// Routes end when the timer looks: 10 s after 0.2 s, at 10.5 s.
#[test]
fn routes_end_when_the_timer_looks() {
    let mut node = ns2();
    node.at(200);
    node.reply(A, RouteReply { lifetime: Duration::from_secs(10), ..rrep(SELF, 1, 8) });
    node.at(10_499);
    assert!(node.route(TARGET).is_some());
    node.at(10_500);
    assert!(node.route(TARGET).is_none());
}

/// `recvRequest`, `recvReply`: who passes a message on becomes no destination.
#[test]
fn no_route_to_who_is_heard() {
    for (neighbor_routes, known) in [(true, true), (false, false)] {
        let mut node = TestNode::new(AodvConfig { neighbor_routes, ..quiet() });
        node.request(A, 10, rreq(2, 1, 5, None));
        assert_eq!(node.route(A).is_some(), known);
        assert_eq!(node.route(SOURCE), Some((A, 3, Some(5))));
    }
}

/// `handle_link_failure`: everybody hears of all routes over the link, precursors or not; by broadcast and at
/// once.
#[test]
fn everybody_hears_of_a_broken_link() {
    let mut node = ns2();
    node.reply(A, rrep(SELF, 1, 8));
    node.fail(A);
    let sent = node.sent();
    assert_eq!((sent.len(), sent[0].to, as_error(&sent[0])), (1, ALL, &[(TARGET, Some(9))][..]));
    // The default: nobody used it through here.
    let mut node = TestNode::new(rfc());
    node.reply(A, rrep(SELF, 1, 8));
    assert!(node.fail(A).sent().is_empty());
}

/// `recvError`: it goes on if somebody is a precursor, to all, after up to 10 ms; what waits for its sender
/// leaves the queue.
#[test]
fn an_error_goes_on_after_a_random_wait() {
    let mut node = TestNode::new(AodvConfig::ns2());
    node.request(B, 10, rreq(0, 1, 5, None)).sent();
    node.reply(A, rrep(SOURCE, 1, 8)).sent();
    assert_eq!(node.precursors(TARGET), [B]);
    node.at(100).sent();
    node.error(A, &[(TARGET, Some(9))]);
    assert!(node.sent().is_empty(), "it waits");
    assert!(node.events().contains(&RoutingEvent::NeighborGone { neighbor: A }));
    node.at(111);
    let sent = node.sent();
    assert_eq!((sent.len(), sent[0].to, as_error(&sent[0])), (1, ALL, &[(TARGET, Some(9))][..]));
    // An error about a route that goes elsewhere says nothing of its sender.
    let mut node = ns2();
    node.reply(A, rrep(SELF, 1, 8));
    node.error(B, &[(TARGET, Some(9))]);
    assert!(!node.events().contains(&RoutingEvent::NeighborGone { neighbor: B }));
}

/// `rt_ll_failed`: only data break a link.
#[test]
fn a_lost_reply_breaks_nothing() {
    for (routing_breaks_link, stands) in [(true, false), (false, true)] {
        let mut node = TestNode::new(AodvConfig { routing_breaks_link, ..quiet() });
        node.reply(A, rrep(SELF, 1, 8));
        let reply = RoutingPacket {
            from: SELF,
            to: A,
            ttl: 30,
            channel: None,
            bytes: 44,
            message: RoutingMessage::Reply(rrep(SOURCE, 1, 8)),
        };
        let after = node.aodv.handle_link_failure(node.now, A, LostPacket::Routing(&reply));
        assert_eq!(after, AfterFailure::Lost);
        assert_eq!(node.route(TARGET).is_some(), stands);
        assert_eq!(node.aodv.is_blacklisted(node.now, A), !stands);
    }
}

/// `forward`: data make no precursors, and keep the route to their destination alone.
#[test]
fn data_keep_one_route() {
    for (all, precursors, until) in [(true, &[A][..], 14_000), (false, &[][..], 10_000)] {
        let config = AodvConfig {
            data_precursors: all,
            prolongs_all: all,
            timer_interval: Duration::ZERO,
            reverse_route_life: Some(Duration::from_secs(10)),
            ..quiet()
        };
        let mut node = TestNode::new(config);
        node.request(A, 10, rreq(0, 1, 5, None));
        node.reply(B, RouteReply { lifetime: Duration::from_secs(10), ..rrep(SELF, 1, 8) });
        node.at(4000);
        assert_eq!(node.relay(SOURCE, TARGET, A), Forwarding::Send { next_hop: B, channel: None });
        assert_eq!(node.precursors(TARGET), precursors);
        assert_eq!((node.expires(TARGET), node.expires(SOURCE)), (14_000, until));
    }
}

/// `recvRequest`: every reply of a destination has a number above the one before.
#[test]
fn replies_of_a_destination_are_news() {
    for (fresh_replies, second) in [(true, 7), (false, 5)] {
        let mut node = TestNode::new(AodvConfig { fresh_replies, ..quiet() });
        let to_this = |id, asked| RouteRequest { destination: SELF, ..rreq(0, id, id, asked) };
        node.request(A, 10, to_this(1, Some(5)));
        node.request(A, 10, to_this(2, Some(5)));
        let numbers: Vec<_> =
            node.sent().iter().map(|packet| as_reply(packet).destination_sequence).collect();
        assert_eq!(numbers[1], second);
    }
}

/// `recvReply`, `suppress_reply`: what says nothing new ends here.
#[test]
fn a_reply_without_news_ends() {
    for (repeats_replies, passed) in [(true, 2), (false, 1)] {
        let mut node = TestNode::new(AodvConfig { repeats_replies, ..quiet() });
        node.request(B, 10, rreq(0, 1, 5, None)).sent();
        node.reply(A, rrep(SOURCE, 1, 8));
        node.reply(A, rrep(SOURCE, 1, 8));
        assert_eq!(node.sent().len(), passed);
    }
}

/// `local_rt_repair`: a relay nearer to the destination holds the packet and seeks; the others over the link
/// stay; who comes after it waits; a newer reply mends the route.
#[test]
fn a_relay_mends_its_route() {
    let mut node = ns2();
    node.request(B, 10, rreq(2, 1, 5, None)).sent();
    node.reply(A, rrep(SOURCE, 1, 8)).sent();
    node.at(1000);
    let lost = |hops| {
        LostPacket::Data(DataPacket { source: SOURCE, destination: TARGET, previous_hop: Some(B), hops })
    };
    // Two hops to go, three done.
    let after = node.aodv.handle_link_failure(node.now, A, lost(3));
    assert_eq!(after, AfterFailure::Hold);
    let sent = node.sent();
    assert_eq!((sent.len(), as_request(&sent[0]).destination, sent[0].ttl), (1, TARGET, 30));
    assert_eq!(node.relay(SOURCE, TARGET, B), Forwarding::Hold, "no error");
    assert!(node.sent().is_empty() && node.aodv.route(node.now, TARGET).is_none());
    node.at(1100);
    node.reply(C, rrep(SELF, 1, 10));
    assert!(node.events().iter().any(|event| matches!(event, RoutingEvent::RouteFound { .. })));
    assert_eq!(node.relay(SOURCE, TARGET, B), Forwarding::Send { next_hop: C, channel: None });
    // Two done, two to go: nearer to the source, or as near.
    let after = node.aodv.handle_link_failure(node.now, C, lost(2));
    assert_eq!(after, AfterFailure::Lost);
    assert!(matches!(node.sent()[0].message, RoutingMessage::Error(_)));
}

/// The wait of a repair is counted from the start of the run twice: begun at 1 s, over at 2.8 s, it gives up
/// at 3.8 s, and a search that was not needed any more goes on.
#[test]
fn a_repair_ends_late() {
    let mut node = ns2();
    node.request(B, 10, rreq(2, 1, 5, None)).sent();
    node.reply(A, rrep(SOURCE, 1, 8)).sent();
    node.at(1000);
    let data = DataPacket { source: SOURCE, destination: TARGET, previous_hop: Some(B), hops: 3 };
    assert_eq!(node.aodv.handle_link_failure(node.now, A, LostPacket::Data(data)), AfterFailure::Hold);
    node.at(3799);
    assert_eq!(node.relay(SOURCE, TARGET, B), Forwarding::Hold);
    node.at(3801);
    assert_eq!(node.relay(SOURCE, TARGET, B), Forwarding::Drop(RoutingDropCause::NoRoute));
}

/// A setting overrides its profile's value and nothing else.
#[test]
fn settings_override_the_profile() {
    let settings =
        AodvSettings { ttl_start: Some(2), hello: Some(true), ..AodvSettings::of(AodvProfile::Ns2) };
    let config = settings.config();
    assert_eq!(config, AodvConfig { ttl_start: 2, hello: true, ..AodvConfig::ns2() });
}

/// Every setting stands on the model page, and the rows of yes and no say what the profiles set.
#[test]
fn the_page_says_what_the_profiles_set() {
    type Flag = fn(&AodvConfig) -> bool;
    let page = include_str!("../../../../docs/routing/aodv.md");
    let schema = schemars::schema_for!(AodvSettings);
    for (name, _) in schema.as_value()["properties"].as_object().unwrap() {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
    let flags: [(&str, Flag); 9] = [
        ("`gratuitous_replies`", |config| config.gratuitous_replies),
        ("`hello`, `hello_always`", |config| config.hello && config.hello_always),
        ("`neighbor_routes`", |config| config.neighbor_routes),
        ("`measured_hop_time`", |config| config.measured_hop_time),
        ("`routing_breaks_link`", |config| config.routing_breaks_link),
        ("`data_precursors`", |config| config.data_precursors),
        ("`fresh_replies`", |config| config.fresh_replies),
        ("`repeats_replies`", |config| config.repeats_replies),
        ("`link_feedback`", |config| config.link_feedback),
    ];
    for (name, flag) in flags {
        let row = page.lines().find(|line| line.starts_with(&format!("| {name}")));
        let cells: Vec<&str> = row.expect(name).split('|').skip(2).map(str::trim).collect();
        for (cell, config) in cells.iter().zip([AodvConfig::rfc(), AodvConfig::ns2(), AodvConfig::ns3()]) {
            let expected = if flag(&config) { "yes" } else { "no" };
            assert!(cell.starts_with(expected), "{name}: {cell}");
        }
    }
}
