//! CUBIC (RFC 9438): between losses the window is a cubic function of time, flat around the window of the
//! last loss.
//!
//! ```text
//! W_cubic(t) = C * (t - K)^3 + W_max,   K = cbrt((W_max - cwnd_epoch) / C)   (1), (2); t: time in the epoch
//! target     = W_cubic(t + RTT), within [cwnd, 1.5 cwnd]
//! W_est     += alpha * segments_acked / cwnd,   alpha = 3 (1 - beta) / (1 + beta),   (4)
//!              1 once W_est reaches cwnd_prior
//! ACK:   W_cubic(t) < W_est: cwnd = W_est      else: cwnd += segments_acked * (target - cwnd) / cwnd
//! loss:  W_max = cwnd, or cwnd * (1 + beta) / 2 when that is less than the last W_max (fast convergence)
//!        ssthresh = beta * FlightSize
//! ```
//!
//! Departures and choices:
//! - Growth counts the segments acknowledged, as Linux, where the RFC has (target - cwnd) / cwnd "for each
//!   received ACK": with delayed ACKs the window would otherwise fall behind W_cubic.
//! - After a timeout, and after a slow start without loss, K = 0 and W_max = cwnd (sections 4.8 and 4.10). So
//!   too if an epoch begins above W_max, which the RFC leaves open.
//! - In the Reno-friendly region cwnd rises to W_est and never falls to it: the cubic of a round trip ahead
//!   may have carried it further. Section 4.3 has cwnd = W_est; this is Linux's rule.
//! - t stops while nothing is in flight, and between ACKs that may not grow cwnd because something else
//!   limits the flow. Section 4.2 asks this of application-limited times; Linux stops t only while nothing is
//!   in flight.
//! - Only spurious timeouts are undone (section 4.9.1, by F-RTO), with the response of section 4.9.2.
//! - ECN is not modelled.
//!
//! `linux.rs` has the rules of Linux.

mod linux;

use super::growth;
use super::hystart::{self, SlowStart};
use super::{
    AckSample, CaEvent, CaState, CongestionControl, ControlInfo, ParameterSpec, Parameters, TcpState,
};
use crate::{HostProfile, Preset, PresetValue, Recovery};
use cogtcp_units::Time;

const NAME: &str = "cubic";

pub(super) const C: ParameterSpec = ParameterSpec::number("c", "segments/s^3", [0.4, 0.001, 1000.0])
    .described("C: how steep the cubic is (RFC 9438 section 5.1)");
pub(super) const BETA: ParameterSpec = ParameterSpec::number("beta", "", [0.7, 0.1, 1.0])
    .described("beta_cubic: factor left of the window after a loss (section 4.6)");
pub(super) const FAST_CONVERGENCE: ParameterSpec = ParameterSpec::flag("fast_convergence", true)
    .described("give up more when losses come at ever smaller windows (section 4.7)");
pub(super) const RENO_FRIENDLY: ParameterSpec =
    ParameterSpec::flag("reno_friendly", true).described("never less than Reno would have (section 4.3)");

const RULES: ParameterSpec = ParameterSpec::choice("rules", "rfc", &["rfc", "linux"]).described(
    "rfc: RFC 9438 and HyStart++; linux: what Linux computes, with its HyStart and windows of whole segments (`abc_limit` and \
     `hystart_limit` are without effect)",
);

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: NAME,
    summary: "the window is a cubic function of the time since the last loss; the default of most hosts today",
    reference: "RFC 9438; HyStart++ RFC 9406",
    parameters: &[
        C,
        BETA,
        FAST_CONVERGENCE,
        RENO_FRIENDLY,
        growth::ABC_LIMIT,
        hystart::HYSTART,
        hystart::HYSTART_LIMIT,
        RULES,
    ],
    presets: &[
        Preset::new("cubic", NAME, Recovery::Sack)
            .described("CUBIC with SACK recovery and standard slow start"),
        Preset::new("cubic-hystart", NAME, Recovery::Sack)
            .described("CUBIC with SACK recovery and HyStart++")
            .with(&[("hystart", PresetValue::Flag(true))]),
        Preset::new("linux-cubic", NAME, Recovery::Sack)
            .described("CUBIC as in today's Linux: its HyStart, PRR, RACK-TLP, F-RTO, undo by timestamps, RTO of SRTT + 200 ms or more")
            .on(HostProfile::Linux)
            .with(&[("hystart", PresetValue::Flag(true)), ("rules", PresetValue::Word("linux"))]),
    ],
    build: |parameters| match parameters.text("rules") {
        "linux" => Box::new(linux::LinuxCubic::new(parameters)),
        _ => Box::new(Cubic::new(parameters)),
    },
};

