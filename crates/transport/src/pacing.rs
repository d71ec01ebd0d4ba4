//! Spacing of segments at the rate the congestion control asks for.

use cogtcp_units::{Rate, Time};

/// When the next segment may leave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacer {
    /// When the last segment began to take its time.
    from: Time,
    /// Its bytes; 0: it was not paced.
    bytes: u64,
}

impl Pacer {
    /// The time from which a segment may leave, by the present rate. Segments that left at a low rate do not
    /// delay the next one after the rate has risen.
    pub(crate) fn release(&self, rate: Option<Rate>) -> Time {
        match rate {
            Some(rate) if self.bytes > 0 => self.from + rate.transmission_time(self.bytes),
            _ => self.from,
        }
    }

    /// A segment of `bytes` leaves now; the next follows after its time at `rate`. Unused time is not saved
    /// up: no burst follows a pause.
    pub(crate) fn on_send(&mut self, now: Time, bytes: u64, rate: Option<Rate>) {
        self.from = self.release(rate).max(now);
        self.bytes = if rate.is_some() { bytes } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_at_the_rate() {
        let mut pacer = Pacer::default();
        let rate = Some(Rate::from_bits_per_second(8_000_000));
        pacer.on_send(Time::from_millis(5), 1000, rate);
        assert_eq!(pacer.release(rate), Time::from_millis(6));
        // Late by 9 ms: no credit.
        pacer.on_send(Time::from_millis(15), 1000, rate);
        assert_eq!(pacer.release(rate), Time::from_millis(16));
        pacer.on_send(Time::from_millis(16), 1000, None);
        assert_eq!(pacer.release(rate), Time::from_millis(16));
    }

    #[test]
    fn a_higher_rate_counts_at_once() {
        let mut pacer = Pacer::default();
        pacer.on_send(Time::from_millis(5), 1000, Some(Rate::from_bits_per_second(8)));
        let rate = Some(Rate::from_bits_per_second(8_000_000));
        assert_eq!(pacer.release(rate), Time::from_millis(6));
    }
}
