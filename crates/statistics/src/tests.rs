//! Every public function over a table of arguments, with those at the edge of its domain, committed as text.

use crate::models::{loss, sawtooth, sensing};
use crate::{binomial, interval, ratio, significance, student_t, sum, warmup};
use committed::{compare, hash};
use std::fmt::Write;

#[path = "../../units/tests/support/committed.rs"]
mod committed;

const EDGES: [f64; 6] = [f64::NAN, -1.0, 0.0, 0.5, 1.0, f64::INFINITY];
const NUMBERS: [f64; 8] = [3.25, -1.0, 0.1, 7.5, f64::NAN, 2.0, 2.0, 1e9];

/// Series of 0 to 40 values, the last ones with a transient.
fn series() -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = (0..=NUMBERS.len()).map(|length| NUMBERS[..length].to_vec()).collect();
    all.extend([
        vec![0.0; 4],
        vec![2.5; 3],
        vec![0.5, 0.0, 0.0, 9.0],
        vec![f64::INFINITY, f64::NEG_INFINITY],
    ]);
    all.push((0..23).map(|i| f64::from(i * 7 % 11) - f64::from(i) / 4.0).collect());
    all.push((0..40).map(|i| f64::from(i % 3) + 20.0 / f64::from(1 + i)).collect());
    // Small numbers: what a sum begins with would be seen.
    all.push((0..60).map(|i| 1e-3 * f64::from(i % 7) + 0.02 / f64::from(1 + i)).collect());
    all.push(
        (0..60).map(|i| if i < 12 { 1e-4 * f64::from(i) } else { 2e-3 + 1e-5 * f64::from(i % 5) }).collect(),
    );
    all
}

#[test]
fn intervals() {
    let mut text = String::new();
    for values in series() {
        let other: Vec<f64> = values.iter().rev().map(|value| value.abs() + 0.5).collect();
        let _ = writeln!(
            text,
            "{values:?}: sum {:?} mean {:?} variance {:?} covariance {:?} p {:?} cut {}",
            sum::exact_sum(values.iter().copied()),
            sum::mean(&values),
            sum::variance(&values),
            sum::covariance(&values, &other),
            significance::p_value(&values),
            warmup::mser5(&values),
        );
        let mut spread = significance::Spread::default();
        values.iter().for_each(|value| spread.add(*value));
        let _ = writeln!(text, "  spread {} {:?} {:?}", spread.n(), spread.mean(), spread.p_value());
        for confidence in [0.0, 0.5, 0.95, 0.999, 1.0, f64::NAN] {
            let _ = writeln!(text, "  {confidence}: {:?}", interval::mean(&values, confidence));
            let _ = writeln!(text, "    - {:?}", interval::paired_difference(&values, &other, confidence));
            let _ = writeln!(text, "    / {:?}", ratio::ratio(&values, &other, confidence));
            let _ = writeln!(text, "    / {:?}", ratio::ratio(&other, &values, confidence));
        }
        for q in [0.0, 0.05, 0.5, 0.9, 1.0] {
            let _ = writeln!(text, "  {q} {:?}", interval::quantile(&values, q, 0.9));
        }
    }
    let _ = writeln!(text, "{:?}", ratio::ratio(&[1.0], &[1.0, 2.0], 0.5));
    // Baselines of any sign and spread: bounded, without an upper end, and without any end.
    for tenths in 0..30 {
        let baseline: Vec<f64> = (0..4).map(|i| f64::from(i * i) - f64::from(tenths) / 10.0).collect();
        let _ = writeln!(text, "{:?}", ratio::ratio(&[1.0, 0.5, -2.0, 4.0], &baseline, 0.8));
        let _ = writeln!(text, "{:?}", ratio::ratio(&[1.0, 2.0, 5.0, 8.0], &baseline, 0.8));
    }
    compare("intervals", &text);
}

#[test]
fn sums_of_any_order_are_one_number() {
    let mut terms: Vec<f64> =
        (0..60).map(|i| f64::from(i * i % 17 - 8) * 2f64.powi(i % 9 * 13 - 50)).collect();
    let expected = sum::exact_sum(terms.iter().copied());
    for turn in 1..60 {
        terms.rotate_left(turn);
        assert_eq!(sum::exact_sum(terms.iter().copied()), expected);
    }
    // Ties between two doubles, decided by terms of either sign below them, or by even.
    let half = 2f64.powi(-53);
    for (terms, expected) in [
        ([1.0, half, 2f64.powi(-100)], 1.0 + 2.0 * half),
        ([1.0, half, -(2f64.powi(-100))], 1.0),
        ([1.0, half, 0.0], 1.0),
        ([-1.0, -half, -(2f64.powi(-100))], -1.0 - 2.0 * half),
        ([-1.0, -half, 2f64.powi(-100)], -1.0),
    ] {
        assert_eq!(sum::exact_sum(terms), expected, "{terms:?}");
    }
}

