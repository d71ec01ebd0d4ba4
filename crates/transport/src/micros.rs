//! Linux's clock of TCP counts whole microseconds.

use cogtcp_units::{Duration, Time};

/// A span in whole microseconds, rounded down.
#[inline]
pub(crate) const fn whole(span: Duration) -> Duration {
    Duration::from_micros(count(span))
}

/// Whole microseconds of a span.
#[inline]
pub(crate) const fn count(span: Duration) -> u64 {
    span.as_nanos() / 1000
}

/// What that clock reads at `time`.
#[inline]
pub(crate) const fn clock(time: Time) -> Time {
    Time::from_nanos(time.as_nanos() / 1000 * 1000)
}

/// The span between two readings of that clock.
#[inline]
pub(crate) const fn between(from: Time, to: Time) -> Duration {
    clock(to).saturating_since(clock(from))
}
