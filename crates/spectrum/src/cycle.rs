//! The cognitive cycle of one link by its laws alone: no spectrum, no positions, no sensing errors.
//!
//! Two processes interrupt the link:
//!
//! - *Sensing*, periodic: silent for `off`, open for `on`.
//! - *Primary users*, a Poisson process on the channel in use. Arrival times do not depend on anything else,
//!   so two runs of one seed meet the same arrivals whatever they sense.
//!
//! When both are on:
//!
//! | a PU arrives while the radio is | then |
//! |---|---|
//! | transmitting | it falls silent at once and switches |
//! | sensing | the sensing runs to its end, reports the PU, and the switch follows without a gap |
//! | switching | nothing: the radio is leaving that channel already |
//!
//! Arrivals are memoryless, so the open time between two switches is exponential with the same mean. The
//! "Poisson process" and the "exponential On time" of Zhou, Al Ali and Chowdhury (section 4.3) are one model
//! here.
//!
//! The channel after the interruption is drawn once per silence, when it ends. With a `dwell` it is drawn
//! only after the radio has been that long on its channel, or a PU came.

mod config;

pub use config::{ChannelChoice, CycleConfig, PuArrivals, SensingClock, SensingCycle};

use crate::{ChannelId, LinkEvent, Phase, Radio, RadioState, Verdict};
use cogtcp_units::{Duration, RandomStream, Rate, Time};

/// The cognitive cycle of one link as a state machine.
///
/// The driver calls [`advance`](Self::advance) at [`next_change`](Self::next_change), then takes what
/// happened with [`poll_event`](Self::poll_event) and reads [`phase`](Self::phase) and [`rate`](Self::rate).
#[derive(Clone, Debug)]
pub struct CognitiveCycle {
    config: CycleConfig,
    sensing_stream: RandomStream,
    pu_stream: RandomStream,
    channel_stream: RandomStream,

    state: RadioState,
    /// End of the current silence; `Time::MAX` while transmitting.
    silence_end: Time,
    /// When the next sensing is due. It waits for the end of a switch.
    sensing_due: Time,
    /// The next PU arrival.
    pu_due: Time,
    /// A PU arrived during the current sensing.
    pu_seen: bool,
    /// When the radio came to its channel.
    channel_since: Time,
}

impl CognitiveCycle {
    /// The cycle of the radio `name` in the run of seed `seed`. It opens its own random streams:
    /// `radio/<name>/sensing`, `radio/<name>/pu` and `radio/<name>/channel`. The link starts open, on its own
    /// rate.
    pub fn new(config: &CycleConfig, seed: u64, name: &str) -> Self {
        let stream = |part: &str| RandomStream::new(seed, &format!("radio/{name}/{part}"), 0);
        let mut cycle = Self {
            config: config.clone(),
            sensing_stream: stream("sensing"),
            pu_stream: stream("pu"),
            channel_stream: stream("channel"),
            state: RadioState::new(ChannelId(0), None),
            silence_end: Time::MAX,
            sensing_due: Time::MAX,
            pu_due: Time::MAX,
            pu_seen: false,
            channel_since: Time::ZERO,
        };
        cycle.sensing_due = match cycle.config.sensing.as_ref().and_then(|sensing| sensing.start) {
            Some(start) => Time::ZERO + start,
            None => cycle.sensing_after(Time::ZERO),
        };
        cycle.pu_due = cycle.pu_after(Time::ZERO);
        cycle
    }

    fn arrive(&mut self, at: Time) {
        // In every phase: arrivals do not depend on what the radio does.
        self.pu_due = self.pu_after(at);
        self.state.stats.pu_arrivals += 1;
        self.state.emit(at, LinkEvent::PuArrival { during: self.state.phase });
        match self.state.phase {
            Phase::Transmitting => self.start_switching(at),
            Phase::Sensing => self.pu_seen = true,
            Phase::Switching | Phase::Lost => {}
        }
    }

    fn start_sensing(&mut self, at: Time) {
        let Some(sensing) = &self.config.sensing else { return };
        let until = at + sensing.off.draw(&mut self.sensing_stream);
        self.enter(at, Phase::Sensing, until);
        self.pu_seen = false;
        self.state.stats.sensings += 1;
        // The timetable counts from the end of this sensing; under `Restart` the end of a switch sets it
        // again.
        self.sensing_due = self.sensing_after(until);
        self.state.emit(at, LinkEvent::SensingStart { until });
    }

