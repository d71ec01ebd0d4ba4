//! TCP C2 (Zhou, Di Felice, Drozdenko and Chowdhury, "Towards Fast Flow Convergence in Cognitive Radio
//! Cellular Networks"). The sender measures the bottleneck's bandwidth BW in slow start, learns the number of
//! flows N, and takes its share at once. Then it keeps the RTT R in a band above the propagation delay Dp,
//! the minimum RTT.
//!
//! ```text
//! slow start:  cwnd from 1; the first sequence of 2 packets gives BW;   ssthresh = BW * Dp / N
//! R <= (1 + beta) Dp    starvation  cwnd += k per round trip, k = N, doubled every T_w that it lasts  Alg. 2
//! R >= (1 + alpha) Dp   saturation  N^ of Algorithm 1 > N: N = N^, cwnd = BW * Dp / N;
//!                                   else cwnd -= 1 per round trip
//! between               ideal       cwnd stays
//! slope of R above sigma = 1/(N R) in three windows running:  competition, cwnd += N per round trip
//! Algorithm 1:  N^ = the least N with TP/BW > (N + 1) / (N (N + 2)), TP: the flow's throughput  equation (8)
//! ```
//!
//! Where the paper is ambiguous or silent, and the choice made. "Author" is the rule of the first author's
//! public ns-3 code, which the preset `c2-author` follows; a parameter's name says where both can be had.
//!
//! 1. The band is printed as Dp * (1 + alpha, 1 + beta) with alpha 0.2 and beta 0.05: it is [1.05, 1.2] Dp.
//! 2. N counts the flows "sharing the bottleneck", and ssthresh divides by N + 1: there N is without this
//!    flow. Algorithm 1 counts this flow. Here N always includes it; the SYN-ACK's option carries the flows
//!    that were there before.
//! 3. No option on the SYN-ACK: `flows` (author: the script of one figure, by the clock).
//! 4. cwnd begins at 1 segment, whatever the configured initial window is: the probe asks for it.
//! 5. R: a Tustin filter, 0.8 R + 0.2 (s_k + s_(k-1)) / 2 (author; the paper has no filter; `rtt_gain`).
//! 6. TP: bytes acknowledged over windows of 1 s from the beginning of congestion avoidance (author: one
//!    segment per ACK; `tp_window`, `count`). Algorithm 1 is evaluated once per TP.
//! 7. Algorithm 1's threshold: the paper's equation (8); author: the middle of 1/N and 1/(N+1), rounded to
//!    0.01, and 4 for everything below 0.29 (`n_rule`, `n_cap`).
//! 8. How N falls: "C2 re-estimates N" in saturation, so N takes a smaller N^ there. cwnd shrinks by one per
//!    round trip, as always when N did not rise. Author: N falls in the ideal band, and ssthresh and at least
//!    that window follow; in saturation a smaller N^ holds the window (`lower_n`).
//! 9. No throughput yet, or no bandwidth: saturation shrinks by one per round trip (author: nothing; with
//!    `lower_n`).
//! 10. T_w, the throughput window and the slope's windows have no values in the paper: 1 s, 1 s and 0.5 s
//!     (author).
//! 11. sigma = 1/(N RTT) has no unit: milliseconds of RTT per second with RTT in seconds (author;
//!     `sigma_unit`).
//! 12. Competition ends with the first window at or below sigma (author). It grows by N (author: N - 1, at
//!     least 1; `compete`) and takes N from Algorithm 1 while it lasts, since "N is inversely proportional to
//!     throughput".
//! 13. When a starving flow may grow, and how often N may jump: at once and at every TP. Author: 2 s after
//!     congestion avoidance began, and a jump per second (`settle`, `jump_interval`).
//! 14. Duplicate ACKs: Reno's half (the paper is silent; author). Timeout: slow start with a new probe; until
//!     it answers, ssthresh is half of FlightSize, at least 10 segments (author; `rto_floor`). N, Dp and R
//!     stay.
//! 15. ssthresh is at least 2 segments, and follows cwnd down in saturation: slow start does not come back by
//!     draining.
//! 16. Dp is never aged (paper and author). After a handoff to a longer path C2 reads saturation for ever.
//! 17. Delayed ACKs: if the first sequence gives no gap, or a gap of the receiver's timer, the next sequences
//!     of slow start are tried, of up to 8 packets. Author: any gap counts.
//! 18. k has no bound in the paper; here growth is at most doubling per round trip, slow start's.

