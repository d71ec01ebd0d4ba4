//! Buckets of time over a list of intervals: where in the list a search has to look.

use super::OnInterval;
use cogtcp_units::Time;
use std::ops::Range;

/// For each bucket of 2^shift nanoseconds, how many intervals end before it begins. About two intervals a
/// bucket, so that a search looks at few, however long the list, and the index is small beside it.
#[derive(Clone, Debug, Default)]
pub(super) struct TimeIndex {
    shift: u32,
    /// `ended[b]`: number of intervals with a departure at or before the start of bucket b.
    ended: Vec<u32>,
}

impl TimeIndex {
    /// To be called after each interval pushed to `list`. Amortised constant time: the buckets are laid again
    /// when the list has doubled, or when a long gap would take too many of them.
    pub(super) fn pushed(&mut self, list: &[OnInterval]) {
        let Some(last) = list.last().map(|interval| interval.departure.as_nanos()) else { return };
        let needed = (last >> self.shift) + 1;
        // `needed` grows past the list where a long gap follows short intervals.
        if list.len().is_power_of_two() || needed > 4 * list.len() as u64 {
            // The power of two lies between 1.5 and 3 mean distances: about two intervals a bucket.
            self.shift = (last / list.len() as u64).saturating_mul(3).max(1).ilog2();
            self.ended.clear();
        }
        // The intervals before the last one pushed are counted in `ended` already, unless it was just
        // cleared.
        let mut ended = self.ended.last().map_or(0, |count| *count as usize);
        let buckets = (last >> self.shift) + 1;
        while (self.ended.len() as u64) < buckets {
            let start = (self.ended.len() as u64) << self.shift;
            while list.get(ended).is_some_and(|interval| interval.departure.as_nanos() <= start) {
                ended += 1;
            }
            // Past 2^32 intervals (64 GiB of them) the search would only start too early.
            self.ended.push(u32::try_from(ended).unwrap_or(u32::MAX));
        }
    }

    /// Where in a list of `len` intervals to begin the search for the first one to end after `at`.
    pub(super) fn first(&self, at: Time, len: usize) -> usize {
        self.ended_before(at.as_nanos() >> self.shift, len)
    }

    /// The part of a list of `len` intervals that holds the first one to end after `at`, or ends before it.
    pub(super) fn bucket(&self, at: Time, len: usize) -> Range<usize> {
        let after = (at.as_nanos() >> self.shift).saturating_add(1);
        self.first(at, len)..self.ended_before(after, len)
    }

    /// How many intervals end before a bucket begins; all `len` before one beyond the last.
    fn ended_before(&self, bucket: u64, len: usize) -> usize {
        let index = usize::try_from(bucket).unwrap_or(usize::MAX);
        self.ended.get(index).map_or(len, |count| *count as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Intervals;
    use cogtcp_units::RandomStream;

    /// Lists of every shape - dense, sparse, with gaps that grow a thousandfold - against a plain binary
    /// search.
    #[test]
    fn buckets_never_hide_an_interval() {
        for case in 0..200 {
            let mut stream = RandomStream::new(case, "index", 0);
            let mut intervals = Intervals::default();
            let mut at = 0u64;
            for _ in 0..stream.below(300) {
                let scale = 1 << (3 * stream.below(1 + case % 12));
                let arrival = at + stream.below(scale);
                at = arrival + 1 + stream.below(scale);
                let interval =
                    OnInterval { arrival: Time::from_nanos(arrival), departure: Time::from_nanos(at) };
                intervals.push(interval).unwrap();
                assert!(intervals.index.ended.len() <= 4 * intervals.len() + 2, "case {case}: memory");
            }
            let list = intervals.as_slice();
            let mut places: Vec<u64> = (0..200).map(|_| stream.below(at + 10)).collect();
            places.extend([0, at, at + 1, u64::MAX]);
            places.extend(list.iter().flat_map(|on| {
                let (from, until) = (on.arrival.as_nanos(), on.departure.as_nanos());
                [from.saturating_sub(1), from, from + 1, until - 1, until, until + 1]
            }));
            for place in places.into_iter().map(Time::from_nanos) {
                let expected = list.partition_point(|on| on.departure <= place);
                assert_eq!(intervals.first_ending_after(place), expected, "case {case} at {place:?}");
                let expected = list.partition_point(|on| on.arrival < place);
                assert_eq!(intervals.begun_before(place), expected, "case {case} at {place:?}");
            }
        }
    }
}
