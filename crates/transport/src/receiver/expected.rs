//! Header prediction: the next segment in order, with nothing missing, takes a short way.

use super::{Accepted, Receiver, ReceiverState, TIMESTAMP_LIFE};
use crate::{Flags, Segment, SeqNumber};
use cogtcp_units::Time;

/// Which segments [`Receiver::is_expected`] predicts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Prediction {
    /// None.
    None,
    /// On a connection without timestamps, and without what Linux's receiver has.
    Bare,
    /// On any other connection.
    Linux,
}

impl Receiver {
    /// Header prediction (after Van Jacobson's in 4.3BSD-Reno): whether `segment` is the next in order, while
    /// nothing is missing and no ACK is due. It has no mark, no FIN, and no option but timestamps. The looks at
    /// options, at duplicates and at what lies behind a gap, which [`handle_synchronised`](Self::handle_synchronised)
    /// makes, find nothing then. `LINUX`: the connection has timestamps or what Linux's receiver has.
    #[inline]
    pub(crate) fn is_expected<const LINUX: bool>(&self, now: Time, segment: &Segment) -> bool {
        let timestamps = LINUX && self.timestamps;
        let frontier = self.reassembly.frontier();
        self.predicts != Prediction::None
            && self.state == ReceiverState::Established
            && segment.flags.with(Flags::PSH) == Flags::ACK.with(Flags::PSH)
            && segment.is_plain(timestamps)
            && segment.len > 0
            && segment.seq == SeqNumber::from_offset(self.irs, frontier)
            && segment.ack == SeqNumber::from_offset(self.config.handshake.initial_sequence, 1)
            && frontier + u64::from(segment.len) <= self.window.right_edge()
            && !self.reassembly.has_gap()
            && self.fin_offset == u64::MAX
            && self.pending == 0
            && self.duplicate.is_none()
            && self.window.taken() == frontier
            && (!timestamps || self.is_fresh(now, segment))
    }

    /// Whether PAWS takes the timestamp, and the clock behind TS.Recent cannot have wrapped.
    #[inline]
    fn is_fresh(&self, now: Time, segment: &Segment) -> bool {
        segment.timestamps().is_some_and(|stamp| !self.is_older(stamp.value))
            && now.saturating_since(self.ts_recent_at) < TIMESTAMP_LIFE
    }

    /// Takes the segment that was [expected](Self::is_expected), as `handle_synchronised` would.
    #[inline]
    pub(super) fn take_expected<const LINUX: bool>(&mut self, now: Time, segment: &Segment) {
        let (start, len) = (self.reassembly.frontier(), u64::from(segment.len));
        self.latest_tag = segment.tag;
        if start <= self.last_ack {
            if LINUX && let Some(stamp) = segment.timestamps().filter(|_| self.timestamps) {
                (self.ts_recent, self.ts_recent_at) = (stamp.value, now);
            }
            if self.answered_tag == 0 {
                self.answered_tag = segment.tag;
            }
        }
        if LINUX {
            self.adapt(now, start, segment);
        }
        self.full_size = self.full_size.max(segment.len);
        self.reassembly.extend(len);
        self.accepted.push(Accepted { position: start - 1, skip: 0, len: segment.len });
        self.stats.bytes += len;
        self.ack_in_order(now, len, LINUX && segment.flags.contains(Flags::PSH));
        self.window.read(len);
        if self.pending == 0 || (LINUX && self.tuning.is_some()) {
            self.after_reading(now);
        }
        if LINUX && let Some(tuning) = &mut self.tuning {
            tuning.on_in_order(now, start + len);
        }
    }
}
