//! CR nodes: who senses when, what neighbours do meanwhile, and who knows whose channel.

use crate::bench::{Bench, air, chain, config, over, routing};
use cogtcp_adhoc::{
    AdHocConfig, ChannelKnowledge, CognitiveNode, DropCause, Event, Radios, SensingTimes,
    WhileNeighbourSenses,
};
use cogtcp_crosslayer::{ChannelId, LinkEvent};
use cogtcp_spectrum::CognitiveConfig;
use cogtcp_spectrum::detector::Surroundings;
use cogtcp_units::{Duration, Time};

/// Nodes that sense without errors.
pub(crate) fn senses(sensing_time: Duration, transmission_time: Duration) -> CognitiveNode {
    CognitiveNode {
        radio: CognitiveConfig { sensing_time, transmission_time, ..CognitiveConfig::default() },
        detector: serde_json::from_str("\"perfect\"").unwrap(),
        surroundings: Surroundings { duty_cycle: 0.5 },
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
        if let Event::Radio { time, node, event: LinkEvent::SensingStart { .. } } = event {
            times[*node as usize].push(time.as_nanos() / 1_000_000);
        }
    }
    times
}

/// A PU at the second node drives it to the next channel: it senses again there. By a common clock it falls back into step, by its
/// own it stays out of it.
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
        let twice = |found: &[u64]| found.windows(2).filter(|pair| pair[1] - pair[0] < 200).count();
        assert_eq!((twice(&found[0]), twice(&found[1])), (0, 1), "once more on the next channel: {found:?}");
        assert_eq!(bench.net.channel(1), ChannelId(1), "{times:?}");
        assert_eq!(bench.net.channel(0), ChannelId(0), "{times:?}");
    }
}

/// A PU that blocks the only relay. While it is ON nothing comes through, and the MAC says why; then all is as before.
#[test]
fn a_primary_user_blocks_the_only_relay() {
    let air = air(1, &[(1, (200.0, 0.0), 50.0, (10, 20))]);
    let mut bench = Bench::in_air(over(config(), &air, None), chain(3, 200.0), Some(&air), 1);
    bench.checks = true;
    bench.stream(0, 2, 100, 40_000);
    assert_eq!(bench.arrivals(11, 20), 0);
    assert!(bench.arrivals(0, 10) >= 95 && bench.arrivals(30, 40) >= 95, "{}", bench.arrivals(30, 40));
    assert!(bench.drops(DropCause::Interfered) >= 1, "{:?}", bench.dropped);
}

/// Nodes that sense leave the channel of a PU around them, and go on on the next: with one radio and with three, whether they know each
/// other's channels or hear of them.
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

/// A hop needs a channel that is free at both ends: its answers come back on the receiver's. A relay that has left a channel which its
/// neighbours keep cannot reach them while the PU is there, though they reach it.
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
        relayed > bench.arrived.len() as u64 && bench.drops(DropCause::Interfered) > 0,
        "{:?}",
        bench.dropped
    );
    // The PU is gone, and the three visit each other's channels.
    assert!(bench.arrivals(30, 40) >= 90, "{}", bench.arrivals(30, 40));
}

/// A sender that knows waits for a neighbour that senses; one that does not burns its retries, and the link fails.
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
    assert_eq!(waits.drops(DropCause::Silent), 0);
    assert!(waits.arrived.len() >= 580, "{}", waits.arrived.len());
    assert!(retries.drops(DropCause::Silent) > 50, "{}", retries.drops(DropCause::Silent));
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
    assert!(bench.events.iter().any(|event| matches!(event, Event::SearchEnded { node: 0, .. })));
    bench.run(5000);
    assert_eq!((bench.arrived.len(), bench.drops(DropCause::Interfered)), (0, 1));
    assert!(bench.now == Time::from_millis(5000));
}
