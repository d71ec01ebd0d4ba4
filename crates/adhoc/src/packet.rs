//! What goes over the air.

use cogtcp_crosslayer::ChannelId;
use cogtcp_routing::{DataPacket, NodeAddress, RoutingPacket};
use cogtcp_units::{Duration, Time};
use std::sync::Arc;

/// A packet that a host sends to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostPacket<T> {
    /// The node that sends.
    pub source: u32,
    /// The node that it is for.
    pub destination: u32,
    /// Its size with network header, bytes.
    pub bytes: u32,
    /// Hops that it may take.
    pub time_to_live: u8,
    /// What it carries.
    pub payload: T,
}

/// The route that a packet has taken so far.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RouteRecord {
    /// Hops taken.
    pub hops: u8,
    /// A hash of the nodes visited: two packets of a flow with the same took the same route, almost surely.
    pub hash: u64,
    /// When its source sent it.
    pub sent: Time,
    /// How long it waited, for routes and in interface queues until it was first in line.
    pub waited: Duration,
}

/// A packet between its hosts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoutedPacket<T> {
    pub(crate) packet: HostPacket<T>,
    pub(crate) route: RouteRecord,
    /// The neighbour that it came from.
    pub(crate) previous: Option<u32>,
    /// When it was put where it waits.
    pub(crate) since: Time,
}

impl<T> RoutedPacket<T> {
    pub(crate) fn new(now: Time, packet: HostPacket<T>) -> Self {
        let mut route = RouteRecord { hops: 0, hash: RouteRecord::START, sent: now, waited: Duration::ZERO };
        route.visit(packet.source);
        Self { packet, route, previous: None, since: now }
    }

    /// As routing sees it.
    pub(crate) fn seen(&self) -> DataPacket {
        DataPacket {
            source: NodeAddress::new(self.packet.source),
            destination: NodeAddress::new(self.packet.destination),
            previous_hop: self.previous.map(NodeAddress::new),
            hops: self.route.hops,
        }
    }
}

impl RouteRecord {
    /// The hash of no node: the offset basis of FNV-1a.
    pub(crate) const START: u64 = 0xcbf2_9ce4_8422_2325;

    /// It has come to a node.
    pub(crate) fn visit(&mut self, node: u32) {
        // FNV-1a over node numbers in place of octets; the rotation brings upper bits down.
        self.hash = (self.hash ^ u64::from(node)).wrapping_mul(0x100_0000_01b3).rotate_left(23);
    }
}

/// What a frame carries.
#[derive(Clone, Debug)]
pub(crate) enum Load<T> {
    /// A packet of a host; in a box, as most frames carry none and loads are moved often.
    Data(Box<RoutedPacket<T>>),
    /// A packet of the routing protocol; one that is broadcast is shared by all who hear it, and where
    /// channels are signalled it says on which its sender listens.
    Routing(Arc<RoutingPacket>, Option<ChannelId>),
    /// A node listens on another channel from now on.
    Channel(u32, ChannelId),
    /// Seeks or says the address of an interface.
    Arp(ArpMessage),
}

/// A message of RFC 826.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ArpMessage {
    /// The node that is asked, or that asked.
    pub(crate) target: u32,
    pub(crate) is_reply: bool,
}

/// Size of the channel in a broadcast of routing.
pub(crate) const CHANNEL_BYTES: u32 = 4;

/// Size of the announcement of a channel: IPv4 and UDP headers, an address and a channel.
pub(crate) const ANNOUNCEMENT_BYTES: u32 = 20 + 8 + 8;
