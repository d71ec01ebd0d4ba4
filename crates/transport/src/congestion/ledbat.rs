//! LEDBAT++ and LEDBAT: transports for background data, which yield as soon as the queue delays packets.
//!
//! With `base` the least RTT of the last ten minutes, `delay` the least of the last four RTT samples less
//! `base`, and W the window in segments, LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus) has
//!
//! ```text
//! GAIN = 1 / min(16, ceil(2 TARGET / base))                                          section 4.2
//! slow start:            cwnd += GAIN * acked; the first ends at delay > 3/4 TARGET  section 4.1
//! delay <= TARGET:       W += GAIN per round trip                                    section 4.3
//! delay > TARGET:        W += max(GAIN - Constant W (delay / TARGET - 1), -W / 2)    section 4.3
//! slowdown:              ssthresh = cwnd, cwnd = 2 segments for 2 RTT, slow start    section 4.4
//! ```
//!
//! The first slowdown begins 2 RTT after the first slow start. Its duration ends when cwnd reaches ssthresh
//! again; the next slowdown begins nine durations later.
//!
//! LEDBAT (RFC 6817 section 2.4.2; `rules = "rfc6817"`) has no slow start and no slowdown:
//!
//! ```text
//! cwnd += GAIN (TARGET - delay) / TARGET * acked * MSS / cwnd, at most flight size + ALLOWED_INCREASE
//! ```
//!
//! Choices where the texts leave one: the RTT of "2 RTT" is SRTT, and the slow start of a slowdown has the
//! gain of section 4.1, both as in XNU. Departure from RFC 6817: the delay is the round trip's, because the
//! peer sends no one-way delays; LEDBAT++ measures the round trip itself.

use super::{
    AckSample, CaEvent, CaState, CongestionControl, ControlInfo, ParameterSpec, Parameters, TcpState,
};
use crate::{Preset, PresetValue, Recovery};
use cogtcp_units::{Duration, Time};

const NAME: &str = "ledbat";
/// Least window in segments, and the initial one (RFC 6817: MIN_CWND, INIT_CWND).
const MIN_CWND: u64 = 2;
/// Segments that cwnd may be over the flight size (RFC 6817: ALLOWED_INCREASE).
const ALLOWED_INCREASE: u64 = 1;
/// Minutes over which the base delay is the least (RFC 6817: BASE_HISTORY).
const BASE_HISTORY: usize = 10;
/// RTT samples whose least is the current delay (RFC 6817: CURRENT_FILTER).
const CURRENT_FILTER: usize = 4;
/// RTTs from the first slow start to the first slowdown, and RTTs that a slowdown keeps cwnd low.
const SLOWDOWN_RTTS: u64 = 2;
/// Durations of a slowdown from its end to the next.
const SLOWDOWN_PERIOD: u64 = 9;

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: NAME,
    summary: "background data: yields once the queue delays packets by a target (LEDBAT++, or LEDBAT)",
    reference: "draft-irtf-iccrg-ledbat-plus-plus; RFC 6817",
    parameters: &[
        ParameterSpec::number("target", "s", [0.06, 0.001, 10.0]).described(
            "TARGET: delay in queues above which cwnd shrinks (LEDBAT++: 0.06; RFC 6817: at most 0.1)",
        ),
        ParameterSpec::choice("rules", "plus-plus", &["plus-plus", "rfc6817"])
            .described("LEDBAT++'s rules, or LEDBAT's: proportional growth and no slowdowns"),
        ParameterSpec::number("gain_limit", "", [16.0, 1.0, 1000.0])
            .described("LEDBAT++: greatest divisor of the gain, Reno's growth being 1 (section 4.2)"),
        ParameterSpec::number("decrease", "", [1.0, 0.0, 10.0])
            .described("LEDBAT++: Constant of the multiplicative decrease (section 4.3)"),
        ParameterSpec::flag("slowdowns", true).described(
            "LEDBAT++: cwnd falls to 2 segments now and then, so that the least RTT shows (section 4.4)",
        ),
    ],
    presets: &[
        Preset::new("ledbat-plus-plus", NAME, Recovery::Sack)
            .described("LEDBAT++ for background data: target 60 ms, SACK recovery"),
        Preset::new("ledbat", NAME, Recovery::Sack)
            .described("LEDBAT for background data (RFC 6817): target 100 ms, SACK recovery")
            .with(&[("rules", PresetValue::Word("rfc6817")), ("target", PresetValue::Number(0.1))]),
    ],
    build: |parameters| Box::new(Ledbat::new(parameters)),
};

