//! A course as a radio.

use super::Course;
use super::course::Stretch;
use crate::{ChannelId, LinkEvent, OutageCause, Phase, Radio, RadioStats};
use cogtcp_units::{Rate, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// The radio of a train on its journey, a [`Radio`]. A handover is a switch of
/// channel, its channel the number of the base station; without signal it is [`Phase::Lost`].
#[derive(Clone, Debug)]
pub struct JourneyRadio {
    course: Arc<Course>,
    /// The stretch that comes next.
    next: usize,
    phase: Phase,
    channel: ChannelId,
    rate: Option<Rate>,
    /// The moment up to which `stats` has counted the phase.
    counted_to: Time,
    stats: RadioStats,
    events: VecDeque<(Time, LinkEvent)>,
}

impl JourneyRadio {
    /// The radio on `course`.
    pub fn new(course: Arc<Course>) -> Self {
        let mut radio = Self {
            course,
            next: 0,
            phase: Phase::Transmitting,
            channel: ChannelId(0),
            rate: None,
            counted_to: Time::ZERO,
            stats: RadioStats::default(),
            events: VecDeque::new(),
        };
        // A link that is there from the beginning is no event.
        if let Some(first) = radio.course.stretches.first().copied().filter(|it| it.cause.is_none()) {
            (radio.channel, radio.rate, radio.next) = (channel(&first), first.rate, 1);
        }
        radio
    }

    /// The journey.
    pub fn course(&self) -> &Arc<Course> {
        &self.course
    }

    fn change(&mut self, stretch: &Stretch) {
        let at = stretch.start;
        self.stats.spend(self.phase, at.saturating_since(self.counted_to));
        self.counted_to = at;
        let phase = match stretch.cause {
            None => Phase::Transmitting,
            Some(OutageCause::Handover | OutageCause::Border) => Phase::Switching,
            Some(OutageCause::Coverage | OutageCause::Tunnel) => Phase::Lost,
        };
        let before = std::mem::replace(&mut self.phase, phase);
        match before {
            Phase::Switching => self.events.push_back((at, LinkEvent::SwitchingEnd)),
            Phase::Lost => self.events.push_back((at, LinkEvent::SignalBack)),
            Phase::Transmitting | Phase::Sensing => {}
        }
        match stretch.cause {
            Some(cause @ (OutageCause::Coverage | OutageCause::Tunnel)) => {
                self.stats.losses += 1;
                self.events.push_back((at, LinkEvent::SignalLost { cause }));
            }
            Some(OutageCause::Handover | OutageCause::Border) => {
                self.events.push_back((at, LinkEvent::SwitchingStart { until: stretch.until }));
            }
            None => {
                let (from, to) = (self.channel, channel(stretch));
                let rate_before = std::mem::replace(&mut self.rate, stretch.rate);
                self.channel = to;
                if from != to {
                    self.stats.handoffs += 1;
                    self.events.push_back((at, LinkEvent::Handoff { from, to, rate: self.rate }));
                } else if self.rate != rate_before {
                    self.events.push_back((at, LinkEvent::RateChange { rate: self.rate }));
                }
            }
        }
    }
}

impl Radio for JourneyRadio {
    fn advance(&mut self, now: Time) -> Phase {
        self.events.clear();
        while let Some(stretch) = self.course.stretches.get(self.next).copied().filter(|it| it.start <= now) {
            self.next += 1;
            self.change(&stretch);
        }
        self.phase
    }

    fn poll_event(&mut self) -> Option<(Time, LinkEvent)> {
        self.events.pop_front()
    }

    fn phase(&self) -> Phase {
        self.phase
    }

    fn rate(&self) -> Option<Rate> {
        self.rate
    }

    fn next_change(&self) -> Time {
        self.course.stretches.get(self.next).map_or(Time::MAX, |stretch| stretch.start)
    }

    fn stats(&self, now: Time) -> RadioStats {
        let mut stats = self.stats;
        stats.spend(self.phase, now.saturating_since(self.counted_to));
        stats
    }

    fn channel(&self) -> ChannelId {
        self.channel
    }
}

/// The channel of a base station: its number in the map, from 1.
fn channel(stretch: &Stretch) -> ChannelId {
    ChannelId(stretch.station.map_or(0, |station| u32::from(station) + 1))
}
