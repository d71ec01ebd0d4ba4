//! Slow start with HyStart++ (RFC 9406) as an option: it ends when round-trip times rise, before the queue
//! overflows.
//!
//! HyStart++ rules the first slow start of a connection only (RFC 9406 section 4.3): later ones know an
//! ssthresh.

use super::growth;
use super::{AckSample, ParameterSpec, Parameters, TcpState};
use cogtcp_units::Duration;

/// Bounds of the rise in RTT that ends slow start (RFC 9406 section 4.3: MIN_RTT_THRESH, MAX_RTT_THRESH).
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
/// The rise is the last round's RTT over this (MIN_RTT_DIVISOR).
const MIN_RTT_DIVISOR: u64 = 8;
/// RTT samples that a round must have (N_RTT_SAMPLE).
const N_RTT_SAMPLE: u32 = 8;
/// Growth in conservative slow start is divided by this (CSS_GROWTH_DIVISOR).
const CSS_GROWTH_DIVISOR: u64 = 4;
/// Rounds of conservative slow start (CSS_ROUNDS).
const CSS_ROUNDS: u32 = 5;

pub(super) const HYSTART: ParameterSpec =
    ParameterSpec::flag("hystart", false).described("HyStart++ (RFC 9406) in the first slow start");

pub(super) const HYSTART_LIMIT: ParameterSpec =
    ParameterSpec::number("hystart_limit", "segments", [8.0, 1.0, 1000.0]).described(
        "HyStart++'s L: most segments cwnd grows by per ACK (RFC 9406: 8 for a sender that does not pace)",
    );

/// Slow start of a control that offers HyStart++.
#[derive(Clone, Debug)]
pub(super) struct SlowStart {
    abc_limit: f64,
    /// Until the first slow start is over.
    hystart: Option<Box<HyStart>>,
}

impl SlowStart {
    /// From the parameters `abc_limit`, [`HYSTART`] and [`HYSTART_LIMIT`].
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            abc_limit: parameters.number("abc_limit"),
            hystart: parameters
                .flag("hystart")
                .then(|| Box::new(HyStart::new(parameters.number("hystart_limit")))),
        }
    }

    /// The connection is established.
    pub(super) fn start(&mut self, tcp: &TcpState) {
        if let Some(hystart) = &mut self.hystart {
            hystart.window_end = tcp.snd_nxt;
        }
    }

    /// Every ACK, before [`Self::grow`]. May end slow start.
    #[inline]
    pub(super) fn on_ack(&mut self, tcp: &mut TcpState, ack: &AckSample) {
        if let Some(hystart) = &mut self.hystart
            && (!tcp.in_slow_start() || hystart.on_ack(tcp, ack))
        {
            self.hystart = None;
        }
    }

    /// Grows cwnd below ssthresh for `acked` bytes.
    pub(super) fn grow(&mut self, tcp: &mut TcpState, acked: u64) {
        match &self.hystart {
            Some(hystart) => hystart.grow(tcp, acked),
            None => growth::slow_start(tcp, acked, self.abc_limit),
        }
    }

    /// A loss event ends the first slow start.
    pub(super) fn on_loss(&mut self) {
        self.hystart = None;
    }
}

/// RFC 9406 section 4.2.
#[derive(Clone, Debug)]
struct HyStart {
    limit: f64,
    /// The round ends when this offset is acknowledged.
    window_end: u64,
    /// Least RTT of the last and of this round; [`Duration::MAX`]: infinity.
    last_round_min_rtt: Duration,
    current_round_min_rtt: Duration,
    rtt_sample_count: u32,
    css: Option<Css>,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Css {
    baseline_min_rtt: Duration,
    rounds: u32,
}

impl HyStart {
    fn new(limit: f64) -> Self {
        Self {
            limit,
            window_end: 0,
            last_round_min_rtt: Duration::MAX,
            current_round_min_rtt: Duration::MAX,
            rtt_sample_count: 0,
            css: None,
        }
    }

    /// True when slow start is over: ssthresh is cwnd now.
    fn on_ack(&mut self, tcp: &mut TcpState, ack: &AckSample) -> bool {
        if let Some(rtt) = ack.rtt {
            self.current_round_min_rtt = self.current_round_min_rtt.min(rtt);
            self.rtt_sample_count += 1;
        }
        if self.rtt_sample_count >= N_RTT_SAMPLE {
            match self.css {
                None if self.last_round_min_rtt != Duration::MAX => {
                    let rise = self.last_round_min_rtt / MIN_RTT_DIVISOR;
                    let threshold = rise.clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                    if self.current_round_min_rtt >= self.last_round_min_rtt + threshold {
                        self.css = Some(Css { baseline_min_rtt: self.current_round_min_rtt, rounds: 0 });
                    }
                }
                // The rise was spurious: back to slow start.
                Some(css) if self.current_round_min_rtt < css.baseline_min_rtt => self.css = None,
                _ => {}
            }
        }
        if tcp.snd_una < self.window_end {
            return false;
        }
        self.window_end = tcp.snd_nxt;
        self.last_round_min_rtt = self.current_round_min_rtt;
        self.current_round_min_rtt = Duration::MAX;
        self.rtt_sample_count = 0;
        if let Some(css) = &mut self.css {
            // The round that conservative slow start began in counts.
            css.rounds += 1;
            if css.rounds >= CSS_ROUNDS {
                tcp.ssthresh = tcp.cwnd;
                return true;
            }
        }
        false
    }

