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
