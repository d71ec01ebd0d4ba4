//! The rules of ns-2 and ns-3, as settings.

use crate::harness::*;
use cogtcp_routing::{AodvConfig, AodvProfile, AodvSettings, Forwarding, RoutingEvent};
use cogtcp_units::Duration;

fn profile(profile: AodvProfile) -> AodvConfig {
    AodvSettings::of(profile).config()
}

/// The initial values of ns-3's attributes: NetTraversalTime 2.8 s, PathDiscoveryTime 5.6 s, BlackListTimeout 5.6 s,
/// DeletePeriod 15 s, NextHopWait 50 ms.
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

/// ns-2: TTL 5, 7, 30 and so on; 2 * TTL * 30 ms, times how many went through the whole network, 10 s at most: 300, 420,
/// then 1800, 3600, 5400, 7200 ms.
#[test]
fn a_search_as_in_ns2() {
    let mut node = Node::new(AodvConfig { jitter: Duration::ZERO, ..profile(AodvProfile::Ns2) });
    node.data(TARGET);
    let (mut sent, mut failed) = (Vec::new(), None);
    for now in 0..30_000 {
        node.at(now);
        sent.extend(node.sent().iter().map(|packet| (now, packet.ttl, packet.bytes)));
        if node.events().contains(&RoutingEvent::DiscoveryFailed { destination: TARGET }) {
            failed = failed.or(Some(now));
        }
    }
    assert_eq!(
        sent,
        [(0, 5, 48), (300, 7, 48), (720, 30, 48), (2520, 30, 48), (6120, 30, 48), (11_520, 30, 48)]
    );
    assert_eq!(failed, Some(18_720));
}

/// ns-2: after a failed search the next for the same destination waits 10 s; a packet in between is held and begins it.
#[test]
fn a_pause_follows_a_failed_search() {
    let mut node = Node::new(AodvConfig { jitter: Duration::ZERO, ..profile(AodvProfile::Ns2) });
    node.data(TARGET);
    node.at(18_720).sent();
    node.at(20_000);
    assert_eq!(node.data(TARGET), Forwarding::Hold);
    node.at(28_719);
    assert!(node.sent().is_empty());
    node.at(28_720);
    assert_eq!(node.sent().len(), 1);
}

/// A setting overrides its profile's value and nothing else.
#[test]
fn settings_override_the_profile() {
    let settings =
        AodvSettings { ttl_start: Some(2), hello: Some(true), ..AodvSettings::of(AodvProfile::Ns2) };
    let config = settings.config();
    assert_eq!(config, AodvConfig { ttl_start: 2, hello: true, ..AodvConfig::ns2() });
}
