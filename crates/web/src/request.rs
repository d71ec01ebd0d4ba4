//! What can be asked. `ask` names the request:
//! `{"ask": "run", "scenario": {"text": "..."}, "trace": "full"}`.

use cogtcp_simulator::TraceLevel;
use cogtcp_spectrum::detector::DetectorConfig;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A request.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum LabRequest {
    /// Version, transports, starters, and the tables that runs have.
    About {},
    /// The JSON Schema of scenarios.
    Schema {},
    /// A commented scenario to start from.
    Starter {
        /// Which, as `about` lists them.
        kind: String,
    },
    /// Returns the content of a scenario, or its error.
    Check {
        /// The scenario.
        scenario: Given,
    },
    /// Where the value at `path` of a TOML text stands: line and column, from 1; null if it stands nowhere.
    Place {
        /// TOML.
        text: String,
        /// As `radio.0.sensing.off`.
        path: String,
    },
    /// Simulates.
    Run {
        /// The scenario.
        scenario: Given,
        /// Seed in place of the scenario's.
        seed: Option<u64>,
        /// What to record.
        #[serde(default)]
        trace: Trace,
        /// The tables to hand over; all of them where none is named.
        tables: Option<Vec<String>>,
    },
    /// Simulates with packets recorded, and returns the capture at a place (pcapng).
    Capture {
        /// The scenario.
        scenario: Given,
        /// Seed in place of the scenario's.
        seed: Option<u64>,
        /// The place.
        point: CapturePoint,
    },
    /// Simulates once for each name, and returns a table of all these runs as a Parquet file.
    Parquet {
        /// Name and scenario of each run.
        runs: Vec<(String, Given)>,
        /// Seed in place of the scenarios'.
        seed: Option<u64>,
        /// The table.
        table: String,
        /// Keys and values of the file.
        metadata: Vec<(String, String)>,
    },
    /// Intervals, tests and closed forms.
    Statistics {
        /// The questions, answered in order.
        of: Vec<Statistic>,
    },
    /// Begins an episode: a run that stops for decisions. It replaces the episode before.
    Episode {
        /// The scenario.
        scenario: Given,
        /// Seed in place of the scenario's.
        seed: Option<u64>,
        /// Number of the flow.
        #[serde(default)]
        flow: usize,
        /// The radio whose cycle is set; without it the congestion window of the flow is set.
        radio: Option<String>,
    },
    /// Runs the episode for `span_s` seconds with a congestion window of `window` bytes.
    StepWindow {
        /// Congestion window, bytes.
        window: u64,
        /// Span, seconds.
        span_s: f64,
    },
    /// Runs the episode to the next sensing with these times.
    StepSensing {
        /// Sensing time, seconds.
        sensing_s: f64,
        /// Transmission time, seconds.
        transmission_s: f64,
    },
}

/// Place of a capture: a link at one of its ends, or the air of an ad hoc network.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapturePoint {
    /// Name of the link.
    pub link: String,
    /// Node at one of its ends; empty: the air.
    pub node: String,
    /// Direction of the link in which the node sends.
    pub outgoing: String,
}

/// A scenario: its text, the files that it names, and what is set in it afterwards.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// TOML.
    pub text: String,
    /// What errors call it.
    #[serde(default = "unnamed")]
    pub file: String,
    /// Files that the scenario names, by name.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Path and value of fields, set one after the other.
    #[serde(default)]
    pub set: Vec<(String, String)>,
    /// Transport of every flow that is not `fixed`.
    pub transport: Option<String>,
}

fn unnamed() -> String {
    "scenario.toml".to_owned()
}

/// What a run records.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trace {
    /// The summary alone.
    #[default]
    Summary,
    /// Also time series.
    Series,
    /// Also events.
    Full,
    /// Also packets.
    Packets,
}

impl From<Trace> for TraceLevel {
    fn from(trace: Trace) -> Self {
        match trace {
            Trace::Summary => Self::None,
            Trace::Series => Self::Series,
            Trace::Full => Self::Full,
            Trace::Packets => Self::Packets,
        }
    }
}

/// A question of statistics; null is a value that a run does not have.
#[derive(Debug, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case", deny_unknown_fields)]
pub enum Statistic {
    /// Mean with its t-interval.
    Mean {
        /// The values.
        values: Vec<Option<f64>>,
        /// Confidence, 0 to 1.
        confidence: f64,
    },
    /// Mean difference of pairs with its t-interval.
    Paired {
        /// The values.
        values: Vec<Option<f64>>,
        /// What they are compared with, in the same order.
        baseline: Vec<Option<f64>>,
        /// Confidence, 0 to 1.
        confidence: f64,
    },
    /// p-value of the paired t-test.
    PValue {
        /// Differences of pairs.
        differences: Vec<Option<f64>>,
    },
    /// Holm's procedure.
    Holm {
        /// p-values.
        p_values: Vec<Option<f64>>,
        /// Confidence, 0 to 1.
        confidence: f64,
    },
    /// Goodput of one flow over cognitive cycles, bit/s (Zhou et al.); the first retransmission timeout is
    /// `rto_s`.
    Sawtooth {
        /// Rate of the link, bit/s.
        bandwidth_bps: f64,
        /// Round-trip time, s.
        rtt_s: f64,
        /// Transmission time, s.
        on_s: f64,
        /// Silence, s.
        off_s: f64,
        /// First retransmission timeout, s.
        rto_s: f64,
        /// Payload of a segment, bytes.
        segment_size_bytes: f64,
        /// Headers of a segment, bytes.
        header_bytes: f64,
    },
    /// Goodput under random loss, bit/s (Padhye et al.).
    Pftk {
        /// Payload of a segment, bytes.
        segment_size_bytes: f64,
        /// Round-trip time, s.
        rtt_s: f64,
        /// First retransmission timeout, s.
        rto_s: f64,
        /// Probability of a loss event.
        loss_probability: f64,
    },
    /// P_d' and P_f' of a detector for a PU of the SNR that it is set for.
    Detection {
        /// The detector, as scenarios have it.
        detector: DetectorConfig,
        /// Sensing times, s.
        sensing_s: Vec<f64>,
    },
}
