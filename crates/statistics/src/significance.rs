//! The paired t-test, and Holm's procedure over several tests.

use crate::{interval, student_t, sum};

/// Returns the two-sided p-value of the paired t-test that `differences` have mean zero.
///
/// NaN with fewer than two values. Differences that are all equal leave no doubt: 0, or 1 if they are zero.
#[must_use]
pub fn p_value(differences: &[f64]) -> f64 {
    let known = interval::known(differences);
    if known.len() < 2 {
        return f64::NAN;
    }
    match sum::common(&known) {
        Some(value) => certain(value),
        None => of_moments(known.len() as u64, sum::mean(&known), sum::variance(&known)),
    }
}

fn certain(difference: f64) -> f64 {
    if difference == 0.0 { 1.0 } else { 0.0 }
}

#[allow(clippy::cast_precision_loss, reason = "fewer than 2^53 values")]
fn of_moments(n: u64, mean: f64, variance: f64) -> f64 {
    let t = mean / (variance / n as f64).sqrt();
    // Rounding may leave the range by a bit.
    (2.0 * (1.0 - student_t::distribution(t.abs(), n - 1))).clamp(0.0, 1.0)
}

/// Returns which hypotheses Holm's step-down procedure rejects, so that all rejections hold at once.
///
/// The probability of any false rejection is at most 1 - confidence, whatever the dependence (Holm 1979).
/// Bonferroni's bound holds too but rejects fewer. NaN is never rejected and does not count as a test.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "far fewer than 2^53 tests")]
pub fn holm(p_values: &[f64], confidence: f64) -> Vec<bool> {
    let level = 1.0 - confidence;
    let count = p_values.iter().filter(|p| !p.is_nan()).count();
    let mut rejected = vec![false; p_values.len()];
    let mut small: Vec<usize> = (0..p_values.len()).filter(|&index| p_values[index] <= level).collect();
    small.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    for (rank, index) in small.into_iter().enumerate() {
        // Step-down: after the first that is kept, all larger ones are kept.
        if p_values[index] > level / (count - rank) as f64 {
            break;
        }
        rejected[index] = true;
    }
    rejected
}

/// Number, mean and variance of values that arrive one by one (Welford 1962). NaN is left out.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    n: u64,
    mean: f64,
    squares: f64,
    low: f64,
    high: f64,
}

impl Default for Spread {
    fn default() -> Self {
        Self { n: 0, mean: 0.0, squares: 0.0, low: f64::INFINITY, high: f64::NEG_INFINITY }
    }
}

impl Spread {
    /// Takes a value in.
    #[allow(clippy::cast_precision_loss, reason = "fewer than 2^53 values")]
    pub fn add(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        self.n += 1;
        let gap = value - self.mean;
        self.mean += gap / self.n as f64;
        self.squares += gap * (value - self.mean);
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }

    /// Number of values.
    #[must_use]
    pub const fn n(&self) -> u64 {
        self.n
    }

    /// Mean of the values; 0 of none.
    #[must_use]
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns the p-value of the values as differences, as [`p_value`] does.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "fewer than 2^53 values")]
    pub fn p_value(&self) -> f64 {
        if self.n < 2 {
            return f64::NAN;
        }
        // By the extremes: of equal values rounding may leave some spread.
        if self.low >= self.high || self.squares == 0.0 {
            return certain(self.mean);
        }
        of_moments(self.n, self.mean, self.squares / (self.n - 1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_by_hand() {
        // Mean 0: t = 0, and P(|T| >= 0) = 1.
        assert_eq!(p_value(&[-1.0, 1.0]), 1.0);
        // Mean 2, variance 2, n 2: t = 2. With one degree of freedom p = 2 (1/2 - atan(2)/pi) = 0.295167.
        assert!((p_value(&[1.0, 3.0]) - 0.295_167).abs() < 1e-6);
        assert_eq!((p_value(&[1.0; 3]), p_value(&[0.0; 2])), (0.0, 1.0));
        assert!(p_value(&[3.0]).is_nan());
    }

    #[test]
    fn one_by_one_is_as_all_at_once() {
        let values = [1.5, -0.25, f64::NAN, 2.0, 0.75, 3.5];
        let mut spread = Spread::default();
        values.iter().for_each(|&value| spread.add(value));
        assert_eq!((spread.n(), spread.mean()), (5, 1.5));
        assert!((spread.p_value() - p_value(&values)).abs() < 1e-14);
    }

    #[test]
    fn holm_rejects_step_by_step() {
        // Holm 1979: 0.01 <= 0.05/4, and 0.02 > 0.05/3 stops there, though 0.02 alone is below 0.05.
        assert_eq!(holm(&[0.02, 0.01, 0.04, 0.03], 0.95), [false, true, false, false]);
        assert_eq!(holm(&[0.01, 0.016, 0.024, 0.049], 0.95), [true; 4]);
        assert_eq!(holm(&[f64::NAN, 0.04], 0.95), [false, true]);
        assert_eq!(holm(&[0.5], 0.5), [true], "at the level itself");
    }
}
