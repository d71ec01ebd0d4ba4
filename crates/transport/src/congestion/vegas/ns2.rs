//! Vegas by the rules of ns-2, which most papers on cognitive radio before 2012 ran.
//!
//! ```text
//! once per round trip:  delta = round((expected - actual) * base) segments, with the round's mean RTT
//! slow start, every other round trip:  delta > gamma:  ssthresh = 2, cwnd -= cwnd/8   else cwnd += 1 per ACK
//! congestion avoidance:  delta > beta: cwnd -= 1     delta < alpha: cwnd += 1/cwnd per ACK
//! duplicate ACK: retransmit when the oldest segment is older than the fine-grained
//!                timeout (srtt + 2 rttvar) * 17/16
//! loss event:  cwnd = 3/4 cwnd, 1/2 if the segment had been retransmitted before
//! timeout:     ssthresh = half, cwnd = 2
//! ```
//!
//! Departures from ns-2: loss recovery handles the segment whose timeout expires on the first two *new* ACKs
//! after a retransmission (NewReno's partial ACKs retransmit it). The window of 2 after a timeout is set at
//! the first later ACK, since senders retransmit one segment.

use super::super::growth::{self, Round};
use super::super::{
    AckSample, CaEvent, CaState, CongestionControl, ControlExtension, PacketInfo, Parameters, TcpState,
};
use super::NAME;
use cogtcp_units::{Duration, Time};

/// What the round in progress does with each ACK.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Growth {
    #[default]
    Hold,
    /// One segment per ACK.
    SlowStart,
    /// One segment per window of ACKs, by the window at the round's start.
    Linear { window: u64 },
}

/// The state of one connection under ns-2's rules.
#[derive(Clone, Debug, Default)]
pub(super) struct VegasNs2 {
    alpha: f64,
    beta: f64,
    gamma: f64,
    base_rtt: Duration,
    /// Where the round began, and its RTT samples.
    round: Round,
    round_start: u64,
    round_began: Time,
    sum: Duration,
    samples: u64,
    growth: Growth,
    /// Whether this is a round that slow start grows in.
    growing_round: bool,
    /// Growth below one byte, in units of 1 / window bytes.
    credit: u64,
    fine: FineTimeout,
    /// Offset of the segment retransmitted last.
    retransmitted: Option<u64>,
    /// A timeout came and its window of 2 is not set yet.
    timed_out: bool,
}

impl VegasNs2 {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            alpha: parameters.number("alpha"),
            beta: parameters.number("beta"),
            gamma: parameters.number("gamma"),
            base_rtt: Duration::MAX,
            growing_round: true,
            ..Self::default()
        }
    }

    /// The decision of one round trip.
    fn decide(&mut self, now: Time, tcp: &mut TcpState) {
        let rtt =
            if self.samples > 0 { self.sum / self.samples } else { now.saturating_since(self.round_began) };
        let sent = tcp.snd_nxt.saturating_sub(self.round_start);
        if rtt.is_zero() {
            return;
        }
        if rtt < self.base_rtt || sent <= tcp.mss {
            // A round of one segment queues behind nothing of its own: its RTT is the base, even if greater.
            self.base_rtt = rtt;
        }
        // (expected - actual) * base, with expected = outstanding / base and actual = sent in the round /
        // rtt; ns-2's outstanding counts the segment just acknowledged.
        let outstanding = (tcp.snd_nxt.saturating_sub(tcp.snd_una) + tcp.mss) as f64 / tcp.mss as f64;
        let sent = sent as f64 / tcp.mss as f64;
        let ratio = self.base_rtt.as_nanos() as f64 / rtt.as_nanos() as f64;
        let delta = (outstanding - sent * ratio + 0.5) as i64 as f64;
        if tcp.in_slow_start() {
            self.growing_round = !self.growing_round;
            self.growth = if !self.growing_round {
                Growth::Hold
            } else if delta > self.gamma {
                tcp.ssthresh = 2 * tcp.mss;
                tcp.cwnd = (tcp.cwnd - tcp.cwnd / 8).max(2 * tcp.mss);
                Growth::Hold
            } else {
                Growth::SlowStart
            };
        } else if delta > self.beta {
            tcp.cwnd = tcp.cwnd.saturating_sub(tcp.mss).max(2 * tcp.mss);
            self.growth = Growth::Hold;
        } else if delta < self.alpha {
            self.growth = Growth::Linear { window: tcp.cwnd };
        } else {
            self.growth = Growth::Hold;
        }
    }
}

