//! The way of a host's packet: from its source into a queue or the buffer, delivered or dropped.

use super::AdHocNetwork;
use crate::event::{AdHocDropCause, AdHocEvent};
use crate::packet::{Datagram, HostPacket, Load, Trip};
use cogtcp_crosslayer::ChannelId;
use cogtcp_routing::{Forwarding, NodeAddress};
use cogtcp_units::Time;
use cogtcp_wireless::{Destination, EnqueueOutcome, InterfaceId, Outgoing, Surroundings};

impl<T: Clone, S: Surroundings> AdHocNetwork<T, S> {
    /// A host sends a packet.
    ///
    /// # Panics
    ///
    /// If its source is no node.
    pub fn offer(&mut self, now: Time, packet: HostPacket<T>) {
        let node = packet.source;
        self.nodes[node as usize].counters.originated += 1;
        let data = Box::new(Datagram::new(now, packet));
        self.record_way(Trip::START, node, data.trip.path);
        self.forward(node, data, now);
        self.settle(node, now);
        self.take_events();
    }

    /// From now on the ways of packets are kept, for [`way`](Self::way).
    pub fn record_ways(&mut self) {
        self.ways.get_or_insert_default();
    }

    #[inline]
    pub(super) fn record_way(&mut self, before: u64, node: u32, path: u64) {
        if let Some(ways) = &mut self.ways {
            ways.entry(path).or_insert((before, node));
        }
    }

    /// The nodes of the way [`Trip::path`], if they are kept.
    pub fn way(&self, path: u64) -> Vec<u32> {
        let (mut way, mut at) = (Vec::new(), path);
        while let Some((before, node)) = self.ways.as_ref().and_then(|ways| ways.get(&at)) {
            way.push(*node);
            at = *before;
        }
        way.reverse();
        way
    }

    /// Routing says what becomes of a packet that is at `node`. To be followed by [`settle`](Self::settle).
    pub(super) fn forward(&mut self, node: u32, mut data: Box<Datagram<T>>, now: Time) {
        match self.nodes[node as usize].routing.forward(now, data.seen()) {
            Forwarding::Send { next_hop, channel } => {
                let next = next_hop.number();
                let channel = channel.map_or_else(
                    || self.known_channel(node, next),
                    |channel| Some(self.channels.id(channel)),
                );
                data.since = now;
                let ends = (data.packet.source, data.packet.destination);
                self.events.push_back(AdHocEvent::Forwarded { time: now, node, next, ends });
                self.enqueue(node, next, channel, data, now);
            }
            Forwarding::Hold => self.hold(node, data, now),
            Forwarding::Deliver => self.deliver(node, *data, now),
            Forwarding::Drop(cause) => {
                let cause = match cause {
                    cogtcp_routing::RoutingDropCause::NoRoute => AdHocDropCause::NoRoute,
                    cogtcp_routing::RoutingDropCause::Loop => AdHocDropCause::Loop,
                };
                self.drop(node, *data, cause, now);
            }
        }
    }

    /// A packet waits for a route.
    pub(super) fn hold(&mut self, node: u32, mut data: Box<Datagram<T>>, now: Time) {
        data.since = now;
        let to = NodeAddress::new(data.packet.destination);
        if let Some(oldest) = self.nodes[node as usize].buffer.push(now, to, data) {
            self.drop(node, *oldest, AdHocDropCause::BufferFull, now);
        }
    }

    pub(super) fn enqueue(
        &mut self,
        node: u32,
        next: u32,
        channel: Option<ChannelId>,
        data: Box<Datagram<T>>,
        now: Time,
    ) {
        let to = Destination::Interface(self.nodes[next as usize].interfaces.receiver);
        let at = self.nodes[node as usize].interfaces.transmitter;
        let bytes = data.packet.bytes;
        let outgoing = Outgoing { payload: Load::Data(data), bytes, to, channel, goes_first: false };
        self.resolve(node, next, at, outgoing, now);
    }

    /// Puts a packet into an interface queue. What finds no room is gone.
    pub(crate) fn put(&mut self, node: u32, at: InterfaceId, packet: Outgoing<Load<T>>, now: Time) {
        let (lost, cause) = match self.medium.enqueue(now, at, packet) {
            EnqueueOutcome::Queued => return,
            EnqueueOutcome::Refused(packet) => (packet, AdHocDropCause::QueueFull),
            EnqueueOutcome::Displaced(packet) => (packet, AdHocDropCause::Displaced),
        };
        self.lose(node, lost.payload, cause, now);
    }

    pub(super) fn lose(&mut self, node: u32, load: Load<T>, cause: AdHocDropCause, now: Time) {
        match load {
            Load::Data(data) => self.drop(node, *data, cause, now),
            Load::Routing(..) | Load::Channel(..) | Load::Arp(_) => {
                self.nodes[node as usize].counters.routing_lost += 1;
            }
        }
    }

    pub(super) fn drop(&mut self, node: u32, data: Datagram<T>, cause: AdHocDropCause, now: Time) {
        self.nodes[node as usize].counters.dropped += 1;
        self.events.push_back(AdHocEvent::Dropped { time: now, node, packet: data.packet, cause });
    }

    pub(super) fn deliver(&mut self, node: u32, data: Datagram<T>, now: Time) {
        self.nodes[node as usize].counters.delivered += 1;
        self.events.push_back(AdHocEvent::Delivered { time: now, packet: data.packet, trip: data.trip });
    }
}
