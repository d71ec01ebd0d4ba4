//! The adaptive linear predictor of signal levels.

use std::collections::VecDeque;

/// Keeps the update finite where the level did not change at all, dB^2.
const FLOOR: f64 = 1e-3;

/// Predicts a level some samples ahead by a linear filter whose weights follow the least-mean-squares rule,
/// normalised (Yoo, Cypher and Golmie, MILCOM 2007, predict the received signal strength so).
///
/// Departure from the paper: the filter works on the last differences of the level, not on the level itself.
/// So weights of zero mean a constant level, and a level far from zero does not slow the rule:
///
/// ```text
/// P(n + h) = p(n) + sum over i < order of w_i d(n - i),   d(k) = p(k) - p(k - 1)
/// w_i += step e d(n - h - i) / (sum of d^2),              e = p(n) - P(n)
/// ```
#[derive(Clone, Debug)]
pub struct LmsFilter {
    weights: Vec<f64>,
    step: f64,
    horizon: usize,
    /// The last levels, newest first: `order + horizon + 1` at most.
    levels: VecDeque<f64>,
}

impl LmsFilter {
    /// A filter of `order` weights (at least 1) and adaptation step `step` (above 0, below 2) that looks
    /// `horizon` samples (at least 1) ahead.
    pub fn new(order: usize, step: f64, horizon: usize) -> Self {
        Self { weights: vec![0.0; order.max(1)], step, horizon: horizon.max(1), levels: VecDeque::new() }
    }

    /// Takes the next level and returns the one predicted `horizon` samples on: the level itself until there
    /// are enough.
    pub fn push(&mut self, level: f64) -> f64 {
        self.levels.push_front(level);
        self.levels.truncate(self.weights.len() + self.horizon + 1);
        if self.levels.len() == self.weights.len() + self.horizon + 1 {
            let error = level - self.predicted(self.horizon);
            let power: f64 =
                (0..self.weights.len()).map(|i| self.difference(self.horizon + i)).map(square).sum();
            for i in 0..self.weights.len() {
                self.weights[i] += self.step * error * self.difference(self.horizon + i) / (FLOOR + power);
            }
        }
        if self.levels.len() > self.weights.len() { self.predicted(0) } else { level }
    }

    /// What is predicted from the samples as they were `back` samples ago.
    fn predicted(&self, back: usize) -> f64 {
        let sum: f64 = (0..self.weights.len()).map(|i| self.weights[i] * self.difference(back + i)).sum();
        self.levels[back] + sum
    }

    /// The difference of the level `back` samples ago to the one before it.
    fn difference(&self, back: usize) -> f64 {
        self.levels[back] - self.levels[back + 1]
    }
}

fn square(x: f64) -> f64 {
    x * x
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::RandomStream;

    /// A straight line is predicted exactly once the weights have settled: they sum to the horizon.
    #[test]
    fn a_trend_is_learned() {
        let mut filter = LmsFilter::new(4, 0.5, 10);
        let mut predicted = 0.0;
        for n in 0..200 {
            predicted = filter.push(-60.0 - 0.2 * f64::from(n));
        }
        assert!((predicted - (-60.0 - 0.2 * 209.0)).abs() < 1e-3, "{predicted}");
        assert!((filter.weights.iter().sum::<f64>() - 10.0).abs() < 1e-2);
    }

    /// By hand: order 1, horizon 1, step 1. Levels 0, 1, 3: d = 1, 2. At the third, e = 3 - (1 + 0 x 1) = 2
    /// and w = 1 x 2 x 1 / (1 + 0.001); predicted 3 + w x 2.
    #[test]
    fn one_step_by_hand() {
        let mut filter = LmsFilter::new(1, 1.0, 1);
        assert_eq!((filter.push(0.0), filter.push(1.0)), (0.0, 1.0));
        let weight = 2.0 / 1.001;
        assert!((filter.push(3.0) - (3.0 + 2.0 * weight)).abs() < 1e-12);
    }

    /// Weights stay bounded on noise for steps below 2.
    #[test]
    fn noise_does_not_blow_it_up() {
        let mut stream = RandomStream::new(1, "noise", 0);
        let mut filter = LmsFilter::new(8, 1.0, 5);
        for _ in 0..20_000 {
            let predicted = filter.push(-80.0 + 3.0 * stream.standard_normal());
            assert!((predicted + 80.0).abs() < 1000.0, "{predicted}");
        }
    }
}