impl CongestionControl for VegasNs2 {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn init(&mut self, now: Time, tcp: &mut TcpState) {
        // The first ACK ends a round, as ns-2's first round begins before the first segment.
        self.round_start = tcp.snd_una;
        self.round_began = now;
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        if self.timed_out {
            return growth::half_flight(tcp);
        }
        let window = tcp.cwnd;
        let left = if window <= 3 * tcp.mss {
            0
        } else if self.retransmitted == Some(tcp.snd_una) {
            self.fine.back_off(2, 1);
            window / 2
        } else {
            self.fine.back_off(9, 8);
            window - window / 4
        };
        left.max(2 * tcp.mss)
    }

    fn pkts_acked(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        if self.timed_out && ack.acked > 0 {
            self.timed_out = false;
            tcp.cwnd = tcp.cwnd.max(2 * tcp.mss);
        }
    }

    fn cong_avoid(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        if self.round.over(tcp) {
            self.decide(now, tcp);
            (self.sum, self.samples) = (Duration::ZERO, 0);
            (self.round_start, self.round_began) = (tcp.snd_nxt, now);
        }
        if self.growth == Growth::SlowStart && !tcp.in_slow_start() {
            self.growth = Growth::Hold;
        }
        // Only when the flight keeps up with the window.
        if tcp.cwnd <= tcp.snd_nxt.saturating_sub(tcp.snd_una) + 3 * tcp.mss {
            match self.growth {
                Growth::Hold => {}
                Growth::SlowStart => tcp.cwnd += tcp.mss,
                Growth::Linear { window } => {
                    self.credit += tcp.mss * tcp.mss;
                    tcp.cwnd += self.credit / window;
                    self.credit %= window;
                }
            }
        }
        // ns-2 takes the sample after the round's decision.
        if let Some(rtt) = ack.rtt {
            self.sum += rtt;
            self.samples += 1;
            self.base_rtt = self.base_rtt.min(rtt);
            self.fine.sample(rtt);
        }
    }

    fn set_state(&mut self, _now: Time, tcp: &mut TcpState, state: CaState) {
        if tcp.ca_state == CaState::Recovery && state == CaState::Open {
            // ns-2: ssthresh serves slow start only, and a loss event ends that.
            tcp.ssthresh = 2 * tcp.mss;
        }
    }

    fn cwnd_event(&mut self, _now: Time, _tcp: &mut TcpState, event: CaEvent) {
        if event == CaEvent::Loss {
            self.timed_out = true;
        }
    }

    fn observe(&self, _tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        show("base_rtt_s", crate::congestion::seconds(self.base_rtt));
    }

    fn on_packet_sent(&mut self, _now: Time, _tcp: &mut TcpState, packet: &PacketInfo) {
        if packet.retransmission {
            self.retransmitted = Some(packet.offset);
        }
    }

    fn extension(&mut self) -> Option<&mut dyn ControlExtension> {
        Some(self)
    }
}

impl ControlExtension for VegasNs2 {
    fn dup_ack_retransmit(&mut self, now: Time, _tcp: &TcpState, head_sent_at: Time) -> bool {
        now.saturating_since(head_sent_at) >= self.fine.timeout
    }
}

/// Vegas's timeout on samples of the exact clock: (srtt + 2 rttvar) * 17/16.
#[derive(Clone, Copy, Debug)]
struct FineTimeout {
    /// 8 srtt and 4 rttvar, nanoseconds.
    scaled_rtt: i64,
    scaled_deviation: i64,
    timeout: Duration,
}

impl Default for FineTimeout {
    fn default() -> Self {
        Self { scaled_rtt: 0, scaled_deviation: 0, timeout: Duration::from_secs(1000) }
    }
}

