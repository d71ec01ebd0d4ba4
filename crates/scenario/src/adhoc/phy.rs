//! The radios of an ad hoc network: power, ranges, propagation.

use cogtcp_units::{Decibel, Frequency, Length, Power};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What radios send and hear. The defaults are ns-2's usual radio.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Phy {
    /// Power of every frame.
    pub power: Power,
    /// What distance does to a signal.
    pub path_loss: PathLossModel,
    /// So far a frame can be received.
    pub range: Length,
    /// So far it makes the medium busy.
    pub carrier_sense_range: Length,
    /// A frame so much weaker than one at the border of carrier sense is nothing: what that leaves out is bounded in docs/adhoc.md.
    pub cutoff: Decibel,
    /// Signal to noise and interference that a frame needs.
    pub capture: Decibel,
    /// Obstacles; without it none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadowing: Option<ShadowingModel>,
    /// Multipath: the power of each frame varies about its mean.
    pub fading: FadingModel,
}

impl Default for Phy {
    fn default() -> Self {
        Self {
            power: Power::from_watts(0.281_838_15),
            path_loss: PathLossModel::default(),
            range: Length(250.0),
            carrier_sense_range: Length(550.0),
            cutoff: Decibel(10.0),
            capture: Decibel(10.0),
            shadowing: None,
            fading: FadingModel::None,
        }
    }
}

/// What distance does to a signal. Nearer than 1 m it grows no further.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PathLoss")]
pub enum PathLossModel {
    /// P / d^a with this a (1 to 10): equation 2 of MSWiM 2009.
    Paper(f64),
    /// Friis at this frequency, antennas of unit gain.
    FreeSpace(Frequency),
    /// Friis up to the crossover distance, P h^4 / d^4 beyond.
    TwoRay(TwoRay),
    /// Friis up to a reference distance, d^-exponent beyond.
    LogDistance(LogDistance),
}

impl Default for PathLossModel {
    fn default() -> Self {
        Self::TwoRay(TwoRay::default())
    }
}

/// Two-ray ground reflection.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TwoRay {
    /// Frequency.
    pub frequency: Frequency,
    /// Height of both antennas above ground.
    pub height: Length,
}

impl Default for TwoRay {
    /// ns-2's.
    fn default() -> Self {
        Self { frequency: Frequency(914e6), height: Length(1.5) }
    }
}

/// Log-distance path loss.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogDistance {
    /// Frequency.
    pub frequency: Frequency,
    /// Path loss exponent: 2 in free space, 2.7 to 5 in towns (1 to 10).
    pub exponent: f64,
    /// Reference distance.
    pub reference: Length,
}

impl Default for LogDistance {
    fn default() -> Self {
        Self { frequency: Frequency(914e6), exponent: 3.0, reference: Length(1.0) }
    }
}

/// Obstacles: a normal variate in decibels on top of the path loss.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Shadowing")]
pub struct ShadowingModel {
    /// Standard deviation (at most 20 dB).
    pub deviation: Decibel,
    /// Drawn once for each pair of nodes, the same both ways; else anew for every frame, as in ns-2.
    #[serde(default = "yes")]
    pub per_pair: bool,
}

fn yes() -> bool {
    true
}

/// Multipath.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Fading")]
pub enum FadingModel {
    /// None.
    #[default]
    None,
    /// No line of sight: the power is exponential.
    Rayleigh,
    /// The power is gamma of shape m.
    Nakagami(Nakagami),
}

/// Nakagami-m fading.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Nakagami {
    /// Shape (0.5 to 100): 1 is Rayleigh's, larger is milder.
    pub m: f64,
}
