//! Reassembly of a byte stream: which offsets have arrived, and in what order the SACK blocks tell it.
//!
//! [`Reassembly`] holds the in-order frontier and a sorted list of the intervals beyond it, on 64-bit
//! offsets. An in-order segment with nothing queued touches only the frontier. The list keeps its capacity,
//! so that nothing is allocated in steady state.

use std::ops::Range;

/// A run of received bytes beyond the in-order frontier.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Interval {
    start: u64,
    end: u64,
    /// The number of the latest segment that touched the interval: RFC 2018 section 4 reports the most recent
    /// first.
    touched: u64,
}

/// What one segment brought.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Insertion {
    /// Bytes by which the in-order frontier moved.
    pub advanced: u64,
    /// Bytes that had not arrived before, in order or not.
    pub new_bytes: u64,
    /// The first contiguous run of bytes that had arrived before: the D-SACK block of RFC 2883 section 4.
    pub duplicate: Option<Range<u64>>,
    /// The segment met a queue of out-of-order data, or joined it: RFC 5681 section 4.2 wants an ACK at once.
    pub gap: bool,
}

/// The set of stream offsets received so far.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    /// All bytes below have arrived.
    frontier: u64,
    /// Disjoint, non-adjacent, ascending, all above the frontier.
    intervals: Vec<Interval>,
    /// Counts insertions.
    clock: u64,
}

impl Reassembly {
    /// Everything below `frontier` received, nothing else.
    pub const fn new(frontier: u64) -> Self {
        Self { frontier, intervals: Vec::new(), clock: 0 }
    }

    /// Adds the bytes of `range`; `accept` is told each run of bytes that had not arrived before, ascending.
    pub fn insert(&mut self, range: Range<u64>, mut accept: impl FnMut(Range<u64>)) -> Insertion {
        if range.start == self.frontier && self.intervals.is_empty() {
            self.frontier = range.end.max(self.frontier);
            let new_bytes = self.frontier - range.start;
            if new_bytes > 0 {
                accept(range);
            }
            return Insertion { advanced: new_bytes, new_bytes, duplicate: None, gap: false };
        }
        self.clock += 1;
        let old_frontier = self.frontier;
        let mut insertion = Insertion { gap: !self.intervals.is_empty(), ..Insertion::default() };
        if range.is_empty() {
            return insertion;
        }
        if range.start < self.frontier {
            insertion.duplicate = Some(range.start..range.end.min(self.frontier));
        }
        let start = range.start.max(self.frontier);
        if start >= range.end {
            return insertion;
        }

        // Everything that overlaps or adjoins start..range.end becomes one interval.
        let first = self.place_of(start);
        let mut last = first;
        let mut merged = Interval { start, end: range.end, touched: self.clock };
        let mut cursor = start;
        while let Some(interval) = self.intervals.get(last).filter(|i| i.start <= range.end) {
            if cursor < interval.start {
                accept(cursor..interval.start);
                insertion.new_bytes += interval.start - cursor;
            }
            let overlap = interval.start.max(start)..interval.end.min(range.end);
            if !overlap.is_empty() && insertion.duplicate.is_none() {
                insertion.duplicate = Some(overlap);
            }
            cursor = cursor.max(interval.end);
            merged.start = merged.start.min(interval.start);
            merged.end = merged.end.max(interval.end);
            last += 1;
        }
        if cursor < range.end {
            accept(cursor..range.end);
            insertion.new_bytes += range.end - cursor;
        }

        if merged.start <= self.frontier {
            self.frontier = merged.end;
            self.intervals.drain(first..last);
        } else {
            insertion.gap = true;
            if first == last {
                self.intervals.insert(first, merged);
            } else {
                self.intervals[first] = merged;
                self.intervals.drain(first + 1..last);
            }
        }
        insertion.advanced = self.frontier - old_frontier;
        debug_assert!(self.is_consistent(), "intervals must be disjoint and ascending: {self:?}");
        insertion
    }

    /// The next `len` bytes in order have arrived, and nothing is queued behind them.
    #[inline]
    pub(crate) fn extend(&mut self, len: u64) {
        debug_assert!(!self.has_gap(), "what is behind a gap may be in order now");
        self.frontier += len;
    }

