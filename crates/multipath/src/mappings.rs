//! Data sequence mapping (RFC 8684 section 3.3.1): which data the bytes of a subflow carry.

use std::collections::VecDeque;

/// A run of a subflow's bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Mapping {
    /// Offset of the first byte in the subflow.
    pub(crate) at: u64,
    /// Data sequence number of the first byte.
    pub(crate) data: u64,
    /// Bytes.
    pub(crate) len: u64,
    /// Another subflow has sent the data before.
    pub(crate) is_copy: bool,
    /// Queued for another subflow, after a timeout of this one.
    pub(crate) reinjected: bool,
}

impl Mapping {
    /// Data sequence number after the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.data + self.len
    }
}

/// The mappings of what a subflow has sent and the peer has not acknowledged, in the order of the subflow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mappings {
    runs: VecDeque<Mapping>,
}

impl Mappings {
    pub(crate) fn push(&mut self, run: Mapping) {
        self.runs.push_back(run);
    }

    /// Forgets what ends at `una` or before.
    pub(crate) fn acknowledge(&mut self, una: u64) {
        while self.runs.front().is_some_and(|run| run.at + run.len <= una) {
            self.runs.pop_front();
        }
    }

    /// Data sequence number of the byte at offset `at` of the subflow.
    pub(crate) fn data_at(&self, at: u64) -> Option<u64> {
        let place = self.runs.partition_point(|run| run.at + run.len <= at);
        self.runs.get(place).filter(|run| run.at <= at).map(|run| run.data + (at - run.at))
    }

    /// True if the subflow carries the data byte `data`.
    pub(crate) fn has(&self, data: u64) -> bool {
        self.runs.iter().any(|run| run.data <= data && data < run.end())
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Mapping> {
        self.runs.iter_mut()
    }

    pub(crate) fn clear(&mut self) {
        self.runs.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_the_subflow_lead_to_data() {
        let mut mappings = Mappings::default();
        for (at, data, len) in [(1, 5000, 100), (101, 7000, 50)] {
            mappings.push(Mapping { at, data, len, is_copy: false, reinjected: false });
        }
        assert_eq!(
            [1, 100, 101, 150, 151].map(|at| mappings.data_at(at)),
            [Some(5000), Some(5099), Some(7000), Some(7049), None]
        );
        assert_eq!([4999, 5099, 5100, 7049].map(|data| mappings.has(data)), [false, true, false, true]);
        mappings.acknowledge(100);
        assert_eq!(mappings.len(), 2, "one byte of the first run is not acknowledged");
        mappings.acknowledge(101);
        assert_eq!((mappings.len(), mappings.data_at(1), mappings.data_at(101)), (1, None, Some(7000)));
    }
}
