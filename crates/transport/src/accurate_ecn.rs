//! Accurate ECN (RFC 9768): what both ends count, and how three bits carry it.
//!
//! ```text
//! r.cep   packets that arrived marked, from 5     at the data receiver
//! ACE     the three lowest bits of r.cep          AE, CWR and ECE of every segment without SYN
//! s.cep   r.cep, as far as ACKs tell              at the data sender
//! ```
//!
//! The AccECN option with its counts of bytes is left out; it is optional. So are ECT on SYNs and on pure
//! ACKs (ECN++), the test for marks on every packet, and the cache of failed attempts. SYNs of both modes in
//! one handshake do not reset the connection: the first counts.

use crate::Segment;

/// The counters of marked packets before the first (section 3.2.1).
pub(crate) const FIRST_COUNT: u8 = 5;
/// Marks that a receiver acknowledges at once: with unacknowledged data, and without (section 3.2.2.5.1).
pub(crate) const MARKS_AT_ONCE: [u8; 2] = [2, 3];
/// The counter in ACE wraps here.
const WRAP: u64 = 8;

/// The ECN field with which a SYN or a SYN-ACK arrived, as its answer has it in AE, CWR and ECE (tables 2 and
/// 3).
pub(crate) fn reflection(segment: &Segment) -> u8 {
    match segment {
        segment if segment.is_marked() => 0b110,
        segment if segment.is_l4s() => 0b011,
        segment if segment.is_ecn_capable() => 0b100,
        _ => NOT_CAPABLE,
    }
}

/// The reflection of a packet that was not ECN-capable, as every SYN of ours.
pub(crate) const NOT_CAPABLE: u8 = 0b010;

/// Packets newly marked: the increase of the counter from `count` to one that ends with `ace`, when an ACK
/// delivers `packets`. Where ACE may have wrapped in between, the safest likely case: the greatest increase
/// within `packets` (section 3.2.2.5.2, appendix A.2.1).
pub(crate) fn increase(count: u8, ace: u8, packets: u64) -> u64 {
    let least = u64::from(ace.wrapping_sub(count) & 7);
    // More marks than packets: the counter is right, and counts packets without data (section 3.2.2.5.2).
    if packets < WRAP { least } else { packets - (packets - least) % WRAP }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flags, SeqNumber};

    /// Counter 5; ACE 7, 4, 5, 6: 2, 7, 0 and 1 marks at least.
    #[test]
    fn the_safest_likely_increase() {
        let of = |ace, packets| increase(5, ace, packets);
        assert_eq!([of(7, 2), of(4, 7), of(5, 7), of(7, 1)], [2, 7, 0, 2]);
        // The example of appendix A.2.1: ten packets, two marks at least: as many as ten.
        assert_eq!([of(7, 10), of(5, 8), of(5, 10), of(6, 20), of(4, 8)], [10, 8, 8, 17, 7]);
        // The counter has gone past 255.
        assert_eq!(increase(254, 1, 3), 3);
    }

    #[test]
    fn the_increase_is_the_greatest_that_fits() {
        for packets in 0..40 {
            for (count, ace) in (0..8).flat_map(|count| (0..8).map(move |ace| (count, ace))) {
                let found = increase(count, ace, packets);
                assert_eq!((u64::from(count) + found) % 8, u64::from(ace));
                assert!(found < 8 || (found <= packets && found + 8 > packets), "{packets} {found}");
            }
        }
    }

    #[test]
    fn a_handshake_reflects_the_ecn_field() {
        let mut segment = Segment::new(SeqNumber::new(0), SeqNumber::new(0), 0, 0, Flags::SYN);
        assert_eq!(reflection(&segment), 0b010);
        segment.set_ecn_capable();
        assert_eq!(reflection(&segment), 0b100);
        segment.set_l4s();
        assert_eq!(reflection(&segment), 0b011);
        segment.mark();
        assert_eq!(reflection(&segment), 0b110);
    }
}
