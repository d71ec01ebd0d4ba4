//! Dynamic frequency selection (DFS): radar in the bands of 5250 to 5350 and 5470 to 5725 MHz.
//!
//! FCC KDB 905462 D02, table 4 (response requirements), under 47 CFR 15.407(h)(2).

use crate::ChannelId;
use cogtcp_units::{Duration, Time};

/// The times of KDB 905462 D02, table 4.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DfsTimers {
    /// Channel availability check time: a channel is listened to for so long before it is used.
    pub availability_check: Duration,
    /// Channel move time: from the detection of radar on, everything on the channel ends within it.
    pub channel_move: Duration,
    /// Channel closing transmission time: at the beginning of the move time, in which data may end.
    pub closing: Duration,
    /// Non-occupancy period of a channel with radar.
    pub non_occupancy: Duration,
}

impl Default for DfsTimers {
    fn default() -> Self {
        Self {
            availability_check: Duration::from_secs(60),
            channel_move: Duration::from_secs(10),
            closing: Duration::from_millis(200),
            non_occupancy: Duration::from_secs(30 * 60),
        }
    }
}

/// What a device does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DfsState {
    /// It listens on a channel, until then.
    Checking(ChannelId, Time),
    /// It uses a channel, and listens.
    Operating(ChannelId),
    /// Radar came at this time: it leaves the channel.
    Moving(ChannelId, Time),
    /// All channels have had radar: it waits until then.
    Waiting(Time),
}

/// A master device.
#[derive(Clone, Debug)]
pub struct Dfs {
    timers: DfsTimers,
    /// The channels, and from when on each may be checked.
    channels: Vec<(ChannelId, Time)>,
    state: DfsState,
}

impl Dfs {
    /// Returns a device that begins at time zero with the first of `channels`.
    pub fn over(timers: DfsTimers, channels: &[ChannelId]) -> Self {
        let mut device = Self {
            timers,
            channels: channels.iter().map(|channel| (*channel, Time::ZERO)).collect(),
            state: DfsState::Waiting(Time::ZERO),
        };
        device.choose(Time::ZERO);
        device
    }

    /// It has checked the channel that it is to check, before time zero.
    pub fn has_checked(&mut self) {
        if let DfsState::Checking(channel, _) = self.state {
            self.state = DfsState::Operating(channel);
        }
    }

    /// Returns what it does.
    pub fn state(&self) -> DfsState {
        self.state
    }

    /// Returns when [`advance`](Self::advance) is to be called.
    pub fn next_change(&self) -> Time {
        match self.state {
            DfsState::Checking(_, until) | DfsState::Waiting(until) => until,
            DfsState::Operating(_) => Time::MAX,
            DfsState::Moving(_, since) => since + self.timers.channel_move,
        }
    }

    /// Does what is due at `now`.
    pub fn advance(&mut self, now: Time) {
        // A call that comes early does nothing.
        if now < self.next_change() {
            return;
        }
        match self.state {
            DfsState::Checking(channel, _) => self.state = DfsState::Operating(channel),
            DfsState::Moving(..) | DfsState::Waiting(_) => self.choose(now),
            DfsState::Operating(_) => {}
        }
    }

    /// Radar is found on a channel.
    pub fn radar(&mut self, now: Time, channel: ChannelId) {
        if let Some((_, free)) = self.channels.iter_mut().find(|(id, _)| *id == channel) {
            // Any channel with radar is blocked, in use or not (47 CFR 15.407(h)(2)(iv)).
            *free = now + self.timers.non_occupancy;
        }
        match self.state {
            DfsState::Checking(own, _) if own == channel => self.choose(now),
            DfsState::Operating(own) if own == channel => {
                self.state = DfsState::Moving(own, now);
            }
            _ => {}
        }
    }

    /// It goes to another channel before the move time is over.
    pub fn leave(&mut self, now: Time) {
        if matches!(self.state, DfsState::Moving(..)) {
            self.choose(now);
        }
    }

    /// Returns until when data that begins at `now` may last; `None`: none may begin.
    pub fn data_until(&self, now: Time) -> Option<Time> {
        match self.state {
            DfsState::Operating(_) => Some(Time::MAX),
            DfsState::Moving(_, since) => Some(since + self.timers.closing).filter(|end| now < *end),
            _ => None,
        }
    }

    /// The next channel without radar, round robin; where there is none it waits for the first that is free.
    fn choose(&mut self, now: Time) {
        let many = self.channels.len();
        let last = match self.state {
            DfsState::Checking(own, _) | DfsState::Operating(own) | DfsState::Moving(own, _) => {
                // After its own channel, which had radar just now.
                self.channels.iter().position(|(id, _)| *id == own).map_or(0, |place| place + 1)
            }
            DfsState::Waiting(_) => 0,
        };
        let found = (0..many).map(|turn| self.channels[(last + turn) % many]).find(|(_, free)| *free <= now);
        self.state = match found {
            Some((channel, _)) => DfsState::Checking(channel, now + self.timers.availability_check),
            // `MAX`: no channel at all.
            None => DfsState::Waiting(self.channels.iter().map(|(_, free)| *free).min().unwrap_or(Time::MAX)),
        };
    }
}
