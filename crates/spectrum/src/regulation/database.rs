//! A white space device and its database.

use super::rules::{Permit, Regulator, TvwsRules};
use super::{Availability, Incumbents, WhiteSpaceDevice, WhiteSpaceRequest, WhiteSpaceTimers};
use crate::ChannelId;
use cogtcp_units::Time;
use std::collections::VecDeque;

/// A white space device that asks a database. Queries and answers take time and are not lost.
#[derive(Debug)]
pub(super) struct DatabaseUser {
    rules: TvwsRules,
    device: WhiteSpaceDevice,
    first: ChannelId,
    answers: VecDeque<(Time, Vec<Availability>)>,
}

impl DatabaseUser {
    pub(super) fn new(rules: &TvwsRules, channel: ChannelId, incumbents: Incumbents<'_>) -> Self {
        // The end of the grace counts as a stopTime: the device falls silent `lead` before it too.
        let timers =
            WhiteSpaceTimers { check: rules.check, grace: rules.grace - rules.lead, retry: rules.retry };
        let device = WhiteSpaceDevice::new(timers);
        let mut user = Self { rules: rules.clone(), device, first: channel, answers: VecDeque::new() };
        // The first answer came before time zero, and its delay with it.
        if rules.ready {
            let answer = user.answer(Time::ZERO, incumbents);
            user.device.hear(Time::ZERO, &answer);
            user.play(Time::ZERO, incumbents);
        }
        user
    }

    /// What the database says: for each channel the times in which no incumbent is registered that it knows
    /// by now.
    fn answer(&self, now: Time, incumbents: Incumbents<'_>) -> Vec<Availability> {
        let end = now + self.rules.validity;
        let mut found = Vec::new();
        for channel in incumbents.channels(self.first) {
            let mut from = incumbents.free_from(channel, now);
            while from < end {
                let next = incumbents.next_arrival(channel, from);
                let is_registered = next <= now + self.rules.notice;
                // The device falls silent earlier by itself.
                let stop = if is_registered { next.min(end) } else { end };
                let until = Time::from_nanos(stop.as_nanos().saturating_sub(self.rules.lead.as_nanos()));
                if from < until {
                    found.push(Availability { channel, from, until });
                }
                // An incumbent that is not registered yet does not end the schedule, nor do those after it.
                from = if is_registered { incumbents.free_from(channel, stop) } else { end };
            }
        }
        found
    }

    fn play(&mut self, now: Time, incumbents: Incumbents<'_>) {
        while self.device.next_change() <= now {
            match self.device.advance(now) {
                Some(WhiteSpaceRequest::Available) => {
                    let answer = self.answer(now, incumbents);
                    self.answers.push_back((now + self.rules.answer, answer));
                }
                // The database takes note.
                Some(WhiteSpaceRequest::Use(_)) => {}
                None => {}
            }
        }
    }
}

impl Regulator for DatabaseUser {
    fn next_change(&self) -> Time {
        let heard = self.answers.front().map_or(Time::MAX, |(at, _)| *at);
        self.device.next_change().min(heard)
    }

    fn advance(&mut self, now: Time, incumbents: Incumbents<'_>) {
        while let Some((_, answer)) = self.answers.pop_front_if(|(at, _)| *at <= now) {
            self.device.hear(now, &answer);
        }
        self.play(now, incumbents);
    }

    fn permit(&self, now: Time) -> Permit {
        let channel = self.device.channel(now);
        let until = channel.map_or(Time::MAX, |channel| self.device.holds_until(now, channel));
        debug_assert!(until > now, "a channel that it may use holds for a while");
        Permit { channel, until, ..Permit::NONE }
    }
}
