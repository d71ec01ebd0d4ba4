//! Ratios of means with intervals by Fieller's theorem.

use crate::interval::Interval;
use crate::{OutOfRange, interval, student_t, sum};

/// Returns mean(values) / mean(baseline), paired, with its interval by Fieller's theorem.
///
/// The interval holds every ratio r at which a paired t-test does not reject mean(values) = r mean(baseline)
/// (Fieller 1954). It is not symmetric. An end is infinite where the baseline's own interval reaches zero.
/// Where no value is negative, the interval begins at zero or above. Pairs with NaN are left out.
///
/// # Errors
///
/// The numbers of values differ, the mean of the baseline is not positive, or `confidence` is not between 0
/// and 1.
pub fn ratio(values: &[f64], baseline: &[f64], confidence: f64) -> Result<Interval, OutOfRange> {
    interval::check_pairs(values, baseline)?;
    interval::check_confidence(confidence)?;
    let pairs = values.iter().copied().zip(baseline.iter().copied());
    let (top, bottom): (Vec<f64>, Vec<f64>) = pairs.filter(|(a, b)| !(a.is_nan() || b.is_nan())).unzip();
    let n = top.len();
    let (above, below) = (interval::mean_of(&top), interval::mean_of(&bottom));
    if n == 0 {
        return Ok(Interval { estimate: f64::NAN, low: f64::NAN, high: f64::NAN, n });
    }
    if below.is_nan() || below <= 0.0 {
        return Err(OutOfRange(format!(
            "a ratio needs a positive baseline, not one whose mean is {below:?}"
        )));
    }
    let estimate = above / below;
    if n == 1 {
        return Ok(Interval { estimate, low: f64::NAN, high: f64::NAN, n });
    }
    let least = if top.iter().chain(&bottom).all(|value| *value >= 0.0) { 0.0 } else { f64::NEG_INFINITY };
    let t = student_t::quantile(f64::midpoint(1.0, confidence), n as u64 - 1)?;
    #[allow(clippy::cast_precision_loss, reason = "fewer than 2^53 values")]
    let (low, high) = fieller(&top, &bottom, estimate, t * t / n as f64, least);
    Ok(Interval { estimate, low, high, n })
}

/// Returns the ends of the ratios r >= least with mean(top - r bottom)^2 <= weight var(top - r bottom).
///
/// This is a r^2 - 2 b r + c <= 0, an interval where a > 0. Where a <= 0 only the ratios between the roots
/// are excluded: there is no upper bound.
fn fieller(top: &[f64], bottom: &[f64], ratio: f64, weight: f64, least: f64) -> (f64, f64) {
    let (mean, spread, together) = (sum::mean(bottom), sum::variance(bottom), sum::covariance(top, bottom));
    let a = mean * mean - weight * spread;
    let b = ratio * mean * mean - weight * together;
    let rest = residual(top, bottom, ratio);
    if a > 0.0 && rest == 0.0 {
        return (ratio, ratio); // every pair has this ratio
    }
    // b^2 - a c as variances of residuals: the plain form loses half of its digits.
    let mut root = weight * mean * mean * rest;
    if spread > 0.0 {
        root -= weight * weight * spread * residual(top, bottom, together / spread);
    }
    if a > 0.0 {
        let half = root.max(0.0).sqrt();
        return (least.max((b - half) / a), (b + half) / a);
    }
    if a == 0.0 || root <= 0.0 {
        return (least, f64::INFINITY);
    }
    let (one, other) = ((b - root.sqrt()) / a, (b + root.sqrt()) / a);
    let (first, second) = (one.min(other), one.max(other));
    (if first < least { least.max(second) } else { least }, f64::INFINITY)
}

fn residual(top: &[f64], bottom: &[f64], ratio: f64) -> f64 {
    let left: Vec<f64> = top.iter().zip(bottom).map(|(t, b)| t - ratio * b).collect();
    sum::variance(&left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_by_hand() {
        // Top 1, 2, 3; bottom 4, 6, 5: means 2 and 5, variances 1 and 1, covariance 0.5; t(0.975, 2)^2 / 3 =
        // 6.17095. a = 25 - 6.17095, b = 10 - 3.08548, c = 4 - 6.17095: the roots are -0.13292 and 0.86738.
        let found = ratio(&[1.0, 2.0, 3.0], &[4.0, 6.0, 5.0], 0.95).unwrap();
        assert!(
            found.estimate == 0.4 && found.low == 0.0 && (found.high - 0.867_38).abs() < 1e-5,
            "{found:?}"
        );
    }

    #[test]
    fn one_pair_has_a_ratio_and_no_interval() {
        let found = ratio(&[1.0, f64::NAN], &[4.0, 5.0], 0.95).unwrap();
        assert_eq!((found.estimate, found.n), (0.25, 1));
        assert!(found.low.is_nan() && found.high.is_nan());
    }

    /// a = 0 exactly: bottom 0, 2 has mean 1 and variance 2, so a weight of 1/2 leaves nothing. Top -1, 3: b = 1 -
    /// 4/2 = -1. There is no upper bound, and no division by a.
    #[test]
    fn a_baseline_that_just_may_be_zero_leaves_no_upper_bound() {
        let ends = fieller(&[-1.0, 3.0], &[0.0, 2.0], 1.0, 0.5, f64::NEG_INFINITY);
        assert_eq!(ends, (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn a_baseline_that_may_be_zero_leaves_no_upper_bound() {
        let found = ratio(&[1.0, 1.1, 0.9, 1.0], &[0.0, 0.0, 0.0, 9.0], 0.95).unwrap();
        assert!(found.low > 0.0 && found.low < found.estimate && found.high.is_infinite());
        assert!(ratio(&[1.0, 2.0], &[0.0, 0.0], 0.95).unwrap_err().0.contains("positive baseline"));
        // Infinities of both signs have no mean.
        let infinite = [f64::INFINITY, f64::NEG_INFINITY];
        assert!(ratio(&[1.0, 2.0], &infinite, 0.95).unwrap_err().0.contains("positive baseline"));
        let same = ratio(&[20.0, 22.0, 24.0], &[10.0, 11.0, 12.0], 0.95).unwrap();
        assert_eq!((same.low, same.high), (2.0, 2.0));
    }
}
