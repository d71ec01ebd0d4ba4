//! CR nodes: who senses when, what neighbours do meanwhile, and who knows whose channel.

use crate::bench::{Bench, air, chain, config, over, path, routing};
use cogtcp_adhoc::{
    AdHocConfig, AdHocDropCause, AdHocEvent, ChannelKnowledge, CognitiveNode, Radios, SensingTimes,
    WhileNeighbourSenses,
};
use cogtcp_crosslayer::{ChannelId, LinkEvent};
use cogtcp_mobility::{Mobility, Trajectory};
use cogtcp_routing::{ChannelNumber, LossCause, NodeAddress, RoutingSpec};
use cogtcp_spectrum::CognitiveConfig;
use cogtcp_spectrum::detector::DetectorContext;
use cogtcp_units::{Duration, Position, Time};
use std::collections::BTreeSet;

/// Nodes that sense without errors.
pub(crate) fn senses(sensing_time: Duration, transmission_time: Duration) -> CognitiveNode {
    CognitiveNode {
        radio: CognitiveConfig { sensing_time, transmission_time, ..CognitiveConfig::default() },
        detector: serde_json::from_str("\"perfect\"").unwrap(),
        surroundings: DetectorContext { duty_cycle: 0.5 },
        policy: serde_json::from_str("\"round_robin\"").unwrap(),
        times: SensingTimes::Synchronised,
        while_neighbour_senses: WhileNeighbourSenses::Wait,
        knowledge: ChannelKnowledge::Free,
        report_memory: Duration::from_secs(5),
    }
}

fn usual() -> CognitiveNode {
    senses(Duration::from_millis(100), Duration::from_millis(900))
}

/// When each node began to sense, ms.
fn sensings(bench: &Bench, nodes: usize) -> Vec<Vec<u64>> {
    let mut times = vec![Vec::new(); nodes];
    for event in &bench.events {
        if let AdHocEvent::Radio { time, node, event: LinkEvent::SensingStart { .. } } = event {
            times[*node as usize].push(time.as_nanos() / 1_000_000);
        }
    }
    times
}

/// A PU at the second node drives it to the next channel: it senses again there. By a common clock it falls
/// back into step, by its own it stays out of it.
#[test]
fn sensing_is_synchronised_staggered_or_independent() {
    for (times, step) in [
        (SensingTimes::Synchronised, Some(0)),
        (SensingTimes::Staggered, Some(250)),
        (SensingTimes::Independent, None),
    ] {
        let air = air(2, &[(1, (200.0, 0.0), 50.0, (3, 100))]);
        let set = over(config(), &air, Some(CognitiveNode { times, ..usual() }));
        let mut bench = Bench::in_air(set, chain(4, 200.0), Some(&air), 1);
        bench.run(20_000);
        let found = sensings(&bench, 4);
        for (node, found) in found.iter().enumerate() {
            let late: Vec<u64> = found.iter().copied().filter(|at| *at >= 6000).map(|at| at % 1000).collect();
            assert!(late.len() >= 13, "{times:?}: {found:?}");
            match step {
                Some(step) => {
                    assert!(late.iter().all(|at| *at == step * node as u64), "{times:?} {node}: {late:?}")
                }
                None => assert!(late.iter().all(|at| *at == late[0]), "each by its own clock: {late:?}"),
            }
        }
        let phases: BTreeSet<u64> = [0, 2, 3].iter().map(|node: &usize| found[*node][2] % 1000).collect();
        assert_eq!(
            phases.len(),
            if times == SensingTimes::Synchronised { 1 } else { 3 },
            "{times:?}: {phases:?}"
        );
        // A sensing takes 100 ms, and a change of channel 1 ms.
        let twice = |found: &[u64]| found.windows(2).filter(|pair| pair[1] - pair[0] < 200).count();
        assert_eq!((twice(&found[0]), twice(&found[1])), (0, 1), "once more on the next channel: {found:?}");
        assert_eq!(bench.net.channel(1), ChannelId(1), "{times:?}");
        assert_eq!(bench.net.channel(0), ChannelId(0), "{times:?}");
    }
}

