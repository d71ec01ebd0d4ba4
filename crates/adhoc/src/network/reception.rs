//! What the medium reports: frames that arrived, packets that the MAC is done with, links that failed.

use super::AdHocNetwork;
use crate::config::LinkFailure;
use crate::event::{AdHocDropCause, AdHocEvent};
use crate::packet::Load;
use cogtcp_routing::{AfterFailure, HostUpdate, LostPacket, NodeAddress};
use cogtcp_units::{Time, prefetch};
use cogtcp_wireless::{Destination, InterfaceId, MediumEvent, QueuedPacket, Surroundings};

impl<T: Clone, S: Surroundings> AdHocNetwork<T, S> {
    /// Takes in what the medium reports.
    pub(super) fn take_events(&mut self) {
        while let Some(event) = self.medium.poll_event() {
            self.prefetch_next();
            match event {
                MediumEvent::Received { time, at, from, first_in_line, payload, .. } => {
                    let (node, from) = (self.owners[at.0 as usize], self.owners[from.0 as usize]);
                    self.receive(node, from, payload, first_in_line, time);
                }
                MediumEvent::Sent { time, from, payload, service, .. } => {
                    if let Load::Data(_) = payload {
                        let node = self.owners[from.0 as usize];
                        self.events.push_back(AdHocEvent::Served { time, node, service });
                    }
                }
                MediumEvent::Failed { time, from, to, payload, service, cause, arrived, .. } => {
                    let node = self.owners[from.0 as usize];
                    if let Load::Data(_) = payload {
                        self.events.push_back(AdHocEvent::Served { time, node, service });
                    }
                    // A broadcast does not fail: nobody acknowledges it.
                    if let Destination::Interface(to) = to {
                        let cause = (!arrived).then_some(AdHocDropCause::of(cause));
                        self.link_failed(node, from, to, payload, cause, time);
                    }
                }
                MediumEvent::OnAir { .. } => self.record_frame(&event),
                MediumEvent::AttemptFailed { from, cause, .. } if self.config.medium.reports_frames => {
                    self.record_failure(from, cause);
                }
                MediumEvent::AttemptFailed { .. }
                | MediumEvent::Exchange { .. }
                | MediumEvent::QueueFree { .. } => {}
            }
        }
    }

    /// Asks for the memory of who receives the next frames: what is broadcast comes to several nodes, one
    /// after the other.
    #[inline]
    fn prefetch_next(&self) {
        /// Cache lines that a routing message touches of a node, and of its routing.
        const LINES: (usize, usize) = (4, 5);
        /// So many events before, each after what it needs itself: a copy takes less time than memory.
        const NODES_BEFORE: usize = 4;
        const ROUTING_BEFORE: usize = 2;
        let receiver = |place| match self.medium.upcoming_event(place) {
            Some(MediumEvent::Received { at, .. }) => Some(&self.nodes[self.owners[at.0 as usize] as usize]),
            _ => None,
        };
        if let Some(node) = receiver(NODES_BEFORE) {
            prefetch(node, LINES.0);
        }
        if let Some(node) = receiver(ROUTING_BEFORE) {
            prefetch(&*node.routing, LINES.1);
        }
        if let Some(MediumEvent::Received { at, payload: Load::Routing(packet, _), .. }) =
            self.medium.upcoming_event(0)
        {
            self.nodes[self.owners[at.0 as usize] as usize].routing.prefetch(packet);
        }
    }

