//! SACK compression: which acknowledgements of out-of-order segments a Linux receiver puts off
//! (`tcp_input.c`, `__tcp_ack_snd_check`, since Linux 4.18).
//!
//! ```text
//! while the cumulative ACK stands still    the first 3 duplicate ACKs at once, so that DupThresh is met
//! those after them                          one for all that come in 5 % of a round trip, 1 ms at most
//! ```
//!
//! `tcp_comp_sack_slack_ns` lets the kernel's timer fire up to 100 us late. Captures of the kernel plane show
//! this delay on an idle host; here it always applies (`compression_slack`). A sender sees SACKs a millisecond late,
//! behind ACKs that are on time. A delivery rate measured from a late SACK to an ACK is 2 % too high at a round
//! trip of 50 ms.
//!
//! What was put off leaves before a third SACK block begins or grows (`TCP_SACK_BLOCKS_EXPECTED`): an ACK has room for
//! few.

use crate::micros;
use cogtcp_units::{Duration, Time};

/// `TCP_FASTRETRANS_THRESH`.
const AT_ONCE: u32 = 3;
/// `TCP_SACK_BLOCKS_EXPECTED`.
const EXPECTED_BLOCKS: usize = 2;
/// `tcp_comp_sack_nr`.
const MOST: u32 = 44;
/// `tcp_comp_sack_delay_ns`.
const LONGEST: Duration = Duration::from_millis(1);

/// Of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SackCompression {
    rtt: Duration,
    /// The cumulative acknowledgement for which duplicates are counted.
    frontier: u64,
    duplicates: u32,
    /// ACKs put off since the last that was sent.
    put_off: u32,
}

impl SackCompression {
    /// The handshake gave a round-trip time.
    pub(super) fn set_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt;
    }

    /// A segment came out of order, the cumulative acknowledgement standing at `frontier`: until when its ACK
    /// is put off but for the timer's slack; `None`: it goes at once. `rtt`: a lower round-trip time than the handshake's,
    /// if one is known.
    pub(super) fn put_off(&mut self, now: Time, frontier: u64, rtt: Option<Duration>) -> Option<Time> {
        if self.put_off >= MOST {
            return None;
        }
        if self.frontier != frontier {
            (self.frontier, self.duplicates) = (frontier, 0);
        }
        if self.duplicates < AT_ONCE {
            self.duplicates += 1;
            return None;
        }
        self.put_off += 1;
        let rtt = match rtt {
            Some(rtt) if self.rtt.is_zero() => rtt,
            Some(rtt) => rtt.min(self.rtt),
            None => self.rtt,
        };
        // In whole microseconds, as Linux measures it.
        Some(now + (micros::whole(rtt) / 20).min(LONGEST))
    }

    /// Whether an ACK was put off.
    pub(super) fn is_waiting(&self) -> bool {
        self.put_off > 0
    }

    /// Whether an ACK was put off, which leaves before the block of rank `rank`, by recency from 0, begins or grows.
    pub(super) fn leaves_before(&self, rank: usize) -> bool {
        self.is_waiting() && rank >= EXPECTED_BLOCKS
    }

    /// An ACK was sent.
    pub(super) fn on_ack(&mut self) {
        self.put_off = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_at_once_then_one_for_a_millisecond() {
        let us = |micros: u64| Time::from_nanos(1000 * micros);
        let mut sacks = SackCompression::default();
        sacks.set_rtt(Duration::from_millis(50));
        let mut at_once = |frontier| (0..4).map(|_| sacks.put_off(us(0), frontier, None)).collect::<Vec<_>>();
        assert_eq!(at_once(1000), [None, None, None, Some(us(1000))]);
        // A partial ACK: three more.
        assert_eq!(at_once(2000), [None, None, None, Some(us(1000))]);
        // 5 % of 10 ms.
        sacks.set_rtt(Duration::from_millis(10));
        assert_eq!(sacks.put_off(us(7), 2000, None), Some(us(507)));
        // 44 at most.
        let more = (0..60).take_while(|_| sacks.put_off(us(7), 2000, None).is_some()).count();
        assert_eq!(more, 41);
        sacks.on_ack();
        assert_eq!(sacks.put_off(us(9), 2000, Some(Duration::from_millis(6))), Some(us(309)));
    }
}
