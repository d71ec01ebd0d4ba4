//! A train's journey: the map file of its line, and the section of a radio that names it.

use crate::ScenarioError;
use crate::source::Source;
use crate::tree::{self, Node};
use crate::values::Seed;
use cogtcp_spectrum::DurationLaw;
use cogtcp_units::{Acceleration, Decibel, Duration, Length, Power, Probability, Rate, Speed};
use schemars::JsonSchema;
use serde::Deserialize;

/// A train's journey over the line of a map file.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Journey {
    /// The map file; relative to the scenario file.
    pub map: String,
    /// When the train leaves its first station.
    #[serde(default)]
    pub start: Duration,
    /// The rate of the links.
    #[serde(default)]
    pub rate: JourneyRate,
}

/// The rate of a journey's links.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JourneyRate {
    /// By the level, as the map says; without rates in the map: their own.
    #[default]
    ByLevel,
    /// Their own, whatever the map says.
    Own,
}

/// The map of a line: its stations, limits, base stations and tunnels, the train on it and its radio. Places are lengths
/// along the track.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JourneyMap {
    /// The name, for tables and pictures.
    pub name: String,
    /// What the line is, for people.
    #[serde(default)]
    pub description: String,
    /// How the train moves.
    pub train: MapTrain,
    /// The stations, in order; at least two. The journey leads from the first to the last.
    pub station: Vec<MapStation>,
    /// Where less than the top speed is allowed; the least of those that overlap holds.
    #[serde(default)]
    pub limit: Vec<MapLimit>,
    /// The base stations; at least one.
    pub base_station: Vec<MapBaseStation>,
    /// The tunnels.
    #[serde(default)]
    pub tunnel: Vec<MapTunnel>,
    /// Places where the train changes network, whatever the signal.
    #[serde(default)]
    pub border: Vec<MapBorder>,
    /// How the signal spreads, and what the radio makes of it.
    pub signal: MapSignal,
    /// Where it came from: for errors.
    #[serde(skip)]
    pub(crate) source: Source,
}

/// How the train moves: it accelerates evenly up to what is allowed and brakes evenly.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapTrain {
    /// Top speed.
    pub top_speed: Speed,
    /// Acceleration.
    pub acceleration: Acceleration,
    /// Deceleration.
    pub braking: Acceleration,
    /// How far below what is allowed a driver stays at most: drawn uniformly from 0 for each section between two stops.
    #[serde(default)]
    pub slack: Probability,
}

/// A station.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapStation {
    /// The name.
    pub name: String,
    /// Where it is: at least 100 m beyond the one before.
    pub at: Length,
    /// How long the train stands there; without it the train passes. It always stands at the first and the last.
    #[serde(default)]
    pub stop: Option<DurationLaw>,
}

/// A stretch with a speed limit.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapLimit {
    /// Where it begins.
    pub from: Length,
    /// Where it ends.
    pub to: Length,
    /// The limit.
    pub speed: Speed,
}

/// A base station.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapBaseStation {
    /// The name; no two share one. Its shadowing is tied to it.
    pub name: String,
    /// Where along the line it stands; may lie before its beginning or beyond its end.
    pub at: Length,
    /// How far from the track.
    #[serde(default)]
    pub offset: Length,
    /// What it radiates, antenna gains of both ends included.
    pub power: Power,
}

/// A tunnel.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapTunnel {
    /// The name.
    #[serde(default)]
    pub name: String,
    /// Where it begins.
    pub from: Length,
    /// Where it ends.
    pub to: Length,
    /// By how much it weakens the signal of every base station (0 to 300 dB).
    #[serde(default = "tunnel_loss")]
    pub loss: Decibel,
    /// Length inside each portal over which the loss grows to its full value.
    #[serde(default = "portal")]
    pub portal: Length,
}

/// A place where the train changes network, whatever the signal.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapBorder {
    /// Where it is.
    pub at: Length,
    /// How long the link is gone.
    pub outage: DurationLaw,
}

/// How the signal spreads, and what the radio makes of it. The level of a base station is its power less
/// path_loss + 10 exponent log10(distance / 1 km), less tunnels, and shadowing: log-normal, with autocorrelation
/// exp(-distance / correlation) along the line.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapSignal {
    /// Path loss at 1 km (0 to 300 dB).
    pub path_loss: Decibel,
    /// Path-loss exponent (1 to 10): 2 in free space, 3 to 4 over ground.
    pub exponent: f64,
    /// Standard deviation of the shadowing (0 to 30 dB).
    #[serde(default = "none")]
    pub shadowing: Decibel,
    /// Distance over which the autocorrelation of the shadowing falls to 1/e (1 m to 100 km).
    #[serde(default = "correlation")]
    pub correlation: Length,
    /// Share of the shadowing's variance that belongs to the terrain and is the same on every journey.
    #[serde(default = "terrain")]
    pub terrain: Probability,
    /// Seed of that share: another seed, another landscape.
    #[serde(default)]
    pub terrain_seed: Seed,
    /// Level below which there is no link.
    pub threshold: Power,
    /// By how much the level has to exceed the threshold before a lost link is taken up again.
    #[serde(default = "none")]
    pub recovery: Decibel,
    /// By how much another base station has to be louder than the serving one for a handover.
    #[serde(default = "handover_margin")]
    pub handover_margin: Decibel,
    /// How long a handover interrupts the link.
    pub handover: DurationLaw,
    /// How often the radio measures, and decides.
    #[serde(default = "interval")]
    pub interval: Duration,
    /// Rates by level, from the lowest up; without them the rate is always the link's own. Below the lowest, but above the
    /// threshold, the lowest holds.
    #[serde(default)]
    pub rates: Vec<RateAbove>,
}

/// A rate and the level from which it is had.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateAbove {
    /// Least level.
    pub above: Power,
    /// The rate.
    pub rate: Rate,
}

fn tunnel_loss() -> Decibel {
    Decibel(60.0)
}

fn portal() -> Length {
    Length(50.0)
}

fn none() -> Decibel {
    Decibel(0.0)
}

fn correlation() -> Length {
    Length(100.0)
}

fn terrain() -> Probability {
    Probability::new(0.8).unwrap_or_default()
}

fn handover_margin() -> Decibel {
    Decibel(4.0)
}

fn interval() -> Duration {
    Duration::from_millis(100)
}

impl JourneyMap {
    /// Reads a TOML text. `source_name` is what errors call it: the file's path.
    pub fn parse(text: &str, source_name: &str) -> Result<Self, ScenarioError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let source = Source { file: source_name.into(), text: Some(text.into()), changed: Vec::new() };
        let root = Node::from_toml(text).map_err(|errors| crate::read::syntax_error(&source, errors))?;
        let mut map: Self = tree::deserialize(&root).map_err(|fault| {
            source.error_at(&fault.path(), fault.span.clone(), fault.message, fault.remedy)
        })?;
        map.source = source;
        Ok(map)
    }

    /// The JSON Schema of map files, for editors.
    pub fn json_schema() -> serde_json::Value {
        let mut schema = schemars::schema_for!(Self).to_value();
        crate::read::plain_descriptions(&mut schema);
        schema
    }
}
