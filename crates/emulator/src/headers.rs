//! Headers of real packets, of IPv4 and IPv6, TCP and UDP, with their checksums: read and written here only.
//!
//! [`segments`](crate::segments) makes segments of the model of them for who stands in their way,
//! [`wire`](crate::wire) the packets of scripts.

use cogtcp_transport::Flags;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
/// ICMP, its type of destination unreachable, and the code that says the host is (RFC 792).
const ICMP: u8 = 1;
const UNREACHABLE: u8 = 3;
pub(crate) const HOST_UNREACHABLE: u8 = 1;
pub(crate) const IPV4_HEADER: usize = 20;
pub(crate) const IPV6_HEADER: usize = 40;
const TCP_HEADER: usize = 20;
/// Flags of TCP, as [`Tcp`] has them.
pub(crate) const SYN: u16 = Flags::SYN.bits();
pub(crate) const RST: u16 = Flags::RST.bits();
pub(crate) const ACK: u16 = Flags::ACK.bits();
/// Bytes of the header of UDP (RFC 768).
pub(crate) const UDP_HEADER: usize = 8;
/// Time to live of what is written, as Linux has it.
const LIFETIME: u8 = 64;

/// Kinds of options (RFC 9293 section 3.2, RFC 2018, RFC 7323).
pub(crate) mod kind {
    pub(crate) const END: u8 = 0;
    pub(crate) const NO_OPERATION: u8 = 1;
    pub(crate) const MSS: u8 = 2;
    pub(crate) const WINDOW_SCALE: u8 = 3;
    pub(crate) const SACK_PERMITTED: u8 = 4;
    pub(crate) const SACK: u8 = 5;
    pub(crate) const TIMESTAMPS: u8 = 8;
}

/// Addresses and ports of a packet: where it comes from and where it goes. Both are of one family.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Ends {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
}

impl Ends {
    /// The headers of the reverse path.
    pub(crate) fn reversed(self) -> Self {
        Self { from: self.to, to: self.from }
    }

    /// The ports, from and to.
    pub(crate) fn ports(&self) -> [u16; 2] {
        [self.from.port(), self.to.port()]
    }
}

/// A TCP segment as it is on the wire, but for its payload, which is a length.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Tcp<'a> {
    pub(crate) ends: Ends,
    /// Of the IP header (RFC 3168).
    pub(crate) ecn: u8,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) flags: u16,
    pub(crate) window: u16,
    pub(crate) options: &'a [u8],
    pub(crate) payload: usize,
}

/// Reads a TCP segment; `None`: the packet is none, or not a whole one, or a fragment.
pub(crate) fn read_tcp(bytes: &[u8]) -> Option<Tcp<'_>> {
    let (at, whole) = transport_of(bytes, TCP)?;
    let tcp = bytes.get(at..whole).filter(|tcp| tcp.len() >= TCP_HEADER)?;
    let header = usize::from(*tcp.get(12)? >> 4) * 4;
    Some(Tcp {
        ends: ends(bytes, tcp),
        // The traffic class of IPv6 begins in the lower half of the first byte.
        ecn: if bytes[0] >> 4 == 6 { bytes[1] >> 4 & 3 } else { bytes[1] & 3 },
        seq: long(tcp, 4),
        ack: long(tcp, 8),
        flags: short(tcp, 12) & 0x1ff,
        window: short(tcp, 14),
        options: tcp.get(TCP_HEADER..header)?,
        payload: tcp.len() - header,
    })
}

/// The bytes of a TCP segment. Its payload is zeros.
pub(crate) fn write_tcp(it: &Tcp<'_>) -> Vec<u8> {
    let header = TCP_HEADER + it.options.len();
    let mut tcp = vec![0; header + it.payload];
    let [from, to] = it.ends.ports();
    put(&mut tcp, 0, from);
    put(&mut tcp, 2, to);
    tcp[4..8].copy_from_slice(&it.seq.to_be_bytes());
    tcp[8..12].copy_from_slice(&it.ack.to_be_bytes());
    put(&mut tcp, 12, (((header / 4) as u16) << 12) | it.flags);
    put(&mut tcp, 14, it.window);
    tcp[TCP_HEADER..header].copy_from_slice(it.options);
    let checksum = !folded(pseudo_header(it.ends, TCP, tcp.len()) + sum(&tcp));
    put(&mut tcp, 16, checksum);
    packet(it.ends, it.ecn, TCP, &tcp)
}

