//! A scenario resolved: every name an index, every default filled in. What planes run.

mod adhoc;
mod chance;
mod cognitive;

pub use adhoc::{AdHocSpec, Motion};
pub use cognitive::{CognitiveSpec, SpectrumSpec, UsersSpec};

use crate::{QueueSpec, Run, Traffic, Train, TransportSpec};
use cogtcp_endpoint::Connection;
use cogtcp_link::{Flush, Gate, Schedule, Silence};
use cogtcp_spectrum::CycleConfig;
use cogtcp_traffic::Pattern;
use cogtcp_train::journey::Line;
use cogtcp_transport::{Parameters, ReceiverConfig, SenderConfig};
use cogtcp_units::{Duration, Probability, Rate, Time};
use std::sync::Arc;

/// One experiment, ready to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// The scenario's name.
    pub name: String,
    /// How long, from which seed.
    pub run: Run,
    /// The names of the nodes; a node's number is its place here.
    pub nodes: Vec<String>,
    /// The links; a link's number is its place here.
    pub links: Vec<LinkSpec>,
    /// The ad hoc network, in which case there are no links.
    pub adhoc: Option<Box<AdHocSpec>>,
    /// Who uses the spectrum, and its channels: where a radio is a CR user in full, or nodes share it.
    pub spectrum: Option<SpectrumSpec>,
    /// The cognitive radios.
    pub radios: Vec<RadioSpec>,
    /// The mobile router of a train.
    pub train: Option<TrainSpec>,
    /// The flows.
    pub flows: Vec<FlowSpec>,
    /// The UDP sources.
    pub udp: Vec<UdpSpec>,
}

impl Experiment {
    /// By link: whether a radio gates it.
    pub fn gated_links(&self) -> Vec<bool> {
        let mut is_gated = vec![false; self.links.len()];
        self.radios.iter().flat_map(|radio| &radio.links).for_each(|link| is_gated[*link] = true);
        is_gated
    }

    /// Returns whose capacity a link's is: the name of the radio whose cell serves it, which its users share,
    /// or the link's own.
    pub fn medium(&self, link: usize) -> &str {
        let cell =
            self.radios.iter().find(|radio| radio.kind.cell().is_some() && radio.links.contains(&link));
        cell.map_or(&self.links[link].name, |radio| &radio.name)
    }

    /// The names of the radios that an entry of the scenario stands for: its own, or one for each end of its
    /// link.
    pub fn radio_names(&self, spec: &RadioSpec) -> Vec<String> {
        let independent =
            spec.kind.cognitive().is_some_and(|cognitive| cognitive.user.ends == crate::Ends::Independent);
        match spec.links.first().filter(|_| independent) {
            Some(link) => {
                let link = &self.links[*link];
                let name = |node: usize| format!("{}/{}", spec.name, self.nodes[node]);
                vec![name(link.from), name(link.to)]
            }
            None => vec![spec.name.clone()],
        }
    }
}

/// A full-duplex link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// Its name, unique among links.
    pub name: String,
    /// Node where the forward direction begins.
    pub from: usize,
    /// Node where the forward direction ends.
    pub to: usize,
    /// From `from` to `to`.
    pub forward: LinkDirectionSpec,
    /// From `to` to `from`.
    pub reverse: LinkDirectionSpec,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkDirectionSpec {
    /// Rate at which packets are put on the link.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// What waits, besides the packet being sent.
    pub queue: QueueSpec,
    /// Probability that a packet is lost on the link.
    pub loss: Probability,
    /// Mean run of lost packets, at least 1; `None`: each packet is lost on its own.
    pub loss_run: Option<f64>,
    /// Packets to lose by their number from 1, ascending.
    pub drops: Vec<u64>,
    /// A packet that finds so many waiting is marked (ECN); `None`: none is.
    pub mark: Option<u32>,
    /// What it can carry over time, in place of the rate, which is its mean then.
    pub trace: Option<Arc<Schedule>>,
}

