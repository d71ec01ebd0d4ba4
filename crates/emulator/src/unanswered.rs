//! Data segments that arrived and wait for the acknowledgement that answers them: for round-trip times as the
//! simulator takes them, by the headers of Linux's packets.

use cogtcp_headers::{self as headers, PacketEnds, WireSegment};
use cogtcp_transport::SeqNumber;
use cogtcp_units::Time;
use std::collections::VecDeque;

/// A connection whose receiver acknowledges nothing keeps no more than this many.
const MOST: usize = 1 << 16;

/// Data that arrived.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// Of the data's direction; `None`: a datagram.
    ends: Option<PacketEnds>,
    /// Sequence numbers of its first byte and of the byte after its last.
    from: SeqNumber,
    to: SeqNumber,
    sent_at: Time,
}

/// What arrived of a flow since its last acknowledgement, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Unanswered {
    arrivals: VecDeque<Arrival>,
}

impl Unanswered {
    /// A packet with data arrived that was sent at `sent_at`.
    pub(crate) fn arrive(&mut self, bytes: &[u8], sent_at: Time) {
        let (ends, from, len) = match headers::read_tcp(bytes) {
            Some((ends, tcp)) => (Some(ends), SeqNumber::new(tcp.seq), tcp.payload as u32),
            None => (None, SeqNumber::default(), 0),
        };
        if self.arrivals.len() == MOST {
            self.arrivals.pop_front();
        }
        self.arrivals.push_back(Arrival { ends, from, to: from.plus(len), sent_at });
    }

    /// When the segment was sent that the acknowledgement in `bytes` answers, if it answers any, as in the simulator.
    ///
    /// Of segments that it acknowledges in order it answers the first, which RFC 7323 section 4.3 names in the echo.
    /// Else it answers the segment that its first SACK block reports (RFC 2018 section 4), if it is alone. Without
    /// SACK, one that acknowledges nothing answers the oldest.
    pub(crate) fn answer(&mut self, bytes: &[u8]) -> Option<Time> {
        let Some((ends, tcp)) = headers::read_tcp(bytes) else {
            // Which datagrams one answers is encrypted: all.
            return self.arrivals.drain(..).next().map(|first| first.sent_at);
        };
        let own = |arrival: &Arrival| arrival.ends == Some(ends.reversed());
        let ack = SeqNumber::new(tcp.ack);
        let acked = |arrival: &Arrival| own(arrival) && !ack.is_before(arrival.to);
        // By sequence number, then by arrival.
        let first = self
            .arrivals
            .iter()
            .filter(|arrival| acked(arrival))
            .reduce(|first, arrival| if arrival.from.is_before(first.from) { arrival } else { first });
        if let Some(sent_at) = first.map(|first| first.sent_at) {
            self.arrivals.retain(|arrival| !acked(arrival));
            return Some(sent_at);
        }
        let Some((left, right)) = first_block(&tcp) else {
            let oldest = self.arrivals.iter().position(own)?;
            return self.arrivals.remove(oldest).map(|arrival| arrival.sent_at);
        };
        let held =
            |arrival: &Arrival| own(arrival) && !arrival.from.is_before(left) && !right.is_before(arrival.to);
        let mut reported = self.arrivals.iter().filter(|arrival| held(arrival));
        let only = reported.next().filter(|_| reported.next().is_none()).map(|arrival| arrival.sent_at);
        self.arrivals.retain(|arrival| !held(arrival));
        only
    }
}

