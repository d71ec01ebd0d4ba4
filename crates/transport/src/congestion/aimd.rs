//! Additive increase, multiplicative decrease: slow start and congestion avoidance of RFC 5681.
//!
//! ```text
//! slow start (cwnd < ssthresh):  cwnd += min(N, L * SMSS)                        RFC 5681 (2), L: RFC 3465
//! congestion avoidance:          cwnd += increase * SMSS per cwnd bytes acked    RFC 5681 (3), byte counting
//! loss event:                    ssthresh = max(decrease * FlightSize, 2 SMSS)   RFC 5681 (4)
//!                                or whole segments of it, or of cwnd
//! ```

use super::growth::{self, Additive};
use super::hystart::{self, SlowStart};
use super::{AckSample, CongestionControl, ControlInfo, ParameterSpec, Parameters, TcpState};
use crate::{HostProfile, Preset, PresetValue, Recovery};
use cogtcp_units::Time;

const NAME: &str = "aimd";

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: NAME,
    summary: "slow start and congestion avoidance of Reno",
    reference: "RFC 5681; byte counting RFC 3465",
    parameters: &[
        ParameterSpec::number("increase", "segments", [1.0, 0.0, 1000.0])
            .described("additive increase a: segments per round trip in congestion avoidance"),
        ParameterSpec::number("decrease", "", [0.5, 0.0, 1.0])
            .described("factor b left of FlightSize after a loss event"),
        growth::ABC_LIMIT,
        hystart::HYSTART,
        hystart::HYSTART_LIMIT,
        ParameterSpec::flag("byte_counting", true).described(
            "congestion avoidance counts acknowledged bytes (RFC 3465, recommended by RFC 5681); false: \
             SMSS * SMSS / cwnd per ACK, as ns-2",
        ),
        ParameterSpec::flag("whole_segments", false)
            .described("ssthresh is rounded down to whole segments, as in Linux, BSD and ns-2"),
        ParameterSpec::flag("reduce_cwnd", false)
            .described("a loss event reduces cwnd, as in Linux; false: FlightSize (RFC 5681)"),
        ParameterSpec::flag("stop_at_ssthresh", false).described(
            "slow start ends at ssthresh, and the rest of its last ACK counts for congestion avoidance, as in Linux; \
             false: that ACK may pass ssthresh",
        ),
    ],
    presets: &[
        Preset::new("tahoe", NAME, Recovery::Tahoe)
            .described("fast retransmit, then slow start from one segment"),
        Preset::new("reno", NAME, Recovery::Reno)
            .described("fast recovery, left at the first new ACK (RFC 5681)"),
        Preset::new("newreno", NAME, Recovery::NewReno)
            .described("fast recovery over partial ACKs (RFC 6582)"),
        Preset::new("sack", NAME, Recovery::Sack)
            .described("selective acknowledgements and the scoreboard of RFC 6675"),
        // tcp_reno_cong_avoid: slow start grows by all that an ACK acknowledges; windows are whole segments.
        // tcp_reno_ssthresh: half of cwnd.
        Preset::new("linux-reno", NAME, Recovery::Sack)
            .described("Reno as in today's Linux: PRR, RACK-TLP, F-RTO, undo by timestamps, RTO of SRTT + 200 ms or more")
            .on(HostProfile::Linux)
            .with(&[
                ("abc_limit", PresetValue::Number(1000.0)),
                ("whole_segments", PresetValue::Flag(true)),
                ("reduce_cwnd", PresetValue::Flag(true)),
                ("stop_at_ssthresh", PresetValue::Flag(true)),
            ]),
        Preset::new("ns2", NAME, Recovery::NewReno)
            .described("NewReno as ns-2.35 has it by default; for its other agents set `recovery`")
            .on(HostProfile::Ns2)
            .with(&[
                ("byte_counting", PresetValue::Flag(false)),
                ("whole_segments", PresetValue::Flag(true)),
            ]),
        Preset::new("ns3-2013", NAME, Recovery::NewReno)
            .described("NewReno as ns-3.18 (2013) has it by default: least RTO 0.2 s, segments of 536 bytes")
            .on(HostProfile::Ns3In2013)
            .with(&[("byte_counting", PresetValue::Flag(false))]),
        Preset::new("ns3-2015", NAME, Recovery::NewReno)
            .described("NewReno as ns-3.24 (2015) has it by default: least RTO 1 s, timestamps, segments of 536 bytes")
            .on(HostProfile::Ns3In2015)
            .with(&[("byte_counting", PresetValue::Flag(false))]),
    ],
    build: |parameters| Box::new(Aimd::new(parameters)),
};

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Aimd {
    decrease: f64,
    whole_segments: bool,
    reduce_cwnd: bool,
    stop_at_ssthresh: bool,
    slow_start: SlowStart,
    increase: Additive,
}

