//! One station's contention for the medium: the backoff, the contention window and the retry counts of the
//! DCF.
//!
//! The station learns when the medium becomes busy and idle and when a frame is queued; it says when it would
//! send. It does not look at the medium itself. A station that the medium or its radio keeps from sending is
//! *frozen*, and so is its backoff.

use crate::timing::Timing;
use crate::{MacConfig, Rules};
use cogtcp_units::{RandomStream, Time};

/// What kept an exchange from success: decides which retry count grows (IEEE 802.11-2007, 9.2.5.3).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Failure {
    /// No CTS, or no ACK to a frame that was sent without RTS.
    Short,
    /// No ACK to a frame that was sent after an RTS.
    Long,
}

/// The contention of one station: a quarter of a line of memory, as every frame nearby stops it and lets it
/// go on.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Contention {
    /// When the first slot of the backoff begins to be counted.
    count_from: Time,
    /// Backoff slots left when counting begins or goes on, or [`NO_BACKOFF`].
    slots: u32,
    frozen: bool,
    is_ready: bool,
}

const _: () = assert!(size_of::<Contention>() == 16, "a quarter of a line of memory");

/// No backoff is due.
const NO_BACKOFF: u32 = u32::MAX;

/// The rest of it, which only a station's own attempts touch: the many who listen do not draw.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Attempts {
    /// When the frame to send, if there is one, became ready.
    ready: Time,
    cw: u32,
    short_retries: u32,
    long_retries: u32,
    cw_min: u32,
    cw_max: u32,
    short_limit: u32,
    long_limit: u32,
    rules: Rules,
    stream: Box<RandomStream>,
}

impl Contention {
    /// A station at rest whose medium has been idle since before time zero.
    pub(crate) fn new() -> Self {
        Self { count_from: Time::ZERO, slots: NO_BACKOFF, frozen: false, is_ready: false }
    }

    /// When the station sends if the medium stays idle; `Time::MAX`: not now.
    #[inline]
    pub(crate) fn access(&self, timing: &Timing, attempts: &Attempts) -> Time {
        if self.frozen || !self.is_ready {
            return Time::MAX;
        }
        // A frame that finds the medium idle for DIFS or longer goes out at once (9.2.5.1).
        attempts.ready.max(self.counted(timing))
    }

    /// When the backoff is over if the medium stays idle.
    #[inline]
    pub(crate) fn counted(&self, timing: &Timing) -> Time {
        let slots = if self.slots == NO_BACKOFF { 0 } else { self.slots };
        self.count_from + timing.slot * u64::from(slots)
    }

    /// True if its backoff is frozen.
    #[inline]
    pub(crate) fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// Whether it has a frame to send.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// It has a frame to send.
    pub(crate) fn set_ready(&mut self, attempts: &mut Attempts, now: Time, timing: &Timing) {
        attempts.ready = now;
        self.is_ready = true;
        let has_none = self.slots == NO_BACKOFF;
        if self.frozen {
            // A frame that finds the medium busy never goes out the moment it falls idle (9.2.5.1).
            if has_none {
                self.slots = attempts.draw();
            }
        } else if attempts.rules.backoff_before_first && (has_none || self.counted(timing) <= now) {
            self.slots = attempts.draw();
            self.count_from = self.count_from.max(now + timing.difs);
        }
    }

    /// The frame to send is gone.
    pub(crate) fn clear_ready(&mut self) {
        self.is_ready = false;
    }

    /// The medium becomes busy, or the radio silent, at `at`: whole slots that have passed are counted.
    #[inline]
    pub(crate) fn freeze(&mut self, attempts: &mut Attempts, at: Time, timing: &Timing) {
        if self.stop(at, timing) {
            self.slots = attempts.draw();
        }
    }

    /// Stops counting without drawing a backoff. Returns true if one must be drawn.
    #[inline]
    fn stop(&mut self, at: Time, timing: &Timing) -> bool {
        if self.frozen {
            return false;
        }
        self.frozen = true;
        // Within the interframe space no slot has passed.
        if self.slots != NO_BACKOFF && at >= self.count_from {
            let passed = (at - self.count_from).as_nanos() / timing.slot.as_nanos().max(1);
            let left = u64::from(self.slots).saturating_sub(passed) as u32;
            // A backoff that is over is none: a frame that is ready needs a new one (`freeze`).
            self.slots = if left > 0 { left } else { NO_BACKOFF };
        }
        self.slots == NO_BACKOFF && self.is_ready
    }