/// Gives a TCP segment this window; the checksum follows (RFC 1624, equation 3).
pub(crate) fn set_window(bytes: &mut [u8], window: u16) {
    let Some((at, whole)) = transport_of(bytes, TCP).filter(|(at, whole)| whole - at >= TCP_HEADER) else {
        return;
    };
    let tcp = &mut bytes[at..whole];
    let sum = u32::from(!short(tcp, 16)) + u32::from(!short(tcp, 14)) + u32::from(window);
    put(tcp, 14, window);
    put(tcp, 16, !folded(sum));
}

/// Options of a TCP header, each with its kind and its value.
#[derive(Debug)]
pub(crate) struct Options<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Options<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some((&kind::NO_OPERATION, rest)) = self.0.split_first() {
            self.0 = rest;
        }
        // A last byte alone is the end of options, or padding.
        let [kind, length, ..] = *self.0 else { return None };
        let length = usize::from(length);
        // A length below two would never come to an end.
        if kind == kind::END || length < 2 || length > self.0.len() {
            return None;
        }
        let (option, rest) = self.0.split_at(length);
        self.0 = rest;
        Some((kind, &option[2..]))
    }
}

/// Adds an option, with what comes before it to fill whole words.
pub(crate) fn put_option(options: &mut Vec<u8>, kind: u8, value: &[u8]) {
    let length = 2 + value.len();
    options.extend(std::iter::repeat_n(kind::NO_OPERATION, length.next_multiple_of(4) - length));
    options.extend([kind, length as u8]);
    options.extend(value);
}

/// Two numbers of 32 bits, as timestamps and SACK blocks are.
pub(crate) fn pair(value: u32, other: u32) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&value.to_be_bytes());
    bytes[4..].copy_from_slice(&other.to_be_bytes());
    bytes
}

/// The pairs of an option's value; what is left over is none.
pub(crate) fn pairs(value: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    value.chunks_exact(8).map(|pair| (long(pair, 0), long(pair, 4)))
}

/// Reads a UDP datagram; `None`: the packet is none.
pub(crate) fn read_udp(bytes: &[u8]) -> Option<(Ends, &[u8])> {
    let (at, _) = transport_of(bytes, UDP)?;
    let length = usize::from(short(bytes.get(at..at + UDP_HEADER)?, 4));
    Some((ends(bytes, &bytes[at..]), bytes.get(at + UDP_HEADER..at + length)?))
}

/// The bytes of a UDP datagram.
pub(crate) fn write_udp(ends: Ends, payload: &[u8]) -> Vec<u8> {
    let mut udp = vec![0; UDP_HEADER];
    let [from, to] = ends.ports();
    put(&mut udp, 0, from);
    put(&mut udp, 2, to);
    put(&mut udp, 4, (UDP_HEADER + payload.len()) as u16);
    udp.extend(payload);
    // Zero says that there is none, and is the same number as all ones (RFC 768).
    let checksum = match !folded(pseudo_header(ends, UDP, udp.len()) + sum(&udp)) {
        0 => 0xffff,
        checksum => checksum,
    };
    put(&mut udp, 6, checksum);
    packet(ends, 0, UDP, &udp)
}

/// Where the transport's header begins and the packet ends, of one of this protocol that is no fragment and
/// has no extension header.
fn transport_of(bytes: &[u8], protocol: u8) -> Option<(usize, usize)> {
    let (at, its, whole) = match bytes.first()? >> 4 {
        // No fragment: neither an offset nor more to come. The bit that forbids fragments does not matter.
        4 if bytes.len() >= IPV4_HEADER && short(bytes, 6) & 0x3fff == 0 => {
            (usize::from(bytes[0] & 0x0f) * 4, bytes[9], usize::from(short(bytes, 2)))
        }
        6 if bytes.len() >= IPV6_HEADER => {
            (IPV6_HEADER, bytes[6], IPV6_HEADER + usize::from(short(bytes, 4)))
        }
        _ => return None,
    };
    let whole = whole.min(bytes.len());
    // A header of fewer than five words is none.
    (its == protocol && at >= IPV4_HEADER && whole >= at + UDP_HEADER).then_some((at, whole))
}

