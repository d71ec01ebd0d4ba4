//! When which node has something to do.

use cogtcp_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One time for each of some slots, and the earliest of them. Entries that were put off stay in the heap and
/// are passed over.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Time, u32)>>,
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Its earliest entry in the heap; [`Time::MAX`]: there is none.
    armed: Time,
    due: Time,
}

impl Timers {
    pub(crate) fn new(slots: usize) -> Self {
        Self { heap: BinaryHeap::new(), slots: vec![Slot { armed: Time::MAX, due: Time::MAX }; slots] }
    }

    /// Sets when `slot` is due.
    pub(crate) fn set(&mut self, slot: u32, due: Time) {
        let times = &mut self.slots[slot as usize];
        times.due = due;
        if due < times.armed {
            times.armed = due;
            self.heap.push(Reverse((due, slot)));
        }
    }

    /// When the first may be due: never too late.
    pub(crate) fn next(&self) -> Time {
        self.heap.peek().map_or(Time::MAX, |Reverse((time, _))| *time)
    }

    /// The slot that is first, unless its entry was put off.
    pub(crate) fn first(&self) -> Option<u32> {
        self.heap.peek().map(|Reverse((_, slot))| *slot)
    }

    /// Takes the slot off whose time has come; `None`: its entry was put off.
    pub(crate) fn pop(&mut self) -> Option<u32> {
        let Reverse((time, slot)) = self.heap.pop()?;
        let times = &mut self.slots[slot as usize];
        // An entry that an earlier one of its slot has overtaken.
        if times.armed != time {
            return None;
        }
        times.armed = Time::MAX;
        // The slot was put off, and the entry for it is used up: another one is needed.
        if times.due > time {
            let due = times.due;
            self.set(slot, due);
            return None;
        }
        times.due = Time::MAX;
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::RandomStream;

    /// Against a list that is searched: times set at random, forwards and back.
    #[test]
    fn the_first_comes_first() {
        let mut draw = RandomStream::new(1, "timers", 0);
        let (mut timers, mut list) = (Timers::new(9), [Time::MAX; 9]);
        for _ in 0..5000 {
            let (slot, due) = (draw.below(9) as usize, Time::from_nanos(draw.below(1000)));
            timers.set(slot as u32, due);
            list[slot] = due;
            if draw.below(3) == 0 {
                let slot = loop {
                    let at = timers.next();
                    if let Some(slot) = timers.pop() {
                        assert_eq!(at, list[slot as usize]);
                        break slot as usize;
                    }
                };
                assert_eq!(list.iter().min(), Some(&list[slot]));
                list[slot] = Time::MAX;
            }
            if list.iter().all(|due| *due == Time::MAX) {
                continue;
            }
            assert!(timers.next() <= *list.iter().min().unwrap());
        }
    }
}
