//! Arriving segments: acknowledgements, SACK, windows, round-trip times.

use super::{Sender, handshake::Connection, timers::Timer, timestamp_ticks};
use crate::congestion::{AckSample, CaState};
use crate::frto::{Frto, FrtoAck};
use crate::scoreboard::{EVER_RETRANSMITTED, SACKED, Sent};
use crate::{Flags, Recovery, RttSampling, Segment, TransportEvent, micros};
use cogtcp_units::{Duration, Time};

/// What the segments that an ACK newly covers tell of the round-trip time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RttHint {
    /// Send times of the latest and of the earliest sent of them that were sent once.
    pub(super) latest: Option<Time>,
    pub(super) earliest: Option<Time>,
    /// One of them was retransmitted: a cumulative ACK is ambiguous (Karn).
    pub(super) ambiguous: bool,
    /// Send times of the earliest and of the latest sent of those SACKed that were sent once.
    pub(super) sacked: Option<(Time, Time)>,
}

/// Where a segment ends that starts at `una` or after it.
pub(super) fn end_of(sent: &Sent, una: u64) -> u64 {
    una + u64::from(sent.start.wrapping_sub(una as u32)) + u64::from(sent.len())
}

impl Sender {
    /// A segment arrived. The driver asks `poll_transmit` next.
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        if self.take_expected(now, segment) {
            return;
        }
        match self.connection {
            Connection::Established => self.handle_established(now, segment),
            Connection::SynSent => self.handle_syn_sent(now, segment),
            Connection::TimeWait => self.handle_time_wait(now, segment),
            Connection::Closed => self.handle_deleted(segment),
            Connection::Idle => {}
        }
    }

    /// RFC 9293 section 3.10.7.4, for an end that receives no data.
    fn handle_established(&mut self, now: Time, segment: &Segment) {
        if !self.is_in_sequence(now, segment) || !segment.flags.contains(Flags::ACK) {
            return;
        }
        self.count_mark(segment);
        let una = self.board.una();
        let Some(ack) = segment.ack.offset_near(self.config.handshake.initial_sequence, una) else { return };
        if ack > self.board.nxt() {
            if ack > self.rare.as_ref().map_or(0, |rare| rare.probed_to) {
                // It acknowledges what was never sent.
                self.ack_pending = true;
                return;
            }
            // The byte of a probe that was taken back had found room after all.
            self.board.put_probe_back(self.rate.on_send(now, true, 0, 1));
        }
        if self.is_too_old(ack) {
            self.ack_pending = true;
            return;
        }
        self.stats.acks_received += 1;
        self.may_write = self.has_buffer;
        if ack >= una {
            self.handle_ack(now, segment, ack);
        } else if !segment.sack().is_empty() {
            self.handle_old_ack(now, segment, ack);
        }
        if segment.flags.contains(Flags::FIN) {
            self.handle_fin(now, segment);
        } else if segment.len > 0 {
            self.ack_pending = true;
        }
    }

    fn handle_ack(&mut self, now: Time, segment: &Segment, ack: u64) {
        let una = self.board.una();
        if self.timestamps_ok
            && let Some(ts) = segment.timestamps()
        {
            self.ts_recent = ts.value;
        }
        // Compared before `take_window` stores the new window.
        let window_same = segment.window == self.last_window;
        let mut sample =
            AckSample { acked: ack - una, prior_in_flight: self.board.in_flight(), ..AckSample::default() };
        if let Some(value) = segment.custom() {
            self.sync();
            if let Some(extension) = self.control.extension() {
                extension.on_ack_option(now, &mut self.tcp, value);
            }
            self.clamp();
        }
        let lost_before = self.begin_ack(now);
        let mut hint = RttHint::default();
        // Before SND.UNA moves, which F-RTO compares with the ACK.
        let mut frto = self.frto_ack(ack);
        if ack > una {
            frto.original |= self.advance(now, segment, ack, &mut sample, &mut hint);
        }
        if self.sack_ok && !segment.sack().is_empty() {
            self.take_sacks(now, segment, ack, &mut sample, &mut hint, &mut frto);
        }
        let bare = self.is_bare_duplicate(segment, &sample, window_same);
        sample.duplicate = if self.recovery() == Recovery::Sack { sample.sacked > 0 } else { bare };
        if sample.duplicate {
            self.stats.duplicate_acks += 1;
            if !self.sack_ok && self.tcp.ca_state != CaState::Loss {
                self.credit_duplicate(now, &mut sample);
            }
        }
        self.take_window(now, segment, ack);
        self.round_trip(now, segment, &mut sample, hint);
        let is_plain = segment.sack().is_empty() && !segment.flags.contains(Flags::ECE);
        self.announce_ack(now, &sample, sample.acked > 0 && is_plain && window_same);
        sample.rate = self.rate.finish(self.tcp.min_rtt);
        // RFC 8985 section 6.2: losses (step 5) after min_RTT (step 1) and the reordering window (step 4).
        if self.rack_in_use() {
            self.rack_ack(now, ack, &sample, bare && segment.sack().is_empty());
            self.detect_losses(now);
        }
        sample.lost = self.rate.lost - lost_before;
        self.read_marks(segment, &mut sample);

        if self.frto != Frto::Idle {
            frto.can_send_new = self.has_new_segment_in_window();
            frto.duplicate = sample.acked == 0 && (sample.duplicate || bare);
        }
        let outcome = self.recover(now, &sample, frto, self.echo(segment));
        sample.lost = self.rate.lost - lost_before;
        self.drive_control(now, &sample, outcome.grow);
        self.update_timer(now, outcome.restart_timer || self.sacks_older_than_front(hint));
        if self.fin_sent && !self.finished && ack == self.board.nxt() {
            self.handle_fin_acked(now);
        }
        self.board.check();
        debug_assert!(self.rate.flight().is_none_or(|flight| flight == self.board.segments()));
    }

    /// Before an ACK delivers anything: reordering is measured against earlier ACKs, whatever the order of blocks.
    /// Returns the bytes lost so far.
    fn begin_ack(&mut self, now: Time) -> u64 {
        if let Some(rare) = &mut self.rare {
            rare.d_sack_end = None;
        }
        if let Some(rack) = &mut self.rack {
            rack.begin_ack(now);
        }
        self.rate.lost
    }

    /// An ACK below SND.UNA: reordered on its way, it may SACK what no ACK before it did, and so is a
    /// duplicate ACK (RFC 6675 section 2). Linux (`tcp_ack`: `old_ack`) neither measures nor changes cwnd by
    /// it; what it reports leaves the flight, and something else may go.
    #[cold]
    fn handle_old_ack(&mut self, now: Time, segment: &Segment, ack: u64) {
        if !self.sack_ok {
            return;
        }
        let lost_before = self.begin_ack(now);
        let mut sample = AckSample { prior_in_flight: self.board.in_flight(), ..AckSample::default() };
        let mut frto = self.frto_ack(ack);
        self.take_sacks(now, segment, ack, &mut sample, &mut RttHint::default(), &mut frto);
        sample.duplicate = sample.sacked > 0;
        self.stats.duplicate_acks += u64::from(sample.duplicate);
        if self.rack_in_use() {
            self.rack_ack(now, ack, &sample, false);
            self.detect_losses(now);
        }
        sample.lost = self.rate.lost - lost_before;
        let delivered = sample.delivered;
        if self.times_out_as_linux() {
            sample.delivered = 0;
        }
        frto.can_send_new = self.has_new_segment_in_window();
        frto.duplicate = sample.duplicate;
        self.ecn.put_off_reading(delivered);
        let outcome = self.recover(now, &sample, frto, self.echo(segment));
        self.sync();
        self.update_timer(now, outcome.restart_timer);
        self.board.check();
    }

    /// What F-RTO reads of an ACK before its blocks are taken.
    #[inline]
    pub(super) fn frto_ack(&self, ack: u64) -> FrtoAck {
        FrtoAck {
            advances: ack > self.board.una(),
            duplicate: false,
            covers_retransmitted: self.rare.as_ref().is_none_or(|rare| ack >= rare.frto_end),
            covers_recover: ack >= self.recovery_point,
            exceeds_recover: ack > self.recovery_point,
            sacks_old: false,
            sacks_new: false,
            original: false,
            can_send_new: false,
        }
    }

    /// Linux: an ACK that SACKs what left before the oldest segment was last sent restarts the retransmission
    /// timer as well (`tcp_clean_rtx_queue`).
    fn sacks_older_than_front(&self, hint: RttHint) -> bool {
        self.times_out_as_linux()
            && hint
                .earliest
                .is_some_and(|earliest| self.board.get(0).is_some_and(|front| earliest < front.sent_at))
    }

    /// The cumulative acknowledgement moves. Returns whether it newly covers data sent before the latest loss
    /// event and never again.
    #[inline]
    fn advance(
        &mut self,
        now: Time,
        segment: &Segment,
        ack: u64,
        sample: &mut AckSample,
        hint: &mut RttHint,
    ) -> bool {
        let una = self.board.una();
        let (echo, min_rtt) = (self.echo(segment), self.tcp.min_rtt);
        let (recovery_point, mut original) = (self.recovery_point, false);
        let (rate, mut sacked) = (&mut self.rate, 0);
        let mut rack = self.rack.as_deref_mut();
        if let Some(rack) = &mut rack {
            rack.cumulatively = true;
        }
        self.board.advance(ack, |sent| {
            rate.on_acked(sent);
            if sent.is(SACKED) {
                // Its SACK has given RACK and the RTT their sample: this ACK comes too late for one.
                sacked += u64::from(sent.len());
                return;
            }
            if let Some(rack) = &mut rack {
                rack.on_delivered(sent, end_of(sent, una), min_rtt, echo);
            }
            hint.ambiguous |= sent.is(EVER_RETRANSMITTED);
            original |= !sent.is(EVER_RETRANSMITTED) && end_of(sent, una) <= recovery_point;
            hint.latest = Some(sent.sent_at);
            hint.earliest = hint.earliest.or(hint.latest);
        });
        let fin = u64::from(self.fin_sent && ack == self.board.nxt());
        self.stats.bytes_acked += ack - una - fin;
        // What duplicate ACKs or SACKs reported before is not delivered again. Without SACK the duplicates
        // stand for all but the segment that filled the hole.
        let earlier = if self.sack_ok {
            sacked
        } else {
            let earlier = self.reported.min(sample.acked.saturating_sub(self.tcp.mss));
            self.reported -= earlier;
            self.board.uncredit(earlier);
            // Outside of fast recovery an ACK that moves on ends what duplicates stand for: those that a
            // needless retransmit after a timeout causes stand for nothing, and no hole takes them back.
            if ack == self.board.nxt() || self.tcp.ca_state != CaState::Recovery {
                self.reported = 0;
                self.board.uncredit(u64::MAX);
            }
            earlier
        };
        sample.delivered += sample.acked.saturating_sub(earlier);
        self.rate.add(now, sample.delivered);
        self.progress_at = now;
        self.rto_count = 0;
        if self.rare.is_some() {
            self.end_episodes(segment, ack);
        }
        original
    }

    /// The acknowledgement moved to `ack`, which may tell of timeouts that were spurious, and may end a paced
    /// resume.
    #[cold]
    fn end_episodes(&mut self, segment: &Segment, ack: u64) {
        let (tick, timestamps_ok) = (self.config.timers.timestamp_tick, self.timestamps_ok);
        let Some(rare) = &mut self.rare else { return };
        rare.resume = rare.resume.filter(|(_, end)| ack < *end);
        if !rare.spurious.is_open() {
            return;
        }
        let first = timestamp_ticks(rare.spurious.first_at(), tick);
        let timestamps = segment.timestamps().filter(|_| timestamps_ok);
        // By the sign of the difference, since the 32-bit clock wraps (RFC 7323 section 5.4).
        let echoed_before = timestamps.map(|ts| (ts.echo.wrapping_sub(first) as i32) < 0);
        let count = rare.spurious.on_acknowledged(segment.tag, echoed_before);
        if count > 0 {
            self.stats.spurious_timeouts += u64::from(count);
            self.emit(TransportEvent::SpuriousRto { count, undone: false });
        }
    }

    /// SACK blocks (RFC 2018 section 5) and the losses they reveal (RFC 6675 section 5).
    fn take_sacks(
        &mut self,
        now: Time,
        segment: &Segment,
        ack: u64,
        sample: &mut AckSample,
        hint: &mut RttHint,
        frto: &mut FrtoAck,
    ) {
        // A D-SACK block reports a duplicate and delivers nothing (RFC 2883 section 4).
        let d_sack = self.d_sack(segment, ack);
        let skip = usize::from(d_sack.is_some());
        if let Some(bytes) = d_sack
            && self.times_out_as_linux()
        {
            self.count_duplicate(now, bytes, ack, sample);
        }
        let isn = self.config.handshake.initial_sequence;
        let (rack_in_use, echo, min_rtt) =
            (self.rack_in_use(), self.echo_for_sacks(segment), self.tcp.min_rtt);
        let (rate, recovery_point) = (&mut self.rate, self.recovery_point);
        let mut rack = self.rack.as_deref_mut();
        if let Some(rack) = &mut rack {
            rack.cumulatively = false;
        }
        let una = self.board.una();
        let mut buffer = self.rare.as_mut().and_then(|rare| rare.buffer.as_mut());
        let (mut newly, mut original) = (0, false);
        // In order, as in Linux (`tcp_sacktag_write_queue`): RACK takes the round-trip time of the last.
        let blocks = &segment.sack()[skip..];
        let mut ordered = [(0, 0); Segment::MAX_SACK];
        for (place, block) in ordered.iter_mut().zip(blocks) {
            // A block that cannot be is left empty, and then ignored.
            *place =
                (block.start.offset_near(isn, ack).zip(block.end.offset_near(isn, ack))).unwrap_or_default();
        }
        let ordered = &mut ordered[..blocks.len()];
        ordered.sort_unstable();
        for &(start, end) in &*ordered {
            // Linux ignores reversed blocks and blocks beyond SND.NXT as well (`tcp_is_sackblock_valid`).
            if start >= end || end > self.board.nxt() {
                continue;
            }
            let (latest, earliest, sacked) = (&mut hint.latest, &mut hint.earliest, &mut hint.sacked);
            let fresh = self.board.sack(start, end, |index, sent| {
                rate.on_sacked(index, sent);
                if let Some(rack) = &mut rack {
                    rack.on_delivered(sent, end_of(sent, una), min_rtt, echo);
                }
                if !sent.is(EVER_RETRANSMITTED) {
                    original |= end_of(sent, una) <= recovery_point;
                    *latest = (*latest).max(Some(sent.sent_at));
                    *earliest = Some(earliest.map_or(sent.sent_at, |time| time.min(sent.sent_at)));
                    let (first, last) = sacked.unwrap_or((sent.sent_at, sent.sent_at));
                    *sacked = Some((first.min(sent.sent_at), last.max(sent.sent_at)));
                }
            });
            newly += fresh;
            if fresh > 0
                && let Some(buffer) = &mut buffer
            {
                buffer.on_sack(una, start, end);
            }
            frto.sacks_new |= end > recovery_point;
            frto.sacks_old |= fresh > 0 && start < recovery_point;
        }
        frto.original |= original;
        if newly > 0 {
            sample.sacked = newly;
            sample.delivered += newly;
            self.rate.add(now, newly);
            if self.tcp.ca_state != CaState::Loss && !rack_in_use {
                // In `Loss` everything outstanding at the timeout is marked; what was sent since waits for
                // the next fast recovery (RFC 6675 section 5.1).
                self.rate.lost += self.board.update_lost(self.config.recovery.dup_thresh);
            }
        }
    }

    /// The bytes of a duplicate that the first block reports (RFC 2883 section 4): below the cumulative
    /// acknowledgement, or inside the second block.
    fn d_sack(&mut self, segment: &Segment, ack: u64) -> Option<u64> {
        let isn = self.config.handshake.initial_sequence;
        let offsets = |index: usize| {
            let block = segment.sack().get(index)?;
            Some((block.start.offset_near(isn, ack)?, block.end.offset_near(isn, ack)?))
        };
        let (start, end) = offsets(0)?;
        let inside_second = offsets(1).is_some_and(|(s, e)| s <= start && end <= e);
        let d_sack = end <= ack || inside_second;
        let bytes = end.saturating_sub(start);
        if d_sack {
            self.stats.d_sacks += 1;
            self.rare.get_or_insert_default().d_sack_end = Some(end);
            self.record_d_sack(end, bytes);
        }
        d_sack.then_some(bytes)
    }

    /// Linux: a duplicate that a D-SACK reports was delivered, too, as long as it can be one of what was
    /// retransmitted (`tcp_dsack_seen`). So a spurious retransmission makes room, and lets the window grow.
    fn count_duplicate(&mut self, now: Time, bytes: u64, ack: u64, sample: &mut AckSample) {
        let segments = bytes.div_ceil(self.tcp.mss).max(1);
        let rare = self.rare.get_or_insert_default();
        rare.d_sacked += segments;
        if rare.d_sacked <= self.stats.segments_retransmitted && ack >= self.board.una() {
            let bytes = segments * self.tcp.mss;
            sample.delivered += bytes;
            self.rate.add(now, bytes);
        }
    }

    /// RFC 5681 section 2: outstanding data, no payload, no SYN or FIN, nothing acknowledged, the same
    /// window. With SACK a duplicate is an ACK with new SACK information, whatever else it says (RFC 6675
    /// section 2).
    fn is_bare_duplicate(&self, segment: &Segment, sample: &AckSample, window_same: bool) -> bool {
        sample.acked == 0
            && window_same
            && self.board.flight_size() > 0
            && segment.sequence_len() == 0
            && self.timer != Timer::Persist
    }

    /// A duplicate ACK without SACK: some segment, one SMSS, has been delivered.
    fn credit_duplicate(&mut self, now: Time, sample: &mut AckSample) {
        let flight = self.board.flight_size();
        // At most what is outstanding (Linux: `tcp_limit_reno_sacked`): the network may duplicate ACKs.
        let bytes = self.tcp.mss.min(flight.saturating_sub(self.reported));
        self.reported += bytes;
        sample.delivered += bytes;
        self.rate.add(now, bytes);
        self.board.credit_duplicate();
    }

    /// The peer's window (RFC 9293 section 3.10.7.4: SND.WL1 and SND.WL2 keep older segments from changing
    /// it).
    #[inline]
    fn take_window(&mut self, now: Time, segment: &Segment, ack: u64) {
        let newer = self.wl1.is_before(segment.seq) || (self.wl1 == segment.seq && self.wl2 <= ack);
        if !newer {
            return;
        }
        let window = u64::from(segment.window) << self.peer_scale;
        (self.wl1, self.wl2) = (segment.seq, ack);
        self.last_window = segment.window;
        self.open_window(ack, window);
        if self.timer == Timer::Persist {
            // The peer answers: the connection lives.
            self.progress_at = now;
            if !self.window_is_closed() {
                if self.board.take_probe_back() {
                    self.rate.forget_flight();
                    // The peer may still acknowledge the byte: `handle_established` accepts an ACK up to
                    // here.
                    self.rare.get_or_insert_default().probed_to = self.board.nxt() + 1;
                }
                self.end_persist(now);
            }
        } else if window == 0
            && self.window_end <= self.board.nxt()
            && (self.persists_with_data_outstanding() || self.board.flight_size() == 0)
            && (self.board.flight_size() > 0 || self.has_data())
        {
            self.start_persist(now);
        }
    }

    /// The peer takes `window` bytes from `ack` on.
    #[inline]
    pub(super) fn open_window(&mut self, ack: u64, window: u64) {
        self.tcp.peer_window = window;
        self.max_peer_window = self.max_peer_window.max(window);
        self.window_end =
            if self.config.heeds_shrinking { ack + window } else { self.window_end.max(ack + window) };
    }

    /// Round-trip time from this ACK (RFC 6298 section 3, RFC 7323 section 4).
    // Not in a web page, where size counts.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(super) fn round_trip(&mut self, now: Time, segment: &Segment, sample: &mut AckSample, hint: RttHint) {
        if !hint.ambiguous
            && let Some(sent_at) = hint.latest
        {
            let rtt = self.elapsed(now, sent_at);
            sample.rtt = Some(rtt);
            self.tcp.latest_rtt = rtt;
            self.tcp.min_rtt = self.tcp.min_rtt.min(rtt);
            if self.config.timers.rtt_sampling == RttSampling::EveryAck {
                // What the RTO must cover includes the wait of a delayed ACK, which began with the earliest
                // segment (RFC 7323 section 4.3, case A).
                let earlier = hint.earliest.filter(|first| *first != sent_at);
                self.take_rtt(now, earlier.map_or(rtt, |first| self.elapsed(now, first)));
            }
        } else if let Some((first, last)) = hint.sacked.filter(|_| self.times_out_as_linux()) {
            // What is SACKed goes before the echo (`tcp_ack_update_rtt`).
            let rtt = self.elapsed(now, last);
            sample.rtt = Some(rtt);
            self.tcp.latest_rtt = rtt;
            self.tcp.min_rtt = self.tcp.min_rtt.min(rtt);
            self.take_rtt(now, self.elapsed(now, first));
        } else if hint.ambiguous
            && self.timestamps_ok
            && let Some(ts) = segment.timestamps()
        {
            // The echo tells which transmission is answered, so Karn's restriction falls (RFC 7323
            // section 4.1).
            let ticks = self.ticks(now).wrapping_sub(ts.echo);
            // Zero is no echo (Linux: `tcp_ack_update_rtt`). From 2^31 on the echo is ahead of the clock.
            if ts.echo != 0 && ticks < 1 << 31 {
                // Linux: a tick at least (`tcp_rtt_tsopt_us`), and the least round trip there is
                // (`tcp_update_rtt_min`), though an echo rounds down.
                let as_linux = self.times_out_as_linux();
                let rtt = self.config.timers.timestamp_tick * u64::from(ticks.max(u32::from(as_linux)));
                sample.rtt = Some(rtt);
                self.tcp.latest_rtt = rtt;
                if as_linux {
                    self.tcp.min_rtt = self.tcp.min_rtt.min(rtt);
                }
                self.take_rtt(now, rtt);
            }
        }
        if let Some((end, sent_at)) = self.timed()
            && self.board.una() >= end
        {
            self.stop_timing();
            self.take_rtt(now, now.saturating_since(sent_at));
        }
    }

    /// The time since `at`; Linux's clock of TCP counts microseconds.
    #[inline]
    pub(super) fn elapsed(&self, now: Time, at: Time) -> Duration {
        if self.times_out_as_linux() { micros::between(at, now) } else { now.saturating_since(at) }
    }

    /// Feeds the retransmission timeout.
    pub(super) fn take_rtt(&mut self, now: Time, rtt: Duration) {
        self.rtt.sample(now, rtt, &self.config.timers, self.board.una(), self.board.nxt());
        self.tcp.srtt = self.rtt.srtt();
        self.tcp.rttvar = self.rtt.rttvar();
        self.tcp.rto = self.rtt.base();
        if self.tcp.min_rtt == Duration::MAX {
            (self.tcp.min_rtt, self.tcp.latest_rtt) = (rtt, rtt);
        }
    }

    /// The control counts an ACK before the ACK ends or begins a recovery (Linux: `tcp_in_ack_event`).
    #[inline]
    pub(super) fn announce_ack(&mut self, now: Time, sample: &AckSample, predicted: bool) {
        if self.counts_acks_first {
            self.sync();
            self.control.in_ack_event(now, &mut self.tcp, sample, predicted);
        }
    }

    /// The congestion control sees the ACK.
    #[inline]
    pub(super) fn drive_control(&mut self, now: Time, sample: &AckSample, grow: bool) {
        self.sync();
        self.tcp.cwnd_limited = self.usage.limits(&self.tcp);
        // Linux's order: `pkts_acked` (`tcp_clean_rtx_queue`) comes before `tcp_cong_control`.
        self.control.pkts_acked(now, &mut self.tcp, sample);
        let owned = self.control.cong_control(now, &mut self.tcp, sample);
        let progress = sample.acked > 0 || (sample.sacked > 0 && self.grows_by_sacks());
        if !owned
            && grow
            && progress
            && (self.tcp.cwnd_limited || !self.config.window_validation || self.control.looks_at_the_limit())
        {
            if self.times_out_as_linux() && sample.acked != sample.delivered {
                // What is newly delivered counts there (`tcp_cong_control`), not what earlier SACKs had
                // reported.
                let delivered = AckSample { acked: sample.delivered, ..*sample };
                self.control.cong_avoid(now, &mut self.tcp, &delivered);
            } else {
                self.control.cong_avoid(now, &mut self.tcp, sample);
            }
        }
        self.clamp();
    }
}
