//! What several controls share: slow start, Reno's additive increase, and the count of round trips.

use super::{ParameterSpec, TcpState};

/// The parameter L of [`slow_start`].
pub(super) const ABC_LIMIT: ParameterSpec =
    ParameterSpec::number("abc_limit", "segments", [1.0, 1.0, 1000.0])
        .described("L: most segments cwnd grows by per ACK in slow start (RFC 5681: 1; RFC 3465: 2)");

/// RFC 5681 equation (2) with RFC 3465's L: cwnd grows by the bytes acknowledged, at most `limit` segments
/// per ACK. The step may pass ssthresh, as the RFC's does.
pub(super) fn slow_start(tcp: &mut TcpState, acked: u64, limit: f64) {
    tcp.cwnd += acked.min((limit * tcp.mss as f64) as u64);
}

/// Whole segments by which cwnd is below ssthresh: the longest step of Linux's slow start (`tcp_slow_start`).
pub(super) const fn segments_to_ssthresh(tcp: &TcpState) -> u64 {
    tcp.ssthresh.saturating_sub(tcp.cwnd).div_ceil(tcp.mss)
}

/// Linux's slow start (`tcp_slow_start`): cwnd grows by the bytes acknowledged, to ssthresh. Returns the bytes that are
/// left for congestion avoidance.
pub(super) fn slow_start_to_ssthresh(tcp: &mut TcpState, acked: u64) -> u64 {
    let step = acked.min(segments_to_ssthresh(tcp).saturating_mul(tcp.mss));
    tcp.cwnd += step;
    acked - step
}

/// RFC 5681 equation (4): half of FlightSize, at least two segments.
pub(super) fn half_flight(tcp: &TcpState) -> u64 {
    (tcp.flight_size / 2).max(2 * tcp.mss)
}

/// Additive increase: `increase` segments per round trip.
#[derive(Clone, Debug)]
pub(super) struct Additive {
    increase: f64,
    byte_counting: bool,
    /// Counting bytes: those acknowledged and not yet turned into growth; counting ACKs: growth below one
    /// byte.
    credit: f64,
}

impl Additive {
    pub(super) fn new(increase: f64, byte_counting: bool) -> Self {
        Self { increase, byte_counting, credit: 0.0 }
    }

    /// Reno's: one segment per window of bytes acknowledged.
    pub(super) fn reno() -> Self {
        Self::new(1.0, true)
    }

    pub(super) fn reset(&mut self) {
        self.credit = 0.0;
    }

    /// Slow start of at most `limit` segments per ACK, and this increase in congestion avoidance. Returns
    /// true in congestion avoidance.
    pub(super) fn grow_from_start(&mut self, tcp: &mut TcpState, acked: u64, limit: f64) -> bool {
        let avoids = !tcp.in_slow_start();
        if avoids {
            self.grow(tcp, acked);
        } else {
            slow_start(tcp, acked, limit);
        }
        avoids
    }

    pub(super) fn grow(&mut self, tcp: &mut TcpState, acked: u64) {
        if self.byte_counting {
            // RFC 5681 section 3.1: when the bytes acknowledged reach cwnd, cwnd grows by (up to) SMSS.
            self.credit += acked as f64;
            if self.credit >= tcp.cwnd as f64 {
                self.credit -= tcp.cwnd as f64;
                tcp.cwnd += (self.increase * tcp.mss as f64) as u64;
            }
        } else {
            // RFC 5681 equation (3), whose fraction of a byte is kept rather than rounded up to one.
            self.credit += self.increase * (tcp.mss * tcp.mss) as f64 / tcp.cwnd as f64;
            let whole = self.credit as u64;
            self.credit -= whole as f64;
            tcp.cwnd += whole;
        }
    }
}

/// Reno as Linux's controls share it (`tcp_reno_ssthresh`, `tcp_reno_cong_avoid`): half of cwnd in whole segments, and
/// slow start that ends at ssthresh.
#[derive(Clone, Debug)]
pub(super) struct LinuxReno {
    increase: Additive,
}

impl Default for LinuxReno {
    fn default() -> Self {
        Self { increase: Additive::reno() }
    }
}

impl LinuxReno {
    /// ssthresh after a loss event.
    pub(super) fn ssthresh(&mut self, tcp: &TcpState) -> u64 {
        self.increase.reset();
        (tcp.cwnd / tcp.mss / 2).max(2) * tcp.mss
    }

    pub(super) fn grow(&mut self, tcp: &mut TcpState, acked: u64) {
        let left = if tcp.in_slow_start() { slow_start_to_ssthresh(tcp, acked) } else { acked };
        if left > 0 {
            self.increase.grow(tcp, left);
        }
    }
}

/// Counts round trips as Vegas does: one is over when the first segment sent after its start is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    start: u64,
}

impl Round {
    /// A round begins with the next segment sent.
    pub(super) fn begin(&mut self, tcp: &TcpState) {
        self.start = tcp.snd_nxt;
    }

    /// Whether the round is over; if so the next one has begun.
    pub(super) fn over(&mut self, tcp: &TcpState) -> bool {
        let over = tcp.snd_una > self.start;
        if over {
            self.begin(tcp);
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing;

    #[test]
    fn slow_start_counts_bytes_up_to_l_segments() {
        let mut tcp = testing::tcp(10);
        slow_start(&mut tcp, 400, 1.0);
        assert_eq!(tcp.cwnd, 10_400);
        slow_start(&mut tcp, 3000, 1.0);
        assert_eq!(tcp.cwnd, 11_400);
        slow_start(&mut tcp, 3000, 2.0);
        assert_eq!(tcp.cwnd, 13_400);
    }

    #[test]
    fn additive_increase_adds_a_segment_per_window() {
        let mut tcp = testing::tcp(10);
        let mut reno = Additive::reno();
        for _ in 0..9 {
            reno.grow(&mut tcp, 1000);
        }
        assert_eq!(tcp.cwnd, 10_000);
        reno.grow(&mut tcp, 1000);
        assert_eq!(tcp.cwnd, 11_000);
        // The next needs 11 segments, however they are grouped into ACKs.
        for _ in 0..5 {
            reno.grow(&mut tcp, 2000);
        }
        assert_eq!(tcp.cwnd, 11_000);
        reno.grow(&mut tcp, 1000);
        assert_eq!(tcp.cwnd, 12_000);
    }

    #[test]
    fn rounds_end_with_the_first_segment_sent_after_their_start() {
        let mut tcp = testing::tcp(10);
        (tcp.snd_una, tcp.snd_nxt) = (0, 10_000);
        let mut round = Round::default();
        round.begin(&tcp);
        (tcp.snd_una, tcp.snd_nxt) = (10_000, 20_000);
        assert!(!round.over(&tcp));
        (tcp.snd_una, tcp.snd_nxt) = (11_000, 21_000);
        assert!(round.over(&tcp));
        assert!(!round.over(&tcp));
        tcp.snd_una = 22_000;
        assert!(round.over(&tcp));
    }

    /// RFC 5681 equation (3): SMSS * SMSS / cwnd for each ACK, whatever it acknowledges: ten ACKs of a window
    /// of ten segments come to a little less than a segment.
    #[test]
    fn growth_per_ack() {
        let mut tcp = testing::tcp(10);
        let mut reno = Additive::new(1.0, false);
        reno.grow(&mut tcp, 2000);
        assert_eq!(tcp.cwnd, 10_100);
        for _ in 1..10 {
            reno.grow(&mut tcp, 1000);
        }
        assert!((10_940..10_970).contains(&tcp.cwnd), "{}", tcp.cwnd);
    }
}
