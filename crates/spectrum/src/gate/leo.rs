//! A link over satellites in low orbit: another satellite at each handoff, with its own delay and rate.
//!
//! Time has periods of [`period`](LeoConfig::period). A period begins with an outage; at its beginning and at
//! its end the delay is higher. Within a period the delay is constant.

use super::{GateBounds, GateKind};
use crate::{ChannelId, LinkEvent, Phase, Radio, RadioState};
use cogtcp_units::{Check, Duration, RandomStream, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A link over satellites in low orbit. All times are one way, and hold for both directions of its links.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LeoConfig {
    /// From one handoff to the next: 15 s with Starlink.
    #[serde(default = "period")]
    pub period: Duration,
    /// When the first handoff begins; without it: at a time that is drawn, uniformly over the first period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Duration>,
    /// How long a handoff keeps the link silent.
    pub outage: Duration,
    /// Delay over a satellite, drawn uniformly between these two at each handoff. It takes the place of the
    /// link's delay.
    pub delay: [Duration; 2],
    /// Rate over a satellite, drawn likewise. Without it: the link's own rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<[Rate; 2]>,
    /// How much higher the delay is at the edges of a period.
    #[serde(default)]
    pub spike: Duration,
    /// How long the first edge lasts, from the beginning of the handoff on.
    #[serde(default = "first_edge")]
    pub first_edge: Duration,
    /// How long the last edge lasts, before the next handoff.
    #[serde(default = "last_edge")]
    pub last_edge: Duration,
}

fn period() -> Duration {
    Duration::from_secs(15)
}

/// arXiv 2601.08439: some 140 ms at the beginning of a period.
fn first_edge() -> Duration {
    Duration::from_millis(140)
}

/// arXiv 2601.08439: some 75 ms at the end of a period.
fn last_edge() -> Duration {
    Duration::from_millis(75)
}

impl GateKind for LeoConfig {
    fn check(&self, bounds: &GateBounds, mut check: &mut dyn Check) {
        let (longest, longest_delay) = (bounds.duration, bounds.delay);
        // `order` needs a type of known size.
        let check = &mut check;
        check.span("period", self.period, false, longest);
        check.span("start", self.start.unwrap_or_default(), true, longest);
        check.span("outage", self.outage, true, longest);
        for (number, delay) in self.delay.iter().enumerate() {
            check.span(&format!("delay.{number}"), *delay, true, longest_delay);
        }
        check.order("delay", &self.delay[0], &self.delay[1]);
        if let Some([low, high]) = &self.rate {
            check.rate("rate.0", *low);
            check.rate("rate.1", *high);
            check.order("rate", low, high);
        }
        check.span("spike", self.spike, true, longest_delay);
        // The outage and the first edge both begin with the period: the longer one counts.
        let parts = self.outage.max(self.first_edge) + self.last_edge;
        if parts >= self.period {
            let message = format!(
                "the edges and the outage of a period take \"{parts}\", and a period \"{}\"",
                self.period
            );
            check.error("period", message, "write a longer period, or shorter edges".to_owned());
        }
    }

    fn interval(&self) -> (&'static str, Duration) {
        ("period", self.period)
    }

    fn rates(&self) -> Vec<Rate> {
        self.rate.map_or_else(Vec::new, |rates| rates.to_vec())
    }

    fn build(&self, seed: u64, name: &str) -> Box<dyn Radio> {
        Box::new(LeoRadio::new(self, seed, name))
    }
}

/// What happens next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Next {
    Handoff,
    OutageEnds,
    EdgeEnds,
    EdgeBegins,
}

/// A link over satellites, as a [`Radio`]. The number of a satellite is its channel.
#[derive(Clone, Debug)]
pub struct LeoRadio {
    config: LeoConfig,
    state: RadioState,
    stream: RandomStream,
    /// Beginning of the next period.
    next: Time,
    /// Beginning of this one.
    began: Time,
    due: (Time, Next),
    /// Delay over the satellite, without the spike.
    base: Duration,
    at_edge: bool,
}

