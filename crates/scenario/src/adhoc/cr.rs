//! The cognitive radios of the nodes of an ad hoc network.

use crate::{Flat, SensingSettings};
use cogtcp_adhoc::{ChannelKnowledge, SensingTimes, WhileNeighbourSenses};
use cogtcp_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The nodes of an ad hoc network sense, each from where it is, and hand off. It needs \[spectrum\].
pub type CognitiveNodes = Flat<SensingSettings, SensingOfNodes>;

/// The nodes of an ad hoc network sense, each from where it is, and hand off. It needs \[spectrum\].
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CognitiveNodes")]
pub struct SensingOfNodes {
    /// When nodes sense.
    #[serde(default)]
    pub sensing: SensingTimes,
    /// What a node does with a packet for a neighbour that senses or switches.
    #[serde(default)]
    pub while_neighbour_senses: WhileNeighbourSenses,
    /// How a node knows the channel on which a neighbour listens.
    #[serde(default)]
    pub channel_knowledge: ChannelKnowledge,
    /// For how long routing counts on a report of a PU on a channel that the node has left and senses no
    /// more.
    #[serde(default = "report_memory")]
    pub report_memory: Duration,
}

/// A few cycles.
fn report_memory() -> Duration {
    Duration::from_secs(5)
}
