//! Hosts that take their packets in batches.
//!
//! What a host does is seen by nobody else before its next packet has crossed its own link, whose propagation
//! delay is known. So a host with one link may take each packet up to that delay late: nothing that it sends
//! comes late to the next node ([`Link::slack`]). In a large network, where the memory of a host has left the
//! caches by its next packet, a driver plays each host for several packets at once. In the terms of parallel
//! simulation the delay is the host's *lookahead* (Chandy and Misra 1979).
//!
//! The driver plays a host at the true times of its packets, and all that the host waits for between them. A
//! packet of a batch arrives as it would by itself: all results are the same.

use super::{HOST, Network};
use crate::observer::Arrival;
use crate::payload::Payload;
use cogtcp_link::Link;
use cogtcp_units::Time;

/// 50 ms, in nanoseconds: so many packets that a longer batch would gain nothing, and so few that a run can
/// still be cancelled soon.
const LONGEST_SLACK: u64 = 50_000_000;

impl<P: Payload> Network<P> {
    /// Whether the host at the end of `direction` may take its packets in batches: it pays, and changes no
    /// result. `direction` is the only link direction to that host, and the reverse direction the only one
    /// from there; neither has a radio. To be called when all streams are there.
    pub fn allows_batches(&self, direction: u32) -> bool {
        let is_plain = |direction: u32| {
            let link = &self.directions[direction as usize];
            link.is_plain() && !link.settles
        };
        self.agenda.is_large()
            && slack(&self.directions[(direction ^ 1) as usize]) > 0
            // Nodes that tell sources of lost packets count what reaches hosts, in the order of time.
            && !self.notices.has_streams()
            && self.air.is_none()
            && self.directions[direction as usize].label == HOST
            && is_plain(direction)
            && is_plain(direction ^ 1)
    }

    /// The host at the end of `direction`, which [may](Self::allows_batches), takes its packets in batches, of
    /// which no packet is under way. From then on [`Due::Batch`](crate::Due::Batch) names the host, and the
    /// driver calls [`take_from_batch`](Self::take_from_batch) and [`end_batch`](Self::end_batch).
    pub fn begin_batches(&mut self, direction: u32) {
        self.directions[direction as usize].slack = slack(&self.directions[(direction ^ 1) as usize]);
    }

    /// Whether a stream that begins at `node` takes another first hop than `direction`.
    pub fn leaves_elsewhere(&self, node: usize, direction: u32) -> bool {
        let starts = self.ends.iter().zip(&self.route_starts);
        starts
            .into_iter()
            .any(|((from, _), start)| *from == node as u32 && self.routes[*start as usize] != direction)
    }

    /// When the next packet arrives at the host that takes its packets in batches.
    #[inline]
    pub fn next_in_batch(&self, direction: u32) -> Time {
        self.directions[direction as usize].next_arrival().unwrap_or(Time::MAX)
    }

    /// Takes this packet `into` the driver's place for packets.
    #[inline]
    pub fn take_from_batch(&mut self, at: Time, direction: u32, into: &mut Arrival<P>) {
        self.hops += 1;
        let lost = self.directions[direction as usize].arrive_into(at, &mut into.frame);
        debug_assert!(lost.is_none(), "a plain link loses nothing");
        (into.at, into.direction) = (at, Some(direction));
    }

    /// The batch that was due is over: the next is scheduled, if there are packets.
    #[inline]
    pub fn end_batch(&mut self, direction: u32) {
        let link = &mut self.directions[direction as usize];
        let next = link.next_arrival();
        link.has_batch = next.is_some();
        let slack = link.slack;
        self.agenda.replace_batch(next.map(|next| late(next, slack)), direction);
    }

    /// The first packet of a link direction is under way: its arrival is scheduled.
    #[inline]
    pub(super) fn schedule_arrival(&mut self, since: Time, time: Time, direction: u32) {
        let link = &mut self.directions[direction as usize];
        if link.slack == 0 {
            return self.agenda.push_arrival(since, time, direction);
        }
        // A batch that was scheduled for packets that the host has taken since comes early, which does no
        // harm.
        if !std::mem::replace(&mut link.has_batch, true) {
            self.agenda.push_batch(late(time, link.slack), direction);
        }
    }
}

/// How late a host may take a packet that sends on `link` alone.
fn slack<P: Payload>(link: &Link<P>) -> u32 {
    // One nanosecond less: what the host sends first arrives after its batch at the next node.
    link.delay().as_nanos().saturating_sub(1).min(LONGEST_SLACK) as u32
}

/// The latest time for a packet that arrives at `time`.
fn late(time: Time, slack: u32) -> Time {
    // Saturating: at rate 0 a packet arrives at the end of all times.
    Time::from_nanos(time.as_nanos().saturating_add(u64::from(slack)))
}
