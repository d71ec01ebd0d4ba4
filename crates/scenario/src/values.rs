//! Values that only scenarios write: counts of segments, laws of durations, seeds.

use cogtcp_spectrum::DurationLaw;
use cogtcp_units::{Bytes, Duration};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Unexpected, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The most segments that a window may be.
pub(crate) const MOST_COUNT: u32 = 1_000_000_000;

/// A window counted in full-sized segments. Written `"10 segments"`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Segments(pub u32);

/// A window in segments or in bytes. Written `"20 segments"` or `"64 KiB"`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Window {
    /// So many full-sized segments.
    Segments(Segments),
    /// So many bytes.
    Bytes(Bytes),
}

/// The window after the handshake. Written `"rfc6928"` or `"2 segments"`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum InitialWindow {
    /// min(10 MSS, max(2 MSS, 14600 B)): RFC 6928.
    Rfc6928,
    /// So many full-sized segments.
    Segments(Segments),
}

/// Whether the receiver delays its acknowledgements. Written `"off"`, or the longest delay: `"200 ms"`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DelayedAck {
    /// Every segment is acknowledged at once.
    Off,
    /// Every second segment is acknowledged at once, a single one after this long.
    Timeout(Duration),
    /// As long as segments keep coming (TCP-ADA).
    Adaptive,
}

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

/// A duration that is fixed (`"100 ms"`), exponential with a mean (`{ exponential = "5 s" }`), or uniform between
/// two bounds (`{ uniform = ["1 s", "2 s"] }`). Random ones are drawn anew each time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law(pub DurationLaw);

/// Splits `text` at the end of its leading digits: the count and its unit.
fn count_and_unit(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let count = text[..end].parse().ok()?;
    Some((count, text[end..].trim()))
}

impl FromStr for Segments {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match count_and_unit(text) {
            Some((count, "segments" | "segment")) => match u32::try_from(count) {
                Ok(count) if (1..=MOST_COUNT).contains(&count) => Ok(Self(count)),
                _ => Err(format!(
                    "\"{text}\" is out of range; write \"1 segment\" to \"{MOST_COUNT} segments\""
                )),
            },
            _ => Err(format!(
                "\"{text}\" is not a number of segments; write a whole number and the unit, for example \"10 segments\""
            )),
        }
    }
}

impl fmt::Display for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} segment{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

impl FromStr for Window {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if count_and_unit(text).is_some_and(|(_, unit)| unit.starts_with("seg")) {
            return text.parse().map(Self::Segments);
        }
        text.parse().map(Self::Bytes).map_err(|_| {
            format!("\"{text}\" is not a window; write segments or bytes, for example \"20 segments\" or \"64 KiB\"")
        })
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Segments(segments) => segments.fmt(f),
            Self::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

impl Window {
    /// Bytes, for segments of `mss` bytes.
    pub fn bytes(self, mss: u32) -> u64 {
        match self {
            Self::Segments(Segments(count)) => u64::from(count) * u64::from(mss),
            Self::Bytes(bytes) => bytes.get(),
        }
    }
}

impl FromStr for InitialWindow {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "rfc6928" {
            return Ok(Self::Rfc6928);
        }
        text.parse().map(Self::Segments).map_err(|message: String| format!("{message}, or \"rfc6928\""))
    }
}

impl fmt::Display for InitialWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rfc6928 => f.write_str("rfc6928"),
            Self::Segments(segments) => segments.fmt(f),
        }
    }
}

impl FromStr for DelayedAck {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "off" {
            return Ok(Self::Off);
        }
        if text.trim() == "adaptive" {
            return Ok(Self::Adaptive);
        }
        text.parse().map(Self::Timeout).map_err(|_| {
            format!("\"{text}\" is not a delay of acknowledgements; write \"off\", \"adaptive\", or the longest delay as \"200 ms\"")
        })
    }
}

impl fmt::Display for DelayedAck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Timeout(span) => span.fmt(f),
            Self::Adaptive => f.write_str("adaptive"),
        }
    }
}

/// Serde as text by `FromStr` and `Display`, and a JSON Schema of the given name, description and pattern.
macro_rules! as_text {
    ($type:ident, $expecting:literal, $pattern:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_any(Text)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "description": $expecting, "pattern": $pattern })
            }
        }
    };
}

as_text!(Segments, "a number of segments, for example \"10 segments\"", "^ *[0-9]+ *segments? *$");
as_text!(
    Window,
    "a window in segments or bytes, for example \"20 segments\" or \"64 KiB\"",
    "^ *([0-9]+ *segments?|[0-9.]+([eE][+-]?[0-9]+)? *(B|bytes|kB|KB|KiB|MB|MiB|GB|GiB)) *$"
);
as_text!(
    InitialWindow,
    "\"rfc6928\" or a number of segments, for example \"2 segments\"",
    "^ *(rfc6928|[0-9]+ *segments?) *$"
);
as_text!(
    DelayedAck,
    "\"off\", \"adaptive\" (TCP-ADA), or the longest delay of an acknowledgement, for example \"200 ms\"",
    "^ *(off|adaptive|[0-9.]+([eE][+-]?[0-9]+)? *(ns|us|µs|ms|s|min|h)) *$"
);

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

/// The names of the random laws in the table form of a [`Law`].
#[derive(serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum RandomLaw {
    Exponential,
    Uniform,
}

impl Serialize for Law {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let table = |serializer: S| serializer.serialize_map(Some(1));
        match self.0 {
            DurationLaw::Fixed(span) => span.serialize(serializer),
            DurationLaw::Exponential(mean) => {
                let mut table = table(serializer)?;
                table.serialize_entry("exponential", &mean)?;
                table.end()
            }
            DurationLaw::Uniform(low, high) => {
                let mut table = table(serializer)?;
                table.serialize_entry("uniform", &[low, high])?;
                table.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Law {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = Law;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a duration as \"100 ms\", or a law of durations as { exponential = \"5 s\" } or \
                     { uniform = [\"1 s\", \"2 s\"] }",
                )
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Law, E> {
                text.parse().map(|span| Law(DurationLaw::Fixed(span))).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Law, A::Error> {
                let law = match map.next_key::<RandomLaw>()? {
                    None => return Err(de::Error::invalid_value(Unexpected::Map, &self)),
                    Some(RandomLaw::Exponential) => DurationLaw::Exponential(map.next_value()?),
                    Some(RandomLaw::Uniform) => {
                        let [low, high] = map.next_value()?;
                        DurationLaw::Uniform(low, high)
                    }
                };
                match map.next_key::<RandomLaw>()? {
                    None => Ok(Law(law)),
                    Some(_) => {
                        Err(de::Error::custom("a duration has one law; keep either exponential or uniform"))
                    }
                }
            }
        }
        deserializer.deserialize_any(Form)
    }
}

impl JsonSchema for Law {
    fn schema_name() -> Cow<'static, str> {
        "Law".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let duration = generator.subschema_for::<Duration>();
        json_schema!({
            "description": "a fixed duration (\"100 ms\"), an exponential one with a mean ({ exponential = \"5 s\" }), or a \
                            uniform one between two bounds ({ uniform = [\"1 s\", \"2 s\"] }); random ones are drawn anew \
                            each time",
            "oneOf": [
                duration,
                {
                    "type": "object",
                    "description": "exponential with this mean",
                    "properties": { "exponential": duration },
                    "required": ["exponential"],
                    "additionalProperties": false,
                },
                {
                    "type": "object",
                    "description": "uniform between these two bounds",
                    "properties": { "uniform": { "type": "array", "items": duration, "minItems": 2, "maxItems": 2 } },
                    "required": ["uniform"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}
