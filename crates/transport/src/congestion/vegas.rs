//! TCP Vegas: a window that keeps between alpha and beta segments in the bottleneck's queue, by the rules of
//! Linux and ns-3. The parameter `rules` selects Linux's whole segments (module `linux`) or ns-2's rules (module
//! `ns2`).
//!
//! Once per round trip, with `base` the least RTT of the connection and `rtt` the least of the round:
//!
//! ```text
//! diff = cwnd * (rtt - base) / rtt   segments queued (Brakmo and Peterson: (expected - actual) * base; ns-3)
//! diff = cwnd * (rtt - base) / base    what Linux computes
//!
//! slow start:            diff > gamma:  cwnd = min(cwnd, cwnd * base / rtt + 1), leave slow start
//! congestion avoidance:  diff > beta:   cwnd -= 1         diff < alpha:  cwnd += 1
//! ```
//!
//! Windows are bytes here, so diff keeps the fractions that Linux and ns-3 cut off. When Vegas lowers
//! ssthresh, ssthresh is one segment below cwnd as in ns-3 (Linux today: cwnd itself), and at least 3/4 of
//! cwnd. In both cases slow start is over.

mod linux;
mod ns2;

use super::growth::{self, Additive, Round};
use super::{
    AckSample, CaEvent, CaState, CongestionControl, ControlInfo, ParameterSpec, Parameters, TcpState,
};
use crate::{HostProfile, Preset, PresetValue, Recovery};
use cogtcp_units::{Duration, Time};

const NAME: &str = "vegas";

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: NAME,
    summary: "delay-based: keeps a few segments in the queue (Linux's and ns-3's rules, or ns-2's)",
    reference: "Brakmo and Peterson, IEEE JSAC 13(8), 1995",
    parameters: &[
        segments("alpha", "fewer segments queued than this: cwnd grows by one per round trip", 2.0),
        segments("beta", "more segments queued than this: cwnd shrinks by one per round trip", 4.0),
        segments("gamma", "more segments queued than this: slow start ends", 1.0),
        ParameterSpec::choice("rules", "linux", &["linux", "linux-segments", "ns2"]).described(
            "rules: Linux's and ns-3's in bytes; Linux's in whole segments; ns-2's (slow start every other round trip, \
             window cut to 3/4, fine timeout)",
        ),
        ParameterSpec::choice("diff", "linux", &["linux", "paper"]).described(
            "segments queued under Linux's rules: over the base RTT as Linux, or over the round's RTT as the \
                      paper and ns-3",
        ),
        growth::ABC_LIMIT,
    ],
    presets: &[
        Preset::new("vegas", NAME, Recovery::Sack).described("Vegas by the rules of Linux, SACK recovery"),
        Preset::new("linux-vegas", NAME, Recovery::Sack)
            .described("Vegas as in today's Linux, on the host of linux-reno")
            .on(HostProfile::Linux)
            .with(&[("rules", PresetValue::Word("linux-segments"))]),
        // ns-2's Vegas looks for one more expired segment on the first two new ACKs after a retransmission;
        // NewReno's partial ACKs are the nearest to that.
        Preset::new("vegas-ns2", NAME, Recovery::NewReno)
            .described(
                "Vegas as ns-2 had it: alpha 1, beta 3, slow start every other round trip, NewReno recovery",
            )
            .with(&[
                ("rules", PresetValue::Word("ns2")),
                ("alpha", PresetValue::Number(1.0)),
                ("beta", PresetValue::Number(3.0)),
            ]),
    ],
    build: |parameters| match parameters.text("rules") {
        "linux-segments" => Box::new(linux::LinuxVegas::new(parameters)),
        "ns2" => Box::new(ns2::VegasNs2::new(parameters)),
        _ => Box::new(Vegas::new(parameters)),
    },
};

const fn segments(name: &'static str, summary: &'static str, default: f64) -> ParameterSpec {
    ParameterSpec::number(name, "segments", [default, 0.0, 10_000.0]).described(summary)
}

/// The state of one connection under Linux's rules.
#[derive(Clone, Debug)]
struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// diff is taken over the base RTT, not over the round's.
    diff_over_base: bool,
    abc_limit: f64,
    samples: Samples,
    reno: Additive,
}

/// The RTTs that decide under Linux's rules, and whether Vegas decides.
#[derive(Clone, Debug)]
struct Samples {
    /// Whether Vegas or Reno rules: Vegas in the Open state only.
    on: bool,
    /// Least RTT since the connection was last idle.
    base: Duration,
    round: Round,
    /// Least RTT of this round and how many samples it had.
    rtt: Duration,
    count: u32,
}

impl Default for Samples {
    fn default() -> Self {
        Self { on: true, base: Duration::MAX, round: Round::default(), rtt: Duration::MAX, count: 0 }
    }
}

impl Samples {
    fn enable(&mut self, tcp: &TcpState) {
        self.on = true;
        self.round.begin(tcp);
        self.clear_round();
    }

