//! What SEARCH nodes say to each other. The paper prints no formats: the sizes are reconstructed, with 4
//! octets for an address, a time or a channel and 8 for a place.

use crate::message::{MessageKind, ProtocolMessage};
use crate::{ChannelNumber, NodeAddress};
use cogtcp_units::{Position, Time};

/// A search is named by its ends and a number that its source counts.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct SearchId {
    /// The node that seeks.
    pub source: NodeAddress,
    /// The node sought.
    pub destination: NodeAddress,
    /// Number of the search of this pair.
    pub number: u32,
}

/// The messages of SEARCH.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchMessage {
    /// Says where its sender is and on which channels it hears a primary user.
    Beacon {
        /// The place.
        position: Position,
        /// Channels with a primary user: bit c for channel c.
        occupied: u64,
    },
    /// A route request on its way over one channel.
    Request(SearchRequest),
    /// The route, from the destination back to the source.
    Reply {
        /// The search.
        search: SearchId,
        /// All nodes from source to destination, each with the channel of its next hop (the last with the
        /// channel of its last hop).
        path: Vec<(NodeAddress, ChannelNumber)>,
    },
    /// The route of this search is gone.
    Error(SearchId),
    /// The next hop of this route is to be reached on another channel, or the previous one is to use it.
    Switch {
        /// The route.
        search: SearchId,
        /// The channel.
        channel: ChannelNumber,
        /// Whether it is told to the previous hop (else to the next).
        upstream: bool,
    },
    /// A node that left its anchor hands its place on the route over.
    Handover {
        /// The route.
        search: SearchId,
        /// The hop before.
        previous: NodeAddress,
        /// The hop after, its channel, and hops to the destination.
        next: (NodeAddress, ChannelNumber, u8),
        /// The channel on which the previous hop sends.
        receive: ChannelNumber,
        /// The place that the route goes through.
        anchor: Position,
    },
    /// The sender has taken the place of a node on the route.
    Takeover {
        /// The route.
        search: SearchId,
        /// The node that left.
        replaced: NodeAddress,
    },
}

/// A route request on its way over one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRequest {
    /// The search.
    pub search: SearchId,
    /// The channel it goes over.
    pub channel: ChannelNumber,
    /// Where the destination is.
    pub target: Position,
    /// The nodes so far with the time at which it left the source or came to them.
    pub path: Vec<(NodeAddress, Time)>,
    /// How it goes on.
    pub mode: ForwardingMode,
}

/// How a request is forwarded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ForwardingMode {
    /// To the neighbour nearest to the destination within the focus region.
    Greedy,
    /// Around the region of a primary user, from a decision point at this distance from the destination, m.
    Avoiding {
        /// Distance of the decision point.
        decision: f64,
    },
}

impl ProtocolMessage for SearchMessage {
    fn body_bytes(&self) -> u32 {
        match self {
            Self::Beacon { .. } => 4 + 8 + 8,
            Self::Request(request) => 4 + 12 + 4 + 8 + 4 + 8 * request.path.len() as u32,
            Self::Reply { path, .. } => 4 + 12 + 8 * path.len() as u32,
            Self::Error(_) => 4 + 12,
            Self::Switch { .. } => 4 + 12 + 4,
            Self::Handover { .. } => 4 + 12 + 4 + 12 + 4 + 8,
            Self::Takeover { .. } => 4 + 12 + 4,
        }
    }

    fn kind(&self) -> MessageKind {
        match self {
            Self::Beacon { .. } => MessageKind::Hello,
            Self::Request(_) => MessageKind::Request,
            Self::Reply { .. } => MessageKind::Reply,
            Self::Error(_) => MessageKind::Error,
            Self::Switch { .. } | Self::Handover { .. } | Self::Takeover { .. } => MessageKind::Repair,
        }
    }
}
