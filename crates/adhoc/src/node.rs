//! One node: its routing, the packets that wait for it, its radios.

use crate::packet::Datagram;
use cogtcp_crosslayer::ChannelId;
use cogtcp_routing::{PacketBuffer, Routing};
use cogtcp_spectrum::CognitiveRadio;
use cogtcp_units::{RandomStream, Time};
use cogtcp_wireless::InterfaceId;
use std::collections::BTreeMap;

/// A node of the network.
#[derive(Debug)]
pub(crate) struct Node<T> {
    pub(crate) routing: Box<dyn Routing>,
    pub(crate) buffer: PacketBuffer<Datagram<T>>,
    pub(crate) interfaces: Interfaces,
    /// The radio that senses, where nodes sense.
    pub(crate) radio: Option<Box<CognitiveRadio>>,
    /// The channel on which it listens for data.
    pub(crate) channel: ChannelId,
    /// Where it believes that others listen, by node, as they said; empty: nobody has said anything.
    pub(crate) heard_channels: BTreeMap<u32, ChannelId>,
    /// The channels on which it reported a PU, and when.
    pub(crate) reports: BTreeMap<ChannelId, Time>,
    /// When it says next on which channel it listens; [`Time::MAX`]: it has nothing to say.
    pub(crate) announces: Time,
    pub(crate) draw: RandomStream,
    pub(crate) counters: NodeCounters,
}

/// The interfaces of a node: three, or one in three roles.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Interfaces {
    pub(crate) control: InterfaceId,
    pub(crate) transmitter: InterfaceId,
    pub(crate) receiver: InterfaceId,
}

impl Interfaces {
    /// Each interface once.
    pub(crate) fn each(self) -> impl Iterator<Item = InterfaceId> {
        let all = [self.control, self.transmitter, self.receiver];
        let single = self.control == self.receiver;
        all.into_iter().take(if single { 1 } else { 3 })
    }
}

/// What a node counted, beside what its MAC and its routing count themselves.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct NodeCounters {
    /// Packets of hosts that began here.
    pub originated: u64,
    /// Packets of hosts passed on for others.
    pub relayed: u64,
    /// Packets of hosts that reached this node, their destination.
    pub delivered: u64,
    /// Packets of hosts dropped here.
    pub dropped: u64,
    /// Routing packets that this node received.
    pub routing_received: u64,
    /// Routing packets that this node put into an interface queue: every copy of a broadcast on several channels, too.
    pub routing_sent: u64,
    /// Their bytes, with network header and without the MAC's.
    pub routing_bytes: u64,
    /// Routing packets lost: a full queue, or given up by the MAC.
    pub routing_lost: u64,
    /// Announcements of its channel that it sent.
    pub announcements: u64,
    /// Links to neighbours that failed.
    pub link_failures: u64,
    /// Changes of the channel that it listens on.
    pub handoffs: u64,
}

impl NodeCounters {
    /// What was counted after `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            originated: self.originated - before.originated,
            relayed: self.relayed - before.relayed,
            delivered: self.delivered - before.delivered,
            dropped: self.dropped - before.dropped,
            routing_received: self.routing_received - before.routing_received,
            routing_sent: self.routing_sent - before.routing_sent,
            routing_bytes: self.routing_bytes - before.routing_bytes,
            routing_lost: self.routing_lost - before.routing_lost,
            announcements: self.announcements - before.announcements,
            link_failures: self.link_failures - before.link_failures,
            handoffs: self.handoffs - before.handoffs,
        }
    }
}
