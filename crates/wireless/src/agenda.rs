//! What the medium does next: a heap of at most one entry for each slot.
//!
//! Slots are the interfaces and the frames on the air. The entry of an interface is a lower bound of the time at which it
//! acts, so that a backoff that stands still and goes on costs nothing here.

use cogtcp_units::Time;

/// Where a slot without an entry is.
const NOWHERE: u32 = u32::MAX;

/// Time, then class, then slot, in one number: comparing two costs no branch, which no processor could predict.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Entry(u128);

impl Entry {
    fn new(at: Time, class: u8, slot: u32) -> Self {
        Self(u128::from(at.as_nanos()) << 64 | u128::from(class) << 32 | u128::from(slot))
    }

    fn at(self) -> Time {
        Time::from_nanos((self.0 >> 64) as u64)
    }

    fn slot(self) -> u32 {
        self.0 as u32
    }
}

/// A binary heap ordered by time, then class, then slot: the order never depends on the history.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    heap: Vec<Entry>,
    place: Vec<u32>,
}

impl Agenda {
    /// The time of the first entry; `Time::MAX`: there is none.
    pub(crate) fn next(&self) -> Time {
        self.heap.first().map_or(Time::MAX, |entry| entry.at())
    }

    /// The time and the slot of the first entry. It stays: mostly it is put off, which is one step less than out and in again.
    pub(crate) fn first(&self) -> Option<(Time, u32)> {
        self.heap.first().map(|entry| (entry.at(), entry.slot()))
    }

    /// Puts the entry of `slot` at `at`, wherever it was; `Time::MAX` takes it out.
    pub(crate) fn set(&mut self, slot: u32, at: Time, class: u8) {
        let index = slot as usize;
        if index >= self.place.len() {
            self.place.resize(index + 1, NOWHERE);
        }
        let place = self.place[index];
        match (place == NOWHERE, at == Time::MAX) {
            (true, true) => {}
            (false, true) => self.remove(place as usize),
            (true, false) => {
                self.heap.push(Entry::new(at, class, slot));
                self.rise(self.heap.len() - 1);
            }
            (false, false) => {
                let place = place as usize;
                let entry = Entry::new(at, class, slot);
                let earlier = entry < self.heap[place];
                self.heap[place] = entry;
                if earlier { self.rise(place) } else { self.sink(place) }
            }
        }
    }

    /// Makes sure that `slot` comes up at `at` or before; an entry that is earlier stays. Whoever comes up too early looks and
    /// goes back: cheaper than to move the entry whenever a backoff stops and goes on.
    pub(crate) fn set_at_latest(&mut self, slot: u32, at: Time, class: u8) {
        if at == Time::MAX {
            return;
        }
        match self.place.get(slot as usize) {
            Some(&place) if place != NOWHERE && self.heap[place as usize].at() <= at => {}
            _ => self.set(slot, at, class),
        }
    }

    fn remove(&mut self, place: usize) {
        let gone = self.heap.swap_remove(place);
        self.place[gone.slot() as usize] = NOWHERE;
        if place < self.heap.len() {
            if self.heap[place] < gone { self.rise(place) } else { self.sink(place) }
        }
    }

    fn rise(&mut self, place: usize) {
        self.rise_from(place, self.heap[place], 0);
    }

    /// Puts `entry` into the gap at `place`, or above it but not above `top`.
    fn rise_from(&mut self, mut place: usize, entry: Entry, top: usize) {
        while place > top {
            let parent = (place - 1) / 2;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    /// The gap goes down to the end of the heap first, always by the lesser child, and the entry rises from there: it mostly
    /// stays near the end, so that this needs half the comparisons that stopping on the way down does.
    fn sink(&mut self, mut place: usize) {
        let (entry, top) = (self.heap[place], place);
        loop {
            let child = 2 * place + 1;
            let Some([left, right]) = self.heap.get(child..child + 2) else {
                if child < self.heap.len() {
                    self.put(place, self.heap[child]);
                    place = child;
                }
                break;
            };
            let child = child + usize::from(right < left);
            self.put(place, self.heap[child]);
            place = child;
        }
        self.rise_from(place, entry, top);
    }

    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.place[entry.slot() as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::RandomStream;
    use std::collections::BTreeMap;

    /// Against a sorted map, over random insertions, moves and removals.
    #[test]
    fn entries_come_in_order_whatever_moved() {
        let mut stream = RandomStream::new(1, "agenda", 0);
        let (mut agenda, mut model) = (Agenda::default(), BTreeMap::new());
        for _ in 0..20_000 {
            let slot = stream.below(40) as u32;
            match stream.below(4) {
                0 => {
                    agenda.set(slot, Time::MAX, 0);
                    model.remove(&slot);
                }
                1 => {
                    let first = model.iter().map(|(slot, (at, class))| (*at, *class, *slot)).min();
                    assert_eq!(agenda.next(), first.map_or(Time::MAX, |entry| entry.0));
                    assert_eq!(agenda.first(), first.map(|(at, _, slot)| (at, slot)));
                    if let Some((_, _, slot)) = first {
                        agenda.set(slot, Time::MAX, 0);
                        model.remove(&slot);
                    }
                }
                _ => {
                    let at = Time::from_millis(stream.below(1000));
                    let class = stream.below(3) as u8;
                    agenda.set(slot, at, class);
                    model.insert(slot, (at, class));
                }
            }
        }
    }
}
