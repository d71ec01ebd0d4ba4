//! The route of a host's packet: from its source into a queue or the buffer, delivered or dropped.

use super::AdHocNetwork;
use crate::event::{AdHocDropCause, AdHocEvent};
use crate::packet::{HostPacket, Load, RouteRecord, RoutedPacket};
use cogtcp_crosslayer::ChannelId;
use cogtcp_routing::{Forwarding, NodeAddress};
use cogtcp_units::Time;
use cogtcp_wireless::{Destination, EnqueueOutcome, InterfaceId, QueuedPacket, Surroundings};

impl<T: Clone, S: Surroundings> AdHocNetwork<T, S> {
    /// A host sends a packet.
    ///
    /// # Panics
    ///
    /// If its source is no node.
    pub fn offer(&mut self, now: Time, packet: HostPacket<T>) {
        let node = packet.source;
        self.nodes[node as usize].counters.originated += 1;
        let data = Box::new(RoutedPacket::new(now, packet));
        self.record_route(RouteRecord::START, node, data.route.hash);
        self.forward(node, data, now);
        self.settle(node, now);
        self.take_events();
    }

    /// From now on the routes of packets are kept, for [`recorded_route`](Self::recorded_route).
    pub fn record_routes(&mut self) {
        self.recorded.get_or_insert_default();
    }

    #[inline]
    pub(super) fn record_route(&mut self, before: u64, node: u32, hash: u64) {
        if let Some(recorded) = &mut self.recorded {
            recorded.entry(hash).or_insert((before, node));
        }
    }

    /// The nodes of the route [`RouteRecord::hash`], if they are kept.
    pub fn recorded_route(&self, hash: u64) -> Vec<u32> {
        let (mut route, mut at) = (Vec::new(), hash);
        // `RouteRecord::START` is no route's hash: the walk ends there.
        while let Some((before, node)) = self.recorded.as_ref().and_then(|recorded| recorded.get(&at)) {
            route.push(*node);
            at = *before;
        }
        route.reverse();
        route
    }

    /// Routing says what becomes of a packet that is at `node`. To be followed by [`settle`](Self::settle).
    pub(super) fn forward(&mut self, node: u32, mut data: Box<RoutedPacket<T>>, now: Time) {
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
    pub(super) fn hold(&mut self, node: u32, mut data: Box<RoutedPacket<T>>, now: Time) {
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
        data: Box<RoutedPacket<T>>,
        now: Time,
    ) {
        let to = Destination::Interface(self.nodes[next as usize].interfaces.receiver);
        let at = self.nodes[node as usize].interfaces.transmitter;
        let bytes = data.packet.bytes;
        let outgoing = QueuedPacket { payload: Load::Data(data), bytes, to, channel, goes_first: false };
        self.resolve(node, next, at, outgoing, now);
    }

    /// Puts a packet into an interface queue. What finds no room is gone.
    pub(crate) fn put(&mut self, node: u32, at: InterfaceId, packet: QueuedPacket<Load<T>>, now: Time) {
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

    pub(super) fn drop(&mut self, node: u32, data: RoutedPacket<T>, cause: AdHocDropCause, now: Time) {
        self.nodes[node as usize].counters.dropped += 1;
        self.events.push_back(AdHocEvent::Dropped { time: now, node, packet: data.packet, cause });
    }

    pub(super) fn deliver(&mut self, node: u32, data: RoutedPacket<T>, now: Time) {
        self.nodes[node as usize].counters.delivered += 1;
        self.events.push_back(AdHocEvent::Delivered { time: now, packet: data.packet, route: data.route });
    }
}
