//! Means and quantiles of independent values with confidence intervals.

use crate::{OutOfRange, binomial, student_t, sum};

/// An estimate with its two-sided confidence interval.
///
/// With one value there is no interval of the mean: `low` and `high` are NaN. Without a value all three are
/// NaN.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// The estimate: a mean or a quantile.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Number of values, NaN not counted.
    pub n: usize,
}

impl Interval {
    const fn without(estimate: f64, n: usize) -> Self {
        Self { estimate, low: f64::NAN, high: f64::NAN, n }
    }
}

/// Returns the mean of independent `values` with its t-interval. NaN marks a run without a value and is left
/// out.
///
/// # Errors
///
/// `confidence` is not between 0 and 1.
pub fn mean(values: &[f64], confidence: f64) -> Result<Interval, OutOfRange> {
    check_confidence(confidence)?;
    let known = known(values);
    let n = known.len();
    if n == 0 {
        return Ok(Interval::without(f64::NAN, 0));
    }
    let mean = mean_of(&known);
    if n == 1 {
        return Ok(Interval::without(mean, 1));
    }
    #[allow(clippy::cast_precision_loss, reason = "fewer than 2^53 values")]
    // Equal values have no spread; rounding of the mean would leave some.
    let error = if sum::common(&known).is_some() { 0.0 } else { (sum::variance(&known) / n as f64).sqrt() };
    // Half of the remaining probability lies on either side.
    let half = student_t::quantile(f64::midpoint(1.0, confidence), n as u64 - 1)? * error;
    Ok(Interval { estimate: mean, low: mean - half, high: mean + half, n })
}

/// Returns the mean of `values - baseline`, pair by pair, with its t-interval.
///
/// With common random numbers the pairs share their randomness, and the interval of the difference is
/// narrower than the interval of either mean.
///
/// # Errors
///
/// The numbers of values differ, or `confidence` is not between 0 and 1.
pub fn paired_difference(values: &[f64], baseline: &[f64], confidence: f64) -> Result<Interval, OutOfRange> {
    check_pairs(values, baseline)?;
    let differences: Vec<f64> = values.iter().zip(baseline).map(|(a, b)| a - b).collect();
    mean(&differences, confidence)
}

/// Returns the `q`-quantile of independent values with an interval that assumes nothing about their
/// distribution.
///
/// The ends are the i-th and the j-th smallest value of the sample. They enclose the quantile with the
/// probability that i to j - 1 of n trials succeed, each with probability q (Conover, Practical Nonparametric
/// Statistics, section 3.2). Both tails are cut off equally. An end for which the sample is too small is
/// infinite. NaN is left out.
///
/// # Errors
///
/// `q` or `confidence` is not between 0 and 1.
pub fn quantile(values: &[f64], q: f64, confidence: f64) -> Result<Interval, OutOfRange> {
    check_confidence(confidence)?;
    if !(q > 0.0 && q < 1.0) {
        return Err(OutOfRange(format!("no quantile {q:?}; take one between 0 and 1")));
    }
    let mut ordered = known(values);
    ordered.sort_by(f64::total_cmp);
    let n = ordered.len();
    if n == 0 {
        return Ok(Interval::without(f64::NAN, 0));
    }
    #[allow(clippy::cast_precision_loss, reason = "fewer than 2^53 values")]
    // Linear interpolation between order statistics (type 7 of Hyndman and Fan, 1996), numpy's default.
    let place = q * (n - 1) as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 <= place < n")]
    let below = place as usize;
    let above = (below + 1).min(n - 1);
    #[allow(clippy::cast_precision_loss, reason = "fewer than 2^53 values")]
    let estimate = ordered[below] + (place - below as f64) * (ordered[above] - ordered[below]);
    let tail = (1.0 - confidence) / 2.0;
    let (mut low, mut high, mut total) = (f64::NEG_INFINITY, f64::INFINITY, 0.0);
    for successes in 0..=n {
        // P(B < i) <= tail: the i-th smallest is low enough. P(B >= j) <= tail: the j-th is high enough.
        if total <= tail && successes >= 1 {
            low = ordered[successes - 1];
        }
        total += binomial::probability(successes as u64, n as u64, q);
        if total >= 1.0 - tail && successes < n {
            high = ordered[successes];
            break;
        }
    }
    Ok(Interval { estimate, low, high, n })
}

pub(crate) fn check_confidence(confidence: f64) -> Result<(), OutOfRange> {
    if confidence > 0.0 && confidence < 1.0 {
        return Ok(());
    }
    Err(OutOfRange(format!("no confidence {confidence:?}; take one between 0 and 1, such as 0.95")))
}

pub(crate) fn check_pairs(values: &[f64], baseline: &[f64]) -> Result<(), OutOfRange> {
    if values.len() == baseline.len() {
        return Ok(());
    }
    let (one, other) = (values.len(), baseline.len());
    Err(OutOfRange(format!("{one} values cannot be paired with {other}; give as many of each")))
}

/// The mean of equal values is that value exactly: an interval of width zero must contain it.
pub(crate) fn mean_of(values: &[f64]) -> f64 {
    sum::common(values).unwrap_or_else(|| sum::mean(values))
}

pub(crate) fn known(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| !value.is_nan()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_by_hand() {
        // Mean 3, variance 2.5, n 5: 3 +- 2.776 sqrt(2.5 / 5).
        let found = mean(&[1.0, 2.0, f64::NAN, 3.0, 4.0, 5.0], 0.95).unwrap();
        assert_eq!((found.estimate, found.n), (3.0, 5));
        assert!(((found.high - found.low) / 2.0 - 2.776 * 0.5f64.sqrt()).abs() < 1e-3);
    }

    #[test]
    fn few_values() {
        let one = mean(&[4.0], 0.95).unwrap();
        assert!(one.estimate == 4.0 && one.low.is_nan() && one.n == 1);
        assert!(mean(&[], 0.95).unwrap().estimate.is_nan());
        let equal = mean(&[0.1, 0.1, 0.1], 0.95).unwrap();
        assert_eq!((equal.low, equal.estimate, equal.high), (0.1, 0.1, 0.1));
    }

    #[test]
    fn quantiles_by_hand() {
        // Six values, median: 1/64 below the first, 7/64 up to the second: 1/64 <= 2.5 % < 7/64.
        let values = [6.0, 1.0, 3.0, 2.0, 5.0, 4.0];
        let found = quantile(&values, 0.5, 0.95).unwrap();
        assert_eq!((found.low, found.estimate, found.high), (1.0, 3.5, 6.0));
        assert_eq!(quantile(&[4.0], 0.5, 0.95).unwrap().estimate, 4.0);
        // Five values: 1/32 is more than 2.5 %, so that there are no ends.
        let found = quantile(&values[..5], 0.5, 0.95).unwrap();
        assert_eq!((found.low, found.high), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn arguments_out_of_range_are_refused() {
        assert!(mean(&[1.0, 2.0], 1.0).is_err() && quantile(&[1.0], 0.0, 0.95).is_err());
        assert!(paired_difference(&[1.0], &[1.0, 2.0], 0.95).unwrap_err().0.contains("paired"));
    }
}
