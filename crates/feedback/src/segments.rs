//! Segments that were sent and have not been acknowledged, by their place in the stream.

use std::collections::BTreeMap;

/// Takes out the segments that have arrived whole: before `cumulative`, or in a block. `size` returns the
/// bytes of a segment; `arrived` is called for each with its place.
pub(crate) fn take_arrived<S>(
    outstanding: &mut BTreeMap<u64, S>,
    cumulative: u64,
    blocks: &[(u64, u64)],
    size: impl Fn(&S) -> u32,
    mut arrived: impl FnMut(u64, &S),
) {
    for (from, until) in std::iter::once((0, cumulative)).chain(blocks.iter().copied()) {
        let whole =
            |(offset, segment): (&u64, &S)| (*offset + u64::from(size(segment)) <= until).then_some(*offset);
        let places: Vec<u64> = outstanding.range(from..until).filter_map(whole).collect();
        for place in places {
            if let Some(segment) = outstanding.remove(&place) {
                arrived(place, &segment);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only whole segments have arrived: before the cumulative place, or within a block.
    #[test]
    fn whole_segments_have_arrived() {
        let mut outstanding: BTreeMap<u64, u32> = [(0, 10), (10, 10), (20, 10), (30, 10), (40, 5)].into();
        let mut arrived = Vec::new();
        let take = |segments: &mut _, cumulative, blocks: &[_], arrived: &mut Vec<u64>| {
            take_arrived(segments, cumulative, blocks, |size| *size, |place, _| arrived.push(place));
        };
        take(&mut outstanding, 19, &[(30, 44), (21, 30)], &mut arrived);
        assert_eq!(arrived, [0, 30]);
        take(&mut outstanding, 20, &[(40, 45)], &mut arrived);
        assert_eq!((arrived, outstanding.into_keys().collect()), (vec![0, 30, 10, 40], vec![20]));
    }
}