/// A cognitive radio.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioSpec {
    /// Its name, unique among radios.
    pub name: String,
    /// The links that it gates, both directions of each.
    pub links: Vec<usize>,
    /// The cause of its moves.
    pub kind: RadioKind,
}

/// What moves a radio. Another kind that gates links by itself is another gate.
#[derive(Clone, Debug, PartialEq)]
pub enum RadioKind {
    /// The cycle of one link by its laws.
    Cycle(CycleConfig, Gating),
    /// A train's journey.
    Journey(JourneySpec, Gating),
    /// A radio that gates its links by itself, such as a link over satellites.
    Gate(cogtcp_spectrum::GateConfig, Gating),
    /// The CR user in full with its MAC. It has one link, and the experiment a spectrum.
    Cognitive(Box<CognitiveSpec>),
    /// The CR user without a MAC, whose channel is its links' own while it is open. The experiment has a
    /// spectrum.
    Unshared(Box<CognitiveSpec>, Gating),
    /// The CR user whose links a base station schedules. The experiment has a spectrum.
    Scheduled(Box<CognitiveSpec>, Box<crate::CellSettings>),
}

impl Default for RadioKind {
    /// A radio that is never silent.
    fn default() -> Self {
        Self::Cycle(CycleConfig::default(), Gating::default())
    }
}

impl RadioKind {
    /// The cycle, if it is one.
    pub fn cycle(&self) -> Option<&CycleConfig> {
        if let Self::Cycle(cycle, _) = self { Some(cycle) } else { None }
    }

    /// The journey, if it is one.
    pub fn journey(&self) -> Option<&JourneySpec> {
        if let Self::Journey(journey, _) = self { Some(journey) } else { None }
    }

    /// Returns the CR user that has a MAC.
    pub fn cognitive(&self) -> Option<&CognitiveSpec> {
        if let Self::Cognitive(cognitive) = self { Some(cognitive) } else { None }
    }

    /// Returns the CR user that has no MAC.
    pub fn unshared(&self) -> Option<&CognitiveSpec> {
        if let Self::Unshared(cognitive, _) = self { Some(cognitive) } else { None }
    }

    /// Returns the CR user without the MAC of 802.11: its own channel, or a cell.
    pub fn user_without_mac(&self) -> Option<&CognitiveSpec> {
        match self {
            Self::Unshared(cognitive, _) | Self::Scheduled(cognitive, _) => Some(cognitive),
            _ => None,
        }
    }

    /// Returns the CR user, with whatever access.
    pub fn user(&self) -> Option<&CognitiveSpec> {
        self.cognitive().or_else(|| self.user_without_mac())
    }

    /// Returns the cell, if a base station schedules.
    pub fn cell(&self) -> Option<&crate::CellSettings> {
        if let Self::Scheduled(_, cell) = self { Some(cell) } else { None }
    }

    /// What silence does to links without a MAC; `None`: there is one, which decides that.
    pub fn gating(&self) -> Option<Gating> {
        match self {
            Self::Cycle(_, gating)
            | Self::Journey(_, gating)
            | Self::Gate(_, gating)
            | Self::Unshared(_, gating) => Some(*gating),
            // Packets wait for the base station.
            Self::Scheduled(..) => Some(Gating::default()),
            Self::Cognitive(_) => None,
        }
    }
}

/// What silence does to links without a MAC.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Gating {
    /// What happens to packets during silence.
    pub silence: Silence,
    /// What a silence that takes the links down destroys.
    pub flush: Flush,
    /// Whether sources receive ICMP about packets that silence destroyed.
    pub unreachable: bool,
}

impl Gating {
    /// The gate of the links in silence.
    pub const fn silent_gate(&self) -> Gate {
        Gate::of(true, self.silence, self.flush)
    }
}

/// A train's journey over a line.
#[derive(Clone, Debug, PartialEq)]
pub struct JourneySpec {
    /// The line.
    pub line: Arc<Line>,
    /// When the train leaves its first station.
    pub start: Duration,
}