#[test]
fn distributions() {
    let mut text = String::new();
    for p in [0.0, 0.1, 0.5, 1.0, -0.5, 1.5] {
        for (k, n) in [(0, 0), (0, 1), (1, 1), (2, 5), (5, 5), (6, 5), (70, 200)] {
            let _ = writeln!(
                text,
                "{k} of {n} at {p}: {:?} {:?}",
                binomial::probability(k, n, p),
                binomial::distribution(k, n, p)
            );
        }
    }
    for degrees in [0, 1, 2, 3, 4, 9, 30] {
        for t in [-4.0, -0.5, 0.0, 1.0, 12.0] {
            let _ = writeln!(text, "t {t} {degrees}: {:?}", student_t::distribution(t, degrees));
        }
        for p in [0.4, 0.5, 0.75, 0.8, 0.975, 1.0] {
            let _ = writeln!(text, "quantile {p} {degrees}: {:?}", student_t::quantile(p, degrees));
        }
    }
    let p_values = [0.001, 0.012, f64::NAN, 0.0125, 0.05, 0.05, 0.2, 0.0];
    for count in 0..=p_values.len() {
        for confidence in [0.5, 0.9, 0.95] {
            let _ = writeln!(text, "{:?}", significance::holm(&p_values[..count], confidence));
        }
    }
    compare("distributions", &text);
}

#[test]
fn models() {
    let mut text = String::new();
    let figure = sawtooth::SawtoothSetting {
        bandwidth_bps: 15e6,
        rtt_s: 0.05,
        t_cc_s: 2.2,
        t_rto_s: 1.0,
        segment_size_bytes: 1000.0,
        header_bytes: 40.0,
        exact: false,
        integral: false,
        lost_last_round: false,
    };
    let change: [fn(&mut sawtooth::SawtoothSetting, f64); 6] = [
        |of, value| of.bandwidth_bps = value,
        |of, value| of.rtt_s = value,
        |of, value| of.t_cc_s = value,
        |of, value| of.t_rto_s = value,
        |of, value| of.segment_size_bytes = value,
        |of, value| of.header_bytes = value,
    ];
    for (which, set) in change.iter().enumerate() {
        for value in EDGES.into_iter().chain([0.049, 1.05, 1.072, 2.0, 166_400.0, 5e6]) {
            let mut kinds = String::new();
            for kind in 0..8 {
                let [exact, integral, lost_last_round] = [kind & 1 != 0, kind & 2 != 0, kind & 4 != 0];
                let mut of = sawtooth::SawtoothSetting { exact, integral, lost_last_round, ..figure };
                set(&mut of, value);
                let _ = writeln!(kinds, "{:?}", sawtooth::cycle(&of));
            }
            let first = kinds.lines().next().unwrap_or_default();
            let _ = writeln!(text, "{which} {value}: {first} {:016x}", hash(kinds.as_bytes()));
        }
    }
    for (a, b) in EDGES.into_iter().flat_map(|a| EDGES.map(|b| (a, b))).chain([(4.0, 2.0), (40.0, 20.0)]) {
        let _ = writeln!(
            text,
            "{a} {b}: {:?} {:?} {:?} {:?}",
            sawtooth::regime(a, b),
            sawtooth::next_cwnd(a, 5.0),
            sawtooth::cwnd_after_cycles(3, a, 2.0),
            sawtooth::packets_per_cycle(2.5, b, 4.0, a > 0.0)
        );
        // Without a longest timeout a silence that never ends has no answer.
        let _ = writeln!(
            text,
            "  {:?} {:?}",
            sawtooth::rto_outage_s(a, 0.5, b),
            sawtooth::rto_outage_s(0.5, a, b)
        );
        let _ = writeln!(text, "  {:?}", loss::mathis_throughput_bps(1000.0, a.abs(), b, 2.0));
        let _ = writeln!(text, "  {:?}", loss::mathis_throughput_bps(a, 0.1, 0.1, b));
    }
    let pftk = loss::Pftk {
        segment_size_bytes: 1000.0,
        rtt_s: 0.1,
        rto_s: 0.4,
        loss_probability: 0.02,
        segments_per_ack: 2.0,
        max_window_packets: 50.0,
    };
    let change: [fn(&mut loss::Pftk, f64); 6] = [
        |of, value| of.segment_size_bytes = value,
        |of, value| of.rtt_s = value,
        |of, value| of.rto_s = value,
        |of, value| of.loss_probability = value,
        |of, value| of.segments_per_ack = value,
        |of, value| of.max_window_packets = value,
    ];
    for (which, set) in change.iter().enumerate() {
        for value in EDGES.into_iter().chain([0.3, 3.0]) {
            let mut of = pftk;
            set(&mut of, value);
            let _ = writeln!(text, "pftk {which} {value}: {:?}", loss::pftk_throughput_bps(&of));
        }
    }
    let cycle = sensing::Cycle {
        sensing_time_s: 0.1,
        transmission_time_s: 0.9,
        detection: 0.9,
        false_alarm: 0.1,
        alpha: 2.0,
        beta: 0.5,
        switching_delay_s: 0.01,
    };
    let change: [fn(&mut sensing::Cycle, f64); 7] = [
        |of, value| of.sensing_time_s = value,
        |of, value| of.transmission_time_s = value,
        |of, value| of.detection = value,
        |of, value| of.false_alarm = value,
        |of, value| of.alpha = value,
        |of, value| of.beta = value,
        |of, value| of.switching_delay_s = value,
    ];
    for (which, set) in change.iter().enumerate() {
        for value in EDGES {
            let mut of = cycle;
            set(&mut of, value);
            let _ = writeln!(text, "sensing {which} {value}: {:?}", sensing::usable_airtime(&of));
        }
    }
    compare("models", &text);
}
