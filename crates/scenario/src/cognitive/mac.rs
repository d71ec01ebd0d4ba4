//! The MAC of CR users.

use cogtcp_units::{Bytes, Duration, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Medium access by CSMA/CA: the distributed coordination function (DCF) of IEEE 802.11. The defaults are those of ns-2 for
/// 802.11b.
#[derive(Clone, Debug, serde::Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mac {
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
    /// Failures of an RTS, or of a frame sent without one, after which the packet is dropped.
    pub short_retry_limit: RetryLimit,
    /// Failures of a frame sent after an RTS after which the packet is dropped.
    pub long_retry_limit: RetryLimit,
    /// Rate of RTS, CTS and ACK; a slower channel slows them too. Data go at the channel's rate.
    pub basic_rate: Rate,
    /// Time of preamble and PLCP header before every frame.
    pub preamble: Duration,
    /// MAC header and checksum around every packet.
    pub header: Bytes,
}

impl Default for Mac {
    fn default() -> Self {
        Self {
            slot: Duration::from_micros(20),
            sifs: Duration::from_micros(10),
            cw_min: 31,
            cw_max: 1023,
            rts_threshold: Bytes::new(0),
            short_retry_limit: RetryLimit::Times(7),
            long_retry_limit: RetryLimit::Times(4),
            basic_rate: Rate::from_bits_per_second(1_000_000),
            preamble: Duration::from_micros(192),
            header: Bytes::new(28),
        }
    }
}

/// After how many failures a packet is dropped. Written as a number from 1, or `"infinite"`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RetryLimit {
    /// After so many.
    Times(u32),
    /// Never.
    Infinite,
}

impl RetryLimit {
    /// The number; the largest for an infinite one.
    pub fn times(self) -> u32 {
        match self {
            Self::Times(times) => times,
            Self::Infinite => u32::MAX,
        }
    }
}

impl Serialize for RetryLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Times(times) => serializer.serialize_u32(*times),
            Self::Infinite => serializer.serialize_str("infinite"),
        }
    }
}

impl<'de> Deserialize<'de> for RetryLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Limit;
        impl Visitor<'_> for Limit {
            type Value = RetryLimit;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of failures from 1 to 1000, or \"infinite\"")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<RetryLimit, E> {
                let times = u32::try_from(value).ok().filter(|times| (1..=1000).contains(times));
                times.map(RetryLimit::Times).ok_or_else(|| E::invalid_value(Unexpected::Signed(value), &self))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<RetryLimit, E> {
                self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<RetryLimit, E> {
                match text {
                    "infinite" => Ok(RetryLimit::Infinite),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Limit)
    }
}

impl JsonSchema for RetryLimit {
    fn schema_name() -> Cow<'static, str> {
        "RetryLimit".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "a number of failures from 1 to 1000, or \"infinite\"",
            "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 1000 }, { "type": "string", "const": "infinite" }],
        })
    }
}
