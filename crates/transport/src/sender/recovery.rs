//! Loss detection and recovery: Tahoe, Reno, NewReno (RFC 5681, RFC 6582), SACK (RFC 6675, at the rate
//! of RFC 9937), and what follows a timeout.

use super::Sender;
use crate::congestion::{AckSample, CaEvent, CaState};
use crate::frto::{Frto, FrtoAck, Verdict};
use crate::prr::Prr;
use crate::rack::Echo;
use crate::{
    FRto, FastRetransmitGuard, FullAckWindow, NewRenoVariant, PrrRules, Recovery, RecoveryRules,
    TransportEvent,
};
use cogtcp_units::Time;

/// What recovery makes of an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// The control may grow cwnd.
    pub(super) grow: bool,
    /// The retransmission timer restarts.
    pub(super) restart_timer: bool,
}

impl Sender {
    /// Judges an ACK that was entered in the scoreboard.
    #[inline]
    pub(super) fn recover(&mut self, now: Time, ack: &AckSample, frto: FrtoAck, echo: Echo) -> Outcome {
        match self.tcp.ca_state {
            CaState::Open | CaState::Disorder | CaState::Cwr => {
                if self.tcp.ca_state != CaState::Cwr {
                    self.undo_late(now);
                }
                self.complete_cwr(now);
                let outcome = self.recover_open(now, ack);
                // After the losses: a loss and a mark in one ACK reduce the window once (RFC 3168 section
                // 6.1.2).
                self.respond_to_echo(now, ack);
                // Linux does not grow cwnd in CWR either (`tcp_cong_control`).
                Outcome { grow: outcome.grow && self.tcp.ca_state != CaState::Cwr, ..outcome }
            }
            CaState::Recovery => self.recover_fast(now, ack, echo),
            CaState::Loss => self.recover_loss(now, ack, frto, echo),
        }
    }

    #[inline]
    fn recover_open(&mut self, now: Time, ack: &AckSample) -> Outcome {
        let grow = Outcome { grow: true, restart_timer: ack.acked > 0 };
        if ack.acked > 0 {
            self.dup_acks = 0;
            self.inflation = 0;
            self.limited = 0;
            if self.tcp.ca_state == CaState::Disorder && !self.board.has_sacks() {
                self.set_ca_state(now, CaState::Open);
            }
        }
        if ack.duplicate {
            self.dup_acks += 1;
            if self.tcp.ca_state != CaState::Cwr {
                self.set_ca_state(now, CaState::Disorder);
            }
        }
        if self.rack_in_use() {
            if ack.duplicate && self.control_asks_to_retransmit(now) {
                self.rate.lost += self.board.mark_front_lost();
                self.board.rewind();
            }
            // RFC 8985 section 6.2 step 5: RACK's mark, and no count of duplicates, begins recovery.
            if !self.loss_is_proven() {
                return grow;
            }
            self.enter_fast_recovery(now, ack);
            return Outcome {
                grow: false,
                restart_timer: ack.acked > 0 || self.config.timers.restart_on_retransmit,
            };
        }
        if !ack.duplicate {
            return grow;
        }
        let sack = self.recovery() == Recovery::Sack;
        let lost = if sack {
            // RFC 6675 section 5, steps 1 and 2.
            self.dup_acks >= self.config.recovery.dup_thresh || self.board.front_is_lost()
        } else {
            self.dup_acks >= self.config.recovery.dup_thresh && self.may_fast_retransmit()
        };
        let lost = lost || self.control_asks_to_retransmit(now);
        if lost {
            self.enter_fast_recovery(now, ack);
            // The timer counts from the retransmission, as in BSD, Linux and ns-2; RFC 6298 leaves it
            // running.
            return Outcome {
                grow: false,
                restart_timer: ack.acked > 0 || self.config.timers.restart_on_retransmit,
            };
        }
        if !sack {
            self.transmit_limited();
        }
        grow
    }

    /// RFC 3042: one segment for each of the first two duplicates, beyond cwnd.
    fn transmit_limited(&mut self) {
        if self.config.recovery.limited_transmit {
            let allowed = self.dup_acks.min(self.config.recovery.dup_thresh.saturating_sub(1));
            self.inflation = i64::from(allowed) * self.tcp.mss as i64;
        }
    }

    fn recovers_as_ns2(&self) -> bool {
        self.config.recovery.recovery_rules == RecoveryRules::Ns2
    }

