//! Explicit congestion notification, the sender's part: classic (RFC 3168) and accurate (RFC 9768).

use super::Sender;
use crate::accurate_ecn::{FIRST_COUNT, MARKS_AT_ONCE, NOT_CAPABLE, increase, reflection};
use crate::congestion::{AckSample, CaEvent, CaState};
use crate::{EcnMode, Flags, Segment, TransportEvent};
use cogtcp_units::Time;

/// What both ends agreed to. Most connections do without ECN and keep nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct EcnState(Option<Box<Agreed>>);

/// What a connection with ECN keeps.
#[derive(Clone, Debug, Default)]
struct Agreed {
    /// `None`: classic ECN.
    accurate: Option<AccurateEcn>,
    /// Classic: the next segment with new data tells the receiver that the window was reduced.
    say_cwr: bool,
    /// `snd_nxt` at the latest reduction by an echo: further echoes are of the same window until more is
    /// acknowledged.
    end: u64,
}

/// What a connection with Accurate ECN keeps.
#[derive(Clone, Debug)]
struct AccurateEcn {
    /// s.cep: packets that the peer has received marked, as far as it has told.
    sent: u8,
    /// r.cep: packets that arrived here marked.
    received: u8,
    /// Those since a segment last left.
    received_since: u8,
    /// What the ACK of the SYN-ACK says in ACE instead (section 3.2.2.1).
    reflected: Option<u8>,
    /// Bytes delivered since ACE was last read, and the timestamp of that ACK.
    unread: u64,
    read_at: Option<u32>,
    /// Data is ECN-capable. Not over a path that changes the field (section 3.2.2.3).
    sends_ect: bool,
    /// ACE has been read. False for ever: it came as zero (section 3.2.2.4).
    heeds: bool,
    /// No ACK has come yet.
    first: bool,
    /// Packets that the peer counted as marked.
    marked: u64,
}

impl EcnState {
    #[inline]
    pub(super) fn is_accurate(&self) -> bool {
        self.0.as_ref().is_some_and(|agreed| agreed.accurate.is_some())
    }

    #[inline]
    fn accurate(&mut self) -> Option<&mut AccurateEcn> {
        self.0.as_mut()?.accurate.as_mut()
    }

    /// The flags of ACE for a segment that leaves.
    #[inline]
    pub(super) fn ace(&mut self) -> Flags {
        let Some(accurate) = self.accurate() else { return Flags::NONE };
        accurate.received_since = 0;
        Flags::of_ace(accurate.reflected.unwrap_or(accurate.received))
    }

    /// An ACK that delivered so many bytes is older than another: its ACE is not read (RFC 9768 section
    /// 3.2.2.2).
    pub(super) fn put_off_reading(&mut self, delivered: u64) {
        if let Some(accurate) = self.accurate() {
            accurate.unread += delivered;
        }
    }

    /// The ACK of the SYN-ACK has left: from now on ACE counts.
    pub(super) fn end_reflection(&mut self) {
        if let Some(accurate) = self.accurate() {
            accurate.reflected = None;
        }
    }
}

impl Sender {
    /// The flags of ECN on the next SYN. A retransmitted SYN offers no classic ECN: a middlebox may drop
    /// ECN-setup SYNs (RFC 3168 section 6.1.1.1; Linux's `tcp_ecn_fallback`). Accurate ECN is offered twice
    /// (RFC 9768 section 3.1.4.1).
    pub(super) fn offered_ecn(&self) -> Flags {
        match self.config.handshake.ecn {
            EcnMode::Classic if self.syn_count == 0 => Flags::ECE | Flags::CWR,
            EcnMode::Accurate if self.syn_count <= 1 => Flags::of_ace(0b111),
            _ => Flags::NONE,
        }
    }

