//! Sorting the packets of an inlet.
//!
//! Their times are spread evenly, as a rule: a place in order of time is nearly the right one.

use crate::agenda::{CODE_BITS, time_of};

/// So few keys are sorted one by one.
const FEW: usize = 24;

/// What sorting needs room for.
#[derive(Debug, Default)]
pub(super) struct Sorter {
    ends: Vec<u32>,
    keys: Vec<u128>,
}

/// The part of a key that says its order: all but the place of its packet.
#[inline]
pub(super) const fn rank(key: u128) -> u128 {
    key >> CODE_BITS
}

impl Sorter {
    /// Sorts `keys` by their ranks, equal ones by the link direction that they come from (`from`), then in the
    /// order in which they are.
    pub(super) fn sort(&mut self, keys: &mut Vec<u128>, from: impl Fn(u128) -> u32) {
        if keys.len() > FEW {
            self.sort_roughly(keys);
        }
        for end in 1..keys.len() {
            let key = keys[end];
            let mut place = end;
            while place > 0 {
                let before = keys[place - 1];
                if rank(before) < rank(key) || rank(before) == rank(key) && from(before) <= from(key) {
                    break;
                }
                keys[place] = before;
                place -= 1;
            }
            keys[place] = key;
        }
    }

    /// Brings `keys` in the order of the cells of time that they lie in, one cell for a key.
    fn sort_roughly(&mut self, keys: &mut Vec<u128>) {
        let times = || keys.iter().map(|key| time_of(*key).as_nanos());
        let (first, last) =
            times().fold((u64::MAX, 0), |(first, last), time| (first.min(time), last.max(time)));
        let bits = keys.len().ilog2();
        let shift = (u64::BITS - (last - first).leading_zeros()).saturating_sub(bits);
        let cell = |key: u128| ((time_of(key).as_nanos() - first) >> shift) as usize;
        self.ends.clear();
        self.ends.resize(1 << bits, 0);
        for key in keys.iter() {
            self.ends[cell(*key)] += 1;
        }
        let mut end = 0;
        for cell in &mut self.ends {
            // From counts to where each cell begins; the next loop moves it to the end.
            end += std::mem::replace(cell, end);
        }
        self.keys.clear();
        self.keys.resize(keys.len(), 0);
        for key in keys.iter() {
            let place = &mut self.ends[cell(*key)];
            self.keys[*place as usize] = *key;
            *place += 1;
        }
        std::mem::swap(keys, &mut self.keys);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agenda::{arrival_key, code_of};
    use cogtcp_units::{RandomStream, Time};

    /// Against the sort of the standard library, with many equal ranks, times close together and far apart.
    #[test]
    fn sorts() {
        let mut random = RandomStream::new(1, "inlet", 0);
        let mut sorter = Sorter::default();
        for case in 0..400 {
            let count = random.below(200) as usize;
            let span = [1, 3, 1000, 1 << 40][case % 4];
            // Packets of one link direction keep their order.
            let from: Vec<u32> = (0..count as u32).map(|place| place.wrapping_mul(7919) % 7).collect();
            let mut keys: Vec<u128> = (0..count as u32)
                .map(|place| {
                    let time = Time::from_nanos(5000 + random.below(span));
                    let since = Time::from_nanos(time.as_nanos() - random.below(2));
                    arrival_key(since, time, place)
                })
                .collect();
            let from = |key: u128| from[code_of(key) as usize];
            let mut expected = keys.clone();
            expected.sort_by_key(|key| (rank(*key), from(*key)));
            sorter.sort(&mut keys, from);
            assert_eq!(keys, expected, "case {case}");
        }
    }
}
