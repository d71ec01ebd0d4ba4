//! ATCP's idea (Liu and Singh, IEEE JSAC 19(7), 2001). A loss without ECN is the channel's and costs no
//! window. An unreachable peer stops the sender until it answers. Only ECN signals congestion.
//!
//! ```text
//! 3 duplicate ACKs, timeout  retransmit what is outstanding; cwnd and ssthresh as they are   state "loss"
//! ECN echo                   ssthresh = max(FlightSize / 2, 2 SMSS), cwnd = ssthresh, once    "congested"
//!                            until a new segment goes a loss reduces them as TCP's
//! ICMP unreachable           cwnd = 1 SMSS, persist mode: probes; any ACK ends it    "disconnected"
//! growth                     slow start and congestion avoidance of RFC 5681
//! ```
//!
//! Scope and departures:
//! - ATCP is a layer between IP and an unchanged TCP, which it puts into persist mode while it retransmits by
//!   itself. Here the sender retransmits, by NewReno's recovery or, after a timeout, in order as cwnd allows;
//!   what this control adds is that cwnd and ssthresh stay. The paper was not at hand: this is from memory
//!   and from surveys.
//! - ATCP was built into FreeBSD, whose persist mode pulls SND.NXT back: after a disconnection what was
//!   outstanding goes again at once, from a cwnd of one segment.
//! - ECN is not negotiated, and its echo is per ACK: the receiver echoes the mark of each segment, and there
//!   is no CWR.
//! - Where no queue marks, nothing ever tells this sender of congestion: its window grows until the
//!   receiver's window ends it. That is the scheme's own premise, not a fault of the network.

use super::growth::{self, Additive};
use super::{AckSample, CongestionControl, ControlExtension, ControlInfo, PacketInfo, Parameters, TcpState};
use crate::{Preset, Recovery};
use cogtcp_units::Time;

const NAME: &str = "atcp";

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: NAME,
    summary: "ATCP's idea: losses cost no window, ECN does, an unreachable peer stops the sender",
    reference: "Liu and Singh, ATCP: TCP for mobile ad hoc networks, IEEE JSAC 19(7), 2001",
    parameters: &[growth::ABC_LIMIT],
    presets: &[Preset::new(NAME, NAME, Recovery::NewReno)
        .described("ATCP's idea over NewReno: needs ECN marks (links) and ICMP (radios) to work as meant")],
    build: |parameters| Box::new(Atcp::new(parameters)),
};

/// The state of one connection.
#[derive(Clone, Debug)]
struct Atcp {
    abc_limit: f64,
    reno: Additive,
    /// ECN spoke, and no new segment has gone since: losses are congestion.
    congested: bool,
    /// Whether the latest loss event was congestion.
    reduces: bool,
    /// Offset whose acknowledgement ends the window in which one echo counts.
    echo_end: u64,
}

impl Atcp {
    fn new(parameters: &Parameters) -> Self {
        Self {
            abc_limit: parameters.number("abc_limit"),
            reno: Additive::reno(),
            congested: false,
            reduces: false,
            echo_end: 0,
        }
    }
}

impl CongestionControl for Atcp {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.reduces = self.congested;
        if self.reduces {
            self.reno.reset();
            return growth::half_flight(tcp);
        }
        tcp.ssthresh.max(2 * tcp.mss)
    }

    fn owns_cwnd(&self) -> bool {
        !self.reduces
    }

    fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        self.reno.grow_from_start(tcp, ack.acked, self.abc_limit);
    }

    fn pkts_acked(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        if !ack.ecn_echo || tcp.snd_una < self.echo_end {
            return;
        }
        // What RFC 3168 section 6.1.2 has TCP do: as for one lost segment, once per window.
        self.congested = true;
        self.echo_end = tcp.snd_nxt;
        self.reno.reset();
        tcp.ssthresh = growth::half_flight(tcp);
        tcp.cwnd = tcp.cwnd.min(tcp.ssthresh);
    }

    fn on_packet_sent(&mut self, _now: Time, _tcp: &mut TcpState, packet: &PacketInfo) {
        if !packet.retransmission {
            self.congested = false;
        }
    }

    fn extension(&mut self) -> Option<&mut dyn ControlExtension> {
        Some(self)
    }
}

impl ControlExtension for Atcp {
    fn on_unreachable(&mut self, _now: Time, tcp: &mut TcpState) -> bool {
        // So that TCP finds the window of the new route rather than using that of the old one.
        tcp.cwnd = tcp.mss;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{Bench, MSS, ack, tcp};
    use cogtcp_units::Duration;

    const RTT: Duration = Duration::from_millis(100);

    fn control() -> Atcp {
        Atcp::new(&Parameters::new().resolve(NAME, INFO.parameters).unwrap())
    }

    #[test]
    fn a_loss_costs_nothing() {
        let mut control = control();
        let mut state = tcp(20);
        state.ssthresh = 12 * MSS;
        assert_eq!(control.ssthresh(Time::ZERO, &state), 12 * MSS);
        assert!(control.owns_cwnd(), "the sender leaves cwnd at 20 segments");
    }

    #[test]
    fn an_echo_halves_once_per_window_and_makes_losses_count() {
        let mut control = control();
        let mut state = tcp(20);
        let echo = AckSample { ecn_echo: true, ..ack(MSS, RTT) };
        control.pkts_acked(Time::ZERO, &mut state, &echo);
        // FlightSize 20: 10. The second echo belongs to the same window, which ends at segment 20.
        assert_eq!((state.cwnd, state.ssthresh), (10 * MSS, 10 * MSS));
        (state.snd_una, state.flight_size) = (19 * MSS, 12 * MSS);
        control.pkts_acked(Time::ZERO, &mut state, &echo);
        assert_eq!(state.cwnd, 10 * MSS);
        // Congested: TCP reacts to a loss. FlightSize 8: 4.
        state.flight_size = 8 * MSS;
        assert_eq!((control.ssthresh(Time::ZERO, &state), control.owns_cwnd()), (4 * MSS, false));
        // A new segment ends that.
        let packet = PacketInfo { offset: 20 * MSS, bytes: MSS, retransmission: false, in_flight: MSS };
        control.on_packet_sent(Time::ZERO, &mut state, &packet);
        assert_eq!((control.ssthresh(Time::ZERO, &state), control.owns_cwnd()), (10 * MSS, true));
        // The next window: 20 is acknowledged. FlightSize 8: 4.
        state.snd_una = 20 * MSS;
        control.pkts_acked(Time::ZERO, &mut state, &echo);
        assert_eq!(state.cwnd, 4 * MSS);
    }

    #[test]
    fn an_unreachable_peer_stops_the_sender_at_one_segment() {
        let mut control = control();
        let mut state = tcp(20);
        state.ssthresh = 12 * MSS;
        assert!(control.extension().unwrap().on_unreachable(Time::ZERO, &mut state));
        assert_eq!((state.cwnd, state.ssthresh), (MSS, 12 * MSS));
    }

    #[test]
    fn grows_as_reno_does() {
        let mut bench = Bench::new(NAME, &[], 10);
        bench.round(RTT);
        assert_eq!(bench.segments(), 20.0);
        bench.tcp.ssthresh = 20 * MSS;
        bench.round(RTT);
        assert_eq!(bench.segments(), 21.0);
    }
}
