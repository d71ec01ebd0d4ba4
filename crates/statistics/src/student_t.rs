//! Student's t distribution with whole degrees of freedom.

use crate::OutOfRange;
use std::f64::consts::FRAC_2_PI;

/// Returns P(T <= t) for t >= 0.
///
/// Exact for whole degrees of freedom: the finite sums of Abramowitz and Stegun 26.7.3 (odd) and 26.7.4
/// (even).
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "degrees of freedom are far below 2^53")]
pub fn distribution(t: f64, degrees: u64) -> f64 {
    let theta = libm::atan(t / (degrees as f64).sqrt());
    let (sine, cosine) = (libm::sin(theta), libm::cos(theta));
    let squared = cosine * cosine;
    let odd = degrees % 2 == 1;
    let (mut term, mut total) = if odd { (cosine, 0.0) } else { (1.0, 0.0) };
    let terms = if odd { (degrees - 1) / 2 } else { degrees / 2 };
    for k in 1..=terms {
        total += term;
        let k = k as f64;
        term *= squared * if odd { 2.0 * k / (2.0 * k + 1.0) } else { (2.0 * k - 1.0) / (2.0 * k) };
    }
    let central = if odd { FRAC_2_PI * (theta + sine * total) } else { sine * total };
    0.5 + central / 2.0
}

/// Returns the `p`-quantile for 0.5 <= p < 1: the smallest double whose distribution reaches `p`.
///
/// # Errors
///
/// `p` out of range, or no degree of freedom.
pub fn quantile(p: f64, degrees: u64) -> Result<f64, OutOfRange> {
    if !(0.5..1.0).contains(&p) || degrees < 1 {
        return Err(OutOfRange(format!(
            "no t quantile for p = {p:?}, {degrees} degrees of freedom; take 0.5 <= p < 1 and at least 1 degree of freedom"
        )));
    }
    let (mut low, mut high) = (0.0, 1.0);
    while distribution(high, degrees) < p {
        high *= 2.0;
    }
    loop {
        // Down to neighbouring doubles: the result depends on no tolerance.
        let middle = (low + high) / 2.0;
        if middle <= low || middle >= high {
            return Ok(high);
        }
        if distribution(middle, degrees) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_printed_table() {
        for (p, degrees, expected) in
            [(0.975, 1, 12.706), (0.975, 2, 4.303), (0.975, 9, 2.262), (0.95, 5, 2.015), (0.995, 10, 3.169)]
        {
            let found = quantile(p, degrees).unwrap();
            assert!((found - expected).abs() < 6e-4, "{p} {degrees}: {found}");
        }
    }

    #[test]
    fn one_degree_of_freedom_is_the_cauchy_distribution() {
        // P(T <= 2) = 1/2 + atan(2)/pi.
        let expected = 0.5 + libm::atan(2.0) / std::f64::consts::PI;
        assert!((distribution(2.0, 1) - expected).abs() < 1e-15);
    }

    #[test]
    fn quantiles_that_do_not_exist_are_refused() {
        for (p, degrees) in [(0.3, 5), (1.0, 5), (0.975, 0), (f64::NAN, 5)] {
            assert!(quantile(p, degrees).unwrap_err().0.contains("no t quantile"));
        }
    }
}
