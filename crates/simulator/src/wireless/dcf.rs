//! One station's contention for the medium: the backoff, the contention window and the retry counts of the DCF.
//!
//! The station is told when the medium becomes busy and idle and when it has a frame; it says when it would send.
//! It does not look at the medium itself, so that it serves any medium. A station that the medium or its radio keeps
//! from sending is *frozen*: its backoff stands still.

use super::timing::Timing;
use cogtcp_units::{RandomStream, Time};
use cogtcp_wireless::Dcf;

/// What kept an exchange from success: decides which retry count grows (IEEE 802.11, 9.2.5.3).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Failure {
    /// No CTS, or no ACK to a frame that was sent without RTS.
    Short,
    /// No ACK to a frame that was sent after an RTS.
    Long,
}

/// The contention of one station.
#[derive(Debug)]
pub(super) struct Station {
    cw_min: u32,
    cw_max: u32,
    short_limit: u32,
    long_limit: u32,
    stream: RandomStream,
    cw: u32,
    /// Backoff slots left when counting begins or goes on; `None`: no backoff is due.
    slots: Option<u64>,
    /// When the first of them begins to be counted.
    count_from: Time,
    frozen: bool,
    /// When the frame to send became ready; `None`: there is none.
    ready: Option<Time>,
    short_retries: u32,
    long_retries: u32,
}

impl Station {
    /// A station at rest whose medium has been idle since before time zero.
    pub(super) fn new(mac: &Dcf, stream: RandomStream) -> Self {
        Self {
            cw_min: mac.cw_min,
            cw_max: mac.cw_max,
            short_limit: mac.short_retry_limit.times(),
            long_limit: mac.long_retries(),
            stream,
            cw: mac.cw_min,
            slots: None,
            count_from: Time::ZERO,
            frozen: false,
            ready: None,
            short_retries: 0,
            long_retries: 0,
        }
    }

    /// When the station sends if the medium stays idle; `Time::MAX`: not now.
    pub(super) fn access(&self, timing: &Timing) -> Time {
        match self.ready {
            Some(ready) if !self.frozen => ready.max(self.count_from + timing.slot * self.slots.unwrap_or(0)),
            _ => Time::MAX,
        }
    }

    /// Whether its backoff stands still.
    pub(super) fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// It has a frame to send.
    pub(super) fn set_ready(&mut self, now: Time) {
        self.ready = Some(now);
        // A frame that finds the medium busy never goes out the moment it falls idle (9.2.5.1).
        if self.frozen && self.slots.is_none() {
            self.draw();
        }
    }

    /// The medium becomes busy, or the radio silent, at `at`: whole slots that have passed are counted.
    pub(super) fn freeze(&mut self, at: Time, timing: &Timing) {
        if self.frozen {
            return;
        }
        self.frozen = true;
        // Earlier, the interframe space was not over and no slot has passed.
        if at >= self.count_from {
            let passed = (at - self.count_from).as_nanos() / timing.slot.as_nanos().max(1);
            self.slots = self.slots.filter(|slots| *slots > passed).map(|slots| slots - passed);
        }
        if self.slots.is_none() && self.ready.is_some() {
            self.draw();
        }
    }

    /// At `now` the station may go on. The medium has been free to count since `at`, or will be: its interframe space ends
    /// then. A backoff that has run out by now is over now.
    pub(super) fn resume(&mut self, now: Time, at: Time) {
        self.frozen = false;
        self.count_from = at;
        self.ready = self.ready.map(|ready| ready.max(now));
    }

    /// Its own exchange begins: the backoff is used up.
    pub(super) fn begin(&mut self) {
        // Its own frame is what keeps the medium busy.
        self.frozen = true;
        self.slots = None;
    }

    /// Its RTS was answered (9.2.5.3: the short count starts anew).
    pub(super) fn reserved(&mut self) {
        self.short_retries = 0;
    }

    /// The frame got through. A backoff follows whether or not another frame waits (9.2.5.2).
    pub(super) fn succeed(&mut self) {
        self.finish();
    }

