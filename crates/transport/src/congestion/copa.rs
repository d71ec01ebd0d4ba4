//! Copa: steers its window towards the rate 1 / (delta dq), dq being the delay in queues. Each flow keeps
//! about 1 / delta segments in the bottleneck's queue, and empties the queue every few round trips.
//!
//! ```text
//! RTTmin       least RTT of 10 s                  RTTstanding  least RTT of srtt / 2
//! dq           RTTstanding - RTTmin
//! each ACK     cwnd +- v / (delta cwnd) per segment; + if cwnd / RTTstanding <= 1 / (delta dq)
//! v            doubles each RTT once cwnd moved the same way for three RTTs, else 1
//! slow start   cwnd doubles each RTT until cwnd / RTTstanding > 1 / (delta dq)
//! pacing rate  2 cwnd / RTTstanding
//! competitive  no queue within 5 RTTs is below a tenth of its greatest of 4 RTTs: others fill the queue;
//!              then 1 / delta += 1 each RTT, and halves at a loss, at least its default
//! ```
//!
//! The source is Arun and Balakrishnan, NSDI 2018, section 2. Its rules are RECALLED, and compared with the
//! authors' code (genericCC) and with mvfst. Taken from code, not from the paper:
//! - v is 1 at once when the direction changes within a round trip (mvfst);
//! - v is at most delta cwnd: a round trip changes cwnd by at most itself (genericCC);
//! - RTTmin covers 20 RTTmin if they are more than 10 s (genericCC);
//! - cwnd is two segments at least (genericCC, mvfst).
//!
//! Choices of our own: the least and greatest RTTs are Nichols's filters with three samples, as in mvfst. A
//! timeout (not in the paper) leaves two segments and begins slow start. A window that the
//! application does not use does not grow. Equal RTTs are an empty queue.

use super::windowed_max::WindowedMax;
use super::{AckSample, CaEvent, CongestionControl, ControlInfo, ParameterSpec, Parameters, TcpState};
use crate::{Preset, Recovery};
use cogtcp_units::{Duration, Rate, Time};

const NAME: &str = "copa";
/// Least window in segments.
const MIN_CWND: u64 = 2;
/// The window of RTTmin.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// That window in units of RTTmin; the longer of the two counts.
const MIN_RTT_WINDOW_RTTS: u64 = 20;
/// RTTs in which the queue is to be nearly empty once.
const EMPTY_WITHIN: u64 = 5;
/// RTTs over which the greatest RTT is taken.
const GREATEST_OF: u64 = 4;
/// Share of the greatest queueing delay below which the queue is nearly empty.
const NEARLY_EMPTY: f64 = 0.1;
/// RTTs in one direction after which v doubles.
const SAME_DIRECTION: u32 = 3;

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: NAME,
    summary: "delay-based: 1 / delta segments in the queue, emptied every few round trips; competes with loss-based flows",
    reference: "Arun and Balakrishnan, NSDI 2018",
    parameters: &[
        ParameterSpec::number("delta", "", [0.5, 0.001, 10.0]).described(
            "default delta: 1 / delta segments in the queue; lower: more throughput, higher: less delay",
        ),
        ParameterSpec::flag("competitive", true)
            .described("let 1 / delta grow while other flows keep the queue from emptying"),
    ],
    presets: &[Preset::new(NAME, NAME, Recovery::Sack)
        .described("Copa with delta 0.5 and mode switching, SACK recovery")],
    build: |parameters| Box::new(Copa::new(parameters)),
};

/// The least RTT of a window of time.
#[derive(Clone, Debug, Default)]
struct WindowedMin(WindowedMax);

impl WindowedMin {
    /// Above every RTT in nanoseconds; the difference is exact in a double.
    const ABOVE: u64 = 1 << 52;

    fn update(&mut self, now: Time, rtt: u64, window: Duration) {
        self.0.update(now.as_nanos(), (Self::ABOVE - rtt) as f64, window.as_nanos());
    }

    /// Nanoseconds.
    fn best(&self) -> u64 {
        Self::ABOVE - self.0.best() as u64
    }
}

