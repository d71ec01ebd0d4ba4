//! BBR, version 3: draft-ietf-ccwg-bbr, the working group's text of August 2026 (commit 4ce5e87 of its
//! repository). Section names below are that draft's.
//!
//! Departures, all forced by what a control sees:
//! - A loss is judged at the ACK that reveals it, with the record of the newest segment that the ACK
//!   delivered. The draft and Linux judge every lost segment by its own record, so `inflight_longterm` may be
//!   a little lower here. The prefix of an offload burst ("InflightAtLoss") is not computed: a segment is a
//!   packet here.
//! - The draft's random numbers come from a hash of the connection's own progress (delivered bytes and time),
//!   because a control owns no random stream. Two flows draw differently; a run repeats exactly.
//! - "Discontiguous ranges lost" in Startup are counted as ACKs that reveal losses, as Linux counts them.
//! - The send quantum is what the draft computes, but segments leave one by one: it enters the window alone.

mod model;
mod probe_bw;
mod probe_rtt;

use super::{
    AckSample, CaEvent, CaState, CongestionControl, ControlInfo, ParameterSpec, Parameters, TcpState,
};
use crate::{Preset, Recovery};
use cogtcp_units::{Duration, Rate, Time};
use model::Model;
use probe_bw::Cycle;
use probe_rtt::ProbeRtt;

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: "bbr",
    summary: "BBR version 3: paces at the measured bottleneck bandwidth",
    reference: "draft-ietf-ccwg-bbr (2026-08)",
    parameters: &[
        ParameterSpec::number("startup_pacing_gain", "", [2.77, 1.0, 10.0])
            .described("pacing gain of Startup: 4 ln 2"),
        ParameterSpec::number("drain_pacing_gain", "", [0.5, 0.1, 1.0]).described("pacing gain of Drain"),
        ParameterSpec::number("cwnd_gain", "", [2.0, 1.0, 10.0])
            .described("window in units of the estimated BDP"),
        ParameterSpec::number("loss_threshold", "", [0.02, 0.0, 1.0])
            .described("tolerated loss rate per round when probing for bandwidth"),
        ParameterSpec::number("beta", "", [0.7, 0.1, 1.0])
            .described("multiplicative decrease in a round with losses"),
        ParameterSpec::number("headroom", "", [0.15, 0.0, 0.9])
            .described("share of inflight_longterm left free while cruising"),
        ParameterSpec::number("min_rtt_window", "s", [10.0, 0.1, 3600.0])
            .described("length of the filter for the least RTT"),
        ParameterSpec::number("probe_rtt_interval", "s", [5.0, 0.1, 3600.0])
            .described("least time between two ProbeRTT phases"),
    ],
    presets: &[Preset::new("bbr", "bbr", Recovery::Sack).described("BBR version 3 with SACK recovery")],
    build: |parameters| Box::new(Bbr::new(parameters)),
};

/// Share of the bandwidth left unused by pacing: BBR.PacingMarginPercent.
const PACING_MARGIN: f64 = 0.01;
/// BBR.MinPipeCwnd in segments.
const MIN_PIPE_SEGMENTS: u64 = 4;
/// BBRStartupFullLossCnt.
const STARTUP_FULL_LOSS_COUNT: u32 = 6;
/// Rounds after which Drain ends in any case.
const DRAIN_ROUNDS: u64 = 3;

