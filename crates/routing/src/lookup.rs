//! A set of numbers that are found by some of their bits: a table with open addressing.
//!
//! A look-up mostly touches one line of memory, however many numbers there are; of a sorted map it touches
//! several. Nothing walks over it, so that no result depends on where a number stands.

use cogtcp_units::prefetch;

/// A place without a number.
const EMPTY: u64 = u64::MAX;

/// Numbers below `u64::MAX`, no two with the same key: the bits that `mask` picks out.
#[derive(Clone, Debug)]
pub(crate) struct Lookup {
    mask: u64,
    /// A power of two of places, at least twice as many as numbers; or none.
    places: Vec<u64>,
    len: usize,
}

impl Lookup {
    /// No numbers.
    pub(crate) fn new(mask: u64) -> Self {
        Self { mask, places: Vec::new(), len: 0 }
    }

    /// The number with this key.
    #[inline]
    pub(crate) fn get(&self, key: u64) -> Option<u64> {
        if self.places.is_empty() {
            return None;
        }
        let mut place = self.home(key);
        while self.places[place] != EMPTY {
            if self.places[place] & self.mask == key {
                return Some(self.places[place]);
            }
            place = self.after(place);
        }
        None
    }

    /// Asks for the memory at which [`get`](Self::get) begins.
    #[inline]
    pub(crate) fn prefetch(&self, key: u64) {
        if !self.places.is_empty() {
            prefetch(&self.places[self.home(key)], 1);
        }
    }

    /// Adds a number whose key is not there.
    pub(crate) fn insert(&mut self, number: u64) {
        debug_assert!(number != EMPTY && self.get(number & self.mask).is_none());
        // At most half full: each search ends soon, at an empty place.
        if 2 * (self.len + 1) > self.places.len() {
            let larger = vec![EMPTY; (2 * self.places.len()).max(8)];
            let before = std::mem::replace(&mut self.places, larger);
            before.into_iter().filter(|number| *number != EMPTY).for_each(|number| self.put(number));
        }
        self.len += 1;
        self.put(number);
    }

    /// Takes the number with this key out.
    pub(crate) fn remove(&mut self, key: u64) {
        if self.get(key).is_none() {
            return;
        }
        self.len -= 1;
        let mut gap = self.home(key);
        while self.places[gap] & self.mask != key {
            gap = self.after(gap);
        }
        // Whatever was put past the gap because it was taken moves up into it: no mark is left behind.
        let mut place = self.after(gap);
        while self.places[place] != EMPTY {
            let home = self.home(self.places[place] & self.mask);
            let from_home = |place: usize| place.wrapping_sub(home) & (self.places.len() - 1);
            if from_home(gap) < from_home(place) {
                self.places[gap] = self.places[place];
                gap = place;
            }
            place = self.after(place);
        }
        self.places[gap] = EMPTY;
    }

    fn put(&mut self, number: u64) {
        let mut place = self.home(number & self.mask);
        while self.places[place] != EMPTY {
            place = self.after(place);
        }
        self.places[place] = number;
    }

    /// Place of a key without collisions: the upper bits of a product with 2^64 over the golden ratio. It
    /// spreads consecutive keys (Knuth, The Art of Computer Programming 3, 6.4).
    #[inline]
    fn home(&self, key: u64) -> usize {
        // At least three, as there are at least eight places: a shift by 64 would overflow.
        let bits = self.places.len().trailing_zeros();
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
    }

    #[inline]
    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::RandomStream;
    use std::collections::BTreeMap;
    use std::collections::btree_map::Entry;

    /// Against a sorted map: numbers come and go at random, with few keys and with many.
    #[test]
    fn what_was_put_in_is_found_until_it_is_taken_out() {
        const MASK: u64 = !0xff;
        for keys in [5, 60, 1000] {
            let mut draw = RandomStream::new(1, "lookup", keys);
            let (mut lookup, mut model) = (Lookup::new(MASK), BTreeMap::new());
            for step in 0..20_000u64 {
                // All keys near the end of the table, or spread: runs that wrap around.
                let key = draw.below(keys) << 8;
                if draw.below(2) == 0 {
                    lookup.remove(key);
                    model.remove(&key);
                } else if let Entry::Vacant(entry) = model.entry(key) {
                    lookup.insert(*entry.insert(key | step & 0xff));
                }
                let asked = draw.below(keys) << 8;
                assert_eq!(lookup.get(asked), model.get(&asked).copied());
                assert_eq!(lookup.len, model.len());
            }
            assert!((0..keys).all(|key| lookup.get(key << 8) == model.get(&(key << 8)).copied()));
        }
    }

    #[test]
    fn an_empty_one_finds_nothing() {
        let mut lookup = Lookup::new(u64::MAX);
        assert_eq!(lookup.get(0), None);
        lookup.remove(7);
        assert_eq!(lookup.get(u64::MAX), None);
    }
}