/// The state of one connection.
#[derive(Clone, Debug, Default)]
struct Copa {
    default_delta: f64,
    switches: bool,
    /// 1 / delta in use.
    packets: f64,
    competitive: bool,
    /// When 1 / delta changed last in competitive mode.
    packets_at: Time,
    /// A loss event since then.
    lost: bool,
    slow_start: bool,
    /// Slow start before the latest timeout.
    slow_start_before: bool,
    min_rtt: WindowedMin,
    standing: WindowedMin,
    recent_min: WindowedMin,
    recent_max: WindowedMax,
    /// An RTT has been measured.
    measured: bool,
    velocity: f64,
    upwards: bool,
    /// RTTs in this direction.
    same: u32,
    /// When the direction was looked at last, and cwnd then.
    looked_at: Time,
    looked_cwnd: u64,
    /// Part of a byte by which cwnd has changed.
    fraction: f64,
}

impl Copa {
    fn new(parameters: &Parameters) -> Self {
        let default_delta = parameters.number("delta");
        Self {
            default_delta,
            switches: parameters.flag("competitive"),
            packets: 1.0 / default_delta,
            slow_start: true,
            slow_start_before: true,
            velocity: 1.0,
            upwards: true,
            ..Self::default()
        }
    }

    fn measure(&mut self, now: Time, tcp: &TcpState, rtt: Duration) {
        let nanos = rtt.as_nanos().clamp(1, WindowedMin::ABOVE / 2);
        let least = if self.measured { self.min_rtt.best().min(nanos) } else { nanos };
        let long = MIN_RTT_WINDOW.max(Duration::from_nanos(least) * MIN_RTT_WINDOW_RTTS);
        let srtt = tcp.srtt.min(long);
        self.measured = true;
        self.min_rtt.update(now, nanos, long);
        self.standing.update(now, nanos, srtt / 2);
        self.recent_min.update(now, nanos, (srtt * EMPTY_WITHIN).min(long));
        self.recent_max.update(now.as_nanos(), nanos as f64, (srtt * GREATEST_OF).min(long).as_nanos());
    }

    /// Section 2.2: whether the queue has not been nearly empty for five round trips.
    fn others_fill_the_queue(&self) -> bool {
        let base = self.min_rtt.best();
        let greatest = self.recent_max.best() - base as f64;
        self.recent_min.best().saturating_sub(base) as f64 > NEARLY_EMPTY * greatest
    }

    /// Section 2.2: 1 / delta by additive increase and multiplicative decrease, once per RTT.
    fn set_mode(&mut self, now: Time, tcp: &TcpState) {
        let default = 1.0 / self.default_delta;
        let competitive = self.switches && !self.slow_start && self.others_fill_the_queue();
        if !competitive {
            (self.packets, self.lost) = (default, false);
        } else if !self.competitive {
            (self.packets_at, self.lost) = (now, false);
        } else if now.saturating_since(self.packets_at) >= tcp.srtt {
            self.packets = if self.lost { self.packets / 2.0 } else { self.packets + 1.0 };
            self.packets = self.packets.max(default);
            (self.packets_at, self.lost) = (now, false);
        }
        self.competitive = competitive;
    }

    fn turn(&mut self, now: Time, tcp: &TcpState, upwards: bool) {
        (self.upwards, self.velocity, self.same) = (upwards, 1.0, 0);
        (self.looked_at, self.looked_cwnd) = (now, tcp.cwnd);
    }

    /// Section 2.1 step 4, once per RTT.
    fn look_at_direction(&mut self, now: Time, tcp: &TcpState) {
        if now.saturating_since(self.looked_at) < tcp.srtt {
            return;
        }
        let upwards = tcp.cwnd > self.looked_cwnd;
        if upwards != self.upwards {
            self.turn(now, tcp, upwards);
            return;
        }
        self.same += 1;
        if self.same >= SAME_DIRECTION {
            self.velocity *= 2.0;
        }
        (self.looked_at, self.looked_cwnd) = (now, tcp.cwnd);
    }

    /// Section 2.1 steps 2 and 3.
    fn set_window(&mut self, now: Time, tcp: &mut TcpState, delivered: u64) {
        let (base, standing) = (self.min_rtt.best(), self.standing.best());
        let queueing = standing.saturating_sub(base) as f64;
        let (cwnd, mss) = (tcp.cwnd as f64, tcp.mss as f64);
        let upwards = cwnd * queueing <= mss * self.packets * standing as f64;
        if self.slow_start {
            if upwards {
                if tcp.cwnd_limited {
                    tcp.cwnd += delivered.min(tcp.cwnd);
                }
                return;
            }
            self.slow_start = false;
            self.turn(now, tcp, false);
        }
        self.look_at_direction(now, tcp);
        if upwards != self.upwards && self.velocity > 1.0 {
            self.turn(now, tcp, upwards);
        }
        if upwards && !tcp.cwnd_limited {
            return;
        }
        self.velocity = self.velocity.min((cwnd / mss / self.packets).max(1.0));
        // At most a window of data counts, as a window is what a round trip delivers.
        let step = self.velocity * self.packets * mss * (delivered as f64 / cwnd).min(1.0);
        let exact = cwnd + self.fraction + if upwards { step } else { -step };
        tcp.cwnd = (exact.max(0.0) as u64).max(MIN_CWND * tcp.mss);
        self.fraction = (exact - tcp.cwnd as f64).clamp(0.0, 1.0);
    }
}

