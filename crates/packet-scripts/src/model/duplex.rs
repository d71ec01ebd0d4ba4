//! A model's end with data in both directions, as packetdrill's scripts have it: a [`Sender`] for one
//! direction and a [`Receiver`] for the other, under one sequence of numbers.
//!
//! The receiver answers arriving segments: windows, SACK blocks and pure ACKs are its. The sender has data,
//! FIN and their timers. At a listening end the receiver makes the SYN-ACK. The sender takes the ACK of it
//! for a SYN-ACK of the peer, with the options of the peer's SYN. At a connecting end the roles are
//! exchanged.

use cogtcp_transport::{
    CongestionControl, EcnMode, Flags, Outstanding, Receiver, ReceiverConfig, ReceiverState, Segment, Sender,
    SenderConfig, SeqNumber,
};
use cogtcp_units::{Duration, Time};
use std::collections::VecDeque;

/// Where the connection stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    Rest,
    SynSent,
    Listen,
    SynReceived,
    Established,
    /// Nobody answers for it any more but by resets.
    Closed,
}

/// Why a connection ended before its time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ended {
    /// The peer reset it.
    Reset,
    /// The peer refused it.
    Refused,
    /// The user timeout passed.
    TimedOut,
    /// ICMP said that the peer cannot be reached, while the connection was being opened.
    Unreachable,
}

/// The end.
pub(super) struct Duplex {
    sender: Sender,
    receiver: Receiver,
    /// Room that timestamps take of a segment.
    room: u16,
    phase: Phase,
    ended: Option<Ended>,
    peer_syn: Option<Segment>,
    syn_sent: Time,
    /// The peer's window field before this one.
    window: u16,
    out: VecDeque<Segment>,
    written: u64,
    is_shut: bool,
    stops_reading: bool,
    is_closed: bool,
    /// The peer's FIN came first: the close is passive.
    is_passive: bool,
    data_at: Time,
}

impl Duplex {
    pub(super) fn new(
        sender: SenderConfig,
        receiver: ReceiverConfig,
        control: Box<dyn CongestionControl>,
        room: u16,
    ) -> Self {
        Self {
            sender: Sender::new(sender, control),
            receiver: Receiver::new(receiver),
            room,
            phase: Phase::Rest,
            ended: None,
            peer_syn: None,
            syn_sent: Time::ZERO,
            window: 0,
            out: VecDeque::new(),
            written: 0,
            is_shut: false,
            stops_reading: false,
            is_closed: false,
            is_passive: false,
            data_at: Time::ZERO,
        }
    }

    pub(super) fn sender(&self) -> &Sender {
        &self.sender
    }

