//! Sums and moments without loss of digits.

/// Returns the sum of `values`, rounded once (Shewchuk, "Adaptive Precision Floating-Point Arithmetic and
/// Fast Robust Geometric Predicates", Discrete & Computational Geometry 18, 1997).
///
/// Infinite and NaN values give what plain addition gives.
#[must_use]
pub fn exact_sum(values: impl IntoIterator<Item = f64>) -> f64 {
    // Partial sums that do not overlap, by increasing magnitude.
    let mut partials: Vec<f64> = Vec::new();
    let mut special = 0.0;
    for value in values {
        if !value.is_finite() {
            special += value;
            continue;
        }
        let mut x = value;
        let mut kept = 0;
        for index in 0..partials.len() {
            let mut y = partials[index];
            if x.abs() < y.abs() {
                std::mem::swap(&mut x, &mut y);
            }
            let high = x + y;
            // Exact, since x is not smaller than y (Dekker's sum).
            let low = y - (high - x);
            if low != 0.0 {
                partials[kept] = low;
                kept += 1;
            }
            x = high;
        }
        partials.truncate(kept);
        partials.push(x);
    }
    // Not-a-number differs from zero, too.
    if special != 0.0 {
        return special;
    }
    let Some(mut high) = partials.pop() else { return 0.0 };
    let mut low = 0.0;
    while let Some(y) = partials.pop() {
        let x = high;
        high = x + y;
        low = y - (high - x);
        if low != 0.0 {
            break;
        }
    }
    // Round half to even over all partials: the next one decides a tie.
    if let Some(next) = partials.last()
        && ((low < 0.0 && *next < 0.0) || (low > 0.0 && *next > 0.0))
    {
        let twice = low * 2.0;
        let rounded = high + twice;
        #[allow(clippy::float_cmp, reason = "exact: whether the tie is a tie")]
        if twice == rounded - high {
            high = rounded;
        }
    }
    high
}

/// Returns the mean of `values`; NaN of none.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "fewer than 2^53 values")]
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { f64::NAN } else { exact_sum(values.iter().copied()) / values.len() as f64 }
}

/// Returns the sample variance (n - 1 in the denominator); NaN of fewer than two values.
///
/// Two passes, and the correction for the rounding of the mean (Chan, Golub and LeVeque 1983, eq. 1.7).
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "fewer than 2^53 values")]
pub fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let mean = mean(values);
    let n = values.len() as f64;
    let squares = exact_sum(values.iter().map(|value| (value - mean) * (value - mean)));
    let rest = exact_sum(values.iter().map(|value| value - mean));
    // The correction may exceed sums that are all rounding.
    (squares - rest * rest / n).max(0.0) / (n - 1.0)
}

/// Returns the sample covariance of pairs (n - 1 in the denominator); NaN of fewer than two.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "fewer than 2^53 values")]
pub fn covariance(xs: &[f64], ys: &[f64]) -> f64 {
    if xs.len() < 2 {
        return f64::NAN;
    }
    let (x_mean, y_mean) = (mean(xs), mean(ys));
    exact_sum(xs.iter().zip(ys).map(|(x, y)| (x - x_mean) * (y - y_mean))) / (xs.len() as f64 - 1.0)
}

/// Returns the value that all `values` have; none if they differ or there are none.
#[must_use]
pub(crate) fn common(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    #[allow(clippy::float_cmp, reason = "exact: whether anything varies")]
    values.iter().all(|value| *value == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_keeps_what_plain_addition_loses() {
        assert_eq!(exact_sum([1e100, 1.0, -1e100]), 1.0);
        // Ten times the double nearest to 0.1 is 1 after one rounding.
        assert_eq!(exact_sum([0.1; 10]), 1.0);
        assert_eq!(exact_sum([]), 0.0);
        // 2^53 + 1 + 2^-60 is above the tie between 2^53 and 2^53 + 2.
        assert_eq!(exact_sum([9_007_199_254_740_992.0, 1.0, 2f64.powi(-60)]), 9_007_199_254_740_994.0);
        assert_eq!(exact_sum([1.0, f64::INFINITY]), f64::INFINITY);
        assert!(exact_sum([f64::NEG_INFINITY, f64::INFINITY]).is_nan());
    }

    #[test]
    fn moments_by_hand() {
        // 1..5: mean 3, squared deviations 4 + 1 + 0 + 1 + 4 = 10, over 4.
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!((mean(&values), variance(&values)), (3.0, 2.5));
        // The same far from zero: nothing is lost.
        let far: Vec<f64> = values.iter().map(|value| value + 1e9).collect();
        assert_eq!(variance(&far), 2.5);
        assert!(mean(&[]).is_nan() && variance(&[1.0]).is_nan());
    }
}