/// Where a connection stands between its slowdowns.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// Before the first slowdown; slow start ends at 3/4 of the target too.
    First,
    /// A slowdown has begun and cwnd stays low until then.
    Slowed { began: Time, until: Time },
    /// The slowdown's slow start.
    Ramp { began: Time },
    /// Until the next slowdown.
    Steady,
}

/// The state of one connection.
#[derive(Clone, Debug)]
struct Ledbat {
    plus_plus: bool,
    target: f64,
    gain_limit: f64,
    decrease: f64,
    slowdowns: bool,
    phase: Phase,
    /// When the next slowdown begins; `None`: none is planned.
    next_slowdown: Option<Time>,
    delays: Delays,
    /// Part of a byte by which cwnd has changed.
    fraction: f64,
}

impl Ledbat {
    fn new(parameters: &Parameters) -> Self {
        let plus_plus = parameters.text("rules") == "plus-plus";
        Self {
            plus_plus,
            target: parameters.number("target"),
            gain_limit: parameters.number("gain_limit"),
            decrease: parameters.number("decrease"),
            slowdowns: plus_plus && parameters.flag("slowdowns"),
            phase: Phase::First,
            next_slowdown: None,
            delays: Delays::default(),
            fraction: 0.0,
        }
    }

    /// Section 4.2. Before the first RTT sample the least gain.
    fn gain(&self) -> f64 {
        let base = self.delays.base();
        if base == Duration::MAX {
            return 1.0 / self.gain_limit;
        }
        let divisor = (2.0 * self.target / base.as_secs_f64().max(1e-9)).ceil();
        1.0 / divisor.clamp(1.0, self.gain_limit)
    }

    /// Delay in queues over the target.
    fn delay_ratio(&self) -> f64 {
        self.delays.queueing().as_secs_f64() / self.target
    }

    /// Changes cwnd by `bytes`, at least to two segments.
    fn change(&mut self, tcp: &mut TcpState, bytes: f64) {
        let exact = tcp.cwnd as f64 + self.fraction + bytes;
        let cwnd = (exact as u64).max(MIN_CWND * tcp.mss);
        self.fraction = (exact - cwnd as f64).clamp(0.0, 1.0);
        tcp.cwnd = cwnd;
    }

    /// Section 4.4: slowdowns begin and end by time. Returns whether cwnd is kept low now.
    fn slow_down(&mut self, now: Time, tcp: &mut TcpState) -> bool {
        if let Phase::Slowed { began, until } = self.phase {
            if now < until {
                return true;
            }
            self.phase = Phase::Ramp { began };
        }
        let due = self.next_slowdown.is_some_and(|time| now >= time);
        if !(due && tcp.ca_state == CaState::Open) {
            return false;
        }
        self.next_slowdown = None;
        self.phase = Phase::Slowed { began: now, until: now + tcp.srtt * SLOWDOWN_RTTS };
        tcp.ssthresh = tcp.cwnd.max(MIN_CWND * tcp.mss);
        tcp.cwnd = tcp.cwnd.min(MIN_CWND * tcp.mss);
        self.fraction = 0.0;
        true
    }

    /// The slow start of the connection or of a slowdown is over: the next slowdown is planned.
    fn end_slow_start(&mut self, now: Time, tcp: &TcpState) {
        let pause = match self.phase {
            Phase::First => tcp.srtt * SLOWDOWN_RTTS,
            Phase::Ramp { began } => now.saturating_since(began) * SLOWDOWN_PERIOD,
            Phase::Slowed { .. } | Phase::Steady => return,
        };
        self.phase = Phase::Steady;
        self.next_slowdown = self.slowdowns.then_some(now + pause);
    }

