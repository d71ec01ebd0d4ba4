//! Running statistics of TFRC-CR's sender.

use cogtcp_units::Time;
use libm::sqrt;

/// Mean and deviation of round-trip times by Welford's recurrence (released code, avgRTT_ and m2RTT_).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    pub(super) fn add(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A.
    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    /// Sigma, of the whole and not of a sample: sqrt(M2 / n).
    pub(super) fn deviation(&self) -> f64 {
        if self.is_empty() { 0.0 } else { sqrt((self.squares / self.count as f64).max(0.0)) }
    }
}

/// Times between acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gaps {
    last: Option<Time>,
    count: u64,
    mean: f64,
}

impl Gaps {
    pub(super) fn add(&mut self, now: Time) {
        if let Some(last) = self.last {
            self.count += 1;
            self.mean += (now.saturating_since(last).as_secs_f64() - self.mean) / self.count as f64;
        }
        self.last = Some(now);
    }

    /// Gaps so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Mean gap in seconds; 0: none yet.
    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    /// Seconds since the last acknowledgement, or since time zero without one.
    pub(super) fn age(&self, now: Time) -> f64 {
        now.saturating_since(self.last.unwrap_or(Time::ZERO)).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2, 4, 4, 4, 5, 5, 7, 9 have mean 5 and deviation 2.
    #[test]
    fn moments_and_gaps() {
        let mut moments = Moments::default();
        [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter().for_each(|value| moments.add(value));
        assert!((moments.mean() - 5.0).abs() < 1e-12 && (moments.deviation() - 2.0).abs() < 1e-12);
        let mut gaps = Gaps::default();
        [0, 100, 400].into_iter().for_each(|millis| gaps.add(Time::from_millis(millis)));
        assert!((gaps.mean() - 0.2).abs() < 1e-12 && gaps.count() == 2);
        assert!((gaps.age(Time::from_millis(500)) - 0.1).abs() < 1e-12);
    }
}
