//! Which bytes of a stream have arrived.

use std::collections::BTreeMap;

/// The bytes of one stream that have arrived.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Arrived {
    /// All bytes below have arrived.
    contiguous: u64,
    /// Ranges above, first byte and end, apart from each other.
    ranges: BTreeMap<u64, u64>,
}

impl Arrived {
    /// Bytes `from` to `end` arrive, which have not arrived before. Returns by how many the beginning without
    /// a gap has grown.
    pub(crate) fn add(&mut self, from: u64, end: u64) -> u64 {
        let before = self.contiguous;
        if from > before {
            let (mut from, mut end) = (from, end);
            if let Some((&below, &below_end)) = self.ranges.range(..=from).next_back()
                && below_end >= from
            {
                self.ranges.remove(&below);
                (from, end) = (below, end.max(below_end));
            }
            while let Some((&above, &above_end)) = self.ranges.range(from..=end).next() {
                self.ranges.remove(&above);
                end = end.max(above_end);
            }
            self.ranges.insert(from, end);
            return 0;
        }
        self.contiguous = before.max(end);
        while let Some((&above, &above_end)) = self.ranges.first_key_value()
            && above <= self.contiguous
        {
            self.ranges.remove(&above);
            self.contiguous = self.contiguous.max(above_end);
        }
        self.contiguous - before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_fill_in_any_order() {
        let mut arrived = Arrived::default();
        assert_eq!((arrived.add(0, 10), arrived.add(20, 30), arrived.add(40, 50)), (10, 0, 0));
        assert_eq!((arrived.add(30, 40), arrived.ranges.len()), (0, 1));
        assert_eq!((arrived.add(10, 20), arrived.contiguous, arrived.ranges.len()), (40, 50, 0));
    }
}
