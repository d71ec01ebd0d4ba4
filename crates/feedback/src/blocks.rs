//! Blocks of data that has arrived beyond a gap, as acknowledgements tell them.

use cogtcp_transport::Reassembly;

/// Returns the first `most` blocks, from and until.
pub(crate) fn blocks(data: &Reassembly, most: usize) -> Vec<(u64, u64)> {
    data.beyond().take(most).map(|block| (block.start, block.end)).collect()
}

/// Returns the block with the byte at `place`, if it lies beyond, then the first others: `most` in all (RFC
/// 2018, section 4).
pub(crate) fn blocks_with(data: &Reassembly, place: u64, most: usize) -> Vec<(u64, u64)> {
    let own = data.beyond().find(|block| block.contains(&place));
    let others = data.beyond().filter(|block| own.as_ref() != Some(block));
    own.iter().cloned().chain(others).take(most).map(|block| (block.start, block.end)).collect()
}

/// Enters data from `from` to before `until`. Returns how many bytes are new.
pub(crate) fn enter(data: &mut Reassembly, from: u64, until: u64) -> u64 {
    data.insert(from..until, |_| {}).new_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_put_together() {
        let mut data = Reassembly::default();
        let pieces = [(10, 20), (30, 40), (15, 35)];
        assert_eq!(pieces.map(|(from, until)| enter(&mut data, from, until)), [10, 10, 10]);
        assert_eq!((data.frontier(), blocks(&data, 9)), (0, vec![(10, 40)]));
        assert_eq!(enter(&mut data, 50, 60), 10);
        assert_eq!(blocks_with(&data, 55, 9), [(50, 60), (10, 40)]);
        assert_eq!(blocks_with(&data, 70, 1), [(10, 40)]);
        assert_eq!([5, 12, 100].map(|until| enter(&mut data, 0, until)), [5, 5, 50]);
        assert_eq!((data.frontier(), blocks(&data, 9).len()), (100, 0));
        assert_eq!(enter(&mut data, 50, 100), 0);
    }
}