    fn clear_round(&mut self) {
        (self.rtt, self.count) = (Duration::MAX, 0);
    }

    fn take(&mut self, rtt: Duration) {
        self.base = self.base.min(rtt);
        self.rtt = self.rtt.min(rtt);
        self.count += 1;
    }

    /// Whether there are too few samples to tell queueing from a delayed ACK: Reno rules for this ACK.
    fn are_too_few(&self) -> bool {
        self.count <= 2
    }

    fn set_state(&mut self, tcp: &TcpState, state: CaState) {
        if state == CaState::Open {
            self.enable(tcp);
        } else {
            self.on = false;
        }
    }

    fn on_event(&mut self, tcp: &TcpState, event: CaEvent) {
        if matches!(event, CaEvent::CwndRestart | CaEvent::TxStart) {
            // The path may have changed while the connection was idle.
            self.base = Duration::MAX;
            self.enable(tcp);
        }
    }

    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        show("base_rtt_s", super::seconds(self.base));
    }
}

impl Vegas {
    fn new(parameters: &Parameters) -> Self {
        Self {
            alpha: parameters.number("alpha"),
            beta: parameters.number("beta"),
            gamma: parameters.number("gamma"),
            diff_over_base: parameters.text("diff") == "linux",
            abc_limit: parameters.number("abc_limit"),
            samples: Samples::default(),
            reno: Additive::reno(),
        }
    }

    fn grow_as_reno(&mut self, tcp: &mut TcpState, acked: u64) {
        if tcp.in_slow_start() {
            growth::slow_start(tcp, acked, self.abc_limit);
        } else {
            self.reno.grow(tcp, acked);
        }
    }

    /// What a round trip decides. Returns whether slow start goes on with this ACK.
    fn decide(&mut self, tcp: &mut TcpState) -> bool {
        let (rtt, base) = (self.samples.rtt.as_nanos().max(1), self.samples.base.as_nanos().max(1));
        let queueing = rtt.saturating_sub(base);
        let over = if self.diff_over_base { base } else { rtt };
        let diff = tcp.cwnd as f64 * queueing as f64 / over as f64 / tcp.mss as f64;
        let mut slow_start = false;
        if tcp.in_slow_start() {
            if diff > self.gamma {
                // The window that the path carries without queueing, and one segment.
                let target = (u128::from(tcp.cwnd) * u128::from(base) / u128::from(rtt)) as u64;
                tcp.cwnd = tcp.cwnd.min(target + tcp.mss);
                tcp.ssthresh = tcp.ssthresh.min(tcp.cwnd.saturating_sub(tcp.mss));
            } else {
                slow_start = true;
            }
        } else if diff > self.beta {
            tcp.cwnd = tcp.cwnd.saturating_sub(tcp.mss);
            tcp.ssthresh = tcp.ssthresh.min(tcp.cwnd.saturating_sub(tcp.mss));
        } else if diff < self.alpha {
            tcp.cwnd += tcp.mss;
        }
        tcp.cwnd = tcp.cwnd.max(2 * tcp.mss);
        // Linux's tcp_current_ssthresh: no less than 3/4 of the window.
        tcp.ssthresh = tcp.ssthresh.max(tcp.cwnd / 4 * 3);
        slow_start
    }
}

impl CongestionControl for Vegas {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn init(&mut self, _now: Time, tcp: &mut TcpState) {
        self.samples.enable(tcp);
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.reno.reset();
        growth::half_flight(tcp)
    }