    /// What the SYN-ACK agrees to. Classic ECN: RFC 3168 section 6.1.1, ECE without CWR, and no SYN was sent
    /// that did not offer ECN: after that no data may be ECN-capable. Accurate ECN: RFC 9768 table 2, by the
    /// first SYN-ACK, whatever SYNs were sent.
    pub(super) fn negotiate_ecn(&mut self, syn_ack: &Segment) {
        let classic = |agreed: bool| agreed.then(Agreed::default);
        let agreed = match (self.config.handshake.ecn, syn_ack.flags.ace()) {
            (EcnMode::Off, _) | (EcnMode::Accurate, 0b000 | 0b111) => None,
            (EcnMode::Classic, ace) => classic(self.syn_count == 1 && ace & 0b011 == 0b001),
            (EcnMode::Accurate, 0b001) => classic(self.syn_count <= 2),
            (EcnMode::Accurate, ace) => {
                let accurate = AccurateEcn {
                    sent: FIRST_COUNT,
                    received: FIRST_COUNT + u8::from(syn_ack.is_marked()),
                    received_since: 0,
                    reflected: Some(reflection(syn_ack)),
                    unread: 0,
                    read_at: None,
                    // 101 is reserved, and says that the field arrived unchanged (section 3.1.3).
                    sends_ect: matches!(ace, NOT_CAPABLE | 0b101),
                    heeds: true,
                    first: true,
                    marked: 0,
                };
                Some(Agreed { accurate: Some(accurate), ..Agreed::default() })
            }
        };
        self.ecn = EcnState(agreed.map(Box::new));
        self.tcp.accurate_ecn = self.ecn.is_accurate();
    }

    /// The SYN-ACK came again: its ACK reflects it, too (RFC 9768 section 3.2.2.1).
    pub(super) fn reflect_again(&mut self, syn_ack: &Segment) {
        if let Some(accurate) = self.ecn.accurate() {
            accurate.reflected = Some(reflection(syn_ack));
        }
    }

    /// Whether both ends agreed to use ECN.
    pub fn uses_ecn(&self) -> bool {
        self.ecn_mode() != EcnMode::Off
    }

    /// What both ends agreed to.
    pub fn ecn_mode(&self) -> EcnMode {
        match &self.ecn.0 {
            None => EcnMode::Off,
            Some(agreed) if agreed.accurate.is_some() => EcnMode::Accurate,
            Some(_) => EcnMode::Classic,
        }
    }

    /// Packets that the peer of this connection counted as marked (Accurate ECN, RFC 9768); 0 without it.
    pub fn marked_packets(&self) -> u64 {
        let accurate = self.ecn.0.as_ref().and_then(|agreed| agreed.accurate.as_ref());
        accurate.map_or(0, |accurate| accurate.marked)
    }

    /// The window was reduced, for whatever reason: the receiver is told (RFC 3168 section 6.1.2), but not in
    /// Accurate ECN (RFC 9768 section 3.1.5).
    pub(super) fn queue_cwr(&mut self) {
        if let Some(agreed) = &mut self.ecn.0 {
            agreed.say_cwr = agreed.accurate.is_none();
        }
    }

    /// ECT and CWR on a segment with data that leaves for the first time. Retransmissions (RFC 3168
    /// section 6.1.5), window probes (6.1.6) and pure ACKs (6.1.4) have neither.
    #[inline]
    pub(super) fn put_ecn(&mut self, segment: &mut Segment) {
        let Some(agreed) = self.ecn.0.as_mut().filter(|_| segment.len > 0) else { return };
        match &agreed.accurate {
            None => {
                segment.set_ecn_capable();
                if std::mem::take(&mut agreed.say_cwr) {
                    segment.flags = segment.flags | Flags::CWR;
                }
            }
            Some(accurate) if !accurate.sends_ect => {}
            Some(_) if self.control.uses_l4s() => segment.set_l4s(),
            Some(_) => segment.set_ecn_capable(),
        }
    }

