//! Where the transient at the beginning of a series ends.

use crate::sum;

/// Returns how many values at the beginning of `series` are warm-up, by MSER-5.
///
/// The values are averaged in batches of five. The cut is where the standard error of the mean of the rest is
/// smallest, and at most at half of the batches (White 1997; White, Cobb and Spratt 2000). A cut at half of
/// the batches says that the series is too short.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "fewer than 2^53 values")]
pub fn mser5(series: &[f64]) -> usize {
    let batches: Vec<f64> = series.as_chunks::<5>().0.iter().map(|batch| sum::mean(batch)).collect();
    let n = batches.len();
    if n < 2 {
        return 0;
    }
    let (mut best, mut cut) = (f64::INFINITY, 0);
    let (mut total, mut squares) = (0.0, 0.0);
    // Any constant does; one of the size of the values saves digits of the squares.
    let shift = batches[n - 1];
    // From the end, so that each cut adds one batch to the sums of the cut before.
    for start in (0..n).rev() {
        let value = batches[start] - shift;
        total += value;
        squares += value * value;
        let left = n - start;
        if start > n / 2 || left < 2 {
            continue;
        }
        // The sum of squares about the mean, over the square of the number: MSER (White 1997, eq. 3).
        let left = left as f64;
        let error = (squares - total * total / left).max(0.0) / (left * left);
        // Of equal errors the earliest cut, which keeps most of the series.
        if error <= best {
            (best, cut) = (error, start);
        }
    }
    cut * 5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_cut_off_and_a_level_is_kept() {
        let step: Vec<f64> = (0..100).map(|i| if i < 20 { 0.0 } else { 10.0 }).collect();
        assert_eq!(mser5(&step), 20);
        assert_eq!(mser5(&[3.0; 50]), 0);
        assert_eq!(mser5(&[1.0, 2.0, 3.0]), 0);
    }
}
