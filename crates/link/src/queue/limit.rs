//! What a drop-tail queue holds, as scenarios write it.

use cogtcp_units::{Bytes, count_and_unit};
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
                _ => Err(format!(
                    "\"{text}\" is too long for a queue; write at most \"{MOST_PACKETS} packets\""
                )),
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

/// What a queue length is, in words, and its form.
const EXPECTING: &str = "a queue length in packets or bytes, for example \"100 packets\" or \"64 KiB\"";
pub(super) const PATTERN: &str =
    "^ *([0-9]+ *packets?|[0-9.]+([eE][+-]?[0-9]+)? *(B|bytes|kB|KB|KiB|MB|MiB|GB|GiB)) *$";

cogtcp_units::text_form!(QueueLimit, EXPECTING, PATTERN);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_of_packets_or_of_bytes() {
        let read = |text: &str| text.parse::<QueueLimit>();
        assert_eq!(read("1 packet"), Ok(QueueLimit::Packets(1)));
        assert_eq!(read("1000000000 packets"), Ok(QueueLimit::Packets(MOST_PACKETS)));
        assert_eq!(read("2 KiB"), Ok(QueueLimit::Bytes(2048)));
        for wrong in ["1000000001 packets", "4294967297 packets", "5", "x packets"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let shown = [QueueLimit::Packets(1), QueueLimit::Packets(2), QueueLimit::Bytes(2048)];
        assert_eq!(shown.map(|it| it.to_string()), ["1 packet", "2 packets", "2 KiB"]);
    }
}
