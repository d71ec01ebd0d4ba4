//! When routes end.

use cogtcp_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The ends of routes, by the place of their entries. A route that lives longer than it was noted leaves what stands here alone;
/// when the old end comes, it is looked at again. So to find what is over takes no look at the routes that are not.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    heap: BinaryHeap<Reverse<(Time, u32)>>,
    /// By place: the first time that stands for it in the heap; [`Time::MAX`]: none does. No valid route ends before it.
    noted: Vec<Time>,
}

impl Ends {
    /// The route at `place` may end at `at`.
    pub(super) fn note(&mut self, place: u32, at: Time) {
        let index = place as usize;
        if index >= self.noted.len() {
            self.noted.resize(index + 1, Time::MAX);
        }
        if at < self.noted[index] {
            self.noted[index] = at;
            self.heap.push(Reverse((at, place)));
        }
    }

    /// Takes out a place whose route is over at `now`; `ends_at` says when the route at a place ends, if it is valid. After `None`
    /// [`first`](Self::first) is the end of a valid route.
    pub(super) fn pop(&mut self, now: Time, ends_at: impl Fn(u32) -> Option<Time>) -> Option<u32> {
        while let Some(Reverse((at, place))) = self.heap.peek().copied() {
            let noted = &mut self.noted[place as usize];
            let ends = ends_at(place).filter(|_| at == *noted);
            if ends == Some(at) && at > now {
                return None;
            }
            self.heap.pop();
            // What was overtaken by an earlier one.
            if at != *noted {
                continue;
            }
            *noted = Time::MAX;
            match ends {
                Some(ends) if ends <= now => return Some(place),
                Some(ends) => self.note(place, ends),
                None => {}
            }
        }
        None
    }

    /// The first time that is noted; [`Time::MAX`]: none is.
    pub(super) fn first(&self) -> Time {
        self.heap.peek().map_or(Time::MAX, |Reverse((at, _))| *at)
    }
}
