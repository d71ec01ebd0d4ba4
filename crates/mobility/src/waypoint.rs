//! Random waypoint.

use crate::{Area, Mobility, Trajectory, Vertex};
use cogtcp_units::{Duration, Position, RandomStream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How random waypoint begins.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "WaypointStart")]
pub enum Start {
    /// From the stationary law: every instant is like every other. See Le Boudec and Vojnovic, *Perfect
    /// simulation and stationarity of a class of mobility models*, IEEE INFOCOM 2005, by the Palm calculus.
    #[default]
    Stationary,
    /// Every node at a uniform place at the beginning of a trip, as ns-2's `setdest` and many papers have it.
    /// Nodes gather in the middle and get slower for the first minutes.
    Naive,
}

/// Random waypoint: a node goes to a place drawn uniformly, at a speed drawn uniformly, pauses there, and
/// goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomWaypoint {
    /// Where they are.
    pub area: Area,
    /// Least speed, m/s, above 0: with trips that hardly end there is no stationary law.
    pub min_speed: f64,
    /// Greatest speed, m/s.
    pub max_speed: f64,
    /// Shortest pause; pauses are uniform between this and `max_pause`.
    pub min_pause: Duration,
    /// Longest pause.
    pub max_pause: Duration,
    /// How it begins.
    pub start: Start,
}

/// Settings of random waypoint that are none.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum WaypointError {
    /// Not an area.
    #[error("the area must have sides from 0 to 1e9 m, not both 0")]
    Area,
    /// Not a range of speeds.
    #[error(
        "speeds from {0} to {1} m/s: the least must be at least 0.001, the greatest at least that and at most 1e6"
    )]
    Speed(f64, f64),
    /// Not a range of pauses.
    #[error("pauses from {0} to {1}: the longest is shorter than the shortest")]
    Pause(Duration, Duration),
    /// A trajectory of too many trips.
    #[error("about {0:.0} trips: at most {max} fit; take a shorter time, fewer nodes or slower ones", max = RandomWaypoint::MOST_TRIPS)]
    TooLong(f64),
}

impl RandomWaypoint {
    /// The most trips of all nodes that are generated.
    pub const MOST_TRIPS: u32 = 10_000_000;

    /// The trajectories of `nodes` nodes from 0 to `duration`, where the last trips are cut. Node i draws
    /// from its own stream: more nodes, or a longer time, move none.
    pub fn generate(&self, nodes: usize, duration: Duration, seed: u64) -> Result<Mobility, WaypointError> {
        self.check()?;
        let trip = self.mean_trip() + self.mean_pause();
        let expected = nodes as f64 * (duration.as_secs_f64() / trip + 1.0);
        if expected > f64::from(Self::MOST_TRIPS) {
            return Err(WaypointError::TooLong(expected));
        }
        let trajectory = |node| {
            self.trajectory(duration, RandomStream::new(seed, "mobility/random-waypoint", node as u64))
        };
        Ok(Mobility::new((0..nodes).map(trajectory).collect()))
    }

    fn check(&self) -> Result<(), WaypointError> {
        if !self.area.is_valid() {
            return Err(WaypointError::Area);
        }
        let (low, high) = (self.min_speed, self.max_speed);
        if !(0.001..=1e6).contains(&low) || !(low..=1e6).contains(&high) {
            return Err(WaypointError::Speed(low, high));
        }
        if self.min_pause > self.max_pause {
            return Err(WaypointError::Pause(self.min_pause, self.max_pause));
        }
        Ok(())
    }

    /// Mean of 1 / speed: ln(v1/v0) / (v1 - v0).
    fn mean_slowness(&self) -> f64 {
        let (low, high) = (self.min_speed, self.max_speed);
        // Of equal speeds the formula is 0 over 0.
        if high - low <= 1e-9 * high { 1.0 / high } else { libm::log(high / low) / (high - low) }
    }

    /// Mean time of a trip, s: distance and speed are drawn independently.
    pub fn mean_trip(&self) -> f64 {
        self.area.mean_distance() * self.mean_slowness()
    }

    fn mean_pause(&self) -> f64 {
        (self.min_pause.as_secs_f64() + self.max_pause.as_secs_f64()) / 2.0
    }

