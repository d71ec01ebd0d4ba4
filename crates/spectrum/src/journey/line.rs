//! What a map says of a line.

use crate::DurationLaw;
use cogtcp_units::{Duration, Probability, Rate};

/// A line and the train on it. Positions are metres along the track, from its beginning.
///
/// Whoever makes one sees to it that stations come in order, at least 100 m apart and at least two; that speeds,
/// accelerations, `signal.shadowing.correlation` and `signal.interval` are above zero; and that ranges do not begin after
/// their end. The reader of map files does.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// The train.
    pub train: TrainDynamics,
    /// The stations, in order; the journey leads from the first to the last.
    pub stations: Vec<Station>,
    /// Where less than the top speed is allowed; the least of those that overlap holds.
    pub limits: Vec<SpeedLimit>,
    /// The base stations.
    pub base_stations: Vec<BaseStation>,
    /// The tunnels.
    pub tunnels: Vec<Tunnel>,
    /// Places where the network changes, whatever the signal.
    pub borders: Vec<Border>,
    /// How the signal spreads, and what the radio makes of it.
    pub signal: Signal,
}

/// How the train moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainDynamics {
    /// Top speed, m/s.
    pub top_speed: f64,
    /// Acceleration, m/s^2.
    pub acceleration: f64,
    /// Deceleration of a service braking, m/s^2.
    pub braking: f64,
    /// How far below the limits a driver stays at most, as a share of them: drawn uniformly for each section between two
    /// stops of each journey.
    pub slack: f64,
}

/// A station.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// Its name.
    pub name: String,
    /// Where it is, m.
    pub at: f64,
    /// How long the train stands there; `None`: it passes. At the first and the last station it always stands.
    pub stop: Option<DurationLaw>,
}

/// A stretch with a speed limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedLimit {
    /// Where it begins, m.
    pub from: f64,
    /// Where it ends, m.
    pub to: f64,
    /// The limit, m/s.
    pub speed: f64,
}

/// A base station.
#[derive(Clone, Debug, PartialEq)]
pub struct BaseStation {
    /// Its name.
    pub name: String,
    /// Where along the line it stands, m.
    pub at: f64,
    /// How far from the track, m.
    pub offset: f64,
    /// What it radiates, antenna gains of both ends included, dBm.
    pub power: f64,
}

/// A tunnel.
#[derive(Clone, Debug, PartialEq)]
pub struct Tunnel {
    /// Its name.
    pub name: String,
    /// Where it begins, m.
    pub from: f64,
    /// Where it ends, m.
    pub to: f64,
    /// By how much it weakens the signal of every base station, dB.
    pub loss: f64,
    /// Length inside each portal over which the loss grows to its full value, m.
    pub portal: f64,
}

/// A place where the network changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Border {
    /// Where it is, m.
    pub at: f64,
    /// How long the link is gone.
    pub outage: DurationLaw,
}

/// How the signal spreads, and what the radio makes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Path loss at 1 km, dB.
    pub loss_at_1km: f64,
    /// Path-loss exponent.
    pub exponent: f64,
    /// Shadowing.
    pub shadowing: Shadowing,
    /// Level below which there is no link, dBm.
    pub threshold: f64,
    /// By how much the level has to exceed the threshold before a lost link is taken up again, dB.
    pub recovery: f64,
    /// By how much another base station has to be louder than the serving one for a handover, dB.
    pub handover_margin: f64,
    /// How long a handover interrupts the link.
    pub handover: DurationLaw,
    /// How often the radio measures, and decides.
    pub interval: Duration,
    /// The rate by level, from the lowest level up; empty: always the link's own.
    pub rates: Vec<RateStep>,
}

/// Log-normal shadowing: in decibels a Gaussian process along the line with autocorrelation exp(-|dx|/d) (Gudmundson,
/// Electronics Letters 27(23), 1991), one for each base station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadowing {
    /// Standard deviation, dB.
    pub deviation: f64,
    /// The distance d, m.
    pub correlation: f64,
    /// Share of the variance that belongs to the line and is the same on every journey.
    pub terrain: Probability,
    /// Seed of that share.
    pub terrain_seed: u64,
}

/// A rate and the level from which it is had.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateStep {
    /// Least level, dBm.
    pub above: f64,
    /// The rate.
    pub rate: Rate,
}

impl Line {
    /// Where the journey begins, m.
    pub fn start(&self) -> f64 {
        self.stations.first().map_or(0.0, |station| station.at)
    }

    /// Where it ends, m.
    pub fn end(&self) -> f64 {
        self.stations.last().map_or(0.0, |station| station.at)
    }
}

impl Tunnel {
    /// By how much it weakens the signal at `position`, dB.
    pub fn loss_at(&self, position: f64) -> f64 {
        let inside = (position - self.from).min(self.to - position);
        if inside < 0.0 {
            0.0
        } else if inside < self.portal {
            self.loss * inside / self.portal
        } else {
            self.loss
        }
    }
}
