//! The bandwidth probe: two packets or more sent back to back come back as ACKs spaced by the bottleneck.

use crate::congestion::PacketInfo;
use cogtcp_units::Time;

/// Most packets of a sequence.
const LONGEST: usize = 8;

/// Watches what leaves between two ACKs in slow start until one such sequence has two packets or more and its
/// ACKs come back apart. With a window of one segment the sequence is one packet and tells nothing; the next
/// is two packets, the paper's case.
///
/// The rate is bytes over time: the bytes of the sequence that the first ACK did not cover, over the time
/// from this ACK to the ACK that covers all. With an ACK per packet this is the paper's (L - 1) * S /
/// (T2 - T1). The rate is right with delayed ACKs too, if the last packet was answered on arrival. The last
/// packet was not if its ACK also covers later packets, or fewer bytes than the first ACK. Then the
/// receiver's timer acknowledged a packet that no second packet joined. Such a sequence is ignored, and so is
/// a sequence whose packets share an ACK: the next is tried.
#[derive(Clone, Debug, Default)]
pub(super) struct Probe {
    /// End offset and bytes of the packets of the sequence.
    packets: [(u64, u64); LONGEST],
    count: usize,
    /// The sequence is complete: an ACK came after it was sent.
    closed: bool,
    first: Option<FirstAck>,
}

/// The first ACK of a sequence.
#[derive(Clone, Copy, Debug)]
struct FirstAck {
    at: Time,
    /// Bytes that it acknowledged, and bytes of the sequence that it left.
    acked: u64,
    left: u64,
}

impl Probe {
    pub(super) fn on_packet_sent(&mut self, packet: &PacketInfo) {
        if !self.closed && self.count < LONGEST {
            self.packets[self.count] = (packet.offset + packet.bytes, packet.bytes);
            self.count += 1;
        }
    }

    /// An ACK for `acked` more bytes, up to `una`. Returns the rate in bytes per second when it completes a
    /// sequence.
    pub(super) fn on_ack(&mut self, now: Time, una: u64, acked: u64) -> Option<f64> {
        if self.count < 2 {
            *self = Self::default();
            return None;
        }
        self.closed = true;
        let sequence = &self.packets[..self.count];
        let end = sequence[self.count - 1].0;
        let left: u64 = sequence.iter().filter(|(end, _)| *end > una).map(|(_, bytes)| bytes).sum();
        if left > 0 {
            if self.first.is_none() && sequence[0].0 <= una {
                self.first = Some(FirstAck { at: now, acked, left });
            }
            return None;
        }
        let rate = self.first.filter(|first| una == end && acked >= first.acked).and_then(|first| {
            let gap = now.saturating_since(first.at);
            (!gap.is_zero()).then(|| first.left as f64 / gap.as_secs_f64())
        });
        *self = Self::default();
        rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1000;

    fn send(probe: &mut Probe, first: u64, packets: u64) {
        for index in first..first + packets {
            let packet = PacketInfo { offset: index * S, bytes: S, retransmission: false, in_flight: 0 };
            probe.on_packet_sent(&packet);
        }
    }

    /// An ACK of `packets` up to packet `una`.
    fn ack(probe: &mut Probe, micros: u64, una: u64, packets: u64) -> Option<f64> {
        probe.on_ack(Time::from_nanos(micros * 1000), una * S, packets * S)
    }

    #[test]
    fn two_packets_give_the_rate() {
        let mut probe = Probe::default();
        send(&mut probe, 0, 1);
        assert_eq!(ack(&mut probe, 100_000, 1, 1), None);
        send(&mut probe, 1, 2);
        assert_eq!(ack(&mut probe, 200_000, 2, 1), None);
        // The packets that this ACK released are not of the sequence.
        send(&mut probe, 3, 2);
        // (2 - 1) * 1000 B / 800 us = 10 Mbit/s.
        assert_eq!(ack(&mut probe, 200_800, 3, 1), Some(1_250_000.0));
    }

    #[test]
    fn delayed_acks_of_pairs() {
        let mut probe = Probe::default();
        // Two packets, one ACK: no gap.
        send(&mut probe, 0, 2);
        assert_eq!(ack(&mut probe, 100_000, 2, 2), None);
        send(&mut probe, 2, 4);
        assert_eq!(ack(&mut probe, 200_000, 4, 2), None);
        // 2 * 1000 B / 1600 us.
        assert_eq!(ack(&mut probe, 201_600, 6, 2), Some(1_250_000.0));
    }

    #[test]
    fn the_receivers_timer_does_not_count() {
        // Three packets: a pair, and one that waits 200 ms.
        let mut probe = Probe::default();
        send(&mut probe, 0, 3);
        assert_eq!(ack(&mut probe, 100_000, 2, 2), None);
        assert_eq!(ack(&mut probe, 300_000, 3, 1), None);
        // Or until a packet of the next sequence joins it.
        send(&mut probe, 3, 3);
        assert_eq!(ack(&mut probe, 400_000, 5, 2), None);
        assert_eq!(ack(&mut probe, 500_000, 7, 2), None);
        assert_eq!(probe.count, 0, "ready for the next");
        // One that waits joins the first of the sequence, whose other two are a pair.
        send(&mut probe, 8, 3);
        assert_eq!(ack(&mut probe, 600_000, 9, 2), None);
        assert_eq!(ack(&mut probe, 601_600, 11, 2), Some(1_250_000.0));
    }

    #[test]
    fn acks_of_earlier_data_are_not_of_the_sequence() {
        let mut probe = Probe::default();
        send(&mut probe, 5, 2);
        assert_eq!(ack(&mut probe, 10, 4, 1), None);
        assert_eq!(ack(&mut probe, 20, 6, 1), None);
        assert_eq!(ack(&mut probe, 1020, 7, 1), Some(1_000_000.0));
    }

    #[test]
    fn two_acks_at_once_tell_nothing() {
        let mut probe = Probe::default();
        send(&mut probe, 0, 2);
        assert_eq!(ack(&mut probe, 10, 1, 1), None);
        assert_eq!(ack(&mut probe, 10, 2, 1), None);
        assert_eq!(probe.count, 0, "ready for the next");
    }
}
