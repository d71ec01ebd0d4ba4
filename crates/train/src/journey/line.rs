//! What a map says of a line.

use cogtcp_spectrum::DurationLaw;
use cogtcp_units::{Acceleration, Decibel, Duration, In, Length, Power, Probability, Rate, Seed, Speed};
use schemars::JsonSchema;
use serde::Deserialize;

/// The map of a line: its stations, limits, base stations and tunnels, the train on it and its radio. Places
/// are lengths along the track.
///
/// Numbers are in metres, metres per second, decibels and dBm. A file may describe no line that a train can
/// travel; a check says why.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JourneyMap")]
pub struct Line {
    /// The name, for tables and pictures.
    pub name: String,
    /// What the line is, for people.
    #[serde(default)]
    pub description: String,
    /// How the train moves.
    pub train: TrainDynamics,
    /// The stations, in order; at least two. The journey leads from the first to the last.
    #[serde(rename = "station")]
    pub stations: Vec<Station>,
    /// Where less than the top speed is allowed; the least of those that overlap holds.
    #[serde(rename = "limit", default)]
    pub limits: Vec<SpeedLimit>,
    /// The base stations; at least one.
    #[serde(rename = "base_station")]
    pub base_stations: Vec<BaseStation>,
    /// The tunnels.
    #[serde(rename = "tunnel", default)]
    pub tunnels: Vec<Tunnel>,
    /// Places where the train changes network, whatever the signal.
    #[serde(rename = "border", default)]
    pub borders: Vec<Border>,
    /// How the signal spreads, and the resulting rate of the radio.
    pub signal: Signal,
}

/// How the train moves: it accelerates evenly up to what is allowed and brakes evenly.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MapTrain")]
pub struct TrainDynamics {
    /// Top speed.
    #[serde(with = "In::<Speed>")]
    #[schemars(with = "Speed")]
    pub top_speed: f64,
    /// Acceleration.
    #[serde(with = "In::<Acceleration>")]
    #[schemars(with = "Acceleration")]
    pub acceleration: f64,
    /// Deceleration of a service braking.
    #[serde(with = "In::<Acceleration>")]
    #[schemars(with = "Acceleration")]
    pub braking: f64,
    /// How far below what is allowed a driver stays at most: drawn uniformly from 0 for each section between
    /// two stops of each journey.
    #[serde(with = "In::<Probability>", default)]
    #[schemars(with = "Probability")]
    pub slack: f64,
}

/// A station.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MapStation")]
pub struct Station {
    /// The name.
    pub name: String,
    /// Where it is: at least 100 m beyond the one before.
    #[serde(with = "In::<Length>")]
    #[schemars(with = "Length")]
    pub at: f64,
    /// How long the train stands there; without it the train passes. It always stands at the first and the
    /// last.
    #[serde(default)]
    pub stop: Option<DurationLaw>,
}

/// A stretch with a speed limit.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MapLimit")]
pub struct SpeedLimit {
    /// Where it begins.
    #[serde(with = "In::<Length>")]
    #[schemars(with = "Length")]
    pub from: f64,
    /// Where it ends.
    #[serde(with = "In::<Length>")]
    #[schemars(with = "Length")]
    pub to: f64,
    /// The limit.
    #[serde(with = "In::<Speed>")]
    #[schemars(with = "Speed")]
    pub speed: f64,
}

/// A base station.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MapBaseStation")]
pub struct BaseStation {
    /// The name; no two share one. Its shadowing is tied to it.
    pub name: String,
    /// Where along the line it stands; may lie before its beginning or beyond its end.
    #[serde(with = "In::<Length>")]
    #[schemars(with = "Length")]
    pub at: f64,
    /// How far from the track.
    #[serde(with = "In::<Length>", default = "zero")]
    #[schemars(with = "Length")]
    pub offset: f64,
    /// What it radiates, antenna gains of both ends included.
    #[serde(with = "In::<Power>")]
    #[schemars(with = "Power")]
    pub power: f64,
}

