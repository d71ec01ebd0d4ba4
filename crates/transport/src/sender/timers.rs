//! The connection's one timer: SYN, retransmission (RFC 6298 section 5), persist (RFC 9293 section 3.8.6.1)
//! or TIME-WAIT. No two of them are needed at once.

use super::Sender;
use crate::congestion::{CaEvent, CaState};
use crate::frto::Frto;
use crate::scoreboard::{RETRANSMITTED_BY_TIMER, SACKED};
use crate::{FRto, Recovery, TransportEvent};
use cogtcp_units::{Rate, Time};

/// What the deadline is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Timer {
    Off,
    Syn,
    Retransmit,
    /// RACK's reordering timer, in the place of the retransmission timer.
    Reordering,
    /// The tail loss probe's, in the place of the retransmission timer.
    TailProbe,
    Persist,
    TimeWait,
}

impl Sender {
    #[inline]
    pub(super) fn arm(&mut self, timer: Timer, deadline: Time) {
        self.timer = timer;
        (self.deadline, self.armed_at) = (deadline, Time::MAX);
    }

    /// Sets a timer that is due at `at` or with the next tick of the host's wheel. Nearly every ACK and every
    /// segment sets one, and few fire: only then is the tick worked out.
    #[inline]
    pub(super) fn arm_on_wheel(&mut self, timer: Timer, now: Time, at: Time) {
        self.timer = timer;
        let is_set = self.armed_at != Time::MAX && now < self.deadline;
        if !is_set || !self.config.timers.wheel().stays((self.armed_at, self.deadline), (now, at)) {
            (self.deadline, self.armed_at) = (at, now);
        }
    }

    /// When the timer fires.
    pub(super) fn fires_at(&self) -> Time {
        if self.armed_at == Time::MAX {
            return self.deadline;
        }
        self.config.timers.wheel().fires(self.armed_at, self.deadline)
    }

    /// The time of [`Sender::poll_timeout`] has come; earlier calls do nothing. A driver asks `poll_transmit`
    /// next.
    pub fn handle_timeout(&mut self, now: Time) {
        if now >= self.paced_until {
            // The pacer lets go; a driver that does not pull now is not to be asked again.
            self.paced_until = Time::MAX;
        }
        if now < self.deadline || now < self.fires_at() {
            return;
        }
        match self.timer {
            Timer::Off => self.arm(Timer::Off, Time::MAX),
            Timer::Syn => self.syn_timeout(now),
            Timer::Retransmit => self.retransmission_timeout(now),
            Timer::Reordering => self.reordering_timeout(now),
            Timer::TailProbe => self.tail_probe_timeout(now),
            Timer::Persist => self.persist_timeout(now),
            Timer::TimeWait => self.leave_time_wait(),
        }
    }

    fn syn_timeout(&mut self, now: Time) {
        if self.gives_up(now) {
            return;
        }
        // Linux's first timeouts of a SYN are equally long.
        if !self.times_out_as_linux() || self.syn_count > self.config.linear_syn_timeouts {
            self.rtt.back_off();
        }
        self.syn_pending = true;
        self.arm(Timer::Off, Time::MAX);
        self.emit(TransportEvent::Rto { count: self.syn_count, next: self.rtt.rto(&self.config.timers) });
    }

    /// The user timeout (RFC 9293 section 3.8.3).
    fn gives_up(&mut self, now: Time) -> bool {
        let over = self.config.timers.user_timeout.is_some_and(|limit| now >= self.progress_at + limit);
        if over {
            self.abort();
        }
        over
    }