    fn end_sensing(&mut self, at: Time) {
        self.state.emit(at, LinkEvent::SensingEnd { verdict: Verdict::new(self.pu_seen, self.pu_seen) });
        if self.pu_seen { self.start_switching(at) } else { self.resume(at, false) }
    }

    fn start_switching(&mut self, at: Time) {
        let switching = self.config.pu.as_ref().map_or(Duration::ZERO, |pu| pu.switching);
        let until = at + switching;
        self.enter(at, Phase::Switching, until);
        self.state.emit(at, LinkEvent::SwitchingStart { until });
    }

    /// Opens the link again, on the channel drawn for it.
    fn resume(&mut self, at: Time, after_pu: bool) {
        self.enter(at, Phase::Transmitting, Time::MAX);
        let before = self.state.channel;
        // A PU drives the radio away however short it has been there.
        if after_pu || at - self.channel_since >= self.config.dwell {
            self.choose_channel(after_pu);
            self.channel_since = at;
        }
        if self.state.channel != before {
            self.state.stats.handoffs += 1;
            self.state
                .emit(at, LinkEvent::Handoff { from: before, to: self.state.channel, rate: self.state.rate });
        }
        if after_pu && self.config.sensing.as_ref().is_some_and(|s| s.clock == SensingClock::Restart) {
            self.sensing_due = self.sensing_after(at);
        }
        // A sensing that fell due during the silence follows at once.
        self.sensing_due = self.sensing_due.max(at);
    }

    fn choose_channel(&mut self, after_pu: bool) {
        // The next number never used before: a channel like no other.
        let fresh = ChannelId(self.state.channel.0.wrapping_add(1));
        match &self.config.channel {
            ChannelChoice::Stay if after_pu => self.state.channel = fresh,
            ChannelChoice::Stay => {}
            ChannelChoice::Range([low, high]) => {
                let (low, high) = (low.bits_per_second(), high.bits_per_second());
                // Both ends included.
                let width = high.saturating_sub(low).saturating_add(1);
                self.state.channel = fresh;
                self.state.rate = Some(Rate::from_bits_per_second(low + self.channel_stream.below(width)));
            }
            ChannelChoice::Set(rates) => {
                let current = self.state.channel.0 as usize;
                // Channel 0, the link's own, is not in the set: there is nothing to pass over.
                let leave = after_pu && current > 0 && rates.len() > 1;
                let choices = rates.len() - usize::from(leave);
                if choices == 0 {
                    return;
                }
                let mut index = self.channel_stream.below(choices as u64) as usize;
                // Passes over the channel it leaves: channels count from 1, indices from 0.
                if leave && index + 1 >= current {
                    index += 1;
                }
                self.state.channel = ChannelId(index as u32 + 1);
                self.state.rate = Some(rates[index]);
            }
        }
    }

    /// Time of the sensing after a transmission that starts at `at`. At least 1 ns later, so that the cycle
    /// moves on.
    fn sensing_after(&mut self, at: Time) -> Time {
        match &self.config.sensing {
            Some(sensing) => at + sensing.on.draw(&mut self.sensing_stream).max(Duration::from_nanos(1)),
            None => Time::MAX,
        }
    }

    fn pu_after(&mut self, at: Time) -> Time {
        match &self.config.pu {
            Some(pu) => at + self.pu_stream.exponential(pu.interarrival),
            None => Time::MAX,
        }
    }

    fn enter(&mut self, at: Time, phase: Phase, silence_end: Time) {
        self.state.enter(at, phase);
        self.silence_end = silence_end;
    }
}

impl Radio for CognitiveCycle {
    fn state(&self) -> &RadioState {
        &self.state
    }

    fn state_mut(&mut self) -> &mut RadioState {
        &mut self.state
    }

    fn next_change(&self) -> Time {
        let own = if self.state.phase == Phase::Transmitting { self.sensing_due } else { self.silence_end };
        own.min(self.pu_due)
    }

    /// At the same instant: a PU before the end of a silence before a sensing, so that a PU
    /// that comes as a sensing ends is still seen by it.
    fn change(&mut self, at: Time) {
        if self.pu_due == at {
            self.arrive(at);
        } else if self.state.phase == Phase::Sensing {
            self.end_sensing(at);
        } else if self.state.phase == Phase::Switching {
            self.state.emit(at, LinkEvent::SwitchingEnd);
            self.resume(at, true);
        } else {
            self.start_sensing(at);
        }
    }
}
