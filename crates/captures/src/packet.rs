//! From the IP header to what a fit needs of TCP, UDP and ICMP; tunnels within IP are peeled.

use crate::peel::{Layer, Peeled, peel};
use cogtcp_headers::{NotIp, TcpOptions, protocol, read_ip, tcp_header};
use std::net::IpAddr;

/// Address and port of an end; an IPv4 address is mapped into IPv6.
pub(crate) type End = ([u8; 16], u16);

/// What an IP packet carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    Tcp(Tcp),
    Datagram { first: u8, payload: u32 },
    Echo { reply: bool, key: u32 },
    Other(&'static str),
}

/// An IP packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IpPacket {
    pub(crate) source: End,
    pub(crate) target: End,
    /// Bytes of IP, headers included.
    pub(crate) size: u32,
    /// Identification of IPv4; 0 without.
    pub(crate) identification: u16,
    pub(crate) content: Content,
    /// Hash of the headers without what routers change; copies of a packet have the same.
    pub(crate) hash: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Tcp {
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) flags: u16,
    pub(crate) payload: u32,
    pub(crate) window: u16,
    pub(crate) options: TcpOptions,
}

/// Other protocols of IP's registry.
const IPV4: u8 = 4;
const IPV6: u8 = 41;
const GRE: u8 = 47;
const ESP: u8 = 50;
const ICMPV6: u8 = 58;
const SCTP: u8 = 132;

/// Tunnels within tunnels; more are damage.
const DEEPEST: usize = 6;
/// GTP-U (3GPP TS 29.281) and VXLAN (RFC 7348) have ports of their own.
const GTP_U: u16 = 2152;
const VXLAN: u16 = 4789;

const SHORT: &str = "packets captured too short";

/// Reads an IP packet that begins at a place of a frame, or the kind of packet that it is.
///
/// `length` is the length of the whole frame on the wire.
pub(crate) fn packet(data: &[u8], at: usize, length: u32) -> Result<IpPacket, &'static str> {
    let mut place = at;
    for _ in 0..DEEPEST {
        match layer(data, place, length)? {
            Inner::IpPacket(packet) => return Ok(*packet),
            Inner::Tunnel(following, next) => match peel(following, data, next) {
                Peeled::Ip(ip) => place = ip,
                Peeled::Other(kind) => return Err(kind),
            },
            Inner::Ip(next) => place = next,
        }
    }
    Err("packets within too many headers")
}

enum Inner {
    IpPacket(Box<IpPacket>),
    Tunnel(Layer, usize),
    Ip(usize),
}

fn layer(data: &[u8], at: usize, length: u32) -> Result<Inner, &'static str> {
    let bytes = data.get(at..).unwrap_or_default();
    let ip = read_ip(bytes).map_err(|fault| match fault {
        NotIp::Short => SHORT,
        NotIp::Other => "packets that are not IP",
    })?;
    // Only the first fragment has the header of what it carries.
    if ip.is_later_fragment {
        return Err(if ip.from().is_ipv4() { "later fragments" } else { "fragments of IPv6" });
    }
    let on_wire = length.saturating_sub(u32::try_from(at).unwrap_or(u32::MAX));
    // A sender that leaves segmentation to its network card may write 0.
    let total = if ip.total == 0 { on_wire } else { ip.total };
    let (source, target) = (mapped(ip.from()), mapped(ip.to()));
    let (begins, carried) = (at + ip.begins, ip.content);
    let head = u32::try_from(ip.begins).unwrap_or(u32::MAX);
    let rest = total.saturating_sub(head);
    let (content, ports) = match ip.protocol {
        protocol::TCP => tcp(carried, rest)?,
        protocol::UDP => {
            let Some([from, to]) = ip.ports() else { return Err(SHORT) };
            if from == GTP_U || to == GTP_U {
                return gtp(data, begins + 8);
            }
            if to == VXLAN {
                return Ok(Inner::Tunnel(Layer::Ethernet, begins + 16));
            }
            let first = carried.get(8).copied().unwrap_or(0);
            (Content::Datagram { first, payload: rest.saturating_sub(8) }, (from, to))
        }
        protocol::ICMP | ICMPV6 => (echo(ip.protocol, carried)?, (0, 0)),
        GRE => return gre(data, begins),
        IPV4 | IPV6 => return Ok(Inner::Ip(begins)),
        SCTP => return Err("SCTP"),
        ESP => return Err("encrypted IP (ESP)"),
        _ => return Err("other protocols over IP"),
    };
    Ok(Inner::IpPacket(Box::new(IpPacket {
        source: (source, ports.0),
        target: (target, ports.1),
        size: total,
        identification: ip.identification,
        hash: hash(&source, &target, ip.identification, total, carried),
        content,
    })))
}

