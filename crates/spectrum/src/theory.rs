//! Closed forms of opportunistic spectrum access.

use crate::detector::{Detector, detection_and_false_alarm};
use crate::math::q_inverse;
use cogtcp_units::Duration;

/// Returns the shortest sensing time in seconds for which the MAP energy detector keeps P_f' at
/// `false_alarm`. Its joint miss and joint false-alarm probabilities balance there, P_on (1 - P_d') = P_off
/// P_f': t_s = 1 / (W gamma^2) [Qinv(P_f') + (gamma + 1) Qinv(P_off P_f' / P_on)]^2.
///
/// `bandwidth` W in Hz, `gamma` linear. Infinite when the balance cannot be had (P_off P_f' >= P_on) or there
/// is no signal.
pub fn map_sensing_time(bandwidth: f64, gamma: f64, p_on: f64, false_alarm: f64) -> f64 {
    let miss = (1.0 - p_on) * false_alarm / p_on;
    // Negated, so that NaN has no sensing time either.
    if !(gamma > 0.0 && miss < 1.0) {
        return f64::INFINITY;
    }
    let sum = q_inverse(false_alarm) + (gamma + 1.0) * q_inverse(miss);
    // Both errors may be had without listening.
    if sum <= 0.0 { 0.0 } else { sum * sum / (bandwidth * gamma * gamma) }
}

/// Returns the shortest sensing time in seconds for which the Neyman-Pearson detector reaches `detection` at
/// `false_alarm`. This is N / `sampling_rate` with N = ((Qinv(P_f) - Qinv(P_d) sqrt(2 gamma + 1)) / gamma)^2
/// samples (Liang et al. 2008).
pub fn neyman_pearson_sensing_time(sampling_rate: f64, gamma: f64, detection: f64, false_alarm: f64) -> f64 {
    let sum = q_inverse(false_alarm) - q_inverse(detection) * libm::sqrt(2.0 * gamma + 1.0);
    if gamma.is_nan() || gamma <= 0.0 {
        return f64::INFINITY;
    }
    if sum <= 0.0 { 0.0 } else { sum * sum / (gamma * gamma * sampling_rate) }
}

/// Returns the shortest sensing time from which on `detector` reaches P_d' of at least `detection` with P_f'
/// of at most `false_alarm`. The PU has signal-to-noise ratio `gamma`; the time is exact to a microsecond.
/// None up to 10^4 s: infinite. For detectors without a closed form. Their errors fall with t_s once they are
/// small, so the search comes from above.
pub fn shortest_sensing_time(detector: &dyn Detector, gamma: f64, detection: f64, false_alarm: f64) -> f64 {
    let reaches = |microseconds: u64| {
        let (p_d, p_f) = detection_and_false_alarm(detector, Duration::from_micros(microseconds), gamma);
        p_d >= detection && p_f <= false_alarm
    };
    // 10^4 s.
    let mut good: u64 = 10_000_000_000;
    if !reaches(good) {
        return f64::INFINITY;
    }
    // Halved from above, and only then bisected: at short times the errors need not fall with t_s.
    while good > 1 && reaches(good / 2) {
        good /= 2;
    }
    let mut bad = good / 2;
    while good - bad > 1 {
        let middle = bad + (good - bad) / 2;
        if reaches(middle) { good = middle } else { bad = middle }
    }
    good as f64 / 1e6
}
