//! The sent and unacknowledged segments, and what is known of each: delivered out of order, lost,
//! retransmitted.
//!
//! Every count that the sender needs per ACK (pipe, bytes SACKed, bytes lost) is kept incrementally, and both
//! cursors only move forward between timeouts. So an ACK costs constant amortised time for any window.

use crate::rack::Transmission;
use cogtcp_units::{Time, prefetch};
use std::collections::VecDeque;

/// Selectively acknowledged.
pub(crate) const SACKED: u8 = 1;
/// Declared lost, and not SACKed since.
pub(crate) const LOST: u8 = 2;
/// A retransmission of it is in the network.
pub(crate) const RETRANSMITTED: u8 = 4;
/// Sent more than once: Karn's algorithm takes no sample.
pub(crate) const EVER_RETRANSMITTED: u8 = 8;
/// Retransmitted by the retransmission timer.
pub(crate) const RETRANSMITTED_BY_TIMER: u8 = 16;
/// Carries the FIN, which is the last of its sequence numbers.
pub(crate) const FIN: u8 = 32;
/// A window probe: one byte beyond the peer's window.
pub(crate) const PROBE: u8 = 128;
/// A buffer that bears PSH ends with it: its retransmission bears PSH too.
pub(crate) const PUSHED: u8 = 64;

/// One segment between `snd_una` and `snd_nxt`: 16 bytes, since there are as many as packets on the way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// When it was last sent.
    pub(crate) sent_at: Time,
    /// Low half of its offset.
    pub(crate) start: u32,
    /// Its length in the upper 24 bits, which hold any segment of IP, and its flags.
    packed: u32,
}

const FLAG_BITS: u32 = 8;

impl Sent {
    /// A segment that is sent now.
    pub(crate) const fn at(now: Time) -> Self {
        Self { sent_at: now, start: 0, packed: 0 }
    }

    /// Sequence numbers it takes: payload and FIN.
    pub(crate) const fn len(&self) -> u32 {
        self.packed >> FLAG_BITS
    }

    fn set_len(&mut self, len: u32) {
        debug_assert!(len < 1 << (u32::BITS - FLAG_BITS), "a segment of {len} bytes");
        self.packed = len << FLAG_BITS | u32::from(self.flags());
    }

    /// All flags.
    pub(crate) const fn flags(&self) -> u8 {
        self.packed as u8
    }

    /// Whether all bits of `flag` are set.
    pub(crate) const fn is(&self, flag: u8) -> bool {
        self.flags() & flag == flag
    }

    /// Whether a bit of `flags` is set.
    pub(crate) const fn is_any(&self, flags: u8) -> bool {
        self.flags() & flags != 0
    }

    /// Sets all bits of `flags`.
    pub(crate) const fn set(&mut self, flags: u8) {
        self.packed |= flags as u32;
    }

    /// Clears all bits of `flags`.
    pub(crate) const fn clear(&mut self, flags: u8) {
        self.packed &= !(flags as u32);
    }

    /// Whether its latest transmission is neither delivered nor lost, as far as is known.
    const fn is_in_network(&self) -> bool {
        !self.is(SACKED) && self.flags() & (LOST | RETRANSMITTED) != LOST
    }

    /// Payload bytes.
    pub(crate) const fn payload(&self) -> u32 {
        self.len() - self.is(FIN) as u32
    }
}

/// A SACKed range of whole segments, as offsets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Run {
    start: u64,
    end: u64,
}

/// The sent segments in order, the front one starting at `snd_una`.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    ring: VecDeque<Sent>,
    una: u64,
    nxt: u64,
    mss: u64,
    /// SACKed ranges, ascending; no two touch.
    runs: VecDeque<Run>,
    sacked: u64,
    lost: u64,
    retransmitted: u64,
    /// Bytes that duplicate ACKs say have left the network, where SACK does not tell which.
    dup_credit: u64,
    /// Every unSACKed segment before this index is marked lost.
    frontier: usize,
    /// Every segment before this index was retransmitted or needs no retransmitting (RFC 6675's HighRxt).
    cursor: usize,
}