/// BBR.state.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum State {
    #[default]
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// IsInAProbeBWState().
    const fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// IsProbingBW().
    const fn accelerates(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

/// The constants of "Core Algorithm Design Parameters", with what a user may set.
#[derive(Clone, Debug, Default)]
struct Constants {
    startup_pacing_gain: f64,
    drain_pacing_gain: f64,
    cwnd_gain: f64,
    loss_threshold: f64,
    beta: f64,
    headroom: f64,
    min_rtt_window: Duration,
    probe_rtt_interval: Duration,
}

/// The state of one connection.
#[derive(Clone, Debug, Default)]
pub struct Bbr {
    constants: Constants,
    state: State,
    model: Model,
    cycle: Cycle,
    probe_rtt: ProbeRtt,
    /// BBR.full_bw_reached, full_bw_now, full_bw, full_bw_count.
    full_bw_reached: bool,
    full_bw_now: bool,
    full_bw: f64,
    full_bw_count: u32,
    /// ACKs with losses in this loss round, and whether the whole round was spent in fast recovery.
    loss_events_in_round: u32,
    round_began_in_recovery: bool,
    drain_start_round: u64,
    idle_restart: bool,
    /// BBR.prior_cwnd: the last window not cut by recovery or ProbeRTT.
    prior_cwnd: u64,
    /// SaveStateUponLoss().
    undo: Undo,
}

/// What a spurious loss episode gives back.
#[derive(Clone, Copy, Debug, Default)]
struct Undo {
    state: Option<State>,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
}

impl Bbr {
    fn new(parameters: &Parameters) -> Self {
        let constants = Constants {
            startup_pacing_gain: parameters.number("startup_pacing_gain"),
            drain_pacing_gain: parameters.number("drain_pacing_gain"),
            cwnd_gain: parameters.number("cwnd_gain"),
            loss_threshold: parameters.number("loss_threshold"),
            beta: parameters.number("beta"),
            headroom: parameters.number("headroom"),
            min_rtt_window: Duration::from_secs_f64(parameters.number("min_rtt_window")),
            probe_rtt_interval: Duration::from_secs_f64(parameters.number("probe_rtt_interval")),
        };
        Self {
            constants,
            undo: Undo {
                state: None,
                bw_shortterm: f64::INFINITY,
                inflight_shortterm: f64::INFINITY,
                inflight_longterm: f64::INFINITY,
            },
            ..Self::default()
        }
    }

    /// "State Transition Diagram": the pacing gain of each state.
    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.constants.startup_pacing_gain,
            State::Drain => self.constants.drain_pacing_gain,
            State::Down => 0.9,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
            State::Up => 1.25,
        }
    }

    /// The window gain of each state ("Summary of Control Behavior").
    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Up => self.constants.cwnd_gain + 0.25,
            State::ProbeRtt => 0.5,
            _ => self.constants.cwnd_gain,
        }
    }

    /// ResetFullBW().
    fn reset_full_bw(&mut self) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (0.0, 0, false);
    }

    /// CheckFullBWReached(): three rounds without 25 % more bandwidth.
    fn check_full_bw_reached(&mut self, rate: f64, app_limited: bool) {
        if self.full_bw_now || !self.model.round_start || app_limited {
            return;
        }
        if rate >= self.full_bw * 1.25 {
            self.reset_full_bw();
            self.full_bw = rate;
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= 3;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// CheckStartupDone() with CheckStartupHighLoss().
    fn check_startup_done(&mut self, tcp: &TcpState, ack: &AckSample) {
        if self.state != State::Startup {
            return;
        }
        if ack.lost > 0 {
            self.loss_events_in_round += 1;
        }
        if self.model.loss_round_start {
            let in_recovery = tcp.ca_state == CaState::Recovery;
            if in_recovery
                && self.round_began_in_recovery
                && self.loss_events_in_round >= STARTUP_FULL_LOSS_COUNT
                && self.is_inflight_too_high(ack)
            {
                self.undo.state = Some(State::Startup);
                self.full_bw_reached = true;
                self.model.inflight_longterm = self.bdp(1.0, tcp).max(self.model.inflight_latest);
            }
            self.round_began_in_recovery = in_recovery;
            self.loss_events_in_round = 0;
        }
        if self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start_round = self.model.round_count;
        }
    }

    /// CheckDrainDone().
    fn check_drain_done(&mut self, now: Time, tcp: &TcpState) {
        if self.state == State::Drain
            && (tcp.in_flight as f64 <= self.inflight(1.0, tcp)
                || self.model.round_count > self.drain_start_round + DRAIN_ROUNDS)
        {
            self.start_down(now, tcp);
        }
    }

    /// IsInflightTooHigh().
    fn is_inflight_too_high(&self, ack: &AckSample) -> bool {
        let sent = ack.rate.tx_in_flight as f64;
        sent > 0.0 && ack.rate.lost as f64 > sent * self.constants.loss_threshold
    }

    /// BDPMultiple(gain), bytes.
    fn bdp(&self, gain: f64, tcp: &TcpState) -> f64 {
        match self.probe_rtt.min_rtt() {
            None => tcp.initial_window as f64,
            Some(min_rtt) => gain * self.model.bw() * min_rtt.as_secs_f64(),
        }
    }

    /// Inflight(gain): BDPMultiple with QuantizationBudget.
    fn inflight(&self, gain: f64, tcp: &TcpState) -> f64 {
        self.quantization_budget(self.bdp(gain, tcp), tcp)
    }

    fn quantization_budget(&self, inflight: f64, tcp: &TcpState) -> f64 {
        // SetSendQuantum() and UpdateOffloadBudget().
        let per_millisecond = tcp.pacing_rate.map_or(0.0, |rate| rate.bits_per_second() as f64 / 8000.0);
        let quantum = per_millisecond.min(65_536.0).max(2.0 * tcp.mss as f64);
        let budget = inflight.max(3.0 * quantum).max(min_pipe(tcp) as f64);
        if self.state == State::Up { budget + 2.0 * tcp.mss as f64 } else { budget }
    }

    /// SaveCwnd().
    fn save_cwnd(&mut self, tcp: &TcpState) {
        let recovering = matches!(tcp.ca_state, CaState::Recovery | CaState::Loss);
        self.prior_cwnd = if recovering || self.state == State::ProbeRtt {
            self.prior_cwnd.max(tcp.cwnd)
        } else {
            tcp.cwnd
        };
    }

    /// SaveStateUponLoss().
    fn save_state_upon_loss(&mut self, tcp: &TcpState) {
        self.save_cwnd(tcp);
        self.undo = Undo {
            state: None,
            bw_shortterm: self.model.bw_shortterm,
            inflight_shortterm: self.model.inflight_shortterm,
            inflight_longterm: self.model.inflight_longterm,
        };
    }

    /// SetPacingRateWithGain().
    fn set_pacing_rate(&self, tcp: &mut TcpState, gain: f64) {
        let rate = gain * self.model.bw() * (1.0 - PACING_MARGIN);
        let bits = Rate::from_bits_per_second((rate * 8.0) as u64);
        if bits > Rate::ZERO && (self.full_bw_reached || tcp.pacing_rate.is_none_or(|old| bits > old)) {
            tcp.pacing_rate = Some(bits);
        }
    }

    /// SetCwnd() with BoundCwndForProbeRTT() and BoundCwndForModel().
    fn set_cwnd(&self, tcp: &mut TcpState, delivered: u64) {
        let max_inflight =
            self.quantization_budget(self.bdp(self.cwnd_gain(), tcp) + self.model.extra_acked(), tcp) as u64;
        if self.full_bw_reached {
            tcp.cwnd = (tcp.cwnd + delivered).min(max_inflight);
        } else if tcp.cwnd < max_inflight || tcp.delivered < tcp.initial_window {
            tcp.cwnd += delivered;
        }
        tcp.cwnd = tcp.cwnd.max(min_pipe(tcp));
        if self.state == State::ProbeRtt {
            tcp.cwnd = tcp.cwnd.min(self.probe_rtt_cwnd(tcp));
        }
        let longterm = match self.state {
            State::ProbeRtt | State::Cruise => self.inflight_with_headroom(tcp),
            state if state.is_probe_bw() => self.model.inflight_longterm,
            _ => f64::INFINITY,
        };
        // `as` saturates: no bound stays no bound.
        let cap = longterm.min(self.model.inflight_shortterm) as u64;
        tcp.cwnd = tcp.cwnd.min(cap.max(min_pipe(tcp)));
    }
}

