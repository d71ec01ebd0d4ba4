//! After how many failures a MAC gives up.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

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
                // JSON reads positive numbers as unsigned, TOML as signed.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::IntoDeserializer;
    use serde::de::value::Error;

    /// A number from 1 to 1000, signed as in TOML or unsigned as in JSON, or "infinite".
    #[test]
    fn limits_are_numbers_or_infinite() {
        let signed =
            |value: i64| RetryLimit::deserialize(IntoDeserializer::<Error>::into_deserializer(value));
        let unsigned =
            |value: u64| RetryLimit::deserialize(IntoDeserializer::<Error>::into_deserializer(value));
        let text = |value: &str| RetryLimit::deserialize(IntoDeserializer::<Error>::into_deserializer(value));
        for times in [1, 7, 1000] {
            let found = [signed(i64::from(times)), unsigned(u64::from(times))];
            assert_eq!(found, [const { 0 }; 2].map(|_| Ok(RetryLimit::Times(times))));
        }
        assert!([-1, 0, 1001, 1 << 32, i64::MAX].map(signed).iter().all(Result::is_err));
        assert!([0, 1001, u64::MAX].map(unsigned).iter().all(Result::is_err));
        assert_eq!(text("infinite"), Ok(RetryLimit::Infinite));
        let wrong = text("never").unwrap_err().to_string();
        assert!(wrong.ends_with("expected a number of failures from 1 to 1000, or \"infinite\""), "{wrong}");
        assert_eq!((RetryLimit::Times(7).times(), RetryLimit::Infinite.times()), (7, u32::MAX));
    }
}
