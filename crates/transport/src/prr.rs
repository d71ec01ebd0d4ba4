//! Proportional Rate Reduction (RFC 9937, which obsoletes RFC 6937). It decides how much each ACK of fast
//! recovery sends, so that the flight ends at ssthresh without a silence of half a round trip.
//!
//! Linux (`tcp_init_cwnd_reduction`, `tcp_cwnd_reduction`; 6.18) counts in whole segments, and its RecoverFS
//! is cwnd. So segments that left on the first duplicates, beyond the flight at the loss, are reduced in
//! proportion too. Rounded up to segments, each segment leaves up to a segment's worth of ACKs earlier than
//! by bytes.

/// One fast recovery under PRR. Bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prr {
    /// What is counted as one: a byte, in Linux a segment.
    unit: u64,
    /// RecoverFS: what was in flight when recovery began.
    recover_fs: u64,
    /// Delivered since.
    delivered: u64,
    /// Sent since, retransmissions included.
    out: u64,
}

impl Default for Prr {
    fn default() -> Self {
        Self::start(0, 0, 0, 0)
    }
}

impl Prr {
    /// Recovery begins (RFC 9937 section 6.1). `flight` is SND.NXT - SND.UNA after the ACK that begins it,
    /// `acked` the bytes that this ACK acknowledged. `sacked` are the SACKed bytes after it, `newly_sacked`
    /// of them by it.
    pub(crate) fn start(flight: u64, sacked: u64, newly_sacked: u64, acked: u64) -> Self {
        let earlier = sacked.saturating_sub(newly_sacked);
        // A divisor, so never zero.
        let recover_fs = (flight + acked).saturating_sub(earlier).max(1);
        Self { unit: 1, recover_fs, delivered: 0, out: 0 }
    }

    /// Recovery begins, as in Linux: in segments of `mss` bytes, RecoverFS the cwnd of before.
    pub(crate) fn start_in_segments(prior_cwnd: u64, mss: u64) -> Self {
        Self { unit: mss, recover_fs: prior_cwnd.max(mss), delivered: 0, out: 0 }
    }

    /// A segment leaves (section 6.3).
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// cwnd after an ACK that delivered so many bytes (section 6.2). `safe`: the ACK advances SND.UNA and
    /// reveals no further loss.
    pub(crate) fn window(
        &mut self,
        delivered: u64,
        in_flight: u64,
        ssthresh: u64,
        mss: u64,
        safe: bool,
    ) -> u64 {
        self.delivered += delivered;
        let units = |bytes: u64| bytes.div_ceil(self.unit);
        let (total, out) = (units(self.delivered), units(self.out));
        let (pipe, ssthresh) = (units(in_flight), ssthresh / self.unit);
        let count = if pipe > ssthresh {
            // Proportional rate reduction. Wide, since ssthresh may be anything a control says.
            let share =
                (u128::from(total) * u128::from(ssthresh)).div_ceil(u128::from(units(self.recover_fs)));
            u64::try_from(share).unwrap_or(u64::MAX).saturating_sub(out)
        } else {
            // Conservative reduction bound, and slow start reduction bound while recovery makes good
            // progress.
            let bound = total.saturating_sub(out).max(units(delivered)) + if safe { units(mss) } else { 0 };
            // No underflow: in this branch `pipe` is at most ssthresh.
            bound.min(ssthresh - pipe)
        };
        let bytes = count.saturating_mul(self.unit);
        // Section 6.2: a fast retransmit is forced when recovery begins.
        in_flight.saturating_add(if self.out == 0 && bytes == 0 { mss } else { bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::Prr;

    const MSS: u64 = 1000;

    /// RFC 9937 section 6.2, by hand: 20 segments in flight, the first lost, ssthresh 10 (of Reno). Recovery
    /// begins with the third SACK: 3 of 20 are delivered, 16 in flight. PRR then sends one for every two
    /// ACKs.
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

    /// `tcp_cwnd_reduction`, by hand: cwnd 10, ssthresh 5, recovery from the third SACK on, so that two more
    /// left on the first two. The share of n delivered, ceil(n * 5 / 10), is a segment for the third, the
    /// fifth and so on. In bytes RecoverFS is 10 too (12 sent less 2 SACKed before), and the second segment
    /// leaves with the fourth.
    #[test]
    fn linux_counts_whole_segments() {
        let left = |mut prr: Prr| {
            let mut in_flight = 8 * MSS;
            (1..=5)
                .filter(|_| {
                    let room = prr.window(MSS, in_flight, 5 * MSS, MSS, false) - in_flight;
                    // The retransmission goes whatever the window.
                    let leaves = prr.out == 0 || room >= MSS;
                    if leaves {
                        prr.on_sent(MSS);
                    }
                    in_flight -= if leaves { 0 } else { MSS };
                    leaves
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(left(Prr::start(12 * MSS, 3 * MSS, MSS, 0)), [1, 4]);
        assert_eq!(left(Prr::start_in_segments(10 * MSS, MSS)), [1, 3, 5]);
    }

    /// `prior_cwnd`, not what is in flight: of 20 segments of cwnd 10 are out, and a quarter of what is
    /// delivered leaves.
    #[test]
    fn linux_takes_cwnd_for_what_was_in_flight() {
        let after_four = |mut prr: Prr| {
            prr.on_sent(MSS);
            (0..4).map(|_| prr.window(MSS, 8 * MSS, 5 * MSS, MSS, false)).last().unwrap() - 8 * MSS
        };
        assert_eq!(after_four(Prr::start(10 * MSS, MSS, MSS, 0)), MSS);
        assert_eq!(after_four(Prr::start_in_segments(20 * MSS, MSS)), 0);
    }

    /// Bytes that are no whole segment count as one where they are delivered or in flight; of ssthresh whole
    /// segments count.
    #[test]
    fn linux_rounds_parts_of_segments() {
        let mut prr = Prr::start_in_segments(10 * MSS, MSS);
        assert_eq!(prr.window(MSS, 7_100, 5_900, MSS, false), 7_100 + MSS);
        prr.on_sent(MSS);
        // 2 of 10, ceil(2 * 5 / 10) = 1, which is out; then 3.
        assert_eq!(prr.window(1, 7_100, 5_900, MSS, false), 7_100);
        assert_eq!(prr.window(MSS, 7_100, 5_900, MSS, false), 7_100 + MSS);
        // Six of 5 in flight no more: the bound, and ssthresh.
        assert_eq!(prr.window(MSS, 4_100, 5_900, MSS, true), 4_100);
        assert_eq!(prr.window(MSS, 3_100, 5_900, MSS, true), 3_100 + MSS);
    }

    /// Below ssthresh: as much as was delivered (CRB), a segment more when the ACK is safe (SSRB), never past
    /// ssthresh.
    #[test]
    fn refills_below_ssthresh() {
        let mut prr = Prr::start(20 * MSS, 0, 0, 0);
        assert_eq!(prr.window(MSS, 4 * MSS, 10 * MSS, MSS, false), 5 * MSS);
        prr.on_sent(MSS);
        assert_eq!(prr.window(MSS, 4 * MSS, 10 * MSS, MSS, true), 6 * MSS);
        prr.on_sent(2 * MSS);
        assert_eq!(prr.window(5 * MSS, 8 * MSS, 10 * MSS, MSS, true), 10 * MSS);
    }

    /// The two values of ns-3's tcp-prr-recovery-test. In proportion: ceil(51000 * 100000 / 200000) = 25500
    /// above the flight. Below ssthresh with more sent than delivered: as much as the ACK delivered.
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
