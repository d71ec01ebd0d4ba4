//! The receiver opens and closes: SYN, SYN-ACK, FIN, reset, and their retransmission.

use super::ecn::agreed_ecn;
use super::expected::Prediction;
use super::{INITIAL_RTO, MAX_RTO, Receiver, ReceiverState, TIMESTAMP_TICK, timestamp};
use crate::accurate_ecn::reflection;
use crate::{EcnMode, Flags, Segment, SeqNumber, TransportEvent};
use cogtcp_units::Time;
use std::sync::Arc;

impl Receiver {
    /// The earlier ACK, reset, SYN-ACK or FIN that is due.
    #[cold]
    pub(super) fn transmit_control(&mut self, now: Time, segment: &mut Segment) {
        if let Some(linux) = &mut self.linux
            && let Some(earlier) = linux.earlier.pop_front()
        {
            self.control_due = !linux.earlier.is_empty();
            *segment = earlier;
            return;
        }
        if self.reset_due {
            self.reset_due = false;
            *segment = Segment::new(self.reset, SeqNumber::new(0), 0, 0, Flags::RST);
            return;
        }
        self.control_due = false;
        self.retransmit_at = now + self.rto;
        if self.state == ReceiverState::SynReceived {
            *segment = self.send_syn_ack(now);
            return;
        }
        self.acknowledge(now, segment);
        // Also a retransmission, after which this side's next number is 2.
        segment.seq = SeqNumber::from_offset(self.config.handshake.initial_sequence, 1);
        segment.flags = segment.flags | Flags::FIN;
    }

    /// When the SYN-ACK or the FIN leaves again.
    #[inline]
    pub(super) fn retransmits_at(&self) -> Time {
        if self.retransmit_at == Time::MAX || self.linux.is_none() {
            return self.retransmit_at;
        }
        // It was set one timeout before.
        self.config.wheel.fires(self.retransmit_at - self.rto, self.retransmit_at)
    }

    /// A passive open that came to nothing is back in LISTEN. Counters go on.
    pub(super) fn listen_again(&mut self) {
        *self = Self {
            events: std::mem::take(&mut self.events),
            stats: self.stats,
            taken_before: self.taken_before,
            syn_ack_option: self.syn_ack_option,
            ..Self::new(Arc::clone(&self.config))
        };
    }