fn mapped(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

fn word(data: &[u8], at: usize) -> Option<u16> {
    data.get(at..)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

fn long(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// Bytes of the payload that tell copies from other packets: TCP's header, checksum included.
const HASHED: usize = 60;

/// FNV-1a over what copies of a packet share; a router changes TTL and checksum of IP.
fn hash(source: &[u8; 16], target: &[u8; 16], identification: u16, total: u32, carried: &[u8]) -> u64 {
    let head = &carried[..carried.len().min(HASHED)];
    let fixed = (u64::from(identification) << 32 | u64::from(total)).to_be_bytes();
    source
        .iter()
        .chain(target)
        .chain(&fixed)
        .chain(head)
        .fold(0xcbf2_9ce4_8422_2325, |state, byte| (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn tcp(carried: &[u8], rest: u32) -> Result<(Content, (u16, u16)), &'static str> {
    let header = tcp_header(carried).ok_or(if carried.len() < 20 { SHORT } else { "damaged TCP headers" })?;
    let [from, to] = header.ports;
    let found = Tcp {
        seq: header.seq,
        ack: header.ack,
        flags: header.flags,
        window: header.window,
        payload: rest.saturating_sub(header.length as u32),
        // Where the capture cut options off, the whole ones before the cut count.
        options: TcpOptions::read(header.options),
    };
    Ok((Content::Tcp(found), (from, to)))
}

fn echo(number: u8, carried: &[u8]) -> Result<Content, &'static str> {
    let Some(kind) = carried.first() else { return Err(SHORT) };
    let reply = match (number, kind) {
        (protocol::ICMP, 8) | (ICMPV6, 128) => false,
        (protocol::ICMP, 0) | (ICMPV6, 129) => true,
        _ => return Ok(Content::Other("ICMP")),
    };
    long(carried, 4).map(|key| Content::Echo { reply, key }).ok_or(SHORT)
}

/// GRE (RFC 2784, RFC 2890); version 1 carries PPP (RFC 2637).
fn gre(data: &[u8], at: usize) -> Result<Inner, &'static str> {
    let (Some(flags), Some(protocol)) = (word(data, at), word(data, at + 2)) else { return Err(SHORT) };
    let mut next = at + 4;
    let version = flags & 7;
    if version == 0 && flags & 0x8000 != 0 {
        next += 4;
    }
    if flags & 0x2000 != 0 {
        next += 4;
    }
    if flags & 0x1000 != 0 {
        next += 4;
    }
    if version == 1 && flags & 0x0080 != 0 {
        next += 4;
    }
    Ok(Inner::Tunnel(Layer::EtherType(protocol), next))
}

/// GTP-U: a G-PDU carries IP behind optional extension headers.
fn gtp(data: &[u8], at: usize) -> Result<Inner, &'static str> {
    let (Some(flags), Some(kind)) = (data.get(at), data.get(at + 1)) else { return Err(SHORT) };
    if flags >> 5 != 1 || *kind != 255 {
        return Err("GTP control");
    }
    let mut next = at + 8;
    if flags & 7 != 0 {
        let mut following = *data.get(next + 3).ok_or(SHORT)?;
        next += 4;
        for _ in 0..8 {
            if following == 0 || flags & 4 == 0 {
                break;
            }
            let size = usize::from(*data.get(next).ok_or(SHORT)?) * 4;
            if size == 0 {
                return Err("GTP control");
            }
            following = *data.get(next + size - 1).ok_or(SHORT)?;
            next += size;
        }
    }
    Ok(Inner::Ip(next))
}
