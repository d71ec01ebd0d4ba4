//! Whether a response to a loss was needless. Either every retransmission of the episode was reported as a
//! duplicate (D-SACK, RFC 3708), or an ACK echoes a timestamp from before the first one (the Eifel detection,
//! RFC 3522).

use cogtcp_units::Time;
use std::num::NonZeroU64;

/// One episode of loss recovery, from the response until it is undone or the next one begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undo {
    /// SND.UNA at the response, which is past the SYN; `None`: there is nothing to undo.
    marker: Option<NonZeroU64>,
    /// Retransmissions that no D-SACK has reported yet; `None`: there was no retransmission.
    unreported: Option<u32>,
    /// When the first retransmission left (RFC 3522 section 3.2: RetransmitTS); [`Time::MAX`]: there was
    /// none.
    first_at: Time,
}

impl Default for Undo {
    fn default() -> Self {
        Self { marker: None, unreported: None, first_at: Time::MAX }
    }
}

impl Undo {
    /// A response to a loss: what it changes can be undone. Retransmissions in the network, `on_the_way`, may
    /// still be reported (`tcp_init_undo`).
    pub(crate) fn begin(&mut self, una: u64, on_the_way: u32) {
        debug_assert!(una > 0, "a response to a loss of data");
        (self.marker, self.unreported) = (NonZeroU64::new(una), Some(on_the_way).filter(|count| *count > 0));
    }

    /// Records that a segment is retransmitted.
    pub(crate) fn on_retransmission(&mut self, now: Time) {
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
        self.first_at = self.first_at.min(now);
    }

    /// Nothing that was retransmitted is outstanding, outside of a recovery: the next retransmission is the
    /// first of an episode.
    pub(crate) fn forget_first(&mut self) {
        self.first_at = Time::MAX;
    }

    /// When the first retransmission of the episode left.
    pub(crate) fn first_at(&self) -> Option<Time> {
        Some(self.first_at).filter(|at| *at != Time::MAX)
    }

    /// A D-SACK reports `segments` that end at `end`. What ends before the episode began tells nothing of it.
    pub(crate) fn on_d_sack(&mut self, end: u64, segments: u32) {
        if self.marker.is_some_and(|marker| end > marker.get())
            && let Some(left) = &mut self.unreported
        {
            *left = left.saturating_sub(segments);
        }
    }

    /// Whether every retransmission was needless (RFC 3708 section 2).
    pub(crate) fn all_reported(&self) -> bool {
        self.marker.is_some() && self.unreported == Some(0)
    }

    /// Whether there is something to undo and `echoed`, the timestamp that an ACK echoes, is from before the
    /// first retransmission (RFC 3522 section 3.2 step 3). Where nothing was retransmitted yet, what arrived
    /// had only been late.
    pub(crate) fn is_delayed(&self, echoed_before: impl Fn(Time) -> bool) -> bool {
        self.marker.is_some() && self.first_at().is_none_or(echoed_before)
    }

    /// The response is undone.
    pub(crate) fn end(&mut self) {
        self.marker = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d_sacks_of_all_retransmissions() {
        let mut undo = Undo::default();
        assert!(!undo.all_reported());
        undo.begin(1000, 0);
        assert!(!undo.all_reported(), "nothing was retransmitted");
        undo.on_retransmission(Time::ZERO);
        undo.on_retransmission(Time::from_millis(1));
        undo.on_d_sack(1000, 1);
        undo.on_d_sack(2000, 1);
        assert!(!undo.all_reported(), "one of an earlier episode, one of two of this");
        undo.on_d_sack(3000, 1);
        assert!(undo.all_reported());
        undo.end();
        assert!(!undo.all_reported());
        // A retransmission of before is still on its way.
        undo.begin(4000, 1);
        undo.on_retransmission(Time::from_millis(2));
        undo.on_d_sack(5000, 1);
        assert!(!undo.all_reported());
        undo.on_d_sack(6000, 1);
        assert!(undo.all_reported());
    }

    #[test]
    fn a_timestamp_from_before_the_first_retransmission() {
        let echoed = |at: u64| move |first: Time| Time::from_millis(at) < first;
        let mut undo = Undo::default();
        assert!(!undo.is_delayed(echoed(1)), "no episode");
        undo.begin(1000, 0);
        assert!(undo.is_delayed(echoed(9)), "nothing was retransmitted");
        undo.on_retransmission(Time::from_millis(5));
        undo.on_retransmission(Time::from_millis(7));
        assert!(undo.is_delayed(echoed(4)));
        assert!(!undo.is_delayed(echoed(6)));
        // The next episode begins before the first retransmission of the last was acknowledged: that still
        // counts as the first.
        undo.begin(2000, 0);
        assert_eq!(undo.first_at(), Some(Time::from_millis(5)));
        undo.forget_first();
        assert_eq!(undo.first_at(), None);
    }
}
