//! A stream of bytes that arrives in pieces.

use std::collections::BTreeMap;

/// What has arrived of a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    cumulative: u64,
    /// Data beyond, from and until.
    blocks: BTreeMap<u64, u64>,
}

impl Reassembly {
    /// All data before this place has arrived.
    pub(crate) fn cumulative(&self) -> u64 {
        self.cumulative
    }

    /// The first `most` blocks of data beyond.
    pub(crate) fn blocks(&self, most: usize) -> Vec<(u64, u64)> {
        self.blocks.iter().take(most).map(|(from, until)| (*from, *until)).collect()
    }

    /// The block with the byte at `place`, if it lies beyond, then the first others: `most` in all (RFC 2018,
    /// section 4).
    pub(crate) fn blocks_with(&self, place: u64, most: usize) -> Vec<(u64, u64)> {
        let own = self.blocks.range(..=place).next_back().filter(|(_, until)| **until > place);
        let others = self.blocks.iter().filter(|(from, _)| own.is_none_or(|(own, _)| own != *from));
        own.into_iter().chain(others).take(most).map(|(from, until)| (*from, *until)).collect()
    }

    /// Enters data from `from` to before `until`. Returns how many bytes are new.
    pub(crate) fn enter(&mut self, from: u64, until: u64) -> u64 {
        let (mut from, mut until) = (from.max(self.cumulative), until);
        if until <= from {
            return 0;
        }
        let mut new = until - from;
        // Blocks that touch the data become one with it.
        while let Some((&start, &end)) =
            self.blocks.range(..=until).next_back().filter(|(_, end)| **end >= from)
        {
            new -= end.min(until).saturating_sub(start.max(from)).min(new);
            (from, until) = (from.min(start), until.max(end));
            self.blocks.remove(&start);
        }
        if from == self.cumulative {
            self.cumulative = until;
        } else {
            self.blocks.insert(from, until);
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_put_together() {
        let mut data = Reassembly::default();
        assert_eq!([data.enter(10, 20), data.enter(30, 40), data.enter(15, 35)], [10, 10, 10]);
        assert_eq!((data.cumulative(), data.blocks(9)), (0, vec![(10, 40)]));
        assert_eq!(data.enter(50, 60), 10);
        assert_eq!(data.blocks_with(55, 9), [(50, 60), (10, 40)]);
        assert_eq!(data.blocks_with(70, 1), [(10, 40)]);
        assert_eq!([data.enter(0, 5), data.enter(0, 12), data.enter(0, 100)], [5, 5, 50]);
        assert_eq!((data.cumulative(), data.blocks(9).len()), (100, 0));
        assert_eq!(data.enter(50, 100), 0);
    }
}