    /// The first interval that ends at `start` or after it; behind the last: none.
    fn place_of(&self, start: u64) -> usize {
        // As a rule data comes behind all that has come, or fills the first hole: a search would look at
        // memory all over the list.
        let count = self.intervals.len();
        match (self.intervals.first(), self.intervals.last()) {
            (_, Some(last)) if last.end < start => count,
            (_, Some(last)) if last.start <= start => count - 1,
            (Some(first), _) if first.end >= start => 0,
            _ => self.intervals.partition_point(|interval| interval.end < start),
        }
    }

    /// The in-order frontier: every byte below it has arrived, the byte at it has not.
    pub const fn frontier(&self) -> u64 {
        self.frontier
    }

    /// Whether bytes beyond a gap are queued.
    pub fn has_gap(&self) -> bool {
        !self.intervals.is_empty()
    }

    /// Bytes queued beyond the frontier.
    pub fn queued(&self) -> u64 {
        self.intervals.iter().map(|i| i.end - i.start).sum()
    }

    /// From the frontier to the end of what is queued beyond it.
    pub fn span(&self) -> u64 {
        self.intervals.last().map_or(0, |last| last.end - self.frontier)
    }

    /// Runs of bytes beyond the frontier, ascending.
    pub fn beyond(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.intervals.iter().map(|interval| interval.start..interval.end)
    }

    /// Fills `blocks` with the most recently touched intervals, most recent first (RFC 2018 section 4), and
    /// returns how many there are.
    pub fn recent(&self, blocks: &mut [Range<u64>]) -> usize {
        let room = blocks.len().min(MAX_BLOCKS);
        if self.intervals.is_empty() || room == 0 {
            return 0;
        }
        // The most recent so far, and where they are. From the end, where data comes as a rule: most intervals of
        // many are older then than all of these.
        let (mut latest, mut count) = ([(0, 0); MAX_BLOCKS], 0);
        for (index, interval) in self.intervals.iter().enumerate().rev() {
            let mut rank = count;
            if count == room {
                if interval.touched <= latest[room - 1].0 {
                    continue;
                }
                rank -= 1;
            } else {
                count += 1;
            }
            while rank > 0 && latest[rank - 1].0 < interval.touched {
                latest[rank] = latest[rank - 1];
                rank -= 1;
            }
            latest[rank] = (interval.touched, index);
        }
        for (block, (_, index)) in blocks.iter_mut().zip(&latest[..count]) {
            let interval = &self.intervals[*index];
            *block = interval.start..interval.end;
        }
        count
    }

    /// Disjoint, non-adjacent, ascending, above the frontier.
    fn is_consistent(&self) -> bool {
        self.intervals.first().is_none_or(|i| i.start > self.frontier)
            && self.intervals.iter().all(|i| i.start < i.end)
            && self.intervals.windows(2).all(|pair| pair[0].end < pair[1].start)
    }
}

