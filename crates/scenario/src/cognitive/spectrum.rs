//! The spectrum: channels, and the primary users on them.

use super::Coordinates;
use crate::Flat;
use cogtcp_spectrum::activity::{Reach, SpanLaw, StartState};
use cogtcp_spectrum::logs::occupancy::Reading;
use cogtcp_units::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The spectrum that CR users share with primary users (PUs).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spectrum {
    /// How many primary bands, B (1 to 1000). With channels from a file: the file's number.
    #[serde(default = "bands")]
    pub bands: u32,
    /// How many CR channels in each band, n (1 to 1000).
    #[serde(default = "one")]
    pub channels_per_band: u32,
    /// The channels.
    pub channels: Channels,
    /// The primary users.
    #[serde(default)]
    pub pu: Users,
    /// Attenuation factor a of equation 2: 2 in free space (1 to 10).
    #[serde(default = "attenuation")]
    pub attenuation: f64,
    /// Whether a PU leaks over the border of its band.
    #[serde(default)]
    pub leaks_across_bands: bool,
}

/// Five bands: Table 1 of the paper.
fn bands() -> u32 {
    5
}

fn one() -> u32 {
    1
}

fn attenuation() -> f64 {
    2.0
}

/// The channels: alike, by equation 5, listed, or from a file. Paths are relative to the scenario file.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Channels {
    /// All have this rate.
    Uniform(Rate),
    /// Rates alternate between two values: equation 5 of the paper.
    Alternating(AlternatingChannels),
    /// The rate of each channel, band by band.
    List(Vec<Rate>),
    /// A CH-log file (section 4.2 of the paper).
    ChLog(String),
    /// A channel file of the released ns-2 code.
    Released(String),
}

/// Rates that alternate: rate (1 + m/2), rate (1 - m/2), and so on.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AlternatingChannels {
    /// The mean rate, gamma.
    pub rate: Rate,
    /// The channel bandwidth differentiation factor M (0 to below 2).
    pub m: f64,
}

/// Who the primary users are, and when they are ON. Paths are relative to the scenario file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Users {
    /// There are none.
    #[default]
    None,
    /// PUs with exponential ON and OFF times, one per band unless said otherwise: the model of the paper.
    Exponential(Exponential),
    /// PUs with ON and OFF times of any law, one per band unless said otherwise.
    Laws(LawsOfUsers),
    /// A PU-log file (section 4.1 of the paper).
    PuLog(String),
    /// A map file of the released ns-2 code.
    Map(String),
    /// A CSV file of measured occupancy, 1 or 0: time,band,busy, or time and a column for each band.
    Occupancy(String),
    /// A CSV file of measured occupancy, 1 or 0 or powers in dBm, and how it is read.
    Measured(MeasuredUsers),
    /// One PU per band, drawn by a two-state model of what was measured there.
    Trace(TraceOfUsers),
}

/// How many PUs there are, where they are, and how they begin.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Crowd {
    /// State at time zero.
    pub start: StartState,
    /// How many PUs; without it: one per band. PU i is on band i, and beyond the last band they begin with
    /// the first again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Where the PUs are.
    pub position: Coordinates,
    /// Where each of them is, in place of `position`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<Coordinates>,
    /// Whether the place of each is drawn uniformly over \[area\], from the seed, in place of `position`.
    pub scattered: bool,
    /// How far they reach.
    pub reach: Reach,
}

impl Crowd {
    /// True if each PU has a place of its own, given or drawn.
    pub(crate) fn has_places(&self) -> bool {
        self.scattered || !self.positions.is_empty()
    }
}

/// PUs with exponential ON and OFF times.
pub type Exponential = Flat<Crowd, ExponentialLaw>;

/// PUs with exponential ON and OFF times.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Exponential")]
pub struct ExponentialLaw {
    /// Death rate, 1/s: the mean ON time is 1/alpha.
    pub alpha: f64,
    /// Birth rate, 1/s: the mean OFF time is 1/beta.
    pub beta: f64,
}

/// PUs with ON and OFF times of any law.
pub type LawsOfUsers = Flat<Crowd, OnOffLaws>;

/// PUs with ON and OFF times of any law.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LawsOfUsers")]
pub struct OnOffLaws {
    /// Law of the ON times.
    pub on: SpanLaw,
    /// Law of the OFF times.
    pub off: SpanLaw,
}

/// One PU per band, ON while the band was measured to be busy.
pub type MeasuredUsers = Flat<Reading, MeasuredFile>;

/// One PU per band, ON while the band was measured to be busy.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MeasuredUsers")]
pub struct MeasuredFile {
    /// A CSV file: time,band,busy, or time,band,dbm, or time and a column for each band. Its k-th band number
    /// is band k.
    pub file: String,
}

/// One PU per band, drawn by a two-state model of what was measured there: other seeds, and longer runs, than
/// the measurement.
pub type TraceOfUsers = Flat<Reading, ModelOfUsers>;

/// One PU per band, drawn by a two-state model of what was measured there: other seeds, and longer runs, than
/// the measurement.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TraceOfUsers")]
pub struct ModelOfUsers {
    /// A CSV file: time,band,busy, or time,band,dbm, or time and a column for each band. Its k-th band number
    /// is band k.
    pub file: String,
    /// Which ON and OFF times are drawn.
    #[serde(default)]
    pub model: TraceModel,
    /// Where the PUs are.
    #[serde(default)]
    pub position: Coordinates,
    /// How far they reach.
    #[serde(default)]
    pub reach: Reach,
}

/// A two-state model of a measurement.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceModel {
    /// ON and OFF times are drawn from the whole ones that were measured.
    #[default]
    Empirical,
    /// A Markov model: exponential ON and OFF times of the measured means.
    Markov,
}