fn first_block(tcp: &WireSegment) -> Option<(SeqNumber, SeqNumber)> {
    tcp.options.sack.first().map(|(left, right)| (SeqNumber::new(*left), SeqNumber::new(*right)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_headers::TcpOptions;

    const A: ([u8; 4], u16) = ([100, 64, 0, 1], 40_000);
    const B: ([u8; 4], u16) = ([100, 64, 0, 2], 5001);

    fn packet(from: ([u8; 4], u16), to: ([u8; 4], u16), tcp: &WireSegment) -> Vec<u8> {
        headers::write_tcp(PacketEnds { from: from.into(), to: to.into() }, tcp)
    }

    /// Segment `k` of 1000 bytes; numbers wrap behind the first.
    fn number(k: u32) -> u32 {
        (u32::MAX - 999).wrapping_add(1000 * k)
    }

    fn arrive(unanswered: &mut Unanswered, from: ([u8; 4], u16), k: u32, ms: u64) {
        let tcp = WireSegment { seq: number(k), payload: 1000, ..WireSegment::default() };
        unanswered.arrive(&packet(from, B, &tcp), Time::from_millis(ms));
    }

    fn ack(
        unanswered: &mut Unanswered,
        to: ([u8; 4], u16),
        k: u32,
        block: Option<(u32, u32)>,
    ) -> Option<Time> {
        let mut options = TcpOptions::default();
        if let Some((from, to)) = block {
            options.sack.push(number(from), number(to));
        }
        unanswered.answer(&packet(B, to, &WireSegment { ack: number(k), options, ..WireSegment::default() }))
    }

    fn ms(ms: u64) -> Option<Time> {
        Some(Time::from_millis(ms))
    }

    /// A kernel may acknowledge a burst in several packets of one instant: each answers the first that it
    /// acknowledges and the one before it did not.
    #[test]
    fn each_ack_of_a_burst_answers_its_own_first() {
        let mut unanswered = Unanswered::default();
        for k in 0..6 {
            arrive(&mut unanswered, A, k, 10 + u64::from(k));
        }
        assert_eq!(ack(&mut unanswered, A, 2, None), ms(10));
        assert_eq!(ack(&mut unanswered, A, 6, None), ms(12));
        assert_eq!(ack(&mut unanswered, A, 6, None), None);
    }

    /// Behind a gap each duplicate ACK answers the segment that its first block reports, and one that was put off
    /// for several answers none. The ACK of the segment that fills the gap answers this segment.
    #[test]
    fn behind_a_gap_the_first_block_says_which() {
        let mut unanswered = Unanswered::default();
        for k in 1..6 {
            arrive(&mut unanswered, A, k, u64::from(k));
        }
        assert_eq!(ack(&mut unanswered, A, 0, Some((1, 2))), ms(1));
        assert_eq!(ack(&mut unanswered, A, 0, Some((1, 3))), ms(2));
        assert_eq!(ack(&mut unanswered, A, 0, Some((1, 5))), None);
        arrive(&mut unanswered, A, 0, 90);
        assert_eq!(ack(&mut unanswered, A, 6, None), ms(90));
        assert!(unanswered.arrivals.is_empty());
    }

    /// Without SACK a duplicate ACK answers the oldest, and of another path's segments none.
    #[test]
    fn paths_are_apart() {
        let mut unanswered = Unanswered::default();
        let other = ([100, 64, 1, 1], 40_000);
        arrive(&mut unanswered, A, 1, 1);
        arrive(&mut unanswered, other, 0, 2);
        arrive(&mut unanswered, A, 2, 3);
        assert_eq!(ack(&mut unanswered, other, 1, None), ms(2));
        assert_eq!(ack(&mut unanswered, other, 1, None), None);
        assert_eq!(ack(&mut unanswered, A, 0, None), ms(1));
        assert_eq!(ack(&mut unanswered, A, 0, None), ms(3));
    }

    #[test]
    fn a_datagram_back_answers_the_oldest_and_the_rest_wait_no_longer() {
        let mut unanswered = Unanswered::default();
        let datagram = |from: ([u8; 4], u16), to: ([u8; 4], u16)| {
            headers::write_udp(PacketEnds { from: from.into(), to: to.into() }, &[0; 100])
        };
        unanswered.arrive(&datagram(A, B), Time::from_millis(1));
        unanswered.arrive(&datagram(A, B), Time::from_millis(2));
        assert_eq!(unanswered.answer(&datagram(B, A)), ms(1));
        assert_eq!(unanswered.answer(&datagram(B, A)), None);
    }
}
