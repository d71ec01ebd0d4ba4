//! The DCF's constants.

use crate::{Profile, RetryLimit};
use cogtcp_units::{Bytes, Check, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest contention window.
const LARGEST_WINDOW: u32 = 1_000_000;
/// The longest time of slot, SIFS and preamble.
const LONGEST_GAP: Duration = Duration::from_secs(1);
/// The most bytes of a MAC header.
const LARGEST_HEADER: u64 = 10_000;

/// Medium access by CSMA/CA: the distributed coordination function (DCF) of IEEE 802.11. Defaults are from
/// 802.11 DSSS (802.11-2007, clause 15) at 1 Mbit/s, with RTS before every frame as in ns-2.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Mac")]
pub struct Dcf {
    /// Slot of the backoff.
    pub slot: Duration,
    /// Short interframe space (SIFS); DIFS is SIFS and two slots.
    pub sifs: Duration,
    /// Smallest contention window: the backoff is uniform in 0 to `cw_min` slots.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// Frames above this size, MAC header included, are preceded by RTS and CTS: "0 B" for all.
    pub rts_threshold: Bytes,
    /// Failures of an RTS, or of a frame sent without one, after which the packet is given up: in an ad hoc
    /// network the link has failed.
    pub short_retry_limit: RetryLimit,
    /// Failures of a frame sent after an RTS after which the packet is given up; without it: 4; in an ad hoc
    /// network under the profile ns3 7.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_retry_limit: Option<RetryLimit>,
    /// Rate of RTS and broadcasts, and of CTS and ACK unless a rule says otherwise; a slower channel slows
    /// them too. Data go at the channel's rate.
    pub basic_rate: Rate,
    /// Time of preamble and PLCP header before every frame.
    pub preamble: Duration,
    /// MAC header and checksum around every packet; without it: 28 B; in an ad hoc network under the profile
    /// ns2 34 B, under ns3 36 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Bytes>,
}

impl Default for Dcf {
    fn default() -> Self {
        Self {
            slot: Duration::from_micros(20),
            sifs: Duration::from_micros(10),
            cw_min: 31,
            cw_max: 1023,
            rts_threshold: Bytes::new(0),
            short_retry_limit: RetryLimit::Times(7),
            long_retry_limit: None,
            basic_rate: Rate::from_bits_per_second(1_000_000),
            // 144 us of preamble and 48 us of PLCP header, at 1 Mbit/s (15.2).
            preamble: Duration::from_micros(192),
            header: None,
        }
    }
}

impl Dcf {
    /// The threshold that no frame is above: none is preceded by RTS and CTS.
    pub const NO_RTS: Bytes = Bytes::new(u64::MAX);

    /// These rules, with unset values as `profile` has them. Headers: 24 + 4 bytes; ns-2 always has the fourth
    /// address (and no LLC); ns-3 adds 8 of LLC and SNAP. Limits: ns-3 has 7 for either count.
    #[must_use]
    pub fn under(self, profile: Profile) -> Self {
        let (header, long) = match profile {
            Profile::Standard => (28, 4),
            Profile::Ns2 => (34, 4),
            Profile::Ns3 => (36, 7),
        };
        Self {
            header: self.header.or(Some(Bytes::new(header))),
            long_retry_limit: self.long_retry_limit.or(Some(RetryLimit::Times(long))),
            ..self
        }
    }

    /// MAC header and checksum, bytes.
    pub fn header_bytes(&self) -> u64 {
        // Not completed by a profile: the standard's.
        self.header.map_or(28, Bytes::get)
    }

    /// Failures of a frame sent after an RTS after which the packet is given up; the largest number for an
    /// infinite limit.
    pub fn long_retries(&self) -> u32 {
        // Not completed by a profile: the standard's.
        self.long_retry_limit.map_or(4, RetryLimit::times)
    }

    /// Reports wrong settings to `check`.
    pub fn check(&self, check: &mut impl Check) {
        check.span("slot", self.slot, false, LONGEST_GAP);
        check.span("sifs", self.sifs, false, LONGEST_GAP);
        check.span("preamble", self.preamble, true, LONGEST_GAP);
        check.rate("basic_rate", self.basic_rate);
        if self.cw_max > LARGEST_WINDOW || self.cw_max == 0 {
            let message = format!("a contention window of {} slots is out of range", self.cw_max);
            check.error("cw_max", message, format!("write 1 to {LARGEST_WINDOW}"));
        } else if self.cw_min > self.cw_max {
            let message = format!("cw_min ({}) is above cw_max ({})", self.cw_min, self.cw_max);
            check.error("cw_min", message, format!("write at most {}", self.cw_max));
        }
        if let Some(header) = self.header.filter(|header| header.get() > LARGEST_HEADER) {
            let message = format!("a MAC header of \"{header}\" is too long");
            check.error("header", message, "802.11 has \"28 B\"".to_owned());
        }
    }
}