    pub(super) fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// Whether the handshake is complete.
    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Established
    }

    /// Why it ended before its time; the application is told once.
    pub(super) fn take_end(&mut self) -> Option<Ended> {
        self.ended.take()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.phase == Phase::Closed
    }

    pub(super) fn is_shut(&self) -> bool {
        self.is_shut
    }

    pub(super) fn stops_reading(&self) -> bool {
        self.stops_reading
    }

    /// Whether the peer's FIN and all before it have come.
    pub(super) fn is_at_end(&self) -> bool {
        matches!(
            self.receiver.state(),
            ReceiverState::CloseWait | ReceiverState::LastAck | ReceiverState::Closed
        )
    }

    /// Counts of the sender; nothing before the connection is there.
    pub(super) fn outstanding(&self) -> Outstanding {
        self.sender.outstanding()
    }

    pub(super) fn connect(&mut self, now: Time) {
        if self.phase == Phase::Rest {
            self.phase = Phase::SynSent;
            self.sender.open(now);
        }
    }

    /// Whether a passive open has come to nothing: the host listens again, with a new end.
    pub(super) fn listens_again(&self) -> bool {
        self.phase == Phase::SynReceived && self.receiver.state() == ReceiverState::Listen
    }

    pub(super) fn listen(&mut self) {
        self.phase = Phase::Listen;
    }

    pub(super) fn write(&mut self, bytes: u64) {
        self.written += bytes;
        self.sender.write(bytes);
    }

    pub(super) fn read(&mut self, now: Time, bytes: u64) -> u64 {
        self.receiver.read(now, bytes)
    }

    /// No more data from this end.
    pub(super) fn shut(&mut self) {
        if !self.is_shut {
            self.is_shut = true;
            self.sender.close();
        }
    }

    pub(super) fn stop_reading(&mut self) {
        self.stops_reading = true;
    }

    /// The application is gone. Data that it has not read resets the connection (RFC 9293 section 3.10.4;
    /// RFC 2525 section 2.17).
    pub(super) fn close(&mut self, now: Time) {
        self.is_closed = true;
        // No connection yet: the SYN is forgotten, and nothing is sent.
        if self.phase == Phase::SynSent {
            self.sender.close();
            self.phase = Phase::Closed;
        } else if self.phase == Phase::Established && self.receiver.readable() > 0 {
            let mut reset = self.ack_now(now);
            reset.flags = Flags::RST | Flags::ACK;
            self.out.push_back(reset);
            self.phase = Phase::Closed;
        } else {
            self.shut();
        }
    }

    /// ICMP destination unreachable about the segment that begins with `seq`. An end that connects gives up
    /// (RFC 1122 section 4.2.3.9 has it so for ports and protocols; Linux for hosts too).
    pub(super) fn handle_unreachable(&mut self, now: Time, seq: SeqNumber) {
        if self.phase == Phase::SynSent && seq == self.sender.config().handshake.initial_sequence {
            self.end(Ended::Unreachable);
        } else {
            self.sender.handle_unreachable(now, seq);
        }
    }

    pub(super) fn poll_timeout(&self) -> Time {
        match self.phase {
            Phase::Rest | Phase::Listen | Phase::Closed => Time::MAX,
            Phase::SynSent => self.sender.poll_timeout(),
            Phase::SynReceived | Phase::Established => {
                self.sender.poll_timeout().min(self.receiver.poll_timeout())
            }
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if now >= self.sender.poll_timeout() {
            self.sender.handle_timeout(now);
            if self.sender.is_closed() && self.phase != Phase::Closed {
                self.end(Ended::TimedOut);
            }
        }
        if now >= self.receiver.poll_timeout() {
            self.receiver.handle_timeout(now);
        }
    }

    fn end(&mut self, why: Ended) {
        self.ended = Some(why);
        self.phase = Phase::Closed;
    }

    pub(super) fn handle_segment(&mut self, now: Time, segment: &Segment) {
        match self.phase {
            Phase::Rest => {}
            Phase::Closed => self.answer_by_reset(segment),
            Phase::SynSent => self.handle_syn_sent(now, segment),
            Phase::Listen => self.handle_listen(now, segment),
            Phase::SynReceived => self.handle_syn_received(now, segment),
            Phase::Established => self.handle_established(now, segment),
        }
    }

    fn handle_syn_sent(&mut self, now: Time, segment: &Segment) {
        let mut answer = self.without_room_for_timestamps(*segment);
        self.sender.handle_segment(now, &answer);
        if self.sender.is_closed() {
            self.end(Ended::Refused);
            return;
        }
        if !self.sender.is_established() {
            return;
        }
        self.open_receiver(now, segment);
        self.phase = Phase::Established;
        self.data_at = now;
        self.window = segment.window;
        let ack = self.ack_now(now);
        self.out.push_back(ack);
        // Data that came with the SYN-ACK.
        if segment.len > 0 {
            answer.flags = Flags::ACK;
            answer.seq = segment.seq.plus(1);
            self.handle_established(now, &answer);
        }
    }

    /// The receiver of an end that connects takes the peer's SYN-ACK for a SYN.
    fn open_receiver(&mut self, now: Time, syn_ack: &Segment) {
        let own = self.sender.config();
        let own_number = own.handshake.initial_sequence;
        let mut syn = Segment::new(syn_ack.seq, SeqNumber::new(0), 0, syn_ack.window, Flags::SYN);
        if self.sender.uses_ecn() {
            syn.flags = syn.flags | Flags::ECE | Flags::CWR;
        }
        if syn_ack.sack_permitted() {
            syn.set_sack_permitted();
        }
        if let Some(shift) = syn_ack.window_scale().filter(|_| own.handshake.window_scaling) {
            syn.set_window_scale(shift);
        }
        if let Some(stamps) = syn_ack.timestamps().filter(|_| own.handshake.timestamps) {
            syn.set_timestamps(stamps.value, 0);
        }
        self.receiver.handle_segment(now, &syn);
        // Its SYN-ACK is never sent: it only takes the receiver on. It is dated back to our SYN, so that the
        // handshake gives the true RTT.
        let _ = self.receiver.poll_transmit(self.syn_sent);
        // The second half: this ACK makes the receiver established.
        let mut ack = Segment::new(syn_ack.seq.plus(1), own_number.plus(1), 0, syn_ack.window, Flags::ACK);
        if let Some(stamps) = syn_ack.timestamps() {
            ack.set_timestamps(stamps.value, stamps.echo);
        }
        self.receiver.handle_segment(now, &ack);
    }

    fn handle_listen(&mut self, now: Time, segment: &Segment) {
        self.receiver.handle_segment(now, segment);
        if self.receiver.state() == ReceiverState::SynReceived {
            self.phase = Phase::SynReceived;
            self.peer_syn = Some(*segment);
            // So that its retransmission timer runs; its SYN itself is never sent (`poll_transmit`).
            self.sender.open(now);
        }
    }

    fn handle_syn_received(&mut self, now: Time, segment: &Segment) {
        let Some(syn) = self.peer_syn else { return };
        let own = self.sender.config().handshake.initial_sequence;
        let is_ack = segment.flags.contains(Flags::ACK) && segment.ack == own.plus(1);
        if !is_ack || segment.flags.contains(Flags::RST) || segment.flags.contains(Flags::SYN) {
            self.receiver.handle_segment(now, segment);
            return;
        }
        let mut answer = Segment::new(syn.seq, own.plus(1), 0, syn.window, Flags::SYN | Flags::ACK);
        let shown = self.receiver.current_ack(now);
        if let Some(mss) = syn.mss() {
            answer.set_mss(mss);
        }
        if syn.sack_permitted() {
            answer.set_sack_permitted();
        }
        if let Some(shift) = syn.window_scale() {
            answer.set_window_scale(shift);
        }
        // Of the ACK, not of the SYN: its echo is what the sender's RTT is measured by.
        if let Some(stamps) = segment.timestamps().filter(|_| shown.timestamps().is_some()) {
            answer.set_timestamps(stamps.value, stamps.echo);
        }
        if self.receiver.config().handshake.ecn != EcnMode::Off && syn.flags.contains(Flags::ECE | Flags::CWR)
        {
            answer.flags = answer.flags | Flags::ECE;
        }
        let answer = self.without_room_for_timestamps(answer);
        self.sender.handle_segment(now, &answer);
        self.phase = Phase::Established;
        self.data_at = now;
        self.window = syn.window;
        // The ACK of a handshake may carry data.
        self.handle_established(now, segment);
    }

    /// Departure of the model: its segments do not grow smaller by the options that they carry (RFC 6691).
    /// Where a script is not exact the handshake settles for so much less.
    fn without_room_for_timestamps(&self, mut answer: Segment) -> Segment {
        if answer.timestamps().is_some() && self.sender.config().handshake.timestamps {
            let mss = answer.mss().unwrap_or(536).min(self.sender.config().handshake.mss as u16);
            answer.set_mss(mss.saturating_sub(self.room));
        }
        answer
    }

    fn handle_established(&mut self, now: Time, segment: &Segment) {
        let own = self.sender.config().handshake.initial_sequence;
        let outstanding = self.sender.outstanding();
        let (una, nxt) = (outstanding.start, outstanding.end);
        let acked = segment.ack.offset_near(own, una);
        let is_within = |acked| acked <= nxt && !self.sender.is_too_old(acked);
        if segment.flags.contains(Flags::ACK) && !acked.is_some_and(is_within) {
            // RFC 9293 section 3.10.7.4: an ACK of what was never sent, or too old. Older Linux drops the
            // segment without a word.
            let ack = self.ack_now(now);
            self.out.push_back(ack);
            return;
        }
        let before = *self.receiver.stats();
        let (at_end, had) = (self.is_at_end(), self.receiver.in_order());
        let mut inbound = *segment;
        // It knows nothing of what this end sends.
        inbound.ack = own.plus(1);
        self.receiver.handle_segment(now, &inbound);
        let after = *self.receiver.stats();
        if self.receiver.state() == ReceiverState::Closed {
            self.end(Ended::Reset);
            return;
        }
        // RFC 9293 section 3.10.7.4: without ACK, or not acceptable, a segment acknowledges nothing.
        if !segment.flags.contains(Flags::ACK)
            || after.unacceptable + after.paws_rejected > before.unacceptable + before.paws_rejected
        {
            return;
        }
        // A SYN-ACK that came twice: the receiver has answered it (RFC 9293 section 3.10.7.4, a challenge
        // ACK).
        if segment.flags.contains(Flags::SYN) {
            return;
        }
        if self.is_at_end() && !at_end {
            if self.is_shut {
                // Linux acknowledges the second FIN at once (`tcp_fin`: FIN-WAIT-1 and 2).
                self.end_delay();
            } else {
                self.is_passive = true;
            }
        }
        if self.receiver.in_order() > had {
            self.data_at = now;
            if self.is_closed {
                // Nobody reads it (RFC 9293 section 3.10.4).
                self.answer_by_reset(segment);
                self.phase = Phase::Closed;
                return;
            }
        }
        self.acknowledge_sender(now, segment, acked.unwrap_or(una) > una);
        // A passive close ends here, in LAST-ACK; an active one stays in TIME-WAIT and still answers.
        if self.sender.is_finished() && self.is_passive && self.is_at_end() {
            self.phase = Phase::Closed;
        }
    }

    /// The sender takes a segment as an ACK without data. One with data is no duplicate ACK (RFC 5681
    /// section 2).
    fn acknowledge_sender(&mut self, now: Time, segment: &Segment, advances: bool) {
        let has_data = segment.sequence_len() > 0;
        // A window update or SACK block tells the sender something new, even with data.
        let moves = advances || segment.window != self.window || !segment.sack().is_empty();
        self.window = segment.window;
        if has_data && !moves {
            return;
        }
        let mut ack = *segment;
        ack.len = 0;
        ack.flags = Flags::from_bits(segment.flags.bits() & !(Flags::FIN.bits() | Flags::PSH.bits()));
        // The sender takes no data, and so stays where the peer's SYN ended.
        ack.seq = self.peer_isn().plus(1);
        self.sender.handle_segment(now, &ack);
    }

    fn peer_isn(&self) -> SeqNumber {
        // The frontier counts the SYN, what is in order and the FIN.
        let at_end = u32::from(self.is_at_end());
        let ahead = 1 + self.receiver.in_order() as u32 + at_end;
        SeqNumber::new(self.receiver.current_ack(Time::ZERO).ack.get().wrapping_sub(ahead))
    }

    fn answer_by_reset(&mut self, segment: &Segment) {
        // RFC 9293 section 3.10.7.1.
        if segment.flags.contains(Flags::RST) {
            return;
        }
        self.out.push_back(if segment.flags.contains(Flags::ACK) {
            Segment::new(segment.ack, SeqNumber::new(0), 0, 0, Flags::RST)
        } else {
            let end = segment.seq.plus(segment.sequence_len());
            Segment::new(SeqNumber::new(0), end, 0, 0, Flags::RST | Flags::ACK)
        });
    }

    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        loop {
            if let Some(segment) = self.out.pop_front() {
                return Some(segment);
            }
            match self.phase {
                Phase::Rest | Phase::Closed => return None,
                // A reset.
                Phase::Listen => return self.receiver.poll_transmit(now),
                Phase::SynSent => {
                    let syn = self.sender.poll_transmit(now)?;
                    if syn.flags.contains(Flags::RST) {
                        return Some(syn);
                    }
                    self.syn_sent = now;
                    return Some(self.with_scale(syn));
                }
                Phase::SynReceived => {
                    // Its timer is that of the SYN-ACK.
                    while self.sender.poll_transmit(now).is_some() {}
                    let syn_ack = self.receiver.poll_transmit(now)?;
                    return Some(syn_ack);
                }
                Phase::Established => {}
            }
            if let Some(segment) = self.sender.poll_transmit(now) {
                if segment.sequence_len() == 0 && !segment.flags.contains(Flags::RST) {
                    // The receiver has a better one.
                    continue;
                }
                return Some(self.with_ack(now, segment));
            }
            let ack = self.receiver.poll_transmit(now)?;
            return Some(self.as_own(ack));
        }
    }

    /// The SYN says what the receiver's window is scaled by.
    fn with_scale(&self, mut syn: Segment) -> Segment {
        if syn.window_scale().is_some() {
            // The shift follows from the buffer, by a rule that only the receiver knows: one made for this
            // purpose tells.
            let mut scratch = Receiver::new(self.receiver.config().clone());
            let mut offer = Segment::new(SeqNumber::new(0), SeqNumber::new(0), 0, 0, Flags::SYN);
            offer.set_window_scale(0);
            scratch.handle_segment(Time::ZERO, &offer);
            if let Some(shift) = scratch.poll_transmit(Time::ZERO).and_then(|answer| answer.window_scale()) {
                syn.set_window_scale(shift);
            }
        }
        syn
    }

    /// A segment of the sender acknowledges for the receiver, whose own ACK is not needed any more.
    fn with_ack(&mut self, now: Time, mut segment: Segment) -> Segment {
        if segment.flags.contains(Flags::RST) {
            return segment;
        }
        // A delayed ACK that waits goes out with these data: its timer must not send it once more.
        self.end_delay();
        let ack = match self.receiver.poll_transmit(now) {
            Some(pending) => pending,
            None => self.receiver.current_ack(now),
        };
        segment.ack = ack.ack;
        segment.window = ack.window;
        if let (Some(own), Some(heard)) = (segment.timestamps(), ack.timestamps()) {
            segment.set_timestamps(own.value, heard.echo);
        }
        if ack.flags.contains(Flags::ECE) {
            segment.flags = segment.flags | Flags::ECE;
        }
        for block in ack.sack() {
            segment.push_sack(block.start, block.end);
        }
        segment
    }

    /// Makes a delayed ACK due.
    fn end_delay(&mut self) {
        let due = self.receiver.poll_timeout();
        if due != Time::MAX {
            self.receiver.handle_timeout(due);
            // The delay may have a tick of the wheel to wait for.
            let tick = self.receiver.poll_timeout();
            if tick <= due + self.receiver.config().wheel.tick * 2 {
                self.receiver.handle_timeout(tick);
            }
        }
    }

    fn as_own(&self, mut ack: Segment) -> Segment {
        let own = self.sender.config().handshake.initial_sequence;
        // At least 1: after the SYN an ACK has the number behind it.
        ack.seq = SeqNumber::from_offset(own, self.sender.outstanding().end.max(1));
        ack
    }

    fn ack_now(&mut self, now: Time) -> Segment {
        let ack = self.receiver.poll_transmit(now).unwrap_or_else(|| self.receiver.current_ack(now));
        self.as_own(ack)
    }

    /// Time that the script's end has been without a word from the peer's application.
    pub(super) fn silent_for(&self, now: Time) -> Duration {
        now.saturating_since(self.data_at)
    }
}
