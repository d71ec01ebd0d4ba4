//! Routing in ad hoc networks, pure: each protocol is the state machine of one node.
//!
//! Every type here is sans-IO: it is told the time, messages and link failures, and returns what to transmit,
//! what becomes of a data packet, and when to ask again. It knows no event queue, medium, clock, thread or
//! global random generator. Data packets stay with the host, which holds those that wait for a route in a
//! [`PacketBuffer`].
//!
//! Reading order:
//!
//! - [`Routing`]: the trait, with what a host must do; [`DataPacket`], [`Forwarding`], [`RoutingEvent`],
//!   [`HostUpdate`].
//! - [`RoutingPacket`], [`message`]: what goes over the air, with its size.
//! - [`RoutingSpec`]: protocols by name, with typed settings ([`Protocol`]). A new one is one file, a `mod`
//!   and a line below; messages of its own are [`message::ProtocolMessage`]s.
//! - [`table::RouteTable`]: routes with lifetimes and sequence numbers, and why they form no loop.
//! - [`StaticRouting`] over a [`RoutingGraph`]; [`Aodv`]; [`CrAodv`]; [`search::Search`].

mod address;
mod aodv;
mod buffer;
mod cr_aodv;
mod lookup;
pub mod message;
mod outbox;
mod protocol;
mod routing;
pub mod search;
mod static_routing;
pub mod table;
mod topology;
mod wire;

pub use address::{ChannelNumber, NodeAddress};
pub use aodv::{
    Aodv, AodvConfig, AodvProfile, AodvSettings, AtHandoff, ErrorTo, LocalRepair, RequestTimeout,
};
pub use buffer::PacketBuffer;
pub use cr_aodv::{ChannelHello, CrAodv, CrAodvConfig, CrAodvProfile, NextHopKnowledge};
pub use message::{MessageKind, RoutingMessage, RoutingPacket, WireFormat};
pub use protocol::{NodeSite, Protocol};
pub use routing::{
    AfterFailure, DataPacket, Forwarding, HostUpdate, LossCause, LostPacket, RouteInfo, Routing,
    RoutingDropCause, RoutingEvent, RoutingStats,
};
pub use static_routing::{StaticConfig, StaticRouting};
pub use topology::RoutingGraph;

use cogtcp_units::registry;

// Every protocol that a scenario can name. A new one adds its line here.
registry! {
    #[entries(
        "routing protocol",
        "the name of a routing protocol, or a protocol with its settings as { aodv = { profile = \"ns2\" } }"
    )]
    /// A routing protocol with its settings.
    pub enum RoutingSpec: Protocol {
        Static: StaticConfig,
        Aodv: AodvSettings,
        CrAodv: CrAodvConfig,
        Search: search::SearchConfig,
    }
}

impl Default for RoutingSpec {
    /// AODV as RFC 3561 has it.
    fn default() -> Self {
        Self::Aodv(AodvSettings::default())
    }
}
