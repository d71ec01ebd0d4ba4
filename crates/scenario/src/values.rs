//! Windows, as only scenarios write them.

use cogtcp_transport::Segments;
use cogtcp_units::{Bytes, count_and_unit, text_form};
use std::fmt;
use std::str::FromStr;

/// A window in segments or in bytes. Written `"20 segments"` or `"64 KiB"`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Window {
    /// So many full-sized segments.
    Segments(Segments),
    /// So many bytes.
    Bytes(Bytes),
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

text_form!(
    Window,
    "a window in segments or bytes, for example \"20 segments\" or \"64 KiB\"",
    "^ *([0-9]+ *segments?|[0-9.]+([eE][+-]?[0-9]+)? *(B|bytes|kB|KB|KiB|MB|MiB|GB|GiB)) *$"
);
