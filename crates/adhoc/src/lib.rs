//! An ad hoc network, pure: nodes that move, each with radios on one medium, a routing protocol, and packets
//! that wait for a route.
//!
//! [`AdHocNetwork`] is a state machine without a clock. Its inputs are the time
//! ([`advance`](AdHocNetwork::advance)) and packets ([`offer`](AdHocNetwork::offer)). Its outputs are events
//! ([`poll_event`](AdHocNetwork::poll_event)) and the time of the next change
//! ([`next_change`](AdHocNetwork::next_change)). The content of a packet is the caller's.
//!
//! Reading order: `config` (what a network is made of), `packet` (packets on the air), `event` (reports, and
//! why packets are lost). Then `network` (events in order; in `network/` the route of packets, routing's
//! orders and the medium's reports), `node`, `radios` (CR nodes: sensing, handoff, channel knowledge). Then
//! `arp` (addresses of neighbours), `frame` (records for a sniffer), `node_positions`, `timers`.
//! `docs/adhoc.md` describes the model and its limits.

mod arp;
mod config;
mod event;
mod frame;
mod network;
mod node;
mod node_positions;
mod packet;
mod radios;
mod timers;

pub use arp::{ARP_BYTES, ArpConfig, ArpDrops, ArpLearns, ArpProtocol, ArpSettings, ArpTable, Resolution};
pub use config::{
    AdHocConfig, ChannelKnowledge, CognitiveNode, LinkFailure, PowerChange, Radios, SensingTimes,
    WhileNeighbourSenses,
};
pub use event::{AdHocDropCause, AdHocEvent, Layer, SearchOutcome};
pub use frame::{AirEvent, AirFrame, FrameContent, NodeRadio};
pub use network::AdHocNetwork;
pub use node::NodeCounters;
pub use node_positions::NodePositions;
pub use packet::{HostPacket, RouteRecord};
