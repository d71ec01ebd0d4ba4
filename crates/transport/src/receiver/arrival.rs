//! A segment arrives on a connection: checks, timestamps, marks, data.

use super::{Accepted, Receiver, ReceiverState, TIMESTAMP_LIFE};
use crate::accurate_ecn::reflection;
use crate::reassembly::Insertion;
use crate::{EcnMode, Flags, Segment, TransportEvent};
use cogtcp_units::Time;

impl Receiver {
    /// Every state from SYN-RECEIVED on (RFC 9293 section 3.10.7.4).
    pub(super) fn handle_synchronised(&mut self, now: Time, segment: &Segment) {
        let start = segment.seq.offset_near(self.irs, self.reassembly.frontier());
        self.latest_tag = segment.tag;
        let syn = segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK);
        if self.state == ReceiverState::SynReceived && syn && start == Some(0) {
            // The SYN again: the SYN-ACK was lost or is late, and times no round trip any more (RFC 6298
            // section 3).
            self.retransmissions = self.retransmissions.max(1);
            self.control_due |= self.may_challenge(now);
            // RFC 9768 section 3.1.5: of the latest SYN, in the mode of the first.
            self.accurate.syn = reflection(segment);
            return;
        }
        if !self.timestamp_acceptable(now, segment) {
            return;
        }
        let Some(start) = start.filter(|start| self.acceptable(*start, segment)) else {
            self.refuse(now, start, segment);
            return;
        };
        if segment.flags.contains(Flags::RST) {
            // RFC 9293 section 3.10.7.4 (RFC 5961 section 3.2): only an exact reset counts.
            if start != self.reassembly.frontier() {
                self.challenge(now);
            } else if self.state == ReceiverState::SynReceived {
                // A passive open returns to LISTEN.
                self.listen_again();
            } else {
                self.close(TransportEvent::Aborted);
            }
            return;
        }
        if segment.flags.contains(Flags::SYN) {
            if self.state == ReceiverState::SynReceived {
                // RFC 9293 section 3.10.7.4, fourth: a passive open returns to LISTEN.
                self.listen_again();
            } else {
                // A challenge ACK (RFC 5961 section 4.2).
                self.challenge(now);
            }
            return;
        }
        if !segment.flags.contains(Flags::ACK) || !self.handle_ack(now, segment) {
            return;
        }
        if start <= self.last_ack {
            // RFC 7323 section 4.3, step 2: the timestamp of the earliest segment that the next ACK answers.
            if let Some(stamp) =
                segment.timestamps().filter(|stamp| self.timestamps && !self.is_older(stamp.value))
            {
                self.ts_recent = stamp.value;
                self.ts_recent_at = now;
            }
            if self.answered_tag == 0 && segment.sequence_len() > 0 {
                self.answered_tag = segment.tag;
            }
        }
        self.take_mark(segment);
        if segment.sequence_len() > 0 {
            self.handle_data(now, start, segment);
        }
        if self.ecn == EcnMode::Accurate && self.pending == 0 {
            let unacknowledged = self.reassembly.frontier() > self.last_ack;
            self.pending = u16::from(self.accurate.is_ack_due(unacknowledged));
        }
    }

    /// RFC 3168 section 6.1.3: CWR ends the echo, unless its segment is marked itself. Segments outside the
    /// window do not come here (section 6.1.5).
    ///
    /// Departure: where ECN was not negotiated, each mark is echoed all the same, once, as DCTCP's receiver
    /// does (RFC 8257 section 3.2). It is for controls that ask for marks without ECN (ATCP); plain TCP
    /// ignores it.
    fn take_mark(&mut self, segment: &Segment) {
        self.stats.marked_segments += u64::from(segment.is_marked());
        if self.ecn == EcnMode::Accurate {
            self.accurate.take(segment);
            return;
        }
        if self.ecn == EcnMode::Classic && segment.flags.contains(Flags::CWR) {
            self.marked = false;
        }
        self.marked |= segment.is_marked();
    }

    /// PAWS and the presence of the option (RFC 7323 sections 3.2 and 5.3).
    fn timestamp_acceptable(&mut self, now: Time, segment: &Segment) -> bool {
        if !self.timestamps || segment.flags.contains(Flags::RST) {
            return true;
        }
        let Some(stamp) = segment.timestamps() else {
            self.stats.unacceptable += 1;
            return false;
        };
        // RFC 7323 section 5.5: after 24 idle days the clock may have wrapped, and TS.Recent proves nothing.
        let proven = now.saturating_since(self.ts_recent_at) < TIMESTAMP_LIFE;
        if !(self.config.paws && proven && self.is_older(stamp.value)) {
            if !proven {
                self.ts_recent = stamp.value;
            }
            return true;
        }
        self.stats.paws_rejected += 1;
        self.pending += 1;
        false
    }

    pub(super) fn is_older(&self, stamp: u32) -> bool {
        (stamp.wrapping_sub(self.ts_recent) as i32) < 0
    }

    /// RFC 9293 section 3.10.7.4, first: whether any of the segment lies in the window.
    ///
    /// Departures, both Linux's too. An empty segment may lie at the very edge of the window, where a sender
    /// that has filled the window stands. A FIN takes no room, so it is accepted with the window closed.
    fn acceptable(&self, start: u64, segment: &Segment) -> bool {
        let (left, right) = (self.reassembly.frontier(), self.window.right_edge());
        let end = start + u64::from(segment.sequence_len());
        if segment.len == 0 {
            return start >= left && start <= right;
        }
        start < right && end > left
    }

    /// A segment outside the window is dropped and answered by an ACK, so that the peer learns the receiver's
    /// state. Window probes are answered in this way, too (RFC 9293 sections 3.8.6.1 and 3.10.7.4).
    fn refuse(&mut self, now: Time, start: Option<u64>, segment: &Segment) {
        self.stats.unacceptable += 1;
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::SYN) || segment.sequence_len() == 0 {
            self.challenge(now);
            return;
        }
        let start = start.unwrap_or(0).max(1);
        self.take_stamp_of_duplicate(now, start, segment);
        // The number of a FIN is reported like a byte's, as in Linux.
        let end = start + u64::from(segment.sequence_len());
        if let Some(linux) = &mut self.linux {
            // Before the last ACK, or behind the window (`tcp_sequence`): no ACK is due but the answer.
            let is_far = end < self.last_ack || start > self.window.right_edge();
            linux.quick.enter(is_far && self.pending == 0 && self.delayed_until == Time::MAX);
        }
        if end > start && end <= self.reassembly.frontier() {
            self.stats.duplicate_segments += u64::from(segment.len > 0);
            self.stats.duplicate_bytes += u64::from(segment.len);
            self.duplicate = Some(start..end);
            if self.answered_tag == 0 {
                self.answered_tag = segment.tag;
            }
        }
        self.pending += 1;
    }

    /// Linux takes the timestamp of a duplicate too that reaches the last ACK (`tcp_sequence`, `tcp_replace_ts_recent`).
    fn take_stamp_of_duplicate(&mut self, now: Time, start: u64, segment: &Segment) {
        let reaches = start + u64::from(segment.sequence_len()) >= self.last_ack && start <= self.last_ack;
        if let Some(stamp) = segment.timestamps()
            && reaches
            && self.linux.is_some()
            && self.timestamps
            && !self.is_older(stamp.value)
        {
            (self.ts_recent, self.ts_recent_at) = (stamp.value, now);
        }
    }

    /// Answers a segment that brings nothing; Linux not too often.
    pub(super) fn challenge(&mut self, now: Time) {
        self.pending += u16::from(self.may_challenge(now));
    }

    fn may_challenge(&mut self, now: Time) -> bool {
        let interval = self.config.challenge_interval;
        self.linux.as_mut().is_none_or(|linux| linux.challenges.allow(now, interval))
    }

    /// Payload and FIN of an acceptable segment (RFC 9293 section 3.10.7.4, seventh and eighth).
    fn handle_data(&mut self, now: Time, start: u64, segment: &Segment) {
        if start > self.fin_offset {
            // Nothing follows a FIN: ignored without an answer, as in Linux.
            self.stats.out_of_window_bytes += u64::from(segment.len);
            return;
        }
        let data_end = start + u64::from(segment.len);
        let right = self.window.right_edge();
        let before = self.reassembly.frontier();
        // The part before the window is a duplicate, the part behind it is dropped. Nothing follows a FIN.
        let end = data_end.min(right).min(self.fin_offset);
        let (mut insertion, mut is_acknowledged) = (Insertion::default(), false);
        if let Some(deferment) = self.deferment.as_deref_mut().filter(|_| segment.len > 0) {
            deferment.on_segment(now);
        }
        if segment.len > 0 {
            self.adapt(now, start, segment);
        }
        if segment.len > 0 && start < end {
            self.full_size = self.full_size.max(segment.len);
            is_acknowledged = start > before && self.send_put_off(now, start..end);
            let accepted = &mut self.accepted;
            insertion = self.reassembly.insert(start..end, |run| {
                let (skip, len) = ((run.start - start) as u32, (run.end - run.start) as u32);
                accepted.push(Accepted { position: run.start - 1, skip, len });
            });
            self.stats.bytes += insertion.new_bytes;
            self.stats.duplicate_bytes += (end - start) - insertion.new_bytes;
            self.stats.duplicate_segments += u64::from(insertion.new_bytes == 0);
            self.stats.out_of_order_segments += u64::from(start > before);
            if start > before {
                self.adapt_behind_gap(u64::from(segment.len), insertion.new_bytes);
            }
        }
        self.stats.out_of_window_bytes += data_end - end.clamp(start, data_end);
        let truncated = end < data_end;
        let mut fin = false;
        if segment.flags.contains(Flags::FIN)
            && data_end <= right
            && (self.fin_offset == u64::MAX || self.fin_offset == data_end)
        {
            fin = true;
            self.fin_offset = data_end;
            let last = self.reassembly.insert(data_end..data_end + 1, |_| {});
            insertion.gap |= last.gap;
            insertion.duplicate = insertion.duplicate.or(last.duplicate);
        }
        if insertion.duplicate.is_some() {
            self.duplicate.clone_from(&insertion.duplicate);
        }

        let advanced = self.reassembly.frontier() - before;
        if insertion.gap || insertion.duplicate.is_some() || fin || truncated {
            // RFC 5681 section 4.2: at once when out of order, and when a gap is filled.
            if fin && self.ends_in_order(&insertion, truncated) {
                self.ack_the_end(now, advanced);
            } else if fin || truncated || !(is_acknowledged || self.puts_off(now)) {
                self.ack_now(advanced);
            }
        } else {
            let pushed = segment.flags.contains(Flags::PSH) && !self.config.manual_read;
            self.ack_in_order(now, advanced, pushed);
        }
        if advanced > 0 {
            self.deliver(now);
            if let Some(tuning) = self.tuning.as_mut().filter(|_| !self.config.manual_read) {
                tuning.on_in_order(now, before + advanced.min(data_end.saturating_sub(before)));
            }
        }
    }

    /// Whether a FIN is the next in order.
    fn ends_in_order(&self, insertion: &Insertion, truncated: bool) -> bool {
        self.state == ReceiverState::Established
            && !(insertion.gap || insertion.duplicate.is_some() || truncated)
            && self.fin_in_order()
    }
}
