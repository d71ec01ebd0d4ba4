//! TCP Westwood+: Reno's growth; after a loss event the window is what the path carries, by an estimate of
//! the bandwidth from the ACKs.
//!
//! ```text
//! loss event (duplicate ACKs or timeout):  ssthresh = EBW * RTTmin, at least 2 segments
//! ```
//!
//! Two filters estimate the bandwidth EBW from the bytes that ACKs report:
//!
//! ```text
//! linux:   b_k = bytes / window, the window: max(RTT, 50 ms);   n = 7/8 n + 1/8 b_k,   EBW = 7/8 EBW + 1/8 n
//! tustin:  b_k = bytes / RTT, once per RTT;                     EBW = 0.9 EBW + 0.1 (b_k + b_(k-1)) / 2
//! ```
//!
//! Choices where the sources differ:
//! - Linux halves the window during fast recovery and sets EBW * RTTmin at its end; the paper, and this, at
//!   its start.
//! - When EBW * RTTmin exceeds cwnd, a loss event leaves cwnd as it is and slow start goes on to ssthresh
//!   (Mascolo et al., section 3.2).
//! - One paper gives max(cwnd / 2, EBW * RTTmin) (Zhou, Al Ali and Chowdhury, section 2.2): the parameter
//!   `at_least_half`.
//! - ns-3 takes its sample by a timer; here it is taken at the first ACK or loss event after that time, with
//!   the same value.

use super::growth::{self, Additive};
use super::{AckSample, CaEvent, CongestionControl, ControlInfo, ParameterSpec, Parameters, TcpState};
use crate::{Preset, PresetValue, Recovery};
use cogtcp_units::{Duration, Time};

const NAME: &str = "westwood";

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: NAME,
    summary: "Reno's growth; after a loss event the window is the estimated bandwidth times the least RTT",
    reference: "Westwood+: Grieco and Mascolo, ACM CCR 34(2), 2004; filters of Linux and ns-3",
    parameters: &[FILTER, FILTER_WINDOW, TUSTIN_GAIN, RESET_RTT_MIN, AT_LEAST_HALF, growth::ABC_LIMIT],
    presets: &[
        Preset::new("westwood", NAME, Recovery::Sack)
            .described("Westwood+ with Linux's bandwidth filter, SACK recovery"),
        Preset::new("westwood-tustin", NAME, Recovery::NewReno)
            .described("Westwood+ as ns-3 had it: the Tustin filter on one sample per RTT, NewReno recovery")
            .with(&[("filter", PresetValue::Word("tustin")), ("reset_rtt_min", PresetValue::Flag(false))]),
    ],
    build: |parameters| Box::new(Westwood::new(parameters)),
};

pub(super) const FILTER: ParameterSpec = ParameterSpec::choice(
    "filter",
    "bandwidth filter: Linux's two cascaded 7/8 filters, or the Tustin filter of the paper and ns-3",
    "linux",
    &["linux", "tustin"],
);

pub(super) const FILTER_WINDOW: ParameterSpec = ParameterSpec::number(
    "filter_window",
    "Linux's filter: least length of a sample (the RTT if longer)",
    "s",
    [0.05, 0.0, 60.0],
);

pub(super) const TUSTIN_GAIN: ParameterSpec =
    ParameterSpec::number("tustin_gain", "Tustin filter: weight of the old estimate", "", [0.9, 0.0, 1.0]);

pub(super) const RESET_RTT_MIN: ParameterSpec = ParameterSpec::flag(
    "reset_rtt_min",
    "measure RTTmin again after a timeout, as Linux; false: the least of the connection",
    true,
);

pub(super) const AT_LEAST_HALF: ParameterSpec =
    ParameterSpec::flag("at_least_half", "ssthresh is no less than half of cwnd", false);

/// The state of one connection.
#[derive(Clone, Debug)]
struct Westwood {
    bandwidth: BandwidthEstimator,
    abc_limit: f64,
    reno: Additive,
}

impl Westwood {
    fn new(parameters: &Parameters) -> Self {
        Self {
            bandwidth: BandwidthEstimator::new(parameters),
            abc_limit: parameters.number("abc_limit"),
            reno: Additive::reno(),
        }
    }
}

impl CongestionControl for Westwood {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn init(&mut self, now: Time, _tcp: &mut TcpState) {
        self.bandwidth.start(now);
    }

    fn ssthresh(&mut self, now: Time, tcp: &TcpState) -> u64 {
        self.reno.reset();
        self.bandwidth.ssthresh(now, tcp)
    }

    fn pkts_acked(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        self.bandwidth.on_ack(now, tcp, ack);
    }

    fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        self.reno.grow_from_start(tcp, ack.acked, self.abc_limit);
    }

    fn cwnd_event(&mut self, _now: Time, _tcp: &mut TcpState, event: CaEvent) {
        if event == CaEvent::Loss {
            self.bandwidth.on_timeout();
        }
    }

    fn observe(&self, _tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        self.bandwidth.observe(show);
    }
}

/// Bandwidth and least RTT, and the window that follows from them.
#[derive(Clone, Debug)]
pub(super) struct BandwidthEstimator {
    filter: Filter,
    count: AckedCount,
    /// Bytes acknowledged in the sample in progress.
    bytes: u64,
    /// The latest RTT; Linux's 20 s before the first.
    rtt: Duration,
    rtt_min: Duration,
    reset_rtt_min: bool,
    reset_pending: bool,
    at_least_half: bool,
}

#[derive(Clone, Debug)]
enum Filter {
    Linux {
        window: Duration,
        start: Time,
        /// Bytes per second after the first and after the second stage.
        first: f64,
        second: f64,
    },
    Tustin {
        gain: f64,
        /// When the sample in progress ends, and its length.
        until: Option<(Time, Duration)>,
        last_sample: f64,
        estimate: f64,
    },
}

impl BandwidthEstimator {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            filter: match parameters.text("filter") {
                "tustin" => Filter::Tustin {
                    gain: parameters.number("tustin_gain"),
                    until: None,
                    last_sample: 0.0,
                    estimate: 0.0,
                },
                _ => Filter::Linux {
                    window: Duration::from_secs_f64(parameters.number("filter_window")),
                    start: Time::ZERO,
                    first: 0.0,
                    second: 0.0,
                },
            },
            count: AckedCount::default(),
            bytes: 0,
            rtt: Duration::from_secs(20),
            rtt_min: Duration::MAX,
            reset_rtt_min: parameters.flag("reset_rtt_min"),
            reset_pending: false,
            at_least_half: parameters.flag("at_least_half"),
        }
    }

    pub(super) fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        let (Filter::Linux { second: rate, .. } | Filter::Tustin { estimate: rate, .. }) = self.filter;
        show("bandwidth_bps", 8.0 * rate);
        show("rtt_min_s", super::seconds(self.rtt_min));
    }

    /// The connection is established.
    pub(super) fn start(&mut self, now: Time) {
        if let Filter::Linux { start, .. } = &mut self.filter {
            *start = now;
        }
    }

    /// Every ACK.
    pub(super) fn on_ack(&mut self, now: Time, tcp: &TcpState, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            let reset = std::mem::take(&mut self.reset_pending);
            self.rtt_min = if reset { rtt } else { self.rtt_min.min(rtt) };
        }
        // This ACK belongs to the sample that begins now, if one ends.
        self.close_sample(now);
        self.bytes += self.count.bytes(ack, tcp.mss);
        if let Filter::Tustin { until: until @ None, .. } = &mut self.filter
            && self.rtt_min != Duration::MAX
            && !self.rtt.is_zero()
        {
            *until = Some((now + self.rtt, self.rtt));
        }
    }

    /// A timeout: the path may be another one.
    pub(super) fn on_timeout(&mut self) {
        self.reset_pending = self.reset_rtt_min;
    }

    /// EBW * RTTmin in bytes, at least two segments.
    pub(super) fn ssthresh(&mut self, now: Time, tcp: &TcpState) -> u64 {
        self.close_sample(now);
        let rate = match self.filter {
            Filter::Linux { second, .. } => second,
            Filter::Tustin { estimate, .. } => estimate,
        };
        let carried = if self.rtt_min == Duration::MAX { 0.0 } else { rate * self.rtt_min.as_secs_f64() };
        let least = if self.at_least_half { tcp.cwnd / 2 } else { 0 };
        (carried as u64).max(least).max(2 * tcp.mss)
    }

    fn close_sample(&mut self, now: Time) {
        match &mut self.filter {
            Filter::Linux { window, start, first, second } => {
                let length = now.saturating_since(*start);
                if length <= self.rtt.max(*window) {
                    return;
                }
                let sample = self.bytes as f64 / length.as_secs_f64();
                if *first == 0.0 && *second == 0.0 {
                    (*first, *second) = (sample, sample);
                } else {
                    *first = (7.0 * *first + sample) / 8.0;
                    *second = (7.0 * *second + *first) / 8.0;
                }
                *start = now;
            }
            Filter::Tustin { gain, until, last_sample, estimate } => {
                let Some((end, length)) = *until else { return };
                if now < end {
                    return;
                }
                let sample = self.bytes as f64 / length.as_secs_f64();
                *estimate = *gain * *estimate + (1.0 - *gain) * (sample + *last_sample) / 2.0;
                *last_sample = sample;
                *until = None;
            }
        }
        self.bytes = 0;
    }
}

