//! The flows: who sends to whom, over which transport, how much.

use crate::TcpSettings;
use crate::transports::Transport;
pub use cogtcp_traffic::Traffic;
use cogtcp_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One flow, or `count` alike.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The name; no two flows share one. With `count` above 1, a "*" in it (or, without one, "-*" at its end)
    /// becomes 1, 2, ... Without a name: "f" and the number of the flow in the scenario, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many flows this entry stands for (1 to 100000).
    #[serde(default = "one")]
    pub count: u32,
    /// The node that sends. A "*" becomes 1 to `count`: "s*" is s1, s2, ...
    pub from: String,
    /// The node that receives. A "*" becomes 1 to `count`.
    pub to: String,
    /// The transport: the name of a preset of TCP or of another transport. Or `module:Class` for a congestion
    /// control written in Python, which runs over SACK. Or a transport that is not TCP with its settings, as
    /// `{ tfrc = { segment_size = "500 B" } }`.
    pub transport: Transport,
    /// The paths of the connection, each by the name of a link: the route of least delay over this link,
    /// there and back. Without it: the route of least delay. A transport of one path uses the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Whether `transport` is kept when transports are compared: for cross traffic.
    #[serde(default)]
    pub fixed: bool,
    /// When the flow opens its connection.
    #[serde(default)]
    pub start: Duration,
    /// With `count` above 1: how much later each flow starts than the one before it.
    #[serde(default)]
    pub stagger: Duration,
    /// By how much each flow may start later than that: drawn uniformly, from the seed.
    #[serde(default)]
    pub start_jitter: Duration,
    /// When the application stops sending; without it: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// What the application sends.
    #[serde(default)]
    pub traffic: Traffic,
    /// Settings of this flow's TCP, which override \[tcp\] and the preset.
    #[serde(default, skip_serializing_if = "TcpSettings::is_empty")]
    pub tcp: TcpSettings,
}

fn one() -> u32 {
    1
}