    fn grow_plus_plus(&mut self, now: Time, tcp: &mut TcpState, acked: u64) {
        if self.slow_down(now, tcp) {
            return;
        }
        if tcp.in_slow_start() {
            if self.phase == Phase::First && self.delay_ratio() > 0.75 {
                tcp.ssthresh = tcp.cwnd;
            } else {
                self.change(tcp, self.gain() * acked as f64);
                if tcp.in_slow_start() {
                    return;
                }
            }
            self.end_slow_start(now, tcp);
            return;
        }
        // A loss may have ended the slow start.
        self.end_slow_start(now, tcp);
        let (gain, ratio) = (self.gain(), self.delay_ratio());
        let window = tcp.cwnd as f64 / tcp.mss as f64;
        let per_round = if ratio > 1.0 {
            (gain - self.decrease * window * (ratio - 1.0)).max(-window / 2.0)
        } else {
            gain
        };
        let share = (acked as f64 / tcp.cwnd as f64).min(1.0);
        self.change(tcp, per_round * share * tcp.mss as f64);
        // A window that shrinks does not return to slow start.
        tcp.ssthresh = tcp.ssthresh.min(tcp.cwnd);
    }

    fn grow_ledbat(&mut self, tcp: &mut TcpState, ack: &AckSample) {
        let off_target = 1.0 - self.delay_ratio();
        let before = tcp.cwnd;
        let share = ack.acked as f64 / tcp.cwnd as f64;
        self.change(tcp, off_target * share * tcp.mss as f64);
        let allowed = ack.prior_in_flight + ALLOWED_INCREASE * tcp.mss;
        if tcp.cwnd > before {
            tcp.cwnd = tcp.cwnd.min(allowed.max(before));
        }
    }
}

impl CongestionControl for Ledbat {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn init(&mut self, _now: Time, tcp: &mut TcpState) {
        tcp.cwnd = tcp.cwnd.min(MIN_CWND * tcp.mss);
    }

    /// RFC 6817: half of cwnd, at least two segments.
    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.fraction = 0.0;
        (tcp.cwnd / 2).max(MIN_CWND * tcp.mss)
    }

    fn pkts_acked(&mut self, now: Time, _tcp: &mut TcpState, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            self.delays.take(now, rtt);
        }
    }

    fn cong_avoid(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        if self.plus_plus {
            self.grow_plus_plus(now, tcp, ack.acked);
        } else {
            self.grow_ledbat(tcp, ack);
        }
    }

    fn cwnd_event(&mut self, _now: Time, _tcp: &mut TcpState, event: CaEvent) {
        if matches!(event, CaEvent::Loss | CaEvent::CwndRestart) {
            // Slow start follows, and no slowdown before its end.
            self.phase = Phase::First;
            self.next_slowdown = None;
        }
    }

    fn observe(&self, _tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        show("base_rtt_s", super::seconds(self.delays.base()));
        show("queueing_delay_s", self.delays.queueing().as_secs_f64());
    }
}

/// The least RTT of each of the last minutes, and the last RTT samples.
#[derive(Clone, Debug)]
struct Delays {
    /// The present minute first.
    minutes: [Duration; BASE_HISTORY],
    minute: u64,
    /// The latest first.
    current: [Duration; CURRENT_FILTER],
}

impl Default for Delays {
    fn default() -> Self {
        Self { minutes: [Duration::MAX; BASE_HISTORY], minute: 0, current: [Duration::MAX; CURRENT_FILTER] }
    }
}

impl Delays {
    /// `update_base_delay` and `update_current_delay` of RFC 6817: a minute without a sample takes no place.
    fn take(&mut self, now: Time, rtt: Duration) {
        let minute = now.as_nanos() / 60_000_000_000;
        if minute != self.minute {
            self.minute = minute;
            self.minutes.rotate_right(1);
            self.minutes[0] = rtt;
        }
        self.minutes[0] = self.minutes[0].min(rtt);
        self.current.rotate_right(1);
        self.current[0] = rtt;
    }

    /// [`Duration::MAX`] before the first sample.
    fn base(&self) -> Duration {
        self.minutes.into_iter().min().unwrap_or(Duration::MAX)
    }