    fn pkts_acked(&mut self, _now: Time, _tcp: &mut TcpState, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            self.samples.take(rtt);
        }
    }

    fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        if !self.samples.on {
            return self.grow_as_reno(tcp, ack.acked);
        }
        if self.samples.round.over(tcp) {
            if self.samples.are_too_few() {
                self.grow_as_reno(tcp, ack.acked);
            } else if self.decide(tcp) {
                growth::slow_start(tcp, ack.acked, self.abc_limit);
            }
            self.samples.clear_round();
        } else if tcp.in_slow_start() {
            growth::slow_start(tcp, ack.acked, self.abc_limit);
        }
    }

    fn observe(&self, _tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        self.samples.observe(show);
    }

    fn set_state(&mut self, _now: Time, tcp: &mut TcpState, state: CaState) {
        self.samples.set_state(tcp, state);
    }

    fn cwnd_event(&mut self, _now: Time, tcp: &mut TcpState, event: CaEvent) {
        self.samples.on_event(tcp, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{Bench, MSS};
    use crate::congestion::{CaState, ParameterValue};

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// In congestion avoidance with `segments` and base RTT 100 ms.
    fn avoiding(parameters: &[(&str, ParameterValue)], segments: u64) -> Bench {
        let mut bench = Bench::new("vegas", parameters, segments);
        bench.tcp.ssthresh = 2 * MSS;
        bench.ack(MSS, ms(100));
        bench
    }

    #[test]
    fn slow_start_doubles_every_round_trip_without_queueing() {
        let mut bench = Bench::new("vegas", &[], 10);
        bench.round(ms(100));
        assert_eq!(bench.segments(), 20.0);
        bench.round(ms(100));
        assert_eq!(bench.segments(), 40.0);
    }

    #[test]
    fn slow_start_ends_when_more_than_gamma_is_queued() {
        // Round of 125 ms over a base of 100 ms, cwnd 20 when it ends (at its first segment + 1):
        // diff = 21 * 0.25 = 5.25 > 1; target = 21 * 100/125 = 16.8; cwnd = 16.8 + 1.
        let mut bench = Bench::new("vegas", &[], 10);
        bench.round(ms(100));
        assert_eq!(bench.tcp.cwnd, 20_000);
        for _ in 0..20 {
            bench.ack(MSS, ms(125));
        }
        // All ACKs of the round double the window; the first of the next round decides by the least RTT, 125
        // ms.
        let before = bench.tcp.cwnd;
        bench.ack(MSS, ms(125));
        let at_end = before.max(bench.tcp.cwnd);
        assert!(bench.tcp.cwnd < at_end, "{} of {before}", bench.tcp.cwnd);
        assert_eq!(bench.tcp.cwnd, before * 100 / 125 + MSS);
        assert!(!bench.tcp.in_slow_start());
    }

    #[test]
    fn grows_below_alpha_and_shrinks_above_beta() {
        // Linux: diff = 20 * 5/100 = 1 < 2: + 1.
        let mut bench = avoiding(&[], 20);
        for (rtt, change) in [(105, 1), (115, 0), (130, -1)] {
            let before = bench.segments();
            // Two rounds: the first may hold samples of the setting before.
            bench.round(ms(rtt));
            let between = bench.segments();
            bench.round(ms(rtt));
            let after = bench.segments();
            assert_eq!(after - between, f64::from(change), "{rtt} ms: {before} {between} {after}");
        }
    }

    #[test]
    fn the_papers_diff_is_what_is_queued() {
        // cwnd 21, base 100, rtt 120: 21 * 20/120 = 3.5, not above beta; Linux: 21 * 20/100 = 4.2.
        for (diff, change) in [("paper", 0.0), ("linux", -1.0)] {
            let mut bench = avoiding(&[("diff", ParameterValue::Text(diff.into()))], 20);
            // The first round has the base among its samples: one segment more.
            bench.round(ms(120));
            let before = bench.segments();
            assert_eq!(before, 21.0);
            bench.round(ms(120));
            assert_eq!(bench.segments() - before, change, "{diff}");
        }
    }

    /// The cases of ns-3's tcp-vegas-test, base RTT 100 ms. Each has cwnd and ssthresh in segments, and the
    /// round's RTT in ms, before and after. The rules of ns-3 cut diff to whole segments and keep 20 segments
    /// at 109 ms (1.65 queued, 2 there).
    #[test]
    fn cases_of_ns3() {
        for (cwnd, ssthresh, rtt, after) in [
            (38, 40, 106, (36, 35)),
            (5, 10, 118, (6, 10)),
            (60, 40, 206, (59, 44)),
            // ssthresh is below the window by a segment, as there.
            (60, 60, 206, (59, 58)),
            (15, 10, 106, (16, 12)),
            (20, 10, 109, (21, 15)),
        ] {
            let mut bench = Bench::new("vegas", &[("diff", ParameterValue::Text("paper".into()))], cwnd);
            bench.tcp.ssthresh = ssthresh * MSS;
            let sample = |rtt, bench: &mut Bench| {
                let ack = AckSample { acked: MSS, rtt: Some(ms(rtt)), ..AckSample::default() };
                bench.control.pkts_acked(bench.now, &mut bench.tcp, &ack);
                ack
            };
            sample(100, &mut bench);
            bench.set_state(CaState::Open);
            let last = [rtt; 3].map(|rtt| sample(rtt, &mut bench))[2];
            bench.tcp.snd_una = bench.tcp.snd_nxt + MSS;
            bench.control.cong_avoid(bench.now, &mut bench.tcp, &last);
            assert_eq!((bench.tcp.cwnd / MSS, bench.tcp.ssthresh / MSS), after, "{cwnd} segments, {rtt} ms");
        }
    }

    #[test]
    fn reno_rules_outside_open() {
        let mut bench = avoiding(&[], 10);
        bench.set_state(CaState::Disorder);
        let before = bench.tcp.cwnd;
        for _ in 0..11 {
            bench.ack(MSS, ms(300));
        }
        assert_eq!(bench.tcp.cwnd, before + MSS, "queueing is ignored and Reno adds one");
    }

    #[test]
    fn idling_forgets_the_base() {
        let mut bench = avoiding(&[], 20);
        bench.round(ms(200));
        bench.control.cwnd_event(bench.now, &mut bench.tcp, CaEvent::CwndRestart);
        let before = bench.segments();
        bench.round(ms(200));
        bench.ack(MSS, ms(200));
        assert_eq!(bench.segments(), before + 1.0, "200 ms is the base now");
    }
}
