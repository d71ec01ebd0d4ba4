//! Which segment goes next.

use super::{Sender, handshake::Connection, timers::Timer};
use crate::congestion::{CaEvent, CaState, PacketInfo};
use crate::frto::Frto;
use crate::offload::{Shortened, bytes_of_packet, least_segments, queue_of_socket, segments};
use crate::scoreboard::{FIN, PROBE, PUSHED};
use crate::send_buffer::{SendBuffer, Standing, full_buffer};
use crate::{Flags, NewRenoVariant, Recovery, RttSampling, Segment, TimeoutRules, TransportEvent};
use cogtcp_units::{Rate, Time};

/// What may be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Choice {
    /// New data, so many payload bytes.
    New(u32),
    /// The segment at this index again.
    Again(usize),
    /// RFC 6675's rescue retransmission of the segment at this index.
    Rescue(usize),
    /// A tail loss probe of new data.
    ProbeNew(u32),
    /// A tail loss probe that retransmits the segment at this index.
    ProbeAgain(usize),
}

impl Sender {
    /// The next segment to send, if one may go now. Asked until `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if self.may_write && self.buffer().is_none_or(|buffer| buffer.goes_on_now()) {
            self.application_writes();
        }
        self.paced_until = Time::MAX;
        match self.connection {
            Connection::Established => {}
            Connection::SynSent if self.syn_pending => return Some(self.make_syn(now)),
            Connection::TimeWait if self.ack_pending => return Some(self.pure_ack(now)),
            Connection::SynSent | Connection::Closed => return self.make_reset(),
            Connection::Idle | Connection::TimeWait => return None,
        }
        if self.ack_pending {
            return Some(self.pure_ack(now));
        }
        if self.timer == Timer::Persist {
            return self.probe(now);
        }
        let Some(choice) = self.choose(now) else {
            self.end_packets();
            return self.written_next(now);
        };
        if !matches!(choice, Choice::New(_) | Choice::ProbeNew(_)) {
            // What is retransmitted is a packet of its own, and waits for the pacer.
            self.offload.end();
        }
        let rate = self.pacing_rate();
        let waits_until = match rate {
            Some(_) if !self.is_within_packet(choice) => self.pacer.release(rate),
            _ => now,
        };
        if matches!(choice, Choice::New(_)) && self.config.segmentation_offload && !self.offload.is_within() {
            if waits_until <= now {
                self.grow_buffer();
            }
            if self.waits_for_more(now) {
                // Linux: only where cwnd is what is short, and not the peer's window (`tcp_tso_should_defer`).
                if self.room() < self.usable_window() {
                    self.record_usage(true);
                }
                return self.written_next(now);
            }
        }
        if now < waits_until {
            self.paced_until = waits_until;
            if matches!(choice, Choice::New(_)) && self.fills_cwnd_with_paced(rate) {
                self.record_usage(true);
            }
            self.end_new_data_after_timeout();
            return self.written_next(now);
        }
        // After the pacer's test: a retransmission that the pacer holds back stays due.
        self.retransmit_front &= !matches!(choice, Choice::Again(_));
        match choice {
            Choice::New(len) => self.send_new(now, len),
            Choice::Again(index) => self.send_again(now, index),
            Choice::Rescue(index) => {
                // RFC 6675 section 4, NextSeg rule 4: HighRxt does not move. Departure: pipe counts the
                // segment until it is acknowledged, where SetPipe() would forget it at the next ACK.
                let cursor = self.board.cursor();
                self.rare.get_or_insert_default().rescue = Some(self.recovery_point);
                let segment = self.send_again(now, index);
                self.board.set_cursor(cursor);
                segment
            }
            Choice::ProbeNew(len) => {
                let segment = self.send_new(now, len);
                self.tail_probe_sent(false);
                segment
            }
            Choice::ProbeAgain(index) => {
                // HighRxt does not move: segments below the probe may be lost, and recovery must still find
                // them.
                let cursor = self.board.cursor();
                let segment = self.send_again(now, index);
                if self.times_out_as_linux() {
                    // Not counted as on its way again (`__tcp_retransmit_skb`).
                    self.board.forget_retransmission(index);
                }
                self.board.set_cursor(cursor);
                self.tail_probe_sent(true);
                segment
            }
        }
    }

    /// Whether cwnd is full, or the pacer holds back what is next, and nothing else is to be sent: after a segment
    /// [`poll_transmit`](Self::poll_transmit) need not be asked again. False says nothing.
    #[inline]
    pub fn is_done(&mut self, now: Time) -> bool {
        if self.tcp.pacing_rate.is_some() { self.is_held(now) } else { self.is_full() }
    }

    #[inline]
    fn is_full(&mut self) -> bool {
        let is_full = self.sends_new_data_alone()
            && self.board.flight_size() + self.tcp.mss > self.inflated_cwnd()
            && self.rare.as_ref().is_none_or(|rare| rare.resume.is_none());
        if is_full {
            self.record_usage(true);
            self.end_packets();
            while self.may_write && self.application_writes() {}
        }
        is_full
    }

    /// Whether the pacer holds back new data, and nothing else is to be sent: then
    /// [`poll_transmit`](Self::poll_transmit) need not be asked. False says nothing.
    #[inline]
    pub fn is_held(&mut self, now: Time) -> bool {
        let Some(rate) = self.tcp.pacing_rate.filter(|_| !self.offload.is_within()) else { return false };
        let release = self.pacer.release(Some(rate));
        now < release && self.holds_back(rate, release)
    }

    fn holds_back(&mut self, rate: Rate, release: Time) -> bool {
        let (flight, cwnd, mss, nxt) =
            (self.board.flight_size(), self.tcp.cwnd, self.tcp.mss, self.board.nxt());
        let usable = self.usable_window().min(self.tcp.max_window.saturating_sub(flight));
        let most = self.most_handed_on(rate);
        let is_held = self.sends_new_data_alone()
            && self.inflation == 0
            && self.frto == Frto::Idle
            && self.written() >= nxt + mss
            // cwnd is not full, whatever waits for the pacer. Nor does a packet wait for an ACK that lets it grow: a third
            // of the window is free.
            && flight + most + mss <= cwnd
            && (cwnd - flight).min(usable) >= (cwnd / 3).max(mss);
        if is_held {
            self.paced_until = release;
            while self.may_write && self.application_writes() {}
        }
        is_held
    }

    /// Whether the sender has new data to send, which no ACK waits for, and nothing else: no segment again, no probe.
    #[inline]
    fn sends_new_data_alone(&self) -> bool {
        let flight = self.board.flight_size();
        self.connection == Connection::Established
            && self.tcp.ca_state == CaState::Open
            && self.saturated
            && flight > 0
            && self.board.in_flight() == flight
            && self.rare.as_ref().is_none_or(|rare| !rare.tlp.pending)
            && !self.ack_pending
            && !self.retransmit_front
            && self.timer != Timer::Persist
    }

    /// The next segment of what the application writes, now that nothing else may go (`tcp_check_space`).
    #[inline]
    fn written_next(&mut self, now: Time) -> Option<Segment> {
        if self.may_write && self.application_writes() { self.poll_transmit(now) } else { None }
    }

    /// Asks the application to write into the socket's buffer, once. Returns whether it did.
    #[inline]
    fn application_writes(&mut self) -> bool {
        let (nxt, cwnd) = (self.board.nxt(), self.tcp.cwnd);
        let waits = self.buffer().is_some_and(|buffer| buffer.waits(nxt, cwnd));
        if waits || self.connection != Connection::Established {
            self.may_write &= !waits;
            return false;
        }
        self.write_into_buffer()
    }

    fn write_into_buffer(&mut self) -> bool {
        self.may_write = false;
        let standing = self.standing();
        let nxt = standing.nxt;
        let rare = self.rare.get_or_insert_default();
        let buffer = rare.buffer.get_or_insert_with(|| Box::new(SendBuffer::new(nxt)));
        let waiting = buffer.written().saturating_sub(nxt);
        let wrote = buffer.write(standing);
        self.may_write = wrote && buffer.goes_on();
        if wrote && waiting < standing.mss && standing.has_room() {
            // It came late (`tcp_rate_check_app_limited`).
            self.rate.set_app_limited(standing.in_flight);
        }
        wrote
    }

    fn standing(&self) -> Standing {
        Standing {
            una: self.board.una(),
            nxt: self.board.nxt(),
            in_flight: self.board.in_flight(),
            cwnd: self.tcp.cwnd,
            mss: self.tcp.mss,
            window: self.max_peer_window,
            windows: self.control.buffered_windows(),
            goal: if self.saturated { u64::MAX } else { self.data_end },
        }
    }

    /// Offset after what the application has written.
    fn written(&self) -> u64 {
        match self.buffer() {
            Some(buffer) => buffer.written(),
            None if self.saturated => u64::MAX,
            None => self.data_end,
        }
    }

    /// Nothing more goes with what has left.
    #[inline]
    fn end_packets(&mut self) {
        self.offload.end();
        if let Some(rare) = &mut self.rare {
            rare.again = None;
        }
    }

    fn pure_ack(&mut self, now: Time) -> Segment {
        self.ack_pending = false;
        let nxt = self.board.nxt();
        let ack = self.segment(now, nxt, Flags::ACK);
        self.ecn.end_reflection();
        ack
    }

    #[inline]
    fn choose(&mut self, now: Time) -> Option<Choice> {
        if self.retransmit_front && self.board.flight_size() > 0 {
            // RFC 6675 section 5 step 4.3: whatever cwnd. Departure: under PRR too, whose SndCnt may be less
            // than a segment. What RACK found lost need not be the oldest.
            let fast = self.tcp.ca_state == CaState::Recovery && self.rack_in_use();
            let first = if fast { self.board.next_lost() } else { None };
            return Some(Choice::Again(first.unwrap_or(0)));
        }
        if self.rare.as_ref().is_some_and(|rare| rare.tlp.pending) {
            if let Some(probe) = self.choose_tail_probe(now) {
                return Some(probe);
            }
            self.forget_tail_probe();
        }
        match self.tcp.ca_state {
            CaState::Open | CaState::Disorder | CaState::Cwr => {
                // Without limited transmit, what SACK says to have left the network makes no room yet.
                let used = if self.recovery() == Recovery::Sack && self.config.recovery.limited_transmit {
                    self.board.in_flight()
                } else {
                    self.board.flight_size()
                };
                let room = self.inflated_cwnd().saturating_sub(used);
                self.choose_new(now, room)
            }
            CaState::Recovery if self.rack_in_use() => self.choose_rack(now),
            CaState::Recovery if self.recovery() == Recovery::Sack => self.choose_sack(now),
            CaState::Recovery => {
                let room = self.inflated_cwnd().saturating_sub(self.board.flight_size());
                self.choose_new(now, room)
            }
            CaState::Loss => self.choose_loss(now),
        }
    }

    /// The tail loss probe (RFC 8985 section 7.3): new data where the peer's window takes it, whatever cwnd;
    /// else the segment sent last in order.
    fn choose_tail_probe(&mut self, now: Time) -> Option<Choice> {
        let recovers = matches!(self.tcp.ca_state, CaState::Recovery | CaState::Loss);
        if recovers || self.board.flight_size() == 0 {
            return None;
        }
        if let Some(Choice::New(len)) = self.choose_new(now, u64::MAX) {
            return Some(Choice::ProbeNew(len));
        }
        self.board.last_unsacked().map(Choice::ProbeAgain)
    }

    /// In fast recovery under RACK: what it found lost, in order, then new data.
    fn choose_rack(&mut self, now: Time) -> Option<Choice> {
        let room = self.room_in_recovery()?;
        match self.board.next_lost() {
            Some(index) => self.is_in_window(index).then_some(Choice::Again(index)),
            None => self.choose_new(now, room),
        }
    }

    /// RFC 6675 section 5 step C with section 4's NextSeg().
    fn choose_sack(&mut self, now: Time) -> Option<Choice> {
        let room = self.room_in_recovery()?;
        let hole = self.board.next_hole();
        if let Some((index, true)) = hole {
            return Some(Choice::Again(index));
        }
        if let Some(new) = self.choose_new(now, room) {
            return Some(new);
        }
        if let Some((index, false)) = hole {
            return Some(Choice::Again(index));
        }
        // Rule 4: once per recovery, when the acknowledgement has passed what was retransmitted first.
        let rescue = self.rare.as_ref().and_then(|rare| rare.rescue);
        if rescue.is_none_or(|rescue| self.board.una() > rescue) {
            return self.board.last_unsacked().map(Choice::Rescue);
        }
        None
    }

    /// After a timeout: what is lost, in order, as cwnd allows, then new data.
    fn choose_loss(&mut self, now: Time) -> Option<Choice> {
        if let Frto::NewData { budget } = self.frto {
            // F-RTO step 2b: up to two new segments and nothing else. Linux: as cwnd allows. When they have left
            // the host, what is lost may go, too (`tcp_tsq_write`).
            let linux = self.times_out_as_linux();
            let room = if linux { self.room() } else { u64::MAX };
            let new = if budget > 0 { self.choose_new(now, room) } else { None };
            if new.is_some() || !linux {
                return new;
            }
        }
        // RFC 5682 section 2.1: between steps 1 and 2 nothing else leaves.
        if self.frto == Frto::Retransmitted {
            return None;
        }
        let cwnd = self.tcp.cwnd.saturating_add_signed(self.inflation);
        let room = cwnd.saturating_sub(self.board.in_flight());
        if let Some(index) = self.board.next_lost() {
            let len = self.board.get(index).map_or(0, |sent| u64::from(sent.len()));
            if len > room && self.has_data() {
                self.record_usage(true);
            }
            return (len <= room && self.is_in_window(index)).then_some(Choice::Again(index));
        }
        self.choose_new(now, room)
    }

    /// The pacer holds back new data that F-RTO would send: when it lets go, what is lost goes first
    /// (`tcp_tsq_write`). If no new data has left, recovery is conventional (`tcp_xmit_recovery`).
    fn end_new_data_after_timeout(&mut self) {
        if self.times_out_as_linux()
            && let Frto::NewData { budget } = self.frto
        {
            self.frto = if budget < Frto::NEW { Frto::NewData { budget: 0 } } else { Frto::Idle };
        }
    }

    /// True if the segment at this index may be retransmitted: the oldest always, others only if the peer's
    /// window has not closed over them (without the persist timer it may).
    fn is_in_window(&self, index: usize) -> bool {
        index == 0
            || self.persists_with_data_outstanding()
            || self.board.get(index).is_none_or(|sent| self.board.offset(sent) < self.window_end)
    }

    /// New data, if there is some, `room` bytes of cwnd take it, and the peer's window does.
    #[inline]
    fn choose_new(&mut self, now: Time, room: u64) -> Option<Choice> {
        let nxt = self.board.nxt();
        let available = self.written().saturating_sub(nxt);
        if available == 0 {
            if self.buffer().is_some() && self.has_data() {
                return None;
            }
            if self.fin_queued {
                return (!self.fin_sent).then_some(Choice::New(0));
            }
            // With less room cwnd limits as well (Linux: `tcp_rate_check_app_limited`).
            if room >= self.tcp.mss {
                self.rate.set_app_limited(self.board.in_flight());
            }
            return None;
        }
        let len = available.min(self.tcp.mss);
        let idle = self.board.flight_size() == 0;
        // After a restart `room` is not asked: nothing is outstanding, and cwnd holds at least a segment.
        if idle && self.config.restart_after_idle && self.is_idle(now) {
            self.restart_window(now);
        } else if len > room {
            self.record_usage(true);
            return None;
        }
        // Silly window avoidance (RFC 9293 section 3.8.6.2.1): a full segment, or the last of the data, or
        // half of the largest window seen. The Nagle algorithm is off.
        let end = self.window_end.min(self.board.una().saturating_add(self.tcp.max_window));
        let usable = end.saturating_sub(nxt);
        if len <= usable {
            return Some(Choice::New(len as u32));
        }
        let fills = 2 * usable >= self.max_peer_window.min(self.tcp.max_window);
        // Linux: a packet of several segments goes to the very edge (`tcp_mss_split_point`).
        if usable > 0 && (fills || self.offload.is_within()) {
            return Some(Choice::New(usable as u32));
        }
        if idle {
            self.start_persist(now);
        }
        None
    }

    /// What cwnd lets go in fast recovery, if it is a segment.
    fn room_in_recovery(&mut self) -> Option<u64> {
        let room = self.room();
        if room < self.tcp.mss && self.has_data() {
            self.record_usage(true);
        }
        (room >= self.tcp.mss).then_some(room)
    }

    /// The sender sent new data, or has some that cwnd keeps back.
    #[inline]
    fn record_usage(&mut self, limited: bool) {
        self.usage.record(limited, self.board.una(), self.board.nxt());
    }

    /// Whether cwnd is full with what waits for the pacer at `rate`. In Linux these packets count as in
    /// flight, since `fq` paces them; a socket hands on what leaves in 1/1024 s, two at
    /// least (`tcp_small_queue_check`). A paced sender may never have cwnd on the path alone.
    fn fills_cwnd_with_paced(&self, rate: Option<Rate>) -> bool {
        let Some(rate) = rate else { return false };
        let (in_flight, mss) = (self.board.in_flight(), self.tcp.mss);
        // Mostly cwnd has room for more than can be handed on: that takes no division.
        let most = self.most_handed_on(rate);
        if self.tcp.pacing_rate.is_some() && in_flight + most + mss <= self.tcp.cwnd {
            return false;
        }
        let segments = if self.config.segmentation_offload { self.segments_of_packet(in_flight) } else { 1 };
        let handed_on = queue_of_socket(rate).max(2 * segments * mss);
        let nxt = self.board.nxt();
        let waiting = self.written().saturating_sub(nxt);
        let end = self.window_end.min(self.board.una().saturating_add(self.tcp.max_window));
        in_flight + handed_on.min(waiting).min(end.saturating_sub(nxt)) + mss > self.tcp.cwnd
    }

    fn is_idle(&self, now: Time) -> bool {
        self.stats.segments_sent > 0 && now > self.last_data_at + self.rtt.rto(&self.config.timers)
    }

    /// RFC 5681 section 4.1: cwnd falls to the restart window, min(IW, cwnd).
    fn restart_window(&mut self, now: Time) {
        self.sync();
        self.control.cwnd_event(now, &mut self.tcp, CaEvent::CwndRestart);
        if !self.control.owns_cwnd() {
            self.tcp.cwnd = self.tcp.cwnd.min(self.tcp.initial_window);
        }
        self.clamp();
        // One restart per idle period, even if the segment must wait after all.
        self.last_data_at = now;
    }

    /// Whether there is data that was never sent.
    pub(super) fn has_data(&self) -> bool {
        self.saturated || self.data_end > self.board.nxt()
    }

    /// Whether new data is there and the peer's window takes a segment of it (RFC 5682 step 2b).
    pub(super) fn has_new_segment_in_window(&self) -> bool {
        let nxt = self.board.nxt();
        let available =
            if self.saturated { self.tcp.mss } else { self.data_end.saturating_sub(nxt).min(self.tcp.mss) };
        available > 0 && nxt + available <= self.window_end
    }

    /// Whether the peer's window lets nothing useful go: zero, or too small for silly window avoidance.
    pub(super) fn window_is_closed(&self) -> bool {
        let nxt = self.board.nxt();
        let sent = match self.board.get(0) {
            // A probe's byte is beyond the window by design and does not count as outstanding.
            Some(front) if front.is(PROBE) => nxt - u64::from(front.len()),
            // What is outstanding was let in before: as soon as the window reaches it again it may be
            // retransmitted, and the retransmission timer must run for it.
            Some(_) => return self.window_end <= self.board.una(),
            None => nxt,
        };
        let usable = self.window_end.saturating_sub(sent);
        let wanted = if self.saturated { self.tcp.mss } else { self.data_end.saturating_sub(sent) };
        usable == 0 || (usable < wanted.min(self.tcp.mss) && 2 * usable < self.max_peer_window)
    }

    #[inline]
    fn send_new(&mut self, now: Time, len: u32) -> Option<Segment> {
        let offset = self.board.nxt();
        let in_flight = self.board.in_flight();
        let (mut within, mut pushed, mut kept) = (false, false, false);
        let offloads = self.config.segmentation_offload;
        if offloads {
            within = self.offload.is_within();
            pushed = self.ends_packet(in_flight);
            if let Some(buffer) = self.rare.as_mut().and_then(|rare| rare.buffer.as_mut()) {
                kept = buffer.on_send(offset + u64::from(len), !self.offload.is_within());
                pushed |= kept;
            }
        }
        if in_flight == 0 {
            self.sync();
            // As Linux's `tcp_event_data_sent`: nothing in flight, though something may be outstanding.
            self.control.cwnd_event(now, &mut self.tcp, CaEvent::TxStart);
            self.clamp();
        }
        if self.board.flight_size() == 0 {
            // Idle time is no lack of progress: the user timeout counts from here (RFC 9293 section 3.8.3).
            self.progress_at = now;
        }
        let fin = self.fin_queued && !self.saturated && offset + u64::from(len) == self.data_end;
        let mut sent = self.rate.on_send(now, self.is_new_flight(in_flight), in_flight, len);
        if fin {
            sent.set(FIN);
            self.fin_sent = true;
        }
        if kept {
            sent.set(PUSHED);
        }
        self.board.push(sent, len + u32::from(fin));
        self.record_transmission(now, offset, len + u32::from(fin));
        if offloads
            && !self.offload.is_within()
            && let Some(buffer) = self.buffer()
            && !buffer.waits(self.board.nxt(), self.tcp.cwnd)
        {
            let standing = self.standing();
            if let Some(buffer) = self.rare.as_mut().and_then(|rare| rare.buffer.as_mut()) {
                self.may_write |= buffer.check(standing);
            }
        }
        // In CWR a duplicate ACK does not lead to Disorder, and yet limited transmit sends.
        let duplicates = self.tcp.ca_state == CaState::Cwr && self.dup_acks > 0;
        if self.tcp.ca_state == CaState::Disorder || duplicates {
            self.limited += u64::from(len);
        }
        if let Frto::NewData { budget } = &mut self.frto {
            *budget = budget.saturating_sub(1);
        }
        if self.config.timers.rtt_sampling == RttSampling::OncePerFlight
            && self.timed().is_none()
            && self.tcp.ca_state != CaState::Recovery
        {
            self.rare.get_or_insert_default().timed = Some((self.board.nxt(), now));
        }
        self.record_usage(self.board.in_flight() + self.tcp.mss > self.tcp.cwnd);
        let mut segment = self.sent(now, offset, len, fin, false, within);
        if self.timer == Timer::Off {
            // RFC 6298 section 5.1.
            self.start_rto(now);
        } else if !(within && self.extends_tail_probe(offset)) && self.starts_probe_timer() {
            self.postpone_tail_probe(now, len + u32::from(fin), within);
        }
        self.put_ecn(&mut segment);
        if pushed {
            segment.flags = segment.flags | Flags::PSH;
        }
        Some(segment)
    }

    /// Whether a flight begins, from which delivery rates are measured: Linux asks what is outstanding, since
    /// what is in flight is a guess after losses (`tcp_rate_skb_sent`).
    fn is_new_flight(&self, in_flight: u64) -> bool {
        // What is in flight is outstanding.
        in_flight == 0
            && (self.config.timers.timeout_rules != TimeoutRules::Linux || self.board.flight_size() == 0)
    }

    /// Whether the next packet waits for an ACK that lets it grow.
    #[expect(clippy::inline_always, reason = "a call costs as much as what mostly happens")]
    #[inline(always)]
    fn waits_for_more(&self, now: Time) -> bool {
        let Some(front) = self.board.get(0) else { return false };
        let shortened = Shortened {
            limit: self.room().min(self.usable_window()),
            window: self.tcp.cwnd.min(self.tcp.peer_window),
            mss: self.tcp.mss,
            // A paced packet's own time is no pause.
            idle: now.saturating_since(self.last_data_at.max(self.pacer.departure())),
            srtt: self.tcp.srtt,
            oldest: now.saturating_since(front.sent_at),
        };
        // Mostly nothing waits.
        shortened.may_wait() && self.waits_for(shortened)
    }

    fn waits_for(&self, shortened: Shortened) -> bool {
        !matches!(self.tcp.ca_state, CaState::Recovery | CaState::Loss)
            && self.buffer().is_none_or(|buffer| !buffer.pushes_one())
            && shortened
                .waits(self.segments_of_packet(self.board.in_flight()) * self.tcp.mss, self.left_of_buffer())
    }

    /// Before a packet leaves, its buffer takes the missing bytes from the next buffer.
    #[expect(clippy::inline_always, reason = "a call costs as much as what mostly happens")]
    #[inline(always)]
    fn grow_buffer(&mut self) {
        let nxt = self.board.nxt();
        let room = self.room_of_packet(self.board.in_flight()).max(self.tcp.mss);
        // What a packet takes at the most, without a division.
        let largest = self.tcp.pacing_rate.map_or(u64::MAX, |rate| self.largest_packet(rate));
        let most = room.min(largest);
        if self.buffer().is_some_and(|buffer| buffer.left(nxt).0 < most) {
            self.take_from_next_buffer(most);
        }
    }

    fn take_from_next_buffer(&mut self, most: u64) {
        let nxt = self.board.nxt();
        let most = self.segments_of_packet(self.board.in_flight()).min(most / self.tcp.mss) * self.tcp.mss;
        if let Some(buffer) = self.rare.as_mut().and_then(|rare| rare.buffer.as_mut()) {
            buffer.grow(nxt, most);
        }
    }

    /// Bytes to the end of the buffer, and whether it is the last one.
    fn left_of_buffer(&self) -> (u64, bool) {
        let nxt = self.board.nxt();
        match self.buffer() {
            Some(buffer) => buffer.left(nxt),
            // One after the other, all full.
            None => {
                let full = full_buffer(self.tcp.mss);
                (full - nxt.saturating_sub(1) % full, false)
            }
        }
    }

    /// What cwnd lets go.
    fn room(&self) -> u64 {
        self.tcp.cwnd.saturating_sub(self.board.in_flight())
    }

    /// Most bytes of a packet by cwnd: Linux keeps at least two packets in flight (`tcp_cwnd_test`).
    fn room_of_packet(&self, in_flight: u64) -> u64 {
        self.tcp.cwnd.saturating_sub(in_flight).min(self.tcp.cwnd / 2)
    }

    /// What the peer's window lets go.
    fn usable_window(&self) -> u64 {
        self.window_end.saturating_sub(self.board.nxt())
    }

    /// Segments of a packet, as far as cwnd lets them go.
    fn segments_of_packet(&self, in_flight: u64) -> u64 {
        let tcp = &self.tcp;
        // tcp_update_pacing_rate().
        let rate = tcp.pacing_rate.or_else(|| {
            // Defaults of `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`.
            let gain = if tcp.cwnd < tcp.ssthresh / 2 { 200 } else { 120 };
            let bytes = tcp.cwnd.max(in_flight) * gain / 100;
            (!tcp.srtt.is_zero()).then(|| Rate::from_bytes_in(bytes, tcp.srtt))
        });
        segments(rate, tcp.pacing_rate.is_some(), tcp.min_rtt, tcp.mss)
    }

    /// The most that a socket hands on at this rate before it leaves, and less than two segments more.
    fn most_handed_on(&self, rate: Rate) -> u64 {
        queue_of_socket(rate).max(2 * self.largest_packet(rate))
    }

    /// Bytes of a packet at this rate, and of less than a segment more.
    fn largest_packet(&self, rate: Rate) -> u64 {
        bytes_of_packet(rate, self.tcp.min_rtt).max(2 * self.tcp.mss)
    }

    /// The same, where at most `most` may go: a packet of the least number of segments takes no rate.
    fn segments_of_packet_within(&self, in_flight: u64, most: u64) -> u64 {
        if most <= least_segments(self.tcp.pacing_rate) {
            most
        } else {
            self.segments_of_packet(in_flight).min(most)
        }
    }

    /// Whether the segment that leaves is the last of several in its packet.
    fn ends_packet(&mut self, in_flight: u64) -> bool {
        let mut offload = self.offload;
        let ends = offload.on_send(|| {
            let waiting = self.written().saturating_sub(self.board.nxt());
            let bytes = self.usable_window().min(waiting);
            let room = self.room_of_packet(in_flight) / self.tcp.mss;
            self.segments_of_packet_within(in_flight, room.min(bytes.div_ceil(self.tcp.mss)))
        });
        self.offload = offload;
        ends
    }

    /// Whether the choice belongs to a packet that has left in part.
    fn is_within_packet(&self, choice: Choice) -> bool {
        match choice {
            Choice::New(_) | Choice::ProbeNew(_) => self.offload.is_within(),
            Choice::Again(index) => self.continues_packet(index),
            Choice::Rescue(_) | Choice::ProbeAgain(_) => false,
        }
    }

    /// Whether the lost segment at `index` is in the packet of the segment that was retransmitted before it.
    fn continues_packet(&self, index: usize) -> bool {
        let Some(again) = self.rare.as_ref().and_then(|rare| rare.again.as_ref()) else { return false };
        let Some(sent) = self.board.get(index) else { return false };
        again.continues(self.board.offset(sent), sent.sent_at, self.stats.segments_sent)
    }

    fn send_again(&mut self, now: Time, index: usize) -> Option<Segment> {
        let by_timer = index == 0 && self.front_by_timer;
        let within = self.continues_packet(index);
        if self.config.segmentation_offload && self.pacing_rate().is_some() {
            let most = self.segments_of_packet(self.board.in_flight());
            if let Some(&before) = self.board.get(index) {
                let offset = self.board.offset(&before);
                let again = self.rare.get_or_insert_default().again.get_or_insert_default();
                let (len, number) = (u64::from(before.len()), self.stats.segments_sent + 1);
                again.on_send(within, (offset, len), before.sent_at, most, number);
            }
        }
        let in_flight = self.board.in_flight();
        self.rate.on_send_again(now, self.is_new_flight(in_flight), in_flight, index);
        self.prepare_retransmission();
        let sent = self.board.retransmit(index, now, by_timer)?;
        let offset = self.board.offset(&sent);
        self.record_again(now, offset, sent.len());
        self.record_retransmission(now);
        // Karn's algorithm (RFC 6298 section 3): the timed data's ACK is ambiguous now.
        if self.timed().is_some_and(|(end, _)| end > offset) {
            self.stop_timing();
        }
        // The Impatient variant does not restart the timer after the first partial ACK (RFC 6582 section 3.2
        // step 3).
        let impatient =
            self.config.recovery.newreno_variant == NewRenoVariant::Impatient && self.partial_acks > 1;
        let runs_on = impatient || !self.config.timers.restart_on_retransmit;
        let leave_running = runs_on && self.tcp.ca_state == CaState::Recovery;
        let mut segment = self.sent(now, offset, sent.payload(), sent.is(FIN), true, within);
        if (index == 0 && !leave_running) || self.timer == Timer::Off {
            // The timer counts from the retransmission of the oldest segment, as in BSD, Linux and ns-2;
            // RFC 6298 leaves it running.
            self.start_rto(now);
        }
        self.put_ecn_again(&mut segment);
        if sent.is(PUSHED) {
            segment.flags = segment.flags | Flags::PSH;
        }
        if by_timer {
            self.rare.get_or_insert_default().spurious.on_timer_retransmission(now, segment.tag);
            self.front_by_timer = false;
        }
        Some(segment)
    }

    /// Window probe: one byte, new if none is outstanding, else the oldest again (RFC 9293 section 3.8.6.1).
    fn probe(&mut self, now: Time) -> Option<Segment> {
        if !self.probe_due {
            return None;
        }
        self.probe_due = false;
        self.stats.window_probes += 1;
        self.emit(TransportEvent::WindowProbe);
        if self.board.flight_size() == 0 {
            let offset = self.board.nxt();
            if !self.has_data() {
                // Only the FIN, if anything, is left: it needs no window.
                return if self.fin_queued && !self.fin_sent { self.send_new(now, 0) } else { None };
            }
            let mut sent = self.rate.on_send(now, true, 0, 1);
            sent.set(PROBE);
            self.board.push(sent, 1);
            return Some(self.sent(now, offset, 1, false, false, false));
        }
        let (offset, payload) = self.board.probe_front()?;
        Some(self.sent(now, offset, payload.min(1), payload == 0, true, false))
    }

    /// A segment leaves, `within` a packet that others began: counts, pacing, control, and the segment itself.
    #[expect(clippy::inline_always, reason = "the segment is made where it is to be, and not copied there")]
    #[inline(always)]
    fn sent(&mut self, now: Time, offset: u64, len: u32, fin: bool, again: bool, within: bool) -> Segment {
        self.stats.segments_sent += 1;
        self.stats.bytes_sent += u64::from(len);
        if again {
            self.stats.segments_retransmitted += 1;
            self.stats.bytes_retransmitted += u64::from(len);
        }
        self.last_data_at = now;
        if let Some(rare) = &mut self.rare {
            rare.prr.on_sent(u64::from(len));
        }
        let rate = self.pacing_rate();
        self.pacer.on_send(now, len, rate, self.stats.segments_sent, within);
        self.sync();
        let packet = PacketInfo {
            offset,
            bytes: u64::from(len),
            retransmission: again,
            in_flight: self.tcp.in_flight,
        };
        self.control.on_packet_sent(now, &mut self.tcp, &packet);
        self.clamp();
        let mut flags = Flags::ACK;
        if fin {
            flags = flags | Flags::FIN;
        }
        // RFC 9293 section 3.9.1.2: PSH on the last segment that is queued.
        if !self.saturated && offset + u64::from(len) >= self.data_end && len > 0 {
            flags = flags | Flags::PSH;
        }
        let mut segment = self.segment(now, offset, flags);
        segment.len = len;
        segment
    }
}
