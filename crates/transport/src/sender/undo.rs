//! Taking a response to a loss back: after a spurious timeout, by timestamps (Eifel, RFC 3522) and by D-SACK
//! (RFC 3708).

use super::{Sender, timestamp_ticks};
use crate::congestion::{AckSample, CaEvent, CaState};
use crate::frto::Frto;
use crate::rack::Echo;
use crate::{Recovery, TimeoutRules, TransportEvent};
use cogtcp_units::Time;

impl Sender {
    /// Whether responses are undone by timestamps or D-SACK.
    #[inline]
    fn may_undo(&self) -> bool {
        (self.config.undo.eifel || self.config.undo.d_sack_undo) && self.recovery() == Recovery::Sack
    }

    /// Whether timeouts have Linux's consequences.
    pub(super) fn times_out_as_linux(&self) -> bool {
        self.config.timers.timeout_rules == TimeoutRules::Linux
    }

    /// There will be a response to a loss: what it changes is kept, so that it can be undone.
    ///
    /// Linux keeps three quarters of cwnd as the ssthresh to return to, if that is more
    /// (`tcp_current_ssthresh`).
    pub(super) fn remember_window(&mut self) {
        let (cwnd, ssthresh) = (self.tcp.cwnd, self.tcp.ssthresh);
        let reducing = matches!(self.tcp.ca_state, CaState::Cwr | CaState::Recovery);
        self.tcp.prior_cwnd = cwnd;
        self.tcp.prior_ssthresh =
            if self.times_out_as_linux() && !reducing { ssthresh.max(cwnd / 4 * 3) } else { ssthresh };
        if self.may_undo() {
            let (una, retransmitted) = (self.board.una(), self.board.retransmitted());
            let rare = self.rare.get_or_insert_default();
            let probe = rare.tlp.end.is_some() && rare.tlp.is_retransmission;
            let segments = retransmitted.div_ceil(self.tcp.mss) + u64::from(probe);
            rare.undo.begin(una, u32::try_from(segments).unwrap_or(u32::MAX));
        }
    }

    /// A segment of the scoreboard leaves again.
    pub(super) fn record_retransmission(&mut self, now: Time) {
        if self.may_undo() {
            self.rare.get_or_insert_default().undo.on_retransmission(now);
        }
    }

    /// A D-SACK reports so many bytes, which end at `end`.
    pub(super) fn record_d_sack(&mut self, end: u64, bytes: u64) {
        if self.config.undo.d_sack_undo {
            let segments = u32::try_from(bytes.div_ceil(self.tcp.mss)).unwrap_or(u32::MAX);
            self.rare.get_or_insert_default().undo.on_d_sack(end, segments);
        }
    }

    /// Whether the ACK's timestamp is from before the first retransmission of the episode.
    fn is_delayed(&self, echo: Echo) -> bool {
        let Some(rare) = self.rare.as_ref().filter(|_| self.config.undo.eifel && self.may_undo()) else {
            return false;
        };
        rare.undo.is_delayed(|first| {
            // By the sign of the difference, since the 32-bit clock wraps.
            echo.is_some_and(|(echo, tick)| (echo.wrapping_sub(timestamp_ticks(first, tick)) as i32) < 0)
        })
    }

    /// Whether D-SACKs have reported all retransmissions of the episode.
    #[inline]
    fn all_reported(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.undo.all_reported()) && self.may_undo()
    }

    /// Whether the response to the loss was needless, as far as this ACK tells.
    pub(super) fn was_needless(&self, echo: Echo) -> bool {
        self.all_reported() || self.is_delayed(echo)
    }

    /// An ACK outside of a recovery: D-SACKs may come when it is over (RFC 3708 section 2).
    #[inline]
    pub(super) fn undo_late(&mut self, now: Time) {
        if self.all_reported() {
            self.restore_window(now, false);
        }
        if let Some(rare) = &mut self.rare
            && rare.undo.first_at().is_some()
            && self.board.retransmitted() == 0
        {
            rare.undo.forget_first();
        }
    }

    /// An ACK of fast recovery that does not end it. True: recovery was needless and is over, or, in the
    /// light of what RACK finds now, begins again.
    pub(super) fn undo_fast_recovery(&mut self, now: Time, ack: &AckSample, echo: Echo) -> bool {
        // With retransmissions on the way their ACKs are waited for (`tcp_try_undo_partial`).
        let partial = ack.acked > 0 && self.is_delayed(echo) && self.board.retransmitted() == 0;
        if !partial && !self.all_reported() {
            return false;
        }
        self.restore_window(now, partial);
        self.leave_undone(now, false);
        self.look_again(now, ack);
        true
    }

    /// The last ACK of a fast recovery that was needless.
    pub(super) fn undo_whole_fast_recovery(&mut self, now: Time) {
        self.restore_window(now, false);
        self.leave_undone(now, false);
    }

    /// The timeout was spurious, or needless: cwnd and ssthresh as before it, and nothing is lost. RFC 5682
    /// leaves the response open; this is Linux's. The Eifel response (RFC 4015) has cwnd = FlightSize +
    /// min(bytes acked, IW) and ssthresh at least FlightSize, and starts SRTT and RTTVAR again. The timer
    /// stays backed off until a round-trip time is measured.
    pub(super) fn undo_timeout(&mut self, now: Time, ack: &AckSample) {
        self.frto = Frto::Idle;
        self.restore_window(now, true);
        // RFC 5682 section 2.1 step 3b.
        self.recovery_point = self.board.una();
        let count = self.rare.as_ref().map_or(0, |rare| rare.frto_timeouts);
        self.stats.undone_timeouts += u64::from(count);
        self.emit(TransportEvent::SpuriousRto { count, undone: true });
        self.leave_undone(now, true);
        self.look_again(now, ack);
    }

    /// cwnd and ssthresh as before the response; `nothing_lost`: what was marked is not lost after all.
    fn restore_window(&mut self, now: Time, nothing_lost: bool) {
        if nothing_lost {
            self.board.clear_lost();
            self.restart_rack();
        }
        self.sync();
        self.tcp.cwnd = self.control.undo_cwnd(now, &self.tcp);
        // Linux's undo never lowers ssthresh (`tcp_undo_cwnd_reduction`).
        let least = if self.times_out_as_linux() { self.tcp.ssthresh } else { 0 };
        self.tcp.ssthresh = self.tcp.prior_ssthresh.max(least);
        self.clamp();
        if let Some(rare) = &mut self.rare {
            rare.undo.end();
        }
    }

    fn leave_undone(&mut self, now: Time, after_rto: bool) {
        self.leave_fast_recovery();
        let disorder = self.rack_in_use() && self.board.has_sacks();
        self.set_ca_state(now, if disorder { CaState::Disorder } else { CaState::Open });
        if !after_rto {
            self.stats.undone_recoveries += 1;
            self.control.cwnd_event(now, &mut self.tcp, CaEvent::CompleteCwr);
            self.clamp();
        }
        self.emit(TransportEvent::RecoveryExit { after_rto });
    }

    /// What was sent before the latest delivered segment, and is not delivered, RACK takes for lost at once.
    fn look_again(&mut self, now: Time, ack: &AckSample) {
        if !self.rack_in_use() {
            return;
        }
        let lost = self.detect_losses(now);
        if self.board.next_lost().is_some() {
            self.enter_fast_recovery(now, &AckSample { lost: ack.lost + lost, ..*ack });
        }
    }
}