impl CongestionControl for Copa {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn init(&mut self, now: Time, tcp: &mut TcpState) {
        (self.looked_at, self.looked_cwnd) = (now, tcp.cwnd);
    }

    fn owns_cwnd(&self) -> bool {
        true
    }

    /// A loss event; Copa has no threshold.
    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.lost = true;
        tcp.ssthresh.max(2 * tcp.mss)
    }

    fn cong_avoid(&mut self, _now: Time, _tcp: &mut TcpState, _ack: &AckSample) {}

    fn cong_control(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) -> bool {
        if let Some(rtt) = ack.rtt {
            self.measure(now, tcp, rtt);
        }
        if !self.measured {
            return true;
        }
        self.set_mode(now, tcp);
        if ack.delivered > 0 {
            self.set_window(now, tcp, ack.delivered);
        }
        let bits = 16e9 * tcp.cwnd as f64 / self.standing.best() as f64;
        tcp.pacing_rate = Some(Rate::from_bits_per_second((bits as u64).max(1)));
        true
    }

    fn cwnd_event(&mut self, now: Time, tcp: &mut TcpState, event: CaEvent) {
        if event == CaEvent::Loss {
            self.slow_start_before = self.slow_start;
            self.slow_start = true;
            tcp.cwnd = tcp.cwnd.min(MIN_CWND * tcp.mss);
            self.fraction = 0.0;
            self.turn(now, tcp, true);
        }
    }

    fn undo_cwnd(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.slow_start = self.slow_start_before;
        tcp.cwnd.max(tcp.prior_cwnd)
    }

    fn observe(&self, _tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        let seconds = |nanos: u64| if self.measured { nanos as f64 / 1e9 } else { f64::NAN };
        show("min_rtt_s", seconds(self.min_rtt.best()));
        show("standing_rtt_s", seconds(self.standing.best()));
        show("delta", 1.0 / self.packets);
        show("velocity", self.velocity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{Bench, MSS};
    use crate::congestion::{ParameterValue, make};

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn shown(bench: &Bench, name: &str) -> f64 {
        let mut value = f64::NAN;
        bench.control.observe(&bench.tcp, &mut |key, number| {
            if key == name {
                value = number;
            }
        });
        value
    }

    /// Out of slow start with `segments`, base RTT 100 ms.
    fn steady(segments: u64) -> Bench {
        let mut bench = Bench::new(NAME, &[("competitive", ParameterValue::Flag(false))], segments);
        bench.ack(0, ms(100));
        bench.now += ms(60);
        bench.ack(MSS, ms(200));
        assert_eq!(shown(&bench, "standing_rtt_s"), 0.2);
        bench.tcp.cwnd = segments * MSS;
        bench
    }

    #[test]
    fn slow_start_doubles_until_the_target_rate() {
        let mut bench = Bench::new(NAME, &[], 10);
        bench.round(ms(100));
        assert_eq!(bench.segments(), 20.0);
        // dq 10 ms, standing 110 ms once the samples of 100 ms are older than srtt / 2: the target is
        // 2 * 110 / 10 = 22 segments. 20, 21 and 22 are not above it.
        bench.now += ms(60);
        for _ in 0..3 {
            bench.ack(MSS, ms(110));
        }
        assert_eq!(bench.segments(), 23.0);
        let before = bench.segments();
        bench.ack(MSS, ms(110));
        assert!(bench.segments() < before, "above the target it falls");
    }

    #[test]
    fn a_round_trip_changes_cwnd_by_v_over_delta() {
        // Standing 200 ms, dq 100 ms: target 2 * 200 / 100 = 4 segments. 20 are more: 20 segments
        // acknowledged at once take 1 / delta = 2.
        let mut bench = steady(20);
        bench.ack(20 * MSS, ms(200));
        assert_eq!(bench.segments(), 18.0);
        // Below: 3 segments grow by 2 per window.
        bench.tcp.cwnd = 3 * MSS;
        bench.ack(3 * MSS, ms(200));
        assert_eq!(bench.segments(), 5.0);
        bench.tcp.cwnd = 3 * MSS;
        bench.tcp.cwnd_limited = false;
        bench.ack(3 * MSS, ms(200));
        assert_eq!(bench.segments(), 3.0, "a window that is not used does not grow");
    }

    #[test]
    fn velocity_doubles_after_three_round_trips_and_ends_with_the_direction() {
        let mut bench = steady(200);
        let mut velocities = Vec::new();
        for _ in 0..6 {
            bench.now += ms(100);
            bench.ack(20 * MSS, ms(200));
            velocities.push(shown(&bench, "velocity"));
        }
        // The first look after the turn at the end of slow start; same = 1, 2, 3: doubled from then on.
        assert_eq!(velocities, [1.0, 1.0, 2.0, 4.0, 8.0, 16.0]);
        // Below the target v is 1 with the first ACK.
        bench.tcp.cwnd = 3 * MSS;
        bench.ack(MSS, ms(200));
        assert_eq!(shown(&bench, "velocity"), 1.0);
        // And v / delta is no more than cwnd: 20 segments, v at most 10.
        let mut bench = steady(1000);
        for _ in 0..8 {
            bench.now += ms(100);
            bench.ack(0, ms(200));
            bench.ack(MSS, ms(200));
        }
        bench.tcp.cwnd = 20 * MSS;
        bench.ack(MSS, ms(200));
        assert_eq!(shown(&bench, "velocity"), 10.0);
    }

    /// srtt is 100 ms. The queue is 100 ms from 60 ms on, so at 660 ms no RTT of the base is within 5 RTTs.
    #[test]
    fn a_queue_that_does_not_empty_switches_to_competition() {
        let mut bench = steady(20);
        let mut competing = Bench::new(NAME, &[("competitive", ParameterValue::Flag(true))], 20);
        for bench in [&mut bench, &mut competing] {
            bench.ack(0, ms(100));
            bench.ack(MSS, ms(300));
            for _ in 0..10 {
                bench.now += ms(100);
                bench.ack(MSS, ms(200));
            }
        }
        assert_eq!(shown(&bench, "delta"), 0.5);
        let delta = shown(&competing, "delta");
        assert!(delta < 0.5, "{delta}");
        // One more each RTT: 1 / delta.
        competing.now += ms(100);
        competing.ack(MSS, ms(200));
        assert!((1.0 / shown(&competing, "delta") - 1.0 / delta - 1.0).abs() < 1e-9);
        // Half of it after a loss.
        let before = 1.0 / shown(&competing, "delta");
        competing.control.ssthresh(competing.now, &competing.tcp);
        competing.now += ms(100);
        competing.ack(MSS, ms(200));
        assert_eq!(1.0 / shown(&competing, "delta"), (before / 2.0).max(2.0));
        // An empty queue ends it.
        competing.now += ms(100);
        competing.ack(MSS, ms(100));
        assert_eq!(shown(&competing, "delta"), 0.5);
    }

    #[test]
    fn a_loss_leaves_the_window_and_a_timeout_two_segments() {
        let mut bench = steady(20);
        bench.control.ssthresh(bench.now, &bench.tcp);
        assert_eq!(bench.tcp.cwnd, 20 * MSS);
        (bench.tcp.prior_cwnd, bench.tcp.prior_ssthresh) = (bench.tcp.cwnd, bench.tcp.ssthresh);
        bench.control.cwnd_event(bench.now, &mut bench.tcp, CaEvent::Loss);
        assert_eq!(bench.tcp.cwnd, 2 * MSS);
        assert_eq!(bench.control.undo_cwnd(bench.now, &bench.tcp), 20 * MSS);
    }

    #[test]
    fn paces_at_twice_the_rate_of_the_window() {
        // 20 segments of 8000 bits in 200 ms, twice: 1.6 Mbit/s.
        let mut bench = steady(20);
        bench.tcp.cwnd = 20 * MSS;
        bench.ack(0, ms(200));
        assert_eq!(bench.tcp.pacing_rate, Some(Rate::from_bits_per_second(1_600_000)));
    }

    #[test]
    fn conforms() {
        crate::conformance::check_congestion_control(|| make(NAME, &Parameters::new()).unwrap()).unwrap();
    }
}