/// A PU that blocks the only relay. While it is ON nothing comes through, and the MAC says why; then all is
/// as before.
#[test]
fn a_primary_user_blocks_the_only_relay() {
    let air = air(1, &[(1, (200.0, 0.0), 50.0, (10, 20))]);
    let mut bench = Bench::in_air(over(config(), &air, None), chain(3, 200.0), Some(&air), 1);
    bench.checks = true;
    bench.stream(0, 2, 100, 40_000);
    assert_eq!(bench.arrivals(11, 20), 0);
    assert!(bench.arrivals(0, 10) >= 95 && bench.arrivals(30, 40) >= 95, "{}", bench.arrivals(30, 40));
    assert!(bench.drops(AdHocDropCause::Interfered) >= 1, "{:?}", bench.dropped);
}

/// Nodes that sense leave the channel of a PU around them, and go on on the next: with one radio and with
/// three, whether they know each other's channels or hear of them.
#[test]
fn nodes_that_sense_leave_the_channel() {
    let air = air(2, &[(1, (200.0, 0.0), 1000.0, (10, 20))]);
    for radios in [Radios::Single, Radios::Three] {
        for knowledge in [ChannelKnowledge::Free, ChannelKnowledge::Signalled] {
            let set = AdHocConfig { radios, ..config() };
            let set = over(set, &air, Some(CognitiveNode { knowledge, ..usual() }));
            let mut bench = Bench::in_air(set, chain(3, 200.0), Some(&air), 1);
            bench.checks = true;
            bench.stream(0, 2, 100, 40_000);
            let what = format!("{radios:?} {knowledge:?}: {:?}", bench.dropped.len());
            assert!(bench.arrivals(12, 20) >= 75, "{what}: {}", bench.arrivals(12, 20));
            assert!(bench.arrivals(0, 10) >= 90 && bench.arrivals(30, 40) >= 95, "{what}");
            assert!(
                (0..3).all(|node| bench.net.channel(node) == ChannelId(1)),
                "{what}: they stay where they are"
            );
            let said: u64 = (0..3).map(|node| bench.net.counters(node).announcements).sum();
            // Three at the handoffs after 10 s, and three every second.
            let expected = if knowledge == ChannelKnowledge::Signalled { 85..=93 } else { 0..=0 };
            assert!(expected.contains(&said), "{what}: {said}");
        }
    }
}

/// A hop needs a channel that is free at both ends: its answers come back on the receiver's. A relay that has
/// left a channel which its neighbours keep cannot reach them while the PU is there, though they reach it.
#[test]
fn both_ends_must_meet_on_a_free_channel() {
    let air = air(2, &[(1, (200.0, 0.0), 50.0, (10, 20))]);
    let set = over(config(), &air, Some(usual()));
    let mut bench = Bench::in_air(set, chain(3, 200.0), Some(&air), 1);
    bench.checks = true;
    bench.stream(0, 2, 100, 40_000);
    assert_eq!([0, 1, 2].map(|node| bench.net.channel(node)), [0, 1, 0].map(ChannelId));
    assert_eq!(bench.arrivals(12, 20), 0);
    let relayed = bench.net.counters(1).relayed;
    assert!(
        relayed > bench.arrived.len() as u64 && bench.drops(AdHocDropCause::Interfered) > 0,
        "{:?}",
        bench.dropped
    );
    // The PU is gone, and the three visit each other's channels.
    assert!(bench.arrivals(30, 40) >= 90, "{}", bench.arrivals(30, 40));
}

