//! The radios of an ad hoc network: power, ranges, propagation.

use cogtcp_units::{Decibel, Length, Power};
use cogtcp_wireless::{Fading, PathLoss, Shadowing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What radios send and hear. The defaults are ns-2's usual radio.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Phy {
    /// Power of every frame.
    pub power: Power,
    /// What distance does to a signal.
    pub path_loss: PathLoss,
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
    pub shadowing: Option<Shadowing>,
    /// Multipath: the power of each frame varies about its mean.
    pub fading: Fading,
}

impl Default for Phy {
    fn default() -> Self {
        Self {
            power: Power::from_watts(0.281_838_15),
            path_loss: PathLoss::default(),
            range: Length(250.0),
            carrier_sense_range: Length(550.0),
            cutoff: Decibel(10.0),
            capture: Decibel(10.0),
            shadowing: None,
            fading: Fading::None,
        }
    }
}
