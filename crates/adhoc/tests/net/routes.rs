//! Packets find routes, lose them and find others.

use crate::bench::{Bench, chain, config, path, routing};
use cogtcp_adhoc::{AdHocDropCause, AdHocEvent, LinkFailure, SearchOutcome};
use cogtcp_mobility::{Mobility, Trajectory};
use cogtcp_units::{Duration, Position};

/// 200 m apart each hears only the next: three hops, after a search that the log shows.
#[test]
fn a_chain_of_four_is_three_hops() {
    for name in ["aodv", "static", "cr_aodv"] {
        let mut bench =
            Bench::new(cogtcp_adhoc::AdHocConfig { routing: routing(name), ..config() }, chain(4, 200.0));
        bench.checks = true;
        bench.net.record_routes();
        for _ in 0..10 {
            bench.send(0, 3);
        }
        bench.run(3000);
        assert_eq!((bench.arrived.len(), bench.dropped.len()), (10, 0), "{name}");
        assert!(bench.arrived.iter().all(|(_, _, route)| route.hops == 3));
        assert_eq!(bench.net.recorded_route(bench.arrived[0].2.hash), [0, 1, 2, 3]);
        assert_eq!(bench.net.route(bench.now, 0, 3), [1, 2, 3]);
        // They arrive in their order, and the later ones waited longer.
        assert!(bench.arrived.windows(2).all(|pair| pair[0].1 < pair[1].1 && pair[0].0 < pair[1].0));
        assert!(bench.arrived[9].2.waited > bench.arrived[0].2.waited);
        let found: Vec<u8> = bench
            .events
            .iter()
            .filter_map(|event| match event {
                AdHocEvent::SearchEnded { node: 0, outcome: SearchOutcome::Found { hops, .. }, .. } => {
                    Some(*hops)
                }
                _ => None,
            })
            .collect();
        assert_eq!(found, if name == "static" { vec![] } else { vec![3] }, "{name}");
        let counters = [0, 1, 2, 3].map(|node| bench.net.counters(node));
        assert_eq!(counters.map(|it| it.relayed), [0, 10, 10, 0]);
        assert_eq!((counters[0].originated, counters[3].delivered), (10, 10));
        assert_eq!(counters[0].routing_sent > 0, name != "static");
    }
}

/// SEARCH finds the chain by places, with one channel and one radio.
#[test]
fn search_goes_along_a_chain() {
    let mut bench =
        Bench::new(cogtcp_adhoc::AdHocConfig { routing: routing("search"), ..config() }, chain(4, 200.0));
    // Beacons first: nobody knows his neighbours before.
    bench.run(2000);
    for _ in 0..10 {
        bench.send(0, 3);
    }
    bench.run(6000);
    assert_eq!((bench.arrived.len(), bench.dropped.len()), (10, 0));
    assert!(bench.arrived.iter().all(|(_, _, route)| route.hops == 3));
}

/// Nobody is there: the search fails, and what waited for it is dropped. With patience it would have waited
/// longer.
#[test]
fn packets_for_nobody_are_dropped_when_the_search_fails() {
    let mut bench = Bench::new(config(), chain(2, 2000.0));
    bench.checks = true;
    bench.send(0, 1);
    bench.run(60_000);
    assert_eq!(bench.drops(AdHocDropCause::NotFound), 1);
    let impatient = cogtcp_adhoc::AdHocConfig { buffer_time: Duration::from_millis(50), ..config() };
    let mut bench = Bench::new(impatient, chain(2, 2000.0));
    bench.send(0, 1);
    bench.run(60_000);
    assert_eq!(bench.dropped.len(), 1);
    assert_eq!((bench.dropped[0].0.as_nanos(), bench.dropped[0].3), (50_000_000, AdHocDropCause::BufferTime));
    let small = cogtcp_adhoc::AdHocConfig { buffer_packets: 2, ..config() };
    let mut bench = Bench::new(small, chain(2, 2000.0));
    bench.burst(5, 0, 1);
    assert_eq!(
        bench.dropped.iter().map(|it| (it.2, it.3)).collect::<Vec<_>>(),
        [0, 1, 2].map(|n| (n, AdHocDropCause::BufferFull))
    );
}

/// More than the interface queue holds.
#[test]
fn a_full_queue_drops() {
    let mut bench =
        Bench::new(cogtcp_adhoc::AdHocConfig { routing: routing("static"), ..config() }, chain(2, 200.0));
    bench.checks = true;
    bench.burst(60, 0, 1);
    bench.run(2000);
    // The MAC takes none out of the queue before it sends it.
    assert_eq!((bench.drops(AdHocDropCause::QueueFull), bench.arrived.len()), (10, 50));
}

/// A packet that may take two hops does not come to the third.
#[test]
fn time_to_live_counts_hops() {
    let mut bench =
        Bench::new(cogtcp_adhoc::AdHocConfig { routing: routing("static"), ..config() }, chain(4, 200.0));
    let packet = |time_to_live, payload| cogtcp_adhoc::HostPacket {
        source: 0,
        destination: 3,
        bytes: 500,
        time_to_live,
        payload,
    };
    // The two go past `Bench::send`, to have a time to live of their own.
    bench.sent = 2;
    bench.net.offer(bench.now, packet(2, 0));
    bench.net.offer(bench.now, packet(3, 1));
    bench.run(1000);
    assert_eq!((bench.drops(AdHocDropCause::Expired), bench.arrived.len()), (1, 1));
    assert_eq!((bench.dropped[0].1, bench.arrived[0].1), (2, 1), "at the third node");
}

