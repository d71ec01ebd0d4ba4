//! Questions of statistics and closed forms.

use crate::request::Statistic;
use cogtcp_spectrum::detector::{DetectorConfig, DetectorContext, detection_and_false_alarm};
use cogtcp_statistics::models::{loss, sawtooth};
use cogtcp_statistics::{OutOfRange, interval, significance};
use cogtcp_units::Duration;
use serde_json::{Value, json};

/// A longest retransmission timeout of 60 s, as RFC 6298 section 2.5 allows at least.
const LONGEST_RTO_S: f64 = 60.0;
/// An hour: far beyond any sensing.
const LONGEST_SENSING_S: f64 = 3600.0;

pub(crate) fn answer(statistic: &Statistic) -> Value {
    match statistic {
        Statistic::Mean { values, confidence } => ends(interval::mean(&numbers(values), *confidence)),
        Statistic::Paired { values, baseline, confidence } => {
            ends(interval::paired_difference(&numbers(values), &numbers(baseline), *confidence))
        }
        Statistic::PValue { differences } => json!(significance::p_value(&numbers(differences))),
        Statistic::Holm { p_values, confidence } => {
            json!(significance::holm(&numbers(p_values), *confidence))
        }
        Statistic::Sawtooth {
            bandwidth_bps,
            rtt_s,
            on_s,
            off_s,
            rto_s,
            segment_size_bytes,
            header_bytes,
        } => {
            let t_rto_s = sawtooth::rto_outage_s(*off_s, *rto_s, LONGEST_RTO_S);
            number(t_rto_s.and_then(|t_rto_s| {
                sawtooth::cycle(&sawtooth::SawtoothSetting {
                    bandwidth_bps: *bandwidth_bps,
                    rtt_s: *rtt_s,
                    t_cc_s: on_s + off_s,
                    t_rto_s,
                    segment_size_bytes: *segment_size_bytes,
                    header_bytes: *header_bytes,
                    exact: false,
                    integral: false,
                    lost_last_round: false,
                })
                .map(|cycle| cycle.throughput_bps)
            }))
        }
        Statistic::Pftk { segment_size_bytes, rtt_s, rto_s, loss_probability } => {
            number(loss::pftk_throughput_bps(&loss::Pftk {
                segment_size_bytes: *segment_size_bytes,
                rtt_s: *rtt_s,
                rto_s: *rto_s,
                loss_probability: *loss_probability,
                segments_per_ack: 1.0,
                max_window_packets: f64::INFINITY,
            }))
        }
        Statistic::Detection { detector, sensing_s } => detection(detector, sensing_s),
    }
}

fn detection(config: &DetectorConfig, sensing_s: &[f64]) -> Value {
    let detector = match config.kind().build(&DetectorContext::default()) {
        Ok(detector) => detector,
        Err(error) => return json!({ "error": error.to_string() }),
    };
    if let Some(wrong) = sensing_s.iter().find(|t_s| !(0.0..=LONGEST_SENSING_S).contains(*t_s)) {
        return json!({ "error": format!("a sensing time of {wrong} s is not within 0 to {LONGEST_SENSING_S} s") });
    }
    let gamma = config.kind().snr().unwrap_or_default().linear();
    let found = sensing_s
        .iter()
        .map(|t_s| detection_and_false_alarm(&*detector, Duration::from_secs_f64(*t_s), gamma));
    let (detection, false_alarm): (Vec<f64>, Vec<f64>) = found.unzip();
    json!({ "detection": detection, "false_alarm": false_alarm })
}

fn numbers(values: &[Option<f64>]) -> Vec<f64> {
    values.iter().map(|value| value.unwrap_or(f64::NAN)).collect()
}

fn ends(found: Result<interval::Interval, OutOfRange>) -> Value {
    match found {
        Ok(found) => json!({ "mean": found.estimate, "low": found.low, "high": found.high, "n": found.n }),
        Err(error) => json!({ "error": error.to_string() }),
    }
}

fn number(found: Result<f64, OutOfRange>) -> Value {
    found.map_or_else(|error| json!({ "error": error.to_string() }), |value| json!(value))
}