/// BBR.MinPipeCwnd.
const fn min_pipe(tcp: &TcpState) -> u64 {
    MIN_PIPE_SEGMENTS * tcp.mss
}

impl CongestionControl for Bbr {
    fn name(&self) -> &str {
        INFO.name
    }

    fn init(&mut self, now: Time, tcp: &mut TcpState) {
        self.probe_rtt.start(now, tcp.srtt);
        self.model.start(now);
        self.cycle.start(now);
        // InitPacingRate().
        let rtt = if tcp.srtt.is_zero() { Duration::from_millis(1) } else { tcp.srtt };
        let nominal = tcp.initial_window as f64 / rtt.as_secs_f64();
        let bits = self.constants.startup_pacing_gain * nominal * 8.0;
        tcp.pacing_rate = Some(Rate::from_bits_per_second((bits as u64).max(1)));
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        // BBR has no slow start threshold; Linux's answer: keep what there is.
        tcp.ssthresh.max(2 * tcp.mss)
    }

    fn cong_avoid(&mut self, _now: Time, _tcp: &mut TcpState, _ack: &AckSample) {}

    fn owns_cwnd(&self) -> bool {
        true
    }

    fn buffered_windows(&self) -> u64 {
        3
    }

    fn cong_control(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) -> bool {
        // "Per-ACK Steps". Samples taken in ProbeRTT count as limited by the application (HandleProbeRTT).
        let rate = ack.rate.rate().map_or(0.0, |rate| rate.bits_per_second() as f64 / 8.0);
        let app_limited = ack.rate.app_limited || self.probe_rtt.limited(ack.rate.prior_delivered);
        let delivered_some = ack.delivered > 0;

        if ack.lost > 0 {
            self.record_loss(now, tcp, ack, app_limited);
        }
        if delivered_some {
            self.model.update_latest_delivery(tcp, ack, rate);
            self.model.update_round(tcp, ack, &mut self.cycle);
            self.model.update_max_bw(rate, app_limited);
            if self.model.loss_round_start {
                if !self.state.accelerates() {
                    self.model.adapt_lower_bounds(tcp.cwnd, self.constants.beta);
                }
                self.model.is_loss_in_round = false;
            }
            self.model.update_ack_aggregation(now, tcp.cwnd, ack.delivered, self.full_bw_reached);
            self.check_full_bw_reached(rate, app_limited);
        }
        self.check_startup_done(tcp, ack);
        self.check_drain_done(now, tcp);
        if delivered_some {
            self.update_probe_bw_cycle(now, tcp, ack, rate, app_limited);
        }
        self.update_min_rtt(now, ack);
        self.check_probe_rtt(now, tcp, delivered_some);
        if delivered_some {
            self.model.advance_latest_delivery(ack, rate);
        }
        self.model.bound_bw();

        self.set_pacing_rate(tcp, self.pacing_gain());
        self.set_cwnd(tcp, ack.delivered);
        true
    }

