//! A link that goes down: what waits and what is under way is destroyed at that instant.

use super::Link;
use crate::frame::{DropCause, Frame, LOST, LinkPayload};
use crate::gate::Flush;
use cogtcp_units::Time;

/// A packet that was destroyed when the link went down ([`DropCause::Silence`]).
#[derive(Clone, Copy, Debug)]
pub struct Flushed<P> {
    /// The packet.
    pub frame: Frame<P>,
    /// Whether it had left the transmitter: it counts as carried.
    pub was_carried: bool,
}

impl<P: LinkPayload> Link<P> {
    /// The next packet that was destroyed when the link went down: what was under way first, then what
    /// waited, each in its order.
    pub fn take_flushed(&mut self) -> Option<Flushed<P>> {
        self.flushed.as_mut()?.pop_front()
    }

    /// Destroys what `flush` says. What has arrived by `now` is not under way any more, although nobody has
    /// taken it yet.
    #[cold]
    pub(super) fn flush(&mut self, now: u64, flush: Flush) {
        let is_on_air = self.free_at > now && !self.last_lost && self.begun > 0;
        // The ring has no removal in its middle; a link goes down rarely enough to build it again.
        let mut all = vec![Frame::default(); self.ring.len() as usize];
        all.iter_mut().for_each(|frame| self.ring.pop(frame));
        let (under_way, waiting) = all.split_at(self.begun as usize);
        self.begun = 0;
        // With nothing under way it is a number that no frame has.
        let last = under_way.len().wrapping_sub(1);
        for (number, frame) in under_way.iter().enumerate() {
            if !flush.empties_wire() || frame.time <= now {
                self.ring.push(frame);
                self.begun += 1;
                continue;
            }
            let is_cut = is_on_air && number == last;
            if is_cut {
                // The transmitter is at it until its end all the same, as ns-2's is.
                self.cut_on_air(now);
            }
            self.destroy(*frame, frame.wire & LOST == 0 && !is_cut);
        }
        for frame in waiting {
            if flush.empties_queue() {
                self.destroy_waiting(now, *frame);
            } else {
                self.ring.push(frame);
            }
        }
        if flush.empties_queue() {
            self.waiting_bytes = 0;
            let waiting =
                self.managed.as_mut().map(|managed| managed.discipline.reset(Time::from_nanos(now)));
            waiting.into_iter().flatten().for_each(|frame| self.destroy_waiting(now, frame));
        }
        if let Some(managed) = &mut self.managed {
            // An arrival that was to be announced may be among what was destroyed.
            managed.has_arrival &= self.begun > 0;
        }
    }

    /// When the transmitter is free of a frame that a silence destroyed, which is over `now`: the driver then calls
    /// [`begin_first`](Self::begin_first). `None`: it is free, or a queue discipline asks for it.
    pub fn end_of_destroyed(&self, now: Time) -> Option<Time> {
        let is_busy = self.gate.transmits() && self.begun == 0 && self.free_at > now.as_nanos();
        (is_busy && self.managed.is_none()).then(|| self.free_at())
    }

    /// Begins to send what has waited meanwhile. Returns when the first packet arrives, and since when it has been
    /// the first; `None`: none waits, another silence does not let it out, or it has begun already.
    pub fn begin_first(&mut self, now: Time) -> Option<(Time, Time)> {
        if self.begun > 0 || self.ring.len() == 0 {
            return None;
        }
        let since = Time::from_nanos(self.ring.get(0).time.max(self.last_arrival));
        self.catch_up(now.as_nanos());
        self.next_arrival().map(|at| (at, since))
    }

    fn destroy_waiting(&mut self, now: u64, mut frame: Frame<P>) {
        let waited = now - frame.time;
        frame.waited += waited;
        // It waited until now: the queue's integral must not lose that area.
        self.counters.waited += waited;
        self.destroy(frame, false);
    }

    fn destroy(&mut self, frame: Frame<P>, was_carried: bool) {
        self.count_drop(DropCause::Silence);
        let flushed = self.flushed.get_or_insert_default();
        flushed.push_back(Flushed { frame, was_carried });
    }
}

#[cfg(test)]
mod tests;
