//! A CR user that obeys a regulation in place of sensing: its [`Regulator`] says when it may be on the air,
//! and on which channel.

use super::CognitiveRadio;
use crate::regulation::{Incumbents, Permit, RegulationConfig, Regulator};
use crate::{ChannelId, LinkEvent, Phase, Verdict};
use cogtcp_units::{Decibel, Time};

/// The regulation that a radio obeys.
#[derive(Debug)]
pub(super) struct Obeyed {
    regulator: Box<dyn Regulator>,
    permit: Permit,
    /// It is on its way to this channel.
    retuning: Option<ChannelId>,
}

impl Obeyed {
    /// By how much it transmits below its power.
    pub(super) fn reduction(&self) -> Decibel {
        self.permit.reduction
    }

    pub(super) fn next_change(&self) -> Time {
        self.regulator.next_change()
    }
}

impl CognitiveRadio {
    /// Takes up the regulation, at time zero.
    pub(super) fn take_up(&mut self, config: &RegulationConfig) {
        let incumbents = Incumbents::new(&self.air, self.meter.heard());
        // Quiet periods say nothing about when to transmit: the radio senses on.
        let Some(regulator) = config.kind().build(self.config.channel, incumbents) else { return };
        let permit = regulator.permit(Time::ZERO);
        let channel = permit.channel.unwrap_or(self.config.channel);
        (self.state.channel, self.loaded, self.sensed) = (channel, channel, channel);
        self.state.rate = self.rate_of(channel, &permit);
        self.state.phase = if permit.channel.is_some() { Phase::Transmitting } else { permit.silence };
        self.until = permit.until;
        self.rules = Some(Box::new(Obeyed { regulator, permit, retuning: None }));
        self.tune(Time::ZERO);
        // A PU that is ON at time zero never arrives.
        if permit.channel.is_some() && self.meter.is_occupied(&self.air, channel, Time::ZERO) {
            self.meter.pu_came(Time::ZERO);
        }
    }

    /// By how much the radio transmits below its power: at less than it, primary users do not have to bear
    /// it.
    pub fn power_reduction(&self) -> Decibel {
        self.rules.as_ref().map_or(Decibel(0.0), |rules| rules.reduction())
    }

    /// The power of a frame that is received with `watts` at full power.
    #[inline]
    pub fn reduced(&self, watts: f64) -> f64 {
        let Decibel(reduction) = self.power_reduction();
        // Every frame asks, and most are sent at full power: no logarithm for these.
        if reduction == 0.0 { watts } else { watts / Decibel(reduction).linear() }
    }

    /// Whether the radio obeys a regulation that says when it may be on the air.
    pub fn is_regulated(&self) -> bool {
        self.rules.is_some()
    }

    fn rate_of(&self, channel: ChannelId, permit: &Permit) -> Option<cogtcp_units::Rate> {
        permit.rate.or_else(|| self.air.channels.get(channel).map(|entry| entry.rate))
    }

    /// Something is due at `at` that the regulation says, or the end of a switch.
    pub(super) fn obey(&mut self, at: Time) {
        // Taken out while the radio changes by them, and put back at the end.
        let Some(mut rules) = self.rules.take() else { return };
        let had_reduction = rules.permit.reduction;
        if rules.regulator.next_change() <= at {
            rules.regulator.advance(at, Incumbents::new(&self.air, self.meter.heard()));
        }
        rules.permit = rules.regulator.permit(at);
        let permit = rules.permit;
        let retuned = rules.retuning.filter(|_| self.until <= at);
        // A switch under way ends before a newer permit is followed.
        if rules.retuning.is_none() || retuned.is_some() {
            rules.retuning = None;
            // The PUs of the new channel count from now on, as in `change`.
            if retuned.is_some() {
                self.tune(at);
            }
            self.follow(at, &permit, &mut rules.retuning, retuned.is_some());
        }
        if self.state.phase == Phase::Transmitting {
            // It ends when the regulation says, which may have moved.
            self.until = permit.until;
            let rate = self.rate_of(self.loaded, &permit);
            if rate != self.state.rate || had_reduction != permit.reduction {
                self.state.rate = rate;
                self.state.emit(at, LinkEvent::RateChange { rate });
            }
        }
        self.rules = Some(rules);
    }

    /// Goes into the phase, and to the channel, that the regulation permits. `has_retuned`: a switch of
    /// channel has just ended.
    fn follow(&mut self, at: Time, permit: &Permit, retuning: &mut Option<ChannelId>, has_retuned: bool) {
        let is_open = self.state.phase == Phase::Transmitting;
        match permit.channel {
            Some(channel) if is_open && channel == self.loaded => {}
            Some(channel)
                if !is_open && channel == self.state.channel && (has_retuned || !self.switching) =>
            {
                self.end_silence(at, Verdict::Clear);
                self.open(at);
            }
            Some(channel) => {
                self.leave(at, is_open);
                *retuning = Some(channel);
                self.start_switching(at, channel);
            }
            None if is_open => {
                self.leave(at, true);
                self.begin_silence(at, permit);
            }
            None if self.state.phase != permit.silence || has_retuned => {
                let is_struck = self.state.phase == Phase::Sensing;
                self.end_silence(at, if is_struck { Verdict::Detected } else { Verdict::Clear });
                self.begin_silence(at, permit);
            }
            None => {
                // A check that starts over, on another channel.
                if permit.silence == Phase::Sensing && permit.until != self.until {
                    self.end_silence(at, Verdict::Detected);
                    self.begin_silence(at, permit);
                }
                self.until = permit.until;
            }
        }
    }

    /// The radio goes off the air of its channel.
    fn leave(&mut self, at: Time, is_open: bool) {
        if is_open {
            self.fall_silent(at);
            let is_occupied = self.meter.is_occupied(&self.air, self.loaded, at);
            self.meter.left(is_occupied);
        } else {
            self.end_silence(at, Verdict::Clear);
        }
    }

    fn begin_silence(&mut self, at: Time, permit: &Permit) {
        self.enter(at, permit.silence, permit.until);
        let until = permit.until;
        if permit.silence == Phase::Sensing {
            self.state.stats.sensings += 1;
            self.state.emit(at, LinkEvent::SensingStart { until });
        } else {
            self.state.emit(at, LinkEvent::SwitchingStart { until });
        }
    }

    fn end_silence(&mut self, at: Time, verdict: Verdict) {
        match self.state.phase {
            Phase::Sensing => {
                if verdict == Verdict::Detected {
                    self.meter.sensed(verdict);
                }
                self.state.emit(at, LinkEvent::SensingEnd { verdict });
            }
            Phase::Switching => self.state.emit(at, LinkEvent::SwitchingEnd),
            Phase::Transmitting | Phase::Lost => {}
        }
    }
}
