//! The ON intervals of one primary user, sorted, with look-ups within a bucket of time.

mod index;

use cogtcp_units::{Duration, Time, write_seconds};
use index::TimeIndex;

/// Intervals that a look-up scans at once before it searches. Most buckets hold no more, and without a
/// data-dependent branch one look-up need not wait for the one before.
const NEAR: usize = 4;

/// One ON interval: from the arrival, included, to the departure, excluded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OnInterval {
    /// The PU starts to transmit.
    pub arrival: Time,
    /// The PU falls silent.
    pub departure: Time,
}

/// The ON intervals of one PU: none empty, in order, none overlapping the next (they may touch).
///
/// A look-up scans the few intervals of one bucket of time, by binary search if they are many. So a million
/// intervals cost no more per look-up than a thousand (`examples/lookup_scaling.rs`).
#[derive(Clone, Debug, Default)]
pub struct Intervals {
    list: Vec<OnInterval>,
    index: TimeIndex,
    /// Total ON time of the intervals before each, so that the busy time of a long window needs no walk.
    busy_before: Vec<Duration>,
}

impl Eq for Intervals {}

impl PartialEq for Intervals {
    /// The rest follows from the list.
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

/// Intervals that are not a timeline.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum IntervalsError {
    /// The departure is not after the arrival.
    #[error(
        "the ON period that arrives at {} s departs at {} s: it must depart after it arrives",
        write_seconds(*arrival), write_seconds(*departure)
    )]
    Empty {
        /// Arrival.
        arrival: Time,
        /// Departure.
        departure: Time,
    },
    /// An interval begins before the one before it ended.
    #[error(
        "the ON period that arrives at {} s begins before the last one ended, at {} s",
        write_seconds(*arrival), write_seconds(*last)
    )]
    Overlap {
        /// Arrival.
        arrival: Time,
        /// Departure of the last.
        last: Time,
    },
}

impl Intervals {
    /// The timeline of these intervals, or what is wrong with the first that does not fit.
    pub fn new(list: Vec<OnInterval>) -> Result<Self, IntervalsError> {
        let mut intervals = Self::default();
        intervals.list.reserve_exact(list.len());
        intervals.busy_before.reserve_exact(list.len());
        for interval in list {
            intervals.push(interval)?;
        }
        Ok(intervals)
    }

    /// Adds one interval after the last.
    pub fn push(&mut self, interval: OnInterval) -> Result<(), IntervalsError> {
        let OnInterval { arrival, departure } = interval;
        if departure <= arrival {
            return Err(IntervalsError::Empty { arrival, departure });
        }
        let before = match self.list.last() {
            Some(last) if arrival < last.departure => {
                return Err(IntervalsError::Overlap { arrival, last: last.departure });
            }
            Some(last) => self.busy_before[self.list.len() - 1] + (last.departure - last.arrival),
            None => Duration::ZERO,
        };
        self.list.push(interval);
        self.busy_before.push(before);
        self.index.pushed(&self.list);
        Ok(())
    }

    /// All intervals, in order.
    pub fn as_slice(&self) -> &[OnInterval] {
        &self.list
    }

    /// Number of ON intervals.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether the PU is never ON.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether the PU is ON at `at`.
    pub fn is_on(&self, at: Time) -> bool {
        // Of disjoint intervals only the first that ends after `at` can hold it.
        let index = self.first_ending_after(at);
        self.list.get(index).is_some_and(|interval| interval.arrival <= at)
    }

    /// Whether the PU is ON at any moment of [from, until): arrival before the end and departure after the
    /// start, so that a burst strictly inside the window counts too.
    pub fn overlaps(&self, from: Time, until: Time) -> bool {
        let index = self.first_ending_after(from);
        from < until && self.list.get(index).is_some_and(|interval| interval.arrival < until)
    }

    /// The indexes of the intervals that overlap [from, until).
    pub fn overlapping(&self, from: Time, until: Time) -> std::ops::Range<usize> {
        let first = self.first_ending_after(from);
        let end = self.begun_before(until);
        if from < until { first..end.max(first) } else { first..first }
    }

    /// Total ON time in [from, until).
    pub fn busy_in(&self, from: Time, until: Time) -> Duration {
        if from >= until {
            return Duration::ZERO;
        }
        self.busy_until(until).saturating_sub(self.busy_until(from))
    }

    /// The first arrival at or after `from`; `Time::MAX`: none.
    pub fn next_arrival(&self, from: Time) -> Time {
        let index = self.begun_before(from);
        self.list.get(index).map_or(Time::MAX, |interval| interval.arrival)
    }

    /// The first departure after `at`; `Time::MAX`: none.
    pub fn next_departure(&self, at: Time) -> Time {
        self.list.get(self.first_ending_after(at)).map_or(Time::MAX, |interval| interval.departure)
    }

