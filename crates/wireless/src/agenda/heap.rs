//! A heap whose entries can be moved.

use super::Entry;

/// Where a number without an entry is.
const NOWHERE: u32 = u32::MAX;

/// A minimum heap with four children per node and at most one entry for each number. Siblings lie together in
/// one cache line: the children of place `p` are group `p + 1`, and the first is alone in group 0. What is
/// free holds [`Entry::NEVER`], which loses every comparison.
#[derive(Debug, Default)]
pub(super) struct Heap {
    groups: Vec<Group>,
    len: usize,
    /// By number.
    places: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Group([Entry; 4]);

impl Heap {
    /// The least entry, or [`Entry::NEVER`].
    #[inline]
    pub(super) fn first(&self) -> Entry {
        self.groups.first().map_or(Entry::NEVER, |group| group.0[3])
    }

    /// Sets the entry of a number, wherever it was; `None`: it has none.
    pub(super) fn set(&mut self, number: u32, entry: Option<Entry>) {
        let index = number as usize;
        if index >= self.places.len() {
            self.places.resize(index + 1, NOWHERE);
        }
        let place = self.places[index];
        match (place == NOWHERE, entry) {
            (true, None) => {}
            (true, Some(entry)) => {
                self.len += 1;
                if (self.len + 2) / 4 == self.groups.len() {
                    self.groups.push(Group([Entry::NEVER; 4]));
                }
                self.rise(self.len - 1, entry);
            }
            (false, None) => {
                self.places[index] = NOWHERE;
                self.len -= 1;
                let last = self.at(self.len);
                *self.at_mut(self.len) = Entry::NEVER;
                if place as usize != self.len {
                    self.settle(place as usize, last);
                }
            }
            (false, Some(entry)) => self.settle(place as usize, entry),
        }
    }

    /// Puts an entry into the gap at `place`, or where it belongs.
    fn settle(&mut self, place: usize, entry: Entry) {
        if place > 0 && entry < self.at((place - 1) / 4) {
            self.rise(place, entry);
        } else {
            self.sink(place, entry);
        }
    }

    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / 4;
            let above = self.at(parent);
            if above <= entry {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize, entry: Entry) {
        while let Some(&Group([a, b, c, d])) = self.groups.get(place + 1) {
            // A tournament: two comparisons that do not wait for each other, then one.
            let (i, left) = if b < a { (1, b) } else { (0, a) };
            let (j, right) = if d < c { (3, d) } else { (2, c) };
            let (offset, least) = if right < left { (j, right) } else { (i, left) };
            if entry <= least {
                break;
            }
            self.put(place, least);
            place = 4 * place + 1 + offset;
        }
        self.put(place, entry);
    }

    #[inline]
    fn at(&self, place: usize) -> Entry {
        self.groups[place.div_ceil(4)].0[(place + 3) % 4]
    }

    #[inline]
    fn at_mut(&mut self, place: usize) -> &mut Entry {
        &mut self.groups[place.div_ceil(4)].0[(place + 3) % 4]
    }

    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        *self.at_mut(place) = entry;
        self.places[entry.number() as usize] = place as u32;
    }
}
