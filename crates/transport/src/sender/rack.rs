//! RACK-TLP (RFC 8985) in the sender: losses by time, the reordering timer, the tail loss probe. In use where
//! it is set and SACK was negotiated.

use super::{Sender, rare::Rare, timers::Timer};
use crate::congestion::{AckSample, CaEvent, CaState};
use crate::rack::{Echo, ProbeVerdict, Tlp, Transmission, probe_timeout};
use crate::{PrrRules, Segment, TimeoutRules};
use cogtcp_units::{Duration, Time};

/// `TCP_TIMEOUT_MIN_US`: by how much a Linux host lengthens the reordering timer and the tail loss probe's.
/// Two ticks before Linux 6.7.
const LEAST_TIMEOUT: Duration = Duration::from_millis(2);
/// The shortest delay that Linux sets a timer to: it rounds up to a tick.
const LEAST_DELAY: Duration = Duration::from_micros(1);

impl Sender {
    /// Whether RACK finds the losses.
    #[inline]
    pub(super) fn rack_in_use(&self) -> bool {
        self.rack.is_some()
    }

    /// The timestamp echoed.
    pub(super) fn echo(&self, segment: &Segment) -> Echo {
        let ts = segment.timestamps().filter(|ts| self.timestamps_ok && ts.echo != 0)?;
        Some((ts.echo, self.config.timers.timestamp_tick))
    }

    /// The timestamp echoed, for SACK blocks. Linux's RACK does not heed it there (`tcp_sacktag_one`), as ACKs behind a
    /// gap echo an old timestamp.
    pub(super) fn echo_for_sacks(&self, segment: &Segment) -> Echo {
        if self.config.timers.timeout_rules == TimeoutRules::Linux { None } else { self.echo(segment) }
    }

    /// A new segment leaves, which is in the scoreboard.
    #[inline]
    pub(super) fn record_transmission(&mut self, now: Time, offset: u64, len: u32) {
        if let Some(rack) = &mut self.rack
            && rack.listed_until.is_some()
        {
            rack.order.push_back(Transmission { start: offset, len, at: now });
        }
    }

    /// Lists the transmissions, since a segment is about to be retransmitted or SACKs came.
    fn list_transmissions(&mut self) {
        let Some(rack) = &mut self.rack else { return };
        if rack.listed_until.is_none() {
            rack.order.extend(self.board.transmissions_but_probes());
            rack.listed_until = Some(self.board.nxt());
        }
    }

    /// A segment of the scoreboard is about to be retransmitted.
    pub(super) fn prepare_retransmission(&mut self) {
        if self.rack_in_use() {
            self.list_transmissions();
        }
    }

    /// A segment of the scoreboard leaves again.
    pub(super) fn record_again(&mut self, now: Time, offset: u64, len: u32) {
        if let Some(rack) = &mut self.rack
            && rack.listed_until.is_some()
        {
            rack.listed_until = Some(self.board.nxt());
            rack.order.push_back(Transmission { start: offset, len, at: now });
        }
    }

    /// Whether RACK has nothing to find, as nearly always: nothing outstanding was retransmitted or SACKed, nor
    /// left before what was delivered.
    #[inline]
    pub(super) fn has_nothing_to_find(&self) -> bool {
        let Some(rack) = &self.rack else { return true };
        let front_may_be_lost = || {
            let front = self.board.get(0);
            front.is_some_and(|front| {
                rack.is_older_than_latest(front.sent_at, self.board.una() + u64::from(front.len()))
            })
        };
        rack.listed_until.is_none() && self.board.is_clean() && !front_may_be_lost()
    }

    /// Section 6.2, step 5. Returns the bytes newly lost, and sets when to look again.
    ///
    /// Transmissions are kept in order of departure, so only overdue ones are examined. The scan starts
    /// behind the last segment that may become overdue: the timer belongs to this segment.
    #[inline]
    pub(super) fn detect_losses(&mut self, now: Time) -> u64 {
        if self.has_nothing_to_find() {
            if let Some(rare) = &mut self.rare {
                rare.reorder_at = None;
            }
            return 0;
        }
        self.find_losses(now)
    }

