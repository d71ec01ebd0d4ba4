//! DCTCP: cwnd falls in proportion to the share of marked bytes (RFC 8257), with Linux's settings.
//!
//! ```text
//! M            share of bytes that ACKs of a window report as marked
//! alpha        += g (M - alpha), once a window; g = 1/16, 1 at the start         3.3, 4.2
//! mark         cwnd *= 1 - alpha / 2, once a window                             3.3
//! no mark      as Reno: slow start, a segment a round trip                      3.4
//! loss         cwnd *= 1/2                                                      3.5
//! ```
//!
//! Departure: marks come by Accurate ECN (RFC 9768), which counts them, in place of the receiver's state
//! machine of section 3.2. Both report each marked packet; where neither loses an ACK they say the same.
//! Without Accurate ECN it is Reno.

use super::growth::{Additive, half_flight};
use super::{AckSample, CaEvent, CongestionControl, ControlInfo, ParameterSpec, Parameters, TcpState};
use crate::{HostProfile, Preset, Recovery};
use cogtcp_units::Time;

const NAME: &str = "dctcp";

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: NAME,
    summary: "data centers: cwnd falls by the share of marked bytes; needs Accurate ECN and queues that mark",
    reference: "RFC 8257; Alizadeh et al. 2010",
    parameters: &[
        ParameterSpec::number("gain", "", [0.0625, 0.0001, 1.0])
            .described("g: weight of a window's share of marks in alpha (RFC 8257 section 4.2)"),
        ParameterSpec::number("initial_alpha", "", [1.0, 0.0, 1.0])
            .described("alpha before the first window (RFC 8257 section 4.2)"),
    ],
    presets: &[Preset::new(NAME, NAME, Recovery::Sack)
        .described("DCTCP with Accurate ECN on Linux's settings, SACK recovery")
        .on(HostProfile::Linux)],
    build: |parameters| Box::new(Dctcp::new(parameters)),
};

/// The state of one connection.
#[derive(Clone, Debug)]
struct Dctcp {
    gain: f64,
    alpha: f64,
    additive: Additive,
    /// The window ends when this offset is acknowledged.
    window_end: u64,
    /// Bytes that this window delivered, and bytes of packets reported as marked.
    delivered: f64,
    marked: f64,
    /// Bytes declared lost as of the latest ACK: more of them at a reduction mean a loss.
    lost: u64,
    /// The timer has expired since the latest ACK.
    timed_out: bool,
}

impl Dctcp {
    fn new(parameters: &Parameters) -> Self {
        Self {
            gain: parameters.number("gain"),
            alpha: parameters.number("initial_alpha"),
            additive: Additive::reno(),
            window_end: 0,
            delivered: 0.0,
            marked: 0.0,
            lost: 0,
            timed_out: false,
        }
    }

    fn end_window(&mut self, tcp: &TcpState) {
        if self.delivered > 0.0 {
            let share = (self.marked / self.delivered).min(1.0);
            self.alpha += self.gain * (share - self.alpha);
        }
        self.window_end = tcp.snd_nxt;
        (self.delivered, self.marked) = (0.0, 0.0);
    }
}

impl CongestionControl for Dctcp {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn counts_marks(&self) -> bool {
        true
    }

    fn init(&mut self, _now: Time, tcp: &mut TcpState) {
        self.window_end = tcp.snd_nxt;
        self.lost = tcp.lost;
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.additive.reset();
        // RFC 8257 section 3.5: a loss as any TCP.
        if !tcp.accurate_ecn || self.timed_out || tcp.lost > self.lost {
            return half_flight(tcp);
        }
        ((tcp.cwnd as f64 * (1.0 - self.alpha / 2.0)) as u64).max(2 * tcp.mss)
    }

    fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        self.additive.grow_from_start(tcp, ack.acked, 1.0);
    }

    fn pkts_acked(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        self.delivered += ack.delivered as f64;
        self.marked += (ack.marked * tcp.mss) as f64;
        self.lost = tcp.lost;
        self.timed_out = false;
        if tcp.snd_una >= self.window_end {
            self.end_window(tcp);
        }
    }

    fn cwnd_event(&mut self, _now: Time, _tcp: &mut TcpState, event: CaEvent) {
        // A timeout comes before its segments are declared lost.
        self.timed_out |= event == CaEvent::Loss;
    }

    fn observe(&self, _tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        show("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::make;
    use crate::congestion::testing::{MSS, ack, tcp};
    use cogtcp_units::Duration;

    const RTT: Duration = Duration::from_millis(100);

    /// A connection with Accurate ECN beyond slow start.
    fn connected(segments: u64) -> (Dctcp, TcpState) {
        let mut tcp = TcpState { accurate_ecn: true, ..tcp(segments) };
        tcp.ssthresh = tcp.cwnd;
        let table = Parameters::new().with_number("gain", 0.0625).with_number("initial_alpha", 1.0);
        let mut control = Dctcp::new(&table);
        control.init(Time::ZERO, &mut tcp);
        (control, tcp)
    }

    /// ACKs of a window, some of its segments marked.
    fn window(control: &mut Dctcp, tcp: &mut TcpState, marked: u64) {
        let segments = tcp.cwnd / MSS;
        tcp.snd_una += segments * MSS;
        tcp.snd_nxt = tcp.snd_una + tcp.cwnd;
        let sample = AckSample { marked, ..ack(segments * MSS, RTT) };
        control.pkts_acked(Time::ZERO, tcp, &sample);
    }

    /// alpha starts at 1; of 20 segments 5 are marked: 1 + (1/4 - 1) / 16 = 61/64, and once more.
    #[test]
    fn alpha_averages_the_share_of_marks() {
        let (mut control, mut tcp) = connected(20);
        window(&mut control, &mut tcp, 5);
        assert_eq!(control.alpha, 61.0 / 64.0);
        window(&mut control, &mut tcp, 5);
        assert_eq!(control.alpha, 61.0 / 64.0 + (0.25 - 61.0 / 64.0) / 16.0);
    }

    /// The first mark halves, as alpha is 1; alpha of 1/4 takes an eighth.
    #[test]
    fn a_mark_takes_half_of_alpha() {
        let (mut control, mut tcp) = connected(20);
        assert_eq!(control.ssthresh(Time::ZERO, &tcp), 10 * MSS);
        control.alpha = 0.25;
        assert_eq!(control.ssthresh(Time::ZERO, &tcp), 17_500);
        // Two segments at least.
        (tcp.cwnd, control.alpha) = (2 * MSS, 1.0);
        assert_eq!(control.ssthresh(Time::ZERO, &tcp), 2 * MSS);
    }

    /// Section 3.5: a loss halves whatever alpha is, a timeout too, and so does an echo without a count.
    #[test]
    fn a_loss_halves() {
        let (mut control, mut tcp) = connected(20);
        control.alpha = 0.25;
        tcp.lost = MSS;
        assert_eq!(control.ssthresh(Time::ZERO, &tcp), 10 * MSS);
        window(&mut control, &mut tcp, 0);
        control.alpha = 0.25;
        assert_eq!(control.ssthresh(Time::ZERO, &tcp), 17_500);
        control.cwnd_event(Time::ZERO, &mut tcp, CaEvent::Loss);
        assert_eq!(control.ssthresh(Time::ZERO, &tcp), 10 * MSS);
        window(&mut control, &mut tcp, 0);
        control.alpha = 0.25;
        assert_eq!(control.ssthresh(Time::ZERO, &tcp), 17_500);
        tcp.accurate_ecn = false;
        assert_eq!(control.ssthresh(Time::ZERO, &tcp), 10 * MSS);
    }

    #[test]
    fn growth_is_renos() {
        let mut bench = crate::congestion::testing::Bench::new(NAME, &[], 20);
        bench.tcp.ssthresh = 0;
        bench.round(RTT);
        assert_eq!(bench.segments(), 21.0);
    }

    #[test]
    fn conforms() {
        crate::conformance::check_congestion_control(|| make(NAME, &Parameters::new()).unwrap()).unwrap();
    }
}
