//! Headers of IP, TCP, UDP and ICMP as bytes: read and written here only.
//!
//! `read` finds what an IP packet carries (by etherparse) and reads TCP; [`options`] reads and writes TCP's
//! options; `write` makes headers with their checksums. The emulator, the reader and the writer of captures
//! use them.

pub mod options;
mod read;
mod write;

pub use options::{SackBlocks, TcpOptions};
pub use read::{Ip, NotIp, TcpHeader, read_ip, read_tcp, read_udp, read_unreachable, tcp_header};
pub use write::{
    IpEnds, checksum, ip_header, mark, set_window, udp_header, unreachable, write_tcp, write_udp,
    write_unreachable,
};

use std::net::SocketAddr;

/// Protocol numbers of IP (RFC 790 and its registry).
pub mod protocol {
    /// ICMP (RFC 792).
    pub const ICMP: u8 = 1;
    /// TCP (RFC 9293).
    pub const TCP: u8 = 6;
    /// UDP (RFC 768).
    pub const UDP: u8 = 17;
}

/// Bytes of the shortest header of IPv4.
pub const IPV4_HEADER: usize = 20;
/// Bytes of the header of IPv6.
pub const IPV6_HEADER: usize = 40;
/// Bytes of TCP's header without options.
pub const TCP_HEADER: usize = 20;
/// Bytes of UDP's header.
pub const UDP_HEADER: usize = 8;
/// ICMP's type of destination unreachable.
const UNREACHABLE: u8 = 3;
/// ICMP's code of destination unreachable for a host (RFC 792).
pub const HOST_UNREACHABLE: u8 = 1;
/// Time to live of packets that leave their host, as Linux sets it.
pub const LIFETIME: u8 = 64;

/// A TCP segment; its payload is a length.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct WireSegment {
    /// ECN bits of the IP header (RFC 3168).
    pub ecn: u8,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Flags, from FIN (1) to AE (256; RFC 9768).
    pub flags: u16,
    /// Window field, unscaled.
    pub window: u16,
    /// Options.
    pub options: TcpOptions,
    /// Bytes of payload.
    pub payload: usize,
}

/// Addresses and ports of a packet, source and destination. Both are of one family.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct PacketEnds {
    /// Source.
    pub from: SocketAddr,
    /// Destination.
    pub to: SocketAddr,
}

impl PacketEnds {
    /// Returns the ends of the reverse path.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { from: self.to, to: self.from }
    }

    /// Returns both ports, source first.
    pub fn ports(&self) -> [u16; 2] {
        [self.from.port(), self.to.port()]
    }
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}