impl FineTimeout {
    fn sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_nanos().min(i64::MAX as u64 / 64) as i64;
        if self.scaled_rtt == 0 {
            (self.scaled_rtt, self.scaled_deviation) = (8 * rtt, rtt);
        }
        let error = rtt - self.scaled_rtt / 8;
        self.scaled_rtt += error;
        self.scaled_deviation += error.abs() - self.scaled_deviation / 4;
        let timeout = (self.scaled_rtt / 4 + self.scaled_deviation) / 2;
        self.timeout = Duration::from_nanos((timeout + timeout / 16) as u64);
    }

    fn back_off(&mut self, numerator: u64, denominator: u64) {
        let longest = Duration::from_secs(1000);
        self.timeout = self.timeout.min(longest).mul_ratio(numerator, denominator).min(longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::ParameterValue;
    use crate::congestion::testing::{Bench, MSS};

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn bench(segments: u64) -> Bench {
        let settings = [
            ("rules", ParameterValue::Text("ns2".into())),
            ("alpha", ParameterValue::Number(1.0)),
            ("beta", ParameterValue::Number(3.0)),
        ];
        let mut bench = Bench::new("vegas", &settings, segments);
        // The first ACK comes a round trip after the first segment.
        bench.now += ms(100);
        bench
    }

    /// The RTT of a round is the mean of its samples; without one, the time since it began.
    #[test]
    fn the_rtt_of_a_round_is_the_mean_of_its_samples() {
        let base = |samples: u64, sum: u64| {
            let mut vegas = VegasNs2::new(
                &Parameters::new()
                    .with_number("alpha", 1.0)
                    .with_number("beta", 3.0)
                    .with_number("gamma", 1.0),
            );
            let mut tcp = TcpState { ssthresh: 0, ..crate::congestion::testing::tcp(10) };
            tcp.snd_nxt = tcp.snd_una + 10 * tcp.mss;
            vegas.round_began = Time::from_millis(1000);
            (vegas.samples, vegas.sum) = (samples, Duration::from_millis(sum));
            vegas.decide(Time::from_millis(1300), &mut tcp);
            vegas.base_rtt
        };
        assert_eq!(base(2, 240), Duration::from_millis(120));
        assert_eq!(base(1, 200), Duration::from_millis(200));
        assert_eq!(base(0, 0), Duration::from_millis(300));
    }

    #[test]
    fn slow_start_grows_every_other_round_trip() {
        let mut bench = bench(2);
        let mut windows = Vec::new();
        for _ in 0..7 {
            bench.round(ms(100));
            windows.push(bench.tcp.cwnd / MSS);
        }
        let doublings = windows.windows(2).filter(|pair| pair[1] > pair[0]).count();
        let pauses = windows.windows(2).filter(|pair| pair[1] == pair[0]).count();
        assert!(doublings >= 2 && pauses >= 2, "{windows:?}");
        assert!(*windows.last().unwrap() <= 32, "half the rate of Reno's 2 * 2^7: {windows:?}");
    }

    #[test]
    fn slow_start_ends_with_an_eighth_less() {
        let mut bench = bench(16);
        for _ in 0..2 {
            bench.round(ms(100));
        }
        let mut before = bench.tcp.cwnd;
        while bench.tcp.in_slow_start() {
            before = bench.tcp.cwnd;
            bench.now += ms(4);
            bench.ack(MSS, ms(200));
        }
        assert_eq!(bench.tcp.ssthresh, 2 * MSS);
        assert_eq!(bench.tcp.cwnd, before - before / 8);
    }

    #[test]
    fn congestion_avoidance_keeps_alpha_to_beta_queued() {
        // delta = int(20 - 20 * 100/rtt + 0.5): 0 at 100 ms, 2 at 110 ms (1.8 + 0.5 = 2.3), 5 at 130 ms (4.6
        // + 0.5).
        for (rtt, grows) in [(100, 1), (110, 0), (130, -1)] {
            let mut bench = bench(20);
            bench.tcp.ssthresh = 2 * MSS;
            bench.ack(MSS, ms(100));
            bench.round(ms(rtt));
            bench.round(ms(rtt));
            let before = bench.segments();
            bench.round(ms(rtt));
            let change = bench.segments() - before;
            assert!((change - f64::from(grows)).abs() < 0.1, "{rtt} ms: {change}");
        }
    }

    #[test]
    fn a_loss_leaves_three_quarters_and_a_second_half() {
        let mut bench = bench(20);
        assert_eq!(bench.control.ssthresh(bench.now, &bench.tcp), 15 * MSS);
        let retransmitted = PacketInfo { offset: 0, bytes: MSS, retransmission: true, in_flight: 0 };
        bench.control.on_packet_sent(bench.now, &mut bench.tcp, &retransmitted);
        assert_eq!(bench.control.ssthresh(bench.now, &bench.tcp), 10 * MSS);
        bench.tcp.cwnd = 3 * MSS;
        assert_eq!(bench.control.ssthresh(bench.now, &bench.tcp), 2 * MSS);
    }

    #[test]
    fn a_timeout_leaves_half_and_restarts_from_two() {
        let mut bench = bench(20);
        bench.timeout();
        assert_eq!((bench.tcp.ssthresh, bench.tcp.cwnd), (10 * MSS, MSS));
        bench.ack(MSS, ms(100));
        assert!(bench.tcp.cwnd >= 2 * MSS);
    }

    #[test]
    fn the_fine_timeout_follows_the_samples() {
        // First sample 80 ms: srtt 80, 4 rttvar = 80 - 20 = 60, so 80 + 60/2 = 110, * 17/16 = 116.875 ms.
        let mut fine = FineTimeout::default();
        fine.sample(ms(80));
        assert_eq!(fine.timeout, Duration::from_micros(116_875));
        // 96 ms: error 16, srtt 82, 4 rttvar = 60 + 16 - 15 = 61: 82 + 30.5 = 112.5, * 17/16 = 119.53125 ms.
        fine.sample(ms(96));
        assert_eq!(fine.timeout, Duration::from_nanos(119_531_250));

        let mut bench = bench(10);
        assert!(
            !bench.control.extension().unwrap().dup_ack_retransmit(bench.now, &bench.tcp, Time::ZERO),
            "no sample yet"
        );
        bench.ack(MSS, ms(80));
        let sent = bench.now - ms(116);
        assert!(!bench.control.extension().unwrap().dup_ack_retransmit(bench.now, &bench.tcp, sent));
        assert!(bench.control.extension().unwrap().dup_ack_retransmit(
            bench.now,
            &bench.tcp,
            bench.now - ms(117)
        ));
    }

    /// One decision, of 10 segments sent in the round and as many outstanding, at base 100 ms: delta is 11 - 10 x
    /// base / RTT + 0.5, whole. Above beta = 3 the window falls by a segment, below alpha = 1 it grows.
    #[test]
    fn a_decision_follows_delta() {
        let decided = |rtt: u64, cwnd: u64, ssthresh: u64| {
            let parameters = Parameters::new().with_number("alpha", 1.0).with_number("beta", 3.0);
            let mut vegas = VegasNs2::new(&parameters.with_number("gamma", 1.0));
            let mut tcp = TcpState {
                cwnd: cwnd * MSS,
                ssthresh: ssthresh * MSS,
                ..crate::congestion::testing::tcp(10)
            };
            (vegas.base_rtt, vegas.samples, vegas.sum, vegas.growing_round) = (ms(100), 1, ms(rtt), false);
            vegas.decide(Time::from_millis(1000), &mut tcp);
            let growth = match vegas.growth {
                Growth::Hold => "hold",
                Growth::SlowStart => "slow start",
                Growth::Linear { .. } => "linear",
            };
            (tcp.cwnd / MSS, growth, tcp.ssthresh / MSS)
        };
        // At 100 ms the delta is 1, which is alpha. At 133 ms it is 3.98, not above beta; at 134 ms it is above.
        assert_eq!((decided(100, 20, 5), decided(133, 20, 5)), ((20, "hold", 5), (20, "hold", 5)));
        assert_eq!((decided(134, 20, 5), decided(134, 2, 1)), ((19, "hold", 5), (2, "hold", 1)));
        // In slow start: gamma = 1 is passed from 106 ms on, and the window falls by an eighth.
        assert_eq!((decided(105, 16, 99), decided(106, 16, 99)), ((16, "slow start", 99), (14, "hold", 2)));
        assert_eq!(decided(0, 20, 5), (20, "hold", 5));
    }

    /// A loss takes a quarter of the window, and backs the fine timer off by 9/8. A second loss of the same segment
    /// takes half, and doubles the timer. Windows up to three segments fall to two. After a timeout it is half of the
    /// flight.
    #[test]
    fn a_loss_takes_a_quarter_or_half() {
        let after = |segments: u64, retransmitted: Option<u64>, timed_out: bool| {
            let parameters = Parameters::new().with_number("alpha", 1.0).with_number("beta", 3.0);
            let mut vegas = VegasNs2::new(&parameters.with_number("gamma", 1.0));
            (vegas.retransmitted, vegas.timed_out, vegas.fine.timeout) = (retransmitted, timed_out, ms(80));
            let tcp = TcpState { cwnd: segments * MSS, snd_una: 7, ..crate::congestion::testing::tcp(20) };
            (vegas.ssthresh(Time::ZERO, &tcp) / MSS, vegas.fine.timeout.as_nanos() / 1_000_000)
        };
        assert_eq!((after(16, None, false), after(16, Some(6), false)), ((12, 90), (12, 90)));
        assert_eq!((after(16, Some(7), false), after(4, None, false)), ((8, 160), (3, 90)));
        assert_eq!((after(3, Some(7), false), after(16, None, true)), ((2, 80), (10, 80)));
    }
}
