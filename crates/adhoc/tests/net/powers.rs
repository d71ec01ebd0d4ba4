//! Powers that change: ranges, repositories and routes follow.

use crate::bench::{Bench, chain, config, routing};
use cogtcp_adhoc::{AdHocConfig, AdHocEvent, PowerChange};
use cogtcp_crosslayer::SharedChange;
use cogtcp_mobility::Mobility;
use cogtcp_routing::RoutingSpec;
use cogtcp_units::{Position, Power, Time};

/// ns-2's power times `factor`: with two rays 16 times the power is twice the range.
fn changed(millis: u64, node: Option<u32>, factor: f64) -> PowerChange {
    let power = Power::from_watts(0.281_838_15 * factor);
    PowerChange { at: Time::from_millis(millis), node, power }
}

/// A source, two relays and a destination that the source does not reach.
fn diamond() -> Mobility {
    Mobility::still(
        &[(0.0, 0.0), (150.0, 100.0), (150.0, -100.0), (300.0, 0.0)].map(|(x, y)| Position::new(x, y)),
    )
}

/// A packet each 100 ms for 10 s; the relay of the first half has a sixteenth of its power from 5.05 s on, between
/// two packets.
fn with_a_weaker_relay(routing: RoutingSpec) -> (Bench, u32) {
    let before = {
        let mut bench = Bench::new(AdHocConfig { routing: routing.clone(), ..config() }, diamond());
        bench.send(0, 3);
        bench.run(1000);
        bench.net.route(bench.now, 0, 3)[0]
    };
    let powers = vec![changed(5050, Some(before), 1.0 / 16.0)];
    let mut bench = Bench::new(AdHocConfig { routing, powers, ..config() }, diamond());
    bench.checks = true;
    for number in 0..100 {
        bench.send(0, 3);
        bench.run(100 * (number + 1));
    }
    (bench, before)
}

/// Routes that the source lost.
fn routes_lost(bench: &Bench) -> usize {
    bench.events.iter().filter(|event| matches!(event, AdHocEvent::RouteLost { node: 0, .. })).count()
}

/// The relay reaches nobody any more. The source's repository says so at once, and routing that subscribes to
/// it seeks another route before the old one breaks; without a reaction the MAC has to fail first.
#[test]
fn a_route_leaves_a_relay_whose_power_falls() {
    for (reaction, lost) in [("nothing", 1), ("search", 0)] {
        let routing =
            serde_json::from_str(&format!("{{\"aodv\": {{\"at_handoff\": \"{reaction}\"}}}}")).unwrap();
        let (bench, relay) = with_a_weaker_relay(routing);
        let other = 3 - relay;
        assert_eq!(bench.net.route(bench.now, 0, 3), [other, 3], "{reaction}");
        let shared = bench.net.repository(relay);
        assert_eq!(shared.power(), changed(0, None, 1.0 / 16.0).power);
        assert!(bench.net.repository(0).neighbors().eq([other]), "{reaction}");
        assert_eq!(bench.arrived.len() + bench.dropped.len(), 100);
        assert_eq!(
            (routes_lost(&bench), bench.net.counters(0).link_failures),
            (lost, lost as u64),
            "{reaction}"
        );
    }
}

/// An oracle's routes need both directions of each hop.
#[test]
fn static_routes_need_the_weaker_node() {
    let (bench, relay) = with_a_weaker_relay(routing("static"));
    assert_eq!(bench.net.route(bench.now, 0, 3), [3 - relay, 3]);
    assert_eq!((bench.arrived.len(), bench.dropped.len()), (100, 0));
}

/// 400 m are too far for 250 m, and not for 500 m.
#[test]
fn more_power_reaches_farther() {
    for (factor, arrived) in [(1.0, 0), (16.0, 1)] {
        let powers = vec![changed(1000, None, factor)];
        let mut bench = Bench::new(AdHocConfig { powers, ..config() }, chain(2, 400.0));
        bench.run(2000);
        bench.send(0, 1);
        bench.run(9000);
        assert_eq!(bench.arrived.len(), arrived, "{factor}");
        assert_eq!(bench.net.repository(0).neighbors().len(), arrived);
    }
}

/// Any layer can subscribe; the power is read as it is.
#[test]
fn subscribers_of_a_repository_hear_of_power_and_neighbors() {
    let powers = vec![changed(3000, Some(1), 0.5)];
    let mut bench = Bench::new(AdHocConfig { powers, ..config() }, chain(2, 100.0));
    let reader = bench.net.repository_mut(1).subscribe();
    bench.send(0, 1);
    bench.run(5000);
    let shared = bench.net.repository_mut(1);
    let taken: Vec<_> = std::iter::from_fn(|| shared.take(reader)).map(|entry| entry.change).collect();
    assert_eq!(taken, [SharedChange::NeighborFound(0), SharedChange::Power(changed(0, None, 0.5).power)]);
}

/// Changes that are due at one instant are all made, in their order.
#[test]
fn changes_of_one_instant_are_all_made() {
    let powers = vec![
        changed(10, Some(0), 4.0),
        changed(10, Some(1), 2.0),
        changed(10, Some(0), 3.0),
        changed(20, Some(1), 1.0),
    ];
    let mut bench = Bench::new(AdHocConfig { powers, ..config() }, chain(2, 100.0));
    let power = |bench: &Bench, node| bench.net.repository(node).power();
    for (millis, first, second) in [(9, 1.0, 1.0), (10, 3.0, 2.0), (20, 3.0, 1.0)] {
        bench.run(millis);
        let expected = [first, second].map(|factor| changed(0, None, factor).power);
        assert_eq!([power(&bench, 0), power(&bench, 1)], expected, "{millis} ms");
    }
}
