//! Discontinuous reception (DRX): a user without data listens for a part of each cycle only (TS 36.321
//! section 5.7).
//!
//! Departures: timers count time and not PDCCH subframes. A user with uplink data asks for a grant at once
//! and is awake until its timer runs out, as the section says. Retransmissions of HARQ find every user awake.

use cogtcp_units::{Duration, Time};

/// The timers of DRX.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DrxTimers {
    /// drx-InactivityTimer: how long a user stays awake after a grant of new data.
    pub inactivity: Duration,
    /// onDurationTimer: how long it listens at the beginning of a cycle.
    pub on: Duration,
    /// longDRX-Cycle.
    pub cycle: Duration,
    /// shortDRX-Cycle, and for how long after the inactivity timer it is used (drxShortCycleTimer, as a
    /// time).
    pub short: Option<(Duration, Duration)>,
}

impl DrxTimers {
    /// Returns true if a user listens at `now`. `quiet`: when its inactivity timer ran out, or will.
    /// `offset`: the beginning of its first cycle.
    pub fn is_awake(&self, now: Time, quiet: Time, offset: Duration) -> bool {
        if now < quiet {
            return true;
        }
        let cycle = match self.short {
            Some((cycle, span)) if quiet > Time::ZERO && now < quiet + span => cycle,
            _ => self.cycle,
        };
        // A cycle more keeps the difference above zero: `offset` is less than a cycle.
        let since = (now.as_nanos() + self.cycle.as_nanos() - offset.as_nanos()) % cycle.as_nanos();
        since < self.on.as_nanos()
    }
}
