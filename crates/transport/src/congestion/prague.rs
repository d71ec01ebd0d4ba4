//! Prague: DCTCP for the Internet, over queues that mark early (L4S). cwnd falls in proportion to the share
//! of marked packets, and grows by each packet that is not marked.
//!
//! ```text
//! Tvirt        max(SRTT, 25 ms)
//! F            share of packets that ACKs of a round trip, of Tvirt at least, report as marked
//! alpha        += (F - alpha) / 16, once such a round trip; 0 before the first mark
//! mark         cwnd *= 1 - alpha / 2, once a round trip, of Tvirt at least; the first halves cwnd
//! no mark      cwnd += (SRTT / Tvirt)^2 / cwnd per segment acknowledged; slow start before the first mark
//! loss         cwnd *= 1/2, no growth until the recovery ends
//! pacing rate  max(cwnd, in flight) / SRTT, twice that in slow start
//! ```
//!
//! The source is draft-briscoe-iccrg-prague-congestion-control-04 (2024), as the authors' reference for Linux
//! has it (`tcp_prague.c` 0.7, read, not copied). Section 2.4.4 has Tvirt. It is SRTT until the fifth round
//! trip after slow start. cwnd follows the computed window by one segment per ACK, as in the reference. Data
//! is ECT(1), which needs Accurate ECN. Without it Prague is NewReno's equal.
//!
//! Three parts of the reference are left out. One is the window as a rate below five segments, with smaller
//! segments and pacing by +- 3 %. The others are bursts of 250 us, and ECT(1) on pure ACKs and SYNs. The
//! draft leaves the detection of classic queues open; here is none.

use super::growth::{Additive, half_flight};
use super::{
    AckSample, CaEvent, CaState, CongestionControl, ControlInfo, ParameterSpec, Parameters, TcpState,
};
use crate::{Preset, Recovery};
use cogtcp_units::{Duration, Rate, Time};

const NAME: &str = "prague";
/// Gain of alpha.
const GAIN: f64 = 1.0 / 16.0;
/// Round trips after slow start before Tvirt counts.
const TRANSITION: u32 = 4;
/// Least window in segments.
const MIN_CWND: u64 = 2;

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: NAME,
    summary: "scalable (L4S): cwnd falls by the share of marked packets; needs Accurate ECN and queues that mark early",
    reference: "draft-briscoe-iccrg-prague-congestion-control-04",
    parameters: &[ParameterSpec::number("virtual_rtt", "ms", [25.0, 0.0, 1000.0])
        .described("least round-trip time that growth assumes; 0: growth by the RTT as it is")],
    presets: &[Preset::new(NAME, NAME, Recovery::Sack).described("Prague with Accurate ECN, SACK recovery")],
    build: |parameters| Box::new(Prague::new(parameters)),
};

/// The state of one connection.
#[derive(Clone, Debug, Default)]
struct Prague {
    least_rtt: Duration,
    /// The peer did not agree to Accurate ECN: Reno.
    reno: Option<Additive>,
    /// The window that the rules compute, in bytes.
    window: f64,
    /// That window before the latest loss.
    window_before: f64,
    alpha: f64,
    alpha_at: Time,
    /// A mark has been reported: slow start is over.
    marked: bool,
    reduced_at: Option<Time>,
    in_loss: bool,
    /// The round trip ends when this offset is acknowledged.
    round_end: u64,
    /// Round trips since slow start.
    rounds: u32,
    /// Bytes that this round trip delivered, and bytes of packets reported as marked.
    round_delivered: f64,
    round_marked: f64,
}

impl Prague {
    fn new(parameters: &Parameters) -> Self {
        Self {
            least_rtt: Duration::from_nanos((parameters.number("virtual_rtt") * 1e6) as u64),
            ..Self::default()
        }
    }

    /// Whether Tvirt counts, or the round-trip time as it is.
    fn is_virtual(&self) -> bool {
        self.rounds >= TRANSITION
    }

    /// Whether a round trip of Tvirt has passed since `then`.
    fn is_over(&self, now: Time, then: Time) -> bool {
        !self.is_virtual() || now.saturating_since(then) >= self.least_rtt
    }

    /// Segments that a window of segments without marks adds.
    fn growth(&self, tcp: &TcpState) -> f64 {
        if !self.is_virtual() || tcp.srtt >= self.least_rtt {
            return 1.0;
        }
        let share = tcp.srtt.as_secs_f64() / self.least_rtt.as_secs_f64();
        share * share
    }

