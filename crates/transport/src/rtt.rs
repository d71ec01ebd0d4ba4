//! The retransmission timeout (RFC 6298).

use crate::{TimeoutRules, Timers, micros};
use cogtcp_units::{Duration, Time};

/// SRTT, RTTVAR and the timeout with its backoff.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    srtt: Duration,
    rttvar: Duration,
    sampled: bool,
    /// Without backoff, between the bounds.
    base: Duration,
    /// Doublings since the last sample.
    backoff: u32,
    linux: LinuxVariation,
}

/// The variation by the rules of Linux ([`TimeoutRules::Linux`]), four times of it all as there, in whole microseconds.
#[derive(Clone, Copy, Debug, Default)]
struct LinuxVariation {
    /// The mean deviation, the greatest of it in this round trip, and what the RTO is made with.
    mean: Duration,
    greatest: Duration,
    held: Duration,
    /// The round trip ends when this offset is acknowledged.
    round_end: u64,
}

impl LinuxVariation {
    fn first(rtt: Duration, least: Duration, nxt: u64) -> Self {
        let held = (rtt * 2).max(least);
        Self { mean: rtt * 2, greatest: held, held, round_end: nxt }
    }

    /// A sample, SRTT as it was before it.
    fn sample(&mut self, rtt: Duration, srtt: Duration, least: Duration, una: u64, nxt: u64) {
        let deviation = rtt.abs_diff(srtt);
        let quarter = micros::whole(self.mean / 4);
        self.mean = if deviation < quarter {
            self.mean - (quarter - deviation)
        } else {
            // What comes sooner than expected says little of what comes late.
            self.mean + micros::whole((deviation - quarter) / if rtt < srtt { 8 } else { 1 })
        };
        self.greatest = self.greatest.max(self.mean);
        self.held = self.held.max(self.greatest);
        if una > self.round_end {
            self.held -= micros::whole(self.held.saturating_sub(self.greatest) / 4);
            (self.round_end, self.greatest) = (nxt, least);
        }
    }
}

impl RttEstimator {
    pub(crate) fn new(timers: &Timers) -> Self {
        Self {
            srtt: Duration::ZERO,
            rttvar: Duration::ZERO,
            sampled: false,
            base: timers.initial_rto.max(granularity(timers)).min(longest(timers)),
            backoff: 0,
            linux: LinuxVariation::default(),
        }
    }

    /// Takes a sample (RFC 6298 sections 2.2 to 2.5) at `now` by an ACK of `una`, with data up to `nxt` sent. The
    /// timeout falls back from any backoff.
    pub(crate) fn sample(&mut self, now: Time, rtt: Duration, timers: &Timers, una: u64, nxt: u64) {
        if timers.timeout_rules == TimeoutRules::Linux {
            let (rtt, least) = (micros::whole(rtt).max(Duration::from_micros(1)), timers.min_rto);
            if self.sampled {
                // SRTT has eighths of a microsecond, which a sample is not compared with (`tcp_rtt_estimator`).
                let known = micros::whole(self.srtt);
                self.linux.sample(rtt, known, least, una, nxt);
                self.srtt =
                    if rtt < known { self.srtt - (known - rtt) / 8 } else { self.srtt + (rtt - known) / 8 };
            } else {
                (self.srtt, self.sampled) = (rtt, true);
                self.linux = LinuxVariation::first(rtt, least, nxt);
            }
            self.rttvar = self.linux.mean / 4;
            let rto = micros::whole(self.srtt) + self.linux.held;
            // `icsk_rto` has whole ticks.
            let rto = if timers.timer_tick.is_zero() { rto } else { whole_ticks(rto, timers.timer_tick) };
            self.base = rto.min(longest(timers));
            self.backoff = 0;
            return;
        }
        if timers.timeout_rules == TimeoutRules::Ns2 {
            self.sample_in_ticks(now, rtt, timers);
            return;
        }
        let r = rtt.max(Duration::from_nanos(1));
        if self.sampled {
            // RTTVAR before SRTT, with beta = 1/4 and alpha = 1/8 (2.3).
            self.rttvar = (self.rttvar * 3 + self.srtt.abs_diff(r)) / 4;
            self.srtt = (self.srtt * 7 + r) / 8;
        } else {
            (self.srtt, self.rttvar, self.sampled) = (r, r / 2, true);
        }
        // Linux bounds the variation, and with it the RTO (`__tcp_set_rto`).
        let least = if timers.min_rto_above_srtt { timers.min_rto } else { Duration::ZERO };
        let rto = self.srtt + (self.rttvar * 4).max(granularity(timers)).max(least);
        // A clock of G cannot expire between its ticks. SRTT keeps its resolution: controls pace by it.
        self.base = whole_ticks(rto, granularity(timers)).max(timers.min_rto).min(longest(timers));
        self.backoff = 0;
    }

