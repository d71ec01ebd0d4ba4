//! Explicit congestion notification (RFC 3168), the sender's part.

use super::Sender;
use crate::congestion::{AckSample, CaEvent, CaState};
use crate::{Flags, Segment, TransportEvent};
use cogtcp_units::Time;

/// What a connection with ECN keeps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnState {
    /// Both ends agreed.
    on: bool,
    /// The next segment with new data tells the receiver that the window was reduced.
    say_cwr: bool,
    /// `snd_nxt` at the latest reduction by an echo: further echoes are of the same window until more is
    /// acknowledged.
    end: u64,
}

impl Sender {
    /// True if the next SYN is an ECN-setup SYN. A retransmitted SYN is not: a middlebox may drop ECN-setup
    /// SYNs (RFC 3168 section 6.1.1.1; Linux's `tcp_ecn_fallback`).
    pub(super) fn offers_ecn(&self) -> bool {
        self.config.handshake.ecn && self.syn_count == 0
    }

    /// Whether the SYN-ACK agrees (RFC 3168 section 6.1.1: ECE without CWR), and no SYN was sent that did not
    /// offer ECN: after that no data may be ECN-capable.
    pub(super) fn negotiate_ecn(&mut self, syn_ack: &Segment) {
        let agrees = syn_ack.flags.contains(Flags::ECE) && !syn_ack.flags.contains(Flags::CWR);
        self.ecn.on = self.config.handshake.ecn && self.syn_count == 1 && agrees;
    }

    /// Whether both ends agreed to use ECN.
    pub fn uses_ecn(&self) -> bool {
        self.ecn.on
    }

    /// The window was reduced, for whatever reason: the receiver is told (RFC 3168 section 6.1.2).
    pub(super) fn queue_cwr(&mut self) {
        self.ecn.say_cwr = self.ecn.on;
    }

    /// ECT and CWR on a segment with data that leaves for the first time. Retransmissions (RFC 3168
    /// section 6.1.5), window probes (6.1.6) and pure ACKs (6.1.4) have neither.
    #[inline]
    pub(super) fn put_ecn(&mut self, segment: &mut Segment) {
        if !self.ecn.on || segment.len == 0 {
            return;
        }
        segment.set_ecn_capable();
        if std::mem::take(&mut self.ecn.say_cwr) {
            segment.flags = segment.flags | Flags::CWR;
        }
    }

    /// An echo of a mark, outside of recovery: congestion, as a lost segment is, with nothing to be
    /// retransmitted. One reduction for a window of data (RFC 3168 section 6.1.2).
    ///
    /// Departures: at a cwnd of one segment the RFC has the sender wait for its retransmission timer; here,
    /// and in Linux, the window stays at one segment. The window falls at once, as the RFC has it and ns-2
    /// does; Linux spreads it over a round trip by PRR.
    pub(super) fn respond_to_echo(&mut self, now: Time, ack: &AckSample) {
        let reducible = matches!(self.tcp.ca_state, CaState::Open | CaState::Disorder);
        if !(self.ecn.on && ack.ecn_echo && reducible) {
            return;
        }
        self.stats.ecn_reductions += 1;
        // FlightSize is that before this ACK.
        self.reduce_ssthresh(now, (self.loss_flight() + ack.acked).min(self.tcp.cwnd));
        self.lower_cwnd();
        self.ecn.end = self.board.nxt();
        self.set_ca_state(now, CaState::Cwr);
        self.emit(TransportEvent::EcnReduction);
    }

    /// Ends [`CaState::Cwr`] when data sent after the reduction is acknowledged: by then the receiver has
    /// seen CWR, if it was not lost, and has stopped its echo.
    pub(super) fn complete_cwr(&mut self, now: Time) {
        if self.tcp.ca_state == CaState::Cwr && self.board.una() > self.ecn.end {
            self.set_ca_state(now, CaState::Open);
            self.control.cwnd_event(now, &mut self.tcp, CaEvent::CompleteCwr);
            self.clamp();
        }
    }
}