    /// Share of the time that a node moves, in the stationary law.
    pub fn moving_share(&self) -> f64 {
        self.mean_trip() / (self.mean_trip() + self.mean_pause())
    }

    fn trajectory(&self, duration: Duration, mut draw: RandomStream) -> Trajectory {
        let mut walk = Walk { vertices: Vec::new() };
        match self.start {
            Start::Naive => walk.begin(self.area.uniform(&mut draw)),
            Start::Stationary if draw.uniform() < self.moving_share() => {
                self.begin_on_a_trip(&mut walk, &mut draw)
            }
            Start::Stationary => self.begin_in_a_pause(&mut walk, &mut draw),
        }
        let end = Time::ZERO + duration;
        while walk.now() < end {
            let (to, speed) = (self.area.uniform(&mut draw), self.speed(&mut draw));
            walk.go(to, speed);
            if self.max_pause > Duration::ZERO {
                walk.stay(draw.uniform_duration(self.min_pause, self.max_pause));
            }
        }
        let vertices = walk.vertices;
        debug_assert!(vertices.windows(2).all(|pair| pair[0].time < pair[1].time));
        // It cannot fail: there is a vertex, times rise, and places are finite.
        Trajectory::new(vertices).unwrap_or_else(|_| Trajectory::still(Position::default())).cut(end)
    }

    fn speed(&self, draw: &mut RandomStream) -> f64 {
        draw.uniform_in(self.min_speed, self.max_speed)
    }

    /// The instant 0 falls into a trip with a probability proportional to the trip's time. So the density of
    /// its ends is proportional to their distance, the density of its speed to 1/v, and the node is anywhere
    /// on it.
    fn begin_on_a_trip(&self, walk: &mut Walk, draw: &mut RandomStream) {
        let longest = self.area.diagonal();
        let (from, to) = loop {
            let (from, to) = (self.area.uniform(draw), self.area.uniform(draw));
            // Rejection: a pair of ends is kept with a probability proportional to its distance.
            if draw.uniform() * longest < from.distance(to) {
                break (from, to);
            }
        };
        let share = draw.uniform();
        walk.begin(Position::new(from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share));
        // The inverse of F(v) = ln(v/v0) / ln(v1/v0).
        let speed = self.min_speed * libm::pow(self.max_speed / self.min_speed, draw.uniform());
        walk.go(to, speed);
        if self.max_pause > Duration::ZERO {
            walk.stay(draw.uniform_duration(self.min_pause, self.max_pause));
        }
    }

    /// The instant 0 falls into a pause with a probability proportional to its length, and anywhere in it.
    /// The rest is a uniform share of a pause whose density is proportional to its length (of a uniform law,
    /// by the inverse of its distribution).
    fn begin_in_a_pause(&self, walk: &mut Walk, draw: &mut RandomStream) {
        walk.begin(self.area.uniform(draw));
        let (low, high) = (self.min_pause.as_secs_f64(), self.max_pause.as_secs_f64());
        let pause = libm::sqrt(low * low + draw.uniform() * (high * high - low * low));
        walk.stay(Duration::from_secs_f64(pause * draw.uniform()));
    }
}

/// A trajectory as it grows.
struct Walk {
    vertices: Vec<Vertex>,
}

impl Walk {
    fn begin(&mut self, position: Position) {
        self.vertices.push(Vertex { time: Time::ZERO, position });
    }

    fn last(&self) -> Vertex {
        self.vertices[self.vertices.len() - 1]
    }

    fn now(&self) -> Time {
        self.last().time
    }

    fn go(&mut self, to: Position, speed: f64) {
        let Vertex { time, position } = self.last();
        // At least 1 ns: the times of a trajectory rise.
        let takes = Duration::from_secs_f64(position.distance(to) / speed).max(Duration::from_nanos(1));
        self.vertices.push(Vertex { time: time + takes, position: to });
    }

    fn stay(&mut self, span: Duration) {
        let Vertex { time, position } = self.last();
        if !span.is_zero() {
            self.vertices.push(Vertex { time: time + span, position });
        }
    }
}
