//! The PU activity block: who the primary users are, where, how loud, and when they are ON (MSWiM 2009,
//! section 4).

mod law;

pub use law::{ActivityLaw, LawError, SpanLaw, StartState};

use crate::Intervals;
use crate::propagation::{Position, Propagation};
use cogtcp_units::{Duration, In, Length, Power, RandomStream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far a PU reaches.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// Inside this distance (m) it is heard, on its own channel only, and destroys every frame there; outside
    /// it is not there: the model of the released ns-2 code.
    #[serde(with = "In::<Length>")]
    #[schemars(with = "Length")]
    Range(f64),
    /// It sends with this power; attenuation decides who hears it and which frames survive (MSWiM 2009,
    /// equations 1 and 2).
    Power(Power),
}

impl Default for Reach {
    /// 500 m: Table 1 of the paper.
    fn default() -> Self {
        Self::Range(500.0)
    }
}

impl Reach {
    /// This reach as a power: what arrives at the edge of the range is just the `sensitivity`.
    pub fn as_power(self, propagation: &Propagation, sensitivity: Power) -> Power {
        match self {
            Self::Power(power) => power,
            Self::Range(range) => {
                Power::from_watts(propagation.power_for(range, sensitivity.watts()).min(f64::MAX))
            }
        }
    }

    /// This reach as a range in metres: where what arrives on the central channel falls to the
    /// `sensitivity`.
    pub fn as_range(self, propagation: &Propagation, sensitivity: Power) -> f64 {
        match self {
            Self::Power(power) => propagation.range(power.watts(), sensitivity.watts()).min(f64::MAX),
            Self::Range(range) => range,
        }
    }
}

/// One primary user.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimaryUser {
    /// Its number in the log.
    pub id: u32,
    /// Where its transmitter is.
    pub position: Position,
    /// Its spectrum band, 1 to B.
    pub band: u32,
    /// How far it reaches.
    pub reach: Reach,
    /// When it is ON.
    pub activity: Intervals,
}

/// All primary users of a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PuActivity {
    /// The primary users, in the order of the log.
    pub users: Vec<PrimaryUser>,
}

/// What to generate: one primary user with the law of its activity.
#[derive(Clone, Debug, PartialEq)]
pub struct PuSpec {
    /// Its number, which also names its random streams.
    pub id: u32,
    /// Where its transmitter is.
    pub position: Position,
    /// Its spectrum band, 1 to B.
    pub band: u32,
    /// How far it reaches.
    pub reach: Reach,
    /// The law of its ON and OFF times.
    pub law: ActivityLaw,
}

impl PuActivity {
    /// Draws the activity of every user up to `horizon`. User i draws from streams `pu/on` and `pu/off`
    /// number i, so that neither another user nor another law of OFF times moves its ON times.
    pub fn generate(specs: &[PuSpec], horizon: Duration, seed: u64) -> Result<Self, LawError> {
        let mut users = Vec::with_capacity(specs.len());
        for spec in specs {
            users.push(PrimaryUser {
                id: spec.id,
                position: spec.position,
                band: spec.band,
                reach: spec.reach,
                activity: spec.law.generate(horizon, seed, u64::from(spec.id))?,
            });
        }
        Ok(Self { users })
    }

    /// This activity, moved to start at zero `origin` later: what lies before `origin` is cut off.
    pub fn since(&self, origin: Time) -> Self {
        let mut users = self.users.clone();
        for user in &mut users {
            user.activity = user.activity.since(origin);
        }
        Self { users }
    }
}

/// `count` places, uniform in a rectangle of `width` by `height` metres: the PUs of the paper's random
/// topologies.
pub fn scatter(count: u32, width: f64, height: f64, seed: u64) -> Vec<Position> {
    (0..count)
        .map(|i| {
            // One stream per place, so that a larger `count` moves no earlier place.
            let mut stream = RandomStream::new(seed, "pu/position", u64::from(i));
            Position::new(stream.uniform_in(0.0, width), stream.uniform_in(0.0, height))
        })
        .collect()
}

/// Statistics of a timeline between two times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ActivityStats {
    /// ON intervals that arrive in the window.
    pub arrivals: u64,
    /// Share of the time ON, 0 to 1.
    pub duty_cycle: f64,
    /// Mean of the whole ON times in the window, s; NaN without any.
    pub mean_on: f64,
    /// Mean of the whole OFF times in the window, s; NaN without any.
    pub mean_off: f64,
}

impl Intervals {
    /// Whole ON times in [from, until): those that begin and end in it.
    pub fn on_times(&self, from: Time, until: Time) -> Vec<Duration> {
        self.inside(from, until).iter().map(|on| on.departure - on.arrival).collect()
    }

    /// Whole OFF times in [from, until): the gaps between two ON intervals of it.
    pub fn off_times(&self, from: Time, until: Time) -> Vec<Duration> {
        self.inside(from, until).windows(2).map(|pair| pair[1].arrival - pair[0].departure).collect()
    }

    /// Duty cycle and mean times in [from, until).
    pub fn stats(&self, from: Time, until: Time) -> ActivityStats {
        let mean = |spans: Vec<Duration>| {
            spans.iter().map(|span| span.as_secs_f64()).sum::<f64>() / spans.len() as f64
        };
        let window = until.saturating_since(from).as_secs_f64();
        ActivityStats {
            arrivals: self.as_slice().iter().filter(|on| on.arrival >= from && on.arrival < until).count()
                as u64,
            duty_cycle: if window > 0.0 { self.busy_in(from, until).as_secs_f64() / window } else { 0.0 },
            mean_on: mean(self.on_times(from, until)),
            mean_off: mean(self.off_times(from, until)),
        }
    }

    /// This timeline counted from `origin`; what lies before is cut off.
    pub fn since(&self, origin: Time) -> Self {
        let mut moved = Self::default();
        for on in self.as_slice().iter().filter(|on| on.departure > origin) {
            let shifted = crate::OnInterval {
                // Saturating: an interval that is open at the origin begins at zero.
                arrival: Time::ZERO + on.arrival.saturating_since(origin),
                departure: Time::ZERO + on.departure.saturating_since(origin),
            };
            // Order is kept, and only intervals that end after the origin are left.
            let pushed = moved.push(shifted);
            debug_assert!(pushed.is_ok(), "a shifted timeline stays one: {pushed:?}");
        }
        moved
    }

    fn inside(&self, from: Time, until: Time) -> &[crate::OnInterval] {
        let list = self.as_slice();
        // Sorted and disjoint: arrivals and departures both ascend, so a binary search finds each bound.
        let first = list.partition_point(|on| on.arrival < from);
        let end = list.partition_point(|on| on.departure <= until);
        // One interval around the whole window puts `first` beyond `end`: `get` then returns none.
        list.get(first..end).unwrap_or_default()
    }
}
