//! TV white space: channels by a database.
//!
//! RFC 7545 (PAWS): sections 4.4 (INIT), 4.5 (available spectrum), 4.5.5 (SPECTRUM_USE_NOTIFY). 47 CFR
//! 15.711: a device checks the database again at intervals, and ceases when its information is too old. The
//! intervals depend on the class of the device, so they are settings.

use crate::ChannelId;
use cogtcp_units::{Duration, Time};

/// The times of a white space device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WhiteSpaceTimers {
    /// After how long the database is asked again (47 CFR 15.711; maxPollingSecs of the ruleset, RFC 7545
    /// section 5.6).
    pub check: Duration,
    /// For how long after a check that failed the last answer still holds.
    pub grace: Duration,
    /// After how long a query without an answer is repeated.
    pub retry: Duration,
}

/// What a database says of a channel: a SpectrumSchedule (RFC 7545 section 5.11).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Availability {
    /// The channel.
    pub channel: ChannelId,
    /// startTime.
    pub from: Time,
    /// stopTime.
    pub until: Time,
}

/// What a device sends to the database.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WhiteSpaceRequest {
    /// AVAIL_SPECTRUM_REQ.
    Available,
    /// SPECTRUM_USE_NOTIFY: it uses this channel from now on.
    Use(ChannelId),
}

/// A white space device.
#[derive(Clone, Debug)]
pub struct WhiteSpaceDevice {
    timers: WhiteSpaceTimers,
    available: Vec<Availability>,
    /// The last answer of the database.
    checked: Option<Time>,
    asks_at: Time,
    channel: Option<ChannelId>,
    notifies: bool,
    /// Until when everything has been played.
    played: Time,
}

impl WhiteSpaceDevice {
    /// Returns a device that asks at time zero.
    pub fn new(timers: WhiteSpaceTimers) -> Self {
        let asks_at = Time::ZERO;
        Self {
            timers,
            available: Vec::new(),
            checked: None,
            asks_at,
            channel: None,
            notifies: false,
            played: Time::ZERO,
        }
    }

    /// Returns the channel that it may use at `now`.
    pub fn channel(&self, now: Time) -> Option<ChannelId> {
        self.channel.filter(|channel| self.holds(now, *channel))
    }

    /// Returns until when it may use a channel that it may use at `now`.
    pub fn holds_until(&self, now: Time, channel: ChannelId) -> Time {
        let entries =
            self.available.iter().filter(|it| it.channel == channel && it.from <= now && now < it.until);
        entries.map(|it| it.until).max().unwrap_or(now).min(self.ceases_at())
    }

    /// Whether a channel is known to be available, by an answer that is not too old.
    fn holds(&self, now: Time, channel: ChannelId) -> bool {
        let entry = |it: &&Availability| it.channel == channel && it.from <= now && now < it.until;
        now < self.ceases_at() && self.available.iter().any(|it| entry(&it))
    }

    /// When what it knows is too old.
    fn ceases_at(&self) -> Time {
        self.checked.map_or(Time::ZERO, |at| at + self.timers.check + self.timers.grace)
    }

    /// Returns when [`advance`](Self::advance) is to be called.
    pub fn next_change(&self) -> Time {
        let ends = self.available.iter().flat_map(|it| [it.from, it.until]).chain([self.ceases_at()]);
        let last = self.asks_at;
        // What is past changes nothing.
        let coming = ends.filter(|at| self.checked.is_some() && *at > self.played).min();
        // A notification is due at once.
        if self.notifies { Time::ZERO } else { coming.unwrap_or(Time::MAX).min(last) }
    }

    /// Does what is due at `now`. Returns what it sends.
    pub fn advance(&mut self, now: Time) -> Option<WhiteSpaceRequest> {
        self.played = now;
        self.choose(now);
        if std::mem::take(&mut self.notifies)
            && let Some(channel) = self.channel
        {
            return Some(WhiteSpaceRequest::Use(channel));
        }
        if self.asks_at > now {
            // The schedule's times that are over are forgotten.
            self.available.retain(|it| it.until > now);
            return None;
        }
        self.asks_at = now + self.timers.retry;
        Some(WhiteSpaceRequest::Available)
    }

    /// The database answers: these channels, and no others (AVAIL_SPECTRUM_RESP).
    pub fn hear(&mut self, now: Time, available: &[Availability]) {
        self.available = available.to_vec();
        (self.checked, self.played) = (Some(now), now);
        self.asks_at = now + self.timers.check;
        self.choose(now);
    }

    /// Keeps its channel while it may, else takes the first that it may use.
    fn choose(&mut self, now: Time) {
        if self.channel.is_some_and(|channel| self.holds(now, channel)) {
            return;
        }
        self.channel = self.available.iter().map(|it| it.channel).find(|channel| self.holds(now, *channel));
        self.notifies = self.channel.is_some();
    }
}