/// A sender that knows waits for a neighbour that senses; one that does not burns its retries, and the link
/// fails.
#[test]
fn relays_wait_for_a_neighbour_that_senses_or_do_not() {
    let run = |rule| {
        let air = air(1, &[]);
        let cognitive = CognitiveNode {
            while_neighbour_senses: rule,
            times: SensingTimes::Staggered,
            ..senses(Duration::from_millis(300), Duration::from_millis(700))
        };
        let set = over(AdHocConfig { routing: routing("static"), ..config() }, &air, Some(cognitive));
        let mut bench = Bench::in_air(set, chain(3, 200.0), Some(&air), 1);
        bench.checks = true;
        bench.stream(0, 2, 50, 30_000);
        bench
    };
    let (waits, retries) = (run(WhileNeighbourSenses::Wait), run(WhileNeighbourSenses::Retry));
    assert_eq!(waits.drops(AdHocDropCause::Silent), 0);
    assert!(waits.arrived.len() >= 580, "{}", waits.arrived.len());
    assert!(retries.drops(AdHocDropCause::Silent) > 50, "{}", retries.drops(AdHocDropCause::Silent));
}

/// With three radios routing goes over the control channel: a PU on all data channels does not touch it.
#[test]
fn the_control_channel_is_free_of_primary_users() {
    let everywhere = [(1, (200.0, 0.0), 1000.0, (0, 100))];
    let air = air(1, &everywhere);
    let set = over(AdHocConfig { radios: Radios::Three, ..config() }, &air, None);
    let mut bench = Bench::in_air(set, chain(3, 200.0), Some(&air), 1);
    bench.send(0, 2);
    bench.run(500);
    assert!(bench.events.iter().any(|event| matches!(event, AdHocEvent::SearchEnded { node: 0, .. })));
    bench.run(5000);
    assert_eq!((bench.arrived.len(), bench.drops(AdHocDropCause::Interfered)), (0, 1));
    assert!(bench.now == Time::from_millis(5000));
}

/// A node walks past a primary user that reaches 100 m: it senses where it is, and leaves the channel when it
/// comes there, not before.
#[test]
fn a_node_senses_where_it_is() {
    let air = air(2, &[(1, (1000.0, 0.0), 100.0, (0, 100))]);
    let walk = Mobility::new(vec![path(&[(0, 0.0, 0.0), (20, 1000.0, 0.0)])]);
    let mut bench = Bench::in_air(over(config(), &air, Some(usual())), walk, Some(&air), 1);
    bench.run(17_500);
    assert_eq!(bench.net.channel(0), ChannelId(0), "875 m");
    bench.run(20_000);
    assert_eq!(bench.net.channel(0), ChannelId(1));
}