    pub(super) fn find_losses(&mut self, now: Time) -> u64 {
        self.list_transmissions();
        let linux = self.times_out_as_linux();
        let Some(rack) = &mut self.rack else { return 0 };
        let certain = matches!(self.tcp.ca_state, CaState::Recovery | CaState::Loss)
            // DupThresh segments SACKed, counted in bytes as RFC 6675's IsLost() does.
            || self.board.sacked() > u64::from(self.config.recovery.dup_thresh.saturating_sub(1)) * self.tcp.mss;
        let window = rack.window(certain, self.tcp.min_rtt, self.tcp.srtt);
        let rare = self.rare.get_or_insert_default();
        rare.reorder_at = None;
        let mut newly = 0;
        while let Some(&sent) = rack.order.front() {
            if let Some(index) = self.board.find(&sent) {
                let end = sent.start + u64::from(sent.len);
                let Some(due) = rack.due(sent.at, end, window) else { break };
                if due > now {
                    let end = rack.older_than_latest();
                    let last = rack.order.range(..end).rev().find(|sent| self.board.find(sent).is_some());
                    rare.reorder_at = Some(last.map_or(due, |last| due + last.at.saturating_since(sent.at)));
                    break;
                }
                let retransmitted = self.board.retransmitted();
                newly += self.board.mark_lost(index, linux);
                // A retransmission that left after the latest response to a loss; in Linux whenever it left
                // (`FLAG_LOST_RETRANS`).
                rare.retransmission_lost |=
                    self.board.retransmitted() < retransmitted && (linux || sent.at >= rare.reduced_at);
                if linux {
                    rack.found_lost.push(sent, self.board.una(), rack.order.len());
                }
            }
            // Delivered, retransmitted since, or lost now: another transmission speaks for it, if any.
            rack.order.pop_front();
        }
        if rack.listed_until.is_some_and(|until| self.board.una() >= until) && self.board.is_clean() {
            let known = |sent: Transmission| (sent.at, sent.start + u64::from(sent.len));
            debug_assert!(
                rack.order.iter().copied().map(known).eq(self.board.transmissions_but_probes().map(known)),
                "what was sent since the last retransmission left in order"
            );
            rack.listed_until = None;
            rack.order.clear();
            rack.found_lost.clear();
        }
        self.rate.lost += newly;
        newly
    }

    /// Section 9.3: without PRR the loss of a retransmission is a second indication of congestion with its
    /// own response. One response covers all retransmissions that left after the previous response.
    pub(super) fn respond_to_lost_retransmission(&mut self, now: Time) {
        let Some(rare) = &mut self.rare else { return };
        if !std::mem::take(&mut rare.retransmission_lost) || self.prr_in_use() {
            return;
        }
        self.record_reduction(now);
        self.reduce_ssthresh(now, self.loss_flight());
        self.lower_cwnd();
        self.clamp();
    }

    /// RACK found a retransmission lost that left after the latest response, and there is something to
    /// retransmit.
    pub(super) fn retransmission_is_lost(&mut self) -> bool {
        self.rack_in_use()
            && self.rare.as_ref().is_some_and(|rare| rare.retransmission_lost)
            && self.board.next_lost().is_some()
    }

    /// There is a response to a loss.
    pub(super) fn record_reduction(&mut self, now: Time) {
        if self.rack.is_some() {
            let rare = self.rare.get_or_insert_default();
            (rare.reduced_at, rare.retransmission_lost) = (now, false);
        }
    }

    /// Linux: where reordering extended beyond DupThresh segments, what SACKs deliver outside of recovery
    /// lets the window grow too (`tcp_may_raise_cwnd`).
    #[inline]
    pub(super) fn grows_by_sacks(&self) -> bool {
        self.times_out_as_linux()
            && self.rack.as_ref().is_some_and(|rack| rack.extent() > self.dup_thresh_bytes())
    }

    fn dup_thresh_bytes(&self) -> u64 {
        u64::from(self.config.recovery.dup_thresh) * self.tcp.mss
    }

