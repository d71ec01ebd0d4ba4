//! Runs that stop where an agent decides.

use crate::support::*;
use cogtcp_simulator::Episode;
use cogtcp_units::{Duration, Time};
use std::sync::Arc;

const LINK: &str = "rate = \"8 Mbit/s\", delay = \"20 ms\", queue = \"50 packets\", loss = \"1 %\"";

fn episode(seed: u64) -> Episode {
    let text = single_hop("10 s", "0 s", "newreno", LINK, "");
    Episode::new(Arc::new(experiment(&text)), Some(seed), 0).unwrap()
}

/// Where the run stops is no part of it: steps of any length give the same run.
#[test]
fn stopping_changes_nothing() {
    let end = |spans: &[u64]| {
        let mut episode = episode(3);
        let mut number = 0;
        loop {
            let view = episode.go_on(20_000, Duration::from_micros(spans[number % spans.len()])).unwrap();
            number += 1;
            if view.is_over {
                return view;
            }
        }
    };
    let whole = end(&[20_000_000]);
    assert_eq!(whole.time, Time::from_millis(10_000));
    assert!(whole.delivered > 1_000_000 && whole.retransmitted > 5, "{whole:?}");
    assert_eq!(end(&[40_000]), whole);
    assert_eq!(end(&[1_000, 777, 333_333]), whole);
    assert_ne!(episode(4).go_on(20_000, Duration::from_secs(20)).unwrap().delivered, whole.delivered);
}

/// The window is the agent's: 20 segments are 20 kB in a round trip of 41.08 ms and the queue's.
#[test]
fn the_window_is_the_agents() {
    let mut episode = episode(1);
    for segments in [5, 20, 1] {
        episode.go_on(1000 * segments, Duration::from_secs(1)).unwrap();
        let view = episode.go_on(1000 * segments, Duration::from_secs(1)).unwrap();
        assert!(view.in_flight <= 1000 * segments, "{segments}: {view:?}");
    }
}