impl Scoreboard {
    pub(crate) fn new(mss: u64) -> Self {
        Self { mss, ..Self::default() }
    }

    /// Starts the data at `offset`, with the segment size the handshake settled.
    pub(crate) fn start(&mut self, offset: u64, mss: u64) {
        debug_assert!(self.ring.is_empty(), "data starts with nothing outstanding");
        (self.una, self.nxt, self.mss) = (offset, offset, mss);
    }

    /// Oldest unacknowledged offset.
    #[inline]
    pub(crate) const fn una(&self) -> u64 {
        self.una
    }

    /// Offset after the last byte sent.
    #[inline]
    pub(crate) const fn nxt(&self) -> u64 {
        self.nxt
    }

    /// RFC 5681's FlightSize.
    #[inline]
    pub(crate) const fn flight_size(&self) -> u64 {
        self.nxt - self.una
    }

    /// RFC 6675's pipe: outstanding, less what was SACKed or is lost, plus retransmissions in the network.
    #[inline]
    pub(crate) const fn in_flight(&self) -> u64 {
        // Duplicate ACKs may also stand for bytes marked lost: the difference could fall below zero.
        (self.nxt - self.una + self.retransmitted).saturating_sub(self.sacked + self.lost + self.dup_credit)
    }

    /// Bytes that duplicate ACKs say have left the network, where SACK does not tell which.
    pub(crate) const fn duplicates(&self) -> u64 {
        self.dup_credit
    }

