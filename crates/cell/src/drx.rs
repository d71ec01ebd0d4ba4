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

/// What a user's timers have done up to its last grant.
#[derive(Clone, Copy, Debug, Default)]
pub struct DrxState {
    /// When the inactivity timer ran out, or will.
    quiet: Time,
    /// Until when the on-duration lasts, of those that began before the grant.
    on: Time,
    /// Until when the short cycle is used, unless the inactivity timer runs out before.
    short: Time,
}

impl DrxTimers {
    /// Returns true if a user listens at `now`. `offset`: the beginning of its first cycle, less than a
    /// cycle.
    pub fn is_awake(&self, now: Time, state: &DrxState, offset: Duration) -> bool {
        now < state.quiet || now < state.on || now < self.on_until(now, state, offset)
    }

    /// A slot from `now` to `until` has new data of the user.
    pub fn grant(&self, now: Time, until: Time, state: &mut DrxState, offset: Duration) {
        // Later ones are found after the grant.
        let last = Time::from_nanos(until.as_nanos().saturating_sub(1).max(now.as_nanos()));
        state.on = state.on.max(self.on_until(last, state, offset));
        if let Some((_, span)) = self.short
            && state.has_run_out(now)
        {
            state.short = state.quiet + span;
        }
        state.quiet = until + self.inactivity;
    }

    /// Returns until when the on-duration lasts that began last, after the last grant; [`Time::ZERO`]: it is
    /// over, or none began.
    ///
    /// Its timer starts with a cycle of the kind in use, and runs on if the other kind comes into use.
    fn on_until(&self, now: Time, state: &DrxState, offset: Duration) -> Time {
        let end_of = |cycle: Duration, is_short: bool| {
            // A cycle more keeps the difference above zero.
            let since = (now.as_nanos() + self.cycle.as_nanos() - offset.as_nanos()) % cycle.as_nanos();
            let on = self.on.as_nanos();
            let passed = std::iter::successors(Some(since), |ago| Some(ago + cycle.as_nanos()));
            let mut passed = passed.take_while(|ago| *ago < on);
            let ago = passed.find(|ago| {
                let begin = Time::from_nanos(now.as_nanos().saturating_sub(*ago));
                let is_later = state.quiet == Time::ZERO || begin + self.inactivity >= state.quiet;
                is_later && self.uses_short(begin, state) == is_short
            });
            ago.map_or(Time::ZERO, |ago| Time::from_nanos(now.as_nanos() + on - ago))
        };
        let short = self.short.map_or(Time::ZERO, |(cycle, _)| end_of(cycle, true));
        short.max(end_of(self.cycle, false))
    }

    /// Returns true if the short cycle is in use at `now`, after the last grant.
    fn uses_short(&self, now: Time, state: &DrxState) -> bool {
        let Some((_, span)) = self.short else { return false };
        now < if state.has_run_out(now) { state.quiet + span } else { state.short }
    }
}

impl DrxState {
    /// Returns true if the inactivity timer has run out.
    fn has_run_out(&self, now: Time) -> bool {
        self.quiet > Time::ZERO && now >= self.quiet
    }
}
