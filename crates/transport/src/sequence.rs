//! 32-bit sequence numbers on the wire, 64-bit offsets inside.

use std::fmt;

/// A sequence or acknowledgement number as it stands in the header: 32 bits, wrapping (RFC 9293 section 3.4).
///
/// Sender and receiver compute with *offsets*: 64-bit positions in the stream that never wrap. The SYN has
/// offset 0, the first byte of data offset 1, the FIN the offset after the last byte.
#[derive(Clone, Copy, Default, Eq, Hash, PartialEq)]
pub struct SeqNumber(u32);

impl SeqNumber {
    /// The number with this header value.
    pub const fn new(value: u32) -> Self {
        Self(value)
    }

    /// The header value.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The number at `offset` of a stream whose SYN carried `isn`.
    pub const fn from_offset(isn: Self, offset: u64) -> Self {
        Self(isn.0.wrapping_add(offset as u32))
    }

    /// The offset nearest to `near` that this number can stand for, in a stream whose SYN carried `isn`.
    /// `None` when that would lie before the SYN. Exact while the true offset is within 2^31 of `near`.
    pub const fn offset_near(self, isn: Self, near: u64) -> Option<u64> {
        let low = self.0.wrapping_sub(isn.0);
        let delta = low.wrapping_sub(near as u32) as i32;
        near.checked_add_signed(delta as i64)
    }

    /// The number `bytes` later.
    pub const fn plus(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes))
    }

    /// Whether this number comes before `other` in the half of the number space around it.
    pub const fn is_before(self, other: Self) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }
}

impl fmt::Debug for SeqNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for SeqNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_survive_wrapping() {
        let isn = SeqNumber::new(0xffff_fff0);
        assert_eq!(SeqNumber::from_offset(isn, 0x20).get(), 0x10);
        assert_eq!(SeqNumber::new(0x10).offset_near(isn, 0), Some(0x20));
        // The third time around: 2 * 2^32 + 100.
        let far = (2u64 << 32) + 100;
        let wire = SeqNumber::from_offset(isn, far);
        assert_eq!(wire.offset_near(isn, far - 50_000), Some(far));
        assert_eq!(wire.offset_near(isn, far + 50_000), Some(far));
        assert_eq!(wire.offset_near(isn, far + (1 << 31)), Some(far));
    }

    #[test]
    fn before_the_syn_is_none() {
        assert_eq!(SeqNumber::new(99).offset_near(SeqNumber::new(100), 0), None);
        assert_eq!(SeqNumber::new(100).offset_near(SeqNumber::new(100), 5), Some(0));
    }

    #[test]
    fn order_wraps() {
        assert!(SeqNumber::new(u32::MAX).is_before(SeqNumber::new(0)));
        assert!(!SeqNumber::new(0).is_before(SeqNumber::new(0)));
        assert!(!SeqNumber::new(5).is_before(SeqNumber::new(4)));
        assert_eq!(SeqNumber::new(u32::MAX).plus(2), SeqNumber::new(1));
    }
}
