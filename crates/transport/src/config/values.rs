//! Settings that are written as a text.

use cogtcp_units::{Bytes, Duration, count_and_unit, text_form};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The most segments that a window may be.
const MOST: u32 = 1_000_000_000;

/// Longest delay of an adaptive acknowledgement (RFC 5681 section 4.2).
const LONGEST_DEFERMENT: Duration = Duration::from_millis(500);

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

/// The window at the start of a connection. Written `"rfc6928"` or `"2 segments"`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum InitialWindow {
    /// min(10 SMSS, max(2 SMSS, 14600 bytes)) (RFC 6928 equation 1).
    #[default]
    Rfc6928,
    /// So many segments; the papers before 2010 have 1 or 2.
    Segments(u32),
}

/// How the receiver delays acknowledgements (RFC 5681 section 4.2). Written `"off"`, `"adaptive"`, `"linux"`,
/// or the longest delay: `"200 ms"`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DelayedAck {
    /// Every segment is acknowledged at once.
    Off,
    /// At least after [`ReceiverConfig::ack_every`](crate::ReceiverConfig) full-sized segments, and after
    /// `timeout` at the latest.
    On {
        /// Longest delay; RFC 5681: at most 500 ms.
        timeout: Duration,
    },
    /// As long as segments keep coming: TCP-ADA (Singh and Kankipati, WCNC 2004). One acknowledgement, about,
    /// for a whole window.
    Adaptive {
        /// Longest delay; RFC 5681: at most 500 ms, which is what scenarios have.
        limit: Duration,
    },
    /// As a Linux receiver: after 40 ms, but at once for the first 16 segments, after pauses and duplicates,
    /// and as long as the window that is offered grows.
    Linux,
}

/// How marks (explicit congestion notification) are fed back to the sender. Written `false`, `true` or
/// `"accurate"`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum EcnMode {
    /// Not at all.
    #[default]
    Off,
    /// One echo a round trip, which the sender confirms (RFC 3168).
    Classic,
    /// A count of marked packets in each ACK (RFC 9768).
    Accurate,
}

impl EcnMode {
    const EXPECTED: &str = "true or false, or \"accurate\" (Accurate ECN, RFC 9768)";
}

impl Serialize for EcnMode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::Classic => serializer.serialize_bool(true),
            Self::Accurate => serializer.serialize_str("accurate"),
        }
    }
}

impl<'de> Deserialize<'de> for EcnMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Mode;
        impl Visitor<'_> for Mode {
            type Value = EcnMode;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EcnMode::EXPECTED)
            }
            fn visit_bool<E: Error>(self, on: bool) -> Result<EcnMode, E> {
                Ok(if on { EcnMode::Classic } else { EcnMode::Off })
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<EcnMode, E> {
                match text.trim() {
                    "accurate" => Ok(EcnMode::Accurate),
                    _ => Err(E::custom(format_args!(
                        "\"{text}\" is not a mode of ECN; write {}",
                        EcnMode::EXPECTED
                    ))),
                }
            }
        }
        deserializer.deserialize_any(Mode)
    }
}

impl JsonSchema for EcnMode {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EcnMode".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How marks (explicit congestion notification) are fed back to the sender.",
            "oneOf": [
                { "enum": [false], "description": "Not at all." },
                { "enum": [true], "description": "One echo a round trip, which the sender confirms (RFC 3168)." },
                { "const": "accurate", "description": "A count of marked packets in each ACK (RFC 9768)." },
            ],
        })
    }
}

impl InitialWindow {
    /// The window in bytes for segments of `mss` bytes.
    pub fn bytes(self, mss: u64) -> u64 {
        match self {
            Self::Rfc6928 => (10 * mss).min((2 * mss).max(14_600)),
            Self::Segments(count) => u64::from(count.max(1)) * mss,
        }
    }
}

impl FromStr for Segments {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match count_and_unit(text) {
            Some((count, "segments" | "segment")) => match u32::try_from(count) {
                Ok(count) if (1..=MOST).contains(&count) => Ok(Self(count)),
                _ => Err(format!("\"{text}\" is out of range; write \"1 segment\" to \"{MOST} segments\"")),
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
        // Anything in segments is an error about segments, not about bytes.
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
        let segments = text.parse::<Segments>().map_err(|message| format!("{message}, or \"rfc6928\""))?;
        Ok(Self::Segments(segments.0))
    }
}

impl fmt::Display for InitialWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rfc6928 => f.write_str("rfc6928"),
            Self::Segments(count) => Segments(*count).fmt(f),
        }
    }
}