/// The state of one connection. Windows are segments.
#[derive(Clone, Debug)]
pub(super) struct Cubic {
    c: f64,
    beta: f64,
    alpha: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    slow_start: SlowStart,
    history: History,
    /// `history` before the latest loss event, for an undo.
    prior: History,
    /// Growth below one byte.
    credit: f64,
    timed_out: bool,
    last_ack: Time,
    /// The latest ACK of new data could grow cwnd.
    grows: bool,
}

/// What losses leave behind.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    /// Window at the last loss, after fast convergence; zero: none, or a timeout came since.
    w_max: f64,
    /// Window at the last loss.
    cwnd_prior: f64,
    /// The congestion avoidance stage in progress.
    epoch: Option<Epoch>,
}

/// A congestion avoidance stage.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// Seconds from the start to the plateau, and the plateau.
    k: f64,
    w_max: f64,
    /// Reno's window.
    w_est: f64,
}

impl Epoch {
    /// RFC 9438 section 4.2.
    fn new(c: f64, now: Time, cwnd: f64, w_max: f64) -> Self {
        let k = if w_max > cwnd { libm::cbrt((w_max - cwnd) / c) } else { 0.0 };
        Self { start: now, k, w_max: w_max.max(cwnd), w_est: cwnd }
    }

    /// Equation (1).
    fn w_cubic(&self, c: f64, seconds: f64) -> f64 {
        let t = seconds - self.k;
        c * t * t * t + self.w_max
    }
}

impl Cubic {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let beta = parameters.number("beta");
        Self {
            c: parameters.number("c"),
            beta,
            // Section 4.3: the additive increase that with this beta gives Reno's throughput.
            alpha: 3.0 * (1.0 - beta) / (1.0 + beta),
            fast_convergence: parameters.flag("fast_convergence"),
            reno_friendly: parameters.flag("reno_friendly"),
            slow_start: SlowStart::new(parameters),
            history: History::default(),
            prior: History::default(),
            credit: 0.0,
            timed_out: false,
            last_ack: Time::ZERO,
            grows: false,
        }
    }

    /// The time since the last ACK is no part of t.
    fn stand_still(&mut self, now: Time) {
        if let Some(epoch) = &mut self.history.epoch {
            epoch.start += now.saturating_since(self.last_ack.max(epoch.start));
        }
    }

    fn grow(&mut self, now: Time, tcp: &mut TcpState, acked: u64) {
        let mss = tcp.mss as f64;
        let cwnd = tcp.cwnd as f64 / mss;
        let (c, w_max) = (self.c, self.history.w_max);
        let epoch = self.history.epoch.get_or_insert_with(|| Epoch::new(c, now, cwnd, w_max));
        let seconds = now.saturating_since(epoch.start).as_secs_f64();
        let acked = acked as f64 / mss;

        if self.reno_friendly {
            let alpha = if epoch.w_est >= self.history.cwnd_prior { 1.0 } else { self.alpha };
            epoch.w_est += alpha * acked / cwnd;
            if epoch.w_cubic(c, seconds) < epoch.w_est {
                tcp.cwnd = tcp.cwnd.max((epoch.w_est * mss) as u64);
                return;
            }
        }
        let target = epoch.w_cubic(c, seconds + tcp.srtt.as_secs_f64()).clamp(cwnd, 1.5 * cwnd);
        self.credit += acked * (target - cwnd) / cwnd * mss;
        let whole = self.credit as u64;
        self.credit -= whole as f64;
        tcp.cwnd += whole;
    }
}