/// CR-AODV, nodes that learn channels by its hellos.
fn cr_aodv() -> RoutingSpec {
    serde_json::from_str(r#"{ "cr_aodv": { "choose_channel": false, "channel_knowledge": "hello" } }"#)
        .unwrap()
}

/// Routing hears of a handoff, and CR-AODV says its hello: on each of the two channels, with one radio.
#[test]
fn a_handoff_is_followed_by_a_hello_of_cr_aodv() {
    let air = air(2, &[(1, (0.0, 0.0), 50.0, (3, 100))]);
    let set = over(AdHocConfig { routing: cr_aodv(), ..config() }, &air, Some(usual()));
    let mut bench = Bench::in_air(set, chain(1, 0.0), Some(&air), 1);
    bench.run(2900);
    assert_eq!(bench.net.counters(0).routing_sent, 0);
    bench.run(10_000);
    let counters = bench.net.counters(0);
    assert_eq!((counters.handoffs, counters.routing_sent), (1, 2));
}

/// With knowledge at no cost the neighbours' routing has the new channel at the moment of the handoff, before
/// any hello.
#[test]
fn neighbours_know_a_channel_at_once() {
    let air = air(2, &[(1, (200.0, 0.0), 50.0, (3, 100))]);
    let set = over(AdHocConfig { routing: cr_aodv(), ..config() }, &air, Some(usual()));
    let mut bench = Bench::in_air(set, chain(2, 200.0), Some(&air), 1);
    bench.send(0, 1);
    let mut now = 0;
    while bench.net.channel(1) == ChannelId(0) {
        now += 1;
        assert!(now < 10_000);
        bench.run(now);
    }
    assert_eq!(bench.net.counters(0).routing_received, 1, "the reply of the search, and no hello yet");
    let route = bench.net.routing(0).route(bench.now, NodeAddress::new(1)).unwrap();
    assert_eq!(route.channel, Some(ChannelNumber(2)));
}

/// A node comes into range of one that has left the first channel. Where channels are signalled it sends to
/// the old one, in vain, until it hears the next announcement; where they are known it loses nothing.
#[test]
fn who_has_not_heard_of_a_handoff_sends_to_the_old_channel() {
    for (knowledge, loses) in [(ChannelKnowledge::Signalled, true), (ChannelKnowledge::Free, false)] {
        let air = air(2, &[(1, (0.0, 0.0), 50.0, (3, 100))]);
        let set = AdHocConfig {
            routing: routing("static"),
            location_interval: Duration::from_millis(20),
            ..config()
        };
        let set = over(set, &air, Some(CognitiveNode { knowledge, ..usual() }));
        let comes = path(&[(0, 5000.0, 0.0), (19, 5000.0, 0.0), (20, 200.0, 0.0), (30, 200.0, 0.0)]);
        let still = Trajectory::still(Position::new(0.0, 0.0));
        let mut bench = Bench::in_air(set, Mobility::new(vec![comes, still]), Some(&air), 1);
        bench.checks = true;
        bench.run(20_030);
        // By now static routing knows that the two are in range.
        bench.stream(0, 1, 20, 22_500);
        assert_eq!(bench.drops(AdHocDropCause::OutOfReach) > 0, loses, "{knowledge:?}: {:?}", bench.dropped);
        assert!(bench.arrivals(21, 23) > 50, "{knowledge:?}: {}", bench.arrivals(21, 23));
    }
}

/// SEARCH hears of the primary user that its node reports, and ends the route over its channel.
#[test]
fn routing_hears_of_primary_users() {
    let air = air(1, &[(1, (200.0, 0.0), 50.0, (5, 100))]);
    let set = over(AdHocConfig { routing: routing("search"), ..config() }, &air, Some(usual()));
    let mut bench = Bench::in_air(set, chain(3, 200.0), Some(&air), 1);
    bench.run(2500);
    bench.stream(0, 2, 100, 8000);
    assert!(bench.arrivals(3, 5) >= 15);
    let lost = bench.events.iter().find_map(|event| match event {
        AdHocEvent::RouteLost { time, node: 1, cause: LossCause::PrimaryUser, .. } => Some(*time),
        _ => None,
    });
    assert!(lost.is_some_and(|time| (5..7).contains(&(time.as_nanos() / 1_000_000_000))), "{lost:?}");
}

/// A relay has left the first channel, and its primary user is gone. What it reported counts for
/// `report_memory`, 5 s; then SEARCH takes that channel again, which is the first of equal ones, and the
/// relay's radio goes there.
#[test]
fn a_report_is_forgotten_and_routing_moves_the_radio() {
    let air = air(2, &[(1, (200.0, 0.0), 50.0, (5, 7))]);
    let set = over(AdHocConfig { routing: routing("search"), ..config() }, &air, Some(usual()));
    let mut bench = Bench::in_air(set, chain(3, 200.0), Some(&air), 1);
    bench.run(8000);
    bench.stream(0, 2, 100, 9500);
    assert_eq!(bench.net.channel(1), ChannelId(1), "it left, and the report is fresh");
    bench.run(25_000);
    bench.stream(0, 2, 100, 30_000);
    assert!(bench.arrivals(27, 30) >= 20, "{}", bench.arrivals(27, 30));
    assert_eq!(bench.net.channel(1), ChannelId(0));
}