mod probe;
mod slope;

use super::growth;
use super::{
    AckSample, CaEvent, CaState, CongestionControl, ControlExtension, ControlInfo, PacketInfo, ParameterSpec,
    Parameters, TcpState,
};
use crate::{FlowCount, Preset, PresetValue, ReceiverHook, Recovery};
use cogtcp_units::{Duration, Time};
use probe::Probe;
use slope::RttSlope;

const NAME: &str = "c2";

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: NAME,
    summary: "goes to its share of the measured bandwidth at once, then keeps the RTT in a band",
    reference: "Zhou, Di Felice, Drozdenko and Chowdhury, Towards Fast Flow Convergence in Cognitive Radio Cellular \
                Networks; ns-3 code of the first author",
    parameters: &[
        ParameterSpec::number("alpha", "", [0.2, 0.0, 100.0]).described("saturation from (1 + alpha) Dp"),
        ParameterSpec::number("beta", "", [0.05, 0.0, 100.0]).described("starvation up to (1 + beta) Dp"),
        ParameterSpec::number("t_w", "s", [1.0, 0.001, 3600.0])
            .described("T_w: starvation doubles k after this"),
        ParameterSpec::choice("n_source", "syn-ack", &["syn-ack", "parameter"])
            .described("source of N at the start"),
        ParameterSpec::number("flows", "flows", [1.0, 1.0, 10_000.0])
            .described("N without the SYN-ACK's option, this flow included"),
        ParameterSpec::choice("n_rule", "paper", &["paper", "author"])
            .described("threshold of Algorithm 1: the paper's, or the author's"),
        ParameterSpec::number("n_cap", "flows", [10_000.0, 1.0, 10_000.0])
            .described("greatest N that Algorithm 1 finds"),
        ParameterSpec::choice("lower_n", "saturation", &["saturation", "ideal"])
            .described("zone in which N may fall"),
        ParameterSpec::number("rtt_gain", "", [0.8, 0.0, 0.999])
            .described("RTT filter: weight of the old value"),
        ParameterSpec::number("tp_window", "s", [1.0, 0.001, 3600.0])
            .described("length of a throughput sample"),
        ParameterSpec::choice("count", "bytes", &["bytes", "acks"])
            .described("an ACK counts its bytes, or one segment"),
        ParameterSpec::number("slope_window", "s", [0.5, 0.001, 3600.0])
            .described("window over which the RTT's slope is taken"),
        ParameterSpec::number("slope_windows", "", [3.0, 1.0, 1000.0])
            .described("windows above sigma before competition"),
        ParameterSpec::number("sigma_unit", "s", [0.001, 0.0, 1000.0])
            .described("sigma = sigma_unit / (N RTT)"),
        ParameterSpec::choice("compete", "n", &["n", "n-1"])
            .described("growth in competition, segments per round trip"),
        ParameterSpec::number("settle", "s", [0.0, 0.0, 3600.0])
            .described("no growth by starvation and no jump so long after slow start"),
        ParameterSpec::number("jump_interval", "s", [0.0, 0.0, 3600.0])
            .described("least time between two jumps of N"),
        ParameterSpec::flag("refine", false).described(
            "when slow start ends for the first time, set the window again if Dp fell since the probe",
        ),
        ParameterSpec::number("rto_floor", "segments", [10.0, 2.0, 10_000.0])
            .described("least ssthresh after a timeout"),
        growth::ABC_LIMIT,
    ],
    presets: &[
        Preset::new("c2", NAME, Recovery::NewReno).described("TCP C2 as its paper has it, NewReno recovery"),
        Preset::new("c2-author", NAME, Recovery::NewReno)
            .described("TCP C2 as in the first author's ns-3 code, NewReno recovery")
            .with(&[
                ("n_rule", PresetValue::Word("author")),
                ("n_cap", PresetValue::Number(4.0)),
                ("lower_n", PresetValue::Word("ideal")),
                ("count", PresetValue::Word("acks")),
                ("compete", PresetValue::Word("n-1")),
                ("settle", PresetValue::Number(2.0)),
                ("jump_interval", PresetValue::Number(1.0)),
                ("refine", PresetValue::Flag(true)),
            ]),
    ],
    build: |parameters| Box::new(C2::new(parameters)),
};

