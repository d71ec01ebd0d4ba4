//! From the IP header to what a fit needs of TCP, UDP and ICMP; tunnels within IP are peeled.

use crate::peel::{Layer, Peeled, peel};
use etherparse::{IpNumber, LaxIpSlice, TcpOptionElement, TcpSlice};

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
    pub(crate) flags: u8,
    pub(crate) payload: u32,
    pub(crate) window: u16,
    pub(crate) stamps: Option<(u32, u32)>,
    pub(crate) mss: u16,
    pub(crate) scale: Option<u8>,
    pub(crate) sack: Vec<(u32, u32)>,
}

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
    let (ip, _) = LaxIpSlice::from_slice(bytes).map_err(|_| {
        if bytes.first().is_some_and(|first| matches!(first >> 4, 4 | 6)) {
            SHORT
        } else {
            "packets that are not IP"
        }
    })?;
    let on_wire = length.saturating_sub(u32::try_from(at).unwrap_or(u32::MAX));
    let (source, target, total, identification) = match &ip {
        LaxIpSlice::Ipv4(v4) => {
            let header = v4.header();
            // Only the first fragment has the header of what it carries.
            if header.fragments_offset().value() != 0 {
                return Err("later fragments");
            }
            // A sender that leaves segmentation to its network card may write 0.
            let total = Some(u32::from(header.total_len())).filter(|total| *total != 0).unwrap_or(on_wire);
            (mapped(header.source()), mapped(header.destination()), total, header.identification())
        }
        LaxIpSlice::Ipv6(v6) => {
            let header = v6.header();
            if v6.is_payload_fragmented() {
                return Err("fragments of IPv6");
            }
            let total = Some(u32::from(header.payload_length())).filter(|length| *length != 0);
            (header.source(), header.destination(), total.map_or(on_wire, |length| length + 40), 0)
        }
    };
    let payload = ip.payload();
    // Everything is a part of `data`: lengths tell where.
    let begins = payload.payload.as_ptr() as usize - data.as_ptr() as usize;
    let head = u32::try_from(begins - at).unwrap_or(u32::MAX);
    let carried = payload.payload;
    let rest = total.saturating_sub(head);
    let (content, ports) = match payload.ip_number {
        IpNumber::TCP => tcp(carried, rest)?,
        IpNumber::UDP => {
            let (Some(from), Some(to)) = (word(carried, 0), word(carried, 2)) else { return Err(SHORT) };
            if from == GTP_U || to == GTP_U {
                return gtp(data, begins + 8);
            }
            if to == VXLAN {
                return Ok(Inner::Tunnel(Layer::Ethernet, begins + 16));
            }
            let first = carried.get(8).copied().unwrap_or(0);
            (Content::Datagram { first, payload: rest.saturating_sub(8) }, (from, to))
        }
        IpNumber::ICMP | IpNumber::IPV6_ICMP => (echo(payload.ip_number, carried)?, (0, 0)),
        IpNumber::GRE => return gre(data, begins),
        IpNumber::IPV4 | IpNumber::IPV6 => return Ok(Inner::Ip(begins)),
        IpNumber::SCTP => return Err("SCTP"),
        IpNumber::ENCAPSULATING_SECURITY_PAYLOAD => return Err("encrypted IP (ESP)"),
        _ => return Err("other protocols over IP"),
    };
    Ok(Inner::IpPacket(Box::new(IpPacket {
        source: (source, ports.0),
        target: (target, ports.1),
        size: total,
        identification,
        hash: hash(&source, &target, identification, total, carried),
        content,
    })))
}

fn mapped(v4: [u8; 4]) -> [u8; 16] {
    std::net::Ipv4Addr::from(v4).to_ipv6_mapped().octets()
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
    let Some(fixed) = carried.first_chunk::<20>() else { return Err(SHORT) };
    let header = u32::from(fixed[12] >> 4) * 4;
    if header < 20 {
        return Err("damaged TCP headers");
    }
    let mut found = Tcp {
        seq: long(fixed, 4).unwrap_or(0),
        ack: long(fixed, 8).unwrap_or(0),
        flags: fixed[13],
        window: word(fixed, 14).unwrap_or(0),
        payload: rest.saturating_sub(header),
        ..Tcp::default()
    };
    // Where the capture cut options off, the whole ones before the cut count.
    let padded;
    let slice = match TcpSlice::from_slice(carried) {
        Ok(slice) => Some(slice),
        Err(_) => {
            padded = {
                let mut bytes = carried.to_vec();
                bytes.resize((header as usize).max(bytes.len()), 0);
                bytes
            };
            TcpSlice::from_slice(&padded).ok()
        }
    };
    for option in slice.iter().flat_map(|slice| slice.options_iterator()) {
        match option {
            Ok(TcpOptionElement::MaximumSegmentSize(mss)) => found.mss = mss,
            Ok(TcpOptionElement::WindowScale(scale)) => found.scale = Some(scale),
            Ok(TcpOptionElement::Timestamp(value, echo)) => found.stamps = Some((value, echo)),
            Ok(TcpOptionElement::SelectiveAcknowledgement(first, others)) => {
                found.sack.push(first);
                found.sack.extend(others.into_iter().flatten());
            }
            Ok(_) => {}
            // An unknown or damaged option: the iterator ends here.
            Err(_) => break,
        }
    }
    let ports = (word(fixed, 0).unwrap_or(0), word(fixed, 2).unwrap_or(0));
    Ok((Content::Tcp(found), ports))
}

fn echo(number: IpNumber, carried: &[u8]) -> Result<Content, &'static str> {
    let Some(kind) = carried.first() else { return Err(SHORT) };
    let reply = match (number, kind) {
        (IpNumber::ICMP, 8) | (IpNumber::IPV6_ICMP, 128) => false,
        (IpNumber::ICMP, 0) | (IpNumber::IPV6_ICMP, 129) => true,
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