    /// As 4.4BSD and ns-2 (`rtt_update` in `tcp.cc`): whole ticks, of SRTT eighths, of RTTVAR quarters.
    fn sample_in_ticks(&mut self, now: Time, rtt: Duration, timers: &Timers) {
        let tick = granularity(timers);
        let [now, rtt_ns, tick_ns] = [now.as_nanos(), rtt.as_nanos(), tick.as_nanos()];
        // The ticks between: ns-2's clock begins anywhere within a tick, this one with the time.
        let ticks = (now / tick_ns - now.saturating_sub(rtt_ns) / tick_ns).max(1).cast_signed();
        let scaled = |time: Duration, parts: u64| {
            time.as_nanos()
                .saturating_mul(parts)
                .saturating_add(tick_ns / 2)
                .div_euclid(tick_ns)
                .cast_signed()
        };
        let (mut srtt, mut rttvar) = (scaled(self.srtt, 8), scaled(self.rttvar, 4));
        if self.sampled {
            let difference = ticks - (srtt >> 3);
            srtt = (srtt + difference).max(1);
            rttvar = (rttvar + difference.abs() - (rttvar >> 2)).max(1);
        } else {
            (srtt, rttvar, self.sampled) = (ticks << 3, ticks << 1, true);
        }
        let [srtt, rttvar] = [srtt.cast_unsigned(), rttvar.cast_unsigned()];
        (self.srtt, self.rttvar) = (tick * srtt / 8, tick * rttvar / 4);
        self.base = (tick * (((rttvar << 3) + srtt) >> 3)).max(timers.min_rto).min(longest(timers));
        self.backoff = 0;
    }

    /// The timer expired: the next timeout is twice as long (RFC 6298 section 5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(40);
    }

    /// The SYN timed out: data starts with 3 s (RFC 6298 section 5.7), unless it was configured longer.
    pub(crate) fn after_lost_syn(&mut self, timers: &Timers) {
        if !self.sampled {
            self.base = self.base.max(Duration::from_secs(3)).min(longest(timers));
        }
        self.backoff = 0;
    }

    /// The timeout now, with backoff.
    #[inline]
    pub(crate) fn rto(&self, timers: &Timers) -> Duration {
        // Without backoff it is within its bounds.
        if self.backoff == 0 { self.base } else { self.backed_off(self.backoff, timers) }
    }

    /// The timeout after `doublings`.
    pub(crate) fn backed_off(&self, doublings: u32, timers: &Timers) -> Duration {
        (self.base * (1u64 << doublings.min(40))).min(longest(timers))
    }

    /// The timeout without backoff.
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

/// G.
fn granularity(timers: &Timers) -> Duration {
    timers.clock_granularity.max(Duration::from_nanos(1))
}

/// `time`, rounded up to ticks of `tick`.
fn whole_ticks(time: Duration, tick: Duration) -> Duration {
    Duration::from_nanos(time.as_nanos().div_ceil(tick.as_nanos()).saturating_mul(tick.as_nanos()))
}