    /// RACK found a segment lost that is to be retransmitted; in Linux also one that was retransmitted
    /// (`tcp_time_to_recover`: `lost_out`). So a loss beyond the end of a fast recovery begins another
    /// recovery afterwards. The window is reduced once more, although the first recovery retransmitted the
    /// segment.
    fn loss_is_proven(&mut self) -> bool {
        if self.times_out_as_linux() { self.board.lost() > 0 } else { self.board.next_lost().is_some() }
    }

    /// RFC 6582 section 3.2 step 1: the ACK must cover more than what was outstanding at the last loss event,
    /// or the duplicates may come from needless retransmissions. Tahoe and Reno: as configured.
    fn may_fast_retransmit(&self) -> bool {
        let guard = self.config.recovery.fast_retransmit_guard;
        let guarded = match self.recovery() {
            Recovery::NewReno => true,
            Recovery::Reno if guard == FastRetransmitGuard::Timeout => self.after_rto,
            Recovery::Tahoe | Recovery::Reno | Recovery::Sack => guard != FastRetransmitGuard::Off,
        };
        // Zero: no loss event yet.
        !guarded || self.recovery_point == 0 || self.board.una() > self.recovery_point
    }

    /// A control with a finer timeout than ours may take one duplicate as enough.
    fn control_asks_to_retransmit(&mut self, now: Time) -> bool {
        let Some(head_sent_at) = self.board.get(0).map(|front| front.sent_at) else { return false };
        self.sync();
        let Some(extension) = self.control.extension() else { return false };
        extension.dup_ack_retransmit(now, &self.tcp, head_sent_at)
            && (self.recovery() == Recovery::Sack || self.may_fast_retransmit())
    }

    pub(super) fn enter_fast_recovery(&mut self, now: Time, ack: &AckSample) {
        self.stats.fast_retransmits += 1;
        self.emit(TransportEvent::FastRetransmit);
        self.remember_window();
        // RFC 3168 section 6.1.2: the window falls once for what is lost and what is marked in one window of
        // data.
        if self.tcp.ca_state != CaState::Cwr {
            self.reduce_ssthresh(now, self.loss_flight());
        }
        self.recovery_point = self.board.nxt();
        self.partial_acks = 0;
        self.limited = 0;
        self.forget_rescue();
        self.stop_timing();
        self.retransmit_front = true;
        self.front_by_timer = false;
        self.after_rto = false;
        if let Some(rare) = &mut self.rare {
            // This recovery reduces the window: the probe must not do so again (Linux:
            // `tcp_init_cwnd_reduction`).
            rare.tlp.end = None;
        }
        self.record_reduction(now);
        match self.recovery() {
            Recovery::Tahoe => {
                // Back to the hole and slow start from there (go-back-N, as Jacobson's and ns-2's Tahoe).
                let newly_lost = self.board.mark_all_lost();
                self.rate.lost += newly_lost;
                self.inflation = 0;
                if !self.control.owns_cwnd() {
                    self.tcp.cwnd = self.tcp.mss;
                }
                self.set_ca_state(now, CaState::Loss);
            }
            Recovery::Reno | Recovery::NewReno => {
                let newly_lost = self.board.mark_front_lost();
                self.rate.lost += newly_lost;
                // RFC 5681 section 3.2 step 3: the three segments that have left the network.
                self.inflation = i64::from(self.config.recovery.dup_thresh) * self.tcp.mss as i64;
                self.halve_cwnd();
                self.set_ca_state(now, CaState::Recovery);
            }
            Recovery::Sack => {
                // RFC 6675 section 5 step 4; 4.3: no rescue before what is retransmitted first is
                // acknowledged.
                self.board.rewind();
                if self.rack_in_use() {
                    self.retransmit_front = self.board.next_lost().is_some();
                }
                self.rare.get_or_insert_default().rescue =
                    self.board.get(0).map(|front| self.board.una() + u64::from(front.len()));
                self.inflation = 0;
                if self.prr_in_use() {
                    let prr = if self.config.recovery.prr_rules == PrrRules::Linux {
                        Prr::start_in_segments(self.tcp.prior_cwnd, self.tcp.mss)
                    } else {
                        let (flight, sacked) = (self.board.flight_size(), self.board.sacked());
                        Prr::start(flight, sacked, ack.sacked, ack.acked)
                    };
                    self.rare.get_or_insert_default().prr = prr;
                    self.set_prr_window(ack);
                    // Departure from RFC 9937: where more is in flight than cwnd allows, cwnd does not rise
                    // to it at a loss.
                    self.tcp.cwnd = self.tcp.cwnd.min(self.tcp.prior_cwnd);
                } else {
                    self.halve_cwnd();
                }
                self.set_ca_state(now, CaState::Recovery);
            }
        }
    }

