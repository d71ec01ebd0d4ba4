//! Reads packets: IP by etherparse, then what it carries.

use crate::{
    IPV6_HEADER, PacketEnds, TCP_HEADER, TcpOptions, UDP_HEADER, UNREACHABLE, WireSegment, long, protocol,
    short,
};
use etherparse::{IpNumber, Ipv4HeaderSlice, Ipv6HeaderSlice, LaxIpSlice};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// An IP packet; its end may be missing.
#[derive(Clone, Copy, Debug)]
pub struct Ip<'a> {
    /// Source and destination address, as they stand in the header.
    pub addresses: &'a [u8],
    /// ECN bits (RFC 3168).
    pub ecn: u8,
    /// Length of the packet by its header; 0 from a sender that leaves segmentation to its network card.
    pub total: u32,
    /// Identification of IPv4; 0 without.
    pub identification: u16,
    /// Part of a fragmented packet.
    pub is_fragment: bool,
    /// Fragment without the header of what the packet carries.
    pub is_later_fragment: bool,
    /// Protocol of the content, behind extension headers.
    pub protocol: u8,
    /// Where the content begins.
    pub begins: usize,
    /// The content as far as it is there; padding behind the packet is not.
    pub content: &'a [u8],
}

/// Why bytes are no IP packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NotIp {
    /// The header is cut off or damaged.
    Short,
    /// Neither IPv4 nor IPv6.
    Other,
}

/// Reads the headers of IPv4 or IPv6.
///
/// # Errors
///
/// The bytes are no IP packet.
pub fn read_ip(bytes: &[u8]) -> Result<Ip<'_>, NotIp> {
    let found = match bytes.first().ok_or(NotIp::Other)? >> 4 {
        4 => ipv4(bytes),
        6 => ipv6(bytes),
        _ => return Err(NotIp::Other),
    };
    found.ok_or(NotIp::Short)
}

fn ipv4(bytes: &[u8]) -> Option<Ip<'_>> {
    let header = Ipv4HeaderSlice::from_slice(bytes).ok()?;
    let (begins, total) = (header.slice().len(), usize::from(header.total_len()));
    let (protocol, begins, content) = match header.protocol() {
        IpNumber::AUTHENTICATION_HEADER => behind_extensions(bytes)?,
        // Without a sound length everything is there that is there.
        IpNumber(protocol) => {
            let ends = if (begins..=bytes.len()).contains(&total) { total } else { bytes.len() };
            (protocol, begins, &bytes[begins..ends])
        }
    };
    Some(Ip {
        addresses: &bytes[12..20],
        ecn: bytes[1] & 3,
        total: total as u32,
        identification: header.identification(),
        is_fragment: header.is_fragmenting_payload(),
        is_later_fragment: header.fragments_offset().value() != 0,
        protocol,
        begins,
        content,
    })
}

fn ipv6(bytes: &[u8]) -> Option<Ip<'_>> {
    let header = Ipv6HeaderSlice::from_slice(bytes).ok()?;
    let length = usize::from(header.payload_length());
    let ends = if length > 0 { (IPV6_HEADER + length).min(bytes.len()) } else { bytes.len() };
    let mut is_fragment = false;
    let (protocol, begins, content) = match header.next_header() {
        following if following.is_ipv6_ext_header_value() => {
            is_fragment = LaxIpSlice::from_slice(bytes).ok()?.0.is_fragmenting_payload();
            behind_extensions(bytes)?
        }
        IpNumber(protocol) => (protocol, IPV6_HEADER, &bytes[IPV6_HEADER..ends]),
    };
    Some(Ip {
        addresses: &bytes[8..40],
        ecn: header.traffic_class() & 3,
        total: if length > 0 { (IPV6_HEADER + length) as u32 } else { 0 },
        identification: 0,
        is_fragment,
        // Of a fragmented IPv6 packet no fragment is read.
        is_later_fragment: is_fragment,
        protocol,
        begins,
        content,
    })
}

/// Returns protocol, place and bytes of what lies behind extension headers.
fn behind_extensions(bytes: &[u8]) -> Option<(u8, usize, &[u8])> {
    let (ip, _) = LaxIpSlice::from_slice(bytes).ok()?;
    let content = ip.payload().payload;
    // A part of `bytes`: its place tells where the extension headers end.
    let begins = content.as_ptr() as usize - bytes.as_ptr() as usize;
    Some((ip.payload_ip_number().0, begins, bytes.get(begins..begins + content.len())?))
}

