//! A course as a radio.

use super::Course;
use super::course::Stretch;
use cogtcp_spectrum::{ChannelId, LinkEvent, OutageCause, Phase, Radio, RadioState};
use cogtcp_units::Time;
use std::sync::Arc;

/// The radio of a train on its journey, a [`Radio`]. A handoff is a switch of channel; the channel is the
/// base station's number. Without signal it is [`Phase::Lost`].
#[derive(Clone, Debug)]
pub struct JourneyRadio {
    course: Arc<Course>,
    /// The stretch that comes next.
    next: usize,
    state: RadioState,
}

impl JourneyRadio {
    /// The radio on `course`.
    pub fn new(course: Arc<Course>) -> Self {
        let mut radio = Self { course, next: 0, state: RadioState::new(ChannelId(0), None) };
        // A link that is there from the beginning is no event.
        if let Some(first) = radio.course.stretches.first().copied().filter(|it| it.cause.is_none()) {
            (radio.state.channel, radio.state.rate, radio.next) = (channel(&first), first.rate, 1);
        }
        radio
    }

    /// The journey.
    pub fn course(&self) -> &Arc<Course> {
        &self.course
    }
}

impl Radio for JourneyRadio {
    fn state(&self) -> &RadioState {
        &self.state
    }

    fn state_mut(&mut self) -> &mut RadioState {
        &mut self.state
    }

    fn next_change(&self) -> Time {
        self.course.stretches.get(self.next).map_or(Time::MAX, |stretch| stretch.start)
    }

    fn change(&mut self, at: Time) {
        let Some(stretch) = self.course.stretches.get(self.next).copied() else { return };
        self.next += 1;
        let phase = match stretch.cause {
            None => Phase::Transmitting,
            Some(OutageCause::Handover | OutageCause::Border) => Phase::Switching,
            Some(OutageCause::Coverage | OutageCause::Tunnel) => Phase::Lost,
        };
        match self.state.enter(at, phase) {
            Phase::Switching => self.state.emit(at, LinkEvent::SwitchingEnd),
            Phase::Lost => self.state.emit(at, LinkEvent::SignalBack),
            Phase::Transmitting | Phase::Sensing => {}
        }
        match stretch.cause {
            Some(cause @ (OutageCause::Coverage | OutageCause::Tunnel)) => {
                self.state.stats.losses += 1;
                self.state.emit(at, LinkEvent::SignalLost { cause });
            }
            Some(OutageCause::Handover | OutageCause::Border) => {
                self.state.emit(at, LinkEvent::SwitchingStart { until: stretch.until });
            }
            None => {
                let (from, to) = (self.state.channel, channel(&stretch));
                let rate_before = std::mem::replace(&mut self.state.rate, stretch.rate);
                self.state.channel = to;
                if from != to {
                    self.state.stats.handoffs += 1;
                    self.state.emit(at, LinkEvent::Handoff { from, to, rate: self.state.rate });
                } else if self.state.rate != rate_before {
                    self.state.emit(at, LinkEvent::RateChange { rate: self.state.rate });
                }
            }
        }
    }
}

/// The channel of a base station: its number in the map, from 1.
fn channel(stretch: &Stretch) -> ChannelId {
    ChannelId(stretch.station.map_or(0, |station| u32::from(station) + 1))
}