    /// RFC 6298 section 5.4 to 5.6, RFC 5681 section 3.1 for the window.
    pub(super) fn retransmission_timeout(&mut self, now: Time) {
        if self.gives_up(now) {
            return;
        }
        let Some(front) = self.board.get(0) else {
            self.arm(Timer::Off, Time::MAX);
            return;
        };
        let again = front.is(RETRANSMITTED_BY_TIMER) && self.config.recovery.hold_ssthresh;
        let linux = self.times_out_as_linux();
        let front_len = front.len();
        if front.is(SACKED) {
            // The receiver reneged (RFC 2018 section 8): what it said is worth nothing.
            self.board.forget_sacks();
        }
        self.stats.timeouts += 1;
        self.rto_count += 1;
        self.rtt.back_off();
        self.emit(TransportEvent::Rto { count: self.rto_count, next: self.rtt.rto(&self.config.timers) });

        // These read the state before the timeout: ca_state, `frto` and the marks of loss change below.
        let in_rto_recovery = self.tcp.ca_state == CaState::Loss && self.after_rto;
        let frto = self.config.undo.f_rto != FRto::Off && self.may_start_frto();
        let rare = self.rare.get_or_insert_default();
        rare.frto_timeouts = if self.frto == Frto::Retransmitted { rare.frto_timeouts + 1 } else { 1 };
        rare.frto_end = self.board.una() + u64::from(front_len);

        let flight = self.loss_flight();
        self.sync();
        self.tcp.flight_size = flight;
        self.control.cwnd_event(now, &mut self.tcp, CaEvent::Loss);
        // First: an undo counts the retransmissions that are on their way after this (`tcp_init_undo`).
        let newly_lost =
            if self.rack_in_use() { self.mark_overdue_lost(now) } else { self.board.mark_all_lost() };
        self.rate.lost += newly_lost;
        // RFC 5681 section 3.1: ssthresh is held when this segment was retransmitted by the timer before;
        // RFC 3168 section 6.1.2: and when an echo has lowered it in this window.
        if linux {
            if self.lowers_ssthresh_as_linux() {
                self.remember_window();
                self.reduce_ssthresh(now, flight);
            }
        } else if !again {
            if !in_rto_recovery {
                self.remember_window();
            }
            if self.tcp.ca_state != CaState::Cwr {
                self.reduce_ssthresh(now, flight);
            }
        }
        self.end_tail_probe();
        if !self.control.owns_cwnd() {
            // The loss window (RFC 5681 section 3.1). Departure from Linux: it is no larger than the window
            // before.
            let in_flight = if linux { self.board.in_flight() } else { 0 };
            self.tcp.cwnd = (self.tcp.mss + in_flight).min(self.tcp.cwnd).max(self.tcp.mss);
        }
        if linux {
            self.record_reduction(now);
        }
        self.leave_fast_recovery();
        self.queue_cwr();
        // The control hears of each timeout, also of one in `Loss` (`tcp_enter_loss`).
        self.enter_ca_state(now, CaState::Loss);
        self.after_rto = true;
        // RFC 6582 section 3.2 step 4; RFC 6675 section 5.1.
        self.recovery_point = self.board.nxt();
        self.frto = if frto { Frto::Retransmitted } else { Frto::Idle };
        self.stop_timing();
        self.retransmit_front = true;
        self.front_by_timer = true;
        self.sync();
        // RFC 6298 section 5.6.
        self.start_rto(now);
    }

    /// F-RTO's step 1 (RFC 5682 sections 2.1 and 3.1). Not in the recovery of an earlier timeout, but again
    /// while no ACK has arrived since. Not if retransmissions of a fast recovery may be acknowledged in place
    /// of originals, which section 2.1 allows for Reno and NewReno only. Linux: also again while no ACK has
    /// arrived since a timeout in fast recovery.
    fn may_start_frto(&self) -> bool {
        if self.times_out_as_linux() && self.rto_count > 1 && self.tcp.peer_window > 0 {
            return true;
        }
        match self.tcp.ca_state {
            CaState::Open | CaState::Disorder | CaState::Cwr => true,
            CaState::Recovery => matches!(self.recovery(), Recovery::Reno | Recovery::NewReno),
            CaState::Loss => self.frto == Frto::Retransmitted,
        }
    }

    /// Whether a timeout lowers ssthresh in Linux: once for a window of data, and not for timeouts without an
    /// ACK between.
    fn lowers_ssthresh_as_linux(&self) -> bool {
        let window_is_over = self.board.una() >= self.recovery_point;
        match self.tcp.ca_state {
            CaState::Open | CaState::Disorder => true,
            CaState::Cwr | CaState::Recovery => window_is_over,
            // While the peer's window is closed the kernel counts no retransmission, so that each timeout is
            // a new one.
            CaState::Loss => window_is_over || self.rto_count == 1 || self.tcp.peer_window == 0,
        }
    }

    /// FlightSize at a loss event; a control takes its share. It excludes limited transmit's
    /// segments (RFC 5681 section 3.2). After a timeout it counts later segments only, since the rest is
    /// lost. It never exceeds cwnd.
    ///
    /// RFC 5681 equation (4) lets ssthresh be "no more than" half of FlightSize. FlightSize may far exceed
    /// the network's content. Fast recovery adds a segment per duplicate ACK, and segments of a long recovery
    /// stay outstanding beyond its end. Half of it would raise the window at a loss, and slow start to that
    /// window would overflow the queue again. The code of ns-2 halves the lesser of the two as well; Linux
    /// halves cwnd.
    pub(super) fn loss_flight(&self) -> u64 {
        let flight = match self.tcp.ca_state {
            CaState::Loss => self.board.in_flight(),
            CaState::Open | CaState::Disorder | CaState::Cwr | CaState::Recovery => {
                self.board.flight_size().saturating_sub(self.limited)
            }
        };
        flight.min(self.tcp.cwnd)
    }

    /// ssthresh after a loss event or an echoed mark, from the control.
    pub(super) fn reduce_ssthresh(&mut self, now: Time, flight: u64) {
        self.sync();
        self.tcp.flight_size = flight;
        self.tcp.ssthresh = self.control.ssthresh(now, &self.tcp).max(self.tcp.mss);
        self.queue_cwr();
    }

