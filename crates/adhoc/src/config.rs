//! What an ad hoc network is made of.

use crate::ArpConfig;
use cogtcp_routing::RoutingSpec;
use cogtcp_spectrum::CognitiveConfig;
use cogtcp_spectrum::detector::{DetectorConfig, DetectorContext};
use cogtcp_spectrum::policy::PolicyConfig;
use cogtcp_units::{Duration, Power, Time};
use cogtcp_wireless::MediumConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many radios a node has.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Radios {
    /// One, which sends, receives and senses (the paper's): both ends of a hop must meet on a channel. A
    /// sender visits the channel of its receiver for one packet and comes back to its own; a broadcast goes
    /// out on every channel in turn.
    #[default]
    Single,
    /// Three (the released CRAHN code's). A control radio stays on a control channel, for routing. A receiver
    /// stays on the node's own channel; only it senses. A transmitter uses the receiver's channel.
    Three,
}

/// When the nodes sense.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SensingTimes {
    /// All at the same time: the cycles of all nodes begin at multiples of t_s + T_p. After a handoff a node
    /// transmits for the rest of the cycle.
    #[default]
    Synchronised,
    /// Node i of N begins its cycles i/N of a cycle after the first.
    Staggered,
    /// Each begins at a time of its own, drawn uniformly from one cycle, and every cycle begins when the one
    /// before has ended.
    Independent,
}

/// What a node does with a packet for a neighbour that senses or switches.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhileNeighbourSenses {
    /// It knows, and waits with it, and with all that is behind it in the queue; it begins no exchange that
    /// would not end in time.
    #[default]
    Wait,
    /// It does not know: it tries up to its retry limit, and then the link has failed.
    Retry,
}

/// How a node knows the channel on which a neighbour listens.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelKnowledge {
    /// At once and at no cost, as from the shared repository of the released code.
    #[default]
    Free,
    /// By every broadcast of routing, and by a broadcast of its own after every handoff and every second from
    /// then on. With three radios it uses the control channel, with one radio every channel. It takes time on
    /// the air, and a node that has missed it sends to the old channel. The channel at the start is known.
    Signalled,
}

/// What happens to the packets that wait for a neighbour when the link to the neighbour fails.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkFailure {
    /// Routing is asked again for each.
    #[default]
    Reroute,
    /// They are dropped (ns-2: `ifqueue->filter`).
    Drop,
}

/// The cognitive radios of the nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct CognitiveNode {
    /// The cycle; `position`, `start`, `jitter` and `aligned` are set for each node.
    pub radio: CognitiveConfig,
    /// How it senses.
    pub detector: DetectorConfig,
    /// What the detector may take from around it.
    pub surroundings: DetectorContext,
    /// Where it goes from a channel with a PU.
    pub policy: PolicyConfig,
    /// When nodes sense.
    pub times: SensingTimes,
    /// What becomes of packets for a neighbour that is silent.
    pub while_neighbour_senses: WhileNeighbourSenses,
    /// How channels are known.
    pub knowledge: ChannelKnowledge,
    /// For how long routing counts on a report of a PU on a channel that the node has left and senses no
    /// more.
    pub report_memory: Duration,
}

/// A change of transmit power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerChange {
    /// When.
    pub at: Time,
    /// The node; `None`: all nodes.
    pub node: Option<u32>,
    /// The power from then on.
    pub power: Power,
}

/// Everything about an ad hoc network but its seed.
#[derive(Clone, Debug, PartialEq)]
pub struct AdHocConfig {
    /// The MAC, the PHY and the channels, numbered as in the air. Without an air all stations are on channel
    /// 0; with three radios a control channel may follow the last.
    pub medium: MediumConfig,
    /// Transmitted power of every radio at the start.
    pub power: Power,
    /// Changes of it, in the order of time.
    pub powers: Vec<PowerChange>,
    /// The routing protocol.
    pub routing: RoutingSpec,
    /// Packets that wait at a node for a route.
    pub buffer_packets: usize,
    /// The longest that one waits.
    pub buffer_time: Duration,
    /// From one packet that waited for a route to the next, once it is found; zero: all at once (ns-2:
    /// `ARP_DELAY` of `aodv.h`, 10 ms).
    pub release_interval: Duration,
    /// What becomes of packets that wait for a neighbour that is gone.
    pub on_link_failure: LinkFailure,
    /// How the addresses of neighbours are found; `None`: they are known.
    pub arp: Option<ArpConfig>,
    /// How often protocols that want to know places are told them, where nodes move.
    pub location_interval: Duration,
    /// How many radios a node has.
    pub radios: Radios,
    /// Silence of a radio that tunes to another channel by itself.
    pub switching_delay: Duration,
    /// The cognitive radios; `None`: nobody senses.
    pub cognitive: Option<CognitiveNode>,
}

impl AdHocConfig {
    /// The greatest power of a node in the whole run.
    pub(crate) fn greatest_power(&self) -> Power {
        let all = self.powers.iter().map(|change| change.power.watts());
        Power::from_watts(all.fold(self.power.watts(), f64::max))
    }

    /// How far a frame of this power can be received without shadowing, fading and interference, m.
    pub(crate) fn range(&self, power: Power) -> f64 {
        let phy = &self.medium.phy;
        phy.propagation.path_loss.range(phy.sensitivity.watts() / power.watts())
    }

    /// Whether repositories have neighbours: where nobody senses or changes power, nobody asks.
    pub(crate) fn keeps_neighbors(&self) -> bool {
        self.cognitive.is_some() || !self.powers.is_empty()
    }
}