    fn observe(&self, _tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        show("bandwidth_bps", 8.0 * self.model.bw());
        show("max_bandwidth_bps", 8.0 * self.model.max_bw());
        show("min_rtt_s", self.probe_rtt.min_rtt().map_or(f64::NAN, |rtt| rtt.as_secs_f64()));
        show("pacing_gain", self.pacing_gain());
    }

    fn set_state(&mut self, _now: Time, tcp: &mut TcpState, state: CaState) {
        let recovering = |state| matches!(state, CaState::Recovery | CaState::Loss);
        match (tcp.ca_state, state) {
            // OnEnterRTO(): room for one segment.
            (_, CaState::Loss) => {
                self.save_state_upon_loss(tcp);
                tcp.cwnd = tcp.in_flight + tcp.mss;
            }
            (old, CaState::Recovery) if !recovering(old) => self.save_state_upon_loss(tcp),
            // "Upon exiting loss recovery": RestoreCwnd().
            (old, new) if recovering(old) && !recovering(new) => tcp.cwnd = tcp.cwnd.max(self.prior_cwnd),
            _ => {}
        }
    }

    fn cwnd_event(&mut self, now: Time, tcp: &mut TcpState, event: CaEvent) {
        // HandleRestartFromIdle().
        if event == CaEvent::TxStart && tcp.app_limited {
            self.idle_restart = true;
            self.model.restart_ack_aggregation(now);
            if self.state.is_probe_bw() {
                self.set_pacing_rate(tcp, 1.0);
            } else if self.state == State::ProbeRtt {
                self.check_probe_rtt_done(now, tcp);
            }
        }
    }

    fn undo_cwnd(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        // HandleSpuriousLossDetection().
        self.model.is_loss_in_round = false;
        self.reset_full_bw();
        self.model.bw_shortterm = self.model.bw_shortterm.max(self.undo.bw_shortterm);
        self.model.inflight_shortterm = self.model.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.model.inflight_longterm = self.model.inflight_longterm.max(self.undo.inflight_longterm);
        match self.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => self.start_refill(tcp),
            _ => {}
        }
        tcp.cwnd.max(self.prior_cwnd).max(tcp.prior_cwnd)
    }
}

#[cfg(test)]
pub(super) mod tests;