impl Ip<'_> {
    /// Returns the source address.
    pub fn from(&self) -> IpAddr {
        address(&self.addresses[..self.addresses.len() / 2])
    }

    /// Returns the destination address.
    pub fn to(&self) -> IpAddr {
        address(&self.addresses[self.addresses.len() / 2..])
    }

    /// Returns the first two fields of the content, the ports of TCP and UDP. A fragment but the first has
    /// none.
    pub fn ports(&self) -> Option<[u16; 2]> {
        let ports = [short(self.content, 0)?, short(self.content, 2)?];
        (!self.is_later_fragment).then_some(ports)
    }

    fn ends(&self) -> Option<PacketEnds> {
        let [from, to] = self.ports()?;
        Some(PacketEnds { from: SocketAddr::new(self.from(), from), to: SocketAddr::new(self.to(), to) })
    }
}

fn address(bytes: &[u8]) -> IpAddr {
    match <[u8; 4]>::try_from(bytes) {
        Ok(v4) => v4.into(),
        Err(_) => Ipv6Addr::from(<[u8; 16]>::try_from(bytes).unwrap_or_default()).into(),
    }
}

/// TCP's header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TcpHeader<'a> {
    /// Source and destination port.
    pub ports: [u16; 2],
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Flags, from FIN (1) to AE (256).
    pub flags: u16,
    /// Window field, unscaled.
    pub window: u16,
    /// Bytes of the options, as far as they are there.
    pub options: &'a [u8],
    /// Bytes of the header, with all options.
    pub length: usize,
}

/// Reads TCP's header; options may be cut off. `None`: the fixed part is not there, or the
/// header's length is damaged.
pub fn tcp_header(content: &[u8]) -> Option<TcpHeader<'_>> {
    let fixed: &[u8; TCP_HEADER] = content.first_chunk()?;
    let length = usize::from(fixed[12] >> 4) * 4;
    Some(TcpHeader {
        ports: [short(fixed, 0)?, short(fixed, 2)?],
        seq: long(fixed, 4)?,
        ack: long(fixed, 8)?,
        flags: short(fixed, 12)? & 0x1ff,
        window: short(fixed, 14)?,
        options: content.get(TCP_HEADER..length.min(content.len()))?,
        length,
    })
}

/// Reads a TCP segment with its ends; `None`: the packet is none, or not a whole one, or a fragment.
pub fn read_tcp(bytes: &[u8]) -> Option<(PacketEnds, WireSegment)> {
    let ip = read_ip(bytes).ok().filter(|ip| ip.protocol == protocol::TCP && !ip.is_fragment)?;
    let header = tcp_header(ip.content)?;
    Some((
        ip.ends()?,
        WireSegment {
            ecn: ip.ecn,
            seq: header.seq,
            ack: header.ack,
            flags: header.flags,
            window: header.window,
            options: TcpOptions::read(header.options),
            payload: ip.content.len().checked_sub(header.length)?,
        },
    ))
}

/// Reads a UDP datagram with its ends; `None`: the packet is none, or a fragment, or cut off.
pub fn read_udp(bytes: &[u8]) -> Option<(PacketEnds, &[u8])> {
    let ip = read_ip(bytes).ok().filter(|ip| ip.protocol == protocol::UDP && !ip.is_fragment)?;
    let length = usize::from(short(ip.content, 4)?);
    Some((ip.ends()?, ip.content.get(UDP_HEADER..length)?))
}

/// Returns the packet that a message of ICMP destination unreachable is about, as far as it is quoted.
pub fn read_unreachable(bytes: &[u8]) -> Option<&[u8]> {
    let ip = read_ip(bytes).ok().filter(|ip| ip.protocol == protocol::ICMP)?;
    (*ip.content.first()? == UNREACHABLE).then(|| ip.content.get(8..)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_tcp;

    /// The way without extension headers reads what etherparse's reader for cut-off packets reads.
    #[test]
    fn any_bytes_are_read_as_etherparse_reads_them() {
        for ends in ["10.0.0.1:1", "[fd63::1]:1"].map(|end| end.parse().unwrap()) {
            let good = write_tcp(
                PacketEnds { from: ends, to: ends },
                &WireSegment { payload: 9, ..WireSegment::default() },
            );
            let mut seen = 0;
            for at in 0..good.len().min(48) {
                for value in 0..=255 {
                    let mut bytes = good.clone();
                    bytes[at] = value;
                    bytes.truncate(good.len() - usize::from(value % 8));
                    let lax = LaxIpSlice::from_slice(&bytes).ok();
                    let found = read_ip(&bytes).ok();
                    let theirs = lax.as_ref().map(|(ip, _)| {
                        (ip.payload_ip_number().0, ip.payload().payload, ip.is_fragmenting_payload())
                    });
                    let ours = found.map(|ip| (ip.protocol, ip.content, ip.is_fragment));
                    assert_eq!(ours, theirs, "byte {at} is {value}");
                    let addresses = lax.map(|(ip, _)| (ip.source_addr(), ip.destination_addr()));
                    assert_eq!(found.map(|ip| (ip.from(), ip.to())), addresses);
                    seen += usize::from(found.is_some());
                }
            }
            assert!(seen > 10_000, "{seen}");
        }
    }
}