/// What the parameters say.
#[derive(Clone, Debug, Default)]
struct Rules {
    alpha: f64,
    beta: f64,
    t_w: Duration,
    ask_for_n: bool,
    author_thresholds: bool,
    n_cap: u32,
    lower_n_when_ideal: bool,
    rtt_gain: f64,
    tp_window: Duration,
    count_acks: bool,
    slope_windows: u32,
    sigma_unit: f64,
    compete_without_self: bool,
    settle: Duration,
    jump_interval: Duration,
    refine: bool,
    rto_floor: f64,
    abc_limit: f64,
}

/// Where R lies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Zone {
    Starvation,
    Ideal,
    Saturation,
}

/// The growth of Algorithm 2 while starvation lasts.
#[derive(Clone, Copy, Debug)]
struct Starving {
    k: f64,
    epoch: Time,
}

/// What a timeout forgets and an undo brings back.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    /// BW, bytes per second.
    bandwidth: Option<f64>,
    /// N^ of the latest throughput sample.
    flows: Option<u32>,
}

/// The state of one connection.
#[derive(Clone, Debug, Default)]
struct C2 {
    rules: Rules,
    n: u32,
    /// Dp, R and the latest sample, seconds.
    dp: f64,
    r: f64,
    last_rtt: f64,
    probe: Option<Probe>,
    /// Dp at the time of the probe's answer, until slow start ends for the first time.
    probed_dp: Option<f64>,
    refined: bool,
    estimate: Estimate,
    prior: Estimate,
    /// When congestion avoidance began; `None` in slow start.
    avoiding_since: Option<Time>,
    /// The throughput sample in progress: its start and what it counted.
    sample_start: Time,
    sample_bytes: u64,
    starving: Option<Starving>,
    jumped_at: Option<Time>,
    slope: RttSlope,
    steep_windows: u32,
    competing: bool,
    /// Change of cwnd below one byte.
    credit: f64,
    timed_out: bool,
}

impl C2 {
    fn new(parameters: &Parameters) -> Self {
        let seconds = |name: &str| Duration::from_secs_f64(parameters.number(name));
        let rules = Rules {
            alpha: parameters.number("alpha"),
            beta: parameters.number("beta"),
            t_w: seconds("t_w"),
            ask_for_n: parameters.text("n_source") == "syn-ack",
            author_thresholds: parameters.text("n_rule") == "author",
            n_cap: parameters.number("n_cap") as u32,
            lower_n_when_ideal: parameters.text("lower_n") == "ideal",
            rtt_gain: parameters.number("rtt_gain"),
            tp_window: seconds("tp_window"),
            count_acks: parameters.text("count") == "acks",
            slope_windows: parameters.number("slope_windows") as u32,
            sigma_unit: parameters.number("sigma_unit"),
            compete_without_self: parameters.text("compete") == "n-1",
            settle: seconds("settle"),
            jump_interval: seconds("jump_interval"),
            refine: parameters.flag("refine"),
            rto_floor: parameters.number("rto_floor"),
            abc_limit: parameters.number("abc_limit"),
        };
        Self {
            rules,
            n: parameters.number("flows") as u32,
            dp: f64::INFINITY,
            probe: Some(Probe::default()),
            slope: RttSlope::new(seconds("slope_window")),
            ..Self::default()
        }
    }

