//! Westwood+'s window after a loss event with Compound's growth: what Zhou, Al Ali and Chowdhury propose in
//! the last section of their study as future work.
//!
//! ```text
//! loss event:            ssthresh = EBW * RTTmin                         the bandwidth estimate of Westwood+
//! congestion avoidance:  one segment per round trip, and Compound's delay window
//! ```
//!
//! Choices, the proposal being one sentence:
//! - After duplicate ACKs the new window is split as Compound splits it: Reno's part is half of what it was,
//!   the delay window is the rest. After a timeout there is no delay window.
//! - gamma is tuned as Compound tunes it.
//! - The filter is Linux's by default, the Compound constants are the draft's.

use super::bandwidth::{self, BandwidthEstimator};
use super::compound::{self, AfterLoss, Compound};
use super::{ControlInfo, growth};
use crate::{Preset, PresetValue, Recovery};

const NAME: &str = "westwood-compound";

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: NAME,
    summary: "Westwood+'s ssthresh with Compound's growth",
    reference: "Zhou, Al Ali and Chowdhury, Investigation of TCP Protocols in Dynamically Varying Bandwidth Conditions, \
                section 5",
    parameters: &[
        bandwidth::FILTER,
        bandwidth::FILTER_WINDOW,
        bandwidth::TUSTIN_GAIN,
        bandwidth::RESET_RTT_MIN,
        bandwidth::AT_LEAST_HALF,
        compound::ALPHA,
        compound::K,
        compound::ETA,
        compound::GAMMA,
        compound::GAMMA_LOW,
        compound::GAMMA_TUNING,
        compound::LAMBDA,
        compound::LOW_WINDOW,
        compound::LOW_WINDOW_OF,
        compound::RTT,
        growth::ABC_LIMIT,
    ],
    presets: &[
        Preset::new("westwood-compound", NAME, Recovery::Sack)
            .described("Westwood+'s ssthresh with Compound's growth, SACK recovery"),
        Preset::new("westwood-compound-tustin", NAME, Recovery::NewReno)
            .described("the same with the Tustin filter and NewReno recovery, as in the paper")
            .with(&[("filter", PresetValue::Word("tustin")), ("reset_rtt_min", PresetValue::Flag(false))]),
    ],
    build: |parameters| {
        let after_loss = AfterLoss::Bandwidth(BandwidthEstimator::new(parameters));
        Box::new(Compound::named(NAME, after_loss, parameters))
    },
};

#[cfg(test)]
mod tests {
    use crate::congestion::testing::{Bench, MSS};
    use cogtcp_units::Duration;

    const RTT: Duration = Duration::from_millis(100);

    /// 1000 segments a second over 100 ms: the path carries 100 segments.
    fn steady(segments: u64) -> Bench {
        let mut bench = Bench::new(super::NAME, &[], segments);
        bench.tcp.ssthresh = 2 * MSS;
        for _ in 0..3000 {
            bench.now += Duration::from_millis(1);
            bench.ack(MSS, RTT);
        }
        bench
    }

    #[test]
    fn loss_events_leave_what_the_path_carries() {
        let mut bench = steady(40);
        bench.tcp.cwnd = 300 * MSS;
        bench.loss();
        assert!((98.0..=100.0).contains(&bench.segments()), "{}", bench.segments());
        let mut bench = steady(40);
        bench.timeout();
        assert!((98..=100).contains(&(bench.tcp.ssthresh / MSS)), "{}", bench.tcp.ssthresh);
        assert_eq!(bench.tcp.cwnd, MSS);
    }

    #[test]
    fn grows_by_the_delay_window() {
        let mut bench = Bench::new(super::NAME, &[], 256);
        bench.tcp.ssthresh = 2 * MSS;
        bench.round(RTT);
        let before = bench.segments();
        bench.round(RTT);
        // 256^0.75 / 8 - 1 = 7 segments, and Reno's one if its window of ACKs is full.
        let grown = bench.segments() - before;
        assert!((7.0..=8.5).contains(&grown), "{grown}");
    }
}
