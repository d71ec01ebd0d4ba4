//! Spacing of segments at the rate the congestion control asks for.

use cogtcp_units::{Rate, Time};

/// When the next segment may leave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacer {
    release: Time,
}

impl Pacer {
    /// The time from which a segment may leave.
    pub(crate) const fn release(&self) -> Time {
        self.release
    }

    /// A segment of `bytes` leaves now; the next follows after its time at `rate`. Unused time is not saved up: no
    /// burst follows a pause.
    pub(crate) fn on_send(&mut self, now: Time, bytes: u64, rate: Option<Rate>) {
        if let Some(rate) = rate {
            self.release = self.release.max(now) + rate.transmission_time(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::Duration;

    #[test]
    fn spaces_at_the_rate() {
        let mut pacer = Pacer::default();
        let rate = Some(Rate::from_bits_per_second(8_000_000));
        pacer.on_send(Time::from_millis(5), 1000, rate);
        assert_eq!(pacer.release(), Time::from_millis(6));
        // Late by 9 ms: no credit.
        pacer.on_send(Time::from_millis(15), 1000, rate);
        assert_eq!(pacer.release(), Time::from_millis(16));
        pacer.on_send(Time::from_millis(16), 1000, None);
        assert_eq!(pacer.release(), Time::from_millis(15) + Duration::from_millis(1));
    }
}