impl CongestionControl for Cubic {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn init(&mut self, now: Time, tcp: &mut TcpState) {
        self.slow_start.start(tcp);
        self.last_ack = now;
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.slow_start.on_loss();
        self.prior = self.history;
        self.credit = 0.0;
        let cwnd = tcp.cwnd as f64 / tcp.mss as f64;
        self.history = History {
            w_max: if std::mem::take(&mut self.timed_out) {
                // Section 4.8: the next stage begins with K = 0 and W_max = cwnd.
                0.0
            } else if self.fast_convergence && cwnd < self.history.w_max {
                // Section 4.7.
                cwnd * (1.0 + self.beta) / 2.0
            } else {
                cwnd
            },
            cwnd_prior: cwnd,
            epoch: None,
        };
        // Section 4.6.
        ((tcp.flight_size as f64 * self.beta) as u64).max(2 * tcp.mss)
    }

    fn cong_avoid(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        if tcp.in_slow_start() {
            self.slow_start.grow(tcp, ack.acked);
        } else {
            self.grow(now, tcp, ack.acked);
            self.grows = true;
        }
    }

    fn pkts_acked(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        self.slow_start.on_ack(tcp, ack);
        if ack.acked > 0 {
            if !std::mem::take(&mut self.grows) {
                self.stand_still(now);
            }
            self.last_ack = now;
        }
    }

    fn cwnd_event(&mut self, now: Time, _tcp: &mut TcpState, event: CaEvent) {
        match event {
            CaEvent::Loss => self.timed_out = true,
            CaEvent::TxStart => {
                // Nothing was in flight since the last ACK.
                self.stand_still(now);
                self.last_ack = now;
            }
            _ => {}
        }
    }

    fn set_state(&mut self, _now: Time, _tcp: &mut TcpState, state: CaState) {
        if state == CaState::Open {
            // A timeout that did not ask for ssthresh, being the second of a segment, is over.
            self.timed_out = false;
        }
    }

    fn observe(&self, _tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        let of_epoch = |value: fn(&Epoch) -> f64| self.history.epoch.as_ref().map_or(f64::NAN, value);
        show("w_max_segments", of_epoch(|epoch| epoch.w_max));
        show("w_est_segments", of_epoch(|epoch| epoch.w_est));
        show("k_s", of_epoch(|epoch| epoch.k));
    }

