//! Time as integer nanoseconds: [`Time`] is a point, [`Duration`] a span.

use crate::quantity::{Kind, text_quantity};
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

const KIND: Kind = Kind {
    name: "a duration",
    example: "40 ms",
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ],
};

/// A point in time: nanoseconds since the start of the simulation (or of the connection, in a test).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Time(u64);

impl Time {
    /// The start.
    pub const ZERO: Self = Self(0);
    /// Later than every event: "never", as returned by `poll_timeout` and `next_change`.
    pub const MAX: Self = Self(u64::MAX);

    /// `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// `millis` milliseconds after the start.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// `seconds` seconds after the start, rounded to the nearest nanosecond.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self(Duration::from_secs_f64(seconds).0)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for output only: never compare or order by it.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span since `earlier`, or zero when `earlier` lies ahead.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    /// Saturates at [`Time::MAX`]: "never" plus anything is never.
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub for Time {
    type Output = Duration;
    /// The span from `earlier` to `self`. Debug builds panic when `earlier` lies ahead; release builds give
    /// zero.
    fn sub(self, earlier: Self) -> Duration {
        debug_assert!(self >= earlier, "time runs forward: {self:?} is before {earlier:?}");
        self.saturating_since(earlier)
    }
}

impl Sub<Duration> for Time {
    type Output = Self;
    /// Saturates at [`Time::ZERO`].
    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

/// A span of time in nanoseconds. Written `"40 ms"`.
#[derive(Clone, Copy, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Duration(u64);

text_quantity!(Duration, KIND);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than any run.
    pub const MAX: Self = Self(u64::MAX);

    /// `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// `seconds` whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds * 1_000_000_000)
    }

    /// `seconds` seconds, rounded to the nearest nanosecond; negative and NaN give zero, too large saturates.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self((seconds * 1e9 + 0.5) as u64)
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds, for output and for formulas whose papers are in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Whether the span is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// `self - other`, or zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The absolute difference of two spans.
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }

    /// `self * numerator / denominator`, exact in 128 bits, rounded down.
    pub const fn mul_ratio(self, numerator: u64, denominator: u64) -> Self {
        Self((self.0 as u128 * numerator as u128 / denominator as u128) as u64)
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Self;
    /// Debug builds panic on a negative span; release builds give zero.
    fn sub(self, other: Self) -> Self {
        debug_assert!(self >= other, "a duration cannot be negative: {self:?} - {other:?}");
        self.saturating_sub(other)
    }
}

impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl std::iter::Sum for Duration {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}