    /// Section 6.3, at a timeout: the oldest segment is lost, and what is overdue. Returns the bytes newly
    /// lost.
    pub(super) fn mark_overdue_lost(&mut self, now: Time) -> u64 {
        let linux = self.times_out_as_linux();
        let most = self.dup_thresh_bytes();
        if let Some(rack) = &mut self.rack
            && matches!(self.tcp.ca_state, CaState::Open | CaState::Disorder)
            && self.board.sacked() >= most
        {
            rack.limit_extent(most);
        }
        let Some(rack) = &self.rack else { return self.board.mark_all_lost() };
        let window = rack.window(true, self.tcp.min_rtt, self.tcp.srtt);
        if let Some(rare) = &mut self.rare {
            rare.reorder_at = None;
        }
        self.board.mark_lost_where(linux, |sent| rack.is_overdue(now, sent.sent_at, window))
    }

    /// An undo: nothing is lost, and RACK judges again ([`Rack::list`](crate::rack::Rack::list)).
    pub(super) fn restart_rack(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.list(self.board.unsacked());
            rack.listed_until = Some(self.board.nxt());
        }
    }

    /// The reordering timer expired: what it waited for is lost.
    pub(super) fn reordering_timeout(&mut self, now: Time) {
        let newly = self.detect_losses(now);
        if newly > 0 {
            let nothing = AckSample { lost: newly, ..AckSample::default() };
            match self.tcp.ca_state {
                CaState::Open | CaState::Disorder | CaState::Cwr => {
                    let linux = self.config.recovery.prr_rules == PrrRules::Linux;
                    let delivered = if linux { self.tcp.mss } else { 0 };
                    self.enter_fast_recovery(now, &AckSample { delivered, ..nothing });
                }
                // RFC 9937 knows ACKs alone; what was lost must not let a burst out either.
                CaState::Recovery => {
                    self.respond_to_lost_retransmission(now);
                    self.reduce_rate(&nothing);
                }
                CaState::Loss => {}
            }
            self.sync();
            self.start_rto(now);
        } else if now >= self.rto_at && !self.times_out_as_linux() {
            // The window is as long as SRTT where D-SACKs have widened it: the RTO came first.
            self.retransmission_timeout(now);
        } else {
            self.arm_next(now);
        }
    }

    /// Sets the timer to run next.
    #[inline]
    pub(super) fn arm_next(&mut self, now: Time) {
        // Without RACK, a wheel and a pacer that waits: the RTO alone.
        if self.rack.is_none() && self.config.timers.are_exact() && self.pacer.departure() <= now {
            let at = self.rto_at.max(now);
            debug_assert_eq!((Timer::Retransmit, at), self.next_timer(now));
            (self.timer, self.deadline, self.armed_at) = (Timer::Retransmit, at, now);
        } else {
            self.arm_one_of(now);
        }
    }

    fn arm_one_of(&mut self, now: Time) {
        let (timer, at) = self.next_timer(now);
        self.arm_on_wheel(timer, now, at);
    }

    /// That timer, the RTO being at `rto_at`: reordering, tail loss probe, or retransmission.
    fn next_timer(&self, now: Time) -> (Timer, Time) {
        let longer = if self.config.timers.timer_tick.is_zero() { Duration::ZERO } else { LEAST_TIMEOUT };
        // Section 7.2: a probe goes in the place of an earlier RTO. Linux: of an RTO that is to come.
        let linux = self.times_out_as_linux();
        let bound = if linux && self.rto_at <= now { Time::MAX } else { self.rto_at };
        // Section 8: these timers exclude each other.
        let (timer, at) = if let Some(at) = self.rare.as_ref().and_then(|rare| rare.reorder_at) {
            (Timer::Reordering, (at + longer).min(bound))
        } else if self.may_time_probe() {
            let one = self.board.flight_size() <= self.tcp.mss;
            let pto = probe_timeout(self.tcp.srtt, one, self.config.recovery.max_ack_delay);
            let at = now + pto + if one { Duration::ZERO } else { longer };
            (Timer::TailProbe, at.min(bound) + self.pacing_delay(now))
        } else {
            // Not after a timeout (`tcp_retransmit_timer`).
            let delay = if self.front_by_timer { Duration::ZERO } else { self.pacing_delay(now) };
            (Timer::Retransmit, self.rto_at + delay)
        };
        // An RTO that is over already runs out with the next tick (`tcp_rearm_rto`).
        (timer, at.max(if linux { now + LEAST_DELAY } else { now }))
    }

    /// By how much a Linux host lengthens the probe's timer and the RTO: the time until the pacer lets the next
    /// packet go, in whole ticks (`tcp_pacing_delay`).
    fn pacing_delay(&self, now: Time) -> Duration {
        if self.is_delayed_by_pacing(now) {
            self.config.timers.wheel().floor(self.pacer.departure().saturating_since(now))
        } else {
            Duration::ZERO
        }
    }

    /// Whether that is not zero. Mostly the pacer waits for less than a tick, and no tick is worked out.
    #[inline]
    fn is_delayed_by_pacing(&self, now: Time) -> bool {
        let departure = self.pacer.departure();
        departure > now && departure.saturating_since(now) >= self.config.timers.timer_tick
    }

    /// Whether RACK's reordering timer runs, or is to run. The other timers count from what was sent or
    /// acknowledged last: an ACK that acknowledges nothing leaves them alone (RFC 8985 section 7.2, RFC 6298
    /// section 5).
    #[inline]
    pub(super) fn waits_for_reordering(&self) -> bool {
        self.timer == Timer::Reordering || self.rare.as_ref().is_some_and(|rare| rare.reorder_at.is_some())
    }

    /// New data has left while a tail loss probe was due (section 7.2: the probe counts from the last segment
    /// sent). In Linux the RTO counts from the oldest segment then, and bounds the probe as long as it is to come.
    /// `len` sequence numbers have left, `within` a packet or as its first.
    #[inline]
    pub(super) fn postpone_tail_probe(&mut self, now: Time, len: u32, within: bool) {
        // Set at this instant, with more than a segment in flight: only an earlier RTO moves it. Where the pacer
        // makes packets wait, a control may have raised the rate since, which ends a wait that was added.
        let is_set = self.timer == Timer::TailProbe
            && self.armed_at == now
            && self.board.flight_size() > self.tcp.mss + u64::from(len)
            && self.pacer.departure() <= now;
        if is_set && within {
            // The first segment of its packet has done all of it, and nothing came between.
            debug_assert_eq!((self.rto_at, self.timer, self.deadline), {
                let (timer, at) = self.next_timer(now);
                let linux = self.times_out_as_linux();
                (if linux { self.rto_of_front(now) } else { self.rto_at }, timer, at)
            });
        } else {
            self.postpone_to(now, is_set);
        }
    }

    fn postpone_to(&mut self, now: Time, is_set: bool) {
        let before = self.rto_at;
        if self.times_out_as_linux() {
            self.rto_at = self.rto_of_front(now);
            if let Some(rare) = &mut self.rare {
                rare.reorder_at = None;
            }
        }
        if is_set && now < self.rto_at && self.rto_at <= before && self.may_time_probe() {
            self.deadline = self.deadline.min(self.rto_at);
            debug_assert_eq!((self.timer, self.deadline), self.next_timer(now));
        } else {
            self.arm_next(now);
        }
    }

    /// When the RTO is over that counts from the oldest segment's last transmission (`tcp_rto_delta_us`).
    fn rto_of_front(&self, now: Time) -> Time {
        self.board.get(0).map_or(now, |front| front.sent_at) + self.rtt.rto(&self.config.timers)
    }

    /// Whether the timer that runs is, or is to be, the tail loss probe's (section 7.2): outside of loss recovery, with
    /// nothing SACKed. There is one probe at a time, and none without a round-trip time since the last. In Linux the
    /// timer runs while a probe is outstanding, too, and then starts the RTO (`tcp_send_loss_probe`).
    #[inline]
    fn may_time_probe(&self) -> bool {
        // With SACKs Linux is in Disorder.
        let may = match self.tcp.ca_state {
            CaState::Open => !self.board.has_sacks(),
            CaState::Cwr => self.times_out_as_linux() || !self.board.has_sacks(),
            CaState::Disorder | CaState::Recovery | CaState::Loss => false,
        };
        may && self.config.recovery.tlp
            && self.rack_in_use()
            && self.rare.as_ref().is_none_or(|rare| {
                if self.times_out_as_linux() { !rare.tlp.pending } else { rare.tlp.is_idle() }
            })
    }

    /// Whether new data starts the probe's timer again, or in Linux in the place of the RTO's or of the reordering
    /// timer (`tcp_write_xmit`), but for the probe itself.
    #[inline]
    pub(super) fn starts_probe_timer(&self) -> bool {
        self.timer == Timer::TailProbe
            || (matches!(self.timer, Timer::Retransmit | Timer::Reordering)
                && self.times_out_as_linux()
                && self.may_time_probe())
    }

    /// The probe timer expired (section 7.3): the driver's next `poll_transmit` takes the probe.
    pub(super) fn tail_probe_timeout(&mut self, now: Time) {
        let linux = self.times_out_as_linux();
        let tlp = &mut self.rare.get_or_insert_default().tlp;
        // Linux: an outstanding probe is followed by none.
        tlp.pending = !linux || tlp.end.is_none();
        // Section 7.3: after the attempt to probe the RTO runs, not the PTO.
        self.rto_at = if tlp.pending {
            now + self.rtt.rto(&self.config.timers)
        } else {
            self.rto_of_front(now).max(now + LEAST_DELAY)
        };
        self.arm_on_wheel(Timer::Retransmit, now, self.rto_at + self.pacing_delay(now));
    }

    /// The probe has left.
    pub(super) fn tail_probe_sent(&mut self, is_retransmission: bool) {
        let end = Some(self.board.nxt());
        let tlp = &mut self.rare.get_or_insert_default().tlp;
        *tlp = Tlp { pending: false, end, is_retransmission, unmeasured: true };
    }

    /// Whether the new segment at `offset`, which has left within a packet, is of the probe's packet. The probe is then
    /// the whole packet.
    pub(super) fn extends_tail_probe(&mut self, offset: u64) -> bool {
        let nxt = self.board.nxt();
        let probe = self.rare.as_mut().map(|rare| &mut rare.tlp).filter(|tlp| tlp.end == Some(offset));
        probe.map(|tlp| tlp.end = Some(nxt)).is_some()
    }

    /// No probe is to be sent.
    pub(super) fn forget_tail_probe(&mut self) {
        if let Some(rare) = &mut self.rare {
            rare.tlp.pending = false;
        }
    }

    /// No probe is to be sent, and none is outstanding: what repairs losses now is not the probe.
    pub(super) fn end_tail_probe(&mut self) {
        if let Some(rare) = &mut self.rare {
            (rare.tlp.end, rare.tlp.pending) = (None, false);
        }
    }

    /// What an ACK says to RACK beyond what it delivers, and to an outstanding probe (section 7.4).
    #[expect(clippy::inline_always, reason = "a call costs as much as what mostly happens")]
    #[inline(always)]
    pub(super) fn rack_ack(&mut self, now: Time, ack: u64, sample: &AckSample, bare: bool) {
        if let Some(rack) = &mut self.rack {
            rack.end_ack();
        }
        let is_told = |rare: &Rare| rare.d_sack_end.is_some() || !rare.tlp.is_idle();
        if self.rare.as_deref().is_some_and(is_told) {
            self.judge_duplicates(now, ack, sample, bare);
        }
    }

    /// An ACK came while a probe is under way, or with a D-SACK.
    fn judge_duplicates(&mut self, now: Time, ack: u64, sample: &AckSample, bare: bool) {
        let rare = self.rare.get_or_insert_default();
        let d_sack_end = rare.d_sack_end;
        let explained = rare.tlp.end.is_some() && d_sack_end == rare.tlp.end;
        if d_sack_end.is_some()
            && !explained
            && let Some(rack) = &mut self.rack
        {
            rack.on_d_sack(self.board.una(), self.board.nxt());
        }
        if sample.acked > 0 {
            rare.tlp.pending = false;
        }
        if sample.rtt.is_some() {
            rare.tlp.unmeasured = false;
        }
        if rare.tlp.judge(ack, d_sack_end, bare) == ProbeVerdict::Repaired
            && matches!(self.tcp.ca_state, CaState::Open | CaState::Disorder)
        {
            self.react_to_repaired_loss(now, sample.acked);
        }
    }

    /// A loss that the probe repaired is a loss (section 7.4.2): the window becomes what it would be after
    /// fast recovery. FlightSize is that before this ACK of `acked` bytes.
    fn react_to_repaired_loss(&mut self, now: Time, acked: u64) {
        self.remember_window();
        self.reduce_ssthresh(now, (self.board.flight_size() + acked).min(self.tcp.cwnd));
        self.lower_cwnd();
        self.control.cwnd_event(now, &mut self.tcp, CaEvent::CompleteCwr);
        self.clamp();
    }
}
