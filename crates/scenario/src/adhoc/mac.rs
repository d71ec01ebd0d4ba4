//! The MAC of an ad hoc network.

use crate::RetryLimit;
use cogtcp_units::{Bytes, Duration, Rate};
use cogtcp_wireless::{
    AnswerRate, AnswerTimeout, Capture, CarrierSense, CtsWhen, EifsAfter, Profile, RateControl, Rules,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The DCF of IEEE 802.11 for any number of stations. The defaults are those of 802.11 DSSS.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdHocMac {
    /// Whose rules, where the standard's text, ns-2 and ns-3 differ. It also stands for `header`, `long_retry_limit`, the profile
    /// of AODV and `on_link_failure`, unless they are set.
    pub profile: Profile,
    /// Rate of data; with \[spectrum\] the channels have theirs.
    pub rate: Rate,
    /// Rate of RTS and broadcasts, and of CTS and ACK unless a rule says otherwise; a slower channel slows them too.
    pub basic_rate: Rate,
    /// Slot of the backoff.
    pub slot: Duration,
    /// Short interframe space (SIFS); DIFS is SIFS and two slots.
    pub sifs: Duration,
    /// Smallest contention window, slots.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// Frames above this size, MAC header included, are preceded by RTS and CTS: "0 B" for all.
    pub rts_threshold: Bytes,
    /// Failures of an RTS, or of a frame sent without one, after which the link has failed.
    pub short_retry_limit: RetryLimit,
    /// Failures of a frame sent after an RTS after which the link has failed: 4; ns3: 7.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_retry_limit: Option<RetryLimit>,
    /// Time of preamble and PLCP header before every frame.
    pub preamble: Duration,
    /// MAC header and checksum around every packet: 28 B; ns2: 34 B; ns3: 36 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Bytes>,
    /// Packets that an interface queue holds (1 to 100000), those of routing before those of data.
    pub queue: u32,
    /// From the start of a frame until all who are in reach hear it, the same for all pairs.
    pub delay: Duration,
    /// Rate adaptation; without it data go at the channel's rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_control: Option<RateControl>,
    /// The rates that rate adaptation chooses from, slowest first, and what it takes to receive them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<AdHocRate>,
    /// The rules that differ from those of the profile.
    #[serde(skip_serializing_if = "RuleSettings::is_empty")]
    pub rules: RuleSettings,
}

/// A rate of the PHY.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AdHocRate {
    /// The rate.
    pub rate: Rate,
    /// Signal to noise and interference that it needs.
    pub capture: cogtcp_units::Decibel,
    /// So far it can be received.
    pub range: cogtcp_units::Length,
}

impl Default for AdHocMac {
    fn default() -> Self {
        Self {
            profile: Profile::Standard,
            rate: Rate::from_bits_per_second(2_000_000),
            basic_rate: Rate::from_bits_per_second(1_000_000),
            slot: Duration::from_micros(20),
            sifs: Duration::from_micros(10),
            cw_min: 31,
            cw_max: 1023,
            rts_threshold: Bytes::new(0),
            short_retry_limit: RetryLimit::Times(7),
            long_retry_limit: None,
            preamble: Duration::from_micros(192),
            header: None,
            queue: 50,
            delay: Duration::from_micros(1),
            rate_control: None,
            rates: Vec::new(),
            rules: RuleSettings::default(),
        }
    }
}

macro_rules! rules {
    ($($(#[$about:meta])* $name:ident: $type:ty,)*) => {
        /// Rules that differ from those of the profile.
        #[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
        #[serde(deny_unknown_fields, default)]
        #[schemars(rename = "Rules")]
        pub struct RuleSettings {
            $($(#[$about])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$type>,)*
        }

        impl RuleSettings {
            /// Whether nothing is set.
            pub fn is_empty(&self) -> bool {
                *self == Self::default()
            }

            /// All rules: those of the profile with what is set.
            pub fn over(&self, profile: Profile) -> Rules {
                let base = Rules::of(profile);
                Rules { $($name: self.$name.unwrap_or(base.$name),)* }
            }
        }
    };
}

rules! {
    /// A backoff is drawn from 0..CW with CW in: yes; ns2: no.
    backoff_reaches_cw: bool,
    /// A frame that finds the medium idle waits DIFS and a backoff: no; ns2: yes.
    backoff_before_first: bool,
    /// How a receiver tells frames apart: sinr; ns2: pairwise.
    capture: Capture,
    /// What makes the medium busy: each_frame; ns3: total_power.
    carrier_sense: CarrierSense,
    /// After what a station waits EIFS: failed_reception; ns2: any_sensed.
    eifs_after: EifsAfter,
    /// When an RTS is answered: nav_idle; ns2: medium_idle.
    cts_when: CtsWhen,
    /// Who sent a CTS contends for nothing until the data would have ended: no; ns2: yes.
    cts_reserves_for_itself: bool,
    /// When a missing answer is noticed: start; ns2: end.
    answer_timeout: AnswerTimeout,
    /// Another valid frame in place of the answer ends the wait at once: yes; ns2: no.
    other_frame_fails: bool,
    /// The rate of CTS and ACK: basic.
    answer_rate: AnswerRate,
    /// A NAV set by an RTS is given up when nothing follows: yes; ns2: no.
    nav_reset: bool,
    /// The count of the other kind of failure outlives a packet: no; ns2: yes.
    counts_outlive_packet: bool,
    /// The MAC takes its next packet out of the queue at once: no; ns2, ns3: yes.
    takes_packet_at_once: bool,
}
