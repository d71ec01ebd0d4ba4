//! BBR, version 1: what Linux runs as `bbr` (`tcp_bbr.c`; Cardwell et al., CACM 60(2), 2017;
//! draft-cardwell-iccrg-bbr-congestion-control-00).
//!
//! ```text
//! bw           = greatest delivery rate of 10 rounds (or the policer's, see long_term.rs)
//! pacing_rate  = pacing_gain * bw * 0.99
//!                Startup 2.885, Drain 1 / 2.885, ProbeBW 1.25, 0.75 and six times 1, ProbeRTT 1
//! cwnd         = min(cwnd + delivered, cwnd_gain * bw * min_rtt + extra_acked + quanta)
//!                Startup 2.885, ProbeBW 2; ProbeRTT 4 segments
//! ```
//!
//! A loss lowers neither: for one round of fast recovery cwnd follows packet conservation, and is then as it
//! was before. ProbeRTT comes when no RTT as low as the least was seen for 10 s.
//!
//! Departures from Linux:
//! - The phase of ProbeBW to begin with comes from a hash of the connection's own progress, because a control
//!   owns no random stream.
//! - A delayed ACK does not count as a new minimum RTT after the old one expired (`is_ack_delayed`). A
//!   control does not see the delay, so the ACK counts here.

mod long_term;

use super::windowed_max::WindowedMax;
use super::{
    AckSample, CaEvent, CaState, CongestionControl, ControlInfo, ParameterSpec, Parameters, TcpState,
};
use crate::{HostProfile, Preset, Recovery};
use cogtcp_units::{Duration, Rate, Time};
use long_term::LongTerm;

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: "bbr1",
    summary: "Bottleneck Bandwidth and Round-trip time, version 1, as in Linux: paces at the best rate of ten rounds",
    reference: "Cardwell et al., CACM 60(2), 2017; Linux tcp_bbr.c",
    parameters: &[
        ParameterSpec::number("high_gain", "", [2.885, 1.0, 10.0])
            .described("pacing and window gain of Startup: 2 / ln 2"),
        ParameterSpec::number("cwnd_gain", "", [2.0, 1.0, 10.0])
            .described("window in units of the estimated BDP"),
        ParameterSpec::number("min_rtt_window", "s", [10.0, 0.1, 3600.0])
            .described("time after which the minimum RTT is probed for again"),
        ParameterSpec::flag("long_term", true)
            .described("look for policers: a steady rate under losses of 20 % and more"),
    ],
    presets: &[
        Preset::new("bbr1", "bbr1", Recovery::Sack)
            .described("version 1, as Linux has it, with SACK recovery"),
        Preset::new("linux-bbr", "bbr1", Recovery::Sack)
            .described("version 1 as in today's Linux: RACK-TLP, F-RTO, timestamps")
            .on(HostProfile::Linux),
    ],
    build: |parameters| Box::new(Bbr1::new(parameters)),
};

