//! A train whose mobile router warns its clients of outages.

use cogtcp_units::{Decibel, Duration, Length, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A mobile router between a cognitive radio and the clients of its LAN (Singh, Bonnin, Ros 2012). It foretells the
/// radio's silences and sends "link going down" and "link going up" to each client, in messages that take the LAN's time.
/// A connection manager on each client freezes the TCP sources meanwhile (Freeze-TCP). Clients are the ends of flows on
/// the router's side of the radio's link.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Train {
    /// The node that is the mobile router: an end of the radio's link.
    pub router: String,
    /// The radio whose silences are outages; it gates one link.
    pub radio: String,
    /// Whether clients have a connection manager. Without one they answer the router and ignore its warnings: what it is
    /// compared with.
    #[serde(default = "yes")]
    pub connection_manager: bool,
    /// How the router foretells silences.
    #[serde(default)]
    pub prediction: Prediction,
    /// TU_advance in multiples of the greatest RTT_TCP of all clients: how long before the outage "going down" is sent.
    #[serde(default = "one")]
    pub tu_advance: f64,
    /// TD_advance is the greatest RTT_local plus this share of the outage, 0 to 1: how long before its end "going up" is
    /// sent.
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
    /// Whether the router holds what its clients send into an outage, and sends it as soon as the link is up; else that
    /// goes the way of all packets during silence.
    #[serde(default = "yes")]
    pub buffer: bool,
}

/// How the router foretells silences.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Prediction {
    /// Exactly.
    #[default]
    Oracle,
    /// From the record of earlier journeys, with errors of a given size.
    Itinerary(Itinerary),
    /// From an outage map built of earlier journeys, by position and speed; the radio needs a journey.
    OutageMap(OutageMap),
    /// From the levels that the radio measures, by an adaptive filter; the radio needs a journey.
    SignalStrength(SignalStrength),
}

/// How good the record of earlier journeys is.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Itinerary {
    /// Standard deviation of the foretold beginning and, independently, of the foretold end (normal errors).
    #[serde(default)]
    pub error: Duration,
    /// Probability that an outage is not foretold.
    #[serde(default)]
    pub missed: Probability,
    /// Mean time between foretold outages that do not come (a Poisson process); without it there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub false_interval: Option<Duration>,
}

/// How the outage map is made and read. Earlier journeys are simulated over the same line with seeds of their own.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutageMap {
    /// How many earlier journeys the record is of (1 to 1000).
    pub journeys: u32,
    /// Standard deviation of every position, recorded or present (normal errors).
    pub position_error: Length,
    /// Share of the earlier journeys that had an outage at a place that is on the map.
    pub share: Probability,
    /// Outages of different journeys within this distance are the same one.
    pub spread: Length,
    /// How long before the expected beginning a prediction is made.
    pub ahead: Duration,
}

impl Default for OutageMap {
    fn default() -> Self {
        Self {
            journeys: 20,
            position_error: Length(10.0),
            share: Probability::new(0.5).unwrap_or_default(),
            spread: Length(100.0),
            ahead: Duration::from_secs(10),
        }
    }
}

/// How the level is foretold: by a linear filter that adapts by least mean squares (LMS, normalised).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SignalStrength {
    /// Weights of the filter (1 to 1000), one for each of the last differences of the level.
    pub order: u32,
    /// Step of the adaptation, above 0 and below 2.
    pub step: f64,
    /// How far ahead it looks; counted in measurements of the radio.
    pub horizon: Duration,
    /// How far above the radio's threshold the foretold level counts as lost already.
    pub margin: Decibel,
    /// Standard deviation of each measurement about the level (normal errors).
    pub noise: Decibel,
}

impl Default for SignalStrength {
    fn default() -> Self {
        Self {
            order: 8,
            step: 0.1,
            horizon: Duration::from_secs(1),
            margin: Decibel(0.0),
            noise: Decibel(1.0),
        }
    }
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
