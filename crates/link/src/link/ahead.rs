//! Packets that are handed on before they arrive, and packets that are offered before their time.

use super::{Link, OfferOutcome};
use crate::frame::{Frame, LinkPayload};
use cogtcp_units::Time;

/// A packet that goes on the air, or is there.
#[derive(Clone, Copy, Debug)]
pub struct Going {
    /// When it arrives.
    pub arrival: Time,
    /// How long it has waited.
    waited: u64,
    /// How long its transmission takes.
    duration: u64,
    size: u32,
}

impl<P: LinkPayload> Frame<P> {
    /// The packet as the next link gets it.
    #[inline]
    pub fn handed_on(&self, going: &Going) -> Self {
        Self { waited: self.waited + going.waited, ..*self }
    }
}

// All of this is for plain links ([`Link::is_plain`]) that nothing changes.
impl<P: LinkPayload> Link<P> {
    /// The first packet, if its transmission begins by `now` or has begun.
    #[expect(clippy::inline_always, reason = "every hop asks")]
    #[inline(always)]
    pub fn first_going(&self, now: Time) -> Option<Going> {
        if self.ring.len() == 0 {
            return None;
        }
        let first = self.ring.get(0);
        if self.begun > 0 {
            let (arrival, duration) = (Time::from_nanos(first.time), self.duration(first.wire));
            return Some(Going { arrival, waited: 0, duration, size: first.wire });
        }
        let start = first.time.max(self.free_at);
        (start <= now.as_nanos()).then(|| self.going(start, start - first.time, first.wire))
    }

    /// When a packet of `size` bytes arrives that goes on the air at once; `None`: others are before it.
    #[expect(clippy::inline_always, reason = "every hop asks")]
    #[inline(always)]
    pub fn new_going(&self, now: Time, size: u32) -> Option<Going> {
        if self.ring.len() > 0 || self.free_at > now.as_nanos() {
            return None;
        }
        Some(self.going(now.as_nanos(), 0, size))
    }

    #[expect(clippy::inline_always, reason = "every hop asks")]
    #[inline(always)]
    fn going(&self, start: u64, waited: u64, size: u32) -> Going {
        let duration = self.duration(size);
        let arrival = start.saturating_add(duration).saturating_add(self.delay);
        Going { arrival: Time::from_nanos(arrival), waited, duration, size }
    }

    /// Removes the first packet, which has been handed on, and counts it as delivered.
    #[expect(clippy::inline_always, reason = "every hop asks")]
    #[inline(always)]
    pub fn pass_first(&mut self, going: Going) {
        self.ring.skip();
        if self.begun > 0 {
            self.begun -= 1;
        } else {
            self.waiting_bytes -= u64::from(going.size);
            self.counters.waited += going.waited;
            self.begin_going(going);
        }
        self.last_arrival = going.arrival.as_nanos();
        self.counters.delivered += 1;
    }

    /// Counts a packet as offered and delivered that has been handed on as soon as it was offered.
    #[expect(clippy::inline_always, reason = "every hop asks")]
    #[inline(always)]
    pub fn pass_new(&mut self, going: Going) {
        self.counters.offered += 1;
        self.begin_going(going);
        self.last_arrival = going.arrival.as_nanos();
        self.counters.delivered += 1;
    }

    /// Takes a packet before it arrives here, at `going.arrival`. Until then nobody else offers packets to
    /// this link. `has_entered`: the packet has been in the link before this one. `None`: the queue will be
    /// full, and nothing is counted.
    #[expect(clippy::inline_always, reason = "every hop asks")]
    #[inline(always)]
    pub fn take_ahead(&mut self, going: Going, frame: &Frame<P>, has_entered: bool) -> Option<OfferOutcome> {
        let at = going.arrival.as_nanos();
        if self.ring.len() > self.begun || self.free_at > at {
            return self.queue_ahead(going, frame, has_entered);
        }
        self.counters.offered += 1;
        let first = self.begun == 0;
        let here = self.going(at, 0, frame.wire);
        self.begun += 1;
        self.begin_going(here);
        let waited = frame.waited + going.waited;
        let taken = self.ring.push(frame);
        (taken.time, taken.waited) = (here.arrival.as_nanos(), waited);
        if !has_entered {
            taken.packet.enter();
        }
        taken.packet.enter();
        Some(if first {
            let since = Time::from_nanos(self.last_arrival.max(at));
            OfferOutcome::Schedule { at: here.arrival, since }
        } else {
            OfferOutcome::Taken
        })
    }

    #[cold]
    #[inline(never)]
    fn queue_ahead(&mut self, going: Going, frame: &Frame<P>, has_entered: bool) -> Option<OfferOutcome> {
        let at = going.arrival.as_nanos();
        self.catch_up(at);
        let waiting = u64::from(self.ring.len() - self.begun);
        if (waiting > 0 || self.free_at > at)
            && !self.limits.has_room(waiting, self.waiting_bytes + u64::from(frame.wire))
        {
            return None;
        }
        let mut frame = *frame;
        frame.waited += going.waited;
        if !has_entered {
            frame.packet.enter();
        }
        Some(self.offer_copy(going.arrival, &frame))
    }

    /// Returns since when a packet that is handed on counts as the first of this link.
    #[expect(clippy::inline_always, reason = "every hop asks")]
    #[inline(always)]
    pub fn going_since(&self, going: &Going) -> Time {
        let start = going.arrival.as_nanos() - self.delay - going.duration;
        Time::from_nanos(start.max(self.last_arrival))
    }

    /// When the first packet arrives, whether it has begun or not, and since when it is the first.
    #[inline]
    pub fn first_arrival(&self) -> Option<(Time, Time)> {
        let going = self.first_going(Time::MAX)?;
        Some((going.arrival, self.going_since(&going)))
    }

    /// The packet at this position, if there is one.
    #[inline]
    pub fn waiting_at(&self, position: u32) -> Option<&Frame<P>> {
        (position < self.ring.len()).then(|| self.ring.get(position))
    }

    /// Plays what has begun by `now`.
    #[cold]
    #[inline(never)]
    pub fn catch_up_to(&mut self, now: Time) {
        self.catch_up(now.as_nanos());
    }

    /// Offers a packet to a link that has caught up and from which nothing goes on at once
    /// ([`new_going`](Self::new_going)).
    #[inline]
    pub fn offer_behind(&mut self, now: Time, frame: &Frame<P>) -> OfferOutcome {
        if self.ring.len() == self.begun && self.free_at <= now.as_nanos() {
            return self.offer_copy(now, frame);
        }
        self.counters.offered += 1;
        self.enqueue(now.as_nanos(), frame)
    }

    #[expect(clippy::inline_always, reason = "every hop asks")]
    #[inline(always)]
    fn duration(&self, size: u32) -> u64 {
        if size == self.last_size { self.last_duration } else { self.other_duration(size) }
    }

    #[cold]
    #[inline(never)]
    fn other_duration(&self, size: u32) -> u64 {
        self.rate.transmission_time(u64::from(size)).as_nanos()
    }

    #[expect(clippy::inline_always, reason = "every hop asks")]
    #[inline(always)]
    fn begin_going(&mut self, going: Going) {
        (self.last_size, self.last_duration) = (going.size, going.duration);
        self.free_at = going.arrival.as_nanos() - self.delay;
        self.counters.carried_bytes += u64::from(going.size);
    }
}

#[cfg(test)]
mod tests;
