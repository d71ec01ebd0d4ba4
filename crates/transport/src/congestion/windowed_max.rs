//! A maximum over the latest rounds.

/// The maximum over a window of rounds, exact to a quarter window with three samples (Nichols's filter, which
/// Linux keeps in lib/win_minmax.c).
#[derive(Clone, Debug, Default)]
pub(super) struct WindowedMax([(u64, f64); 3]);

impl WindowedMax {
    /// The greatest of the window.
    pub(super) const fn best(&self) -> f64 {
        self.0[0].1
    }

    /// A value of `round`; rounds never go back. What is more than `window` rounds old is forgotten.
    pub(super) fn update(&mut self, round: u64, value: f64, window: u64) {
        let sample = (round, value);
        let samples = &mut self.0;
        if value >= samples[0].1 || round - samples[2].0 > window {
            *samples = [sample; 3];
            return;
        }
        if value >= samples[1].1 {
            (samples[1], samples[2]) = (sample, sample);
        } else if value >= samples[2].1 {
            samples[2] = sample;
        }
        let age = round - samples[0].0;
        if age > window {
            *samples = [samples[1], samples[2], sample];
            if round - samples[0].0 > window {
                *samples = [samples[1], samples[2], sample];
            }
        } else if samples[1].0 == samples[0].0 && age > window / 4 {
            (samples[1], samples[2]) = (sample, sample);
        } else if samples[2].0 == samples[1].0 && age > window / 2 {
            samples[2] = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windowed_max_forgets_after_the_window() {
        let mut filter = WindowedMax::default();
        filter.update(1, 100.0, 10);
        for round in 2..=11 {
            filter.update(round, 50.0, 10);
            assert_eq!(filter.best(), 100.0, "round {round}");
        }
        filter.update(12, 40.0, 10);
        assert_eq!(filter.best(), 50.0);
        filter.update(13, 60.0, 10);
        assert_eq!(filter.best(), 60.0);
    }

    /// The second and third best follow the best when a quarter and half of the window have passed, and no
    /// sooner (`minmax_subwin_update` of Linux). Window 8: after more than 2 rounds, after more than 4.
    #[test]
    fn the_next_best_are_kept_by_quarters() {
        let best_after = |samples: &[(u64, f64)]| {
            let mut filter = WindowedMax::default();
            for (round, value) in samples {
                filter.update(*round, *value, 8);
            }
            filter.best()
        };
        // What is a whole window old still counts; in the round after it is forgotten.
        assert_eq!(best_after(&[(0, 100.0), (8, 5.0)]), 100.0);
        assert_eq!(best_after(&[(0, 100.0), (9, 5.0)]), 5.0);
        // Round 2 is a quarter, not more: the next best is that of round 3.
        assert_eq!(best_after(&[(0, 100.0), (1, 40.0), (2, 30.0), (3, 20.0), (9, 5.0)]), 20.0);
        // Once it is there, what comes later and is less does not take its place.
        assert_eq!(best_after(&[(0, 100.0), (3, 50.0), (4, 10.0), (9, 5.0)]), 50.0);
        // The third best: round 4 is half of the window, not more, so that of round 5 is kept. The second is
        // too old in round 12.
        assert_eq!(best_after(&[(0, 100.0), (3, 50.0), (4, 40.0), (5, 30.0), (12, 5.0)]), 30.0);
        // In round 9 the second becomes the best, of round 3, as the next is. A quarter has passed in round
        // 10: it makes way.
        let shifted = [(0, 100.0), (3, 50.0), (9, 10.0), (10, 5.0)];
        assert_eq!(best_after(&shifted), 50.0);
        assert_eq!(best_after(&[&shifted[..], &[(12, 1.0)]].concat()), 5.0);
    }
}
