//! Runs that stop where an agent decides.

use crate::support::*;
use crate::wireless::changed;
use cogtcp_simulator::{CongestionEpisode, RunOptions, SensingEpisode, run};
use cogtcp_units::{Duration, Time};
use std::sync::Arc;

const LINK: &str = "rate = \"8 Mbit/s\", delay = \"20 ms\", queue = \"50 packets\", loss = \"1 %\"";

fn episode(seed: u64) -> CongestionEpisode {
    let text = single_hop("10 s", "0 s", "newreno", LINK, "");
    CongestionEpisode::new(Arc::new(experiment(&text)), Some(seed), 0).unwrap()
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

fn sensing(changes: &[(&str, &str)]) -> SensingEpisode {
    let mut all = vec![("run.duration", "30 s")];
    all.extend_from_slice(changes);
    SensingEpisode::new(Arc::new(changed(&all)), Some(5), "cr", 0).unwrap()
}

const MODES: [&[(&str, &str)]; 5] = [
    &[],
    &[("radio.cr.cr.ends", "independent"), ("radio.cr.cr.jitter", "5 ms")],
    &[("radio.cr.cr.policy", "sticky")],
    &[("radio.cr.cr.start", "3 s"), ("radio.cr.cr.switching_delay", "0 s")],
    &[("radio.cr.cr.while_peer_senses", "retry"), ("radio.cr.cr.transmit_radio", "separate")],
];

/// An agent that never changes anything gets the run as it is without one.
#[test]
fn an_idle_sensing_agent_changes_nothing() {
    for changes in MODES {
        let mut episode = sensing(changes);
        let mut view = episode.view();
        while !view.is_over {
            view = episode.go_on(view.times.0, view.times.1).unwrap();
        }
        let mut all = vec![("run.duration", "30 s")];
        all.extend_from_slice(changes);
        let options = RunOptions { seed: Some(5), ..RunOptions::default() };
        let run = run(&changed(&all), &options).unwrap();
        assert_close(view.delivered as f64, first(&run.flows, "delivered_bytes"), 0.0);
        let sum = |name: &str| column(&run.radios, name).iter().sum::<f64>();
        assert_close(view.interfered.as_secs_f64(), sum("pu_interfered_s"), 1e-12);
        assert_close(view.radio.sensings as f64, column(&run.radios, "sensings")[0], 0.0);
        assert!(view.reports > 2 && view.exchanges.1 > 2 && view.exchanges.0 > view.exchanges.1, "{view:?}");
    }
}

/// Every sensing is a decision, in the nanosecond before it, and lasts as long as the agent chose.
#[test]
fn the_agent_sets_the_cycle() {
    let mut episode = sensing(&[("spectrum.pu", "none"), ("radio.cr.cr.detector", "perfect")]);
    let (mut at, mut sensed) = (Duration::ZERO, Duration::ZERO);
    for number in 1..=12 {
        let (t_s, t_p) = (Duration::from_millis(10 * number), Duration::from_millis(700 + number));
        let view = episode.go_on(t_s, t_p).unwrap();
        at += t_s + t_p;
        sensed += t_s;
        assert_eq!(view.time + Duration::from_nanos(1), Time::ZERO + at);
        assert_eq!((view.radio.sensings, view.radio.sensing), (number, sensed));
        assert!(!view.reported && view.acked > 0 && view.times == (t_s, t_p));
    }
    // With PUs there are sensings after switches too, each a decision.
    let mut episode = sensing(&[("radio.cr.cr.policy", "random")]);
    for number in 1..=20 {
        let view = episode.go_on(Duration::from_millis(100), Duration::from_millis(500)).unwrap();
        assert_eq!(view.radio.sensings, number);
    }
    assert!(episode.view().radio.handoffs > 0);
}

/// P_d and P_f follow from t_s: short sensings err where long ones do not.
#[test]
fn a_longer_sensing_errs_less() {
    let errors = |t_s: u64| {
        let mut episode = sensing(&[("run.duration", "200 s")]);
        while !episode.view().is_over {
            episode.go_on(Duration::from_millis(t_s), Duration::from_secs(1)).unwrap();
        }
        let radio = episode.view().radio;
        (radio.false_alarms + radio.missed_detections) as f64 / radio.sensings as f64
    };
    assert!(errors(5) > 0.3 && errors(500) < 0.5 * errors(5), "{} {}", errors(5), errors(500));
}

#[test]
fn what_cannot_be_steered_is_refused() {
    let build = |radio: &str, flow| SensingEpisode::new(Arc::new(changed(&[])), None, radio, flow);
    assert!(build("train", 0).unwrap_err().to_string().contains("no CR user"));
    assert!(build("cr", 1).unwrap_err().to_string().contains("unknown flow 1"));
    let mut episode = sensing(&[]);
    let error = episode.go_on(Duration::ZERO, Duration::from_secs(1)).unwrap_err();
    assert!(error.to_string().contains("the sensing time is zero"), "{error}");
}
