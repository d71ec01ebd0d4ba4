//! What a drop-tail queue holds, as scenarios write it.

use cogtcp_units::Bytes;
use std::fmt;
use std::str::FromStr;

/// The most packets that a queue may be asked to hold.
const MOST_PACKETS: u32 = 1_000_000_000;

/// What a drop-tail queue holds before it drops. Written `"100 packets"` or `"64 KiB"`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum QueueLimit {
    /// At most this many packets wait, whatever their size.
    Packets(u32),
    /// At most this many bytes wait (of whole packets, with their headers).
    Bytes(u64),
}

impl FromStr for QueueLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((count, "packets" | "packet")) = count_and_unit(text) {
            return match u32::try_from(count) {
                Ok(count) if count <= MOST_PACKETS => Ok(Self::Packets(count)),
                _ => Err(format!("\"{text}\" is too long a queue; write at most \"{MOST_PACKETS} packets\"")),
            };
        }
        text.parse::<Bytes>().map(|bytes| Self::Bytes(bytes.get())).map_err(|_| {
            format!("\"{text}\" is not a queue length; write packets or bytes, for example \"100 packets\" or \"64 KiB\"")
        })
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(1) => f.write_str("1 packet"),
            Self::Packets(count) => write!(f, "{count} packets"),
            Self::Bytes(bytes) => Bytes::new(*bytes).fmt(f),
        }
    }
}

/// A whole number and what follows it.
fn count_and_unit(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let count = text[..end].parse().ok()?;
    Some((count, text[end..].trim()))
}

/// What a queue length is, in words, and its form.
const EXPECTING: &str = "a queue length in packets or bytes, for example \"100 packets\" or \"64 KiB\"";
pub(super) const PATTERN: &str =
    "^ *([0-9]+ *packets?|[0-9.]+([eE][+-]?[0-9]+)? *(B|bytes|kB|KB|KiB|MB|MiB|GB|GiB)) *$";

impl serde::Serialize for QueueLimit {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for QueueLimit {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = QueueLimit;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTING)
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<QueueLimit, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Text)
    }
}

impl schemars::JsonSchema for QueueLimit {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "QueueLimit".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "description": EXPECTING, "pattern": PATTERN })
    }
}
