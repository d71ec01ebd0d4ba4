//! Packets between the hosts and an ad hoc network, whose ways have no links.

use super::Network;
use crate::adhoc::AdHoc;
use crate::packet::Packet;
use cogtcp_link::Frame;
use cogtcp_transport::Segment;
use cogtcp_units::Time;

impl Network {
    /// A packet whose way has no links: the ad hoc network takes it at this instant.
    #[inline(never)]
    pub(super) fn send_on_air(&mut self, now: Time, frame: Frame<Packet>) {
        if self.on_air.is_empty() {
            self.queue.push(now, AdHoc::sending());
        }
        self.on_air.push_back(frame);
    }

    /// The next packet that the air is to take.
    pub(crate) fn take_on_air(&mut self) -> Option<Frame<Packet>> {
        self.on_air.pop_front()
    }

    /// The air has brought a packet to its host.
    pub(crate) fn bring(&mut self, frame: Frame<Packet>, hops: u64) {
        self.hops += hops;
        self.arrived.push_back(frame);
    }

    /// Something stands on a board of a node of an ad hoc network.
    pub(crate) fn note_news(&mut self) {
        self.has_news = true;
    }

    /// Whether the air has brought something that is to be dealt with.
    #[inline]
    pub(crate) fn has_arrived(&self) -> bool {
        self.has_news || !self.arrived.is_empty()
    }

    /// The next packet that the air has brought.
    pub(crate) fn take_arrived(&mut self) -> Option<Frame<Packet>> {
        self.has_news = false;
        self.arrived.pop_front()
    }

    /// The TCP segment in a packet that is on its way; `None`: it carries something else.
    pub(crate) fn peek(&self, packet: &Packet) -> Option<Segment> {
        self.options.peek(packet)
    }

    /// The air lost a packet at the node called `node`.
    pub(crate) fn lose(&mut self, now: Time, frame: &Frame<Packet>, node: &str, cause: &str) {
        self.trace.lost(now, frame, node, cause);
        self.discard(frame);
    }
}
