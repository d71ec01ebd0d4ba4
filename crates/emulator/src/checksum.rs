//! The checksum of the internet (RFC 1071), for whoever reads and writes the bytes of real packets.

use std::net::Ipv4Addr;

/// The sum of 16-bit words; an odd last byte is the high half of one.
pub(crate) fn sum(bytes: &[u8]) -> u32 {
    bytes
        .chunks(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)])))
        .sum()
}

/// A sum in one's complement. Its complement is the checksum.
pub(crate) fn folded(sum: u32) -> u16 {
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

/// The sum of what the checksums of TCP and UDP cover of the IP header (RFC 9293 section 3.1, RFC 768).
pub(crate) fn pseudo_header(from: Ipv4Addr, to: Ipv4Addr, protocol: u8, length: usize) -> u32 {
    sum(&from.octets()) + sum(&to.octets()) + u32::from(protocol) + length as u32
}