/// The relay walks away and comes back: packets stop, and go on within a few seconds.
#[test]
fn a_partition_heals() {
    let away = [(20, 200.0, 0.0), (30, 200.0, 1000.0), (50, 200.0, 1000.0), (60, 200.0, 0.0)];
    let paths = || {
        let ends = [0.0, 400.0].map(|x| Trajectory::still(Position::new(x, 0.0)));
        let [first, last] = ends;
        Mobility::new(vec![first, path(&away), last])
    };
    for name in ["aodv", "static"] {
        let mut bench = Bench::new(cogtcp_adhoc::AdHocConfig { routing: routing(name), ..config() }, paths());
        bench.checks = true;
        bench.stream(0, 2, 100, 100_000);
        assert!(bench.arrivals(0, 20) >= 195, "{name}: {}", bench.arrivals(0, 20));
        assert_eq!(bench.arrivals(25, 57), 0, "{name}: nobody is between them");
        assert!(bench.arrivals(75, 100) >= 245, "{name}: {}", bench.arrivals(75, 100));
        // What was lost was lost to routing, or on the link that broke.
        assert!(bench.dropped.iter().all(|it| matches!(
            it.3,
            AdHocDropCause::NotFound
                | AdHocDropCause::NoRoute
                | AdHocDropCause::OutOfReach
                | AdHocDropCause::BufferFull
                | AdHocDropCause::BufferTime
        )));
        assert!(bench.drops(AdHocDropCause::OutOfReach) >= 1);
    }
}

/// The link to the next hop fails with packets behind the one that failed: they take the other route, or are
/// dropped as in ns-2.
#[test]
fn packets_behind_a_failed_one_are_rerouted_or_dropped() {
    // Two relays between the ends; the one that the first packets took goes away.
    for (rule, rerouted) in [(LinkFailure::Reroute, true), (LinkFailure::Drop, false)] {
        let mobility = |first_leaves: bool| {
            let still = |x: f64, y: f64| Trajectory::still(Position::new(x, y));
            let leaves = |y: f64| path(&[(0, 200.0, y), (2, 200.0, y), (3, 200.0, 3000.0 * y.signum())]);
            let [a, b] = if first_leaves {
                [leaves(50.0), still(200.0, -50.0)]
            } else {
                [still(200.0, 50.0), leaves(-50.0)]
            };
            Mobility::new(vec![still(0.0, 0.0), a, b, still(400.0, 0.0)])
        };
        let set = cogtcp_adhoc::AdHocConfig { on_link_failure: rule, ..config() };
        // Which relay the search finds is up to chance: a run before shows it.
        let mut probe = Bench::new(set.clone(), mobility(true));
        probe.send(0, 3);
        probe.run(1000);
        let first_leaves = probe.net.route(probe.now, 0, 3)[0] == 1;
        let mut bench = Bench::new(set, mobility(first_leaves));
        bench.checks = true;
        bench.send(0, 3);
        bench.run(2900);
        bench.burst(20, 0, 3);
        bench.run(10_000);
        let lost = bench.drops(AdHocDropCause::LinkFailed);
        assert_eq!(lost > 0, !rerouted, "{rule:?}: {:?}", bench.dropped);
        assert_eq!(bench.arrived.len() >= 20, rerouted, "{rule:?}: {}", bench.arrived.len());
    }
}

/// Static routing is told of nodes that come: the relay arrives after 10 s, and the next news of who reaches
/// whom is at most 1 s later.
#[test]
fn static_routing_is_told_of_nodes_that_come() {
    let ends = [0.0, 400.0].map(|x| Trajectory::still(Position::new(x, 0.0)));
    let [first, last] = ends;
    let comes = path(&[(0, 200.0, 1000.0), (10, 200.0, 0.0), (20, 200.0, 0.0)]);
    let set = cogtcp_adhoc::AdHocConfig { routing: routing("static"), ..config() };
    let mut bench = Bench::new(set, Mobility::new(vec![first, comes, last]));
    bench.checks = true;
    bench.stream(0, 2, 100, 20_000);
    assert_eq!((bench.arrivals(0, 8), bench.arrivals(12, 20)), (0, 80));
}

/// A reply of routing goes before the data that wait: the search is over long before they are.
#[test]
fn routing_goes_before_data() {
    let mut bench = Bench::new(config(), chain(3, 200.0));
    bench.checks = true;
    // The route stays in use, and 0 forgets what it heard of 1 when that asked for it.
    bench.stream(1, 2, 500, 6000);
    let before = bench.arrived.len();
    bench.burst(45, 1, 2);
    bench.send(0, 1);
    let is_found = |event: &AdHocEvent<u32>| matches!(event, AdHocEvent::SearchEnded { node: 0, .. });
    for now in 6000..6500 {
        bench.run(now);
        if bench.events.iter().any(is_found) {
            break;
        }
    }
    assert!(bench.events.iter().any(is_found));
    assert!(bench.arrived.len() < before + 15, "{} of 45 before the reply", bench.arrived.len() - before);
    bench.run(9000);
    assert_eq!(bench.arrived.len(), before + 45 + 1);
}

/// A request and the reply to it, over one hop: each is counted where it is sent, the one to all and the
/// other to one.
#[test]
fn messages_of_routing_are_counted_where_they_are_sent() {
    let mut bench =
        Bench::new(cogtcp_adhoc::AdHocConfig { routing: routing("aodv"), ..config() }, chain(2, 100.0));
    bench.send(0, 1);
    bench.run(500);
    assert_eq!(bench.arrived.len(), 1);
    let sent = [0, 1].map(|node| bench.net.counters(node).routing_sent);
    let bytes = [0, 1].map(|node| bench.net.counters(node).routing_bytes);
    // 24 and 20 octets (RFC 3561 sections 5.1, 5.2) behind 28 of UDP and IP.
    assert_eq!((sent, bytes), ([1, 1], [52, 48]));
}
