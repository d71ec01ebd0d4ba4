//! A scenario resolved: every name an index, every default filled in. What planes run.

mod chance;

use crate::{Run, Traffic, Train, TransportSpec};
use cogtcp_endpoint::Connection;
use cogtcp_layout::NetworkSpec;
use cogtcp_traffic::Pattern;
use cogtcp_transport::{Parameters, ReceiverConfig, SenderConfig};
use cogtcp_units::{Duration, Time};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// One experiment, ready to run: a network, to which it dereferences, and what runs over it.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// The scenario's name.
    pub name: String,
    /// How long, from which seed.
    pub run: Run,
    /// Its network.
    pub network: NetworkSpec,
    /// The mobile router of a train.
    pub train: Option<TrainSpec>,
    /// The flows.
    pub flows: Vec<FlowSpec>,
    /// The UDP sources.
    pub udp: Vec<UdpSpec>,
}

impl Deref for Experiment {
    type Target = NetworkSpec;
    fn deref(&self) -> &NetworkSpec {
        &self.network
    }
}

impl DerefMut for Experiment {
    fn deref_mut(&mut self) -> &mut NetworkSpec {
        &mut self.network
    }
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
