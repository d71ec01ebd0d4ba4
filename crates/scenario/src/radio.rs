//! The cognitive radios that gate links.

use crate::{CognitiveUser, Journey};
use cogtcp_link::{Flush, Silence};
use cogtcp_spectrum::{ChannelChoice, GateConfig, LeoConfig, PuArrivals, SensingCycle};
use cogtcp_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cognitive radio. It gates one or more links, both directions at once: while it senses or switches
/// channel, they carry nothing.
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
    /// What `silence = "down"` destroys when a silence begins; without it: both what waits and what is under
    /// way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush: Option<Flush>,
    /// Whether the node in front of a silent link tells the source of data that silence destroyed (ICMP
    /// destination unreachable, one message a second to each source at most). Most transports ignore it.
    #[serde(default)]
    pub unreachable: bool,
    /// Periodic sensing; without it the radio never senses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensing: Option<SensingCycle>,
    /// Arrivals of primary users (PUs), each of which makes the radio switch channel; without it none ever
    /// comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pu: Option<PuArrivals>,
    /// The channel after an interruption.
    #[serde(default)]
    pub channel: ChannelChoice,
    /// Least time on a channel: a sensing that ends earlier does not change it. A PU drives the radio away at
    /// any time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dwell: Option<Duration>,
    /// A train's journey in place of sensing, pu, channel and dwell: its base stations and tunnels decide
    /// when the links are open, and at which rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journey: Option<Journey>,
    /// A link over satellites in low orbit in place of sensing, pu, channel and dwell: handoffs with an
    /// outage and a change of delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leo: Option<LeoConfig>,
    /// A CR user in full at each end of its one link, in place of all the above but name and links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cr: Option<Box<CognitiveUser>>,
}

impl Radio {
    /// Returns what gates the links in place of a cycle, each with its key.
    pub(crate) fn gates(&self) -> Vec<(&'static str, GateConfig)> {
        // Every kind of `GateConfig`. A new one adds its field above and its line here.
        #[rustfmt::skip]
        let gates = [
            self.leo.clone().map(|leo| ("leo", GateConfig::Leo(leo))),
        ];
        gates.into_iter().flatten().collect()
    }
}
