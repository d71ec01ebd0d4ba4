//! Loop freedom at every moment, under mobility, delays and losses.

use crate::committed::compare;
use crate::world::air::{Setting, World};
use cogtcp_routing::search::SearchConfig;
use cogtcp_routing::{
    AodvProfile, AodvSettings, AtHandoff, ChannelNumber, CrAodvConfig, HostUpdate, NodeAddress, RoutingSpec,
};
use cogtcp_units::{Duration, Time};
use std::fmt::Write;

fn aodv(settings: AodvSettings) -> Setting {
    wild(RoutingSpec::Aodv(settings))
}

fn wild(routing: RoutingSpec) -> Setting {
    Setting {
        routing,
        nodes: 14,
        side: 700.0,
        delay: Duration::from_millis(60),
        loss: 0.2,
        feedback: true,
        speed: 40.0,
        traffic: true,
    }
}

fn no_loops(name: &str, setting: &Setting, seeds: std::ops::Range<u64>, seconds: u64) {
    let mut counts = String::new();
    for seed in seeds {
        let mut world = World::new(setting.clone(), seed);
        world.run(Time::from_millis(seconds * 1000));
        // A test in which nothing moves would hold anything.
        assert!(world.delivered * 10 > world.sent, "{} of {}", world.delivered, world.sent);
        let stats: u64 = world.nodes.iter().map(|node| node.stats().packets()).sum();
        assert!(stats > 1000, "{stats}");
        let _ = writeln!(counts, "{seed}: {} of {} arrive, {stats} messages", world.delivered, world.sent);
    }
    compare(&format!("loops-{name}"), &counts);
}

#[test]
fn aodv_of_the_rfc() {
    no_loops("aodv-of-the-rfc", &aodv(AodvSettings::default()), 0..6, 40);
}

#[test]
fn aodv_of_ns2_and_of_ns3() {
    no_loops("aodv-of-ns2-and-of-ns3", &aodv(AodvSettings::of(AodvProfile::Ns2)), 0..3, 40);
    no_loops("aodv-of-ns2-and-of-ns3-2", &aodv(AodvSettings::of(AodvProfile::Ns3)), 0..3, 40);
}

/// A spectrum handoff every 100 ms, of one node after the other, which all others are told of: sources search
/// again while their old routes are valid.
#[test]
fn aodv_that_seeks_at_handoffs() {
    for (seed, profile) in [(0, AodvProfile::Rfc), (1, AodvProfile::Rfc), (2, AodvProfile::Ns2)] {
        let settings = AodvSettings { at_handoff: Some(AtHandoff::Search), ..AodvSettings::of(profile) };
        let mut world = World::new(aodv(settings), seed);
        for step in 1..=300_u32 {
            world.run(Time::from_millis(u64::from(step) * 100));
            let moved = step % 14;
            let channel = ChannelNumber(1 + step / 14 % 3);
            for node in 0..14 {
                let neighbor = NodeAddress::new(moved);
                let update = match node == moved as usize {
                    true => HostUpdate::Handoff { channel },
                    false => HostUpdate::NeighborChannel { neighbor, channel },
                };
                world.nodes[node].handle_host_update(world.now, update);
                world.settle(node);
            }
        }
        assert!(world.delivered * 10 > world.sent, "{} of {}", world.delivered, world.sent);
    }
}

/// Routes of a second or less: most of them expire while their neighbours still have theirs.
#[test]
fn aodv_with_short_lives() {
    let settings = AodvSettings {
        active_route_timeout: Some(Duration::from_millis(300)),
        my_route_timeout: Some(Duration::from_millis(500)),
        ..AodvSettings::default()
    };
    no_loops("aodv-with-short-lives", &aodv(settings), 0..6, 30);
}

#[test]
fn aodv_for_the_destination_only_and_with_acknowledgements() {
    let settings = AodvSettings {
        destination_only: Some(true),
        reply_acknowledgement: Some(true),
        ..AodvSettings::default()
    };
    no_loops("aodv-for-the-destination-only-and-with-acknowledgements", &aodv(settings), 0..3, 30);
}

/// Frames that are half a second late, and lost without a word.
#[test]
fn aodv_with_long_delays_and_no_feedback() {
    let settings = AodvSettings {
        hello_interval: Some(Duration::from_millis(500)),
        ..AodvSettings::of(AodvProfile::Ns3)
    };
    let setting = Setting { delay: Duration::from_millis(500), feedback: false, loss: 0.1, ..aodv(settings) };
    for seed in 0..4 {
        let mut world = World::new(setting.clone(), seed);
        world.run(Time::from_millis(40_000));
        assert!(world.delivered > 20, "{} of {}", world.delivered, world.sent);
    }
}

#[test]
fn cr_aodv() {
    let config = CrAodvConfig { aodv: AodvSettings::of(AodvProfile::Rfc), ..CrAodvConfig::default() };
    no_loops("cr-aodv", &wild(RoutingSpec::CrAodv(config)), 0..3, 30);
    let setting = Setting { speed: 2.0, ..wild(RoutingSpec::CrAodv(CrAodvConfig::default())) };
    let mut world = World::new(setting, 1);
    world.run(Time::from_millis(30_000));
    assert!(world.delivered > 20);
}

/// SEARCH keeps a route for each pair: packets of a pair come back to no node for ever. Here nobody uses up
/// his 30 hops.
#[test]
fn search_moves_no_packet_in_circles() {
    let setting = Setting { loss: 0.05, speed: 10.0, ..wild(RoutingSpec::Search(SearchConfig::default())) };
    for seed in 0..4 {
        let mut world = World::new(setting.clone(), seed);
        world.check_loops = false;
        world.run(Time::from_millis(40_000));
        assert_eq!(world.ttl_drops, 0);
        assert!(world.delivered * 5 > world.sent, "{} of {}", world.delivered, world.sent);
    }
}
