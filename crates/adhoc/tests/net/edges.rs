//! Networks that are hardly any.

use crate::bench::{Bench, chain, config, routing};
use cogtcp_adhoc::{AdHocConfig, AdHocDropCause};
use cogtcp_mobility::Mobility;
use cogtcp_routing::RoutingSpec;
use cogtcp_units::{Position, Time};

#[test]
fn no_node_and_one_node() {
    for name in RoutingSpec::NAMES {
        let set = AdHocConfig { routing: routing(name), ..config() };
        let mut nobody = Bench::new(set.clone(), Mobility::default());
        assert!(nobody.net.is_empty() && nobody.net.next_change() == Time::MAX);
        nobody.run(10_000);
        let mut alone = Bench::new(set, chain(1, 0.0));
        alone.checks = true;
        // To itself: it is there.
        alone.send(0, 0);
        alone.run(10_000);
        assert_eq!((alone.arrived.len(), alone.arrived[0].2.hops), (1, 0), "{name}");
    }
}

/// All on one point: everybody hears everybody as loud as it gets.
#[test]
fn nodes_on_one_point() {
    for name in RoutingSpec::NAMES {
        let set = AdHocConfig { routing: routing(name), ..config() };
        let mut bench = Bench::new(set, Mobility::still(&[Position::new(7.0, 7.0); 5]));
        bench.checks = true;
        bench.run(2500);
        for source in 0..5 {
            bench.burst(3, source, (source + 1) % 5);
        }
        bench.run(8000);
        assert_eq!((bench.arrived.len(), bench.dropped.len()), (15, 0), "{name}: {:?}", bench.dropped);
        assert!(bench.arrived.iter().all(|(_, _, route)| route.hops == 1), "{name}");
    }
}

/// One far outside, at negative places: it hears nobody and disturbs nobody.
#[test]
fn a_node_out_of_the_area() {
    for name in RoutingSpec::NAMES {
        let set = AdHocConfig { routing: routing(name), ..config() };
        let places = [(0.0, 0.0), (200.0, 0.0), (-1e8, -5e8)].map(|(x, y)| Position::new(x, y));
        let mut bench = Bench::new(set, Mobility::still(&places));
        bench.checks = true;
        bench.run(2500);
        bench.send(0, 1);
        bench.send(0, 2);
        bench.send(2, 1);
        bench.run(60_000);
        assert_eq!(bench.arrived.len(), 1, "{name}");
        let causes: Vec<AdHocDropCause> = bench.dropped.iter().map(|it| it.3).collect();
        assert_eq!(causes.len(), 2, "{name}");
        assert!(
            causes.iter().all(|cause| matches!(cause, AdHocDropCause::NotFound | AdHocDropCause::NoRoute)),
            "{name}: {causes:?}"
        );
    }
}
