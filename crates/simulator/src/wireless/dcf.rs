//! One station's contention for the medium: the backoff, the contention window and the retry counts of the DCF.
//!
//! The station is told when the medium becomes busy and idle and when it has a frame; it answers when it would send.
//! It does not look at the medium itself, so that it serves any medium. A station that the medium or its radio keeps
//! from sending is *frozen*: its backoff stands still.

use super::timing::Timing;
use cogtcp_scenario::MacSpec;
use cogtcp_units::{RandomStream, Time};

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
    pub(super) fn new(mac: &MacSpec, stream: RandomStream) -> Self {
        Self {
            cw_min: mac.cw_min,
            cw_max: mac.cw_max,
            short_limit: mac.short_retry_limit.unwrap_or(u32::MAX),
            long_limit: mac.long_retry_limit.unwrap_or(u32::MAX),
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
        if at >= self.count_from {
            let passed = (at - self.count_from).as_nanos() / timing.slot.as_nanos().max(1);
            self.slots = self.slots.filter(|slots| *slots > passed).map(|slots| slots - passed);
        }
        if self.slots.is_none() && self.ready.is_some() {
            self.draw();
        }
    }

    /// The medium is free to count from `at` on: its interframe space ends then.
    pub(super) fn resume(&mut self, at: Time) {
        self.frozen = false;
        self.count_from = at;
    }

    /// Its own exchange begins: the backoff is used up.
    pub(super) fn begin(&mut self) {
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

    /// The exchange failed. Answers whether the retry limit is reached: the frame is given up.
    pub(super) fn fail(&mut self, failure: Failure) -> bool {
        let (count, limit) = match failure {
            Failure::Short => (&mut self.short_retries, self.short_limit),
            Failure::Long => (&mut self.long_retries, self.long_limit),
        };
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
