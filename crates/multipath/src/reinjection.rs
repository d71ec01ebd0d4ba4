//! Data that another subflow is to send, because the subflow that carries it timed out or died (RFC 8684
//! section 3.3.6).

use std::collections::BTreeMap;

/// Ranges of data by their start and the subflow that carries them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reinjections {
    ranges: BTreeMap<(u64, usize), u64>,
}

impl Reinjections {
    /// Queues the data `start` to `end`, which subflow `from` carries.
    pub(crate) fn push(&mut self, from: usize, start: u64, end: u64) {
        let known = self.ranges.entry((start, from)).or_insert(end);
        *known = end.max(*known);
    }

    /// The first run of at most `most` bytes, not below `una`, that a subflow other than `to` carries.
    pub(crate) fn first_for(&self, to: usize, una: u64, most: u64) -> Option<(u64, u64)> {
        let ((start, _), end) = self.first_of_others(to)?;
        let start = start.max(una);
        (start < end).then(|| (start, (end - start).min(most)))
    }

    /// Subflow `by` has sent the run of `len` bytes from `start` on that [`Self::first_for`] returned.
    pub(crate) fn take(&mut self, by: usize, start: u64, len: u64) {
        if let Some(((at, from), end)) = self.first_of_others(by) {
            self.ranges.remove(&(at, from));
            if start + len < end {
                self.push(from, start + len, end);
            }
        }
    }

    /// The first stored range that a subflow other than `than` carries.
    fn first_of_others(&self, than: usize) -> Option<((u64, usize), u64)> {
        self.ranges.iter().find(|((_, from), _)| *from != than).map(|(key, end)| (*key, *end))
    }

    /// Forgets what the receiver has, below `una`.
    pub(crate) fn acknowledge(&mut self, una: u64) {
        while let Some((&(start, from), &end)) = self.ranges.first_key_value() {
            if start >= una {
                return;
            }
            self.ranges.remove(&(start, from));
            if end > una {
                self.push(from, una, end);
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_goes_to_another_subflow_once() {
        let mut queue = Reinjections::default();
        queue.push(0, 1000, 2500);
        assert_eq!(queue.first_for(0, 0, 1000), None, "its own subflow retransmits it by itself");
        assert_eq!(queue.first_for(1, 0, 1000), Some((1000, 1000)));
        queue.take(1, 1000, 1000);
        assert_eq!(queue.first_for(1, 0, 1000), Some((2000, 500)));
        queue.take(1, 2000, 500);
        assert_eq!((queue.first_for(1, 0, 1000), queue.len()), (None, 0));
    }

    /// A subflow that times out again may have cut its data otherwise: the longest piece counts.
    #[test]
    fn a_shorter_piece_of_the_same_data_takes_nothing_back() {
        let mut queue = Reinjections::default();
        for end in [2500, 2000, 3000] {
            queue.push(0, 1000, end);
        }
        assert_eq!((queue.first_for(1, 0, 9000), queue.len()), (Some((1000, 2000)), 1));
        queue.push(0, 1000, 1500);
        assert_eq!(queue.first_for(1, 0, 9000), Some((1000, 2000)));
    }

    #[test]
    fn acknowledged_data_is_forgotten() {
        let mut queue = Reinjections::default();
        queue.push(0, 1000, 2500);
        queue.push(1, 3000, 4000);
        queue.acknowledge(2000);
        assert_eq!(queue.first_for(1, 2000, 1000), Some((2000, 500)));
        queue.acknowledge(3500);
        assert_eq!(
            (queue.first_for(1, 3500, 1000), queue.first_for(0, 3500, 1000)),
            (None, Some((3500, 500)))
        );
        queue.acknowledge(4000);
        assert_eq!(queue.len(), 0);
    }

    /// What lies below the DATA_ACK is not sent, and two runs of one byte each are two.
    #[test]
    fn runs_begin_at_the_data_ack() {
        let mut queue = Reinjections::default();
        queue.push(0, 1000, 1500);
        assert_eq!(queue.first_for(1, 1499, 1000), Some((1499, 1)));
        assert_eq!(queue.first_for(1, 1500, 1000), None);
        queue.acknowledge(1000);
        assert_eq!(queue.first_for(1, 0, 1000), Some((1000, 500)));
        queue.acknowledge(1500);
        assert_eq!(queue.len(), 0);
        queue.push(0, 1, 3);
        queue.take(1, 1, 1);
        assert_eq!(queue.first_for(1, 0, 9), Some((2, 1)));
        queue.clear();
        assert_eq!(queue.len(), 0);
    }
}
