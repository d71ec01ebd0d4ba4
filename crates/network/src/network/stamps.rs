//! Nodes on the route that write into packets.

use super::Network;
use crate::hop::Mark;
use crate::payload::{Payload, StreamId};
use cogtcp_crosslayer::StampingHop;
use cogtcp_link::Frame;
use cogtcp_units::Time;

impl<P: Payload> Network<P> {
    /// The nodes on the route of `stream` write into its packets ([`Payload::stamp`]). To be called before
    /// the network begins. Other streams over the same links pay one look per hop; streams elsewhere pay
    /// nothing.
    pub fn stamp(&mut self, stream: StreamId) {
        let directions: Vec<u32> = self.route(stream).collect();
        for direction in directions {
            let link = &mut self.directions[direction as usize];
            // An arrival asks this flag alone: links without stamps pay nothing more.
            link.set(Mark::Settles, true);
            let hop = StampingHop::new(link.available_rate(), link.delay(), false);
            self.stamping.entry(direction).or_insert(hop);
        }
        let crosses_air = self.crosses_air(stream);
        if let Some(air) = self.air.as_mut().filter(|_| crosses_air) {
            air.stamp();
        }
    }

    /// True if the node of the ad hoc network has passed a stamped packet on since `since`.
    pub fn has_stamped(&self, node: usize, since: Time) -> bool {
        self.air.as_ref().is_some_and(|air| air.has_stamped(node as u32, since))
    }

    /// The frame has passed `direction`, whose node writes into it if that is asked for.
    #[inline]
    pub(super) fn stamp_at(&mut self, now: Time, direction: u32, frame: &mut Frame<P>) {
        if self.stamping.is_empty() {
            return;
        }
        if let Some(hop) = self.stamping.get_mut(&direction) {
            let link = &self.directions[direction as usize];
            // Read at each packet: queue and rate change while the run goes on.
            hop.room = link.room(frame.size());
            hop.rate = link.channel_rate();
            frame.packet.stamp(now, None, hop);
        }
    }
}
