//! Proportional Rate Reduction (RFC 9937, which obsoletes RFC 6937): how much may be sent on each ACK of fast recovery, so
//! that what is in flight ends at ssthresh without a silence of half a round trip before it.

/// One fast recovery under PRR. Bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    /// RecoverFS: what was in flight when recovery began.
    recover_fs: u64,
    /// Delivered since.
    delivered: u64,
    /// Sent since, retransmissions included.
    out: u64,
}

impl Prr {
    /// Recovery begins (RFC 9937 section 6.1): `flight` is SND.NXT - SND.UNA after the ACK that begins it, `sacked` what is
    /// SACKed after it, of which `newly_sacked` by it, and `acked` what it acknowledged.
    pub(crate) fn start(flight: u64, sacked: u64, newly_sacked: u64, acked: u64) -> Self {
        let earlier = sacked.saturating_sub(newly_sacked);
        Self { recover_fs: (flight + acked).saturating_sub(earlier).max(1), delivered: 0, out: 0 }
    }

    /// A segment leaves (section 6.3).
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// cwnd after an ACK that delivered so many bytes (section 6.2). `safe`: the ACK advances SND.UNA and reveals no further loss.
    pub(crate) fn window(
        &mut self,
        delivered: u64,
        in_flight: u64,
        ssthresh: u64,
        mss: u64,
        safe: bool,
    ) -> u64 {
        self.delivered += delivered;
        let count = if in_flight > ssthresh {
            // Proportional rate reduction. Wide, since ssthresh may be anything a control says.
            let share =
                (u128::from(self.delivered) * u128::from(ssthresh)).div_ceil(u128::from(self.recover_fs));
            u64::try_from(share).unwrap_or(u64::MAX).saturating_sub(self.out)
        } else {
            // Conservative reduction bound, and slow start reduction bound while recovery makes good progress.
            let bound = self.delivered.saturating_sub(self.out).max(delivered) + if safe { mss } else { 0 };
            bound.min(ssthresh - in_flight)
        };
        // Section 6.2: a fast retransmit is forced when recovery begins.
        let count = if self.out == 0 && count == 0 { mss } else { count };
        in_flight.saturating_add(count)
    }
}

#[cfg(test)]
mod tests {
    use super::Prr;

    const MSS: u64 = 1000;

    /// RFC 9937 section 6.2, by hand: 20 segments in flight, the first lost, ssthresh 10 (of Reno). Recovery
    /// begins with the third SACK: 3 of 20 are delivered, 16 in flight. PRR then sends one for every two ACKs.
    #[test]
    fn sends_in_proportion_to_what_is_delivered() {
        let mut prr = Prr::start(20 * MSS, 3 * MSS, MSS, 0);
        assert_eq!(prr.recover_fs, 18 * MSS);
        // ceil(1000 * 10000 / 18000) = 556: the fast retransmit itself goes whatever the window.
        assert_eq!(prr.window(MSS, 16 * MSS, 10 * MSS, MSS, false), 16 * MSS + 556);
        prr.on_sent(MSS);
        // From here on, with the retransmission out, 17 in flight less one per ACK plus one per segment sent.
        let mut in_flight = 17 * MSS;
        let mut sent = 0;
        for _ in 0..14 {
            in_flight -= MSS;
            let cwnd = prr.window(MSS, in_flight, 10 * MSS, MSS, false);
            if cwnd >= in_flight + MSS {
                prr.on_sent(MSS);
                in_flight += MSS;
                sent += 1;
            }
        }
        // delivered = 15: ceil(15 * 10 / 18) = 9 with the first retransmission; a whole segment each.
        assert_eq!((sent, in_flight), (7, 10 * MSS));
    }

    /// Below ssthresh: as much as was delivered (CRB), a segment more when the ACK is safe (SSRB), never past ssthresh.
    #[test]
    fn refills_below_ssthresh() {
        let mut prr = Prr::start(20 * MSS, 0, 0, 0);
        assert_eq!(prr.window(MSS, 4 * MSS, 10 * MSS, MSS, false), 5 * MSS);
        prr.on_sent(MSS);
        assert_eq!(prr.window(MSS, 4 * MSS, 10 * MSS, MSS, true), 6 * MSS);
        prr.on_sent(2 * MSS);
        assert_eq!(prr.window(5 * MSS, 8 * MSS, 10 * MSS, MSS, true), 10 * MSS);
    }

    /// The two values that ns-3's tcp-prr-recovery-test computes: in proportion, ceil(51000 * 100000 / 200000) = 25500 above what is
    /// in flight; below ssthresh with more sent than delivered, as much as the ACK delivered.
    #[test]
    fn values_of_ns3() {
        let mut prr = Prr::start(200_000, 0, 0, 0);
        prr.window(MSS, 200_000, 100_000, MSS, false);
        assert_eq!(prr.window(50_000, 200_000, 100_000, MSS, false), 225_500);
        let mut prr = Prr::start(50_000, 0, 0, 0);
        prr.window(MSS, 50_000, 100_000, MSS, false);
        prr.on_sent(50_000);
        assert_eq!(prr.window(MSS, 50_000, 100_000, MSS, false), 51_000);
    }

    /// Nothing sent and nothing due: the fast retransmit goes all the same; a zero flight divides by nothing.
    #[test]
    fn forces_the_fast_retransmit() {
        let mut prr = Prr::start(0, 0, 0, 0);
        assert_eq!(prr.window(0, 12 * MSS, 10 * MSS, MSS, false), 13 * MSS);
        prr.on_sent(MSS);
        assert_eq!(prr.window(0, 12 * MSS, 10 * MSS, MSS, false), 12 * MSS);
        assert_eq!(prr.window(MSS, 12 * MSS, u64::MAX, MSS, true), 14 * MSS);
    }
}
