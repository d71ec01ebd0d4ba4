//! Seeds of random streams.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The seed of every random stream of a run: 0 to 2^63 - 1, the range of a TOML integer.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Seed(u64);

impl Seed {
    /// The largest seed.
    pub const MAX: u64 = i64::MAX as u64;

    /// The seed `value`, unless it is above [`Self::MAX`].
    pub const fn new(value: u64) -> Option<Self> {
        if value <= Self::MAX { Some(Self(value)) } else { None }
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Default for Seed {
    fn default() -> Self {
        Self(1)
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Seed;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from 0 to {}", Seed::MAX)
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Seed, E> {
                u64::try_from(value).map(Seed).map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Seed, E> {
                Seed::new(value).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))
            }
        }
        deserializer.deserialize_any(Number)
    }
}

impl JsonSchema for Seed {
    fn schema_name() -> Cow<'static, str> {
        "Seed".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "integer", "description": "a whole number from 0 to 2^63 - 1", "minimum": 0, "maximum": Self::MAX,
        })
    }
}