    /// BW * Dp / N, bytes, at least two segments; `None` before the probe's answer.
    fn share(&self, mss: u64) -> Option<u64> {
        let bandwidth = self.estimate.bandwidth?;
        self.dp.is_finite().then(|| ((bandwidth * self.dp / f64::from(self.n)) as u64).max(2 * mss))
    }

    fn zone(&self) -> Zone {
        if self.r >= self.dp * (1.0 + self.rules.alpha) {
            Zone::Saturation
        } else if self.r <= self.dp * (1.0 + self.rules.beta) {
            Zone::Starvation
        } else {
            Zone::Ideal
        }
    }

    fn on_rtt(&mut self, now: Time, rtt: f64) {
        self.dp = self.dp.min(rtt);
        if self.r == 0.0 {
            (self.r, self.last_rtt) = (rtt, rtt);
        }
        let gain = self.rules.rtt_gain;
        self.r = gain * self.r + (1.0 - gain) * (rtt + self.last_rtt) / 2.0;
        self.last_rtt = rtt;
        if self.avoiding_since.is_none() {
            return;
        }
        if let Some(slope) = self.slope.sample(now, self.r) {
            // sigma = 1/(N RTT), section IV-C.
            if slope > self.rules.sigma_unit / (f64::from(self.n) * self.r) {
                self.steep_windows += 1;
            } else {
                self.steep_windows = 0;
            }
            self.competing = self.steep_windows >= self.rules.slope_windows;
        }
    }

    /// Counts `bytes` into the throughput sample; one that is long enough gives a new N^.
    fn on_bytes(&mut self, now: Time, bytes: u64) {
        self.sample_bytes += bytes;
        let length = now.saturating_since(self.sample_start);
        if length < self.rules.tp_window {
            return;
        }
        let throughput = self.sample_bytes as f64 / length.as_secs_f64();
        self.estimate.flows = self.estimate.bandwidth.map(|bandwidth| {
            let ratio = throughput / bandwidth;
            if self.rules.author_thresholds {
                author_flows(ratio, self.rules.n_cap)
            } else {
                paper_flows(ratio, self.rules.n_cap)
            }
        });
        (self.sample_start, self.sample_bytes) = (now, 0);
    }

    /// Slow start from one segment, and a new probe.
    fn restart(&mut self) {
        if self.estimate.bandwidth.is_some() {
            self.prior = std::mem::take(&mut self.estimate);
        }
        self.probe = Some(Probe::default());
        self.probed_dp = None;
        self.avoiding_since = None;
        self.starving = None;
        self.competing = false;
        self.steep_windows = 0;
        self.jumped_at = None;
    }

    fn drop_sequence(&mut self) {
        if let Some(probe) = &mut self.probe {
            *probe = Probe::default();
        }
    }

    fn enter_avoidance(&mut self, now: Time, tcp: &mut TcpState) {
        self.avoiding_since = Some(now);
        (self.sample_start, self.sample_bytes) = (now, 0);
        self.slope.reset();
        self.steep_windows = 0;
        self.competing = false;
        self.starving = None;
        self.probe = None;
        if let Some(probed) = self.probed_dp.take()
            && self.rules.refine
            && !std::mem::replace(&mut self.refined, true)
            && self.dp < probed
        {
            self.jump(tcp);
        }
    }

    fn jump(&mut self, tcp: &mut TcpState) {
        if let Some(share) = self.share(tcp.mss) {
            (tcp.cwnd, tcp.ssthresh) = (share, share);
            self.credit = 0.0;
        }
    }

    /// cwnd changes by `segments` per round trip; this ACK covers `acked` of cwnd bytes.
    fn change(&mut self, tcp: &mut TcpState, segments: f64, acked: u64) {
        let share = acked as f64 / tcp.cwnd as f64 * tcp.mss as f64;
        self.credit += (segments * share).min(acked as f64);
        let whole = self.credit as i64;
        self.credit -= whole as f64;
        tcp.cwnd = tcp.cwnd.saturating_add_signed(whole).max(tcp.mss);
    }