    fn undo_cwnd(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        // Section 4.9.2: the state of before the spurious loss event, unless the window has outgrown that.
        if tcp.cwnd < tcp.prior_cwnd {
            self.history = self.prior;
        }
        tcp.cwnd.max(tcp.prior_cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::ParameterValue;
    use crate::congestion::testing::{Bench, MSS, tcp};
    use cogtcp_units::Duration;

    const RTT: Duration = Duration::from_millis(100);

    fn resolved(parameters: &[(&str, ParameterValue)]) -> Cubic {
        let mut table = Parameters::new();
        for (name, value) in parameters {
            table.set(name, value.clone());
        }
        Cubic::new(&table.resolve(NAME, INFO.parameters).unwrap())
    }

    fn close(value: f64, expected: f64, tolerance: f64) -> bool {
        (value - expected).abs() <= tolerance
    }

    #[test]
    fn the_cubic_by_hand() {
        // Loss at 100 segments, 70 left: K = cbrt(30 / 0.4) = cbrt(75) = 4.217163 s.
        let epoch = Epoch::new(0.4, Time::ZERO, 70.0, 100.0);
        assert!(close(epoch.k, 4.217_163, 1e-6), "{}", epoch.k);
        // W(0) = 70; W(K) = 100; W(10) = 0.4 * 5.782837^3 + 100 = 0.4 * 193.385 + 100 = 177.354.
        assert!(close(epoch.w_cubic(0.4, 0.0), 70.0, 1e-9));
        assert!(close(epoch.w_cubic(0.4, epoch.k), 100.0, 1e-9));
        assert!(close(epoch.w_cubic(0.4, 10.0), 177.354, 1e-3), "{}", epoch.w_cubic(0.4, 10.0));
        // Above W_max: K = 0 and the plateau is where the stage begins.
        let epoch = Epoch::new(0.4, Time::ZERO, 50.0, 0.0);
        assert_eq!((epoch.k, epoch.w_max), (0.0, 50.0));
        assert!(close(epoch.w_cubic(0.4, 5.0), 100.0, 1e-9));
    }

    #[test]
    fn the_window_follows_the_cubic() {
        // Long RTT and large window: CUBIC's own region. Loss at 1000 segments: K = cbrt(300/0.4) = 9.0856 s.
        let mut bench = Bench::new(NAME, &[("reno_friendly", ParameterValue::Flag(false))], 1000);
        bench.loss();
        assert_eq!(bench.segments(), 700.0);
        let start = bench.now;
        let epoch = Epoch::new(0.4, start, 700.0, 1000.0);
        for _ in 0..130 {
            bench.round(RTT);
            let t = (bench.now - start).as_secs_f64();
            let expected = epoch.w_cubic(0.4, t);
            assert!(
                close(bench.segments(), expected, expected * 0.01),
                "{t}: {} {expected}",
                bench.segments()
            );
        }
        assert!(bench.segments() > 1000.0, "past the plateau after K");
    }

    #[test]
    fn the_reno_friendly_region_by_hand() {
        // 20 segments, RTT 10 ms: ssthresh 14, W_est grows by 3 * 0.3/1.7 = 0.5294 a round until 20, then by
        // 1.
        let rtt = Duration::from_millis(10);
        let mut bench = Bench::new(NAME, &[], 20);
        bench.loss();
        assert_eq!(bench.segments(), 14.0);
        for _ in 0..14 {
            bench.ack(MSS, rtt);
        }
        assert!(close(bench.segments(), 14.529, 0.02), "{}", bench.segments());
        while bench.segments() < 20.0 {
            bench.round(rtt);
        }
        let before = bench.segments();
        for _ in 0..10 {
            bench.round(rtt);
        }
        assert!(close(bench.segments() - before, 10.0, 0.6), "{}", bench.segments() - before);
    }

    #[test]
    fn growth_is_at_most_half_a_window_per_round_trip() {
        let mut bench = Bench::new(NAME, &[], 10);
        bench.tcp.ssthresh = 2 * MSS;
        bench.ack(MSS, RTT);
        bench.now += Duration::from_secs(100);
        let before = bench.segments();
        bench.round(RTT);
        // Compounded ACK by ACK it is e^0.5.
        assert!(bench.segments() <= before * 1.66, "{before} {}", bench.segments());
        assert!(bench.segments() >= before * 1.45, "{before} {}", bench.segments());
    }

    #[test]
    fn fast_convergence_lowers_w_max() {
        let mut cubic = resolved(&[]);
        cubic.ssthresh(Time::ZERO, &tcp(100));
        assert_eq!(cubic.history.w_max, 100.0);
        assert_eq!(cubic.ssthresh(Time::ZERO, &tcp(80)), 56 * MSS);
        // 80 < 100: 80 * 1.7 / 2 = 68.
        assert_eq!((cubic.history.w_max, cubic.history.cwnd_prior), (68.0, 80.0));
        cubic.ssthresh(Time::ZERO, &tcp(90));
        assert_eq!(cubic.history.w_max, 90.0);

        let mut cubic = resolved(&[("fast_convergence", ParameterValue::Flag(false))]);
        cubic.ssthresh(Time::ZERO, &tcp(100));
        cubic.ssthresh(Time::ZERO, &tcp(80));
        assert_eq!(cubic.history.w_max, 80.0);
    }

    #[test]
    fn a_timeout_starts_a_convex_stage() {
        let mut bench = Bench::new(NAME, &[("reno_friendly", ParameterValue::Flag(false))], 100);
        bench.timeout();
        assert_eq!((bench.tcp.cwnd, bench.tcp.ssthresh), (MSS, 70 * MSS));
        bench.tcp.cwnd = 70 * MSS;
        let start = bench.now;
        for _ in 0..50 {
            bench.round(RTT);
        }
        // W(t) = 0.4 t^3 + 70 from the first ACK of congestion avoidance: 5 s: 120.
        let t = (bench.now - start).as_secs_f64();
        assert!(close(bench.segments(), 0.4 * t * t * t + 70.0, 2.0), "{t} {}", bench.segments());
    }

    #[test]
    fn idle_time_does_not_count() {
        let mut cubic = resolved(&[]);
        let mut state = tcp(100);
        state.ssthresh = 2 * MSS;
        let at = Time::from_millis;
        let sample = crate::congestion::testing::ack(MSS, RTT);
        cubic.pkts_acked(at(1000), &mut state, &sample);
        cubic.cong_avoid(at(1000), &mut state, &sample);
        cubic.pkts_acked(at(1500), &mut state, &sample);
        cubic.cwnd_event(at(9500), &mut state, CaEvent::TxStart);
        assert_eq!(cubic.history.epoch.map(|epoch| epoch.start), Some(at(9000)));
    }

    /// RFC 9438 section 4.2: 5 s in which ACKs come and cwnd may not grow.
    #[test]
    fn time_limited_by_the_application_does_not_count() {
        let mut cubic = resolved(&[]);
        let mut state = tcp(100);
        state.ssthresh = 2 * MSS;
        let sample = crate::congestion::testing::ack(MSS, RTT);
        let start = |cubic: &Cubic| cubic.history.epoch.map(|epoch| epoch.start);
        for second in 1..=9 {
            let now = Time::from_millis(1000 * second);
            cubic.pkts_acked(now, &mut state, &sample);
            // The interval that ends with an ACK counts if the ACK before it could grow cwnd.
            let missed = second.saturating_sub(3).min(5);
            assert!(start(&cubic).is_none_or(|at| at == Time::from_millis(1000 + 1000 * missed)), "{second}");
            if !(3..8).contains(&second) {
                cubic.cong_avoid(now, &mut state, &sample);
            }
        }
    }

    #[test]
    fn an_undo_restores_the_epoch() {
        let mut bench = Bench::new(NAME, &[], 100);
        bench.loss();
        for _ in 0..20 {
            bench.round(RTT);
        }
        let (before, now) = (bench.tcp.clone(), bench.now);
        let mut undisturbed = Bench::new(NAME, &[], 100);
        undisturbed.loss();
        for _ in 0..20 {
            undisturbed.round(RTT);
        }
        bench.timeout();
        bench.tcp.cwnd = bench.control.undo_cwnd(now, &bench.tcp);
        bench.tcp.ssthresh = bench.tcp.prior_ssthresh;
        bench.set_state(crate::CaState::Open);
        assert_eq!((bench.tcp.cwnd, bench.tcp.ssthresh), (before.cwnd, before.ssthresh));
        for _ in 0..20 {
            bench.round(RTT);
            undisturbed.round(RTT);
        }
        assert!(close(bench.segments(), undisturbed.segments(), 0.01));
    }

    /// RFC 9438 section 4.9.2: a window above the window before the loss event keeps the state of the event.
    #[test]
    fn an_undo_that_comes_late_restores_nothing() {
        for (cwnd, w_max) in [(80, 0.0), (120, 100.0)] {
            let mut cubic = resolved(&[]);
            cubic.ssthresh(Time::ZERO, &tcp(100));
            let late = TcpState { prior_cwnd: 100 * MSS, ..tcp(cwnd) };
            assert_eq!(cubic.undo_cwnd(Time::ZERO, &late), cwnd.max(100) * MSS);
            assert_eq!(cubic.history.w_max, w_max);
        }
    }

    /// Section 4.8 is for the loss event of a timeout. One that asked for no ssthresh, the second of a
    /// segment, is over with recovery: the next fast retransmit begins a stage with W_max = cwnd.
    #[test]
    fn a_repeated_timeout_does_not_outlast_recovery() {
        let mut bench = Bench::new(NAME, &[], 100);
        bench.control.cwnd_event(bench.now, &mut bench.tcp, crate::CaEvent::Loss);
        bench.set_state(crate::CaState::Loss);
        bench.set_state(crate::CaState::Open);
        bench.loss();
        bench.round(RTT);
        let mut k = f64::NAN;
        bench.control.observe(&bench.tcp, &mut |name, value| {
            if name == "k_s" {
                k = value;
            }
        });
        assert!(k > 1.0, "{k}");
    }
}