    /// The medium is free to count from `at` on: its interframe space ends then.
    #[inline]
    pub(crate) fn resume(&mut self, at: Time) {
        self.frozen = false;
        self.count_from = at;
    }

    /// Its own exchange begins: the backoff is used up.
    pub(crate) fn begin(&mut self) {
        self.frozen = true;
        self.slots = NO_BACKOFF;
    }

    /// The frame got through: `with_rts` or without. A backoff follows whether or not another frame waits
    /// (9.2.5.2).
    pub(crate) fn succeed(&mut self, attempts: &mut Attempts, with_rts: bool) {
        self.finish(attempts, if with_rts { Failure::Long } else { Failure::Short });
    }

    /// The exchange failed. Returns whether the retry limit is reached: the frame is given up.
    pub(crate) fn fail(&mut self, attempts: &mut Attempts, failure: Failure) -> bool {
        let (count, limit) = match failure {
            Failure::Short => (&mut attempts.short_retries, attempts.short_limit),
            Failure::Long => (&mut attempts.long_retries, attempts.long_limit),
        };
        // An infinite limit is the largest number.
        *count = count.saturating_add(1);
        if *count >= limit {
            self.finish(attempts, failure);
            return true;
        }
        self.widen(attempts);
        false
    }

    /// The window doubles and a backoff follows, though nothing failed (ns-2: the medium is busy when data
    /// are due).
    pub(crate) fn widen(&mut self, attempts: &mut Attempts) {
        // Windows are powers of two less one (9.2.4).
        attempts.cw = (2 * attempts.cw + 1).min(attempts.cw_max);
        self.slots = attempts.draw();
    }

    /// The packet is done with; `count` is the retry count that its last step concerned.
    fn finish(&mut self, attempts: &mut Attempts, count: Failure) {
        self.is_ready = false;
        attempts.cw = attempts.cw_min;
        if count == Failure::Short || !attempts.rules.counts_outlive_packet {
            attempts.short_retries = 0;
        }
        if count == Failure::Long || !attempts.rules.counts_outlive_packet {
            attempts.long_retries = 0;
        }
        self.slots = attempts.draw();
    }
}

impl Attempts {
    /// None has been made.
    pub(crate) fn new(mac: &MacConfig, stream: RandomStream) -> Self {
        Self {
            ready: Time::ZERO,
            cw: mac.dcf.cw_min,
            short_retries: 0,
            long_retries: 0,
            cw_min: mac.dcf.cw_min,
            cw_max: mac.dcf.cw_max,
            short_limit: mac.dcf.short_retry_limit.times(),
            long_limit: mac.dcf.long_retries(),
            rules: mac.rules,
            stream: Box::new(stream),
        }
    }

    /// Its RTS was answered (9.2.5.3: the short count starts over).
    pub(crate) fn reserved(&mut self) {
        self.short_retries = 0;
    }

