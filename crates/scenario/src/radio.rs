//! The cognitive radios that gate links.

use crate::values::Law;
use crate::{CognitiveUser, Journey};
use cogtcp_units::{Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cognitive radio. It gates one or more links, both directions at once: while it senses or switches channel, they
/// carry nothing.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// The name; no two radios share one. Random draws are tied to it, not to the order of radios.
    pub name: String,
    /// The names of the links it gates; a link has at most one radio.
    pub links: Vec<String>,
    /// What happens to packets during silence.
    #[serde(default)]
    pub silence: Silence,
    /// Whether the node in front of a silent link tells the source of data that silence destroyed (ICMP destination
    /// unreachable, one message a second to each source at most). Most transports ignore it.
    #[serde(default)]
    pub unreachable: bool,
    /// Periodic sensing; without it the radio never senses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensing: Option<Sensing>,
    /// Arrivals of primary users (PUs), each of which makes the radio switch channel; without it none ever comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pu: Option<PrimaryUsers>,
    /// The channel after an interruption.
    #[serde(default)]
    pub channel: Channel,
    /// Least time on a channel: a sensing that ends earlier does not change it. A PU drives the radio away at any time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dwell: Option<Duration>,
    /// A train's journey in place of sensing, pu, channel and dwell: its base stations and tunnels decide when the links are
    /// open, and at which rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journey: Option<Journey>,
    /// A CR user in full at each end of its one link, in place of all the above but name and links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cr: Option<Box<CognitiveUser>>,
}

/// What happens to packets during silence.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Silence {
    /// Packets wait in the queue; the frame in the air completes.
    #[default]
    Hold,
    /// What is sent into the silence is lost.
    Drop,
}

/// Periodic sensing: silent for `off`, open to traffic for `on`, and again.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sensing {
    /// Duration of one sensing, t_s: so long the link is off.
    pub off: Law,
    /// Time open to traffic between two sensings, T_p: so long the link is on. A cycle takes `off` and `on` together.
    pub on: Law,
    /// When the first sensing begins; without it: after a first `on`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Duration>,
    /// What a switch of channel does to the time of the next sensing.
    #[serde(default)]
    pub clock: Clock,
}

/// What a switch of channel does to the time of the next sensing.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// A full `on` follows every silence, a switch too.
    #[default]
    Restart,
    /// Sensing keeps its own timetable; one that falls due during a switch begins when the switch ends.
    Keep,
}

/// Primary users: they come as a Poisson process, and each makes the radio leave its channel.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PrimaryUsers {
    /// Mean time between two arrivals; exponential.
    pub interarrival: Duration,
    /// Silence of one switch of channel.
    pub switching: Duration,
}

/// The channel after an interruption (a sensing, or a switch because of a PU).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// The rate stays the link's own.
    #[default]
    Stay,
    /// The rate is drawn uniformly between these two, both included.
    Range([Rate; 2]),
    /// The rate is one of these, drawn uniformly; after a PU one of the others.
    Set(Vec<Rate>),
}