/// Bytes that an ACK reports as delivered (the paper's procedure AckedCount): a duplicate ACK stands for a
/// segment, which the cumulative ACK that follows must not count again.
#[derive(Clone, Copy, Debug, Default)]
struct AckedCount {
    /// Bytes that duplicate ACKs have reported.
    accounted: u64,
}

impl AckedCount {
    fn bytes(&mut self, ack: &AckSample, mss: u64) -> u64 {
        if ack.acked == 0 {
            let bytes = if ack.duplicate { mss } else { 0 };
            self.accounted += bytes;
            return bytes;
        }
        if ack.acked <= mss {
            return ack.acked;
        }
        if self.accounted >= ack.acked {
            self.accounted -= ack.acked;
            return mss;
        }
        ack.acked - std::mem::take(&mut self.accounted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{Bench, MSS, ack, tcp};
    use crate::congestion::{ParameterValue, make};

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn acked_count_does_not_count_duplicates_twice() {
        let mut count = AckedCount::default();
        let duplicate = AckSample { duplicate: true, ..AckSample::default() };
        assert_eq!(count.bytes(&duplicate, MSS), MSS);
        assert_eq!(count.bytes(&duplicate, MSS), MSS);
        // The hole is filled: 4 segments acknowledged, 2 of them counted before.
        assert_eq!(count.bytes(&ack(4 * MSS, ms(1)), MSS), 2 * MSS);
        assert_eq!(count.bytes(&ack(2 * MSS, ms(1)), MSS), 2 * MSS);
        for _ in 0..5 {
            count.bytes(&duplicate, MSS);
        }
        // Partial ACK of 2 segments when 5 were counted: one segment, 3 stay accounted for.
        assert_eq!(count.bytes(&ack(2 * MSS, ms(1)), MSS), MSS);
        assert_eq!(count.bytes(&ack(4 * MSS, ms(1)), MSS), MSS);
        assert_eq!(count.bytes(&AckSample::default(), MSS), 0, "a window update delivers nothing");
    }

    #[test]
    fn linux_filter_by_hand() {
        // Windows of 100 ms with 10 segments each: the first sample initialises. The fifth and later ones
        // have 20.
        let mut bench = Bench::new("westwood", &[], 10);
        let mut send = |segments: u64| {
            for _ in 0..segments {
                bench.now += ms(100) / segments;
                bench.ack(MSS, ms(80));
            }
            bench.control.ssthresh(bench.now, &bench.tcp)
        };
        for _ in 0..4 {
            send(10);
        }
        // 10 segments in 90..110 ms, whichever ACK closes a window: about 100 kB/s * 80 ms = 8000 bytes.
        let steady = send(10);
        assert!((7000..=9000).contains(&steady), "{steady}");
        let faster = send(20);
        assert!(faster > steady && faster < 2 * steady, "{faster}");

        // By hand, one ACK per 200 ms: 500 kB/s, 500 kB/s, 1 MB/s. first = 500 + 500/8 = 562.5 kB/s, second =
        // 500 + 62.5/8 = 507.8125 kB/s; times RTTmin, 0.15 s.
        let mut estimator =
            BandwidthEstimator::new(&Parameters::new().resolve("westwood", INFO.parameters).unwrap());
        let state = tcp(10);
        estimator.start(Time::ZERO);
        let mut now = Time::ZERO;
        for bytes in [100_000, 100_000, 200_000, 1000] {
            now += ms(200);
            estimator.on_ack(now, &state, &ack(bytes, ms(150)));
        }
        assert_eq!(estimator.ssthresh(now, &state), 76_171);
    }

    #[test]
    fn tustin_filter_by_hand() {
        // RTT 100 ms, one ACK of 10 kB every 100 ms: the first sample holds the first ACK, then one each: 100
        // kB/s. EBW: 0.1 * (100 + 0)/2 = 5; 4.5 + 10 = 14.5; 13.05 + 10 = 23.05 kB/s.
        let parameters = {
            let mut table = Parameters::new();
            table.set("filter", ParameterValue::Text("tustin".into()));
            table.resolve("westwood", INFO.parameters).unwrap()
        };
        let mut estimator = BandwidthEstimator::new(&parameters);
        let state = tcp(10);
        let mut now = Time::ZERO;
        for expected in [0.0, 5_000.0, 14_500.0, 23_050.0] {
            now += ms(100);
            estimator.on_ack(now, &state, &ack(10_000, ms(100)));
            let Filter::Tustin { estimate, .. } = estimator.filter else { unreachable!() };
            assert!((estimate - expected).abs() < 1e-6, "{estimate} {expected}");
        }
        // The sample in progress counts when it is over, before ssthresh is told: (0.9 * 23050 + 10000) B/s *
        // 0.1 s.
        let mut window = |now| estimator.ssthresh(now, &tcp(0));
        assert!(window(now).abs_diff(2305) <= 1);
        assert!(window(now + ms(150)).abs_diff(3074) <= 1);
    }

    #[test]
    fn an_outage_dilutes_linux_samples() {
        // 100 kB/s, then nothing for 500 ms and a timeout. Linux: the open sample, at most 110 ms long,
        // becomes one of 500 to 610 ms: 0 to 11/61 of the rate, which moves `first` by 50/61/8 to 1/8 and
        // `second` by an eighth of that.
        let mut bench = Bench::new("westwood", &[], 10);
        for _ in 0..1000 {
            bench.now += ms(10);
            bench.ack(MSS, ms(100));
        }
        let before = bench.control.ssthresh(bench.now, &bench.tcp) as f64;
        assert!((9_900.0..=10_000.0).contains(&before), "{before}");
        bench.now += ms(500);
        bench.timeout();
        let left = bench.tcp.ssthresh as f64 / before;
        assert!((1.0 - 1.001 / 64.0..=1.0 - 0.81 / 64.0).contains(&left), "{left}");
        assert_eq!(bench.tcp.cwnd, MSS);
    }

    #[test]
    fn an_outage_cuts_one_tustin_sample_at_most() {
        let mut bench = Bench::new("westwood", &[("filter", ParameterValue::Text("tustin".into()))], 10);
        for _ in 0..1000 {
            bench.now += ms(10);
            bench.ack(MSS, ms(100));
        }
        let before = bench.control.ssthresh(bench.now, &bench.tcp) as f64;
        bench.now += ms(500);
        bench.timeout();
        // The open sample ends after its RTT with what came: 0.1 / 2 of the estimate at stake.
        let left = bench.tcp.ssthresh as f64 / before;
        assert!((0.95..=1.0).contains(&left), "{left}");
    }

    #[test]
    fn rtt_min_is_measured_anew_after_a_timeout() {
        for (reset, factor) in [(true, 3.0), (false, 1.0)] {
            let mut bench = Bench::new("westwood", &[("reset_rtt_min", ParameterValue::Flag(reset))], 10);
            let run = |bench: &mut Bench, rtt: u64| {
                for _ in 0..2000 {
                    bench.now += ms(10);
                    bench.ack(MSS, ms(rtt));
                }
                bench.control.ssthresh(bench.now, &bench.tcp) as f64
            };
            let near = run(&mut bench, 100);
            bench.timeout();
            let far = run(&mut bench, 300);
            assert!((far / near - factor).abs() < 0.1, "{near} {far}");
        }
    }

    #[test]
    fn a_loss_never_raises_the_window() {
        let mut bench = Bench::new("westwood", &[], 4);
        for _ in 0..200 {
            bench.now += ms(1);
            bench.ack(MSS, ms(100));
        }
        // 1000 segments/s * 100 ms = 100 segments, with a window of 20.
        bench.tcp.cwnd = 20 * MSS;
        bench.loss();
        assert!(bench.tcp.ssthresh > 50 * MSS);
        assert_eq!(bench.tcp.cwnd, 20 * MSS);
        assert!(bench.tcp.in_slow_start());
    }

    #[test]
    fn at_least_half_is_a_floor() {
        let mut table = Parameters::new();
        table.set("at_least_half", ParameterValue::Flag(true));
        let mut control = make("westwood", &table).unwrap();
        assert_eq!(control.ssthresh(Time::ZERO, &tcp(40)), 20 * MSS);
    }

    /// A sample is at least `filter_window` long: after 400 ms at 100 kB/s there are three of 100 ms and none
    /// of a second. What is shown is in bit/s.
    #[test]
    fn the_least_length_of_a_sample_is_a_parameter() {
        for (window, expected) in [(0.05, 800_000.0), (1.0, 0.0)] {
            let mut bench = Bench::new("westwood", &[("filter_window", ParameterValue::Number(window))], 10);
            bench.tcp.ssthresh = 10 * MSS;
            bench.tcp.cwnd_limited = false;
            for _ in 0..40 {
                bench.now += ms(10);
                let sample = ack(MSS, ms(100));
                bench.control.pkts_acked(bench.now, &mut bench.tcp, &sample);
            }
            let mut shown = None;
            bench.control.observe(&bench.tcp, &mut |name, value| {
                if name == "bandwidth_bps" {
                    shown = Some(value);
                }
            });
            let shown = shown.expect("it shows its estimate");
            assert!((shown - expected).abs() < 0.1 * expected.max(1.0), "{window}: {shown}");
        }
    }
}