    /// The exchange failed. Returns whether the retry limit is reached: the frame is given up.
    pub(super) fn fail(&mut self, failure: Failure) -> bool {
        let (count, limit) = match failure {
            Failure::Short => (&mut self.short_retries, self.short_limit),
            Failure::Long => (&mut self.long_retries, self.long_limit),
        };
        // Without a limit the count has no end.
        *count = count.saturating_add(1);
        if *count >= limit {
            self.finish();
            return true;
        }
        self.cw = (2 * self.cw + 1).min(self.cw_max);
        self.draw();
        false
    }

    fn finish(&mut self) {
        self.ready = None;
        self.cw = self.cw_min;
        self.short_retries = 0;
        self.long_retries = 0;
        self.draw();
    }

    fn draw(&mut self) {
        self.slots = Some(self.stream.below(u64::from(self.cw) + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::Duration;

    fn mac() -> Dcf {
        Dcf::default()
    }

    fn station(seed: u64) -> (Station, Timing) {
        let timing = Timing::new(&mac(), Duration::from_micros(1));
        (Station::new(&mac(), RandomStream::new(seed, "backoff", 0)), timing)
    }

    /// The backoff after k failures is uniform in 0 to 2^(5+k) - 1, at most 1023: chi-squared over 32 equal classes below
    /// 61.1, its quantile at 0.999 for 31 degrees of freedom.
    #[test]
    fn backoffs_are_uniform_in_a_window_that_doubles() {
        let (mut station, _) = station(1);
        for (failures, window) in [(0, 32), (1, 64), (2, 128), (3, 256), (4, 512), (5, 1024), (6, 1024)] {
            let mut classes = [0u64; 32];
            for _ in 0..32_000 {
                station.succeed();
                for _ in 0..failures {
                    assert!(!station.fail(Failure::Short));
                }
                let slots = station.slots.unwrap();
                assert!(slots < window);
                classes[(slots * 32 / window) as usize] += 1;
            }
            let squares = classes.iter().map(|n| (*n as f64 - 1000.0).powi(2) / 1000.0);
            let chi: f64 = squares.sum();
            assert!(chi < 61.1, "chi squared {chi} after {failures} failures: {classes:?}");
        }
    }

    #[test]
    fn limits_count_each_kind_of_failure_apart() {
        let (mut station, _) = station(2);
        let given_up = |station: &mut Station, failure, times: u32| (0..times).any(|_| station.fail(failure));
        assert!(!given_up(&mut station, Failure::Short, 6));
        assert!(!given_up(&mut station, Failure::Long, 3));
        station.reserved();
        assert!(!given_up(&mut station, Failure::Short, 6), "a CTS starts the short count anew");
        assert!(station.fail(Failure::Long), "the fourth missing ACK");
        assert!(!given_up(&mut station, Failure::Short, 6) && station.fail(Failure::Short), "the seventh");
    }

    /// Slots count only while the medium is idle, whole ones; the rest goes on after the next DIFS.
    #[test]
    fn the_backoff_stands_still_while_the_medium_is_busy() {
        let (mut station, timing) = station(3);
        let at = |micros: u64| Time::ZERO + Duration::from_micros(micros);
        station.freeze(at(0), &timing);
        station.set_ready(at(10));
        station.slots = Some(10);
        assert_eq!(station.access(&timing), Time::MAX);
        station.resume(at(990), at(1000));
        assert_eq!(station.access(&timing), at(1200));
        station.freeze(at(1000 + 79), &timing);
        station.resume(at(4950), at(5000));
        assert_eq!(station.access(&timing), at(5000 + 7 * 20), "three whole slots had passed");
        // Busy again before its DIFS is over: nothing is counted.
        station.freeze(at(4990), &timing);
        station.resume(at(5950), at(6000));
        assert_eq!(station.access(&timing), at(6000 + 7 * 20));
    }

    #[test]
    fn a_frame_finds_the_medium_idle_or_backs_off() {
        let (mut station, timing) = station(4);
        let at = |micros: u64| Time::ZERO + Duration::from_micros(micros);
        station.set_ready(at(777));
        assert_eq!(station.access(&timing), at(777), "idle for longer than DIFS: at once");
        station.begin();
        station.succeed();
        station.resume(at(1950), at(2000));
        station.slots = Some(5);
        station.set_ready(at(2010));
        assert_eq!(station.access(&timing), at(2100), "the backoff after the frame before still runs");
    }
}
