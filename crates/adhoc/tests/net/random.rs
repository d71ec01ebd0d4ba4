//! Random networks: nothing is lost without a cause, nothing goes in circles, and the same seed gives the
//! same.

use crate::bench::{Bench, air, config, over, routing};
use crate::committed::{compare_cases, hash};
use crate::radios::senses;
use cogtcp_adhoc::{
    AdHocConfig, AdHocEvent, ArpConfig, ChannelKnowledge, CognitiveNode, Layer, LinkFailure, Radios,
    SensingTimes, WhileNeighbourSenses,
};
use cogtcp_mobility::{Area, Mobility, RandomWaypoint, Start};
use cogtcp_units::{Duration, RandomStream};

fn walk(nodes: usize, speed: f64, seed: u64) -> Mobility {
    let waypoint = RandomWaypoint {
        area: Area::new(700.0, 500.0),
        min_speed: speed / 2.0,
        max_speed: speed,
        min_pause: Duration::ZERO,
        max_pause: Duration::from_secs(1),
        start: Start::Stationary,
    };
    waypoint.generate(nodes, Duration::from_secs(60), seed).unwrap()
}

/// Sends between random pairs, every 20 ms or so, half of it between a few.
fn load(bench: &mut Bench, draw: &mut RandomStream, until_ms: u64, loops: bool) {
    let nodes = bench.net.len() as u64;
    let mut at = 0;
    while at < until_ms {
        bench.run(at);
        let few = if draw.below(2) == 0 { 3 } else { nodes };
        let (source, destination) = (draw.below(few) as u32, draw.below(nodes) as u32);
        bench.send(source, destination);
        if loops {
            bench.assert_no_loops();
        }
        at += 1 + draw.below(40);
    }
    bench.run(until_ms);
}

/// Every protocol, single and three radios, sensing or not, whatever the rules: conserved at every step.
#[test]
fn packets_are_conserved_with_a_cause_for_every_drop() {
    let mut layers = std::collections::BTreeSet::new();
    let mut digests = Vec::new();
    for seed in 0..40_u64 {
        let mut draw = RandomStream::new(seed, "fuzz", 0);
        let aodv_of_ns2 = serde_json::from_str(r#"{ "aodv": { "profile": "ns2" } }"#).unwrap();
        let names = ["aodv", "static", "cr_aodv", "search"];
        let protocol = names.get(draw.below(5) as usize).map_or(aodv_of_ns2, |name| routing(name));
        let channels = 1 + draw.below(3) as u32;
        let users = [
            (1, (300.0, 200.0), 250.0, (1, 3)),
            (draw.below(u64::from(channels)) as u32 + 1, (500.0, 300.0), 300.0, (2, 6)),
        ];
        let air = air(channels, &users);
        let cognitive = (draw.below(3) > 0).then(|| CognitiveNode {
            times: [SensingTimes::Synchronised, SensingTimes::Staggered, SensingTimes::Independent]
                [draw.below(3) as usize],
            while_neighbour_senses: [WhileNeighbourSenses::Wait, WhileNeighbourSenses::Retry]
                [draw.below(2) as usize],
            knowledge: [ChannelKnowledge::Free, ChannelKnowledge::Signalled][draw.below(2) as usize],
            ..senses(Duration::from_millis(50), Duration::from_millis(400))
        });
        let set = AdHocConfig {
            routing: protocol,
            radios: [Radios::Single, Radios::Three][draw.below(2) as usize],
            on_link_failure: [LinkFailure::Reroute, LinkFailure::Drop][draw.below(2) as usize],
            release_interval: Duration::from_millis(10 * draw.below(2)),
            arp: [None, Some(ArpConfig::rfc()), Some(ArpConfig::ns2()), Some(ArpConfig::ns3())]
                [draw.below(4) as usize],
            buffer_packets: 1 + draw.below(20) as usize,
            buffer_time: Duration::from_millis(100 + draw.below(3000)),
            ..config()
        };
        let mut set = over(set, &air, cognitive);
        set.medium.mac.queue_packets = 1 + draw.below(20) as usize;
        let mut bench = Bench::in_air(set, walk(8, 40.0, seed), Some(&air), seed);
        bench.checks = true;
        load(&mut bench, &mut draw, 8000, false);
        assert!(bench.sent > 100);
        bench.assert_conserved();
        layers.extend(bench.dropped.iter().map(|it| it.3.layer()));
        // A drop is told once, and counted where it happened.
        let counted: u64 = (0..8).map(|node| bench.net.counters(node).dropped).sum();
        assert_eq!(counted, bench.dropped.len() as u64);
        digests.push(hash(format!("{:?}", bench.events).as_bytes()));
    }
    compare_cases("random", digests.into_iter());
    assert_eq!(layers.into_iter().collect::<Vec<_>>(), [Layer::Routing, Layer::Queue, Layer::Mac]);
}

/// Over the real MAC, with its delays and losses, no next hops form a circle, and no packet comes to a node
/// twice.
#[test]
fn there_are_no_loops_under_mobility() {
    for seed in 0..6 {
        let mut draw = RandomStream::new(seed, "loops", 0);
        let set = AdHocConfig { routing: routing("aodv"), ..config() };
        let mut bench = Bench::in_air(set, walk(12, 30.0, seed), None, seed);
        bench.net.record_routes();
        load(&mut bench, &mut draw, 20_000, true);
        assert!(bench.arrived.len() * 4 > bench.sent as usize, "{} of {}", bench.arrived.len(), bench.sent);
        for (.., route) in &bench.arrived {
            let nodes = bench.net.recorded_route(route.hash);
            assert_eq!(nodes.len(), usize::from(route.hops) + 1);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_events() {
    let log = |seed: u64| -> Vec<AdHocEvent<u32>> {
        let air = air(2, &[(1, (300.0, 200.0), 250.0, (1, 3))]);
        let set = over(config(), &air, Some(senses(Duration::from_millis(50), Duration::from_millis(400))));
        let mut bench = Bench::in_air(set, walk(10, 20.0, 5), Some(&air), seed);
        load(&mut bench, &mut RandomStream::new(9, "load", 0), 6000, false);
        bench.events
    };
    assert_eq!(log(1), log(1));
    assert_ne!(log(1), log(2));
}