/// Of a packet whose transport's header is this.
fn ends(bytes: &[u8], transport: &[u8]) -> Ends {
    let address = |at: usize| -> IpAddr {
        match bytes[0] >> 4 {
            6 => Ipv6Addr::from(<[u8; 16]>::try_from(&bytes[at..at + 16]).unwrap_or_default()).into(),
            _ => Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]).into(),
        }
    };
    let [from, to] = if bytes[0] >> 4 == 6 { [8, 24] } else { [12, 16] };
    Ends {
        from: SocketAddr::new(address(from), short(transport, 0)),
        to: SocketAddr::new(address(to), short(transport, 2)),
    }
}

/// Returns ICMP destination unreachable (RFC 792) about an IPv4 packet; it quotes the header and 8 bytes.
/// `None` if the packet has fewer bytes, or is ICMP itself, about which no ICMP is sent (RFC 1122
/// section 3.2.2).
pub(crate) fn write_unreachable(from: Ipv4Addr, code: u8, about: &[u8]) -> Option<Vec<u8>> {
    if about.first()? >> 4 != 4 || *about.get(9)? == ICMP {
        return None;
    }
    let quoted = about.get(..usize::from(about[0] & 0x0f) * 4 + 8)?;
    let source: [u8; 4] = about.get(12..16)?.try_into().ok()?;
    let mut icmp = vec![UNREACHABLE, code, 0, 0, 0, 0, 0, 0];
    icmp.extend(quoted);
    let checksum = !folded(sum(&icmp));
    put(&mut icmp, 2, checksum);
    let end = |address: Ipv4Addr| SocketAddr::new(address.into(), 0);
    Some(packet(Ends { from: end(from), to: end(source.into()) }, 0, ICMP, &icmp))
}

/// The packet that ICMP destination unreachable is about, as far as it is quoted.
pub(crate) fn read_unreachable(bytes: &[u8]) -> Option<&[u8]> {
    let header = usize::from(bytes.first()? & 0x0f) * 4;
    let is_icmp = bytes[0] >> 4 == 4 && *bytes.get(9)? == ICMP && *bytes.get(header)? == UNREACHABLE;
    if is_icmp { bytes.get(header + 8..) } else { None }
}

fn packet(ends: Ends, ecn: u8, protocol: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = match (ends.from.ip(), ends.to.ip()) {
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let mut bytes = vec![0; IPV6_HEADER];
            (bytes[0], bytes[1]) = (0x60, ecn << 4);
            put(&mut bytes, 4, content.len() as u16);
            (bytes[6], bytes[7]) = (protocol, LIFETIME);
            bytes[8..24].copy_from_slice(&from.octets());
            bytes[24..40].copy_from_slice(&to.octets());
            bytes
        }
        (from, to) => {
            let mut bytes = vec![0; IPV4_HEADER];
            (bytes[0], bytes[1]) = (0x45, ecn);
            put(&mut bytes, 2, (IPV4_HEADER + content.len()) as u16);
            // Not to be cut into pieces.
            bytes[6] = 0x40;
            (bytes[8], bytes[9]) = (LIFETIME, protocol);
            for (at, address) in [(12, from), (16, to)] {
                if let IpAddr::V4(address) = address {
                    bytes[at..at + 4].copy_from_slice(&address.octets());
                }
            }
            let checksum = !folded(sum(&bytes));
            put(&mut bytes, 10, checksum);
            bytes
        }
    };
    bytes.extend(content);
    bytes
}

