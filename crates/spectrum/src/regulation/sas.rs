//! A CBSD, its SAS and the sensors of the coast.

use super::rules::{CbrsRules, DpaAnswer, Permit, Regulator};
use super::{Cbsd, CbsdTimers, GrantState, Incumbents, Operation, SasAnswer, SasRequest};
use crate::ChannelId;
use cogtcp_units::{Decibel, Time};
use std::collections::VecDeque;

/// A CBSD that asks its SAS. Requests and answers take time and are not lost.
#[derive(Debug)]
pub(super) struct SasUser {
    rules: CbrsRules,
    cbsd: Cbsd,
    answers: VecDeque<(Time, SasAnswer)>,
    /// The end of a transmission without a right, which is a change of its own.
    closes_at: Time,
}

impl SasUser {
    pub(super) fn new(rules: &CbrsRules, channel: ChannelId, incumbents: Incumbents<'_>) -> Self {
        let cbsd = Cbsd::new(CbsdTimers { stop: rules.stop, retry: rules.retry });
        let mut user = Self { rules: rules.clone(), cbsd, answers: VecDeque::new(), closes_at: Time::MAX };
        user.cbsd.prefer(channel);
        if rules.ready {
            // What led to time zero took its time before.
            while let Some(request) = user.cbsd.advance(Time::ZERO) {
                let answer = user.answer(Time::ZERO, request, incumbents);
                user.cbsd.hear(Time::ZERO, answer);
            }
        }
        user.look(Time::ZERO);
        user
    }

    /// What the SAS says to a request.
    fn answer(&self, now: Time, request: SasRequest, incumbents: Incumbents<'_>) -> SasAnswer {
        let own = self.cbsd.granted();
        let is_active = |channel| incumbents.is_known(channel, now, self.rules.esc);
        let free = |first| incumbents.channels(first).find(|channel| !is_active(*channel));
        let full = |channel| Operation { channel, reduction: Decibel(0.0) };
        let reduced = |channel| match self.rules.dpa {
            DpaAnswer::Reduce(power) => Some(Operation { channel, reduction: power.by }),
            _ => None,
        };
        match request {
            SasRequest::Grant(suggested) => {
                let wanted = suggested.unwrap_or(full(own.channel));
                // A suggestion may have become void meanwhile.
                // Less power helps only while the DPA is active.
                let operation = if wanted.is_reduced() && is_active(wanted.channel) {
                    Some(wanted)
                } else {
                    free(wanted.channel).map(full).or_else(|| reduced(wanted.channel))
                };
                let granted = |operation| SasAnswer::Grant {
                    operation,
                    expires: now + self.rules.grant,
                    heartbeat: self.rules.heartbeat,
                };
                operation.map_or(SasAnswer::Refused, granted)
            }
            SasRequest::Heartbeat(_) if own.is_reduced() => match is_active(own.channel) {
                true => SasAnswer::Authorized { until: now + self.rules.transmit },
                // The DPA is inactive: full power again, by another grant.
                false => SasAnswer::Terminated(Some(full(own.channel))),
            },
            SasRequest::Heartbeat(_) if is_active(own.channel) => match self.rules.dpa {
                DpaAnswer::Suspend => SasAnswer::Suspended,
                DpaAnswer::Relocate => match free(own.channel) {
                    Some(channel) => SasAnswer::Terminated(Some(full(channel))),
                    None => SasAnswer::Suspended,
                },
                DpaAnswer::Reduce(_) => SasAnswer::Terminated(reduced(own.channel)),
            },
            SasRequest::Heartbeat(_) => SasAnswer::Authorized { until: now + self.rules.transmit },
        }
    }

    fn look(&mut self, now: Time) {
        self.closes_at = self.cbsd.on_air(now).map_or(Time::MAX, |(_, until)| until);
    }
}

impl Regulator for SasUser {
    fn next_change(&self) -> Time {
        let heard = self.answers.front().map_or(Time::MAX, |(at, _)| *at);
        self.cbsd.next_change().min(heard).min(self.closes_at)
    }

    fn advance(&mut self, now: Time, incumbents: Incumbents<'_>) {
        while let Some((_, answer)) = self.answers.pop_front_if(|(at, _)| *at <= now) {
            self.cbsd.hear(now, answer);
        }
        while self.cbsd.next_change() <= now {
            // The answer is made now, as of the SAS's view at the request, and heard later.
            if let Some(request) = self.cbsd.advance(now) {
                let answer = self.answer(now, request, incumbents);
                self.answers.push_back((now + self.rules.answer, answer));
            }
        }
        self.look(now);
    }

    fn permit(&self, now: Time) -> Permit {
        let Some((operation, until)) = self.cbsd.on_air(now) else { return Permit::NONE };
        let rate = match self.rules.dpa {
            DpaAnswer::Reduce(power) if operation.is_reduced() => power.rate,
            _ => None,
        };
        debug_assert!(self.cbsd.state() != GrantState::Authorized || until > now, "its right has not ended");
        Permit {
            channel: Some(operation.channel),
            until,
            reduction: operation.reduction,
            rate,
            ..Permit::NONE
        }
    }
}