    pub(super) fn receive(&mut self, node: u32, from: u32, load: Load<T>, first_in_line: Time, now: Time) {
        self.note_heard(node, from, now);
        match load {
            Load::Data(mut data) => {
                data.route.hops = data.route.hops.saturating_add(1);
                let before = data.route.hash;
                data.route.visit(node);
                self.record_route(before, node, data.route.hash);
                data.route.waited += first_in_line.saturating_since(data.since);
                data.previous = Some(from);
                if let Some((stamper, hops)) = &mut self.stamping {
                    let spent = now.saturating_since(data.since);
                    stamper(&mut data.packet.payload, now, spent, &mut hops[from as usize]);
                }
                // At its destination the time to live does not matter.
                if data.packet.destination == node {
                    return self.deliver(node, *data, now);
                }
                // RFC 1812 section 5.3.1.
                if data.packet.time_to_live <= 1 {
                    return self.drop(node, *data, AdHocDropCause::Expired, now);
                }
                data.packet.time_to_live -= 1;
                self.nodes[node as usize].counters.relayed += 1;
                self.forward(node, data, now);
            }
            Load::Routing(packet, listens) => {
                let there = &mut self.nodes[node as usize];
                // Also of a copy: its sender may have changed channel since.
                if let Some(channel) = listens {
                    there.heard_channels.insert(from, channel);
                }
                there.counters.routing_received += 1;
                // A copy changes nothing: there is nothing to settle.
                if there.routing.is_copy(now, &packet) {
                    return;
                }
                there.routing.handle_message(now, &packet);
            }
            Load::Channel(who, channel) => {
                let there = &mut self.nodes[node as usize];
                there.heard_channels.insert(who, channel);
                let (neighbor, channel) = (NodeAddress::new(who), self.channels.number(channel));
                there.routing.handle_host_update(now, HostUpdate::NeighborChannel { neighbor, channel });
            }
            Load::Arp(message) => self.hear_arp(node, from, message, now),
        }
        self.settle(node, now);
    }

    /// The MAC gave a packet up: routing hears of it, and says what becomes of the others for that neighbour.
    pub(super) fn link_failed(
        &mut self,
        node: u32,
        at: InterfaceId,
        to: InterfaceId,
        load: Load<T>,
        cause: Option<AdHocDropCause>,
        now: Time,
    ) {
        let lost = self.owners[to.0 as usize];
        let neighbor = NodeAddress::new(lost);
        let there = &mut self.nodes[node as usize];
        there.counters.link_failures += 1;
        let after = match &load {
            Load::Data(data) => {
                there.routing.handle_link_failure(now, neighbor, LostPacket::Data(data.seen()))
            }
            Load::Routing(packet, _) => {
                there.routing.handle_link_failure(now, neighbor, LostPacket::Routing(packet))
            }
            // Nothing that routing knows of.
            Load::Channel(..) | Load::Arp(_) => AfterFailure::Lost,
        };
        match (load, cause, after) {
            (Load::Data(data), Some(_), AfterFailure::Hold) => self.hold(node, data, now),
            (load, Some(cause), _) => self.lose(node, load, cause, now),
            // It has arrived; only its ACK was lost.
            (_, None, _) => {}
        }
        if after == AfterFailure::Lost {
            // Before the MAC takes its next packet (`failure_told`): it must not be one for this neighbour.
            self.clear_queue(node, at, to, now);
        }
        self.medium.failure_told();
        self.note_unreached(node, lost, now);
        self.settle(node, now);
    }

    /// What waits for a neighbour that is gone leaves the interface queue. To be followed by `settle`.
    pub(super) fn clear_queue(&mut self, node: u32, at: InterfaceId, to: InterfaceId, now: Time) {
        let waits = |packet: &QueuedPacket<Load<T>>| {
            // What routing says to it stays: it may still be tried.
            packet.to == Destination::Interface(to) && matches!(packet.payload, Load::Data(_))
        };
        for packet in self.medium.remove_waiting(now, at, waits) {
            let Load::Data(mut data) = packet.payload else { continue };
            match self.config.on_link_failure {
                LinkFailure::Drop => self.drop(node, *data, AdHocDropCause::LinkFailed, now),
                LinkFailure::Reroute => {
                    data.route.waited += now.saturating_since(data.since);
                    self.forward(node, data, now);
                }
            }
        }
    }
}
