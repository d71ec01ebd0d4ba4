//! Bit rates.

use crate::quantity::{Kind, text_quantity};
use crate::{Bytes, Duration};

const KIND: Kind = Kind {
    name: "a rate",
    example: "10 Mbit/s",
    units: &[
        ("bit/s", 1),
        ("bps", 1),
        ("kbit/s", 1_000),
        ("kb/s", 1_000),
        ("kbps", 1_000),
        ("Mbit/s", 1_000_000),
        ("Mb/s", 1_000_000),
        ("Mbps", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Gb/s", 1_000_000_000),
        ("Gbps", 1_000_000_000),
    ],
};

/// A bit rate in bits per second. Written `"10 Mbit/s"`.
#[derive(Clone, Copy, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Rate(u64);

text_quantity!(Rate, KIND);

impl Rate {
    /// No rate.
    pub const ZERO: Self = Self(0);

    /// `bits` bits per second.
    pub const fn from_bits_per_second(bits: u64) -> Self {
        Self(bits)
    }

    /// `bytes` delivered in `span`; zero when the span is zero.
    pub const fn from_bytes_in(bytes: u64, span: Duration) -> Self {
        if span.is_zero() {
            return Self(0);
        }
        // A window under 2 GB: 64 bits suffice (and divide ten times faster than 128).
        if bytes < (1 << 31) {
            return Self(bytes * 8_000_000_000 / span.as_nanos());
        }
        Self((bytes as u128 * 8_000_000_000 / span.as_nanos() as u128) as u64)
    }

    /// Bits per second.
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// Time to put `bytes` on a link of this rate, rounded to the nearest nanosecond. Longest possible at
    /// rate 0.
    pub const fn transmission_time(self, bytes: u64) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        // A frame under 2 GB: 64 bits suffice (and divide ten times faster than 128).
        if bytes < (1 << 31) {
            let scaled = bytes * 8_000_000_000;
            return Duration::from_nanos((scaled + self.0 / 2) / self.0);
        }
        Duration::from_nanos(((bytes as u128 * 8_000_000_000 + self.0 as u128 / 2) / self.0 as u128) as u64)
    }

    /// Whole bytes that this rate carries in `span`: `rate * span / 8`, rounded down.
    pub const fn bytes_in(self, span: Duration) -> Bytes {
        Bytes::new((self.0 as u128 * span.as_nanos() as u128 / 8_000_000_000) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_time_is_size_over_rate() {
        let rate = Rate::from_bits_per_second(10_000_000);
        assert_eq!(rate.transmission_time(1000), Duration::from_micros(800));
        assert_eq!(Rate::from_bits_per_second(3).transmission_time(1), Duration::from_nanos(2_666_666_667));
        assert_eq!(rate.bytes_in(Duration::from_millis(40)), Bytes::new(50_000));
        assert_eq!(Rate::from_bytes_in(50_000, Duration::from_millis(40)), rate);
        assert_eq!(Rate::ZERO.transmission_time(1), Duration::MAX);
        // On both sides of where 64 bits end.
        for bytes in [(1 << 31) - 1, 1 << 31] {
            let span = Duration::from_nanos(7);
            assert_eq!(Rate::from_bytes_in(bytes, span).bits_per_second(), bytes * 8_000_000_000 / 7);
        }
    }
}
