//! The primary users of a scenario as those see them who protect them.

use crate::air::{Air, HeardPu};
use crate::{ChannelId, OnInterval};
use cogtcp_units::{Duration, Time};

/// The primary users that a radio would disturb, by channel: those that it hears there.
#[derive(Clone, Copy, Debug)]
pub struct Incumbents<'a> {
    air: &'a Air,
    heard: &'a [Vec<HeardPu>],
}

impl<'a> Incumbents<'a> {
    /// The users `heard` on each channel of `air`.
    pub fn new(air: &'a Air, heard: &'a [Vec<HeardPu>]) -> Self {
        Self { air, heard }
    }

    /// Returns the channels for data, from `first` on, round and round.
    pub fn channels(self, first: ChannelId) -> impl Iterator<Item = ChannelId> + 'a {
        let count = self.air.channels.len();
        let usable = move |id: &ChannelId| self.air.channels.get(*id).is_some_and(|entry| !entry.reserved);
        (0..count).map(move |step| ChannelId((first.0 % count + step) % count)).filter(usable)
    }

    /// Whether a user is ON on the channel at `at`.
    pub fn is_on(self, channel: ChannelId, at: Time) -> bool {
        self.on(channel, at).next().is_some()
    }

    /// Whether a user is ON on the channel at `at` that has been there for `delay`.
    pub fn is_known(self, channel: ChannelId, at: Time, delay: Duration) -> bool {
        self.on(channel, at).any(|on| on.arrival + delay <= at)
    }

    /// Returns when the next user arrives on the channel, not before `from`.
    pub fn next_arrival(self, channel: ChannelId, from: Time) -> Time {
        let arrivals = self.users(channel).map(|user| user.next_arrival(from));
        arrivals.min().unwrap_or(Time::MAX)
    }

    /// Returns when the channel is without users, not before `from`.
    pub fn free_from(self, channel: ChannelId, from: Time) -> Time {
        let mut at = from;
        // Another user may be ON as the first departs.
        while let Some(departure) = self.on(channel, at).map(|on| on.departure).max() {
            at = departure;
        }
        at
    }

    fn users(self, channel: ChannelId) -> impl Iterator<Item = &'a crate::Intervals> {
        let heard: &'a [HeardPu] = self.heard.get(channel.0 as usize).map_or(&[], Vec::as_slice);
        heard.iter().map(move |pu| &self.air.activity.users[pu.index].activity)
    }

    /// The periods that hold `at`.
    fn on(self, channel: ChannelId, at: Time) -> impl Iterator<Item = OnInterval> + 'a {
        let holds = move |user: &crate::Intervals| {
            // A look-up takes a window: a moment is the shortest.
            user.overlapping(at, at + Duration::from_nanos(1)).next().map(|place| user.as_slice()[place])
        };
        self.users(channel).filter_map(holds)
    }
}