    fn grow(&self, tcp: &mut TcpState, acked: u64) {
        let step = acked.min((self.limit * tcp.mss as f64) as u64);
        tcp.cwnd += if self.css.is_some() { step / CSS_GROWTH_DIVISOR } else { step };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::ParameterValue;
    use crate::congestion::testing::{Bench, MSS, ack, tcp};

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn bench() -> Bench {
        Bench::new("aimd", &[("hystart", ParameterValue::Flag(true))], 10)
    }

    #[test]
    fn doubles_while_the_rtt_is_steady() {
        let mut bench = bench();
        for segments in [20.0, 40.0, 80.0] {
            bench.round(ms(100));
            assert_eq!(bench.segments(), segments);
        }
        assert!(bench.tcp.in_slow_start());
    }

    /// One round of `samples` ACKs with this RTT. True when slow start is over.
    fn round(hystart: &mut HyStart, tcp: &mut TcpState, samples: u64, rtt: u64) -> bool {
        for left in (0..samples).rev() {
            tcp.snd_una = hystart.window_end - left;
            tcp.snd_nxt = hystart.window_end + 100 * MSS;
            if hystart.on_ack(tcp, &ack(MSS, ms(rtt))) {
                return true;
            }
        }
        false
    }

    fn slow_start() -> (HyStart, TcpState) {
        let mut hystart = HyStart::new(8.0);
        hystart.window_end = 10 * MSS;
        (hystart, tcp(10))
    }

    #[test]
    fn a_rise_slows_growth_to_a_quarter_and_ends_after_five_rounds() {
        let (mut hystart, mut tcp) = slow_start();
        // Threshold 100/8 = 12.5 ms over the last round: 112 is no rise; over 112 it is 14 ms: 125 is none,
        // 126 is.
        for rtt in [100, 100, 112, 112, 125, 112] {
            assert!(!round(&mut hystart, &mut tcp, 8, rtt));
            assert!(hystart.css.is_none(), "{rtt}");
        }
        hystart.grow(&mut tcp, MSS);
        assert_eq!(tcp.cwnd, 11 * MSS);
        assert!(!round(&mut hystart, &mut tcp, 8, 126));
        hystart.grow(&mut tcp, MSS);
        assert_eq!(tcp.cwnd, 11 * MSS + MSS / 4);
        // The round that it began in and four more.
        for _ in 0..3 {
            assert!(!round(&mut hystart, &mut tcp, 8, 130));
        }
        assert!(round(&mut hystart, &mut tcp, 8, 130));
        assert_eq!(tcp.ssthresh, tcp.cwnd);
    }

    #[test]
    fn few_samples_decide_nothing() {
        let (mut hystart, mut tcp) = slow_start();
        for rtt in [100, 200, 300, 400] {
            round(&mut hystart, &mut tcp, 7, rtt);
            assert!(hystart.css.is_none());
        }
    }

    #[test]
    fn the_threshold_is_4_to_16_ms() {
        for (base, no_rise, rise) in [(8, 11, 12), (400, 415, 416)] {
            for (rtt, css) in [(no_rise, false), (rise, true)] {
                let (mut hystart, mut tcp) = slow_start();
                round(&mut hystart, &mut tcp, 8, base);
                round(&mut hystart, &mut tcp, 8, rtt);
                assert_eq!(hystart.css.is_some(), css, "{base} {rtt}");
            }
        }
    }

    #[test]
    fn a_spurious_rise_resumes_slow_start() {
        let (mut hystart, mut tcp) = slow_start();
        round(&mut hystart, &mut tcp, 8, 100);
        round(&mut hystart, &mut tcp, 8, 130);
        assert!(hystart.css.is_some());
        round(&mut hystart, &mut tcp, 8, 130);
        assert!(hystart.css.is_some(), "not below the baseline");
        round(&mut hystart, &mut tcp, 8, 129);
        assert!(hystart.css.is_none());
    }

    #[test]
    fn a_loss_ends_it_for_good() {
        let mut bench = bench();
        bench.round(ms(100));
        bench.timeout();
        bench.tcp.ssthresh = 1000 * MSS;
        for rtt in [100, 100, 200, 300] {
            bench.round(ms(rtt));
        }
        assert_eq!(
            bench.segments(),
            1.0 + 20.0 + 21.0 + 42.0 + 84.0,
            "standard slow start, however long the RTT"
        );
    }

    #[test]
    fn l_bounds_the_growth_of_one_ack() {
        let mut bench = bench();
        bench.ack(10 * MSS, ms(100));
        assert_eq!(bench.segments(), 18.0);
    }
}