    /// Lowers cwnd to ssthresh; in ns-2 to half of the window, if ssthresh is its whole segments.
    fn halve_cwnd(&mut self) {
        let half = self.tcp.cwnd.min(self.config.max_window.unwrap_or(u64::MAX)) / 2;
        self.lower_cwnd();
        let is_same = half / self.tcp.mss == self.tcp.cwnd / self.tcp.mss;
        if is_same && self.recovers_as_ns2() && !self.control.owns_cwnd() {
            self.tcp.cwnd = half;
        }
    }

    fn recover_fast(&mut self, now: Time, ack: &AckSample, echo: Echo) -> Outcome {
        let outcome = Outcome { grow: false, restart_timer: ack.acked > 0 };
        let full = self.board.una() >= self.recovery_point;
        match self.recovery() {
            // Tahoe has no fast recovery; were it here, any new ACK would end it.
            Recovery::Tahoe | Recovery::Reno => {
                if ack.acked > 0 {
                    // RFC 5681 section 3.2 step 6.
                    self.exit_fast_recovery(now);
                    return Outcome { grow: self.recovers_as_ns2(), ..outcome };
                } else if ack.duplicate {
                    // Step 4.
                    self.inflation += self.tcp.mss as i64;
                }
            }
            Recovery::NewReno if ack.acked > 0 && full => {
                // RFC 6582 section 3.2 step 3, full acknowledgement.
                if self.config.recovery.full_ack_window == FullAckWindow::FlightSize
                    && !self.control.owns_cwnd()
                {
                    // The RFC's first option: it prevents a burst when much has left the network.
                    let flight = self.board.flight_size().max(self.tcp.mss) + self.tcp.mss;
                    self.tcp.cwnd = self.tcp.ssthresh.min(flight);
                }
                self.exit_fast_recovery(now);
                return Outcome { grow: self.recovers_as_ns2(), ..outcome };
            }
            Recovery::NewReno if ack.acked > 0 => {
                // Partial acknowledgement: retransmit the next hole, deflate by what was acknowledged, add
                // one segment back if that was as much.
                let newly_lost = self.board.mark_front_lost();
                self.rate.lost += newly_lost;
                self.retransmit_front = true;
                self.front_by_timer = false;
                self.partial_acks += 1;
                self.inflation -= ack.acked as i64;
                if ack.acked >= self.tcp.mss {
                    self.inflation += self.tcp.mss as i64;
                }
                // RFC 6582 section 3.2 step 3: Impatient restarts the timer at the first partial ACK alone.
                let restart_timer = self.config.recovery.newreno_variant == NewRenoVariant::SlowButSteady
                    || self.partial_acks == 1;
                return Outcome { grow: false, restart_timer };
            }
            Recovery::NewReno => {
                if ack.duplicate {
                    self.inflation += self.tcp.mss as i64;
                }
            }
            Recovery::Sack => {
                // RFC 6675 section 5, step A.
                if full && self.was_needless(echo) {
                    self.undo_whole_fast_recovery(now);
                    return Outcome { grow: true, ..outcome };
                }
                if full {
                    if self.prr_in_use() {
                        // RFC 9937 section 6.4.
                        self.tcp.cwnd = self.tcp.ssthresh;
                    }
                    if self.times_out_as_linux() && self.loss_is_proven() {
                        // A control with rules of its own for recovery, BBR, sees one (`prev_ca_state` is
                        // that of the ACK before).
                        if self.control.owns_cwnd() {
                            self.leave_fast_recovery();
                        } else {
                            self.exit_fast_recovery(now);
                        }
                        self.enter_fast_recovery(now, ack);
                        return outcome;
                    }
                    self.exit_fast_recovery(now);
                    // In Linux the ACK that ends recovery lets the window grow as any other does.
                    return Outcome { grow: self.times_out_as_linux(), ..outcome };
                } else if !self.undo_fast_recovery(now, ack, echo) {
                    self.respond_to_lost_retransmission(now);
                    self.reduce_rate(ack);
                }
            }
        }
        outcome
    }

    /// Whether PRR rules how much is sent in fast recovery. A control that owns cwnd has rules of its own.
    pub(super) fn prr_in_use(&self) -> bool {
        self.config.recovery.prr && self.recovery() == Recovery::Sack && !self.control.owns_cwnd()
    }