    /// Whether any SACK is held.
    pub(crate) fn has_sacks(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Whether all that is outstanding was sent once, and nothing of it is SACKed or lost.
    #[inline]
    pub(crate) fn is_clean(&self) -> bool {
        self.sacked | self.lost | self.retransmitted | self.dup_credit == 0 && self.runs.is_empty()
    }

    /// How many segments are outstanding.
    pub(crate) fn segments(&self) -> usize {
        self.ring.len()
    }

    /// The segment at `index`, if there is one.
    pub(crate) fn get(&self, index: usize) -> Option<&Sent> {
        self.ring.get(index)
    }

    /// Offset of a segment of the ring.
    pub(crate) fn offset(&self, sent: &Sent) -> u64 {
        // The low half suffices: a window is at most 2^30 bytes (RFC 7323 section 2.3).
        self.una + u64::from(sent.start.wrapping_sub(self.una as u32))
    }

    /// Asks for the oldest segment and for the last, beside which the next one goes.
    #[inline]
    pub(crate) fn prefetch(&self) {
        for sent in [self.ring.front(), self.ring.back()].into_iter().flatten() {
            prefetch(sent, 2);
        }
    }

    /// Appends a segment of `len` sequence numbers at `nxt`.
    #[inline]
    pub(crate) fn push(&mut self, mut sent: Sent, len: u32) {
        sent.start = self.nxt as u32;
        sent.set_len(len);
        self.nxt += u64::from(len);
        self.ring.push_back(sent);
    }

    /// Marks the segment at `index` as retransmitted at `at`.
    pub(crate) fn retransmit(&mut self, index: usize, at: Time, by_timer: bool) -> Option<Sent> {
        let sent = self.ring.get_mut(index)?;
        if !sent.is(RETRANSMITTED) {
            self.retransmitted += u64::from(sent.len());
        }
        sent.sent_at = at;
        sent.clear(PROBE);
        sent.set(RETRANSMITTED | EVER_RETRANSMITTED | if by_timer { RETRANSMITTED_BY_TIMER } else { 0 });
        let copy = *sent;
        self.cursor = self.cursor.max(index + 1);
        Some(copy)
    }

    /// The retransmission of the segment at `index` does not count.
    pub(crate) fn forget_retransmission(&mut self, index: usize) {
        if let Some(sent) = self.ring.get_mut(index)
            && sent.is(RETRANSMITTED)
        {
            sent.clear(RETRANSMITTED);
            self.retransmitted -= u64::from(sent.len());
        }
    }

    /// The oldest segment's first byte goes again as a window probe: its offset and payload.
    pub(crate) fn probe_front(&mut self) -> Option<(u64, u32)> {
        let front = self.ring.front_mut()?;
        front.set(EVER_RETRANSMITTED);
        Some((self.una, front.payload()))
    }

    /// Takes a window probe that found no room back: its byte goes again with a full segment. True when there
    /// was one.
    pub(crate) fn take_probe_back(&mut self) -> bool {
        let taken = self.ring.len() == 1 && self.ring.front().is_some_and(|front| front.is(PROBE));
        if taken {
            self.ring.clear();
            self.runs.clear();
            (self.nxt, self.frontier, self.cursor) = (self.una, 0, 0);
            (self.sacked, self.lost, self.retransmitted, self.dup_credit) = (0, 0, 0, 0);
        }
        taken
    }

    /// The byte of a probe that was taken back is acknowledged: it is outstanding again, and times no round
    /// trip.
    pub(crate) fn put_probe_back(&mut self, mut sent: Sent) {
        debug_assert!(self.ring.is_empty(), "nothing was sent since");
        sent.set(PROBE | EVER_RETRANSMITTED);
        self.push(sent, 1);
    }

    /// The cumulative acknowledgement moves to `ack`. `each` sees every segment that is now fully
    /// acknowledged, in order, its flags as they were.
    #[inline]
    pub(crate) fn advance(&mut self, ack: u64, mut each: impl FnMut(&Sent)) {
        debug_assert!(ack > self.una && ack <= self.nxt, "an acknowledgement of outstanding data");
        let mut popped = 0;
        while let Some(front) = self.ring.front_mut() {
            let end = self.una + u64::from(front.len());
            let part = end.min(ack) - self.una;
            if front.is_any(SACKED | LOST | RETRANSMITTED) {
                let flags = front.flags();
                self.sacked -= if flags & SACKED != 0 { part } else { 0 };
                self.lost -= if flags & LOST != 0 { part } else { 0 };
                self.retransmitted -= if flags & RETRANSMITTED != 0 { part } else { 0 };
            }
            if end > ack {
                front.start = ack as u32;
                front.set_len((end - ack) as u32);
                break;
            }
            each(front);
            self.una = end;
            self.ring.pop_front();
            popped += 1;
            if end == ack {
                break;
            }
        }
        self.una = ack;
        self.frontier = self.frontier.saturating_sub(popped);
        self.cursor = self.cursor.saturating_sub(popped);
        while let Some(run) = self.runs.front_mut() {
            if run.end > ack {
                run.start = run.start.max(ack);
                break;
            }
            self.runs.pop_front();
        }
    }

    /// A SACK block `start..end` arrived. `each` sees every segment it newly covers, with its index, its
    /// flags as they were. Returns the bytes newly SACKed. A block that ends inside a segment counts for the
    /// whole segments it covers.
    pub(crate) fn sack(&mut self, start: u64, end: u64, mut each: impl FnMut(usize, &Sent)) -> u64 {
        let (mut at, end) = (start.max(self.una), end.min(self.nxt));
        let mut newly = 0;
        let mut run = self.runs.partition_point(|run| run.end < at);
        while at < end {
            let next = self.runs.get(run).copied();
            if let Some(next) = next
                && next.start <= at
            {
                at = at.max(next.end);
                run += 1;
                continue;
            }
            let gap_end = next.map_or(end, |next| next.start.min(end));
            let first = self.lower_bound(at);
            let mut index = first;
            let mut marked = None;
            while let Some(sent) = self.ring.get_mut(index) {
                let offset = self.una + u64::from(sent.start.wrapping_sub(self.una as u32));
                let len = u64::from(sent.len());
                if offset + len > gap_end {
                    break;
                }
                each(index, sent);
                self.lost -= if sent.is(LOST) { len } else { 0 };
                self.retransmitted -= if sent.is(RETRANSMITTED) { len } else { 0 };
                self.sacked += len;
                newly += len;
                sent.set(SACKED);
                sent.clear(LOST | RETRANSMITTED);
                marked = Some(Run { start: marked.map_or(offset, |m: Run| m.start), end: offset + len });
                index += 1;
            }
            if let Some(marked) = marked {
                run = self.insert_run(run, marked);
            }
            at = gap_end;
        }
        newly
    }

    /// Puts a run in front of position `at`, joining the neighbours it touches. Returns the position of the
    /// next run that may lie beyond it: of a joined later neighbour itself.
    fn insert_run(&mut self, at: usize, new: Run) -> usize {
        let joins_before = at > 0 && self.runs[at - 1].end == new.start;
        let joins_after = self.runs.get(at).is_some_and(|next| next.start == new.end);
        match (joins_before, joins_after) {
            (true, true) => {
                self.runs[at - 1].end = self.runs[at].end;
                self.runs.remove(at);
                at - 1
            }
            (true, false) => {
                self.runs[at - 1].end = new.end;
                at
            }
            (false, true) => {
                self.runs[at].start = new.start;
                at
            }
            (false, false) => {
                self.runs.insert(at, new);
                at + 1
            }
        }
    }

    /// Index of the first segment that starts at or after `offset`.
    fn lower_bound(&self, offset: u64) -> usize {
        if offset <= self.una {
            return 0;
        }
        // Segments are full-sized as a rule: guess, then look around the guess.
        let mut index = (((offset - self.una) / self.mss) as usize).min(self.ring.len());
        for _ in 0..4 {
            if index > 0 && self.offset(&self.ring[index - 1]) >= offset {
                index -= 1;
            } else if self.ring.get(index).is_some_and(|sent| self.offset(sent) < offset) {
                index += 1;
            } else {
                return index;
            }
        }
        self.ring.partition_point(|sent| self.offset(sent) < offset)
    }

    /// Marks lost what RFC 6675's IsLost() calls lost: unSACKed data below `dup_thresh` discontiguous SACKed
    /// ranges, or below more than (dup_thresh - 1) * SMSS SACKed bytes. Returns the bytes newly lost.
    pub(crate) fn update_lost(&mut self, dup_thresh: u32) -> u64 {
        // From the top down, at most dup_thresh ranges: everything unSACKed below the range that meets a rule
        // is lost.
        let (mut ranges, mut bytes) = (0, 0);
        let boundary = self.runs.iter().rev().find_map(|run| {
            ranges += 1;
            bytes += run.end - run.start;
            let lost = ranges >= dup_thresh || bytes > u64::from(dup_thresh.saturating_sub(1)) * self.mss;
            lost.then_some(run.start)
        });
        let Some(boundary) = boundary else { return 0 };
        let mut newly = 0;
        while let Some(sent) = self.ring.get_mut(self.frontier) {
            if self.una + u64::from(sent.start.wrapping_sub(self.una as u32)) >= boundary {
                break;
            }
            if !sent.is_any(SACKED | LOST) {
                sent.set(LOST);
                newly += u64::from(sent.len());
            }
            self.frontier += 1;
        }
        self.lost += newly;
        newly
    }

    /// Bytes SACKed.
    pub(crate) const fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Bytes of retransmissions in the network.
    pub(crate) const fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    /// Where the segment of a transmission stands, if that transmission is the one in the network.
    pub(crate) fn find(&self, transmission: &Transmission) -> Option<usize> {
        let end = transmission.start + u64::from(transmission.len);
        if end <= self.una {
            return None;
        }
        let index = self.lower_bound(transmission.start);
        let sent = self.ring.get(index)?;
        let same = sent.sent_at == transmission.at && self.offset(sent) + u64::from(sent.len()) == end;
        let in_network = sent.is_in_network();
        (same && in_network).then_some(index)
    }

    /// The latest transmissions of all that is not SACKED, in order of offset.
    pub(crate) fn unsacked(&self) -> impl Iterator<Item = Transmission> {
        self.transmissions(SACKED)
    }

    /// The latest transmissions of all that is no window probe, in order of offset.
    pub(crate) fn transmissions_but_probes(&self) -> impl Iterator<Item = Transmission> {
        self.transmissions(PROBE)
    }

    fn transmissions(&self, but: u8) -> impl Iterator<Item = Transmission> {
        self.ring.iter().filter(move |sent| !sent.is(but)).map(|sent| Transmission {
            start: self.offset(sent),
            len: sent.len(),
            at: sent.sent_at,
        })
    }

    /// Marks the segment at `index` lost, its retransmission too if there was one. Returns the bytes newly
    /// lost. `twice`, Linux's rule: a retransmission of what was not lost before, as after an undo, is on its way until it
    /// is found lost again (`tcp_mark_skb_lost`).
    pub(crate) fn mark_lost(&mut self, index: usize, twice: bool) -> u64 {
        let Some(sent) = self.ring.get_mut(index) else { return 0 };
        let len = u64::from(sent.len());
        if sent.is(LOST) || !twice {
            self.retransmitted -= if sent.is(RETRANSMITTED) { len } else { 0 };
            sent.clear(RETRANSMITTED);
        }
        self.lost += if sent.is(LOST) { 0 } else { len };
        sent.set(LOST);
        // The cursor may have passed the segment, which is due for another retransmission.
        self.cursor = self.cursor.min(index);
        len
    }

    /// After a timeout under RACK: the oldest segment and those that meet the rule are lost, their
    /// retransmissions too. Returns the bytes newly lost.
    pub(crate) fn mark_lost_where(&mut self, twice: bool, rule: impl Fn(&Sent) -> bool) -> u64 {
        let mut newly = 0;
        for index in 0..self.ring.len() {
            let sent = &self.ring[index];
            let in_network = sent.is_in_network();
            if in_network && (index == 0 || rule(sent)) {
                newly += self.mark_lost(index, twice);
            }
        }
        self.cursor = 0;
        newly
    }

    /// Whether the oldest outstanding segment is marked lost.
    pub(crate) fn front_is_lost(&self) -> bool {
        self.ring.front().is_some_and(|front| front.is(LOST))
    }

    /// Marks the oldest outstanding segment lost. Returns the bytes newly lost.
    pub(crate) fn mark_front_lost(&mut self) -> u64 {
        match self.ring.front_mut() {
            Some(front) if !front.is_any(SACKED | LOST) => {
                front.set(LOST);
                self.lost += u64::from(front.len());
                u64::from(front.len())
            }
            _ => 0,
        }
    }

    /// After a timeout: everything unSACKed is lost and nothing has been retransmitted. Returns the bytes
    /// newly lost.
    pub(crate) fn mark_all_lost(&mut self) -> u64 {
        let before = self.lost;
        self.lost = 0;
        for sent in &mut self.ring {
            sent.clear(RETRANSMITTED);
            if !sent.is(SACKED) {
                sent.set(LOST);
                self.lost += u64::from(sent.len());
            }
        }
        self.retransmitted = 0;
        self.dup_credit = 0;
        self.frontier = self.ring.len();
        self.cursor = 0;
        // No underflow: LOST and SACKED exclude each other, so every lost segment was counted again.
        self.lost - before
    }

    /// A timeout was spurious: nothing is lost after all.
    pub(crate) fn clear_lost(&mut self) {
        for sent in &mut self.ring {
            sent.clear(LOST);
        }
        self.lost = 0;
        self.frontier = 0;
        self.cursor = 0;
    }

    /// The receiver discarded what it had SACKed (RFC 2018 section 8): forget all of it.
    pub(crate) fn forget_sacks(&mut self) {
        for sent in &mut self.ring {
            sent.clear(SACKED);
        }
        self.runs.clear();
        self.sacked = 0;
        // Segments before the frontier that were SACKed are neither SACKed nor lost now.
        self.frontier = 0;
    }

    /// A new fast recovery starts: nothing has been retransmitted in it.
    pub(crate) fn rewind(&mut self) {
        self.cursor = 0;
    }

    /// A duplicate ACK without SACK: one segment has left the network.
    pub(crate) fn credit_duplicate(&mut self) {
        self.dup_credit = (self.dup_credit + self.mss).min(self.flight_size());
    }

    /// `bytes` of what duplicate ACKs stood for are acknowledged cumulatively.
    pub(crate) fn uncredit(&mut self, bytes: u64) {
        self.dup_credit = self.dup_credit.saturating_sub(bytes).min(self.flight_size());
    }

    /// Bytes marked lost, whether retransmitted since or not.
    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }

    /// The next segment to retransmit after a timeout: lost, not yet retransmitted.
    #[inline]
    pub(crate) fn next_lost(&mut self) -> Option<usize> {
        while let Some(sent) = self.ring.get(self.cursor) {
            if sent.flags() & (SACKED | LOST | RETRANSMITTED) == LOST {
                return Some(self.cursor);
            }
            self.cursor += 1;
        }
        None
    }

    /// RFC 6675's candidate of NextSeg() rules 1 and 3: the first unSACKed segment above HighRxt and below
    /// the highest SACKed byte, and whether it is lost.
    pub(crate) fn next_hole(&mut self) -> Option<(usize, bool)> {
        let highest = self.runs.back()?.end;
        while let Some(sent) = self.ring.get(self.cursor) {
            if !sent.is(SACKED) {
                let below = self.offset(sent) < highest;
                return below.then_some((self.cursor, sent.is(LOST)));
            }
            self.cursor += 1;
        }
        None
    }

    /// The highest outstanding unSACKed segment, for RFC 6675's rescue retransmission.
    pub(crate) fn last_unsacked(&self) -> Option<usize> {
        let end = match self.runs.back() {
            Some(run) if run.end == self.nxt => self.lower_bound(run.start),
            _ => self.ring.len(),
        };
        // Runs never touch: the segment before the last run is not SACKed.
        end.checked_sub(1)
    }