impl Aimd {
    fn new(parameters: &Parameters) -> Self {
        Self {
            decrease: parameters.number("decrease"),
            whole_segments: parameters.flag("whole_segments"),
            reduce_cwnd: parameters.flag("reduce_cwnd"),
            stop_at_ssthresh: parameters.flag("stop_at_ssthresh"),
            slow_start: SlowStart::new(parameters),
            increase: Additive::new(parameters.number("increase"), parameters.flag("byte_counting")),
        }
    }
}

impl CongestionControl for Aimd {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn init(&mut self, _now: Time, tcp: &mut TcpState) {
        self.slow_start.start(tcp);
    }

    fn pkts_acked(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        self.slow_start.on_ack(tcp, ack);
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.slow_start.on_loss();
        // RFC 5681 equation (4).
        self.increase.reset();
        let reduced = if self.reduce_cwnd { tcp.cwnd } else { tcp.flight_size };
        let left = (reduced as f64 * self.decrease) as u64;
        let left = if self.whole_segments { left / tcp.mss * tcp.mss } else { left };
        left.max(2 * tcp.mss)
    }

    fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        let mut acked = ack.acked;
        if tcp.in_slow_start() {
            if !self.stop_at_ssthresh {
                self.slow_start.grow(tcp, acked);
                return;
            }
            let step = acked.min(growth::segments_to_ssthresh(tcp).saturating_mul(tcp.mss));
            self.slow_start.grow(tcp, step);
            acked -= step;
        }
        if acked > 0 {
            self.increase.grow(tcp, acked);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::AckSample;
    use crate::congestion::ParameterValue;
    use crate::congestion::testing::{Bench, MSS};

    /// `tcp_slow_start`: nine segments acknowledged at a window of one and ssthresh of seven leave seven, and three
    /// count for the eighth, which four more complete.
    #[test]
    fn slow_start_stops_at_ssthresh() {
        let mut bench = Bench::new(
            "aimd",
            &[
                ("abc_limit", ParameterValue::Number(1000.0)),
                ("stop_at_ssthresh", ParameterValue::Flag(true)),
            ],
            1,
        );
        bench.tcp.ssthresh = 7 * MSS;
        for (acked, window) in [(9, 7), (3, 7), (1, 8)] {
            let ack = AckSample { acked: acked * MSS, ..AckSample::default() };
            bench.control.cong_avoid(bench.now, &mut bench.tcp, &ack);
            assert_eq!(bench.tcp.cwnd, window * MSS, "{acked}");
        }
    }

    /// Half of 15 segments: 7.5, or 7 in whole segments; never less than two.
    #[test]
    fn ssthresh_in_whole_segments_is_rounded_down() {
        for (whole, expected) in [(false, 15 * MSS / 2), (true, 7 * MSS)] {
            let mut bench = Bench::new("aimd", &[("whole_segments", ParameterValue::Flag(whole))], 15);
            assert_eq!(bench.control.ssthresh(bench.now, &bench.tcp), expected);
            bench.tcp.flight_size = 3 * MSS;
            assert_eq!(bench.control.ssthresh(bench.now, &bench.tcp), 2 * MSS);
        }
    }

    /// A window of 20 segments with 6 in flight.
    #[test]
    fn a_loss_reduces_what_is_in_flight_or_cwnd() {
        for (reduce_cwnd, expected) in [(false, 3), (true, 10)] {
            let mut bench = Bench::new("aimd", &[("reduce_cwnd", ParameterValue::Flag(reduce_cwnd))], 20);
            bench.tcp.flight_size = 6 * MSS;
            assert_eq!(bench.control.ssthresh(bench.now, &bench.tcp), expected * MSS);
        }
    }
}
