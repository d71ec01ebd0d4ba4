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
//! All in whole numbers, as in Linux: segments, microseconds, ticks of the host's clock, a bandwidth of segments
//! per microsecond in 2^-24, gains in 1/256.
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
use crate::{HostProfile, Preset, Recovery, Wheel, micros};
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

/// A bandwidth of one segment per microsecond (`BW_UNIT`), as a power of two.
const BW_BITS: u32 = 24;
/// Parts of one that gains are multiples of (`BBR_UNIT`).
const UNIT: u64 = 256;
/// What is left of a second by bbr_pacing_margin_percent, microseconds.
const PACED_MICROS: u64 = 990_000;
/// bbr_bw_rtts.
const BANDWIDTH_ROUNDS: u64 = 10;
/// bbr_pacing_gain.
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// bbr_cwnd_min_target in segments.
const LEAST_SEGMENTS: u64 = 4;
/// bbr_probe_rtt_mode_ms.
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// bbr_full_bw_thresh and bbr_full_bw_cnt.
const FULL_GROWTH: u64 = UNIT * 5 / 4;
const FULL_ROUNDS: u32 = 3;
/// bbr_extra_acked_win_rtts and bbr_extra_acked_max_us.
const EXTRA_ACKED_ROUNDS: u32 = 5;
const EXTRA_ACKED_LONGEST: u64 = 100_000;

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Mode {
    #[default]
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The state of one connection. Volumes are segments, if not said otherwise.
#[derive(Clone, Debug, Default)]
pub struct Bbr1 {
    /// Gains are in 1/256.
    high_gain: u64,
    drain_gain: u64,
    cwnd_gain: u64,
    min_rtt_window: Duration,
    mode: Mode,
    /// In 2^-24 segments per microsecond.
    max_bw: WindowedMax,
    long_term: LongTerm,
    round: u64,
    round_start: bool,
    /// Bytes.
    next_round_delivered: u64,
    min_rtt: Duration,
    /// By the host's clock, in whole ticks; so are the times of ProbeRTT.
    min_rtt_at: Time,
    /// When ProbeRTT may end, and whether a round has passed in it.
    probe_rtt_done: Option<Time>,
    probe_rtt_round: bool,
    /// ProbeRTT limits samples of segments that were sent when so many bytes were delivered, from and to.
    limited: (u64, u64),
    idle_restart: bool,
    cycle_index: usize,
    cycle_at: Time,
    /// The gains since the last ACK: a change of mode counts from the end of the ACK that brought it
    /// (`bbr_update_gains`).
    pacing_gain: u64,
    full_bw: u64,
    full_rounds: u32,
    full: bool,
    /// cwnd before recovery or ProbeRTT, bytes.
    prior_cwnd: u64,
    conserving: bool,
    /// The recovery state at the previous ACK.
    previous: CaState,
    /// What was delivered beyond what bw explains: the epoch, and the greatest of the two windows of rounds.
    epoch_at: Time,
    epoch_acked: u64,
    extra_acked: [u64; 2],
    extra_window: usize,
    extra_rounds: u32,
}

impl Bbr1 {
    fn new(parameters: &Parameters) -> Self {
        let high_gain = parameters.number("high_gain");
        let whole = |gain: f64| (gain * UNIT as f64) as u64;
        Self {
            // 2.885 is 739, its inverse 88.
            high_gain: whole(high_gain) + 1,
            drain_gain: whole(1.0 / high_gain),
            cwnd_gain: whole(parameters.number("cwnd_gain")),
            min_rtt_window: Duration::from_secs_f64(parameters.number("min_rtt_window")),
            long_term: LongTerm::new(parameters.flag("long_term")),
            min_rtt: Duration::MAX,
            pacing_gain: whole(high_gain) + 1,
            ..Self::default()
        }
    }

    /// bbr_max_bw().
    fn max_bw(&self) -> u64 {
        self.max_bw.best() as u64
    }

    /// bbr_bw().
    fn bw(&self) -> u64 {
        self.long_term.rate().unwrap_or_else(|| self.max_bw())
    }

    /// bbr_update_gains(): of pacing and of the window.
    fn gains(&self) -> (u64, u64) {
        match self.mode {
            Mode::Startup => (self.high_gain, self.high_gain),
            Mode::Drain => (self.drain_gain, self.high_gain),
            Mode::ProbeBw if self.long_term.rate().is_some() => (UNIT, self.cwnd_gain),
            Mode::ProbeBw => (CYCLE[self.cycle_index], self.cwnd_gain),
            Mode::ProbeRtt => (UNIT, UNIT),
        }
    }

    /// bbr_bdp().
    fn bdp(&self, bw: u64, gain: u64, tcp: &TcpState) -> u64 {
        if self.min_rtt == Duration::MAX {
            return tcp.initial_window.div_ceil(tcp.mss);
        }
        let volume = bw.saturating_mul(micros::count(self.min_rtt));
        (volume.saturating_mul(gain) / UNIT).div_ceil(1 << BW_BITS)
    }

    /// bbr_quantization_budget(): three send quanta, an even number of segments, and two more while probing.
    fn quantized(&self, volume: u64, tcp: &TcpState) -> u64 {
        let even = (volume + 3 * quantum(tcp)).next_multiple_of(2);
        let probing = self.mode == Mode::ProbeBw && self.cycle_index == 0;
        if probing { even + 2 } else { even }
    }

    /// bbr_inflight().
    fn inflight(&self, bw: u64, gain: u64, tcp: &TcpState) -> u64 {
        self.quantized(self.bdp(bw, gain, tcp), tcp)
    }

    /// bbr_packets_in_net_at_edt(): of the flight what is left when the next packet departs, that included while
    /// probing.
    fn in_flight_at_departure(&self, now: Time, in_flight: u64, tcp: &TcpState) -> u64 {
        let probed = if self.pacing_gain > UNIT { quantum(tcp) } else { 0 };
        let delivered = in_span(self.bw(), tcp.next_departure.saturating_since(now));
        (in_flight.div_ceil(tcp.mss) + probed).saturating_sub(delivered)
    }

    /// bbr_update_bw().
    fn update_bandwidth(&mut self, tcp: &TcpState, ack: &AckSample, app_limited: bool) {
        self.round_start = false;
        let interval = micros::count(ack.rate.interval);
        if interval == 0 {
            return;
        }
        if ack.rate.prior_delivered >= self.next_round_delivered {
            self.next_round_delivered = tcp.delivered;
            self.round += 1;
            self.round_start = true;
            self.conserving = false;
        }
        self.look_for_policer(tcp, ack.lost > 0, app_limited);
        let bw = bandwidth(ack.rate.delivered.div_ceil(tcp.mss), interval);
        if !app_limited || bw >= self.max_bw() {
            self.max_bw.update(self.round, bw as f64, BANDWIDTH_ROUNDS);
        }
    }

    /// bbr_lt_bw_sampling().
    fn look_for_policer(&mut self, tcp: &TcpState, losses: bool, app_limited: bool) {
        let before = self.long_term.rate();
        let probing = self.mode == Mode::ProbeBw;
        if self.long_term.sample(tcp, losses, app_limited, self.round_start, probing) {
            self.enter_probe_bw(tcp);
        } else if before.is_none() && self.long_term.rate().is_some() {
            self.pacing_gain = UNIT;
        }
    }

    /// bbr_update_ack_aggregation().
    fn update_aggregation(&mut self, tcp: &TcpState, ack: &AckSample, bw: u64) {
        if ack.delivered == 0 || micros::count(ack.rate.interval) == 0 {
            return;
        }
        if self.round_start {
            self.extra_rounds += 1;
            if self.extra_rounds >= EXTRA_ACKED_ROUNDS {
                self.extra_rounds = 0;
                self.extra_window ^= 1;
                self.extra_acked[self.extra_window] = 0;
            }
        }
        let mut expected = in_span(bw, micros::between(self.epoch_at, tcp.delivered_at));
        if self.epoch_acked <= expected {
            (self.epoch_acked, self.epoch_at, expected) = (0, tcp.delivered_at, 0);
        }
        self.epoch_acked += ack.delivered.div_ceil(tcp.mss);
        let extra = (self.epoch_acked - expected).min(tcp.cwnd / tcp.mss);
        let greatest = &mut self.extra_acked[self.extra_window];
        *greatest = extra.max(*greatest);
    }

    /// bbr_ack_aggregation_cwnd().
    fn aggregation(&self, bw: u64) -> u64 {
        if !self.full {
            return 0;
        }
        let longest = bw.saturating_mul(EXTRA_ACKED_LONGEST) >> BW_BITS;
        self.extra_acked[0].max(self.extra_acked[1]).min(longest)
    }

    /// bbr_update_cycle_phase() with bbr_is_next_cycle_phase().
    fn update_cycle(&mut self, now: Time, tcp: &TcpState, ack: &AckSample) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let long =
            self.min_rtt != Duration::MAX && micros::between(self.cycle_at, tcp.delivered_at) > self.min_rtt;
        let in_flight = || self.in_flight_at_departure(now, ack.prior_in_flight, tcp);
        let gain = self.pacing_gain;
        let next = if gain > UNIT {
            long && (ack.lost > 0 || in_flight() >= self.inflight(self.max_bw(), gain, tcp))
        } else if gain < UNIT {
            long || in_flight() <= self.inflight(self.max_bw(), UNIT, tcp)
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
        if self.max_bw() >= self.full_bw * FULL_GROWTH / UNIT {
            self.full_bw = self.max_bw();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    /// bbr_check_drain().
    fn check_drain(&mut self, now: Time, tcp: &mut TcpState) {
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            tcp.ssthresh = (self.inflight(self.max_bw(), UNIT, tcp) * tcp.mss).max(2 * tcp.mss);
        }
        if self.mode == Mode::Drain
            && self.in_flight_at_departure(now, tcp.in_flight, tcp) <= self.inflight(self.max_bw(), UNIT, tcp)
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
        let clock = jiffies(now, tcp);
        let expired = clock > self.min_rtt_at + self.min_rtt_window;
        if let Some(rtt) = ack.rtt
            && (rtt < self.min_rtt || expired)
        {
            (self.min_rtt, self.min_rtt_at) = (rtt, clock);
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(tcp);
            self.probe_rtt_done = None;
        }
        if self.mode == Mode::ProbeRtt {
            if tcp.delivered > self.limited.1 {
                self.limited.0 = tcp.delivered;
            }
            self.limited.1 = tcp.delivered + tcp.in_flight;
            if let Some(done) = self.probe_rtt_done {
                self.probe_rtt_round |= self.round_start;
                if self.probe_rtt_round {
                    self.check_probe_rtt_done(clock, tcp, done);
                }
            } else if tcp.in_flight <= LEAST_SEGMENTS * tcp.mss {
                self.probe_rtt_done = Some(clock + PROBE_RTT_TIME);
                self.probe_rtt_round = false;
                self.next_round_delivered = tcp.delivered;
            }
        }
        if ack.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn check_probe_rtt_done(&mut self, clock: Time, tcp: &mut TcpState, done: Time) {
        if clock <= done {
            return;
        }
        self.min_rtt_at = clock;
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
    fn set_pacing_rate(&self, tcp: &mut TcpState, bw: u64, gain: u64) {
        let bw = match bw {
            0 if tcp.pacing_rate.is_none() && !tcp.srtt.is_zero() => {
                bandwidth(tcp.cwnd / tcp.mss, micros::count(tcp.srtt).max(1))
            }
            bw => bw,
        };
        let rate = Rate::from_bits_per_second(8 * bytes_per_second(bw, gain, PACED_MICROS, tcp));
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
    fn set_cwnd(&mut self, tcp: &mut TcpState, ack: &AckSample, bw: u64, gain: u64) {
        let least = LEAST_SEGMENTS * tcp.mss;
        if ack.delivered > 0 {
            let mut cwnd = self.recover_or_restore(tcp, ack);
            if self.conserving {
                cwnd = cwnd.max(tcp.in_flight + ack.delivered);
            } else {
                let bdp = self.bdp(bw, gain, tcp);
                let target = self.quantized(bdp + self.aggregation(bw), tcp) * tcp.mss;
                if self.full {
                    cwnd = (cwnd + ack.delivered).min(target);
                } else if cwnd < target || tcp.delivered + tcp.mss < tcp.initial_window {
                    // Linux counts the SYN as delivered.
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
fn quantum(tcp: &TcpState) -> u64 {
    let rate = tcp.pacing_rate.map_or(0, |rate| rate.bits_per_second() / 8);
    let least = if rate < 150_000 { 1 } else { 2 };
    ((rate >> 10).min(65_215) / tcp.mss).clamp(least, 127)
}

/// A bandwidth out of the segments delivered in so many microseconds. Linux keeps 32 bits: 3 Tbit/s.
fn bandwidth(segments: u64, micros: u64) -> u64 {
    (segments << BW_BITS) / micros
}

/// What a bandwidth delivers, in segments.
fn in_span(bw: u64, span: Duration) -> u64 {
    bw.saturating_mul(micros::count(span)) >> BW_BITS
}

/// bbr_rate_bytes_per_sec(): with a second of so many microseconds.
fn bytes_per_second(bw: u64, gain: u64, second: u64, tcp: &TcpState) -> u64 {
    (bw.saturating_mul(tcp.mss * gain) / UNIT).saturating_mul(second) >> BW_BITS
}

/// The host's clock in whole ticks. Departure: the ticks begin with the run.
fn jiffies(now: Time, tcp: &TcpState) -> Time {
    Wheel { tick: Duration::from_millis(u64::from(tcp.tick_ms.max(1))), phase: Duration::ZERO }.clock(now)
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
        (self.min_rtt_at, self.cycle_at, self.epoch_at) = (jiffies(now, tcp), now, now);
        if !tcp.srtt.is_zero() {
            self.min_rtt = tcp.srtt;
        }
        self.long_term.reset(tcp);
        self.set_pacing_rate(tcp, self.bw(), self.high_gain);
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
        let app_limited = ack.rate.app_limited
            || (self.limited.1 > 0 && (self.limited.0..=self.limited.1).contains(&ack.rate.prior_delivered));
        self.update_bandwidth(tcp, ack, app_limited);
        // It stays until the next ACK.
        let bw = self.bw();
        self.update_aggregation(tcp, ack, bw);
        self.update_cycle(now, tcp, ack);
        self.check_full(app_limited);
        self.check_drain(now, tcp);
        self.update_min_rtt(now, tcp, ack);
        let (pacing_gain, cwnd_gain) = self.gains();
        self.pacing_gain = pacing_gain;
        self.set_pacing_rate(tcp, bw, pacing_gain);
        self.set_cwnd(tcp, ack, bw, cwnd_gain);
        true
    }

    fn observe(&self, tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        show("bandwidth_bps", 8.0 * bytes_per_second(self.bw(), UNIT, 1_000_000, tcp) as f64);
        show("min_rtt_s", super::seconds(self.min_rtt));
        show("pacing_gain", self.gains().0 as f64 / UNIT as f64);
    }

    fn set_state(&mut self, _now: Time, tcp: &mut TcpState, state: CaState) {
        if state == CaState::Loss {
            self.previous = CaState::Loss;
            self.full_bw = 0;
            // A timeout ends a round.
            self.round_start = true;
            self.look_for_policer(tcp, true, false);
            // tcp_enter_loss().
            tcp.cwnd = tcp.in_flight + tcp.mss;
        }
    }

    fn cwnd_event(&mut self, now: Time, tcp: &mut TcpState, event: CaEvent) {
        if event == CaEvent::TxStart && tcp.app_limited {
            self.idle_restart = true;
            (self.epoch_at, self.epoch_acked) = (now, 0);
            match (self.mode, self.probe_rtt_done) {
                (Mode::ProbeBw, _) => self.set_pacing_rate(tcp, self.bw(), UNIT),
                (Mode::ProbeRtt, Some(done)) => self.check_probe_rtt_done(jiffies(now, tcp), tcp, done),
                _ => {}
            }
        }
    }

    fn undo_cwnd(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        // bbr_undo_cwnd(): the window comes back by leaving `Loss` or `Recovery`. Until then what an ACK brings beyond bw
        // is bounded by the small window.
        (self.full_bw, self.full_rounds) = (0, 0);
        self.long_term.reset(tcp);
        tcp.cwnd
    }
}

#[cfg(test)]
mod tests;
