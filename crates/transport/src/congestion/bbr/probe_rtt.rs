//! The least RTT and the ProbeRTT phase that refreshes it ("ProbeRTT").

use super::probe_bw::AckPhase;
use super::{Bbr, State, min_pipe};
use crate::congestion::{AckSample, TcpState};
use cogtcp_units::{Duration, Time};

/// BBR.ProbeRTTDuration.
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);

/// "ProbeRTT and min_rtt Parameters and State".
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeRtt {
    min_rtt: Option<Duration>,
    min_rtt_stamp: Time,
    min_delay: Option<Duration>,
    min_stamp: Time,
    expired: bool,
    done_stamp: Option<Time>,
    round_done: bool,
    /// `delivered` up to which samples were taken under ProbeRTT: MarkConnectionAppLimited().
    limited_until: u64,
}

impl ProbeRtt {
    pub(super) fn start(&mut self, now: Time, srtt: Duration) {
        self.min_rtt = (!srtt.is_zero()).then_some(srtt);
        self.min_delay = self.min_rtt;
        (self.min_rtt_stamp, self.min_stamp) = (now, now);
    }

    /// BBR.min_rtt; `None`: no sample yet.
    pub(super) const fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt
    }

    /// Whether a rate sample of a segment sent at `prior_delivered` was limited by ProbeRTT.
    pub(super) const fn limited(&self, prior_delivered: u64) -> bool {
        prior_delivered < self.limited_until
    }
}

impl Bbr {
    /// UpdateMinRTT().
    pub(super) fn update_min_rtt(&mut self, now: Time, ack: &AckSample) {
        let probe = &mut self.probe_rtt;
        probe.expired = now > probe.min_stamp + self.constants.probe_rtt_interval;
        if let Some(rtt) = ack.rtt
            && (probe.expired || probe.min_delay.is_none_or(|least| rtt < least))
        {
            (probe.min_delay, probe.min_stamp) = (Some(rtt), now);
        }
        let min_rtt_expired = now > probe.min_rtt_stamp + self.constants.min_rtt_window;
        if probe.min_delay.is_some()
            && (min_rtt_expired || probe.min_rtt.is_none_or(|least| probe.min_delay < Some(least)))
        {
            (probe.min_rtt, probe.min_rtt_stamp) = (probe.min_delay, probe.min_stamp);
        }
    }

    /// CheckProbeRTT().
    pub(super) fn check_probe_rtt(&mut self, now: Time, tcp: &mut TcpState, delivered: bool) {
        if self.state != State::ProbeRtt && self.probe_rtt.expired && !self.idle_restart {
            self.save_cwnd(tcp);
            self.state = State::ProbeRtt;
            self.probe_rtt.done_stamp = None;
            self.cycle.ack_phase = AckPhase::ProbeStopping;
            self.model.start_round(tcp);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(now, tcp);
        }
        if delivered {
            self.idle_restart = false;
        }
    }

    /// CheckProbeRTTDone().
    pub(super) fn check_probe_rtt_done(&mut self, now: Time, tcp: &mut TcpState) {
        if self.probe_rtt.done_stamp.is_some_and(|done| now > done) {
            self.probe_rtt.min_stamp = now;
            tcp.cwnd = tcp.cwnd.max(self.prior_cwnd);
            // ExitProbeRTT().
            self.model.reset_short_term();
            if self.full_bw_reached {
                self.start_down(now, tcp);
                self.state = State::Cruise;
            } else {
                self.state = State::Startup;
            }
        }
    }

    /// ProbeRTTCwnd().
    pub(super) fn probe_rtt_cwnd(&self, tcp: &TcpState) -> u64 {
        (self.bdp(0.5, tcp) as u64).max(min_pipe(tcp))
    }

    /// HandleProbeRTT().
    fn handle_probe_rtt(&mut self, now: Time, tcp: &mut TcpState) {
        self.probe_rtt.limited_until = (tcp.delivered + tcp.in_flight).max(1);
        if self.probe_rtt.done_stamp.is_none() {
            if tcp.in_flight <= self.probe_rtt_cwnd(tcp) {
                self.probe_rtt.done_stamp = Some(now + PROBE_RTT_DURATION);
                self.probe_rtt.round_done = false;
                self.model.start_round(tcp);
            }
            return;
        }
        self.probe_rtt.round_done |= self.model.round_start;
        if self.probe_rtt.round_done {
            self.check_probe_rtt_done(now, tcp);
        }
    }
}
