//! The slope of the RTT over time windows, by least squares.

use cogtcp_units::{Duration, Time};

/// Samples of one window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RttSlope {
    window: Duration,
    start: Option<Time>,
    count: f64,
    /// Sums of t, R, t * t and t * R; t and R in seconds since the window's start and over its first sample.
    origin: f64,
    t: f64,
    r: f64,
    tt: f64,
    tr: f64,
}

impl RttSlope {
    pub(super) fn new(window: Duration) -> Self {
        Self { window, start: None, count: 0.0, origin: 0.0, t: 0.0, r: 0.0, tt: 0.0, tr: 0.0 }
    }

    pub(super) fn reset(&mut self) {
        *self = Self::new(self.window);
    }

    /// Takes the RTT `seconds`. Returns the slope, seconds per second, when this sample ends a window; zero
    /// when the window has too few samples to tell one.
    pub(super) fn sample(&mut self, now: Time, seconds: f64) -> Option<f64> {
        let start = *self.start.get_or_insert(now);
        if self.count == 0.0 {
            self.origin = seconds;
        }
        let age = now.saturating_since(start);
        let (t, r) = (age.as_secs_f64(), seconds - self.origin);
        self.count += 1.0;
        self.t += t;
        self.r += r;
        self.tt += t * t;
        self.tr += t * r;
        if age < self.window {
            return None;
        }
        let spread = self.count * self.tt - self.t * self.t;
        let slope = if spread > 0.0 { (self.count * self.tr - self.t * self.r) / spread } else { 0.0 };
        self.reset();
        Some(slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_a_line_per_window() {
        let mut slope = RttSlope::new(Duration::from_millis(500));
        let mut found = Vec::new();
        for step in 0..=101 {
            let t = f64::from(step) * 0.010;
            let now = Time::from_millis(1000 + 10 * step as u64);
            // 20 ms per second in the first window, falling by 10 ms per second in the second.
            let rtt = if step <= 50 { 0.1 + 0.020 * t } else { 0.11 - 0.010 * (t - 0.5) };
            found.extend(slope.sample(now, rtt));
        }
        assert_eq!(found.len(), 2);
        assert!((found[0] - 0.020).abs() < 1e-9 && (found[1] + 0.010).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn one_sample_has_no_slope() {
        let mut slope = RttSlope::new(Duration::ZERO);
        assert_eq!(slope.sample(Time::ZERO, 0.1), Some(0.0));
    }
}
