//! What the packets of several transports have in common: numbers in network order, eight bytes each.

use cogtcp_units::{Duration, Time};

/// Appends `numbers` to a packet.
pub(crate) fn write(bytes: &mut Vec<u8>, numbers: impl IntoIterator<Item = u64>) {
    numbers.into_iter().for_each(|number| bytes.extend(number.to_be_bytes()));
}

/// Reads the numbers of a packet.
pub(crate) fn numbers(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks_exact(8).map(|chunk| u64::from_be_bytes(chunk.try_into().unwrap_or_default()))
}

/// Reads the kind of a packet, one of `kinds`, and its first `N` numbers. Returns them and the numbers behind.
pub(crate) fn read<'a, const N: usize>(
    bytes: &'a [u8],
    kinds: &[u8],
) -> Option<(u8, [u64; N], impl Iterator<Item = u64> + use<'a, N>)> {
    let (kind, rest) = bytes.split_first()?;
    let mut numbers = numbers(rest);
    let mut values = [0; N];
    for value in &mut values {
        *value = numbers.next()?;
    }
    kinds.contains(kind).then_some((*kind, values, numbers))
}

/// Returns the first `most` blocks of data that has arrived, from and until, as numbers.
pub(crate) fn block_numbers(blocks: &[(u64, u64)], most: usize) -> impl Iterator<Item = u64> + '_ {
    blocks.iter().take(most).flat_map(|(from, until)| [*from, *until])
}

/// Reads blocks of data that has arrived, from and until. Returns `None` where a block ends before it begins,
/// or there are more than `most`.
pub(crate) fn blocks(mut numbers: impl Iterator<Item = u64>, most: usize) -> Option<Vec<(u64, u64)>> {
    let mut blocks = Vec::new();
    while let (Some(from), Some(until)) = (numbers.next(), numbers.next()) {
        if until <= from || blocks.len() == most {
            return None;
        }
        blocks.push((from, until));
    }
    Some(blocks)
}

/// Returns the round-trip time of a packet that left at `sent`. Its answer left `delay` after its arrival,
/// and came at `now`. `None`: the answer names a time to come.
pub(crate) fn round_trip(now: Time, sent: Time, delay: Duration) -> Option<Duration> {
    let gone = sent.as_nanos().saturating_add(delay.as_nanos());
    now.as_nanos().checked_sub(gone).map(Duration::from_nanos)
}
