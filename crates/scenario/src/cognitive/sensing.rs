//! How a cognitive radio senses and hands off, at the ends of a link and at the nodes of an ad hoc network.

use cogtcp_layout::Reception;
use cogtcp_spectrum::detector::DetectorConfig;
use cogtcp_spectrum::policy::PolicyConfig;
use cogtcp_units::{Duration, Power};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The cycle of a cognitive radio, its detector, its policy.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SensingSettings {
    /// Sensing time t_s. Required without `regulation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensing_time: Option<Duration>,
    /// Transmission time T_p. Required without `regulation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transmission_time: Option<Duration>,
    /// By how much a transmission may last longer than T_p: drawn again for each, uniformly. Where radios
    /// sense apart, sensings by exact timers can fall into step. In an ad hoc network: with independent
    /// sensing only.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub jitter: Duration,
    /// Silence of one switch of channel.
    #[serde(default = "switching_delay")]
    pub switching_delay: Duration,
    /// When the first sensing begins; before it radios transmit.
    #[serde(default)]
    pub start: Duration,
    /// The channel at the start, from 0: (band - 1) x channels_per_band + channel in the band - 1. Without
    /// it: the first that is not reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<u32>,
    /// How it senses. Required without `regulation`, and with its quiet periods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detector: Option<DetectorConfig>,
    /// How loud PUs are to a detector that has an SNR.
    #[serde(default)]
    pub pu_snr: PuSnr,
    /// The next channel, once a PU was reported.
    #[serde(default)]
    pub policy: PolicyConfig,
    /// A PU is heard when at least this power of it arrives (P_th of equation 1).
    #[serde(default = "sensitivity")]
    pub sensitivity: Power,
    /// Which frames are lost.
    #[serde(default)]
    pub reception: Reception,
}

impl SensingSettings {
    /// Returns the detector; where none is given, one that is never asked.
    pub fn detector(&self) -> &DetectorConfig {
        self.detector.as_ref().unwrap_or(&DetectorConfig::Perfect)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(duration: &Duration) -> bool {
    duration.is_zero()
}

fn switching_delay() -> Duration {
    Duration::from_millis(1)
}

fn sensitivity() -> Power {
    cogtcp_spectrum::air::ReceiverModel::default().sensitivity
}

/// How loud PUs are to a detector that has an SNR.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PuSnr {
    /// Every PU that is heard has the SNR of the detector.
    #[default]
    Stated,
    /// A PU has the power that arrives of it over the channel's mean noise during the sensing; the detector's
    /// SNR is what its threshold is set for. A PU that reaches by range, or a channel without noise, leaves
    /// no doubt.
    Received,
}