    /// HighRxt: kept apart from a rescue retransmission, which must not move it.
    pub(crate) const fn cursor(&self) -> usize {
        self.cursor
    }

    /// Sets HighRxt back after a rescue retransmission.
    pub(crate) fn set_cursor(&mut self, cursor: usize) {
        self.cursor = cursor;
    }

    /// Debug builds: checks every running count against a full scan, while the window is small.
    #[inline]
    pub(crate) fn check(&self) {
        // A scan of a large window at each ACK would make debug runs quadratic.
        if !cfg!(debug_assertions) || self.ring.len() > 64 {
            return;
        }
        let sum = |flag: u8| -> u64 {
            self.ring.iter().filter(|sent| sent.is(flag)).map(|sent| u64::from(sent.len())).sum()
        };
        assert_eq!(
            (self.sacked, self.lost, self.retransmitted),
            (sum(SACKED), sum(LOST), sum(RETRANSMITTED))
        );
        assert_eq!(self.ring.iter().map(|sent| u64::from(sent.len())).sum::<u64>(), self.nxt - self.una);
        assert_eq!(self.runs.iter().map(|run| run.end - run.start).sum::<u64>(), self.sacked);
        assert!(self.ring.iter().all(|sent| !sent.is(SACKED | LOST)));
        assert!(self.frontier <= self.ring.len() && self.cursor <= self.ring.len());
    }
}

#[cfg(test)]
mod tests;