    fn queueing(&self) -> Duration {
        let current = self.current.into_iter().min().unwrap_or(Duration::MAX);
        current.saturating_sub(self.base())
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

    /// In congestion avoidance with `segments`, base RTT 100 ms, without slowdowns.
    fn steady(parameters: &[(&str, ParameterValue)], segments: u64) -> Bench {
        let mut parameters = parameters.to_vec();
        parameters.push(("slowdowns", ParameterValue::Flag(false)));
        let mut bench = Bench::new(NAME, &parameters, segments);
        bench.tcp.cwnd = segments * MSS;
        bench.tcp.ssthresh = 2 * MSS;
        for _ in 0..CURRENT_FILTER {
            bench.ack(0, ms(100));
        }
        bench
    }

    /// Samples of `rtt` alone in the filter.
    fn settle(bench: &mut Bench, rtt: Duration) {
        (0..CURRENT_FILTER).for_each(|_| bench.ack(0, rtt));
    }

    #[test]
    fn the_gain_is_renos_from_twice_the_target_on() {
        // ceil(120 / base): 120 ms: 1; 100 ms: 2; 40 ms: 3; 7 ms: 18, at most 16.
        for (base, divisor) in [(120, 1.0), (100, 2.0), (40, 3.0), (7, 16.0)] {
            let mut control = Ledbat::new(&Parameters::new().resolve(NAME, INFO.parameters).unwrap());
            assert_eq!(control.gain(), 1.0 / 16.0, "no sample yet");
            control.delays.take(Time::ZERO, ms(base));
            assert_eq!(control.gain(), 1.0 / divisor, "{base} ms");
        }
    }

    #[test]
    fn slow_start_grows_by_the_gain_from_two_segments() {
        let mut bench = Bench::new(NAME, &[], 10);
        assert_eq!(bench.tcp.cwnd, 2 * MSS);
        // Base 100 ms: gain 1/2, so 1.5 times per round trip.
        bench.tcp.snd_nxt = 2 * MSS;
        bench.round(ms(100));
        assert_eq!(bench.tcp.cwnd, 3 * MSS);
        bench.round(ms(100));
        assert_eq!(bench.tcp.cwnd, 4_500);
    }

    #[test]
    fn the_first_slow_start_ends_above_three_quarters_of_the_target() {
        let mut bench = Bench::new(NAME, &[], 10);
        bench.round(ms(100));
        settle(&mut bench, ms(145));
        assert!(bench.tcp.in_slow_start(), "45 ms are not more than 45 ms");
        settle(&mut bench, ms(146));
        assert!(!bench.tcp.in_slow_start());
    }

    #[test]
    fn increase_is_additive_and_decrease_multiplicative() {
        // 20 segments, gain 1/2. At 60 ms of delay: + 1/2. At 75 ms: 1/2 - 20 (75/60 - 1) = -4.5. At
        // 180 ms: 1/2 - 20 * 2 is more than half: -10.
        for (delay, change) in [(0, 0.5), (60, 0.5), (75, -4.5), (180, -10.0)] {
            let mut bench = steady(&[], 20);
            settle(&mut bench, ms(100 + delay));
            bench.tcp.cwnd = 20 * MSS;
            bench.ack(20 * MSS, ms(100 + delay));
            assert!((bench.segments() - 20.0 - change).abs() < 0.002, "{delay} ms: {}", bench.segments());
        }
    }

    /// Slow start has just ended, so that the first decrease leaves cwnd below the old ssthresh. At 72 ms
    /// each round trip takes a fifth of the window, less the gain; the filter has a sample of the base at
    /// first.
    #[test]
    fn a_window_that_shrinks_stays_in_congestion_avoidance() {
        let mut bench = steady(&[], 40);
        bench.tcp.ssthresh = 40 * MSS;
        settle(&mut bench, ms(172));
        for _ in 0..4 {
            let before = bench.segments();
            bench.ack(bench.tcp.cwnd, ms(172));
            assert!(bench.segments() < 0.85 * before, "{before} {}", bench.segments());
        }
    }

    #[test]
    fn the_window_stays_at_two_segments() {
        let mut bench = steady(&[], 4);
        for _ in 0..50 {
            bench.ack(MSS, ms(1000));
        }
        assert_eq!(bench.tcp.cwnd, 2 * MSS);
    }

    #[test]
    fn rfc6817_is_proportional_and_tied_to_the_flight() {
        // Target 100 ms, 20 segments: at 50 ms + 1/2 segment a round trip, at 150 ms - 1/2.
        let rules =
            [("rules", ParameterValue::Text("rfc6817".into())), ("target", ParameterValue::Number(0.1))];
        for (delay, change) in [(0, 1.0), (50, 0.5), (100, 0.0), (150, -0.5)] {
            let mut bench = steady(&rules, 20);
            settle(&mut bench, ms(100 + delay));
            bench.ack(20 * MSS, ms(100 + delay));
            assert!((bench.segments() - 20.0 - change).abs() < 0.002, "{delay} ms: {}", bench.segments());
        }
        let mut bench = steady(&rules, 20);
        let idle = AckSample { acked: 20 * MSS, prior_in_flight: 3 * MSS, ..AckSample::default() };
        bench.control.cong_avoid(bench.now, &mut bench.tcp, &idle);
        assert_eq!(bench.tcp.cwnd, 20 * MSS, "four segments would do: no growth");
    }

    /// SRTT is 100 ms: slow start ends at 1 s with 10 segments, so the slowdown begins at 1.2 s and keeps two
    /// segments until 1.4 s. The window reaches 10 segments again at t, and the next slowdown is
    /// 9 (t - 1.2 s) after t.
    #[test]
    fn slowdowns_take_a_tenth_of_the_time() {
        let mut bench = Bench::new(NAME, &[], 10);
        (bench.tcp.cwnd, bench.tcp.ssthresh) = (10 * MSS, 10 * MSS);
        // A loss or ssthresh ended the first slow start.
        bench.ack(MSS, ms(100));
        let mut ack_at = |time_ms: u64| {
            bench.now = Time::from_millis(time_ms);
            bench.ack(MSS, ms(100));
            bench.tcp.cwnd
        };
        assert!(ack_at(1199) > 10 * MSS);
        let before = ack_at(1199);
        assert_eq!(ack_at(1200), 2 * MSS);
        assert_eq!(ack_at(1399), 2 * MSS);
        // Gain 1/2: half a segment an ACK from then on.
        assert_eq!(ack_at(1400), 2_500);
        let mut reached = 0;
        for time in (1410..1700).step_by(10) {
            if ack_at(time) >= before {
                reached = time;
                break;
            }
        }
        // 2.5 + 0.5 n >= 10.1: 16 more ACKs.
        assert_eq!(reached, 1560);
        let next = reached + 9 * (reached - 1200);
        assert!(ack_at(next - 1) > before);
        assert_eq!(ack_at(next), 2 * MSS);
    }

    #[test]
    fn the_base_is_that_of_ten_minutes() {
        let mut delays = Delays::default();
        delays.take(Time::from_millis(30_000), ms(50));
        for minute in 1..10 {
            delays.take(Time::from_millis(60_000 * minute), ms(80 + minute));
        }
        assert_eq!((delays.base(), delays.queueing()), (ms(50), ms(36)));
        delays.take(Time::from_millis(600_000), ms(95));
        assert_eq!(delays.base(), ms(81));
    }

    #[test]
    fn a_loss_halves_and_a_timeout_starts_over() {
        let mut bench = steady(&[], 20);
        bench.loss();
        assert_eq!(bench.tcp.cwnd, 10 * MSS);
        bench.timeout();
        assert_eq!((bench.tcp.cwnd, bench.tcp.ssthresh), (MSS, 5 * MSS));
    }

    #[test]
    fn conforms() {
        for rules in ["plus-plus", "rfc6817"] {
            let mut parameters = Parameters::new();
            parameters.set("rules", ParameterValue::Text(rules.into()));
            crate::conformance::check_congestion_control(|| make(NAME, &parameters).unwrap()).unwrap();
        }
    }
}
