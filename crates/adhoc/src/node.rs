//! One node: its routing, the packets that wait for it, its radios.

use crate::arp::ArpTable;
use crate::config::{AdHocConfig, Radios};
use crate::network::Waiting;
use crate::packet::RoutedPacket;
use crate::radios::Channels;
use cogtcp_crosslayer::{ChannelId, ReaderId, Repository};
use cogtcp_routing::{PacketBuffer, Routing};
use cogtcp_spectrum::CognitiveRadio;
use cogtcp_units::{RandomStream, Time};
use cogtcp_wireless::{InterfaceConfig, InterfaceId, Medium, Positions, Surroundings};
use std::collections::{BTreeMap, VecDeque};

/// A node of the network. What every message of routing touches comes first, in this order.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Node<T> {
    pub(crate) routing: Box<dyn Routing>,
    /// When it says next on which channel it listens; [`Time::MAX`]: it has nothing to say.
    pub(crate) announces: Time,
    /// Packets whose route was found and that go one after the other, with when.
    pub(crate) released: VecDeque<(Time, Box<RoutedPacket<T>>)>,
    pub(crate) buffer: PacketBuffer<Box<RoutedPacket<T>>>,
    /// The addresses of its neighbours, where they are resolved.
    pub(crate) arp: Option<ArpTable<Waiting<T>>>,
    pub(crate) counters: NodeCounters,
    pub(crate) interfaces: Interfaces,
    /// What its layers share; the channel is the one on which it listens for data.
    pub(crate) repository: Repository,
    /// Routing's subscription.
    pub(crate) routing_reads: ReaderId,
    /// The radio that senses, where nodes sense.
    pub(crate) radio: Option<Box<CognitiveRadio>>,
    /// Where it believes that others listen, by node, as they said; empty: nobody has said anything.
    pub(crate) heard_channels: BTreeMap<u32, ChannelId>,
    /// The channels on which it reported a PU, and when.
    pub(crate) reports: BTreeMap<ChannelId, Time>,
    pub(crate) draw: RandomStream,
}

impl<T> Node<T> {
    /// When a packet whose route was found goes, or an address is asked for again.
    pub(crate) fn next_resolution(&self) -> Time {
        let released = self.released.front().map_or(Time::MAX, |(due, _)| *due);
        released.min(self.arp.as_ref().map_or(Time::MAX, ArpTable::next_change))
    }
}

/// The interfaces of a node: three, or one in three roles.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Interfaces {
    pub(crate) control: InterfaceId,
    pub(crate) transmitter: InterfaceId,
    pub(crate) receiver: InterfaceId,
}

impl Interfaces {
    /// Puts the radios of a node on the medium.
    pub(crate) fn add<L: Clone, P: Positions, S: Surroundings>(
        medium: &mut Medium<L, P, S>,
        config: &AdHocConfig,
        channels: &Channels,
        node: u32,
    ) -> Self {
        let base = InterfaceConfig {
            power: config.power,
            greatest_power: config.greatest_power(),
            channel: channels.first(),
            tuning_delay: config.switching_delay,
            ..InterfaceConfig::new(node)
        };
        let Some(control) = channels.control().filter(|_| config.radios == Radios::Three) else {
            // On an only channel nobody has to be followed.
            let several = channels.data().count() > 1;
            let interface =
                medium.add_interface(InterfaceConfig { follows_receiver: several, returns: several, ..base });
            return Self { control: interface, transmitter: interface, receiver: interface };
        };
        let named = |part: &str| InterfaceConfig { name: format!("node {node}/{part}"), ..base.clone() };
        Self {
            control: medium.add_interface(InterfaceConfig { channel: control, ..named("control") }),
            transmitter: medium
                .add_interface(InterfaceConfig { follows_receiver: true, ..named("transmitter") }),
            receiver: medium.add_interface(named("receiver")),
        }
    }

    /// Each interface once.
    pub(crate) fn each(self) -> impl Iterator<Item = InterfaceId> {
        let all = [self.control, self.transmitter, self.receiver];
        let single = self.control == self.receiver;
        all.into_iter().take(if single { 1 } else { 3 })
    }
}

cogtcp_units::counts! {
    /// What a node counted, beside what its MAC and its routing count themselves.
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
        /// Routing packets that this node put into an interface queue: every copy of a broadcast on several
        /// channels, too.
        pub routing_sent: u64,
        /// Their bytes, with network header and without the MAC's.
        pub routing_bytes: u64,
        /// Routing packets lost: a full queue, or given up by the MAC.
        pub routing_lost: u64,
        /// Announcements of its channel that it sent.
        pub announcements: u64,
        /// Requests and replies of ARP that it sent.
        pub arp: u64,
        /// Links to neighbours that failed.
        pub link_failures: u64,
        /// Changes of the channel that it listens on.
        pub handoffs: u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_added_and_taken_away_each_by_itself() {
        let one = NodeCounters {
            originated: 1,
            relayed: 2,
            delivered: 3,
            dropped: 4,
            routing_received: 5,
            routing_sent: 6,
            routing_bytes: 7,
            routing_lost: 8,
            announcements: 9,
            link_failures: 10,
            handoffs: 11,
            arp: 12,
        };
        let mut sum = NodeCounters::default();
        sum.add(&one);
        assert_eq!(sum, one);
        sum.add(&one);
        assert_eq!((sum.originated, sum.handoffs), (2, 22));
        assert_eq!(sum.since(&one), one);
    }
}