    /// Marks and growth.
    fn take_ack(&mut self, tcp: &mut TcpState, ack: &AckSample) {
        let mss = tcp.mss as f64;
        let (delivered, marked) = (ack.delivered as f64, ack.marked as f64 * mss);
        self.round_delivered += delivered;
        self.round_marked += marked;
        if ack.marked > 0 && !self.marked {
            self.marked = true;
            self.window = (self.window / 2.0).max(MIN_CWND as f64 * mss);
            self.end_slow_start(tcp);
        }
        let unmarked = delivered - marked;
        if unmarked <= 0.0 || self.in_loss || !tcp.cwnd_limited {
            return;
        }
        if tcp.in_slow_start() {
            self.window = (self.window + unmarked.min(tcp.cwnd as f64)).min(tcp.ssthresh as f64);
            return;
        }
        self.window += self.growth(tcp) * unmarked * mss / self.window.max(mss);
    }

    fn end_slow_start(&self, tcp: &mut TcpState) {
        tcp.ssthresh = self.target(tcp.mss);
    }

    /// The window in whole segments.
    fn target(&self, mss: u64) -> u64 {
        ((self.window / mss as f64).ceil() as u64).max(MIN_CWND) * mss
    }

    /// cwnd moves towards the window; in slow start it follows at once.
    fn follow(&self, tcp: &mut TcpState) {
        let (target, mss) = (self.target(tcp.mss), tcp.mss);
        if tcp.cwnd > target {
            tcp.cwnd = tcp.cwnd.saturating_sub(mss).max(target);
            tcp.ssthresh = tcp.cwnd;
        } else if tcp.in_slow_start() && !self.in_loss {
            tcp.cwnd = target;
        } else {
            tcp.cwnd = (tcp.cwnd + mss).min(target);
        }
    }

    fn end_round(&mut self, now: Time, tcp: &TcpState) {
        if self.marked && self.round_delivered > 0.0 {
            let share = (self.round_marked / self.round_delivered).min(1.0);
            self.alpha += GAIN * (share - self.alpha);
        }
        self.alpha_at = now;
        self.round_end = tcp.snd_nxt;
        (self.round_delivered, self.round_marked) = (0.0, 0.0);
        if !tcp.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
    }

    fn pace(&self, tcp: &mut TcpState) {
        if tcp.srtt.is_zero() {
            return;
        }
        let gain = if tcp.cwnd < tcp.ssthresh / 2 { 2 } else { 1 };
        let bytes = (self.window as u64).max(tcp.in_flight).max(tcp.mss);
        let rate = Rate::from_bytes_in(bytes.saturating_mul(gain), tcp.srtt);
        tcp.pacing_rate = Some(rate.max(Rate::from_bits_per_second(1)));
    }

    fn halve(&mut self, tcp: &mut TcpState) {
        if !self.in_loss {
            self.window_before = self.window;
            self.window = (self.window / 2.0).max((MIN_CWND * tcp.mss) as f64);
            self.end_slow_start(tcp);
        }
        self.in_loss = true;
    }
}

impl CongestionControl for Prague {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn uses_l4s(&self) -> bool {
        true
    }

    fn owns_cwnd(&self) -> bool {
        self.reno.is_none()
    }

    fn init(&mut self, now: Time, tcp: &mut TcpState) {
        self.reno = (!tcp.accurate_ecn).then(Additive::reno);
        self.window = tcp.cwnd as f64;
        self.alpha_at = now;
        self.round_end = tcp.snd_nxt;
        if self.reno.is_none() {
            self.pace(tcp);
        }
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        if let Some(reno) = &mut self.reno {
            reno.reset();
            return half_flight(tcp);
        }
        // `take_ack` and `set_state` end slow start.
        tcp.ssthresh.min(tcp.cwnd).max(MIN_CWND * tcp.mss)
    }

    fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        let Some(reno) = &mut self.reno else { return };
        reno.grow_from_start(tcp, ack.acked, 1.0);
    }

    fn set_state(&mut self, now: Time, tcp: &mut TcpState, state: CaState) {
        if self.reno.is_some() {
            return;
        }
        match state {
            CaState::Open => self.in_loss = false,
            CaState::Cwr if self.reduced_at.is_none_or(|at| self.is_over(now, at)) => {
                self.reduced_at = Some(now);
                let least = (MIN_CWND * tcp.mss) as f64;
                self.window = (self.window * (1.0 - self.alpha / 2.0)).max(least);
            }
            CaState::Recovery => self.halve(tcp),
            // RFC 5681 section 3.1: one segment, and up to half.
            CaState::Loss => {
                self.halve(tcp);
                tcp.cwnd = tcp.mss;
            }
            CaState::Cwr | CaState::Disorder => {}
        }
    }

    fn cwnd_event(&mut self, _now: Time, tcp: &mut TcpState, event: CaEvent) {
        match event {
            _ if self.reno.is_some() => {}
            // RFC 5681 section 4.1: the window after an idle time.
            CaEvent::CwndRestart => {
                self.window = self.window.min(tcp.initial_window as f64);
                tcp.cwnd = tcp.cwnd.min(self.target(tcp.mss));
            }
            // Another timeout: `set_state` saw the first.
            CaEvent::Loss if tcp.ca_state == CaState::Loss => tcp.cwnd = tcp.mss,
            _ => {}
        }
    }

    fn cong_control(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) -> bool {
        if self.reno.is_some() {
            return false;
        }
        self.take_ack(tcp, ack);
        self.follow(tcp);
        if tcp.snd_una >= self.round_end && self.is_over(now, self.alpha_at) {
            self.end_round(now, tcp);
        }
        self.pace(tcp);
        true
    }

    fn undo_cwnd(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        if self.reno.is_none() {
            self.in_loss = false;
            self.window = self.window.max(self.window_before);
        }
        tcp.cwnd.max(tcp.prior_cwnd)
    }

    fn observe(&self, tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        show("alpha", self.alpha);
        show("window_segments", self.window / tcp.mss as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::make;
    use crate::congestion::testing::{MSS, ack, tcp};

    const RTT: Duration = Duration::from_millis(50);

    /// A connection with Accurate ECN under test, beyond slow start.
    #[derive(Debug)]
    struct Bench {
        control: Prague,
        tcp: TcpState,
        now: Time,
    }

    impl Bench {
        fn new(segments: u64, rtt: Duration) -> Self {
            let mut tcp = TcpState { accurate_ecn: true, srtt: rtt, ..tcp(segments) };
            let mut control = Prague::new(&Parameters::new().with_number("virtual_rtt", 25.0));
            let now = Time::from_millis(1000);
            control.init(now, &mut tcp);
            control.marked = true;
            tcp.ssthresh = tcp.cwnd;
            Self { control, tcp, now }
        }

        /// An ACK for `segments`, `marked` of them marked, as the sender calls.
        fn ack(&mut self, segments: u64, marked: u64) {
            let sample = AckSample { marked, ecn_echo: marked > 0, ..ack(segments * MSS, self.tcp.srtt) };
            self.tcp.snd_una += segments * MSS;
            self.tcp.snd_nxt = self.tcp.snd_una + self.tcp.cwnd;
            if marked > 0 && self.tcp.ca_state == CaState::Open {
                self.tcp.ssthresh = self.control.ssthresh(self.now, &self.tcp);
                self.set_state(CaState::Cwr);
            }
            assert!(self.control.cong_control(self.now, &mut self.tcp, &sample));
        }

        fn set_state(&mut self, state: CaState) {
            self.control.set_state(self.now, &mut self.tcp, state);
            self.tcp.ca_state = state;
        }

        /// A round trip of one ACK per segment; the first `marked` are marked.
        fn round(&mut self, marked: u64) {
            let segments = self.tcp.cwnd / MSS;
            for k in 0..segments {
                self.now += self.tcp.srtt / segments;
                self.ack(1, u64::from(k < marked));
            }
            self.set_state(CaState::Open);
        }
    }

    /// 20 segments, 50 ms: a round trip adds 20 / 20 of a segment.
    #[test]
    fn additive_increase_of_a_segment_per_round_trip() {
        let mut bench = Bench::new(20, RTT);
        bench.round(0);
        assert!((bench.control.window / 1000.0 - 21.0).abs() < 0.03, "{:?}", bench.control);
        assert_eq!(bench.tcp.cwnd, 21 * MSS);
    }

    /// At 5 ms, a fifth of Tvirt, a window of segments adds (1/5)^2 from the fifth round trip on.
    #[test]
    fn reduced_dependence_on_the_rtt() {
        let mut bench = Bench::new(20, Duration::from_millis(5));
        bench.control.rounds = TRANSITION;
        bench.ack(20, 0);
        assert!((bench.control.window / 1000.0 - 20.04).abs() < 1e-9, "{:?}", bench.control);
        // The first rounds grow by the RTT as it is.
        let mut bench = Bench::new(20, Duration::from_millis(5));
        bench.ack(20, 0);
        assert!((bench.control.window / 1000.0 - 21.0).abs() < 1e-9);
    }

    /// A marked packet adds nothing: (1 - p) / p balances growth and decrease.
    #[test]
    fn marked_packets_add_nothing() {
        let mut bench = Bench::new(20, RTT);
        bench.set_state(CaState::Cwr);
        bench.ack(20, 5);
        assert!((bench.control.window / 1000.0 - 20.75).abs() < 1e-9, "{:?}", bench.control);
    }

    /// F = 1/4 in each round: alpha = 1/64, then 1/64 + (1/4 - 1/64) / 16.
    #[test]
    fn alpha_averages_the_share_of_marks() {
        let mut bench = Bench::new(20, RTT);
        // The round that the handshake began is over with the first ACK.
        bench.control.round_end = bench.tcp.snd_nxt;
        bench.ack(20, 5);
        assert!((bench.control.alpha - 1.0 / 64.0).abs() < 1e-12, "{:?}", bench.control);
        bench.ack(21, 0);
        assert!((bench.control.alpha - 15.0 / 1024.0).abs() < 1e-12, "{:?}", bench.control);
    }

    /// alpha 0.5 takes a quarter, once a round trip; cwnd follows by a segment per ACK.
    #[test]
    fn a_mark_takes_half_of_alpha() {
        let mut bench = Bench::new(20, RTT);
        bench.control.alpha = 0.5;
        bench.ack(1, 1);
        assert_eq!((bench.control.window, bench.tcp.cwnd), (15_000.0, 19 * MSS));
        bench.ack(1, 1);
        assert_eq!((bench.control.window, bench.tcp.cwnd), (15_000.0, 18 * MSS));
        // Below 25 ms the next one waits for 25 ms.
        let mut bench = Bench::new(20, Duration::from_millis(5));
        (bench.control.rounds, bench.control.alpha) = (TRANSITION, 0.5);
        bench.ack(1, 1);
        bench.set_state(CaState::Open);
        bench.now += Duration::from_millis(24);
        bench.ack(1, 1);
        assert_eq!(bench.control.window, 15_000.0);
        bench.set_state(CaState::Open);
        bench.now += Duration::from_millis(1);
        bench.ack(1, 1);
        assert_eq!(bench.control.window, 15_000.0 * (1.0 - bench.control.alpha / 2.0));
    }

    #[test]
    fn the_first_mark_halves_the_window_of_slow_start() {
        let mut bench = Bench::new(20, RTT);
        bench.control.marked = false;
        bench.tcp.ssthresh = u64::MAX;
        bench.ack(4, 0);
        assert_eq!(bench.tcp.cwnd, 24 * MSS);
        bench.ack(1, 1);
        assert_eq!(bench.control.window, 12_000.0);
        assert!(!bench.tcp.in_slow_start());
    }

    /// A loss halves; nothing grows until the recovery ends.
    #[test]
    fn a_loss_halves_and_an_undo_restores() {
        let mut bench = Bench::new(20, RTT);
        bench.tcp.prior_cwnd = bench.tcp.cwnd;
        bench.set_state(CaState::Recovery);
        bench.ack(10, 0);
        assert_eq!((bench.control.window, bench.tcp.cwnd), (10_000.0, 19 * MSS));
        assert_eq!(bench.control.undo_cwnd(bench.now, &bench.tcp), 20 * MSS);
        assert_eq!(bench.control.window, 20_000.0);
        // A timeout: from one segment to half, a segment per ACK.
        bench.set_state(CaState::Loss);
        assert_eq!(bench.tcp.cwnd, MSS);
        for _ in 0..12 {
            bench.ack(1, 0);
        }
        assert_eq!((bench.control.window, bench.tcp.cwnd), (10_000.0, 10 * MSS));
    }

    /// Without Accurate ECN: half of what is in flight, a segment per window, no pacing.
    #[test]
    fn without_accurate_ecn_it_is_reno() {
        let mut prague = crate::congestion::testing::Bench::new(NAME, &[], 20);
        prague.tcp.ssthresh = 0;
        assert!(!prague.control.owns_cwnd());
        prague.round(Duration::from_millis(100));
        assert_eq!((prague.segments(), prague.tcp.pacing_rate), (21.0, None));
        prague.loss();
        assert_eq!(prague.segments(), 10.5);
    }

    #[test]
    fn conforms() {
        crate::conformance::check_congestion_control(|| make(NAME, &Parameters::new()).unwrap()).unwrap();
    }
}
