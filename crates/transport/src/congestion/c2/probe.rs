//! The bandwidth probe: two packets or more sent back to back come back as ACKs spaced by the bottleneck.

use crate::congestion::PacketInfo;
use cogtcp_units::Time;

/// Most packets of a sequence.
const LONGEST: usize = 8;

/// Watches what leaves between two ACKs in slow start until one such sequence has two packets or more and its ACKs come
/// back apart. With a window of one segment the sequence is one packet and tells nothing; the next is two packets, the
/// paper's case.
///
/// The rate is the bytes of the sequence that the first ACK did not cover over the time from that ACK to the one that
/// covers them all: the paper's (L - 1) * S / (T2 - T1) when every packet has its own ACK, and right with delayed ACKs
/// too. A sequence whose packets share one ACK tells nothing, and the next is tried.
#[derive(Clone, Debug, Default)]
pub(super) struct Probe {
    /// End offset and bytes of the packets of the sequence.
    packets: [(u64, u64); LONGEST],
    count: usize,
    /// The sequence is complete: an ACK came after it was sent.
    closed: bool,
    /// When the first ACK of the sequence came and the bytes that it left.
    first: Option<(Time, u64)>,
}

impl Probe {
    pub(super) fn on_packet_sent(&mut self, packet: &PacketInfo) {
        if !self.closed && self.count < LONGEST {
            self.packets[self.count] = (packet.offset + packet.bytes, packet.bytes);
            self.count += 1;
        }
    }

    /// An ACK up to `una`. Returns the rate in bytes per second when this ACK completes a sequence.
    pub(super) fn on_ack(&mut self, now: Time, una: u64) -> Option<f64> {
        if self.count < 2 {
            *self = Self::default();
            return None;
        }
        self.closed = true;
        let sequence = &self.packets[..self.count];
        let left: u64 = sequence.iter().filter(|(end, _)| *end > una).map(|(_, bytes)| bytes).sum();
        match self.first {
            None if sequence[0].0 > una => return None,
            None if left > 0 => {
                self.first = Some((now, left));
                return None;
            }
            Some(_) if left > 0 => return None,
            _ => {}
        }
        let rate = self.first.and_then(|(at, bytes)| {
            let gap = now.saturating_since(at);
            (!gap.is_zero()).then(|| bytes as f64 / gap.as_secs_f64())
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

    fn at(micros: u64) -> Time {
        Time::from_nanos(micros * 1000)
    }

    #[test]
    fn two_packets_give_the_rate() {
        let mut probe = Probe::default();
        send(&mut probe, 0, 1);
        assert_eq!(probe.on_ack(at(100_000), S), None);
        send(&mut probe, 1, 2);
        assert_eq!(probe.on_ack(at(200_000), 2 * S), None);
        // The packet that this ACK released is not of the sequence.
        send(&mut probe, 3, 2);
        // (2 - 1) * 1000 B / 800 us = 10 Mbit/s.
        assert_eq!(probe.on_ack(at(200_800), 3 * S), Some(1_250_000.0));
    }

    #[test]
    fn a_sequence_of_four_under_delayed_acks() {
        let mut probe = Probe::default();
        // Two packets, one ACK: no gap.
        send(&mut probe, 0, 2);
        assert_eq!(probe.on_ack(at(100_000), 2 * S), None);
        send(&mut probe, 2, 4);
        assert_eq!(probe.on_ack(at(200_000), 4 * S), None);
        // 2 * 1000 B / 1600 us.
        assert_eq!(probe.on_ack(at(201_600), 6 * S), Some(1_250_000.0));
    }

    #[test]
    fn acks_of_earlier_data_are_not_of_the_sequence() {
        let mut probe = Probe::default();
        send(&mut probe, 5, 2);
        assert_eq!(probe.on_ack(at(10), 4 * S), None);
        assert_eq!(probe.on_ack(at(20), 6 * S), None);
        assert_eq!(probe.on_ack(at(1020), 7 * S), Some(1_000_000.0));
    }

    #[test]
    fn two_acks_at_once_tell_nothing() {
        let mut probe = Probe::default();
        send(&mut probe, 0, 2);
        assert_eq!(probe.on_ack(at(10), S), None);
        assert_eq!(probe.on_ack(at(10), 2 * S), None);
        assert_eq!(probe.count, 0, "ready for the next");
    }
}
