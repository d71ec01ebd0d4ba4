//! What routing says: its events, the messages that it sends, and over which channels they go.

use super::{AdHocNetwork, Slot};
use crate::config::Radios;
use crate::event::{AdHocDropCause, AdHocEvent, SearchOutcome};
use crate::packet::{ANNOUNCEMENT_BYTES, CHANNEL_BYTES, Load};
use cogtcp_crosslayer::ChannelId;
use cogtcp_routing::{HostUpdate, NodeAddress, RoutingEvent, RoutingPacket};
use cogtcp_units::Time;
use cogtcp_wireless::{Destination, QueuedPacket, Surroundings};
use std::sync::Arc;

impl<T: Clone, S: Surroundings> AdHocNetwork<T, S> {
    /// Follows up on what routing has said and done, until it has nothing more to say, and sets its timer.
    pub(crate) fn settle(&mut self, node: u32, now: Time) {
        let index = node as usize;
        loop {
            while let Some(packet) = self.nodes[index].routing.poll_transmit(now) {
                self.send_routing(node, packet, now);
            }
            let Some(event) = self.nodes[index].routing.poll_event() else { break };
            self.handle_routing_event(node, event, now);
        }
        let node_state = &self.nodes[index];
        let due = node_state.routing.poll_timeout().min(node_state.buffer.next_change());
        let due = due.min(node_state.announces).min(node_state.next_resolution());
        self.set_timer(Slot::Node(node), due);
    }

    pub(super) fn handle_routing_event(&mut self, node: u32, event: RoutingEvent, now: Time) {
        let index = node as usize;
        let time = now;
        let ended = |destination: NodeAddress, outcome| AdHocEvent::SearchEnded {
            time,
            node,
            destination: destination.number(),
            outcome,
        };
        match event {
            RoutingEvent::DiscoveryStarted { destination } => {
                let destination = destination.number();
                self.events.push_back(AdHocEvent::SearchStarted { time, node, destination });
            }
            RoutingEvent::RequestSent { .. } => {}
            RoutingEvent::RouteFound { destination, hops, took } => {
                self.events.push_back(ended(destination, SearchOutcome::Found { hops, took }));
                self.release(node, destination, now);
            }
            RoutingEvent::DiscoveryFailed { destination } => {
                self.events.push_back(ended(destination, SearchOutcome::Failed));
                for data in self.nodes[index].buffer.take(destination) {
                    self.drop(node, *data, AdHocDropCause::NotFound, now);
                }
            }
            RoutingEvent::RouteChanged { destination, to, .. } => {
                let (destination, next) = (destination.number(), to.number());
                self.events.push_back(AdHocEvent::RouteChanged { time, node, destination, next });
            }
            RoutingEvent::RouteLost { destination, cause } => {
                let destination = destination.number();
                self.events.push_back(AdHocEvent::RouteLost { time, node, destination, cause });
            }
            // A location service that knows every place and costs nothing.
            RoutingEvent::LocationWanted { node: wanted } => {
                if (wanted.number() as usize) < self.nodes.len() {
                    let position = self.medium.position(wanted.number(), now);
                    let update = HostUpdate::Location { node: wanted, position };
                    self.nodes[index].routing.handle_host_update(now, update);
                }
            }
            RoutingEvent::NeighborGone { neighbor } => {
                if let Some(peer) = self.nodes.get(neighbor.number() as usize) {
                    let (at, to) = (self.nodes[index].interfaces.transmitter, peer.interfaces.receiver);
                    self.clear_queue(node, at, to, now);
                }
            }
            RoutingEvent::ChannelWanted { channel } => {
                let channel = self.channels.id(channel);
                self.want_channel(node, channel, now);
            }
        }
    }

    pub(super) fn send_routing(&mut self, node: u32, packet: RoutingPacket, now: Time) {
        let interfaces = self.nodes[node as usize].interfaces;
        let (bytes, to) = (packet.bytes, packet.to);
        let said = packet.channel.map(|channel| self.channels.id(channel));
        let packet = Arc::new(packet);
        let single = self.config.radios == Radios::Single;
        if to.is_broadcast() {
            let listens = self.is_signalled().then_some(self.nodes[node as usize].repository.channel());
            let bytes = if listens.is_some() { bytes + CHANNEL_BYTES } else { bytes };
            return self.broadcast(node, said, bytes, Load::Routing(packet, listens), now);
        }
        let load = Load::Routing(packet, None);
        let next = to.number();
        let peer = self.nodes[next as usize].interfaces;
        // Over the control channel, if there is one; else where the neighbour listens. A channel that the
        // packet names (SEARCH's requests) is one that it is about: a neighbour with one receiver would not
        // hear it there.
        let (at, to_interface, channel) = if single {
            (interfaces.transmitter, peer.receiver, self.known_channel(node, next))
        } else {
            (interfaces.control, peer.control, None)
        };
        let to = Destination::Interface(to_interface);
        self.count_routing(node, bytes);
        let outgoing = QueuedPacket { payload: load, bytes, to, channel, goes_first: true };
        self.resolve(node, next, at, outgoing, now);
    }

    /// To all who hear it: on the control channel; without one on the channel that is named, or on every one
    /// in turn.
    pub(crate) fn broadcast(
        &mut self,
        node: u32,
        said: Option<ChannelId>,
        bytes: u32,
        load: Load<T>,
        now: Time,
    ) {
        let interfaces = self.nodes[node as usize].interfaces;
        let single = self.config.radios == Radios::Single;
        let to = Destination::Broadcast;
        // ARP is no routing, and waits behind data (ns-2: `PriQueue::recv`).
        let goes_first = !matches!(load, Load::Arp(_));
        // The control radio serves the control channel; only another one is named.
        let said = said.filter(|channel| single || Some(*channel) != self.channels.control());
        if !single && said.is_none() {
            self.count_routing(node, bytes);
            let packet = QueuedPacket { payload: load, bytes, to, channel: None, goes_first };
            return self.put(node, interfaces.control, packet, now);
        }
        let targets: Vec<ChannelId> = match said {
            Some(channel) => vec![channel],
            None => self.channels.data().collect(),
        };
        for target in targets {
            self.count_routing(node, bytes);
            let packet = QueuedPacket { payload: load.clone(), bytes, to, channel: Some(target), goes_first };
            self.put(node, interfaces.transmitter, packet, now);
        }
    }

    pub(super) fn count_routing(&mut self, node: u32, bytes: u32) {
        let counters = &mut self.nodes[node as usize].counters;
        counters.routing_sent += 1;
        counters.routing_bytes += u64::from(bytes);
    }

    /// A node says on which channel it listens, and will say so again.
    pub(super) fn announce(&mut self, node: u32, now: Time) {
        self.nodes[node as usize].counters.announcements += 1;
        let channel = self.nodes[node as usize].repository.channel();
        self.plan_announcement(node, now + Self::ANNOUNCEMENT_INTERVAL);
        self.broadcast(node, None, ANNOUNCEMENT_BYTES, Load::Channel(node, channel), now);
    }
}
