//! A train whose mobile router warns its clients of outages.

use cogtcp_train::prediction::PredictorConfig;
use cogtcp_units::{Duration, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A mobile router between a cognitive radio and the clients of its LAN (Singh, Bonnin, Ros 2012). It
/// predicts the radio's silences and sends "link going down" and "link going up" to each client, in messages
/// that take the LAN's time. A connection manager on each client freezes the TCP sources meanwhile
/// (Freeze-TCP). Clients are the ends of flows on the router's side of the radio's link.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Train {
    /// The node that is the mobile router: an end of the radio's link.
    pub router: String,
    /// The radio whose silences are outages; it gates one link.
    pub radio: String,
    /// Whether clients have a connection manager. Without one they answer the router and ignore its warnings:
    /// what it is compared with.
    #[serde(default = "yes")]
    pub connection_manager: bool,
    /// How the router predicts silences.
    #[serde(default)]
    pub prediction: PredictorConfig,
    /// TU_advance in multiples of the greatest RTT_TCP of all clients: how long before the outage "going
    /// down" is sent.
    #[serde(default = "one")]
    pub tu_advance: f64,
    /// TD_advance is the greatest RTT_local plus this share of the outage, 0 to 1: how long before its end
    /// "going up" is sent.
    #[serde(default = "half")]
    pub td_advance: f64,
    /// Which value of a connection's round-trip time clients report as RTT_TCP.
    #[serde(default)]
    pub rtt: RttReport,
    /// How often the router asks each client for its RTT_TCP; RTT_local is measured by the same exchange.
    #[serde(default = "poll_interval")]
    pub poll_interval: Duration,
    /// Probability that a warning is lost on the LAN, beyond what its links lose.
    #[serde(default)]
    pub trigger_loss: Probability,
    /// Whether the router holds the packets of its clients during an outage, and sends them as soon as the
    /// link is up. Otherwise they meet the radio's `silence`.
    #[serde(default = "yes")]
    pub buffer: bool,
}

/// Which value of a connection's round-trip time a client reports.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RttReport {
    /// The least: the path without queues.
    Least,
    /// The smoothed one: the path with its queues as they are.
    #[default]
    Smoothed,
    /// The greatest.
    Greatest,
}

fn yes() -> bool {
    true
}

fn one() -> f64 {
    1.0
}

fn half() -> f64 {
    0.5
}

fn poll_interval() -> Duration {
    Duration::from_secs(5)
}