/// The sum of 16-bit words (RFC 1071); an odd last byte is the high half of one.
fn sum(bytes: &[u8]) -> u32 {
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

/// The sum of what the checksums of TCP and UDP cover of the IP header (RFC 9293 section 3.1, RFC 768,
/// RFC 8200 section 8.1).
fn pseudo_header(ends: Ends, protocol: u8, length: usize) -> u32 {
    let address = |address: IpAddr| match address {
        IpAddr::V4(address) => sum(&address.octets()),
        IpAddr::V6(address) => sum(&address.octets()),
    };
    address(ends.from.ip()) + address(ends.to.ip()) + u32::from(protocol) + length as u32
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Family;

    fn ends_of(family: Family) -> Ends {
        let end = |host, port| SocketAddr::new(family.address(host), port);
        Ends { from: end(1, 5001), to: end(0, 40_000) }
    }

    const BOTH: [Family; 2] = [Family::V4, Family::V6];

    /// Headers with their checksums in place, and the pseudo header, sum up to all ones.
    fn is_sound(bytes: &[u8], ends: Ends, protocol: u8) -> bool {
        let at = if ends.from.is_ipv6() { IPV6_HEADER } else { IPV4_HEADER };
        let whole = pseudo_header(ends, protocol, bytes.len() - at) + sum(&bytes[at..]);
        (at == IPV6_HEADER || folded(sum(&bytes[..at])) == 0xffff) && folded(whole) == 0xffff
    }

    fn segment(ends: Ends, options: &[u8]) -> Tcp<'_> {
        let (seq, ack) = (1 << 31, u32::MAX - 3);
        Tcp { ends, ecn: 2, seq, ack, flags: 0x18, window: 1234, options, payload: 101 }
    }

    #[test]
    fn a_segment_is_read_as_it_was_written() {
        let mut options = Vec::new();
        put_option(&mut options, kind::TIMESTAMPS, &pair(7, 1 << 30));
        put_option(&mut options, kind::WINDOW_SCALE, &[7]);
        for family in BOTH {
            let ends = ends_of(family);
            let bytes = write_tcp(&segment(ends, &options));
            assert!(is_sound(&bytes, ends, TCP), "{family:?}");
            assert_eq!(bytes.len(), family.header() as usize + 20 + 12 + 4 + 101);
            assert_eq!(read_tcp(&bytes), Some(segment(ends, &options)));
            assert_eq!(ends.reversed().reversed(), ends);
        }
        let read: Vec<_> = Options(&options).collect();
        assert_eq!(read[1], (kind::WINDOW_SCALE, &[7][..]));
        assert_eq!(pairs(read[0].1).collect::<Vec<_>>(), [(7, 1 << 30)]);
        assert_eq!(read.len(), 2);
    }

    #[test]
    fn a_window_is_closed_and_opened_with_its_checksum() {
        for ends in BOTH.map(ends_of) {
            let mut bytes = write_tcp(&segment(ends, &[]));
            let before = bytes.clone();
            for window in [0, 65_535, 1, 1234] {
                set_window(&mut bytes, window);
                assert!(is_sound(&bytes, ends, TCP), "{window}");
                assert_eq!(read_tcp(&bytes).map(|it| it.window), Some(window));
            }
            assert_eq!(bytes, before);
        }
    }

    #[test]
    fn payload_is_what_ip_says() {
        for ends in BOTH.map(ends_of) {
            let mut bytes = write_tcp(&Tcp { payload: 0, ..segment(ends, &[]) });
            bytes.extend([0; 100]);
            assert_eq!(read_tcp(&bytes).unwrap().payload, 0, "padding behind the packet");
        }
    }

    #[test]
    fn a_datagram_is_read_as_it_was_written() {
        for ends in BOTH.map(ends_of) {
            for payload in [&b"odd"[..], b"even", b""] {
                let bytes = write_udp(ends, payload);
                assert!(is_sound(&bytes, ends, UDP));
                assert_eq!(read_udp(&bytes), Some((ends, payload)));
                assert_eq!(read_tcp(&bytes), None);
            }
        }
    }

    /// Whatever stands there, reading ends.
    #[test]
    fn nothing_is_read_beyond_the_end() {
        for ends in BOTH.map(ends_of) {
            let good = write_tcp(&segment(ends, &[kind::NO_OPERATION; 8]));
            let look = |bytes: &mut [u8]| {
                let _ = (read_tcp(bytes).map(|it| Options(it.options).count()), read_udp(bytes).is_some());
                set_window(bytes, 5);
            };
            for length in 0..good.len() {
                look(&mut good[..length].to_vec());
            }
            for at in 0..good.len() {
                for value in [0, 1, 0x45, 0x4f, 0x60, 0xff] {
                    let mut bad = good.clone();
                    bad[at] = value;
                    look(&mut bad);
                }
            }
        }
    }
}
