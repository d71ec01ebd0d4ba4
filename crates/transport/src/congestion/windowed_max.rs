//! A maximum over the latest rounds.

/// The maximum over a window of rounds, exact to a quarter window with three samples (Nichols's filter, which Linux
/// keeps in lib/win_minmax.c).
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
}