    // Out of line: the callers are inlined where every hearer of a frame passes, and few of them draw.
    #[inline(never)]
    fn draw(&mut self) -> u32 {
        // The standard's interval includes CW (9.2.4), ns-2's does not.
        let values = u64::from(self.cw) + u64::from(self.rules.backoff_reaches_cw);
        // A window of zero slots has one value even without its end.
        self.stream.below(values.max(1)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use cogtcp_units::Duration;

    fn station(profile: Profile, seed: u64) -> (Contention, Attempts, Timing) {
        let mac = MacConfig::of(profile);
        let timing = Timing::new(&mac, Duration::from_micros(1));
        (Contention::new(), Attempts::new(&mac, RandomStream::new(seed, "backoff", 0)), timing)
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Duration::from_micros(micros)
    }

    /// The backoff after k failures is uniform in 0 to 2^(5+k) - 1, at most 1023. Chi-squared over 32 equal
    /// classes stays below 61.1, its quantile at 0.999 for 31 degrees of freedom.
    #[test]
    fn backoffs_are_uniform_in_a_window_that_doubles() {
        let (mut station, mut attempts, _) = station(Profile::Standard, 1);
        for (failures, window) in [(0, 32), (1, 64), (2, 128), (3, 256), (4, 512), (5, 1024), (6, 1024)] {
            let mut classes = [0u64; 32];
            for _ in 0..32_000 {
                station.succeed(&mut attempts, true);
                for _ in 0..failures {
                    assert!(!station.fail(&mut attempts, Failure::Short));
                }
                let slots = station.slots;
                assert!(slots < window);
                classes[(slots * 32 / window) as usize] += 1;
            }
            let squares = classes.iter().map(|n| (*n as f64 - 1000.0).powi(2) / 1000.0);
            let chi: f64 = squares.sum();
            assert!(chi < 61.1, "chi squared {chi} after {failures} failures: {classes:?}");
        }
    }

    /// ns-2 leaves CW itself out: 31 values at first, the last of them 30.
    #[test]
    fn ns2_never_draws_the_window_itself() {
        let (mut station, mut attempts, _) = station(Profile::Ns2, 1);
        let most = (0..10_000).map(|_| {
            station.succeed(&mut attempts, true);
            station.slots
        });
        assert_eq!(most.max(), Some(30));
    }

    #[test]
    fn limits_count_each_kind_of_failure_apart() {
        let (mut station, mut attempts, _) = station(Profile::Standard, 2);
        let given_up = |station: &mut Contention, attempts: &mut Attempts, failure, times: u32| {
            (0..times).any(|_| station.fail(attempts, failure))
        };
        assert!(!given_up(&mut station, &mut attempts, Failure::Short, 6));
        assert!(!given_up(&mut station, &mut attempts, Failure::Long, 3));
        attempts.reserved();
        assert!(
            !given_up(&mut station, &mut attempts, Failure::Short, 6),
            "a CTS starts the short count again"
        );
        assert!(station.fail(&mut attempts, Failure::Long), "the fourth missing ACK");
        assert!(
            !given_up(&mut station, &mut attempts, Failure::Short, 6)
                && station.fail(&mut attempts, Failure::Short),
            "the seventh"
        );
    }

    /// In ns-2 the counts are the station's: three missing ACKs of a packet that is then dropped for want of
    /// a CTS leave one for the next.
    #[test]
    fn counts_may_outlive_the_packet() {
        for (profile, dies) in [(Profile::Standard, false), (Profile::Ns2, true)] {
            let (mut station, mut attempts, _) = station(profile, 2);
            assert!(!(0..3).any(|_| station.fail(&mut attempts, Failure::Long)));
            assert!((0..7).any(|_| station.fail(&mut attempts, Failure::Short)), "given up");
            assert_eq!(station.fail(&mut attempts, Failure::Long), dies, "{profile:?}");
        }
    }

    /// Slots count only while the medium is idle, whole ones; the rest goes on after the next DIFS.
    #[test]
    fn the_backoff_stands_still_while_the_medium_is_busy() {
        let (mut station, mut attempts, timing) = station(Profile::Standard, 3);
        station.freeze(&mut attempts, at(0), &timing);
        station.set_ready(&mut attempts, at(10), &timing);
        station.slots = 10;
        assert_eq!(station.access(&timing, &attempts), Time::MAX);
        station.resume(at(1000));
        assert_eq!(station.access(&timing, &attempts), at(1200));
        station.freeze(&mut attempts, at(1000 + 79), &timing);
        station.resume(at(5000));
        assert_eq!(station.access(&timing, &attempts), at(5000 + 7 * 20), "three whole slots had passed");
        // Busy again before its DIFS is over: nothing is counted.
        station.freeze(&mut attempts, at(4990), &timing);
        station.resume(at(6000));
        assert_eq!(station.access(&timing, &attempts), at(6000 + 7 * 20));
    }

    #[test]
    fn a_frame_finds_the_medium_idle_or_backs_off() {
        let (mut standard, mut attempts, timing) = station(Profile::Standard, 4);
        standard.set_ready(&mut attempts, at(777), &timing);
        assert_eq!(standard.access(&timing, &attempts), at(777), "idle for longer than DIFS: at once");
        let (mut late, mut late_attempts, _) = station(Profile::Standard, 4);
        late.freeze(&mut late_attempts, at(0), &timing);
        assert_eq!(late.slots, NO_BACKOFF, "nothing to send, no backoff");
        late.set_ready(&mut late_attempts, at(10), &timing);
        assert!(late.slots != NO_BACKOFF, "it found the medium busy");
        standard.begin();
        standard.succeed(&mut attempts, true);
        standard.resume(at(2000));
        standard.slots = 5;
        standard.set_ready(&mut attempts, at(2010), &timing);
        assert_eq!(
            standard.access(&timing, &attempts),
            at(2100),
            "the backoff after the frame before still runs"
        );

        let (mut ns2, mut attempts, timing) = station(Profile::Ns2, 4);
        ns2.set_ready(&mut attempts, at(777), &timing);
        let slots = ns2.slots;
        assert_eq!(
            ns2.access(&timing, &attempts),
            at(777 + 50 + 20 * u64::from(slots)),
            "DIFS and a backoff before every frame"
        );
    }
}