/// bbr_pacing_margin_percent.
const PACING_MARGIN: f64 = 0.01;
/// bbr_bw_rtts.
const BANDWIDTH_ROUNDS: u64 = 10;
/// bbr_pacing_gain.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// bbr_cwnd_min_target in segments.
const LEAST_SEGMENTS: u64 = 4;
/// bbr_probe_rtt_mode_ms.
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// bbr_full_bw_thresh and bbr_full_bw_cnt.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// bbr_extra_acked_win_rtts and bbr_extra_acked_max_us.
const EXTRA_ACKED_ROUNDS: u32 = 5;
const EXTRA_ACKED_LONGEST: f64 = 0.1;

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Mode {
    #[default]
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The state of one connection. Rates are bytes per second, volumes bytes.
#[derive(Clone, Debug, Default)]
pub struct Bbr1 {
    high_gain: f64,
    cwnd_gain: f64,
    min_rtt_window: Duration,
    mode: Mode,
    max_bw: WindowedMax,
    long_term: LongTerm,
    round: u64,
    round_start: bool,
    next_round_delivered: u64,
    min_rtt: Duration,
    min_rtt_at: Time,
    /// When ProbeRTT may end, and whether a round has passed in it.
    probe_rtt_done: Option<Time>,
    probe_rtt_round: bool,
    /// Samples of segments sent before this much was delivered are limited by ProbeRTT.
    limited_until: u64,
    idle_restart: bool,
    cycle_index: usize,
    cycle_at: Time,
    full_bw: f64,
    full_rounds: u32,
    full: bool,
    /// cwnd before recovery or ProbeRTT.
    prior_cwnd: u64,
    conserving: bool,
    /// The recovery state at the previous ACK.
    previous: CaState,
    /// Bytes delivered beyond what bw explains: the epoch, and the greatest of the two windows of rounds.
    epoch_at: Time,
    epoch_acked: f64,
    extra_acked: [f64; 2],
    extra_window: usize,
    extra_rounds: u32,
}

impl Bbr1 {
    fn new(parameters: &Parameters) -> Self {
        Self {
            high_gain: parameters.number("high_gain"),
            cwnd_gain: parameters.number("cwnd_gain"),
            min_rtt_window: Duration::from_secs_f64(parameters.number("min_rtt_window")),
            long_term: LongTerm::new(parameters.flag("long_term")),
            min_rtt: Duration::MAX,
            ..Self::default()
        }
    }

    /// bbr_bw().
    fn bw(&self) -> f64 {
        self.long_term.rate().unwrap_or(self.max_bw.best())
    }

    /// bbr_update_gains().
    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (self.high_gain, self.high_gain),
            Mode::Drain => (1.0 / self.high_gain, self.high_gain),
            Mode::ProbeBw if self.long_term.rate().is_some() => (1.0, self.cwnd_gain),
            Mode::ProbeBw => (CYCLE[self.cycle_index], self.cwnd_gain),
            Mode::ProbeRtt => (1.0, 1.0),
        }
    }

    /// bbr_bdp().
    fn bdp(&self, bw: f64, gain: f64, tcp: &TcpState) -> f64 {
        if self.min_rtt == Duration::MAX {
            return tcp.initial_window as f64;
        }
        gain * bw * self.min_rtt.as_secs_f64()
    }

    /// bbr_quantization_budget(): three send quanta, an even number of segments, and two more while probing.
    fn quantized(&self, volume: f64, tcp: &TcpState) -> f64 {
        let mss = tcp.mss as f64;
        let segments = ceil(volume / mss) + 3.0 * quantum(tcp);
        let even = ceil(segments / 2.0) * 2.0;
        let probing = self.mode == Mode::ProbeBw && self.cycle_index == 0;
        (even + if probing { 2.0 } else { 0.0 }) * mss
    }

    /// bbr_inflight().
    fn inflight(&self, bw: f64, gain: f64, tcp: &TcpState) -> f64 {
        self.quantized(self.bdp(bw, gain, tcp), tcp)
    }

    /// bbr_packets_in_net_at_edt(): of the flight what is left when the next packet departs, that included while
    /// probing.
    fn in_flight_at_departure(&self, now: Time, in_flight: u64, tcp: &TcpState) -> f64 {
        let mss = tcp.mss as f64;
        let probed = if self.gains().0 > 1.0 { quantum(tcp) * mss } else { 0.0 };
        let delivered = self.bw() * tcp.next_departure.saturating_since(now).as_secs_f64();
        (in_flight as f64 + probed - floor(delivered / mss) * mss).max(0.0)
    }

    /// bbr_update_bw().
    fn update_bandwidth(&mut self, tcp: &TcpState, ack: &AckSample, rate: f64, app_limited: bool) {
        self.round_start = false;
        if rate <= 0.0 {
            return;
        }
        if ack.rate.prior_delivered >= self.next_round_delivered {
            self.next_round_delivered = tcp.delivered;
            self.round += 1;
            self.round_start = true;
            self.conserving = false;
        }
        let restart = self.long_term.sample(
            tcp,
            ack.lost > 0,
            app_limited,
            self.round_start,
            self.mode == Mode::ProbeBw,
        );
        if restart {
            self.enter_probe_bw(tcp);
        }
        if !app_limited || rate >= self.max_bw.best() {
            self.max_bw.update(self.round, rate, BANDWIDTH_ROUNDS);
        }
    }

    /// bbr_update_ack_aggregation().
    fn update_aggregation(&mut self, tcp: &TcpState, ack: &AckSample, rate: f64) {
        if ack.delivered == 0 || rate <= 0.0 {
            return;
        }
        if self.round_start {
            self.extra_rounds += 1;
            if self.extra_rounds >= EXTRA_ACKED_ROUNDS {
                self.extra_rounds = 0;
                self.extra_window ^= 1;
                self.extra_acked[self.extra_window] = 0.0;
            }
        }
        let mut expected = self.bw() * tcp.delivered_at.saturating_since(self.epoch_at).as_secs_f64();
        // Linux counts whole packets.
        expected = multiple(expected, tcp.mss as f64);
        if self.epoch_acked <= expected {
            (self.epoch_acked, self.epoch_at, expected) = (0.0, tcp.delivered_at, 0.0);
        }
        self.epoch_acked += ack.delivered as f64;
        let extra = (self.epoch_acked - expected).min(tcp.cwnd as f64);
        let greatest = &mut self.extra_acked[self.extra_window];
        *greatest = greatest.max(extra);
    }

    /// bbr_ack_aggregation_cwnd().
    fn aggregation(&self) -> f64 {
        if !self.full {
            return 0.0;
        }
        self.extra_acked[0].max(self.extra_acked[1]).min(self.bw() * EXTRA_ACKED_LONGEST)
    }

    /// bbr_update_cycle_phase() with bbr_is_next_cycle_phase().
    fn update_cycle(&mut self, now: Time, tcp: &TcpState, ack: &AckSample) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let long =
            self.min_rtt != Duration::MAX && tcp.delivered_at.saturating_since(self.cycle_at) > self.min_rtt;
        let in_flight = || self.in_flight_at_departure(now, ack.prior_in_flight, tcp);
        let gain = self.gains().0;
        let bw = self.max_bw.best();
        let next = if gain > 1.0 {
            long && (ack.lost > 0 || in_flight() >= self.inflight(bw, gain, tcp))
        } else if gain < 1.0 {
            long || in_flight() <= self.inflight(bw, 1.0, tcp)
        } else {
            long
        };
        if next {
            self.advance_cycle(tcp);
        }
    }

    fn advance_cycle(&mut self, tcp: &TcpState) {
        self.cycle_index = (self.cycle_index + 1) % CYCLE.len();
        self.cycle_at = tcp.delivered_at;
    }

    /// bbr_check_full_bw_reached().
    fn check_full(&mut self, app_limited: bool) {
        if self.full || !self.round_start || app_limited {
            return;
        }
        if self.max_bw.best() >= self.full_bw * FULL_GROWTH {
            self.full_bw = self.max_bw.best();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    /// bbr_check_drain().
    fn check_drain(&mut self, now: Time, tcp: &mut TcpState) {
        let bw = self.max_bw.best();
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            tcp.ssthresh = (self.inflight(bw, 1.0, tcp) as u64).max(2 * tcp.mss);
        }
        if self.mode == Mode::Drain
            && self.in_flight_at_departure(now, tcp.in_flight, tcp) <= self.inflight(bw, 1.0, tcp)
        {
            self.enter_probe_bw(tcp);
        }
    }

    /// bbr_reset_probe_bw_mode(): any phase but the phase of gain 0.75.
    fn enter_probe_bw(&mut self, tcp: &TcpState) {
        self.mode = Mode::ProbeBw;
        self.cycle_index = CYCLE.len() - 1 - (hash(tcp) % 7) as usize;
        self.advance_cycle(tcp);
    }

    /// bbr_update_min_rtt().
    fn update_min_rtt(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        let expired = now > self.min_rtt_at + self.min_rtt_window;
        if let Some(rtt) = ack.rtt
            && (rtt < self.min_rtt || expired)
        {
            (self.min_rtt, self.min_rtt_at) = (rtt, now);
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(tcp);
            self.probe_rtt_done = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.limited_until = (tcp.delivered + tcp.in_flight).max(1);
            if let Some(done) = self.probe_rtt_done {
                self.probe_rtt_round |= self.round_start;
                if self.probe_rtt_round {
                    self.check_probe_rtt_done(now, tcp, done);
                }
            } else if tcp.in_flight <= LEAST_SEGMENTS * tcp.mss {
                self.probe_rtt_done = Some(now + PROBE_RTT_TIME);
                self.probe_rtt_round = false;
                self.next_round_delivered = tcp.delivered;
            }
        }
        if ack.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn check_probe_rtt_done(&mut self, now: Time, tcp: &mut TcpState, done: Time) {
        if now <= done {
            return;
        }
        self.min_rtt_at = now;
        tcp.cwnd = tcp.cwnd.max(self.prior_cwnd);
        if self.full {
            self.enter_probe_bw(tcp);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// bbr_save_cwnd().
    fn save_cwnd(&mut self, tcp: &TcpState) {
        self.prior_cwnd = if recovers(self.previous) || self.mode == Mode::ProbeRtt {
            self.prior_cwnd.max(tcp.cwnd)
        } else {
            tcp.cwnd
        };
    }

    /// bbr_set_pacing_rate(), and bbr_init_pacing_rate_from_rtt() before the first rate.
    fn set_pacing_rate(&self, tcp: &mut TcpState, gain: f64) {
        let bw = match self.bw() {
            0.0 if tcp.pacing_rate.is_none() && !tcp.srtt.is_zero() => {
                tcp.cwnd as f64 / tcp.srtt.as_secs_f64()
            }
            bw => bw,
        };
        let rate = Rate::from_bits_per_second((8.0 * bw * gain * (1.0 - PACING_MARGIN)) as u64);
        if rate > Rate::ZERO && (self.full || tcp.pacing_rate.is_none_or(|old| rate > old)) {
            tcp.pacing_rate = Some(rate);
        }
    }

    /// bbr_set_cwnd_to_recover_or_restore().
    fn recover_or_restore(&mut self, tcp: &TcpState, ack: &AckSample) -> u64 {
        let mut cwnd = tcp.cwnd.saturating_sub(ack.lost).max(tcp.mss);
        if tcp.ca_state == CaState::Recovery && self.previous != CaState::Recovery {
            // A round of packet conservation begins.
            self.conserving = true;
            self.next_round_delivered = tcp.delivered;
            cwnd = tcp.in_flight + ack.delivered;
        } else if recovers(self.previous) && !recovers(tcp.ca_state) {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserving = false;
        }
        self.previous = tcp.ca_state;
        cwnd
    }

    /// bbr_set_cwnd().
    fn set_cwnd(&mut self, tcp: &mut TcpState, ack: &AckSample) {
        let least = LEAST_SEGMENTS * tcp.mss;
        if ack.delivered > 0 {
            let mut cwnd = self.recover_or_restore(tcp, ack);
            if self.conserving {
                cwnd = cwnd.max(tcp.in_flight + ack.delivered);
            } else {
                let bdp = self.bdp(self.bw(), self.gains().1, tcp);
                let target = self.quantized(bdp + self.aggregation(), tcp) as u64;
                if self.full {
                    cwnd = (cwnd + ack.delivered).min(target);
                } else if cwnd < target || tcp.delivered < tcp.initial_window {
                    cwnd += ack.delivered;
                }
                cwnd = cwnd.max(least);
            }
            tcp.cwnd = cwnd;
        }
        if self.mode == Mode::ProbeRtt {
            tcp.cwnd = tcp.cwnd.min(least);
        }
    }
}

/// bbr_tso_segs_goal(): segments of a packet, about a millisecond of the pacing rate (sk_pacing_shift 10).
fn quantum(tcp: &TcpState) -> f64 {
    let rate = tcp.pacing_rate.map_or(0.0, |rate| rate.bits_per_second() as f64 / 8.0);
    let least = if rate < 150_000.0 { 1.0 } else { 2.0 };
    floor((rate / 1024.0).min(65_536.0) / tcp.mss as f64).max(least)
}

/// Numbers from here on are whole.
const WHOLE: f64 = (1_u64 << 52) as f64;

/// Returns `x`, 0 or more, rounded down: each ACK asks for several, and the library's functions take ten times as
/// long.
#[inline]
fn floor(x: f64) -> f64 {
    if x < WHOLE { (x as i64) as f64 } else { x }
}

/// Returns `x`, 0 or more, rounded up.
#[inline]
fn ceil(x: f64) -> f64 {
    let below = floor(x);
    if below < x { below + 1.0 } else { below }
}

/// Returns the greatest multiple of the whole number `unit` that is no greater than `x`: `x - x % unit`.
#[inline]
fn multiple(x: f64, unit: f64) -> f64 {
    let below = floor(x / unit) * unit;
    // The quotient was rounded, up to a whole number at most.
    if below > x { below - unit } else { below }
}

fn recovers(state: CaState) -> bool {
    matches!(state, CaState::Recovery | CaState::Loss)
}

/// A number out of the connection's progress (SplitMix64's finaliser).
fn hash(tcp: &TcpState) -> u64 {
    let z = (tcp.delivered_at.as_nanos() ^ tcp.delivered.rotate_left(32)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl CongestionControl for Bbr1 {
    fn name(&self) -> &str {
        "bbr1"
    }

    fn init(&mut self, now: Time, tcp: &mut TcpState) {
        (self.min_rtt_at, self.cycle_at, self.epoch_at) = (now, now, now);
        if !tcp.srtt.is_zero() {
            self.min_rtt = tcp.srtt;
        }
        self.long_term.reset(tcp);
        self.set_pacing_rate(tcp, self.high_gain);
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.save_cwnd(tcp);
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
        let rate = ack.rate.rate().map_or(0.0, |rate| rate.bits_per_second() as f64 / 8.0);
        let app_limited = ack.rate.app_limited || ack.rate.prior_delivered < self.limited_until;
        self.update_bandwidth(tcp, ack, rate, app_limited);
        self.update_aggregation(tcp, ack, rate);
        self.update_cycle(now, tcp, ack);
        self.check_full(app_limited);
        self.check_drain(now, tcp);
        self.update_min_rtt(now, tcp, ack);
        self.set_pacing_rate(tcp, self.gains().0);
        self.set_cwnd(tcp, ack);
        true
    }

    fn observe(&self, _tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        show("bandwidth_bps", 8.0 * self.bw());
        show("min_rtt_s", super::seconds(self.min_rtt));
        show("pacing_gain", self.gains().0);
    }

    fn set_state(&mut self, _now: Time, tcp: &mut TcpState, state: CaState) {
        if state == CaState::Loss {
            self.previous = CaState::Loss;
            self.full_bw = 0.0;
            // A timeout ends a round.
            self.round_start = true;
            self.long_term.sample(tcp, true, false, true, self.mode == Mode::ProbeBw);
            // tcp_enter_loss().
            tcp.cwnd = tcp.in_flight + tcp.mss;
        }
    }

    fn cwnd_event(&mut self, now: Time, tcp: &mut TcpState, event: CaEvent) {
        if event == CaEvent::TxStart && tcp.app_limited {
            self.idle_restart = true;
            (self.epoch_at, self.epoch_acked) = (now, 0.0);
            match (self.mode, self.probe_rtt_done) {
                (Mode::ProbeBw, _) => self.set_pacing_rate(tcp, 1.0),
                (Mode::ProbeRtt, Some(done)) => self.check_probe_rtt_done(now, tcp, done),
                _ => {}
            }
        }
    }

    fn undo_cwnd(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        // bbr_undo_cwnd(); the window itself comes back by leaving `Loss`.
        (self.full_bw, self.full_rounds) = (0.0, 0);
        self.long_term.reset(tcp);
        tcp.cwnd.max(self.prior_cwnd).max(tcp.prior_cwnd)
    }
}

#[cfg(test)]
mod tests;
