//! A master device of DFS, and its ear for radar.

use super::rules::{DfsRules, Permit, Regulator};
use super::{Dfs, DfsState, DfsTimers, Incumbents};
use crate::{ChannelId, Phase};
use cogtcp_units::{Duration, Time};

/// A master device that finds every radar on its channel.
#[derive(Debug)]
pub(super) struct Master {
    rules: DfsRules,
    dfs: Dfs,
    /// When it finds the next radar on its channel.
    radar: Time,
    /// End of the closing transmission, or of the move.
    leaves: Time,
}

impl Master {
    pub(super) fn new(rules: &DfsRules, channel: ChannelId, incumbents: Incumbents<'_>) -> Self {
        let timers = DfsTimers {
            availability_check: rules.availability_check,
            channel_move: rules.channel_move,
            closing: rules.closing,
            non_occupancy: rules.non_occupancy,
        };
        let channels: Vec<ChannelId> = incumbents.channels(channel).collect();
        let mut dfs = Dfs::over(timers, &channels);
        // A channel with radar at time zero has not passed its check.
        if rules.ready && !incumbents.is_on(channel, Time::ZERO) {
            dfs.has_checked();
        }
        let mut master = Self { rules: rules.clone(), dfs, radar: Time::MAX, leaves: Time::MAX };
        master.listen(Time::ZERO, incumbents);
        master
    }

    /// Works out what it will hear in its state, from `now` on.
    fn listen(&mut self, now: Time, incumbents: Incumbents<'_>) {
        let first = |channel, delay: Duration| match incumbents.is_on(channel, now) {
            true => now,
            false => incumbents.next_arrival(channel, now) + delay,
        };
        (self.radar, self.leaves) = match self.dfs.state() {
            DfsState::Checking(channel, until) => {
                let radar = first(channel, Duration::ZERO);
                // One that comes as the check ends is found by what follows.
                (if radar < until { radar } else { Time::MAX }, Time::MAX)
            }
            DfsState::Operating(channel) => (first(channel, self.rules.detection), Time::MAX),
            DfsState::Moving(_, since) => {
                let (closing, all) = (since + self.rules.closing, since + self.rules.channel_move);
                // Data ends first, at the end of the move the channel is left: two changes.
                (Time::MAX, if closing > now { closing } else { all })
            }
            DfsState::Waiting(_) => (Time::MAX, Time::MAX),
        };
    }
}

impl Regulator for Master {
    fn next_change(&self) -> Time {
        self.dfs.next_change().min(self.radar).min(self.leaves)
    }

    fn advance(&mut self, now: Time, incumbents: Incumbents<'_>) {
        match self.dfs.state() {
            DfsState::Checking(own, _) | DfsState::Operating(own) if self.radar <= now => {
                self.dfs.radar(now, own)
            }
            _ => {}
        }
        self.dfs.advance(now);
        self.listen(now, incumbents);
    }

    fn permit(&self, now: Time) -> Permit {
        match self.dfs.state() {
            DfsState::Checking(_, until) => Permit { silence: Phase::Sensing, until, ..Permit::NONE },
            DfsState::Operating(channel) => Permit { channel: Some(channel), ..Permit::NONE },
            DfsState::Moving(channel, since) => match self.dfs.data_until(now) {
                Some(until) => Permit { channel: Some(channel), until, ..Permit::NONE },
                None => Permit { until: since + self.rules.channel_move, ..Permit::NONE },
            },
            DfsState::Waiting(until) => Permit { until, ..Permit::NONE },
        }
    }
}
