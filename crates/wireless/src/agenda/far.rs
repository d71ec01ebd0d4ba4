//! Times beyond a wheel, by number.

use super::Entry;
use cogtcp_units::{Heap, HeapKey, HeapPlaces};

/// Where a number without an entry is.
const NOWHERE: u32 = u32::MAX;

impl HeapKey for Entry {
    const NEVER: Self = Self::NEVER;
}

/// A heap with at most one entry for each number.
#[derive(Debug, Default)]
pub(super) struct Far {
    heap: Heap<Entry, ByNumber>,
}

/// Where the entry of each number lies.
#[derive(Debug, Default)]
struct ByNumber(Vec<u32>);

impl HeapPlaces<Entry> for ByNumber {
    #[inline]
    fn moved(&mut self, entry: Entry, place: usize) {
        self.0[entry.number() as usize] = place as u32;
    }
}

impl Far {
    /// The least entry, or [`Entry::NEVER`].
    #[inline]
    pub(super) fn first(&self) -> Entry {
        self.heap.first()
    }

    /// Sets the entry of a number, wherever it was; `None`: it has none.
    pub(super) fn set(&mut self, number: u32, entry: Option<Entry>) {
        let places = &mut self.heap.places.0;
        let index = number as usize;
        if index >= places.len() {
            places.resize(index + 1, NOWHERE);
        }
        match (places[index], entry) {
            (NOWHERE, None) => {}
            (NOWHERE, Some(entry)) => self.heap.push(entry),
            (place, None) => {
                places[index] = NOWHERE;
                self.heap.remove(place as usize);
            }
            (place, Some(entry)) => self.heap.set(place as usize, entry),
        }
    }
}