impl FromStr for DelayedAck {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "off" => Ok(Self::Off),
            "adaptive" => Ok(Self::Adaptive { limit: LONGEST_DEFERMENT }),
            "linux" => Ok(Self::Linux),
            span => span.parse().map(|timeout| Self::On { timeout }).map_err(|_| {
                format!("\"{text}\" is not a delay of acknowledgements; write \"off\", \"adaptive\", \"linux\", or the longest delay as \"200 ms\"")
            }),
        }
    }
}

impl fmt::Display for DelayedAck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::On { timeout } => timeout.fmt(f),
            Self::Adaptive { .. } => f.write_str("adaptive"),
            Self::Linux => f.write_str("linux"),
        }
    }
}

text_form!(Segments, "a number of segments, for example \"10 segments\"", "^ *[0-9]+ *segments? *$");
text_form!(
    Window,
    "a window in segments or bytes, for example \"20 segments\" or \"64 KiB\"",
    "^ *([0-9]+ *segments?|[0-9.]+([eE][+-]?[0-9]+)? *(B|bytes|kB|KB|KiB|MB|MiB|GB|GiB)) *$"
);
text_form!(
    InitialWindow,
    "\"rfc6928\" or a number of segments, for example \"2 segments\"",
    "^ *(rfc6928|[0-9]+ *segments?) *$"
);
text_form!(
    DelayedAck,
    "\"off\", \"adaptive\" (TCP-ADA), \"linux\", or the longest delay of an acknowledgement, for example \"200 ms\"",
    "^ *(off|adaptive|linux|[0-9.]+([eE][+-]?[0-9]+)? *(ns|us|µs|ms|s|min|h)) *$"
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Text and value, and back; then what is refused.
    #[test]
    fn windows_are_read_as_they_are_written() {
        let read = |text: &str| text.parse::<Window>();
        let segments = |count| Window::Segments(Segments(count));
        let right = [
            ("1 segment", segments(1)),
            ("20 segments", segments(20)),
            ("1000000000 segments", segments(MOST)),
            ("64 KiB", Window::Bytes(Bytes::new(65_536))),
        ];
        for (text, window) in right {
            assert_eq!((read(text), window.to_string().as_str()), (Ok(window), text));
        }
        assert_eq!((segments(3).bytes(1000), Window::Bytes(Bytes::new(7)).bytes(1000)), (3000, 7));
        for text in ["0 segments", "1000000001 segments", "4294967297 segments"] {
            assert!(read(text).unwrap_err().contains("out of range"), "{text}");
        }
        // What has segments is told of segments, all else of both.
        assert!(read("2 segs").unwrap_err().contains("not a number of segments"));
        assert!(read("20").unwrap_err().contains("write segments or bytes"));
    }

    /// RFC 6928 equation 1: ten segments, at most 14,600 B or two segments.
    #[test]
    fn initial_windows_have_their_size() {
        let sizes = [1000, 1460, 1461, 7300, 7301].map(|mss| InitialWindow::Rfc6928.bytes(mss));
        assert_eq!(sizes, [10_000, 14_600, 14_600, 14_600, 14_602]);
        assert_eq!([0, 1, 3].map(|count| InitialWindow::Segments(count).bytes(500)), [500, 500, 1500]);
        for (text, window) in
            [("rfc6928", InitialWindow::Rfc6928), ("2 segments", InitialWindow::Segments(2))]
        {
            assert_eq!((text.parse(), window.to_string().as_str()), (Ok(window), text));
        }
        assert!("rfc".parse::<InitialWindow>().unwrap_err().contains("or \"rfc6928\""));
    }

    #[test]
    fn delays_of_acknowledgements_are_read_as_they_are_written() {
        let on = DelayedAck::On { timeout: Duration::from_millis(200) };
        let adaptive = DelayedAck::Adaptive { limit: Duration::from_millis(500) };
        for (text, delay) in
            [("off", DelayedAck::Off), ("200 ms", on), ("adaptive", adaptive), ("linux", DelayedAck::Linux)]
        {
            assert_eq!((text.parse(), delay.to_string().as_str()), (Ok(delay), text));
        }
        assert!("soon".parse::<DelayedAck>().is_err());
    }
}
