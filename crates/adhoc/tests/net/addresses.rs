//! ARP over the medium, and packets that go one after the other once their route is found.

use crate::bench::{Bench, chain, config, path, routing};
use cogtcp_adhoc::{AdHocConfig, AdHocDropCause, AdHocEvent, ArpConfig, Radios};
use cogtcp_mobility::{Mobility, Trajectory};
use cogtcp_units::{Duration, Position, Time};

fn over_static(arp: Option<ArpConfig>) -> AdHocConfig {
    AdHocConfig { routing: routing("static"), arp, ..config() }
}

/// A hop costs a request and a reply once, in packets and in 28 bytes each; the next packet none.
#[test]
fn each_hop_asks_once() {
    for radios in [Radios::Single, Radios::Three] {
        let mut bench =
            Bench::new(AdHocConfig { radios, ..over_static(Some(ArpConfig::rfc())) }, chain(3, 200.0));
        bench.checks = true;
        bench.send(0, 2);
        bench.run(500);
        bench.send(0, 2);
        bench.run(1000);
        assert_eq!(bench.arrived.len(), 2, "{radios:?}");
        let counters: Vec<_> = (0..3).map(|node| bench.net.counters(node)).collect();
        // 0 asks 1; 1 replies and asks 2; 2 replies. Nobody is asked about the route back, as nothing goes
        // back.
        assert_eq!(counters.iter().map(|it| it.arp).collect::<Vec<_>>(), [1, 2, 1]);
        assert_eq!(counters.iter().map(|it| it.routing_bytes).collect::<Vec<_>>(), [28, 56, 28]);
        // The second packet is quicker by two exchanges.
        let took = |number: usize, sent: u64| bench.arrived[number].0 - Time::from_millis(sent);
        assert!(took(0, 0) > took(1, 500) + Duration::from_millis(1), "{} {}", took(0, 0), took(1, 500));
    }
    let mut bench = Bench::new(over_static(None), chain(3, 200.0));
    bench.send(0, 2);
    bench.run(500);
    assert_eq!((0..3).map(|node| bench.net.counters(node).arp).sum::<u64>(), 0);
}

/// Who answers knows who asked: the route back asks nobody.
#[test]
fn who_was_asked_knows_the_address() {
    let mut bench = Bench::new(over_static(Some(ArpConfig::rfc())), chain(2, 100.0));
    bench.send(0, 1);
    bench.run(500);
    bench.send(1, 0);
    bench.run(1000);
    assert_eq!((bench.arrived.len(), bench.net.counters(1).arp), (2, 1), "its reply");
}

/// A request waits behind the data that are in the queue already, where routing would go before them (ns-2:
/// `PriQueue::recv`).
#[test]
fn a_request_waits_behind_data() {
    let still = |x: f64| Trajectory::still(Position::new(x, 0.0));
    let star = Mobility::new(vec![still(0.0), still(100.0), still(-100.0)]);
    let mut bench = Bench::new(over_static(Some(ArpConfig::rfc())), star);
    bench.checks = true;
    bench.send(0, 1);
    bench.run(500);
    bench.burst(10, 0, 1);
    bench.send(0, 2);
    // Until two of the ten are left, which go before the request.
    let mut now = 500;
    while bench.arrived.len() < 1 + 8 {
        now += 1;
        bench.run(now);
    }
    assert_eq!(bench.net.counters(2).arp, 0, "nobody has asked it yet");
    bench.run(1500);
    assert_eq!((bench.arrived.len(), bench.net.counters(2).arp), (12, 1));
}

/// The latest packet waits, the others are lost: of a burst before the address is known one arrives.
#[test]
fn of_a_burst_the_last_arrives() {
    for (arp, arrives) in [(Some(ArpConfig::ns2()), 1), (Some(ArpConfig::ns3()), 3), (None, 3)] {
        let mut bench = Bench::new(over_static(arp), chain(2, 100.0));
        bench.checks = true;
        bench.burst(3, 0, 1);
        bench.run(1000);
        assert_eq!((bench.arrived.len(), bench.drops(AdHocDropCause::ArpFull)), (arrives, 3 - arrives));
        if arrives == 1 {
            assert_eq!(bench.arrived[0].1, 2, "the last");
        }
    }
}

