//! The MAC of an ad hoc network.

use crate::Flat;
use cogtcp_adhoc::ArpSettings;
use cogtcp_units::{Decibel, Duration, Length, Rate};
use cogtcp_wireless::{Dcf, Profile, RateControl, RuleSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The DCF of IEEE 802.11 for any number of stations.
pub type AdHocMac = Flat<Dcf, MacOfMany>;

/// The DCF of IEEE 802.11 for any number of stations. Defaults are from 802.11 DSSS.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "AdHocMac")]
pub struct MacOfMany {
    /// Rules of the MAC: the standard's text, ns-2's or ns-3's. The profile also sets `header`,
    /// `long_retry_limit`, `queue`, `arp`, the profile of AODV, `on_link_failure` and `release_interval`. It
    /// sets `initial_rto` of TCP to 3 s under ns2 and ns3, except for transports that are a simulator's or
    /// system's. Explicit settings win.
    pub profile: Profile,
    /// Rate of data; with \[spectrum\] the channels have theirs.
    pub rate: Rate,
    /// Packets that an interface queue holds (1 to 100000), routing packets before data: 50; ns2: 49, as
    /// `ifqLen_` 50 rejects the fiftieth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<u32>,
    /// From the start of a frame until all who are in reach hear it, the same for all pairs.
    pub delay: Duration,
    /// Rate adaptation; without it data go at the channel's rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_control: Option<RateControl>,
    /// The rates that rate adaptation chooses from, slowest first, and what it takes to receive them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<AdHocRate>,
    /// Rules that override the profile's.
    #[serde(skip_serializing_if = "RuleSettings::is_empty")]
    pub rules: RuleSettings,
    /// How the addresses of neighbours are found.
    #[serde(skip_serializing_if = "ArpSettings::is_empty")]
    pub arp: ArpSettings,
}

/// A rate of the PHY.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AdHocRate {
    /// The rate.
    pub rate: Rate,
    /// Signal to noise and interference that it needs.
    pub capture: Decibel,
    /// So far it can be received.
    pub range: Length,
}

impl Default for MacOfMany {
    fn default() -> Self {
        Self {
            profile: Profile::Standard,
            rate: Rate::from_bits_per_second(2_000_000),
            queue: None,
            delay: Duration::from_micros(1),
            rate_control: None,
            rates: Vec::new(),
            rules: RuleSettings::default(),
            arp: ArpSettings::default(),
        }
    }
}
