//! The radios of an ad hoc network: power, ranges, propagation.

use cogtcp_units::{Decibel, Length, Power};
use cogtcp_wireless::{Errors, Fading, PathLoss, Profile, Shadowing};
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
    /// A frame so much weaker than one at the border of carrier sense is nothing: what that leaves out is
    /// bounded in docs/adhoc.md.
    pub cutoff: Decibel,
    /// Signal to noise and interference that a frame needs, with errors = "dsss" its preamble alone; without
    /// it: 10 dB; under the profile ns3 of \[mac\] 4 dB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<Decibel>,
    /// How frames are lost to noise and to other frames; without it: threshold; under the profile ns3 of
    /// \[mac\] dsss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Errors>,
    /// Obstacles; without it none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadowing: Option<Shadowing>,
    /// Multipath: the power of each frame varies about its mean.
    pub fading: Fading,
}

impl Default for Phy {
    fn default() -> Self {
        Self {
            // 24.5 dBm: `Pt_` of ns-2's wireless PHY.
            power: Power::from_watts(0.281_838_15),
            path_loss: PathLoss::default(),
            range: Length(250.0),
            carrier_sense_range: Length(550.0),
            cutoff: Decibel(10.0),
            capture: None,
            errors: None,
            shadowing: None,
            fading: Fading::None,
        }
    }
}

impl Phy {
    /// Signal to noise and interference that a frame, or its preamble, needs under `profile`: ns-2's
    /// `CPThresh_`, or the threshold of ns-3's `ThresholdPreambleDetectionModel`.
    pub fn capture_under(&self, profile: Profile) -> Decibel {
        self.capture.unwrap_or(Decibel(if profile == Profile::Ns3 { 4.0 } else { 10.0 }))
    }

    /// How frames are lost under `profile`.
    pub fn errors_under(&self, profile: Profile) -> Errors {
        let usual = if profile == Profile::Ns3 { Errors::Dsss } else { Errors::Threshold };
        self.errors.unwrap_or(usual)
    }
}