    /// ON time before `at`.
    fn busy_until(&self, at: Time) -> Duration {
        match self.begun_before(at).checked_sub(1) {
            Some(last) => {
                let OnInterval { arrival, departure } = self.list[last];
                // The last interval may still be ON at `at`.
                self.busy_before[last] + (departure.min(at) - arrival)
            }
            None => Duration::ZERO,
        }
    }

    /// Index of the first interval with a departure after `at`.
    fn first_ending_after(&self, at: Time) -> usize {
        let first = self.index.first(at, self.list.len());
        // Fewer than NEAR are left at the end of the list: the binary search finds them.
        if let Some(near) = self.list.get(first..first + NEAR) {
            // In order: those that have ended are the first of them.
            let ended: usize = near.iter().map(|interval| usize::from(interval.departure <= at)).sum();
            if ended < NEAR {
                return first + ended;
            }
        }
        let bucket = self.index.bucket(at, self.list.len());
        bucket.start + self.list[bucket].partition_point(|interval| interval.departure <= at)
    }

    /// Number of intervals with an arrival before `at`.
    fn begun_before(&self, at: Time) -> usize {
        // What has ended has begun, and of the others only the first can have begun: intervals do not
        // overlap.
        let ended = self.first_ending_after(at);
        ended + usize::from(self.list.get(ended).is_some_and(|interval| interval.arrival < at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::RandomStream;

    fn on(arrival: u64, departure: u64) -> OnInterval {
        OnInterval { arrival: Time::from_nanos(arrival), departure: Time::from_nanos(departure) }
    }

    const AT: fn(u64) -> Time = Time::from_nanos;

    #[test]
    fn overlap_covers_every_relation_of_burst_and_window() {
        let intervals = Intervals::new(vec![on(10, 20)]).unwrap();
        for (from, until, expected, relation) in [
            (0, 5, false, "before"),
            (0, 10, false, "ends as the burst begins"),
            (5, 15, true, "burst begins inside"),
            (12, 18, true, "window inside the burst"),
            (15, 25, true, "burst ends inside"),
            (5, 25, true, "burst strictly inside the window"),
            (10, 20, true, "equal"),
            (20, 30, false, "begins as the burst ends"),
            (25, 30, false, "after"),
            (15, 15, false, "empty window"),
        ] {
            assert_eq!(intervals.overlaps(AT(from), AT(until)), expected, "{relation}");
            assert_eq!(!intervals.overlapping(AT(from), AT(until)).is_empty(), expected, "{relation}");
            assert_eq!(!intervals.busy_in(AT(from), AT(until)).is_zero(), expected, "{relation}");
        }
    }

    #[test]
    fn what_is_not_a_timeline_is_refused() {
        let error = |list| Intervals::new(list).unwrap_err().to_string();
        assert!(error(vec![on(5, 5)]).contains("must depart after it arrives"));
        assert!(
            error(vec![on(5, 9), on(8, 12)]).contains("begins before the last one ended, at 0.000000009 s")
        );
        assert!(Intervals::new(vec![on(5, 9), on(9, 12)]).is_ok(), "intervals may touch");
    }

    /// Against the obvious walk over all intervals and nanoseconds.
    #[test]
    fn look_ups_equal_the_slow_obvious_ones() {
        for case in 0..100 {
            let mut stream = RandomStream::new(case, "intervals", 0);
            let mut list = Vec::new();
            let mut at = 0;
            for _ in 0..stream.below(20) {
                let arrival = at + stream.below(5);
                at = arrival + 1 + stream.below(6);
                list.push(on(arrival, at));
            }
            let intervals = Intervals::new(list.clone()).unwrap();
            let is_on = |t: u64| list.iter().any(|i| i.arrival <= AT(t) && AT(t) < i.departure);
            for _ in 0..60 {
                let from = stream.below(at + 4);
                let until = from + stream.below(12);
                let busy = (from..until).filter(|t| is_on(*t)).count() as u64;
                let window = (AT(from), AT(until));
                assert_eq!(intervals.busy_in(window.0, window.1), Duration::from_nanos(busy), "case {case}");
                assert_eq!(intervals.overlaps(window.0, window.1), busy > 0, "case {case}");
                assert_eq!(intervals.is_on(AT(from)), is_on(from), "case {case}");
                let next = list.iter().map(|i| i.arrival).find(|a| *a >= AT(from));
                assert_eq!(intervals.next_arrival(AT(from)), next.unwrap_or(Time::MAX), "case {case}");
                let overlapping: Vec<_> = intervals.overlapping(window.0, window.1).collect();
                let expected: Vec<_> = (0..list.len())
                    .filter(|i| from < until && list[*i].arrival < AT(until) && list[*i].departure > AT(from))
                    .collect();
                assert_eq!(overlapping, expected, "case {case}");
            }
        }
    }
}