    /// An ACK of fast recovery under PRR. An ACK that neither delivers nor loses anything changes nothing; in
    /// Linux, an ACK that delivers nothing (`tcp_cwnd_reduction`). So losses that RACK's timer finds in a
    /// recovery are retransmitted at once.
    pub(super) fn reduce_rate(&mut self, ack: &AckSample) {
        let loses = ack.lost > 0 && self.config.recovery.prr_rules == PrrRules::Rfc;
        if self.prr_in_use() && (ack.delivered > 0 || loses) {
            self.set_prr_window(ack);
        }
    }

    /// PRR's window (RFC 9937 section 6.2).
    fn set_prr_window(&mut self, ack: &AckSample) {
        // SafeACK: SND.UNA advances, and no further loss shows.
        let safe = ack.acked > 0 && ack.lost == 0;
        let (in_flight, ssthresh) = (self.board.in_flight(), self.tcp.ssthresh);
        let prr = &mut self.rare.get_or_insert_default().prr;
        self.tcp.cwnd = prr.window(ack.delivered, in_flight, ssthresh, self.tcp.mss, safe);
        self.clamp();
    }

    fn exit_fast_recovery(&mut self, now: Time) {
        if let Some(rack) = &mut self.rack {
            rack.on_recovery_exit();
        }
        self.leave_fast_recovery();
        self.set_ca_state(now, CaState::Open);
        self.control.cwnd_event(now, &mut self.tcp, CaEvent::CompleteCwr);
        self.clamp();
        self.emit(TransportEvent::RecoveryExit { after_rto: false });
    }

    /// Forgets what belongs to one fast recovery.
    pub(super) fn leave_fast_recovery(&mut self) {
        self.inflation = 0;
        self.dup_acks = 0;
        self.limited = 0;
        self.forget_rescue();
        self.retransmit_front = false;
    }

    /// After a timeout, and Tahoe after a fast retransmit: slow start over everything that was outstanding.
    fn recover_loss(&mut self, now: Time, ack: &AckSample, frto: FrtoAck, echo: Echo) -> Outcome {
        let outcome = Outcome { grow: true, restart_timer: ack.acked > 0 };
        let needless = self.after_rto && ack.acked > 0 && self.was_needless(echo);
        if needless {
            self.undo_timeout(now, ack);
        }
        let judged = self.frto != Frto::Idle && (frto.advances || frto.duplicate);
        if needless || (judged && self.judge_frto(now, ack, frto)) {
            // In Linux the ACK that undoes a timeout lets the window grow as any other does.
            let grow = self.times_out_as_linux() && self.tcp.ca_state != CaState::Recovery;
            return Outcome { grow, restart_timer: true };
        }
        if ack.acked > 0 {
            self.dup_acks = 0;
        }
        if self.recovers_as_ns2() && self.recovery() != Recovery::Sack {
            if ack.acked > 0 {
                self.inflation = 0;
            }
            if ack.duplicate {
                self.dup_acks += 1;
                // Tahoe has counted those of its fast retransmit.
                if self.dup_acks < self.config.recovery.dup_thresh {
                    self.transmit_limited();
                }
            }
        }
        if self.board.una() >= self.recovery_point {
            if let Some(rack) = &mut self.rack {
                rack.on_recovery_exit();
            }
            self.leave_fast_recovery();
            self.frto = Frto::Idle;
            self.set_ca_state(now, CaState::Open);
            self.emit(TransportEvent::RecoveryExit { after_rto: self.after_rto });
        } else if self.times_out_as_linux() && self.retransmission_is_lost() {
            self.enter_fast_recovery(now, ack);
            return Outcome { grow: false, ..outcome };
        }
        outcome
    }

    /// F-RTO's verdict on this ACK. True when the timeout was spurious and is undone.
    fn judge_frto(&mut self, now: Time, sample: &AckSample, ack: FrtoAck) -> bool {
        let sack = self.recovery() == Recovery::Sack;
        let verdict = match self.config.undo.f_rto {
            FRto::Sack if sack => self.frto.sack(ack),
            FRto::Linux if sack => self.frto.linux(ack),
            _ => self.frto.basic(ack),
        };
        match verdict {
            Verdict::Continue(next) => {
                self.frto = next;
                false
            }
            Verdict::Conventional => {
                self.frto = Frto::Idle;
                false
            }
            Verdict::ConventionalThree => {
                self.frto = Frto::Idle;
                if !self.control.owns_cwnd() {
                    // The two new segments are out; with less there would be no room to retransmit anything.
                    self.tcp.cwnd = 3 * self.tcp.mss;
                }
                false
            }
            Verdict::Spurious => {
                self.undo_timeout(now, sample);
                true
            }
        }
    }
}