    fn avoid(&mut self, now: Time, tcp: &mut TcpState, acked: u64) {
        let since = match self.avoiding_since {
            Some(since) => now.saturating_since(since),
            None => {
                self.enter_avoidance(now, tcp);
                Duration::ZERO
            }
        };
        if self.competing {
            self.starving = None;
            self.n = self.estimate.flows.unwrap_or(self.n);
            let others = if self.rules.compete_without_self { self.n - 1 } else { self.n };
            return self.change(tcp, f64::from(others.max(1)), acked);
        }
        let zone = self.zone();
        if zone != Zone::Starvation {
            self.starving = None;
        }
        match zone {
            Zone::Starvation if since >= self.rules.settle => self.starve(now, tcp, acked),
            Zone::Starvation => {}
            Zone::Ideal => {
                if self.rules.lower_n_when_ideal
                    && let Some(flows) = self.estimate.flows
                    && flows < self.n
                {
                    self.n = flows;
                    if let Some(share) = self.share(tcp.mss) {
                        tcp.ssthresh = share;
                        tcp.cwnd = tcp.cwnd.max(share);
                    }
                }
            }
            Zone::Saturation => self.saturate(now, since, tcp, acked),
        }
    }

    /// Algorithm 2.
    fn starve(&mut self, now: Time, tcp: &mut TcpState, acked: u64) {
        let mut starving = self.starving.unwrap_or(Starving { k: f64::from(self.n), epoch: now });
        if now.saturating_since(starving.epoch) > self.rules.t_w {
            // Beyond this k changes nothing: growth is bounded by slow start's.
            starving = Starving { k: (2.0 * starving.k).min(1e12), epoch: now };
        }
        self.starving = Some(starving);
        self.change(tcp, starving.k, acked);
    }

    /// Section IV-B, saturation.
    fn saturate(&mut self, now: Time, since: Duration, tcp: &mut TcpState, acked: u64) {
        let author = self.rules.lower_n_when_ideal;
        match self.estimate.flows {
            Some(flows) if flows > self.n => {
                let rested =
                    self.jumped_at.is_none_or(|at| now.saturating_since(at) >= self.rules.jump_interval);
                if rested && since >= self.rules.settle {
                    self.n = flows;
                    self.jumped_at = Some(now);
                    self.jump(tcp);
                }
                return;
            }
            Some(flows) if flows < self.n => {
                if author {
                    return;
                }
                self.n = flows;
            }
            None if author => return,
            _ => {}
        }
        self.change(tcp, -1.0, acked);
        tcp.ssthresh = tcp.ssthresh.min(tcp.cwnd);
    }
}

/// Whether packets leave and come back as slow start sends them, not as loss recovery does.
fn may_probe(tcp: &TcpState) -> bool {
    matches!(tcp.ca_state, CaState::Open | CaState::Loss)
}

