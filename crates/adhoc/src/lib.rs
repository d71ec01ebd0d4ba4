//! An ad hoc network, pure: nodes that move, each with radios on one medium, a routing protocol, and packets that wait for a
//! route.
//!
//! [`AdHocNetwork`] is a state machine without a clock: it is told the time ([`advance`](AdHocNetwork::advance)) and packets
//! ([`offer`](AdHocNetwork::offer)), and hands out what happened ([`poll_event`](AdHocNetwork::poll_event)) and when it has
//! something to do ([`next_change`](AdHocNetwork::next_change)). What a packet carries is the caller's affair.
//!
//! Reading order: `config` (what a network is made of), `packet` (what goes over the air), `event` (what is reported, and why
//! packets are lost), `network` (what is due when; in `network/` the way of packets and what routing and the medium say), `node`,
//! `radios` (CR nodes: sensing, handoff, who knows whose channel), `arp` (addresses of neighbours), `frame` (what a sniffer would record), `places` (where nodes are), `timers`. `docs/adhoc.md` says what the model is and where it ends.

mod arp;
mod config;
mod event;
mod frame;
mod network;
mod node;
mod packet;
mod places;
mod radios;
mod timers;

pub use arp::{ARP_BYTES, ArpConfig, ArpDrops, ArpLearns, ArpProtocol, ArpSettings, ArpTable, Resolution};
pub use config::{
    AdHocConfig, ChannelKnowledge, CognitiveNode, LinkFailure, Radios, SensingTimes, WhileNeighbourSenses,
};
pub use event::{DropCause, Event, Layer, SearchOutcome};
pub use frame::{AirFrame, AirNote, FrameContent, NodeRadio};
pub use network::AdHocNetwork;
pub use node::NodeCounters;
pub use packet::{Packet, Trip};
pub use places::Places;
