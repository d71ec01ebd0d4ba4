//! TCP Westwood+: Reno's growth; after a loss event the window is what the path carries, by an estimate of
//! the bandwidth from the ACKs.
//!
//! ```text
//! loss event (duplicate ACKs or timeout):  ssthresh = EBW * RTTmin, at least 2 segments
//! ```
//!
//! Choices where the sources differ:
//! - Linux halves the window during fast recovery and sets EBW * RTTmin at its end; the paper, and this, at
//!   its start. With `rules = "linux"` it is as in Linux (module `linux`).
//! - When EBW * RTTmin exceeds cwnd, a loss event leaves cwnd as it is and slow start goes on to ssthresh
//!   (Mascolo et al., section 3.2).
//! - One paper gives max(cwnd / 2, EBW * RTTmin) (Zhou, Al Ali and Chowdhury, section 2.2): the parameter
//!   `at_least_half`.
//! - ns-3 takes its sample by a timer; here it is taken at the first ACK or loss event after that time, with
//!   the same value.

mod linux;

use super::bandwidth::{self, BandwidthEstimator};
use super::growth::{self, Additive};
use super::{AckSample, CaEvent, CongestionControl, ControlInfo, ParameterSpec, Parameters, TcpState};
use crate::{HostProfile, Preset, PresetValue, Recovery};
use cogtcp_units::Time;

const NAME: &str = "westwood";

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: NAME,
    summary: "Reno's growth; after a loss event the window is the estimated bandwidth times the least RTT",
    reference: "Westwood+: Grieco and Mascolo, ACM CCR 34(2), 2004; filters of Linux and ns-3",
    parameters: &[
        bandwidth::FILTER,
        bandwidth::FILTER_WINDOW,
        bandwidth::TUSTIN_GAIN,
        bandwidth::RESET_RTT_MIN,
        bandwidth::AT_LEAST_HALF,
        growth::ABC_LIMIT,
        ParameterSpec::choice("rules", "paper", &["paper", "linux"]).described(
            "when the estimate sets the window. paper: as recovery begins; linux: as it ends, in whole numbers, by no other \
             parameter",
        ),
    ],
    presets: &[
        Preset::new("westwood", NAME, Recovery::Sack)
            .described("Westwood+ with Linux's bandwidth filter, SACK recovery"),
        Preset::new("linux-westwood", NAME, Recovery::Sack)
            .described("Westwood+ as in today's Linux, on the host of linux-reno")
            .on(HostProfile::Linux)
            .with(&[("rules", PresetValue::Word("linux"))]),
        Preset::new("westwood-tustin", NAME, Recovery::NewReno)
            .described("Westwood+ as ns-3 had it: the Tustin filter on one sample per RTT, NewReno recovery")
            .with(&[("filter", PresetValue::Word("tustin")), ("reset_rtt_min", PresetValue::Flag(false))]),
    ],
    build: |parameters| match parameters.text("rules") {
        "linux" => Box::new(linux::LinuxWestwood::default()),
        _ => Box::new(Westwood::new(parameters)),
    },
};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::bandwidth::{AckedCount, Filter};
    use crate::congestion::testing::{Bench, MSS, ack, tcp};
    use crate::congestion::{ParameterValue, make};
    use cogtcp_units::Duration;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn acked_count_does_not_count_duplicates_twice() {
        let mut count = AckedCount::default();
        assert_eq!(count.bytes(0, true, MSS), MSS);
        assert_eq!(count.bytes(0, true, MSS), MSS);
        // The hole is filled: 4 segments acknowledged, 2 of them counted before.
        assert_eq!(count.bytes(4 * MSS, false, MSS), 2 * MSS);
        assert_eq!(count.bytes(2 * MSS, false, MSS), 2 * MSS);
        for _ in 0..5 {
            count.bytes(0, true, MSS);
        }
        // Partial ACK of 2 segments when 5 were counted: one segment, 3 stay accounted for.
        assert_eq!(count.bytes(2 * MSS, false, MSS), MSS);
        assert_eq!(count.bytes(4 * MSS, false, MSS), MSS);
        assert_eq!(count.bytes(0, false, MSS), 0, "a window update delivers nothing");
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
