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

use super::compound::{self, DelayWindow};
use super::growth::{self, Additive};
use super::westwood::{self, BandwidthEstimator};
use super::{AckSample, CaEvent, CaState, CongestionControl, ControlInfo, Parameters, TcpState};
use crate::{HostProfile, Preset, PresetValue, Recovery};
use cogtcp_units::Time;

const NAME: &str = "westwood-compound";

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: NAME,
    summary: "Westwood+'s ssthresh with Compound's growth",
    reference: "Zhou, Al Ali and Chowdhury, Investigation of TCP Protocols in Dynamically Varying Bandwidth Conditions, \
                section 5",
    parameters: &[
        westwood::FILTER,
        westwood::FILTER_WINDOW,
        westwood::TUSTIN_GAIN,
        westwood::RESET_RTT_MIN,
        westwood::AT_LEAST_HALF,
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
        Preset {
            name: "westwood-compound",
            summary: "Westwood+'s ssthresh with Compound's growth, SACK recovery",
            recovery: Recovery::Sack,
            host: HostProfile::Rfc,
            control: NAME,
            settings: &[],
        },
        Preset {
            name: "westwood-compound-tustin",
            summary: "the same with the Tustin filter and NewReno recovery, as in the paper",
            recovery: Recovery::NewReno,
            host: HostProfile::Rfc,
            control: NAME,
            settings: &[("filter", PresetValue::Word("tustin")), ("reset_rtt_min", PresetValue::Flag(false))],
        },
    ],
    build: |parameters| Box::new(WestwoodCompound::new(parameters)),
};

/// The state of one connection.
#[derive(Clone, Debug)]
struct WestwoodCompound {
    bandwidth: BandwidthEstimator,
    delay: DelayWindow,
    abc_limit: f64,
    reno: Additive,
}

impl WestwoodCompound {
    fn new(parameters: &Parameters) -> Self {
        Self {
            bandwidth: BandwidthEstimator::new(parameters),
            delay: DelayWindow::new(parameters),
            abc_limit: parameters.number("abc_limit"),
            reno: Additive::reno(),
        }
    }
}

impl CongestionControl for WestwoodCompound {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn init(&mut self, now: Time, tcp: &mut TcpState) {
        self.bandwidth.start(now);
        self.delay.start(tcp);
    }

    fn ssthresh(&mut self, now: Time, tcp: &TcpState) -> u64 {
        self.reno.reset();
        let window = self.bandwidth.ssthresh(now, tcp);
        if !self.delay.take_timeout() {
            self.delay.on_loss(tcp, window.min(tcp.cwnd), true);
        }
        window
    }

    fn pkts_acked(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        self.bandwidth.on_ack(now, tcp, ack);
        self.delay.on_ack(tcp, ack);
    }

    fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        if tcp.in_slow_start() {
            growth::slow_start(tcp, ack.acked, self.abc_limit);
        } else {
            self.reno.grow(tcp, ack.acked);
            self.delay.grow(tcp);
        }
    }

    fn set_state(&mut self, _now: Time, tcp: &mut TcpState, state: CaState) {
        self.delay.on_state(tcp, state);
    }

    fn cwnd_event(&mut self, _now: Time, tcp: &mut TcpState, event: CaEvent) {
        if event == CaEvent::Loss {
            self.bandwidth.on_timeout();
        }
        self.delay.on_event(tcp, event);
    }

    fn undo_cwnd(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.delay.undo();
        tcp.cwnd.max(tcp.prior_cwnd)
    }

    fn observe(&self, tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        self.bandwidth.observe(show);
        self.delay.observe(tcp, show);
    }
}

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