/// A tunnel.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MapTunnel")]
pub struct Tunnel {
    /// The name.
    #[serde(default)]
    pub name: String,
    /// Where it begins.
    #[serde(with = "In::<Length>")]
    #[schemars(with = "Length")]
    pub from: f64,
    /// Where it ends.
    #[serde(with = "In::<Length>")]
    #[schemars(with = "Length")]
    pub to: f64,
    /// By how much it weakens the signal of every base station (0 to 300 dB).
    #[serde(with = "In::<Decibel>", default = "tunnel_loss")]
    #[schemars(with = "Decibel")]
    pub loss: f64,
    /// Length inside each portal over which the loss grows to its full value.
    #[serde(with = "In::<Length>", default = "portal")]
    #[schemars(with = "Length")]
    pub portal: f64,
}

/// A place where the train changes network, whatever the signal.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MapBorder")]
pub struct Border {
    /// Where it is.
    #[serde(with = "In::<Length>")]
    #[schemars(with = "Length")]
    pub at: f64,
    /// How long the link is gone.
    pub outage: DurationLaw,
}

/// Propagation and radio. The level of a base station is its power less path_loss + 10 exponent
/// log10(distance / 1 km), less tunnels and shadowing. Shadowing is log-normal, one process for each base
/// station: in decibels a Gaussian process along the line with autocorrelation exp(-distance / correlation)
/// (Gudmundson, Electronics Letters 27(23), 1991).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MapSignal")]
pub struct Signal {
    /// Path loss at 1 km (0 to 300 dB).
    #[serde(with = "In::<Decibel>")]
    #[schemars(with = "Decibel")]
    pub path_loss: f64,
    /// Path-loss exponent (1 to 10): 2 in free space, 3 to 4 over ground.
    pub exponent: f64,
    /// Standard deviation of the shadowing (0 to 30 dB).
    #[serde(with = "In::<Decibel>", default = "zero")]
    #[schemars(with = "Decibel")]
    pub shadowing: f64,
    /// Distance over which the autocorrelation of the shadowing falls to 1/e (1 m to 100 km).
    #[serde(with = "In::<Length>", default = "correlation")]
    #[schemars(with = "Length")]
    pub correlation: f64,
    /// Share of the shadowing's variance that belongs to the terrain and is the same on every journey.
    #[serde(default = "terrain")]
    pub terrain: Probability,
    /// Seed of that share: another seed, another landscape.
    #[serde(default)]
    pub terrain_seed: Seed,
    /// Level below which there is no link.
    #[serde(with = "In::<Power>")]
    #[schemars(with = "Power")]
    pub threshold: f64,
    /// By how much the level has to exceed the threshold before a lost link is taken up again.
    #[serde(with = "In::<Decibel>", default = "zero")]
    #[schemars(with = "Decibel")]
    pub recovery: f64,
    /// By how much another base station has to be louder than the serving one for a handoff.
    #[serde(with = "In::<Decibel>", default = "handover_margin")]
    #[schemars(with = "Decibel")]
    pub handover_margin: f64,
    /// How long a handoff interrupts the link.
    pub handover: DurationLaw,
    /// How often the radio measures, and decides.
    #[serde(default = "interval")]
    pub interval: Duration,
    /// Rates by level, from the lowest up; without them the rate is always the link's own. Below the lowest,
    /// but above the threshold, the lowest holds.
    #[serde(default)]
    pub rates: Vec<RateStep>,
}

/// A rate and the level from which it is had.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RateAbove")]
pub struct RateStep {
    /// Least level.
    #[serde(with = "In::<Power>")]
    #[schemars(with = "Power")]
    pub above: f64,
    /// The rate.
    pub rate: Rate,
}

fn zero() -> f64 {
    0.0
}

fn tunnel_loss() -> f64 {
    60.0
}

fn portal() -> f64 {
    50.0
}

fn correlation() -> f64 {
    100.0
}

fn terrain() -> Probability {
    Probability::new(0.8).unwrap_or_default()
}

fn handover_margin() -> f64 {
    4.0
}

fn interval() -> Duration {
    Duration::from_millis(100)
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