/// The neighbour is gone before it is asked: three requests, then the packet is lost and routing hears of a
/// failed link.
#[test]
fn a_neighbour_that_does_not_answer_is_gone() {
    let leaves = |at: u64| path(&[(0, 200.0, 0.0), (at, 200.0, 0.0), (at + 1, 200.0, 5000.0)]);
    let still = |x: f64| Trajectory::still(Position::new(x, 0.0));
    for (breaks_link, lost) in [(true, true), (false, false)] {
        // The address is forgotten by the time of the second packet.
        let arp = Some(ArpConfig { breaks_link, lifetime: Duration::from_secs(1), ..ArpConfig::rfc() });
        // The route lives on, so that ARP is what finds out.
        let mut bench = Bench::new(
            AdHocConfig { arp, routing: long_lived(), ..config() },
            Mobility::new(vec![still(0.0), leaves(2)]),
        );
        bench.checks = true;
        bench.send(0, 1);
        bench.run(3500);
        bench.send(0, 1);
        bench.run(7000);
        assert_eq!(bench.drops(AdHocDropCause::ArpFailed), 1);
        assert_eq!(bench.net.counters(0).arp, 4, "one that was answered, three that were not");
        assert_eq!(bench.events.iter().any(|it| matches!(it, AdHocEvent::RouteLost { .. })), lost);
    }
}

fn long_lived() -> cogtcp_routing::RoutingSpec {
    serde_json::from_str(r#"{ "aodv": { "active_route_timeout": "100 s", "my_route_timeout": "100 s" } }"#)
        .unwrap()
}

/// Packets that waited for a route go at once, or one every 10 ms.
#[test]
fn released_packets_keep_a_distance() {
    for (interval, least) in [(0, 0), (10, 90)] {
        let release_interval = Duration::from_millis(interval);
        let mut bench = Bench::new(AdHocConfig { release_interval, ..config() }, chain(2, 100.0));
        bench.checks = true;
        bench.burst(10, 0, 1);
        bench.run(2000);
        assert_eq!(bench.arrived.len(), 10);
        let forwarded: Vec<Time> = bench
            .events
            .iter()
            .filter_map(
                |it| if let AdHocEvent::Forwarded { time, node: 0, .. } = it { Some(*time) } else { None },
            )
            .collect();
        assert_eq!(forwarded[9] - forwarded[0], Duration::from_millis(least));
        let numbers: Vec<u32> = bench.arrived.iter().map(|it| it.1).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
    }
}

/// An error of the next hop takes what waits for it out of the queue, under ns-2's rule (`AODV::recvError`).
#[test]
fn an_error_empties_the_queue() {
    let still = |x: f64| Trajectory::still(Position::new(x, 0.0));
    let gone = path(&[(0, 400.0, 0.0), (2, 400.0, 0.0), (3, 400.0, 5000.0)]);
    for (rule, drops) in [("everybody", true), ("precursors", false)] {
        let routing = format!(r#"{{ "aodv": {{ "error_to": "{rule}" }} }}"#);
        let set = AdHocConfig {
            routing: serde_json::from_str(&routing).unwrap(),
            on_link_failure: cogtcp_adhoc::LinkFailure::Drop,
            ..config()
        };
        let mut bench = Bench::new(set, Mobility::new(vec![still(0.0), still(200.0), gone.clone()]));
        bench.checks = true;
        bench.send(0, 2);
        bench.run(2900);
        bench.burst(45, 0, 2);
        bench.run(3100);
        // These still wait at the source when the relay gives the first of the others up.
        bench.burst(40, 0, 2);
        bench.run(9000);
        let at_source =
            bench.dropped.iter().filter(|it| it.1 == 0 && it.3 == AdHocDropCause::LinkFailed).count();
        assert_eq!(at_source > 0, drops, "{rule}: {:?}", bench.dropped);
    }
}

/// Every setting of ARP stands on the page, with what the profiles make of it.
#[test]
fn the_page_has_every_setting() {
    let page = include_str!("../../../../docs/adhoc-networks.md");
    let schema = schemars::schema_for!(cogtcp_adhoc::ArpSettings);
    for (name, _) in schema.as_value()["properties"].as_object().unwrap() {
        assert!(page.lines().any(|line| line.starts_with(&format!("| `{name}`"))), "{name}");
    }
}