    /// cwnd falls to ssthresh at a loss and never rises to it. ssthresh exceeds cwnd if a control estimates
    /// the path's capacity (Westwood+), and at a cwnd under two segments. Slow start then continues.
    pub(super) fn lower_cwnd(&mut self) {
        if !self.control.owns_cwnd() {
            self.tcp.cwnd = self.tcp.cwnd.min(self.tcp.ssthresh);
        }
    }

    /// Starts the retransmission timer, unless the persist timer holds the connection.
    #[inline]
    pub(super) fn start_rto(&mut self, now: Time) {
        if self.timer != Timer::Persist {
            self.rto_at = now + self.rtt.rto(&self.config.timers);
            self.arm_next(now);
        }
    }

    /// After an ACK: which timer is needed (RFC 6298 sections 5.2 and 5.3).
    #[inline]
    pub(super) fn update_timer(&mut self, now: Time, restart: bool) {
        match self.timer {
            Timer::Off | Timer::Retransmit | Timer::Reordering | Timer::TailProbe => {
                if self.board.flight_size() == 0 {
                    self.arm(Timer::Off, Time::MAX);
                } else if restart || self.timer == Timer::Off {
                    self.start_rto(now);
                } else if self.waits_for_reordering() {
                    self.arm_next(now);
                }
            }
            Timer::Syn | Timer::Persist | Timer::TimeWait => {}
        }
    }

    /// The peer's window is too small for the next segment and nothing will come to open it: probe (RFC 9293
    /// section 3.8.6.1). The first probe leaves after an RTO. If data is outstanding under a window shrunk to
    /// zero, this timer replaces the retransmission timer, as in BSD: cwnd stays (Freeze-TCP needs this).
    pub(super) fn start_persist(&mut self, now: Time) {
        if self.timer == Timer::Persist {
            return;
        }
        if let Some(rare) = &mut self.rare {
            rare.probe_count = 0;
        }
        // The time for which the window is closed is no round-trip time.
        self.stop_timing();
        let due = now + self.rtt.backed_off(0, &self.config.timers);
        self.arm_on_wheel(Timer::Persist, now, due);
        self.emit(TransportEvent::ZeroWindow);
        self.sync();
        self.control.cwnd_event(now, &mut self.tcp, CaEvent::Frozen);
        self.clamp();
    }

    /// True if a window that closes over outstanding data starts the persist timer instead of the
    /// retransmission timer: BSD. In Linux the retransmission timer continues and sends the probe
    /// (`tcp_retransmit_timer`).
    pub(super) fn persists_with_data_outstanding(&self) -> bool {
        !self.times_out_as_linux()
    }

    fn persist_timeout(&mut self, now: Time) {
        // RFC 9293 section 3.8.6.1: as long as the peer acknowledges the probes the connection stays; the
        // user timeout counts from the last ACK.
        if self.gives_up(now) {
            return;
        }
        self.probe_due = true;
        let count = &mut self.rare.get_or_insert_default().probe_count;
        *count += 1;
        let due = now + self.rtt.backed_off(*count, &self.config.timers);
        self.arm_on_wheel(Timer::Persist, now, due);
    }

    /// The peer's window opened.
    pub(super) fn end_persist(&mut self, now: Time) {
        self.arm(Timer::Off, Time::MAX);
        self.probe_due = false;
        if std::mem::take(&mut self.unreachable) {
            self.retransmit_outstanding(now);
        }
        self.update_timer(now, true);
        self.emit(TransportEvent::WindowOpened);
        self.sync();
        self.control.cwnd_event(now, &mut self.tcp, CaEvent::Thawed);
        self.clamp();
        self.pace_resume();
    }

    /// The peer can be reached again: what was outstanding is taken as lost and retransmitted in order as
    /// cwnd allows, at once. BSD's persist mode has pulled SND.NXT back to SND.UNA and so does the same. No
    /// loss event: nothing is reduced here.
    fn retransmit_outstanding(&mut self, now: Time) {
        if self.board.flight_size() == 0 {
            return;
        }
        self.rate.lost += self.board.mark_all_lost();
        self.end_tail_probe();
        self.leave_fast_recovery();
        self.set_ca_state(now, CaState::Loss);
        self.after_rto = true;
        self.recovery_point = self.board.nxt();
        self.frto = Frto::Idle;
    }

    /// With [`paced_resume`](crate::SenderConfig::paced_resume): cwnd over SRTT, until this window is
    /// acknowledged.
    fn pace_resume(&mut self) {
        if self.config.paced_resume && !self.tcp.srtt.is_zero() {
            let window = self.inflated_cwnd().min(self.tcp.max_window);
            let rate = Rate::from_bytes_in(window, self.tcp.srtt);
            self.rare.get_or_insert_default().resume = Some((rate, self.board.una().saturating_add(window)));
        }
    }
}