/// The upper bound of the timeout.
fn longest(timers: &Timers) -> Duration {
    timers.max_rto.max(granularity(timers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// An estimator with its settings.
    struct Estimator(RttEstimator, Timers);

    impl Estimator {
        fn new(config: Timers) -> Self {
            Self(RttEstimator::new(&config), config)
        }

        fn sample(&mut self, rtt: Duration) {
            self.0.sample(Time::ZERO + rtt, rtt, &self.1, 0, 0);
        }

        fn rto(&self) -> Duration {
            self.0.rto(&self.1)
        }
    }

    fn estimator() -> Estimator {
        Estimator::new(Timers { min_rto: ms(200), ..Timers::default() })
    }

    /// RFC 6298 section 2, by hand: R = 100, then 140, then 60 ms.
    #[test]
    fn hand_computed() {
        let mut rtt = estimator();
        assert_eq!(rtt.rto(), ms(1000));
        rtt.sample(ms(100));
        assert_eq!((rtt.0.srtt(), rtt.0.rttvar(), rtt.rto()), (ms(100), ms(50), ms(300)));
        rtt.sample(ms(140));
        // RTTVAR = 3/4 50 + 1/4 40 = 47.5; SRTT = 7/8 100 + 1/8 140 = 105; RTO = 105 + 190 = 295.
        assert_eq!((rtt.0.srtt(), rtt.0.rttvar()), (ms(105), Duration::from_micros(47_500)));
        assert_eq!(rtt.rto(), ms(295));
        rtt.sample(ms(60));
        // RTTVAR = 3/4 47.5 + 1/4 45 = 46.875; SRTT = 7/8 105 + 60/8 = 99.375; RTO = 286.875, in ticks of 1 ms.
        assert_eq!(rtt.0.srtt(), Duration::from_micros(99_375));
        assert_eq!(rtt.rto(), ms(287));
    }

    /// `rtt_update` of ns-2's `tcp.cc`, by hand: ticks of 10 ms, RTT of 300, then 345 ms.
    #[test]
    fn whole_ticks_keep_some_variation() {
        let timers = Timers {
            min_rto: ms(200),
            clock_granularity: ms(10),
            timeout_rules: TimeoutRules::Ns2,
            ..Timers::default()
        };
        let at = |millis| Time::ZERO + ms(millis);
        let mut rtt = RttEstimator::new(&timers);
        rtt.sample(at(5300), ms(300), &timers, 0, 0);
        // 30 ticks: t_srtt 240, t_rttvar 60; RTO (8 x 60 + 240) / 8 = 90 ticks.
        assert_eq!((rtt.srtt(), rtt.rttvar(), rtt.rto(&timers)), (ms(300), ms(150), ms(900)));
        // From 5655 to 6000 ms are 35 ticks of the clock: t_srtt 245, t_rttvar 60 + 5 - 15 = 50; RTO 80 ticks.
        rtt.sample(at(6000), ms(345), &timers, 0, 0);
        assert_eq!(
            (rtt.srtt(), rtt.rttvar(), rtt.rto(&timers)),
            (Duration::from_micros(306_250), ms(125), ms(800))
        );
        // Without jitter t_rttvar stays at 3: three ticks above SRTT, whose eighths stay too.
        (0..60).for_each(|_| rtt.sample(at(7000), ms(300), &timers, 0, 0));
        assert_eq!((rtt.srtt(), rtt.rto(&timers)), (Duration::from_micros(306_250), ms(330)));
        // A round trip within a tick is one.
        let mut rtt = RttEstimator::new(&timers);
        rtt.sample(at(19), ms(3), &timers, 0, 0);
        assert_eq!((rtt.srtt(), rtt.rto(&timers)), (ms(10), ms(200)));
    }

    /// Section 2.3: G bounds 4 RTTVAR from below, and the RTO is whole ticks; sections 2.4 and 2.5: the bounds
    /// of RTO.
    #[test]
    fn bounds() {
        let config = Timers { clock_granularity: ms(100), min_rto: ms(1), ..Timers::default() };
        let mut rtt = Estimator::new(config);
        (0..60).for_each(|_| rtt.sample(ms(250)));
        // RTTVAR decays to nothing: 250 + G, rounded up. SRTT is not rounded.
        assert_eq!((rtt.0.srtt(), rtt.rto()), (ms(250), ms(400)));
        let mut rtt = Estimator::new(Timers::default());
        rtt.sample(ms(10));
        assert_eq!(rtt.rto(), ms(1000));
        rtt.sample(Duration::from_secs(500));
        assert_eq!(rtt.rto(), Duration::from_secs(60));
    }

    /// Linux: 100 ms and 200 ms above that, where RFC 6298 has 200 ms; a variation of more than that counts
    /// in full.
    #[test]
    fn the_least_rto_above_srtt() {
        for (above, expected) in [(false, 200), (true, 300)] {
            let config = Timers { min_rto: ms(200), min_rto_above_srtt: above, ..Timers::default() };
            let mut rtt = RttEstimator::new(&config);
            (0..60).for_each(|_| rtt.sample(Time::ZERO, ms(100), &config, 0, 0));
            assert_eq!(rtt.rto(&config), ms(expected));
            let mut rtt = RttEstimator::new(&config);
            rtt.sample(Time::ZERO, ms(200), &config, 0, 0);
            assert_eq!(rtt.rto(&config), ms(600));
        }
    }

    /// Linux counts microseconds, SRTT in eighths of one; the RTO has whole ticks. 10.0002 ms are 10 ms; with 10.011 ms
    /// SRTT is 10.001375, the deviation 11 us, less than a quarter of 20 ms. The RTO is 210.001 ms: 211 ticks of 1 ms.
    #[test]
    fn linux_counts_microseconds() {
        let timers = Timers {
            timeout_rules: TimeoutRules::Linux,
            min_rto: ms(200),
            timer_tick: ms(1),
            ..Timers::default()
        };
        let mut rtt = RttEstimator::new(&timers);
        rtt.sample(Time::ZERO, Duration::from_nanos(10_000_200), &timers, 0, 0);
        assert_eq!((rtt.srtt(), rtt.rto(&timers)), (ms(10), ms(210)));
        rtt.sample(Time::ZERO, Duration::from_nanos(10_011_900), &timers, 0, 0);
        assert_eq!((rtt.srtt(), rtt.rto(&timers)), (Duration::from_nanos(10_001_375), ms(211)));
    }

    /// A round trip of no time is one all the same: SRTT 0 would be none.
    #[test]
    fn a_round_trip_of_no_time_is_a_sample() {
        for timeout_rules in [TimeoutRules::Rfc, TimeoutRules::Linux, TimeoutRules::Ns2] {
            let config = Timers { timeout_rules, ..Timers::default() };
            let mut rtt = RttEstimator::new(&config);
            rtt.sample(Time::ZERO, Duration::ZERO, &config, 1, 10);
            assert!(rtt.srtt() > Duration::ZERO, "{timeout_rules:?}");
        }
    }

    /// Linux's host under RFC 6298 keeps the least RTO above SRTT: 100 ms and 200 ms.
    #[test]
    fn the_host_of_linux_has_its_least_rto_above_srtt() {
        let linux = crate::host_profile::HostProfile::Linux.sender_config();
        let config = Timers { timeout_rules: TimeoutRules::Rfc, ..linux.timers };
        let mut rtt = RttEstimator::new(&config);
        (0..60).for_each(|_| rtt.sample(Time::ZERO, ms(100), &config, 0, 0));
        assert_eq!(rtt.rto(&config), ms(300));
    }

    /// Linux, by hand, 4 RTTVAR. A first sample of 100 ms gives 200 ms. A late sample of 340 ms adds the
    /// whole difference, an early one an eighth. A round trip later a quarter of the excess over that round
    /// trip's greatest is gone.
    #[test]
    fn the_variation_of_linux() {
        let config = Timers { min_rto: ms(200), timeout_rules: TimeoutRules::Linux, ..Timers::default() };
        let mut rtt = RttEstimator::new(&config);
        rtt.sample(Time::ZERO, ms(100), &config, 1, 10);
        assert_eq!(rtt.rto(&config), ms(300));
        // 200 + (240 - 50) = 390 ms; SRTT = 7/8 100 + 340/8 = 130.
        rtt.sample(Time::ZERO, ms(340), &config, 5, 20);
        assert_eq!((rtt.srtt(), rtt.rto(&config)), (ms(130), ms(130 + 390)));
        // Below SRTT by 50 ms, less than a quarter of 390: the deviation falls to 342.5, but 390 is held in
        // this round trip.
        rtt.sample(Time::ZERO, ms(80), &config, 9, 30);
        assert_eq!(rtt.rto(&config), rtt.srtt() + ms(390));
        // The round trip ends; its greatest was 390. In the next, of 200 ms at least, samples as expected
        // leave 342.5 * 3/4.
        rtt.sample(Time::ZERO, rtt.srtt(), &config, 11, 40);
        let held = rtt.rto(&config) - rtt.srtt();
        assert_eq!(held, ms(390));
        rtt.sample(Time::ZERO, rtt.srtt(), &config, 41, 50);
        let mean = Duration::from_micros(342_500) * 9 / 16;
        assert_eq!(rtt.rto(&config) - rtt.srtt(), held - (held - mean.max(ms(200))) / 4);
    }

    /// Section 5.5: doubling up to the maximum, until a sample.
    #[test]
    fn back_off() {
        let mut rtt = estimator();
        rtt.sample(ms(100));
        let mut seen = Vec::new();
        for _ in 0..9 {
            rtt.0.back_off();
            seen.push(rtt.rto().as_nanos() / 1_000_000);
        }
        assert_eq!(seen, [600, 1200, 2400, 4800, 9600, 19_200, 38_400, 60_000, 60_000]);
        rtt.sample(ms(100));
        assert!(rtt.rto() < ms(300));
    }

    #[test]
    fn lost_syn() {
        let mut rtt = Estimator::new(Timers::default());
        rtt.0.back_off();
        rtt.0.after_lost_syn(&rtt.1);
        assert_eq!(rtt.rto(), Duration::from_secs(3));
    }
}
