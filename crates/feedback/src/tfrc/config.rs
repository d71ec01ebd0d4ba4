//! Settings of TFRC.

use super::wire::Data;
use super::{TfrcReceiver, TfrcSender};
use cogtcp_endpoint::{Connection, Datagram, Pair, Protocol};
use cogtcp_units::{Bytes, Check, Named};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest segment in bytes: an IPv4 packet (65,535 bytes, RFC 791) without the headers of IPv4, UDP and
/// TFRC.
const LARGEST_SEGMENT: u64 = 65_535 - Datagram::HEADERS as u64 - Data::SIZE as u64;

/// Settings of TFRC (RFC 5348) in a scenario.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TfrcSettings {
    /// Application data in a packet, 1 to 65482 B; without it: the segment size of \[tcp\], so that all
    /// transports send packets of one size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment_size: Option<Bytes>,
    /// Whether old loss intervals count less during a long interval without loss (section 5.5).
    pub history_discounting: bool,
}

impl Default for TfrcSettings {
    fn default() -> Self {
        Self { segment_size: None, history_discounting: true }
    }
}

impl Named for TfrcSettings {
    const NAME: &'static str = "tfrc";
    const SUMMARY: &'static str =
        "TCP Friendly Rate Control over UDP: smooth rate, lost data is not retransmitted";
    const REFERENCE: &'static str = "RFC 5348";

    fn check(&self, found: &mut dyn Check) {
        check_segment(self.segment_size, found);
    }
}

impl Protocol for TfrcSettings {
    fn is_reliable(&self) -> bool {
        false
    }

    fn build(&self, connection: Connection) -> Pair {
        let segment_size = segment(self.segment_size, connection);
        Pair {
            sender: Box::new(TfrcSender::new(segment_size)),
            receiver: Box::new(TfrcReceiver::new(segment_size, self.history_discounting)),
            segment_size,
        }
    }
}

/// Reports a segment size that does not fit into a packet.
pub(crate) fn check_segment(size: Option<Bytes>, found: &mut dyn Check) {
    if let Some(size) = size.filter(|size| !(1..=LARGEST_SEGMENT).contains(&size.get())) {
        found.error(
            "segment_size",
            format!("a segment of \"{size}\" is out of range"),
            format!("write \"1 B\" to \"{LARGEST_SEGMENT} B\" (an IPv4 packet without its headers)"),
        );
    }
}

/// Returns the application data in a packet, in bytes.
pub(crate) fn segment(size: Option<Bytes>, connection: Connection) -> u32 {
    size.map_or(u64::from(connection.segment_size), Bytes::get).clamp(1, LARGEST_SEGMENT) as u32
}
