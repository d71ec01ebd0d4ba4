//! Simulated time as quinn's `Instant`, and back.

use cogtcp_units::{Duration, Time};
use std::sync::LazyLock;
use std::time::Instant;

/// The `Instant` that stands for [`Time::ZERO`]. `Instant` has no other constructor than `now`; only
/// differences to it are used, so its value decides nothing. The day on top keeps differences to earlier
/// instants representable.
#[expect(clippy::disallowed_methods, reason = "the one base, of which no result depends")]
static BASE: LazyLock<Instant> = LazyLock::new(|| Instant::now() + std::time::Duration::from_secs(86_400));

/// Returns the instant of `time`.
pub(crate) fn instant(time: Time) -> Instant {
    *BASE + std::time::Duration::from_nanos(time.as_nanos())
}

/// Returns the time of `instant`, to the nanosecond.
pub(crate) fn time(instant: Instant) -> Time {
    let nanos = instant.saturating_duration_since(*BASE).as_nanos();
    Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Returns `duration` in the standard library's unit.
pub(crate) fn standard(duration: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(duration.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_to_the_nanosecond() {
        for nanos in [0, 1, 999_999_999, 123_456_789_012_345] {
            let at = Time::from_nanos(nanos);
            assert_eq!(time(instant(at)), at);
        }
        assert_eq!(
            instant(Time::from_millis(3)) - instant(Time::from_millis(1)),
            standard(Duration::from_millis(2))
        );
    }
}
