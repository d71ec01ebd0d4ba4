//! The retransmission timeout (RFC 6298).

use crate::SenderConfig;
use cogtcp_units::Duration;

/// SRTT, RTTVAR and the timeout with its back-off.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    srtt: Duration,
    rttvar: Duration,
    sampled: bool,
    /// Without back-off, between the bounds.
    base: Duration,
    /// Doublings since the last sample.
    backoff: u32,
    granularity: Duration,
    min: Duration,
    max: Duration,
}

impl RttEstimator {
    pub(crate) fn new(config: &SenderConfig) -> Self {
        let granularity = config.clock_granularity.max(Duration::from_nanos(1));
        let max = config.max_rto.max(granularity);
        Self {
            srtt: Duration::ZERO,
            rttvar: Duration::ZERO,
            sampled: false,
            base: config.initial_rto.max(granularity).min(max),
            backoff: 0,
            granularity,
            min: config.min_rto,
            max,
        }
    }

    /// Takes a sample (RFC 6298 sections 2.2 to 2.5). The timeout falls back from any back-off.
    pub(crate) fn sample(&mut self, rtt: Duration) {
        let g = self.granularity.as_nanos();
        let r = Duration::from_nanos(rtt.as_nanos().max(1).div_ceil(g) * g);
        if self.sampled {
            // RTTVAR before SRTT, with beta = 1/4 and alpha = 1/8 (2.3).
            self.rttvar = (self.rttvar * 3 + self.srtt.abs_diff(r)) / 4;
            self.srtt = (self.srtt * 7 + r) / 8;
        } else {
            (self.srtt, self.rttvar, self.sampled) = (r, r / 2, true);
        }
        let rto = self.srtt + (self.rttvar * 4).max(self.granularity);
        self.base = rto.max(self.min).min(self.max);
        self.backoff = 0;
    }

    /// The timer expired: the next timeout is twice as long (RFC 6298 section 5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(40);
    }

    /// The SYN timed out: data starts with 3 s (RFC 6298 section 5.7), unless it was configured longer.
    pub(crate) fn after_lost_syn(&mut self) {
        if !self.sampled {
            self.base = self.base.max(Duration::from_secs(3)).min(self.max);
        }
        self.backoff = 0;
    }

    /// The timeout now, with back-off.
    pub(crate) fn rto(&self) -> Duration {
        self.backed_off(self.backoff)
    }

    /// The timeout after `doublings`.
    pub(crate) fn backed_off(&self, doublings: u32) -> Duration {
        (self.base * (1u64 << doublings.min(40))).min(self.max)
    }

    /// The timeout without back-off.
    pub(crate) const fn base(&self) -> Duration {
        self.base
    }

    /// SRTT, zero before the first sample.
    pub(crate) const fn srtt(&self) -> Duration {
        self.srtt
    }

    /// RTTVAR, zero before the first sample.
    pub(crate) const fn rttvar(&self) -> Duration {
        self.rttvar
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn estimator() -> RttEstimator {
        RttEstimator::new(&SenderConfig { min_rto: ms(200), ..SenderConfig::default() })
    }

    /// RFC 6298 section 2, by hand: R = 100, then 140, then 60 ms.
    #[test]
    fn hand_computed() {
        let mut rtt = estimator();
        assert_eq!(rtt.rto(), ms(1000));
        rtt.sample(ms(100));
        assert_eq!((rtt.srtt(), rtt.rttvar(), rtt.rto()), (ms(100), ms(50), ms(300)));
        rtt.sample(ms(140));
        // RTTVAR = 3/4 50 + 1/4 40 = 47.5; SRTT = 7/8 100 + 1/8 140 = 105; RTO = 105 + 190 = 295.
        assert_eq!((rtt.srtt(), rtt.rttvar()), (ms(105), Duration::from_micros(47_500)));
        assert_eq!(rtt.rto(), ms(295));
        rtt.sample(ms(60));
        // RTTVAR = 3/4 47.5 + 1/4 45 = 46.875; SRTT = 7/8 105 + 60/8 = 99.375; RTO = 286.875.
        assert_eq!(rtt.rto(), Duration::from_micros(286_875));
    }

    /// Section 2.3: G bounds 4 RTTVAR from below; sections 2.4 and 2.5: the bounds of RTO.
    #[test]
    fn bounds() {
        let config = SenderConfig { clock_granularity: ms(100), min_rto: ms(1), ..SenderConfig::default() };
        let mut rtt = RttEstimator::new(&config);
        (0..60).for_each(|_| rtt.sample(ms(250)));
        // Samples round up to 300 ms, RTTVAR decays to nothing: 300 + G.
        assert_eq!((rtt.srtt(), rtt.rto()), (ms(300), ms(400)));
        let mut rtt = RttEstimator::new(&SenderConfig::default());
        rtt.sample(ms(10));
        assert_eq!(rtt.rto(), ms(1000));
        rtt.sample(Duration::from_secs(500));
        assert_eq!(rtt.rto(), Duration::from_secs(60));
    }

    /// Section 5.5: doubling up to the maximum, until a sample.
    #[test]
    fn back_off() {
        let mut rtt = estimator();
        rtt.sample(ms(100));
        let mut seen = Vec::new();
        for _ in 0..9 {
            rtt.back_off();
            seen.push(rtt.rto().as_nanos() / 1_000_000);
        }
        assert_eq!(seen, [600, 1200, 2400, 4800, 9600, 19_200, 38_400, 60_000, 60_000]);
        rtt.sample(ms(100));
        assert!(rtt.rto() < ms(300));
    }

    #[test]
    fn lost_syn() {
        let mut rtt = RttEstimator::new(&SenderConfig::default());
        rtt.back_off();
        rtt.after_lost_syn();
        assert_eq!(rtt.rto(), Duration::from_secs(3));
    }
}
