//! What an ad hoc network reports.

use crate::{HostPacket, RouteRecord};
use cogtcp_crosslayer::{ChannelId, LinkEvent};
use cogtcp_routing::LossCause;
use cogtcp_units::{Duration, Time};
use cogtcp_wireless::ExchangeFailure;

/// The layer that dropped a packet.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Layer {
    /// Routing: no route, or waited too long for one.
    Routing,
    /// The interface queue, and address resolution before it.
    Queue,
    /// The MAC: the retry limit.
    Mac,
}

impl Layer {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Routing => "routing",
            Self::Queue => "queue",
            Self::Mac => "mac",
        }
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum AdHocDropCause {
    /// A relay had no route.
    NoRoute,
    /// It came back to its source.
    Loop,
    /// It had taken as many hops as it may.
    Expired,
    /// The search for a route failed.
    NotFound,
    /// Too many packets waited for routes.
    BufferFull,
    /// It waited too long for a route.
    BufferTime,
    /// The interface queue was full.
    QueueFull,
    /// Routing took its place in a full interface queue.
    Displaced,
    /// Another packet took its place while it waited for the address of a neighbour.
    ArpFull,
    /// Nobody told the address of the neighbour.
    ArpFailed,
    /// It waited for a neighbour to which the link failed ([`LinkFailure::Drop`](crate::LinkFailure::Drop)).
    LinkFailed,
    /// The MAC gave it up, the last attempt destroyed by a primary user.
    Interfered,
    /// The receiver was silent: it sensed or switched.
    Silent,
    /// Other frames destroyed it, or the receiver was busy.
    Collided,
    /// Noise or random errors.
    Garbled,
    /// The receiver was too far, or on another channel.
    OutOfReach,
    /// The receiver's medium was not free.
    Refused,
}

impl AdHocDropCause {
    /// Every cause; a cause's number is its place.
    pub const ALL: [Self; 17] = [
        Self::NoRoute,
        Self::Loop,
        Self::Expired,
        Self::NotFound,
        Self::BufferFull,
        Self::BufferTime,
        Self::QueueFull,
        Self::Displaced,
        Self::LinkFailed,
        Self::Interfered,
        Self::Silent,
        Self::Collided,
        Self::Garbled,
        Self::OutOfReach,
        Self::Refused,
        Self::ArpFull,
        Self::ArpFailed,
    ];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoRoute => "no_route",
            Self::Loop => "loop",
            Self::Expired => "expired",
            Self::NotFound => "not_found",
            Self::BufferFull => "buffer_full",
            Self::BufferTime => "buffer_time",
            Self::QueueFull => "queue_full",
            Self::Displaced => "displaced",
            Self::ArpFull => "arp_full",
            Self::ArpFailed => "arp_failed",
            Self::LinkFailed => "link_failed",
            Self::Interfered => "interfered",
            Self::Silent => "silent",
            Self::Collided => "collided",
            Self::Garbled => "garbled",
            Self::OutOfReach => "out_of_reach",
            Self::Refused => "refused",
        }
    }

    /// The layer that drops for it.
    pub const fn layer(self) -> Layer {
        match self {
            Self::NoRoute
            | Self::Loop
            | Self::Expired
            | Self::NotFound
            | Self::BufferFull
            | Self::BufferTime => Layer::Routing,
            Self::QueueFull | Self::Displaced | Self::ArpFull | Self::ArpFailed | Self::LinkFailed => {
                Layer::Queue
            }
            Self::Interfered
            | Self::Silent
            | Self::Collided
            | Self::Garbled
            | Self::OutOfReach
            | Self::Refused => Layer::Mac,
        }
    }

    /// What the MAC's last attempt says.
    pub(crate) const fn of(cause: ExchangeFailure) -> Self {
        match cause {
            ExchangeFailure::Interfered(_) => Self::Interfered,
            ExchangeFailure::Unanswered => Self::Silent,
            ExchangeFailure::Collided => Self::Collided,
            ExchangeFailure::Garbled => Self::Garbled,
            ExchangeFailure::OutOfReach => Self::OutOfReach,
            ExchangeFailure::Refused => Self::Refused,
        }
    }
}

/// How a search for a route ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SearchOutcome {
    /// There is a route of so many hops; the search took so long.
    Found {
        /// Hops.
        hops: u8,
        /// Time from the beginning of the search.
        took: Duration,
    },
    /// Nobody answered.
    Failed,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AdHocEvent<T> {
    /// A packet has reached the node that it is for.
    Delivered {
        /// When.
        time: Time,
        /// The packet.
        packet: HostPacket<T>,
        /// The route that it took.
        route: RouteRecord,
    },
    /// A packet is lost.
    Dropped {
        /// When.
        time: Time,
        /// Where.
        node: u32,
        /// The packet.
        packet: HostPacket<T>,
        /// Why.
        cause: AdHocDropCause,
    },
    /// A relay or the source passed a packet of a host on to a neighbour.
    Forwarded {
        /// When.
        time: Time,
        /// By whom.
        node: u32,
        /// To whom.
        next: u32,
        /// Source and destination of the packet.
        ends: (u32, u32),
    },
    /// The MAC is done with a packet of a host: acknowledged or given up.
    Served {
        /// When.
        time: Time,
        /// Where.
        node: u32,
        /// From when it was first in line until now.
        service: Duration,
    },
    /// A node began to seek a route.
    SearchStarted {
        /// When.
        time: Time,
        /// By whom.
        node: u32,
        /// To whom.
        destination: u32,
    },
    /// A search ended.
    SearchEnded {
        /// When.
        time: Time,
        /// By whom.
        node: u32,
        /// To whom.
        destination: u32,
        /// How.
        outcome: SearchOutcome,
    },
    /// A route that data takes moved to another next hop.
    RouteChanged {
        /// When.
        time: Time,
        /// The node with the route.
        node: u32,
        /// To whom.
        destination: u32,
        /// The next hop from now on.
        next: u32,
    },
    /// A route that data took ended.
    RouteLost {
        /// When.
        time: Time,
        /// The node with the route.
        node: u32,
        /// To whom.
        destination: u32,
        /// Why.
        cause: LossCause,
    },
    /// Something happened to a cognitive radio.
    Radio {
        /// When.
        time: Time,
        /// The radio's node.
        node: u32,
        /// What.
        event: LinkEvent,
    },
    /// A node receives on another channel from now on.
    Tuned {
        /// When.
        time: Time,
        /// Who.
        node: u32,
        /// The channel.
        channel: ChannelId,
    },
}
