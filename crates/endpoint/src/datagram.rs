//! The UDP payload of a transport that is not TCP.

use cogtcp_crosslayer::Stamp;

/// Bytes that the peer reads, and filler that only takes up space on the wire.
///
/// A simulator carries the filler as a number; the kernel plane sends zeros.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Datagram {
    /// What the peer reads.
    pub bytes: Vec<u8>,
    /// Filler after [`Self::bytes`], in bytes.
    pub filler: u32,
    /// The client's UDP port that the datagram leaves from or is sent to, counted from 0 each time that the
    /// client's address changes.
    pub port: u16,
    /// What nodes on the route have written, if the sender asked for it. A simulator alone has such nodes.
    pub stamp: Stamp,
}

impl Datagram {
    /// Size of the headers in front of the payload: IPv4 (20 bytes, RFC 791) and UDP (8 bytes, RFC 768).
    pub const HEADERS: u32 = 28;

    /// Size of the UDP payload in bytes.
    pub fn payload_size(&self) -> u32 {
        u32::try_from(self.bytes.len()).unwrap_or(u32::MAX).saturating_add(self.filler)
    }

    /// Size on the wire in bytes, with the headers of IPv4 and UDP.
    pub fn wire_size(&self) -> u32 {
        self.payload_size().saturating_add(Self::HEADERS)
    }
}
