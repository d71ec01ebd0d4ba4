//! When routes end.

use cogtcp_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The ends of routes, by the place of their entries. A route that lives longer than it was noted leaves what
/// stands here alone; when the old end comes, it is looked at again. So to find what is over takes no look at
/// the routes that are not.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    heap: BinaryHeap<Reverse<(Time, u32)>>,
    /// By place: the first time that stands for it in the heap; [`Time::MAX`]: none does. No valid route ends
    /// before it.
    noted: Vec<Time>,
}

impl Ends {
    /// The route at `place` may end at `at`.
    pub(super) fn record(&mut self, place: u32, at: Time) {
        let index = place as usize;
        if index >= self.noted.len() {
            self.noted.resize(index + 1, Time::MAX);
        }
        // A later end needs no entry: `pop` finds it when the noted one comes.
        if at < self.noted[index] {
            self.noted[index] = at;
            self.heap.push(Reverse((at, place)));
        }
    }

    /// Takes out a place whose route is over at `now`; `ends_at` says when the route at a place ends, if it
    /// is valid. After `None` [`first`](Self::first) is the end of a valid route.
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
                Some(ends) => self.record(place, ends),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Time {
        Time::from_millis(1000 * seconds)
    }

    /// What is over at `now`, in the order in which it comes out.
    fn over(ends: &mut Ends, now: Time, routes: &[Option<Time>]) -> Vec<u32> {
        std::iter::from_fn(|| ends.pop(now, |place| routes[place as usize])).collect()
    }

    #[test]
    fn routes_come_out_by_their_ends() {
        let mut ends = Ends::default();
        let routes = [Some(s(5)), Some(s(3)), Some(s(9))];
        routes.iter().enumerate().for_each(|(place, at)| ends.record(place as u32, at.unwrap()));
        assert_eq!(ends.first(), s(3));
        assert!(over(&mut ends, s(2), &routes).is_empty());
        assert_eq!(over(&mut ends, s(5), &routes), [1, 0]);
        assert_eq!(ends.first(), s(9));
    }

    /// The longer life is found when the old end comes, and once.
    #[test]
    fn a_route_that_lives_longer_is_looked_at_again() {
        let mut ends = Ends::default();
        ends.record(0, s(3));
        ends.record(0, s(7));
        assert_eq!(ends.first(), s(3));
        assert!(over(&mut ends, s(4), &[Some(s(7))]).is_empty());
        assert_eq!(ends.first(), s(7));
        assert_eq!(over(&mut ends, s(7), &[Some(s(7))]), [0]);
        assert_eq!((ends.first(), ends.heap.len()), (Time::MAX, 0));
    }

    /// An earlier end replaces the noted one, which then has no effect. The end of an invalid route has none
    /// either.
    #[test]
    fn what_was_overtaken_or_is_gone_says_nothing() {
        let mut ends = Ends::default();
        ends.record(0, s(7));
        ends.record(0, s(3));
        assert_eq!(over(&mut ends, s(3), &[Some(s(3))]), [0]);
        assert!(over(&mut ends, s(8), &[None]).is_empty());
        ends.record(0, s(9));
        assert!(over(&mut ends, s(10), &[None]).is_empty());
        assert_eq!(ends.first(), Time::MAX);
    }
}
