//! From a packet with a next hop to one with an address: ARP over the medium, and packets that go one after
//! the other.

use super::AdHocNetwork;
use crate::arp::{ARP_BYTES, Resolution};
use crate::event::AdHocDropCause;
use crate::packet::{ArpMessage, Load, RoutedPacket};
use cogtcp_routing::{AfterFailure, LostPacket, NodeAddress};
use cogtcp_units::Time;
use cogtcp_wireless::{Destination, InterfaceId, QueuedPacket, Surroundings};

/// A packet that waits for the address of its next hop, and the interface that is to send it.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    pub(crate) at: InterfaceId,
    pub(crate) packet: QueuedPacket<Load<T>>,
}

impl<T: Clone, S: Surroundings> AdHocNetwork<T, S> {
    /// Puts a packet for a neighbour into an interface queue, once the address is known.
    pub(super) fn resolve(
        &mut self,
        node: u32,
        next: u32,
        at: InterfaceId,
        packet: QueuedPacket<Load<T>>,
        now: Time,
    ) {
        let Some(arp) = &mut self.nodes[node as usize].arp else { return self.put(node, at, packet, now) };
        match arp.resolve(now, next, Waiting { at, packet }) {
            Resolution::Send(waiting) => self.put(node, at, waiting.packet, now),
            Resolution::Held(lost) => {
                if let Some(lost) = lost {
                    self.lose(node, lost.packet.payload, AdHocDropCause::ArpFull, now);
                }
                self.send_requests(node, now);
            }
            Resolution::Gone(packets) => self.lose_neighbor(node, next, packets, now),
        }
    }

    fn send_requests(&mut self, node: u32, now: Time) {
        while let Some(target) = self.nodes[node as usize].arp.as_mut().and_then(|arp| arp.poll_request(now))
        {
            self.nodes[node as usize].counters.arp += 1;
            let load = Load::Arp(ArpMessage { target, is_reply: false });
            self.broadcast(node, None, ARP_BYTES, load, now);
        }
    }

    /// Nobody told the address of a neighbour: routing may hear of it as of a failed link.
    fn lose_neighbor(&mut self, node: u32, neighbor: u32, packets: Vec<Waiting<T>>, now: Time) {
        let there = &mut self.nodes[node as usize];
        let breaks_link = there.arp.as_ref().is_some_and(crate::ArpTable::breaks_link);
        for waiting in packets {
            let load = waiting.packet.payload;
            let routing = &mut self.nodes[node as usize].routing;
            let address = NodeAddress::new(neighbor);
            let lost = match &load {
                Load::Data(data) => Some(LostPacket::Data(data.seen())),
                Load::Routing(packet, _) => Some(LostPacket::Routing(packet)),
                Load::Channel(..) | Load::Arp(_) => None,
            };
            let after =
                lost.filter(|_| breaks_link).map(|lost| routing.handle_link_failure(now, address, lost));
            match (load, after) {
                (Load::Data(data), Some(AfterFailure::Hold)) => self.hold(node, data, now),
                (load, _) => self.lose(node, load, AdHocDropCause::ArpFailed, now),
            }
        }
    }

    /// Hears a request or a reply.
    pub(super) fn hear_arp(&mut self, node: u32, from: u32, message: ArpMessage, now: Time) {
        let Some(arp) = &mut self.nodes[node as usize].arp else { return };
        let is_for_this = message.target == node;
        for waiting in arp.hear(now, from, message.is_reply, is_for_this) {
            self.put(node, waiting.at, waiting.packet, now);
        }
        if is_for_this && !message.is_reply {
            // Where the request came from, and to the address that it names.
            let (own, peer) = (self.nodes[node as usize].interfaces, self.nodes[from as usize].interfaces);
            let single = own.control == own.receiver;
            let (at, to) =
                if single { (own.transmitter, peer.receiver) } else { (own.control, peer.control) };
            let channel = if single { self.known_channel(node, from) } else { None };
            let payload = Load::Arp(ArpMessage { target: from, is_reply: true });
            self.nodes[node as usize].counters.arp += 1;
            self.count_routing(node, ARP_BYTES);
            let to = Destination::Interface(to);
            self.put(
                node,
                at,
                QueuedPacket { payload, bytes: ARP_BYTES, to, channel, goes_first: false },
                now,
            );
        }
    }

    /// A route was found: the packets that waited for it go, at once or one after the other.
    pub(super) fn release(&mut self, node: u32, destination: NodeAddress, now: Time) {
        let interval = self.config.release_interval;
        // Taken out first: `forward` may hold some of them again.
        for (number, mut data) in (0..).zip(self.nodes[node as usize].buffer.take(destination)) {
            data.route.waited += now - data.since;
            if number == 0 || interval.is_zero() {
                self.forward(node, data, now);
                continue;
            }
            data.since = now;
            let due = now + interval * number;
            let released = &mut self.nodes[node as usize].released;
            let place = released.partition_point(|(other, _)| *other <= due);
            released.insert(place, (due, data));
        }
    }

    /// Does what is due of both.
    pub(super) fn continue_resolution(&mut self, node: u32, now: Time) {
        let index = node as usize;
        while let Some((due, _)) = self.nodes[index].released.front()
            && *due <= now
        {
            if let Some((_, data)) = self.nodes[index].released.pop_front() {
                self.send_released(node, data, now);
            }
        }
        let Some(arp) = &mut self.nodes[index].arp else { return };
        for (neighbor, packets) in arp.handle_timeout(now) {
            self.lose_neighbor(node, neighbor, packets, now);
        }
        self.send_requests(node, now);
    }

    fn send_released(&mut self, node: u32, mut data: Box<RoutedPacket<T>>, now: Time) {
        data.route.waited += now - data.since;
        self.forward(node, data, now);
    }
}