    /// ECT(1) on a retransmission of a scalable control, which so stays in the queue of its flow. RFC 8311
    /// section 4.3 allows this to experiments such as L4S.
    pub(super) fn put_ecn_again(&mut self, segment: &mut Segment) {
        if self.ecn.is_accurate() && self.control.uses_l4s() {
            self.put_ecn(segment);
        }
    }

    /// A segment other than a SYN arrived: counts its mark (RFC 9768 section 3.2). Three marks are
    /// acknowledged at once (section 3.2.2.5.1).
    pub(super) fn count_mark(&mut self, segment: &Segment) {
        if let Some(accurate) = self.ecn.accurate().filter(|_| segment.is_marked()) {
            accurate.received = accurate.received.wrapping_add(1);
            accurate.received_since += 1;
            self.ack_pending |= accurate.received_since >= MARKS_AT_ONCE[1];
        }
    }

    /// What an ACK says of marks: ECE in classic ECN and without ECN, the increase of ACE in Accurate ECN.
    /// ACE counts in ACKs that tell of an arrival: others may be older than the ACK before.
    #[inline]
    pub(super) fn read_marks(&mut self, segment: &Segment, sample: &mut AckSample) {
        let Some(accurate) = self.ecn.accurate() else {
            sample.ecn_echo = segment.flags.contains(Flags::ECE);
            return;
        };
        accurate.unread += sample.delivered;
        let ace = segment.flags.ace();
        if std::mem::take(&mut accurate.first) && ace == 0 {
            accurate.heeds = false;
            accurate.sends_ect = false;
        }
        let stamp = segment.timestamps().map(|stamp| stamp.value).filter(|_| self.timestamps_ok);
        let older =
            stamp.zip(accurate.read_at).is_some_and(|(now, then)| (now.wrapping_sub(then) as i32) < 0);
        if !accurate.heeds || older || sample.acked + sample.sacked == 0 {
            return;
        }
        let packets = accurate.unread.div_ceil(self.tcp.mss);
        sample.marked = increase(accurate.sent, ace, packets);
        sample.ecn_echo = sample.marked > 0;
        accurate.sent = accurate.sent.wrapping_add(sample.marked as u8);
        (accurate.unread, accurate.read_at) = (0, stamp);
        accurate.marked += sample.marked;
    }

    /// An echo of a mark, outside of recovery: congestion, as a lost segment is, with nothing to be
    /// retransmitted. One reduction for a window of data (RFC 3168 section 6.1.2).
    ///
    /// Departures: at a cwnd of one segment the RFC has the sender wait for its retransmission timer; here,
    /// and in Linux, the window stays at one segment. The window falls at once, as the RFC has it and ns-2
    /// does; Linux spreads it over a round trip by PRR.
    pub(super) fn respond_to_echo(&mut self, now: Time, ack: &AckSample) {
        let reducible = matches!(self.tcp.ca_state, CaState::Open | CaState::Disorder);
        if !(ack.ecn_echo && reducible) {
            return;
        }
        let Some(agreed) = &mut self.ecn.0 else { return };
        agreed.end = self.board.nxt();
        self.stats.ecn_reductions += 1;
        // FlightSize is that before this ACK.
        self.reduce_ssthresh(now, (self.loss_flight() + ack.acked).min(self.tcp.cwnd));
        self.lower_cwnd();
        self.set_ca_state(now, CaState::Cwr);
        self.emit(TransportEvent::EcnReduction);
    }

    /// Ends [`CaState::Cwr`] when data sent after the reduction is acknowledged: by then the receiver has
    /// seen CWR, if it was not lost, and has stopped its echo.
    pub(super) fn complete_cwr(&mut self, now: Time) {
        if self.tcp.ca_state == CaState::Cwr
            && self.ecn.0.as_ref().is_none_or(|agreed| self.board.una() > agreed.end)
        {
            self.set_ca_state(now, CaState::Open);
            self.control.cwnd_event(now, &mut self.tcp, CaEvent::CompleteCwr);
            self.clamp();
        }
    }
}