/// The mobile router of a train and its clients.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainSpec {
    /// The router's node.
    pub router: usize,
    /// The radio whose silences are outages.
    pub radio: usize,
    /// Its settings.
    pub settings: Train,
}

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// Its name, unique among flows.
    pub name: String,
    /// The node that sends.
    pub from: usize,
    /// The node that receives.
    pub to: usize,
    /// The paths that the connection may use; empty: the route of least delay.
    pub paths: Vec<PathSpec>,
    /// Name of the transport: a preset of TCP, `module:Class` (see [`crate::is_external`]), or another
    /// transport.
    pub transport: String,
    /// The settings of both ends.
    pub protocol: Protocol,
    /// When the connection opens, before what the seed draws at the earliest.
    pub start: Time,
    /// By how much it may open later.
    pub start_jitter: Duration,
    /// When the application stops sending.
    pub stop: Option<Time>,
    /// What the application sends.
    pub traffic: Traffic,
}

/// A path of a flow.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PathSpec {
    /// The link that the scenario names.
    pub link: usize,
    /// Link directions from the sender to the receiver: `2 * link` is a link's forward direction, `2 * link +
    /// 1` its reverse.
    pub directions: Vec<u32>,
}

impl PathSpec {
    /// Returns the link directions from the receiver to the sender: the same links.
    pub fn reversed(&self) -> Vec<u32> {
        // The last bit tells the two directions of a link apart.
        self.directions.iter().rev().map(|direction| direction ^ 1).collect()
    }
}

/// The settings of a flow's two ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Protocol {
    /// TCP.
    Tcp(TcpSpec),
    /// Another transport.
    Other(TransportSpec, Connection),
}

/// The settings of TCP's two ends.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpSpec {
    /// The sender's settings, one for all flows that an entry stands for.
    pub sender: Arc<SenderConfig>,
    /// The receiver's settings, likewise.
    pub receiver: Arc<ReceiverConfig>,
    /// The sender's congestion control: what `cogtcp_transport::make` takes.
    pub control: ControlSpec,
}

impl FlowSpec {
    /// Returns the settings of TCP; `None`: the transport is another.
    pub fn tcp(&self) -> Option<&TcpSpec> {
        if let Protocol::Tcp(tcp) = &self.protocol { Some(tcp) } else { None }
    }

    /// Returns the congestion control from outside that the flow runs (see [`crate::is_external`]); `None`:
    /// it runs none.
    pub fn external_control(&self) -> Option<ControlSpec> {
        match &self.protocol {
            Protocol::Tcp(tcp) => {
                Some(tcp.control.clone()).filter(|control| crate::is_external(&control.name))
            }
            Protocol::Other(transport, _) => transport.external_control(),
        }
    }

    /// Returns the most bytes of application data in a packet.
    pub fn segment_size(&self) -> u32 {
        match &self.protocol {
            Protocol::Tcp(tcp) => tcp.sender.handshake.mss,
            Protocol::Other(transport, connection) => transport.kind().build(*connection).segment_size,
        }
    }

    /// Whether each request has a connection of its own.
    pub fn opens_anew(&self) -> bool {
        self.traffic.kind().opens_anew()
    }
}

/// A UDP source.
#[derive(Clone, Debug, PartialEq)]
pub struct UdpSpec {
    /// Its name, unique among sources.
    pub name: String,
    /// The node that sends.
    pub from: usize,
    /// The node that receives.
    pub to: usize,
    /// When packets are sent.
    pub pattern: Pattern,
    /// Payload of each, bytes.
    pub size: u32,
    /// When it begins.
    pub start: Time,
    /// When it stops.
    pub stop: Option<Time>,
}

/// A congestion control by its name in the registry, or `module:Class` (see [`crate::is_external`]), and its
/// parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlSpec {
    /// Name in the registry, or of a control from outside.
    pub name: String,
    /// Its parameters; what is missing has the control's default.
    pub parameters: Parameters,
}
