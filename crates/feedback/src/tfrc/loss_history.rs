//! Loss intervals, and the loss event rate that follows from them (RFC 5348, section 5.4 and 5.5).

/// Weights of the eight last loss intervals, the newest first (section 5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// THRESHOLD: the least discount (section 5.5).
const THRESHOLD: f64 = 0.25;

/// The lengths of the last loss intervals in packets.
#[derive(Clone, Debug, Default)]
pub struct LossHistory {
    /// I_1 to I_8, the newest first, each with its discount DF_i.
    intervals: Vec<(f64, f64)>,
    discounting: bool,
}

impl LossHistory {
    /// A history without loss. `discounting`: old intervals count less during a long interval without loss.
    pub fn new(discounting: bool) -> Self {
        Self { intervals: Vec::with_capacity(WEIGHTS.len() + 1), discounting }
    }

    /// Returns the history of an unknown path.
    pub(crate) fn cleared(&self) -> Self {
        Self::new(self.discounting)
    }

    /// A loss event ends the present interval, which had `length` packets.
    pub fn push(&mut self, length: f64) {
        // The discount of the interval that ends here becomes lasting.
        let discount = self.discount(length);
        self.intervals.iter_mut().for_each(|(_, lasting)| *lasting *= discount);
        self.intervals.insert(0, (length, 1.0));
        self.intervals.truncate(WEIGHTS.len());
    }

    /// Returns the loss event rate, with `current` packets since the last loss event began; 0 before the
    /// first loss.
    pub fn loss_event_rate(&self, current: f64) -> f64 {
        if self.intervals.is_empty() {
            return 0.0;
        }
        // The present interval counts only if it raises the mean: packets after a loss event tell nothing at
        // first.
        let discount = self.discount(current);
        let (mut total, mut weights) = (current * WEIGHTS[0], WEIGHTS[0]);
        // Both means are of k intervals, so the oldest gives way to the present one: i = 0 to k - 1.
        let younger = &self.intervals[..self.intervals.len() - 1];
        for ((interval, lasting), weight) in younger.iter().zip(&WEIGHTS[1..]) {
            total += interval * weight * lasting * discount;
            weights += weight * lasting * discount;
        }
        let (past, past_weights) = self.past();
        let mean = (total / weights).max(past / past_weights);
        (1.0 / mean).clamp(0.0, 1.0)
    }

    /// Sum and weight of the completed intervals.
    fn past(&self) -> (f64, f64) {
        self.intervals.iter().zip(&WEIGHTS).fold(
            (0.0, 0.0),
            |(sum, weights), ((interval, lasting), weight)| {
                (sum + interval * weight * lasting, weights + weight * lasting)
            },
        )
    }

    /// DF: how much less older intervals count while the present one has `current` packets.
    fn discount(&self, current: f64) -> f64 {
        let (past, weights) = self.past();
        if !self.discounting || past == 0.0 {
            return 1.0;
        }
        let mean = past / weights;
        if current > 2.0 * mean { (2.0 * mean / current).max(THRESHOLD) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lengths: &[f64]) -> LossHistory {
        let mut history = LossHistory::new(false);
        lengths.iter().rev().for_each(|length| history.push(*length));
        history
    }

    /// Without loss there is no rate; with eight equal intervals of 100 packets the rate is 1 %.
    #[test]
    fn equal_intervals() {
        assert_eq!(LossHistory::new(true).loss_event_rate(1e6), 0.0);
        let history = of(&[100.0; 8]);
        assert!((history.loss_event_rate(0.0) - 0.01).abs() < 1e-12, "a young interval does not count");
    }

    /// I_0 = 200 behind eight intervals of 100: (200 + 100 (1+1+1+.8+.6+.4+.2)) / 6 = 700 / 6.
    #[test]
    fn the_present_interval_counts_once_it_is_long() {
        let rate = of(&[100.0; 8]).loss_event_rate(200.0);
        assert!((rate - 6.0 / 700.0).abs() < 1e-12, "{rate}");
    }

    /// Weights of section 5.4 on unequal intervals: (10 + 20 + 30 + 40 + .8*50 + .6*60 + .4*70 + .2*80) / 6 =
    /// 220 / 6.
    #[test]
    fn weights_fall_with_age() {
        let history = of(&[10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0]);
        assert!((history.loss_event_rate(0.0) - 6.0 / 220.0).abs() < 1e-12);
        // With three intervals, the three first weights: 60 / 3.
        assert!((of(&[10.0, 20.0, 30.0]).loss_event_rate(0.0) - 1.0 / 20.0).abs() < 1e-12);
    }

    /// One completed interval of 100, k = 1: the means are I_0 alone and I_1 alone, and the greater counts.
    #[test]
    fn means_are_of_as_many_intervals_as_there_are() {
        let history = of(&[100.0]);
        assert!((history.loss_event_rate(50.0) - 1.0 / 100.0).abs() < 1e-12);
        assert!((history.loss_event_rate(150.0) - 1.0 / 150.0).abs() < 1e-12);
        // k = 2: (300 + 10) / 2, without the 20 of the oldest.
        assert!((of(&[10.0, 20.0]).loss_event_rate(300.0) - 2.0 / 310.0).abs() < 1e-12);
    }

    /// The discount ends at THRESHOLD = 0.25: (4000 + 0.25 * 500) / (1 + 0.25 * 5).
    #[test]
    fn the_past_is_never_forgotten() {
        let mut history = LossHistory::new(true);
        (0..8).for_each(|_| history.push(100.0));
        assert!((history.loss_event_rate(4000.0) - 2.25 / 4125.0).abs() < 1e-12);
    }

    /// Section 5.5: I_0 = 400 is four times the mean, so DF = max(0.25, 200 / 400) = 0.5:
    /// (400 + 0.5 * 500) / (1 + 0.5 * 5) = 650 / 3.5.
    #[test]
    fn a_long_interval_discounts_the_past() {
        let mut history = LossHistory::new(true);
        (0..8).for_each(|_| history.push(100.0));
        let rate = history.loss_event_rate(400.0);
        assert!((rate - 3.5 / 650.0).abs() < 1e-12, "{rate}");
        // The loss event makes the discount lasting: (400 + 0.5 * (100 (1+1+1+.8+.6+.4+.2))) / (1 + 0.5 * 5).
        history.push(400.0);
        assert!((history.loss_event_rate(0.0) - 3.5 / 650.0).abs() < 1e-12);
    }
}
