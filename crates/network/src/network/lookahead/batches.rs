//! Hosts that take their packets in batches.
//!
//! Other nodes notice a host only when a packet of the host has crossed the host's link, whose propagation
//! delay is known. So a host with one link may take each packet almost that delay late: nothing that the host
//! sends is late at the next node (`LinkHop::slack`). In a large network, the memory of a host has left the
//! caches by the host's next packet. So a driver plays each host for several packets at once. In the terms of
//! parallel simulation the delay is the host's *lookahead* (Chandy and Misra 1979).
//!
//! The driver plays a host at the true times of its packets and timers. A packet of a batch has the same
//! effect as a packet that is played alone: all results are the same.

use super::{HOST, Network};
use crate::hop::Mark;
use crate::observer::Arrival;
use crate::payload::Payload;
use cogtcp_link::Link;
use cogtcp_units::Time;

/// 50 ms, in nanoseconds. A longer batch gains nothing, and a run looks at cancellation only between batches.
const LONGEST_SLACK: u64 = 50_000_000;

impl<P: Payload> Network<P> {
    /// Whether the host at the end of `direction` may take its packets in batches: batches save time and
    /// change no result. `direction` is the only link direction to that host, and the reverse direction the
    /// only one from there; neither has a radio. To be called when all streams are there.
    pub fn allows_batches(&self, direction: u32) -> bool {
        let is_plain = |direction: u32| {
            let link = &self.directions[direction as usize];
            link.is_plain() && !link.is(Mark::Settles)
        };
        self.agenda.is_large()
            && slack(&self.directions[(direction ^ 1) as usize]) > 0
            // Messages of nodes that tell sources of lost packets are counted as they reach their host
            // (`forward`). `take_from_batch` counts none.
            && !self.notices.has_streams()
            && self.air.is_none()
            && self.directions[direction as usize].next == HOST
            && is_plain(direction)
            && is_plain(direction ^ 1)
    }

    /// Lets the host at the end of `direction` take its packets in batches, as
    /// [`allows_batches`](Self::allows_batches) has allowed. No packet is under way yet. From then on
    /// [`Due::Batch`](crate::Due::Batch) names the host, and the driver calls
    /// [`take_from_batch`](Self::take_from_batch) and [`end_batch`](Self::end_batch).
    pub fn begin_batches(&mut self, direction: u32) {
        self.directions[direction as usize].slack = slack(&self.directions[(direction ^ 1) as usize]);
        self.looks.add_host(direction);
    }

    /// When the next packet arrives from `direction`, whose host takes its packets in batches;
    /// [`Time::MAX`]: none is under way.
    #[inline]
    pub fn next_in_batch(&self, direction: u32) -> Time {
        self.directions[direction as usize].next_arrival().unwrap_or(Time::MAX)
    }

    /// Takes the packet that arrives `at` that time `into` the driver's place for packets.
    #[inline]
    pub fn take_from_batch(&mut self, at: Time, direction: u32, into: &mut Arrival<P>) {
        self.hops += 1;
        let lost = self.directions[direction as usize].arrive_into(at, &mut into.frame);
        debug_assert!(lost.is_none(), "a plain link loses nothing");
        (into.at, into.direction) = (at, Some(direction));
    }

    /// Ends the batch that was due, and schedules the next if packets are under way.
    #[inline]
    pub fn end_batch(&mut self, direction: u32) {
        let link = &mut self.directions[direction as usize];
        let next = link.next_arrival();
        link.set(Mark::Scheduled, next.is_some());
        let slack = link.slack;
        self.agenda.replace_batch(next.map(|next| late(next, slack)), direction);
    }

    /// Schedules the arrival of the first packet of a link direction, or the batch that takes the packet.
    #[inline]
    pub(in crate::network) fn schedule_arrival(&mut self, since: Time, time: Time, direction: u32) {
        let link = &mut self.directions[direction as usize];
        if link.slack == 0 {
            return self.agenda.push_arrival(since, time, direction);
        }
        // A batch is scheduled already. If the host has taken its packets since, the batch comes early and is
        // scheduled again.
        if !link.put(Mark::Scheduled) {
            self.agenda.push_batch(late(time, link.slack), direction);
        }
    }
}

/// How late a host that sends on `link` alone may take a packet, in nanoseconds.
fn slack<P: Payload>(link: &Link<P>) -> u32 {
    // One nanosecond less: the first packet that the host sends reaches the next node after the batch.
    link.delay().as_nanos().saturating_sub(1).min(LONGEST_SLACK) as u32
}

/// The latest time at which a host may take a packet that arrives at `time`.
fn late(time: Time, slack: u32) -> Time {
    // Saturating: at rate 0 a packet arrives at the end of all times.
    Time::from_nanos(time.as_nanos().saturating_add(u64::from(slack)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_link::{LinkConfig, LinkPayload};
    use cogtcp_units::{Duration, Rate};

    #[derive(Clone, Copy, Debug, Default)]
    struct Nothing;
    impl LinkPayload for Nothing {}
    impl Payload for Nothing {
        fn transit(&self) -> crate::Transit {
            crate::Transit::default()
        }
        fn set_transit(&mut self, _: crate::Transit) {}
    }

    /// What a host sends late reaches the next node after the batch: a batch is a nanosecond shorter than the
    /// link's delay, and at most 50 ms.
    #[test]
    fn a_batch_is_shorter_than_the_delay() {
        let of = |nanos| {
            let config = LinkConfig::new(Rate::ZERO, Duration::from_nanos(nanos));
            slack(&Link::<Nothing>::plain(&config))
        };
        assert_eq!([0, 1, 2, 10_000_000].map(of), [0, 0, 1, 9_999_999]);
        assert_eq!([50_000_000, 50_000_001, 90_000_000].map(of), [49_999_999, 50_000_000, 50_000_000]);
        assert_eq!((late(Time::from_nanos(5), 7), late(Time::MAX, 7)), (Time::from_nanos(12), Time::MAX));
    }
}
