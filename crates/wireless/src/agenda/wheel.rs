//! A timing wheel: what is due soon, in slots of time.

use super::Entry;
use super::far::Far;
use cogtcp_units::Time;

/// A slot is 2^12 ns, a fifth of a slot of the DCF: few entries share one.
const SHIFT: u32 = 12;

/// Slots of the wheel: it reaches 17 ms ahead. 64 words of 64 bits say which of them hold something, and one
/// word which of the words.
const SLOTS: usize = 4096;

/// No number.
const NOBODY: u32 = u32::MAX;

/// In place of who is before an entry: it lies beyond the wheel, in the heap.
const FAR: u32 = u32::MAX - 1;

/// Numbers below this need no wheel: all times are looked at instead.
const FEW: usize = 4;

/// Times by number, at most one each, all of one class. Inserting and removing cost the same for any number
/// of entries (Varghese and Lauck, SOSP 1987). Times beyond the wheel are in a heap, and stay there.
#[derive(Debug)]
pub(super) struct Wheel {
    class: u8,
    /// The first of all, in the wheel or in the heap.
    first: Entry,
    /// The slot, counted from time zero, at which the wheel begins: nothing in it is before.
    base: u64,
    /// Which words of `full` are not zero.
    words: u64,
    full: [u64; SLOTS / 64],
    /// By slot: one of those in it.
    heads: Box<[u32; SLOTS]>,
    /// By number.
    nodes: Vec<WheelEntry>,
    far: Far,
}

/// An entry, in the list of its slot of the wheel or in the heap.
#[derive(Clone, Copy, Debug)]
struct WheelEntry {
    /// `Time::MAX`: there is none.
    at: Time,
    next: u32,
    /// [`FAR`]: it is in the heap.
    before: u32,
}

impl WheelEntry {
    const NONE: Self = Self { at: Time::MAX, next: NOBODY, before: NOBODY };
}

#[inline]
fn slot(at: Time) -> u64 {
    at.as_nanos() >> SHIFT
}

impl Wheel {
    pub(super) fn new(class: u8) -> Self {
        Self {
            class,
            first: Entry::NEVER,
            base: 0,
            words: 0,
            full: [0; SLOTS / 64],
            heads: Box::new([NOBODY; SLOTS]),
            nodes: Vec::new(),
            far: Far::default(),
        }
    }

    /// The least entry, or [`Entry::NEVER`].
    #[inline]
    pub(super) fn first(&self) -> Entry {
        self.first
    }

    /// The time of a number; `Time::MAX`: it has none.
    #[inline]
    pub(super) fn get(&self, number: u32) -> Time {
        self.nodes.get(number as usize).map_or(Time::MAX, |node| node.at)
    }

    /// Sets the time of a number, whatever it was; `Time::MAX`: it has none.
    pub(super) fn set(&mut self, number: u32, at: Time) {
        let index = number as usize;
        if index >= self.nodes.len() {
            self.grow(index + 1);
        }
        if self.nodes.len() <= FEW {
            self.nodes[index].at = at;
            let times = (0..).zip(&self.nodes).filter(|(_, node)| node.at != Time::MAX);
            let entries = times.map(|(number, node)| Entry::new(node.at, self.class, number));
            self.first = entries.min().unwrap_or(Entry::NEVER);
            return;
        }
        let was_first = self.first != Entry::NEVER && self.first.number() == number;
        let WheelEntry { at: before, before: place, .. } = self.nodes[index];
        if place == FAR {
            self.far.set(number, None);
            self.nodes[index] = WheelEntry::NONE;
        } else if before != Time::MAX {
            self.unlink(number);
        }
        if was_first && at >= self.first.at() {
            // Its time has come, and what is put in from now on is not before.
            self.base = self.base.max(slot(self.first.at()));
        }
        self.put(number, at);
        // Only when the first one goes is there anything to search for.
        if was_first {
            self.first = self.find_first();
        } else if at != Time::MAX {
            self.first = self.first.min(Entry::new(at, self.class, number));
        }
    }

    /// Makes room for so many numbers. The wheel gets what there is when they are no longer few.
    #[cold]
    fn grow(&mut self, count: usize) {
        let had = self.nodes.len();
        self.nodes.resize(count, WheelEntry::NONE);
        if had > FEW || count <= FEW || self.first == Entry::NEVER {
            return;
        }
        self.base = slot(self.first.at());
        for number in 0..had {
            let at = std::mem::replace(&mut self.nodes[number], WheelEntry::NONE).at;
            self.put(number as u32, at);
        }
    }

