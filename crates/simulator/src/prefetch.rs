//! Asking for the memory of the next events before they come.
//!
//! With thousands of flows neither their connection ends nor their links stay in the caches. An event would
//! wait for line after line: a link, the packet that its ring points to, the connection end of the packet,
//! the state behind it. The heap of arrivals tells early enough which arrivals are next. An arrival that
//! rises to the fifth or the fourth level below the top has its link fetched. On the third level its first
//! packet is fetched, on the second the packet's connection end, on the first the state behind it. Nothing
//! here changes the run.

use crate::packet::Packet;
use crate::simulation::Simulation;
use cogtcp_hosts::{End, Flow, Owner};
use cogtcp_network::{Goal, Network, StreamId};

impl Simulation<'_> {
    /// Asks for what the arrivals will touch that the last event has brought nearer.
    #[inline(never)]
    pub(crate) fn prefetch_next(&self) {
        let network = &self.plane.network;
        let [fifth, fourth, third, second, first] = network.approaching();
        let directions = network.directions();
        for direction in [fifth, fourth].into_iter().flatten() {
            if let Some(direction) = directions.get(direction as usize) {
                direction.prefetch();
            }
        }
        if let Some(direction) = third.and_then(|direction| directions.get(direction as usize)) {
            direction.prefetch_first();
        }
        if let Some(goal) = second.and_then(|direction| network.goal(direction)) {
            match goal {
                Goal::Direction(direction) => directions[direction as usize].prefetch(),
                Goal::Host(stream) => self.prefetch_end(network, stream),
            }
        }
        if let Some(goal) = first.and_then(|direction| network.goal(direction)) {
            match goal {
                Goal::Direction(direction) => directions[direction as usize].prefetch_room(),
                Goal::Host(stream) => self.prefetch_depth(network, stream),
            }
        }
    }

    /// The flow of `stream`, and the end that the stream leads to; `None`: it is of no flow.
    #[inline]
    fn end_of(&self, stream: StreamId) -> Option<(&Flow, End)> {
        let Owner::Flow { flow, from, .. } = self.plane.recorder.streams.owner(stream) else {
            // A part's or the network's.
            return None;
        };
        Some((&self.flows[flow as usize], from.other()))
    }

    /// The connection end that `stream` leads to, and the link on which it answers.
    #[inline]
    fn prefetch_end(&self, network: &Network<Packet>, stream: StreamId) {
        // No flow's.
        let Some((flow, to)) = self.end_of(stream) else { return };
        flow.prefetch(to);
        if let Some(answers) = network.first_direction(flow.stream(to)) {
            network.directions()[answers as usize].prefetch();
            network.prefetch_account(answers);
        }
    }

    /// What that end points to.
    #[inline]
    fn prefetch_depth(&self, network: &Network<Packet>, stream: StreamId) {
        // No flow's.
        let Some((flow, to)) = self.end_of(stream) else { return };
        flow.prefetch_depth(to);
        if let Some(answers) = network.first_direction(flow.stream(to)) {
            network.directions()[answers as usize].prefetch_room();
        }
    }
}
