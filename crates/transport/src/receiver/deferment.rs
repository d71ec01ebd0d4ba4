//! TCP-ADA: how long an acknowledgement is postponed, by how fast segments come (Singh and Kankipati:
//! TCP-ADA, TCP with adaptive delayed acknowledgement for mobile ad hoc networks, WCNC 2004).
//!
//! ```text
//! average   <- GAIN * average + (1 - GAIN) * time since the last segment
//! postponed    FACTOR * average, again from every in-order segment that comes before that time is over
//! ```
//!
//! As long as segments keep coming none is acknowledged; the first pause sends one acknowledgement for all of
//! them, so that it comes to about one a window. The ACK clock is lost with it: a sender that has filled its
//! window waits for the pause.
//!
//! Scope and departures. Only the paper's abstract was at hand, with the descriptions of Singh, Bonnin and
//! Ros (ITST 2012, section II.C) and of surveys. They give a time in proportion to a moving average of the
//! time between segments, and a timer that starts again. FACTOR 1.2 and GAIN 0.8 are from memory. No segment
//! waits longer than the limit, by default the 500 ms of RFC 5681 section 4.2. That section's acknowledgement
//! of every second segment is given up. Before the first average, and out of order, segments are acknowledged
//! at once.

use cogtcp_units::{Duration, Time};

/// The average keeps 8/10 of itself.
const GAIN: (u64, u64) = (8, 10);
/// An acknowledgement waits 12/10 of the average.
const FACTOR: (u64, u64) = (12, 10);

/// The times between the segments of one connection, averaged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deferment {
    last: Option<Time>,
    average: Option<Duration>,
    /// When the first segment came that the delayed ACK answers.
    since: Option<Time>,
}

impl Deferment {
    /// A segment with data arrived. The first time between two segments is the average.
    pub(super) fn on_segment(&mut self, now: Time) {
        let Some(last) = self.last.replace(now) else { return };
        let gap = now.saturating_since(last);
        self.average = Some(match self.average {
            None => gap,
            Some(average) => {
                let kept = average.as_nanos() / GAIN.1 * GAIN.0;
                Duration::from_nanos(kept + gap.as_nanos() / GAIN.1 * (GAIN.1 - GAIN.0))
            }
        });
    }

    /// An acknowledgement waits. Returns when the first segment came that it answers.
    pub(super) fn wait(&mut self, now: Time) -> Time {
        *self.since.get_or_insert(now)
    }

    /// An acknowledgement was sent.
    pub(super) fn on_ack(&mut self) {
        self.since = None;
    }

    /// When an acknowledgement is due if nothing else comes; `None`: at once. `first` is when the earliest
    /// segment came that it answers.
    pub(super) fn due(&self, now: Time, first: Time, limit: Duration) -> Option<Time> {
        let wait = Duration::from_nanos(self.average?.as_nanos() / FACTOR.1 * FACTOR.0);
        Some((now + wait).min(first + limit)).filter(|due| *due > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    #[test]
    fn the_average_by_hand() {
        let limit = Duration::from_millis(500);
        let mut deferment = Deferment::default();
        deferment.on_segment(ms(0));
        assert_eq!(deferment.due(ms(0), ms(0), limit), None, "no time between segments is known");
        // 10 ms: 1.2 * 10 = 12 ms from now.
        deferment.on_segment(ms(10));
        assert_eq!(deferment.due(ms(10), ms(10), limit), Some(ms(22)));
        // 0.8 * 10 + 0.2 * 60 = 20 ms; 1.2 * 20 = 24 ms.
        deferment.on_segment(ms(70));
        assert_eq!(deferment.due(ms(70), ms(10), limit), Some(ms(94)));
        // The first of those it answers came at 10 ms: no later than 510 ms, and not in the past.
        deferment.on_segment(ms(500));
        assert_eq!(deferment.due(ms(500), ms(10), limit), Some(ms(510)));
        assert_eq!(deferment.due(ms(510), ms(10), limit), None);
    }
}
