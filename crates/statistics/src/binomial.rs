//! The binomial distribution.

/// Returns the probability of `k` successes in `n` trials that each succeed with probability `p`, 0 < p < 1.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "numbers of runs are far below 2^53")]
pub fn probability(k: u64, n: u64, p: f64) -> f64 {
    let (k, n) = (k as f64, n as f64);
    // By logarithms: the factorials of 200 runs overflow a double.
    let ways = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
    libm::exp(ways + k * libm::log(p) + (n - k) * libm::log1p(-p))
}

/// Returns P(X <= k) for `n` trials that each succeed with probability `p`.
#[must_use]
pub fn distribution(k: u64, n: u64, p: f64) -> f64 {
    if p <= 0.0 {
        return 1.0;
    }
    if p >= 1.0 {
        return if k >= n { 1.0 } else { 0.0 };
    }
    // Rounding may take the sum a little above 1.
    (0..=k.min(n)).map(|successes| probability(successes, n, p)).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coins_by_hand() {
        // Four coins: 1, 4, 6, 4, 1 of 16.
        assert!((probability(2, 4, 0.5) - 6.0 / 16.0).abs() < 1e-15);
        assert!((distribution(1, 4, 0.5) - 5.0 / 16.0).abs() < 1e-15);
        assert_eq!(
            (distribution(0, 4, 0.0), distribution(3, 4, 1.0), distribution(4, 4, 1.0)),
            (1.0, 0.0, 1.0)
        );
        assert!((distribution(9, 4, 0.5) - 1.0).abs() < 1e-14);
    }
}