impl LeoRadio {
    /// Returns the link as it is at time zero, in the run of seed `seed`. It draws from the stream
    /// `radio/<name>/satellite`: a first handoff where none is given, then delay and rate of each satellite.
    pub fn new(config: &LeoConfig, seed: u64, name: &str) -> Self {
        let mut stream = RandomStream::new(seed, &format!("radio/{name}/satellite"), 0);
        let next = match config.start {
            Some(start) => Time::ZERO + start,
            None => Time::ZERO + stream.uniform_duration(Duration::from_nanos(1), config.period),
        };
        let mut radio = Self {
            config: config.clone(),
            state: RadioState::new(ChannelId(1), None),
            stream,
            next,
            began: Time::ZERO,
            due: (Time::MAX, Next::Handoff),
            base: Duration::ZERO,
            at_edge: false,
        };
        radio.draw();
        radio.due = radio.after_edge(Time::ZERO);
        radio
    }

    fn draw(&mut self) {
        let [low, high] = self.config.delay;
        self.base = self.stream.uniform_duration(low, high);
        if let Some([low, high]) = self.config.rate {
            let (low, high) = (low.bits_per_second(), high.bits_per_second());
            // Both ends included.
            let width = high.saturating_sub(low).saturating_add(1);
            self.state.rate = Some(Rate::from_bits_per_second(low + self.stream.below(width)));
        }
    }

    /// What follows the first edge.
    fn after_edge(&self, now: Time) -> (Time, Next) {
        // Saturating: the first handoff may come sooner than a last edge takes.
        let edge = Time::from_nanos(self.next.as_nanos().saturating_sub(self.config.last_edge.as_nanos()));
        if self.config.last_edge.is_zero() || edge <= now {
            (self.next, Next::Handoff)
        } else {
            (edge, Next::EdgeBegins)
        }
    }

    /// What follows the beginning of a period or of its outage, `now` included.
    fn after_begin(&self) -> (Time, Next) {
        let (outage, edge) = (self.began + self.config.outage, self.began + self.config.first_edge);
        match self.state.phase.is_silent() {
            true if self.at_edge && edge < outage => (edge, Next::EdgeEnds),
            true => (outage, Next::OutageEnds),
            false if self.at_edge => (edge, Next::EdgeEnds),
            false => self.after_edge(self.began),
        }
    }

    fn open(&mut self, at: Time) {
        self.state.stats.handoffs += 1;
        // Satellites count from 1, and this one is at least the second.
        let (from, to, rate) = (ChannelId(self.state.channel.0 - 1), self.state.channel, self.state.rate);
        self.state.emit(at, LinkEvent::Handoff { from, to, rate });
    }
}

impl Radio for LeoRadio {
    fn state(&self) -> &RadioState {
        &self.state
    }

    fn state_mut(&mut self) -> &mut RadioState {
        &mut self.state
    }

    fn delay(&self) -> Option<Duration> {
        Some(if self.at_edge { self.base + self.config.spike } else { self.base })
    }

    fn next_change(&self) -> Time {
        self.due.0
    }

    fn change(&mut self, at: Time) {
        match self.due.1 {
            Next::EdgeBegins => {
                self.at_edge = true;
                self.due = (self.next, Next::Handoff);
                return;
            }
            Next::Handoff => {
                (self.began, self.next) = (at, at + self.config.period);
                self.at_edge = !self.config.first_edge.is_zero();
                self.state.channel = ChannelId(self.state.channel.0 + 1);
                self.draw();
                // A silence of no length is none: no event says that it begins and ends.
                if self.config.outage.is_zero() {
                    self.open(at);
                } else {
                    self.state.enter(at, Phase::Switching);
                    let until = at + self.config.outage;
                    self.state.emit(at, LinkEvent::SwitchingStart { until });
                }
            }
            Next::OutageEnds => {
                self.state.enter(at, Phase::Transmitting);
                self.state.emit(at, LinkEvent::SwitchingEnd);
                self.open(at);
                // An edge as long as the outage ends with it, without an event of its own.
                self.at_edge &= self.began + self.config.first_edge > at;
            }
            Next::EdgeEnds => self.at_edge = false,
        }
        self.due = self.after_begin();
    }
}
