//! Vegas as Linux computes it (`rules = "linux-segments"`): whole segments, microseconds.
//!
//! Once per round trip, with `base` the least RTT since the last pause and `rtt` the least of the round, each a
//! microsecond longer than measured:
//!
//! ```text
//! diff = cwnd (rtt - base) / base
//! slow start:            diff > gamma:  cwnd = min(cwnd, cwnd base / rtt + 1), ssthresh = min(ssthresh, cwnd)
//!                        else:          grow
//! congestion avoidance:  diff > beta:   cwnd -= 1, ssthresh = min(ssthresh, cwnd)      diff < alpha:  cwnd += 1
//! then                   ssthresh = max(ssthresh, 3/4 cwnd)
//! ```
//!
//! With two samples or fewer in a round, and outside Open, it is Reno. Slow start and Vegas's steps take no heed of
//! whether cwnd limits the flow; Reno does. Checked against the kernel packet by packet: `cogtcp agree`.

use super::super::{AckSample, CaEvent, CaState, CongestionControl, Parameters, TcpState, growth};
use super::{NAME, Samples};
use crate::micros;
use cogtcp_units::{Duration, Time};

/// The state of one connection.
#[derive(Clone, Debug)]
pub(super) struct LinuxVegas {
    alpha: u64,
    beta: u64,
    gamma: u64,
    /// In whole microseconds.
    samples: Samples,
    reno: growth::LinuxReno,
}

impl LinuxVegas {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let whole = |name| libm::round(parameters.number(name)) as u64;
        Self {
            alpha: whole("alpha"),
            beta: whole("beta"),
            gamma: whole("gamma"),
            samples: Samples::default(),
            reno: growth::LinuxReno::default(),
        }
    }

    /// `tcp_reno_cong_avoid`.
    fn grow_as_reno(&mut self, tcp: &mut TcpState, acked: u64) {
        if tcp.cwnd_limited {
            self.reno.grow(tcp, acked);
        }
    }

    /// By whole segments. Those beyond ssthresh do not count.
    fn slow_start(tcp: &mut TcpState, acked: u64) {
        growth::slow_start_to_ssthresh(tcp, acked / tcp.mss * tcp.mss);
    }

    /// What a round trip decides.
    fn decide(&self, tcp: &mut TcpState, acked: u64) {
        // Microseconds, of which a product with cwnd fits.
        let (rtt, base) = (micros::count(self.samples.rtt), micros::count(self.samples.base));
        let cwnd = tcp.cwnd / tcp.mss;
        let diff = cwnd.saturating_mul(rtt - base) / base;
        if tcp.in_slow_start() {
            if diff > self.gamma {
                tcp.cwnd = cwnd.min(cwnd.saturating_mul(base) / rtt + 1) * tcp.mss;
                tcp.ssthresh = tcp.ssthresh.min(tcp.cwnd);
            } else {
                Self::slow_start(tcp, acked);
            }
        } else if diff > self.beta {
            tcp.cwnd = tcp.cwnd.saturating_sub(tcp.mss);
            tcp.ssthresh = tcp.ssthresh.min(tcp.cwnd);
        } else if diff < self.alpha {
            tcp.cwnd += tcp.mss;
        }
        tcp.cwnd = tcp.cwnd.max(2 * tcp.mss);
        // `tcp_current_ssthresh`.
        let cwnd = tcp.cwnd / tcp.mss;
        tcp.ssthresh = tcp.ssthresh.max((cwnd / 2 + cwnd / 4) * tcp.mss);
    }
}

impl CongestionControl for LinuxVegas {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn looks_at_the_limit(&self) -> bool {
        true
    }

    fn init(&mut self, _now: Time, tcp: &mut TcpState) {
        self.samples.enable(tcp);
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.reno.ssthresh(tcp)
    }

    fn pkts_acked(&mut self, _now: Time, _tcp: &mut TcpState, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            self.samples.take(Duration::from_micros(micros::count(rtt) + 1));
        }
    }

    fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        if !self.samples.on {
            self.grow_as_reno(tcp, ack.acked);
        } else if self.samples.round.over(tcp) {
            if self.samples.are_too_few() {
                self.grow_as_reno(tcp, ack.acked);
            } else {
                self.decide(tcp, ack.acked);
            }
            self.samples.clear_round();
        } else if tcp.in_slow_start() {
            Self::slow_start(tcp, ack.acked);
        }
    }

    fn set_state(&mut self, _now: Time, tcp: &mut TcpState, state: CaState) {
        self.samples.set_state(tcp, state);
    }

    fn cwnd_event(&mut self, _now: Time, tcp: &mut TcpState, event: CaEvent) {
        self.samples.on_event(tcp, event);
    }

    fn observe(&self, _tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        self.samples.observe(show);
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::testing::{Bench, MSS};
    use crate::congestion::{CaEvent, CaState, ParameterValue};
    use cogtcp_units::Duration;

    fn bench(segments: u64) -> Bench {
        let mut bench =
            Bench::new("vegas", &[("rules", ParameterValue::Text("linux-segments".into()))], segments);
        bench.tcp.ssthresh = 2 * MSS;
        bench
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// cwnd 21 and 20 ms over a base of 100 ms: 4.2 segments queued are 4 in whole numbers, not above beta; 24 ms are 5.04.
    #[test]
    fn diff_is_whole_segments() {
        for (rtt, change) in [(120, 0.0), (124, -1.0)] {
            let mut bench = bench(20);
            bench.ack(MSS, ms(100));
            bench.round(ms(rtt));
            assert_eq!(bench.segments(), 21.0, "the base was among the samples");
            bench.round(ms(rtt));
            assert_eq!(bench.segments() - 21.0, change, "{rtt} ms");
        }
    }

    /// Slow start at ssthresh 40 and cwnd 10: doubles without a queue, and is cut to what the path carries and one.
    #[test]
    fn slow_start_ends_at_what_the_path_carries() {
        let mut bench = bench(10);
        bench.tcp.ssthresh = 100 * MSS;
        bench.round(ms(100));
        bench.round(ms(100));
        assert_eq!(bench.segments(), 40.0);
        bench.round(ms(125));
        let before = bench.tcp.cwnd / MSS;
        bench.ack(MSS, ms(125));
        assert_eq!(bench.tcp.cwnd / MSS, before * 100_001 / 125_001 + 1);
        assert_eq!(bench.tcp.ssthresh, bench.tcp.cwnd);
    }

    /// Vegas's step comes also where the application limits the flow; Reno's outside Open does not.
    #[test]
    fn its_steps_take_no_heed_of_the_limit() {
        let mut bench = bench(20);
        assert!(bench.control.looks_at_the_limit());
        bench.tcp.cwnd_limited = false;
        bench.round(ms(100));
        bench.round(ms(100));
        assert_eq!(bench.segments(), 21.0);
        bench.set_state(CaState::Disorder);
        bench.round(ms(100));
        bench.round(ms(100));
        assert_eq!(bench.segments(), 21.0);
        bench.tcp.cwnd_limited = true;
        bench.round(ms(100));
        assert_eq!(bench.segments(), 22.0);
    }

    /// After a pause the base RTT is measured again.
    #[test]
    fn a_pause_forgets_the_base() {
        let mut bench = bench(20);
        bench.ack(MSS, ms(50));
        bench.control.cwnd_event(bench.now, &mut bench.tcp, CaEvent::TxStart);
        bench.round(ms(100));
        bench.round(ms(100));
        assert!(bench.segments() >= 21.0, "no queue over a base of 100 ms: {}", bench.segments());
    }
}