/// SACK blocks that fit an option (RFC 2018 section 3).
const MAX_BLOCKS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_fill_in_any_order() {
        let mut arrived = Reassembly::new(0);
        let mut add = |range| {
            let advanced = arrived.insert(range, |_| {}).advanced;
            (advanced, arrived.frontier(), arrived.intervals.len())
        };
        assert_eq!([0..10, 20..30, 40..50].map(&mut add), [(10, 10, 0), (0, 10, 1), (0, 10, 2)]);
        assert_eq!([30..40, 10..20].map(&mut add), [(0, 10, 1), (40, 50, 0)]);
    }
    use cogtcp_units::RandomStream;

    fn insert(set: &mut Reassembly, range: Range<u64>) -> (Insertion, Vec<Range<u64>>) {
        let mut accepted = Vec::new();
        let insertion = set.insert(range, |run| accepted.push(run));
        (insertion, accepted)
    }

    fn recent(set: &Reassembly, room: usize) -> Vec<Range<u64>> {
        let mut blocks = vec![0..0; room];
        let count = set.recent(&mut blocks);
        blocks.truncate(count);
        blocks
    }

    #[test]
    fn in_order_data_moves_the_frontier_without_a_queue() {
        let mut set = Reassembly::new(0);
        for k in 0..100 {
            let (insertion, accepted) = insert(&mut set, k * 10..k * 10 + 10);
            assert_eq!(insertion, Insertion { advanced: 10, new_bytes: 10, duplicate: None, gap: false });
            assert_eq!((accepted.first(), accepted.len()), (Some(&(k * 10..k * 10 + 10)), 1));
        }
        assert_eq!((set.frontier(), set.has_gap(), set.intervals.capacity()), (1000, false, 0));
    }

    /// RFC 2018 section 4: the block of the latest segment first, then the blocks reported before it.
    #[test]
    fn blocks_come_most_recent_first() {
        let mut set = Reassembly::new(0);
        for k in [1, 5, 3] {
            insert(&mut set, k * 10..k * 10 + 10);
        }
        assert_eq!(recent(&set, 3), [30..40, 50..60, 10..20]);
        insert(&mut set, 20..30);
        assert_eq!(recent(&set, 3), [10..40, 50..60]);
        insert(&mut set, 70..80);
        insert(&mut set, 90..100);
        assert_eq!(recent(&set, 3), [90..100, 70..80, 10..40]);
        assert_eq!(recent(&set, 4), [90..100, 70..80, 10..40, 50..60]);
        // A duplicate makes its block the most recent one again.
        insert(&mut set, 52..54);
        assert_eq!(recent(&set, 2), [50..60, 90..100]);
    }

    /// RFC 2883 section 4.2.3: of two duplicate runs in one segment only the first is told.
    #[test]
    fn the_first_duplicate_run_is_reported() {
        let mut set = Reassembly::new(0);
        insert(&mut set, 0..10);
        let (insertion, _) = insert(&mut set, 5..15);
        assert_eq!((insertion.duplicate, insertion.advanced, insertion.new_bytes), (Some(5..10), 5, 5));
        insert(&mut set, 20..30);
        insert(&mut set, 40..50);
        let (insertion, accepted) = insert(&mut set, 18..60);
        assert_eq!(insertion.duplicate, Some(20..30));
        assert_eq!(accepted, [18..20, 30..40, 50..60]);
        let (insertion, _) = insert(&mut set, 2..4);
        assert_eq!((insertion.duplicate, insertion.new_bytes, insertion.gap), (Some(2..4), 0, true));
    }

    #[test]
    fn filling_the_gap_delivers_the_queue() {
        let mut set = Reassembly::new(0);
        insert(&mut set, 10..20);
        insert(&mut set, 20..30);
        let (insertion, accepted) = insert(&mut set, 0..10);
        assert_eq!(insertion, Insertion { advanced: 30, new_bytes: 10, duplicate: None, gap: true });
        assert_eq!((accepted.first(), accepted.len()), (Some(&(0..10)), 1));
        assert_eq!((set.frontier(), set.has_gap()), (30, false));
    }

    /// Against a bitmap: 200 random histories of 200 segments.
    #[test]
    fn agrees_with_a_bitmap() {
        for seed in 0..200 {
            let mut stream = RandomStream::new(seed, "reassembly", 0);
            let mut set = Reassembly::new(0);
            let mut bitmap = [false; 512];
            for _ in 0..200 {
                let start = stream.below(500);
                let end = (start + stream.below(40)).min(512);
                let (insertion, accepted) = insert(&mut set, start..end);
                let mut fresh = Vec::new();
                for offset in start..end {
                    if !std::mem::replace(&mut bitmap[offset as usize], true) {
                        fresh.push(offset);
                    }
                }
                assert_eq!(accepted.into_iter().flatten().collect::<Vec<_>>(), fresh, "seed {seed}");
                assert_eq!(insertion.new_bytes, fresh.len() as u64, "seed {seed}");
                assert_eq!(insertion.duplicate.is_some(), (fresh.len() as u64) < end - start, "seed {seed}");
                let frontier = bitmap.iter().position(|b| !b).unwrap_or(512) as u64;
                assert_eq!(set.frontier(), frontier, "seed {seed}");
                let held = bitmap.iter().filter(|b| **b).count() as u64;
                assert_eq!(set.queued(), held - frontier, "seed {seed}");
            }
        }
    }

    /// Where no block has room, or none is there, none is told.
    #[test]
    fn blocks_need_data_and_room() {
        let mut data = Reassembly::new(0);
        let mut blocks = [const { 0..0 }; 2];
        assert_eq!((data.recent(&mut blocks), data.recent(&mut [])), (0, 0));
        for start in [10, 30, 50] {
            data.insert(start..start + 5, |_| {});
        }
        assert_eq!((data.recent(&mut []), data.recent(&mut blocks)), (0, 2));
        assert_eq!(blocks, [50..55, 30..35]);
        data.insert(12..14, |_| {});
        assert_eq!((data.recent(&mut blocks), blocks), (2, [10..15, 50..55]));
    }
}
