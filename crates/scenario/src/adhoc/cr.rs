//! The cognitive radios of the nodes of an ad hoc network.

use crate::{PuSnr, Reception};
use cogtcp_adhoc::{ChannelKnowledge, SensingTimes, WhileNeighbourSenses};
use cogtcp_spectrum::detector::DetectorConfig;
use cogtcp_spectrum::policy::PolicyConfig;
use cogtcp_units::{Duration, Power};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The nodes of an ad hoc network sense, each from where it is, and hand off. It needs \[spectrum\].
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CognitiveNodes {
    /// Sensing time t_s.
    pub sensing_time: Duration,
    /// Transmission time T_p.
    pub transmission_time: Duration,
    /// By how much a transmission may last longer than T_p: drawn anew for each, uniformly. With independent sensing only.
    #[serde(default)]
    pub jitter: Duration,
    /// Silence of one switch of channel.
    #[serde(default = "switching_delay")]
    pub switching_delay: Duration,
    /// When the first sensing begins; before it radios transmit.
    #[serde(default)]
    pub start: Duration,
    /// The channel of all nodes at the start, from 0; without it: the first that is not reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<u32>,
    /// How they sense.
    pub detector: DetectorConfig,
    /// How loud PUs are to a detector that has an SNR.
    #[serde(default)]
    pub pu_snr: PuSnr,
    /// The next channel, once a PU was reported.
    #[serde(default)]
    pub policy: PolicyConfig,
    /// A PU is heard when at least this power of it arrives (P_th of equation 1).
    #[serde(default = "sensitivity")]
    pub sensitivity: Power,
    /// When nodes sense.
    #[serde(default)]
    pub sensing: SensingTimes,
    /// What a node does with a packet for a neighbour that senses or switches.
    #[serde(default)]
    pub while_neighbour_senses: WhileNeighbourSenses,
    /// How a node knows the channel on which a neighbour listens.
    #[serde(default)]
    pub channel_knowledge: ChannelKnowledge,
    /// For how long routing counts on a report of a PU on a channel that the node has left and senses no more.
    #[serde(default = "report_memory")]
    pub report_memory: Duration,
    /// Which frames primary users destroy.
    #[serde(default)]
    pub reception: Reception,
}

fn switching_delay() -> Duration {
    Duration::from_millis(1)
}

/// A few cycles.
fn report_memory() -> Duration {
    Duration::from_secs(5)
}

fn sensitivity() -> Power {
    cogtcp_spectrum::air::Receiver::default().sensitivity
}