    /// RFC 9293 section 3.10.7.2.
    pub(super) fn handle_listen(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            (self.reset_due, self.reset) = (true, segment.ack);
            return;
        }
        if !segment.flags.contains(Flags::SYN) {
            return;
        }
        self.irs = segment.seq;
        self.sack = self.config.sack && segment.sack_permitted();
        self.ecn = agreed_ecn(self.config.handshake.ecn, segment.flags);
        self.accurate.syn = reflection(segment);
        if let Some(offered) = segment.timestamps().filter(|_| self.config.handshake.timestamps) {
            self.timestamps = true;
            self.ts_recent = offered.value;
        }
        if self.config.handshake.window_scaling && segment.window_scale().is_some() {
            self.window.negotiate_scale(self.tuning.as_ref().map(|tuning| tuning.scale()));
        }
        self.syn_option = segment.custom();
        self.latest_tag = segment.tag;
        self.state = ReceiverState::SynReceived;
        self.control_due = true;
    }

    /// The acknowledgement field (RFC 9293 section 3.10.7.4, fifth). False: the segment is to be dropped.
    pub(super) fn handle_ack(&mut self, now: Time, segment: &Segment) -> bool {
        let sent = match self.state {
            // The SYN; from LAST-ACK on the FIN too.
            ReceiverState::SynReceived | ReceiverState::Established | ReceiverState::CloseWait => 1,
            _ => 2,
        };
        let acked = segment.ack.offset_near(self.config.handshake.initial_sequence, 1);
        match acked {
            // RFC 9293 section 3.10.7.4, fifth: anything but an ACK of the SYN is answered by a reset.
            acked if self.state == ReceiverState::SynReceived && acked != Some(1) => {
                (self.reset_due, self.reset) = (true, segment.ack);
                return false;
            }
            Some(acked) if acked > sent => {
                // It acknowledges what was never sent.
                self.pending += 1;
                return false;
            }
            None | Some(0) => {
                // Below the SYN, which was acknowledged: a challenge ACK (RFC 5961 section 5.2).
                self.challenge(now);
                return false;
            }
            Some(1) if self.state == ReceiverState::SynReceived => {
                // Karn's algorithm (RFC 6298 section 3): a SYN-ACK that was sent twice times no round trip.
                if self.retransmissions == 0 {
                    // RFC 6298 section 2.2: SRTT + 4 RTTVAR is three times the first sample.
                    // The SYN-ACK left one timeout before it would leave again.
                    let rtt = (now + self.rto).saturating_since(self.retransmit_at);
                    self.rto = (rtt * 3).clamp(INITIAL_RTO, MAX_RTO);
                    self.take_rtt(rtt);
                } else if let Some(stamps) = segment.timestamps().filter(|_| self.timestamps) {
                    // Linux's kernel takes the echo then (`tcp_ack_update_rtt`).
                    let ticks = timestamp(now).wrapping_sub(stamps.echo).max(1);
                    self.take_rtt(TIMESTAMP_TICK * u64::from(ticks));
                }
                if let Some(tuning) = &mut self.tuning {
                    let taken = self.window.taken();
                    tuning.on_read(now, taken, taken);
                }
                self.stop_retransmitting();
                self.state = ReceiverState::Established;
                let linux = self.timestamps || self.linux.is_some() || self.tuning.is_some();
                self.predicts =
                    if self.ecn == EcnMode::Accurate || self.config.manual_read || self.deferment.is_some() {
                        Prediction::None
                    } else if linux {
                        Prediction::Linux
                    } else {
                        Prediction::Bare
                    };
                self.emit(TransportEvent::Connected);
            }
            Some(2) if self.state == ReceiverState::LastAck => {
                self.close(TransportEvent::Closed);
                return false;
            }
            _ => {}
        }
        true
    }

    /// RFC 9293 section 3.10.7.2: SYN, ACK and the options offered by the peer and allowed here.
    fn send_syn_ack(&mut self, now: Time) -> Segment {
        let mut segment = Segment::new(
            self.config.handshake.initial_sequence,
            SeqNumber::from_offset(self.irs, 1),
            0,
            // RFC 7323 section 2.2: the window of a segment with SYN is not scaled.
            self.window.advertise_unscaled(),
            Flags::SYN | Flags::ACK,
        );
        // The option has 16 bits (RFC 9293 section 3.2).
        segment.set_mss(self.config.handshake.mss.min(u32::from(u16::MAX)) as u16);
        match self.ecn {
            // RFC 3168 section 6.1.1: an ECN-setup SYN-ACK has ECE alone.
            EcnMode::Classic => segment.flags = segment.flags | Flags::ECE,
            // RFC 9768 section 3.2.3.2.2: the second retransmission agrees to nothing.
            EcnMode::Accurate if self.retransmissions < 2 => {
                segment.flags = segment.flags | Flags::of_ace(self.accurate.syn);
            }
            EcnMode::Accurate | EcnMode::Off => {}
        }
        if self.sack {
            segment.set_sack_permitted();
        }
        if let Some(shift) = self.window.scale() {
            segment.set_window_scale(shift);
        }
        if self.timestamps {
            segment.set_timestamps(timestamp(now), self.ts_recent);
        }
        if let Some(value) = self.syn_ack_option {
            segment.set_custom(value);
        }
        segment.tag = self.latest_tag;
        segment
    }

    fn stop_retransmitting(&mut self) {
        self.control_due = false;
        self.retransmit_at = Time::MAX;
        self.retransmissions = 0;
    }

    pub(super) fn close(&mut self, event: TransportEvent) {
        self.stop_retransmitting();
        self.pending = 0;
        self.delayed_until = Time::MAX;
        if let Some(linux) = &mut self.linux {
            linux.reads_at = Time::MAX;
        }
        self.state = ReceiverState::Closed;
        self.emit(event);
    }
}