    /// In the wheel if it is near enough. A time before the beginning does not occur; it would wrap, and go to
    /// the heap.
    #[inline]
    fn put(&mut self, number: u32, at: Time) {
        if at == Time::MAX {
            return;
        }
        if slot(at).wrapping_sub(self.base) < SLOTS as u64 {
            self.link(number, at);
        } else {
            self.far.set(number, Some(Entry::new(at, self.class, number)));
            self.nodes[number as usize] = WheelEntry { at, next: NOBODY, before: FAR };
        }
    }

    // In a slot the order is any: `find_first` compares all that are in it.
    fn link(&mut self, number: u32, at: Time) {
        let place = slot(at) as usize % SLOTS;
        let next = std::mem::replace(&mut self.heads[place], number);
        self.nodes[number as usize] = WheelEntry { at, next, before: NOBODY };
        if next == NOBODY {
            self.full[place / 64] |= 1 << (place % 64);
            self.words |= 1 << (place / 64);
        } else {
            self.nodes[next as usize].before = number;
        }
    }

    fn unlink(&mut self, number: u32) {
        let WheelEntry { at, next, before } =
            std::mem::replace(&mut self.nodes[number as usize], WheelEntry::NONE);
        if next != NOBODY {
            self.nodes[next as usize].before = before;
        }
        if before != NOBODY {
            self.nodes[before as usize].next = next;
            return;
        }
        let place = slot(at) as usize % SLOTS;
        self.heads[place] = next;
        if next == NOBODY {
            let word = &mut self.full[place / 64];
            *word &= !(1 << (place % 64));
            if *word == 0 {
                self.words &= !(1 << (place / 64));
            }
        }
    }

    fn find_first(&self) -> Entry {
        let mut first = self.far.first();
        if self.words == 0 {
            return first;
        }
        // Once around from the slot at which the wheel begins: the rest of its word, the words after it, its
        // word again.
        let start = self.base as usize % SLOTS;
        let word = start / 64;
        let rest = self.full[word] & (u64::MAX << (start % 64));
        let place = if rest != 0 {
            word * 64 + rest.trailing_zeros() as usize
        } else {
            let after = self.words.rotate_right(word as u32 + 1).trailing_zeros() as usize;
            let word = (word + 1 + after) % 64;
            word * 64 + self.full[word].trailing_zeros() as usize
        };
        let mut number = self.heads[place];
        while number != NOBODY {
            let WheelEntry { at, next, .. } = self.nodes[number as usize];
            first = first.min(Entry::new(at, self.class, number));
            number = next;
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::super::class;
    use super::*;
    use cogtcp_units::{Duration, RandomStream};
    use std::collections::BTreeMap;

    /// Against a sorted map: near and far, several in a slot, gaps longer than the wheel, and all the way
    /// round it.
    #[test]
    fn the_first_is_the_least_wherever_it_stands() {
        for (seed, spread) in [(1, 3_000), (2, 400_000), (3, 17_000_000), (4, 60_000_000)] {
            let mut stream = RandomStream::new(seed, "wheel", 0);
            let (mut wheel, mut model) = (Wheel::new(class::ACTS), BTreeMap::new());
            let mut now = Time::ZERO;
            let mut laps = 0;
            for step in 0..60_000 {
                // Few at first, who need no wheel.
                let number = stream.below(if step < 20_000 { FEW as u64 } else { 30 }) as u32;
                match stream.below(4) {
                    0 => {
                        wheel.set(number, Time::MAX);
                        model.remove(&number);
                    }
                    1 | 2 => {
                        let at = now + Duration::from_nanos(stream.below(spread));
                        wheel.set(number, at);
                        model.insert(number, at);
                    }
                    _ => {
                        let Some((at, number)) = model.iter().map(|(number, at)| (*at, *number)).min() else {
                            assert_eq!(wheel.first(), Entry::NEVER);
                            continue;
                        };
                        assert_eq!((wheel.first().at(), wheel.first().number()), (at, number));
                        laps += usize::from(slot(at) / SLOTS as u64 > slot(now) / SLOTS as u64);
                        now = at;
                        wheel.set(number, Time::MAX);
                        model.remove(&number);
                    }
                }
                let number = stream.below(30) as u32;
                assert_eq!(wheel.get(number), model.get(&number).copied().unwrap_or(Time::MAX));
            }
            assert!(laps > 0 || spread == 3_000, "the wheel has turned");
        }
    }
}
