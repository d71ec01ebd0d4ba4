//! Stretches of time for which a radio was counted as being on the air.

use cogtcp_units::Time;
use std::collections::VecDeque;

/// Stretches that are remembered, so that two directions that send at once count once.
const REMEMBERED: usize = 64;

/// Stretches of time, apart and in order.
#[derive(Debug, Default)]
pub(super) struct Covered(VecDeque<(Time, Time)>);

impl Covered {
    /// Covers the time from `from` to `until`. Shows the parts of it that were not covered.
    pub(super) fn cover(&mut self, from: Time, until: Time, mut show: impl FnMut(Time, Time)) {
        if from >= until {
            return;
        }
        // Nearly every frame of a busy link lies in the last stretch, or goes on where it ends, or comes after it.
        match self.0.back_mut() {
            Some((begin, end)) if *begin <= from && from <= *end => {
                if until > *end {
                    show(std::mem::replace(end, until), until);
                }
                return;
            }
            Some((_, end)) if from <= *end => {}
            _ => {
                self.0.push_back((from, until));
                if self.0.len() > REMEMBERED {
                    self.0.pop_front();
                }
                return show(from, until);
            }
        }
        // From the end: new frames are near it.
        let first = self.0.iter().rposition(|(_, end)| *end < from).map_or(0, |before| before + 1);
        let (mut at, mut last) = (from, first);
        let mut joined = (from, until);
        // Stretches that touch are joined.
        while let Some(&(begin, end)) = self.0.get(last).filter(|(begin, _)| *begin <= until) {
            if at < begin {
                show(at, begin);
            }
            at = at.max(end);
            joined = (joined.0.min(begin), joined.1.max(end));
            last += 1;
        }
        if at < until {
            show(at, until);
        }
        match last - first {
            0 => self.0.insert(first, joined),
            1 => self.0[first] = joined,
            _ => {
                self.0.drain(first + 1..last);
                self.0[first] = joined;
            }
        }
        if self.0.len() > REMEMBERED {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::RandomStream;

    /// Against one flag a nanosecond: what is shown is what was not covered, and stretches stay apart.
    #[test]
    fn each_nanosecond_is_shown_once() {
        for seed in 0..200 {
            let mut random = RandomStream::new(seed, "covered", 0);
            let (mut covered, mut flags) = (Covered::default(), vec![false; 400]);
            for _ in 0..30 {
                let from = random.below(350);
                let until = from + random.below(50);
                let mut shown = Vec::new();
                covered.cover(Time::from_nanos(from), Time::from_nanos(until), |begin, end| {
                    shown.extend(begin.as_nanos()..end.as_nanos());
                });
                let free: Vec<u64> = (from..until).filter(|at| !flags[*at as usize]).collect();
                assert_eq!(shown, free, "seed {seed}");
                free.iter().for_each(|at| flags[*at as usize] = true);
                let stretches = covered.0.iter().zip(covered.0.iter().skip(1));
                assert!(stretches.into_iter().all(|((_, end), (begin, _))| end < begin), "seed {seed}");
            }
        }
    }

    #[test]
    fn the_earliest_stretch_is_forgotten() {
        let mut covered = Covered::default();
        let at = |number: usize| Time::from_nanos(10 * number as u64);
        for number in 0..=REMEMBERED {
            covered.cover(at(2 * number), at(2 * number + 1), |_, _| {});
        }
        let mut shown = 0;
        covered.cover(at(0), at(4), |begin, end| shown += end.as_nanos() - begin.as_nanos());
        assert_eq!(shown, 30, "the first stretch counts again, the second does not");
    }
}