/// Algorithm 1: the least N with TP/BW > (N + 1) / (N (N + 2)).
fn paper_flows(ratio: f64, cap: u32) -> u32 {
    let above = |n: u32| {
        let n = f64::from(n);
        ratio > (n + 1.0) / (n * (n + 2.0))
    };
    // The threshold falls with N, so the least N is found by bisection of what Algorithm 1 walks through.
    let (mut low, mut high) = (1, cap);
    while low < high {
        let middle = low + (high - low) / 2;
        if above(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The author's: the least N with TP/BW, rounded up to 0.01, no less than the middle of 1/N and 1/(N+1),
/// rounded down.
fn author_flows(ratio: f64, cap: u32) -> u32 {
    // Hundredths, so that rounding is exact.
    let hundredths = (ratio * 100.0).ceil();
    (1..cap)
        .find(|&n| {
            let middle = u64::from(100 * (2 * n + 1)) / u64::from(2 * n * (n + 1));
            hundredths >= middle as f64
        })
        .unwrap_or(cap)
}

impl CongestionControl for C2 {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn init(&mut self, _now: Time, tcp: &mut TcpState) {
        tcp.cwnd = tcp.mss;
    }

    fn observe(&self, tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        let zone = match self.zone() {
            _ if tcp.in_slow_start() || self.avoiding_since.is_none() => 0.0,
            _ if self.competing => 4.0,
            Zone::Starvation => 1.0,
            Zone::Ideal => 2.0,
            Zone::Saturation => 3.0,
        };
        show("n", f64::from(self.n));
        show("n_estimate", self.estimate.flows.map_or(f64::NAN, f64::from));
        show("bandwidth_bps", self.estimate.bandwidth.map_or(f64::NAN, |bytes| 8.0 * bytes));
        show("dp_s", if self.dp.is_finite() { self.dp } else { f64::NAN });
        show("r_s", if self.r > 0.0 { self.r } else { f64::NAN });
        show("zone", zone);
    }

    fn on_packet_sent(&mut self, _now: Time, tcp: &mut TcpState, packet: &PacketInfo) {
        if let Some(probe) = &mut self.probe
            && may_probe(tcp)
        {
            probe.on_packet_sent(packet);
        }
    }

    fn pkts_acked(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            self.on_rtt(now, rtt.as_secs_f64());
        }
        if ack.acked == 0 {
            return;
        }
        if self.avoiding_since.is_some() {
            self.on_bytes(now, if self.rules.count_acks { tcp.mss } else { ack.acked });
        }
        if let Some(probe) = &mut self.probe
            && may_probe(tcp)
            && let Some(bandwidth) = probe.on_ack(now, tcp.snd_una, ack.acked)
        {
            self.probe = None;
            self.estimate.bandwidth = Some(bandwidth);
            self.probed_dp = Some(self.dp);
            if let Some(share) = self.share(tcp.mss) {
                tcp.ssthresh = share;
            }
        }
    }

    fn cong_avoid(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        let acked = if self.rules.count_acks { tcp.mss } else { ack.acked };
        if tcp.in_slow_start() {
            growth::slow_start(tcp, acked, self.rules.abc_limit);
        } else {
            self.avoid(now, tcp, acked);
        }
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.credit = 0.0;
        let half = growth::half_flight(tcp);
        if std::mem::take(&mut self.timed_out) {
            half.max((self.rules.rto_floor * tcp.mss as f64) as u64)
        } else {
            half
        }
    }

    fn set_state(&mut self, _now: Time, _tcp: &mut TcpState, state: CaState) {
        match state {
            CaState::Open => self.timed_out = false,
            // A sequence that loses a packet comes back spaced by loss recovery, not by the bottleneck; so
            // does one behind a reduced window.
            CaState::Disorder | CaState::Cwr | CaState::Recovery => self.drop_sequence(),
            CaState::Loss => self.restart(),
        }
    }

    fn cwnd_event(&mut self, _now: Time, _tcp: &mut TcpState, event: CaEvent) {
        match event {
            CaEvent::Loss => {
                self.timed_out = true;
                self.restart();
            }
            CaEvent::CwndRestart => {
                // Slow start again: the probe too, and what was estimated serves until it answers.
                self.probe = Some(Probe::default());
                self.avoiding_since = None;
            }
            _ => {}
        }
    }

    fn undo_cwnd(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.estimate = self.prior;
        self.probe = None;
        tcp.cwnd.max(tcp.prior_cwnd)
    }

    fn extension(&mut self) -> Option<&mut dyn ControlExtension> {
        Some(self)
    }
}

impl ControlExtension for C2 {
    fn syn_option(&mut self) -> Option<u32> {
        // Asks the receiver for its number; the value has no meaning.
        self.rules.ask_for_n.then_some(0)
    }

    fn receiver_hook(&mut self) -> Option<Box<dyn ReceiverHook>> {
        Some(Box::new(FlowCount))
    }

    fn on_syn_ack_option(&mut self, _now: Time, _tcp: &mut TcpState, value: Option<u32>) {
        if let Some(others) = value
            && self.rules.ask_for_n
        {
            self.n = others.saturating_add(1).min(10_000);
        }
    }
}

#[cfg(test)]
mod tests;
