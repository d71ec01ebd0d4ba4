//! The arrivals of a network of few link directions, in order.

use super::{NEVER, code_of};

/// Places of the ring, a power of two: room for the entries and an end.
const PLACES: usize = 64;

/// Keys in ascending order in a ring. A new arrival is late among few, as a rule, so it is put in from the
/// end, and what comes next is known without a comparison.
#[derive(Debug)]
pub(super) struct Few {
    /// At `end` is [`NEVER`], and before `start` 0, which is below every key.
    keys: Box<[u128; PLACES]>,
    start: usize,
    end: usize,
}

impl Few {
    /// So many entries at most.
    pub(super) const MOST: usize = PLACES - 2;

    pub(super) fn new() -> Self {
        let mut keys = Box::new([0; PLACES]);
        // The other places are 0, which ends the search of `push` below the first entry.
        keys[0] = NEVER;
        Self { keys, start: 0, end: 0 }
    }

    /// The least key, or [`NEVER`].
    #[inline]
    pub(super) fn first(&self) -> u128 {
        self.keys[self.start % PLACES]
    }

    #[inline]
    pub(super) fn push(&mut self, key: u128) {
        debug_assert!(self.end.wrapping_sub(self.start) < Self::MOST, "one entry for a link direction");
        // Start and end run on and wrap: `PLACES` divides 2^64, so that the remainder is right after a wrap,
        // too.
        let mut place = self.end;
        self.end = place.wrapping_add(1);
        self.keys[self.end % PLACES] = NEVER;
        loop {
            let before = self.keys[place.wrapping_sub(1) % PLACES];
            if before <= key {
                break;
            }
            self.keys[place % PLACES] = before;
            place = place.wrapping_sub(1);
        }
        self.keys[place % PLACES] = key;
    }

    #[inline]
    pub(super) fn pop(&mut self) {
        // `push` compares up to here: below every key, it needs no check of a bound.
        self.keys[self.start % PLACES] = 0;
        self.start = self.start.wrapping_add(1);
    }

    #[inline]
    pub(super) fn replace_top(&mut self, key: u128) {
        self.pop();
        self.push(key);
    }

    /// Removes the key of the event of this code, wherever it is.
    pub(super) fn remove(&mut self, code: u32) {
        let places = self.end.wrapping_sub(self.start);
        let at = |offset: usize| self.start.wrapping_add(offset) % PLACES;
        let is_its = |offset: &usize| code_of(self.keys[at(*offset)]) == code;
        // None is pending: there is nothing to cancel.
        let Some(offset) = (0..places).find(is_its) else { return };
        for offset in offset..places {
            // The last one brings the end.
            self.keys[at(offset)] = self.keys[at(offset + 1)];
        }
        self.end = self.end.wrapping_sub(1);
    }
}
