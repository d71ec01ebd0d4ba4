//! Writes headers with their checksums. Payloads are zeros, which add nothing to a checksum.

use crate::{
    IPV4_HEADER, IPV6_HEADER, LIFETIME, PacketEnds, TCP_HEADER, UDP_HEADER, UNREACHABLE, WireSegment,
    protocol, read_ip,
};
use std::net::{IpAddr, Ipv4Addr};

/// Addresses of an IP header and its fields that are not constant.
#[derive(Clone, Copy, Debug)]
pub struct IpEnds {
    /// Source.
    pub from: IpAddr,
    /// Destination, of the same family.
    pub to: IpAddr,
    /// ECN bits (RFC 3168).
    pub ecn: u8,
    /// Time to live, or hop limit.
    pub ttl: u8,
}

impl WireSegment {
    /// Returns the header's bytes between these addresses and ports.
    pub fn header(&self, ip: &IpEnds, ports: [u16; 2]) -> Vec<u8> {
        let options = self.options.bytes();
        let length = TCP_HEADER + options.len();
        let mut bytes = Vec::with_capacity(length);
        ports.iter().for_each(|port| bytes.extend(port.to_be_bytes()));
        bytes.extend(self.seq.to_be_bytes());
        bytes.extend(self.ack.to_be_bytes());
        bytes.extend((((length / 4) as u16) << 12 | self.flags).to_be_bytes());
        bytes.extend(self.window.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(options);
        let sum = pseudo_header(ip, protocol::TCP, length + self.payload) + sum(&bytes);
        put(&mut bytes, 16, !folded(sum));
        bytes
    }
}

/// Returns the bytes of a TCP segment, with a payload of zeros.
pub fn write_tcp(ends: PacketEnds, tcp: &WireSegment) -> Vec<u8> {
    let ip = of(ends, tcp.ecn);
    let header = tcp.header(&ip, ends.ports());
    let mut bytes = ip_header(&ip, protocol::TCP, header.len() + tcp.payload);
    bytes.extend(header);
    bytes.resize(bytes.len() + tcp.payload, 0);
    bytes
}

/// Returns the bytes of a UDP datagram.
pub fn write_udp(ends: PacketEnds, payload: &[u8]) -> Vec<u8> {
    let ip = of(ends, 0);
    let mut bytes = ip_header(&ip, protocol::UDP, UDP_HEADER + payload.len());
    bytes.extend(udp_header(&ip, ends.ports(), payload, payload.len()));
    bytes.extend(payload);
    bytes
}

/// Returns UDP's header of a datagram with `length` bytes of payload, zeros beyond `payload`.
pub fn udp_header(ip: &IpEnds, ports: [u16; 2], payload: &[u8], length: usize) -> [u8; UDP_HEADER] {
    let length = UDP_HEADER + length;
    let mut bytes = [0; UDP_HEADER];
    put(&mut bytes, 0, ports[0]);
    put(&mut bytes, 2, ports[1]);
    put(&mut bytes, 4, length as u16);
    // Zero says that there is none, and is the same number as all ones (RFC 768).
    let checksum = match !folded(pseudo_header(ip, protocol::UDP, length) + sum(&bytes) + sum(payload)) {
        0 => 0xffff,
        checksum => checksum,
    };
    put(&mut bytes, 6, checksum);
    bytes
}

/// Returns a message of ICMP destination unreachable without its IP header (RFC 792). It quotes the IP header
/// of the packet that it is about, and 8 bytes. `None` if the packet has fewer bytes, or is of IPv6, or is
/// ICMP itself, about which no ICMP is sent (RFC 1122 section 3.2.2).
pub fn unreachable(code: u8, about: &[u8]) -> Option<Vec<u8>> {
    let ip = read_ip(about).ok().filter(|ip| ip.from().is_ipv4() && ip.protocol != protocol::ICMP)?;
    let mut bytes = vec![UNREACHABLE, code, 0, 0, 0, 0, 0, 0];
    bytes.extend(about.get(..ip.begins + 8)?);
    let checksum = !folded(sum(&bytes));
    put(&mut bytes, 2, checksum);
    Some(bytes)
}

/// Returns a packet with such a message, from this address to the packet's source.
pub fn write_unreachable(from: Ipv4Addr, code: u8, about: &[u8]) -> Option<Vec<u8>> {
    let message = unreachable(code, about)?;
    let ip = IpEnds { from: from.into(), to: read_ip(about).ok()?.from(), ecn: 0, ttl: LIFETIME };
    let mut bytes = ip_header(&ip, protocol::ICMP, message.len());
    bytes.extend(message);
    Some(bytes)
}

/// Returns the header of an IP packet with `content` bytes behind it: not to be fragmented, identification 0
/// (RFC 6864). A length that the field cannot hold is 0 there, as where segmentation is offloaded.
pub fn ip_header(ip: &IpEnds, protocol: u8, content: usize) -> Vec<u8> {
    let field = |length: usize| u16::try_from(length).unwrap_or(0);
    match (ip.from, ip.to) {
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let mut bytes = vec![0; IPV6_HEADER];
            (bytes[0], bytes[1]) = (0x60, ip.ecn << 4);
            put(&mut bytes, 4, field(content));
            (bytes[6], bytes[7]) = (protocol, ip.ttl);
            bytes[8..24].copy_from_slice(&from.octets());
            bytes[24..40].copy_from_slice(&to.octets());
            bytes
        }
        (from, to) => {
            let mut bytes = vec![0; IPV4_HEADER];
            (bytes[0], bytes[1]) = (0x45, ip.ecn);
            put(&mut bytes, 2, field(IPV4_HEADER + content));
            bytes[6] = 0x40;
            (bytes[8], bytes[9]) = (ip.ttl, protocol);
            for (at, address) in [(12, from), (16, to)] {
                if let IpAddr::V4(address) = address {
                    bytes[at..at + 4].copy_from_slice(&address.octets());
                }
            }
            let checksum = !folded(sum(&bytes));
            put(&mut bytes, 10, checksum);
            bytes
        }
    }
}

/// Sets the window of a TCP segment; the checksum follows (RFC 1624, equation 3).
pub fn set_window(bytes: &mut [u8], window: u16) {
    let Some((begins, length)) = read_ip(bytes)
        .ok()
        .filter(|ip| ip.protocol == protocol::TCP && !ip.is_fragment && ip.content.len() >= TCP_HEADER)
        .map(|ip| (ip.begins, ip.content.len()))
    else {
        return;
    };
    let tcp = &mut bytes[begins..begins + length];
    let field = |at| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
    let sum = u32::from(!field(16)) + u32::from(!field(14)) + u32::from(window);
    put(tcp, 14, window);
    put(tcp, 16, !folded(sum));
}

/// Sets congestion experienced (RFC 3168 section 5) in an IP packet, and the header's checksum to match
/// (RFC 1624, equation 3). IPv6 has none.
pub fn mark(bytes: &mut [u8]) {
    if bytes[0] >> 4 == 6 {
        bytes[1] |= 3 << 4;
        return;
    }
    let field = |bytes: &[u8], at| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let before = field(bytes, 0);
    bytes[1] |= 3;
    let sum = u32::from(!field(bytes, 10)) + u32::from(!before) + u32::from(field(bytes, 0));
    put(bytes, 10, !folded(sum));
}

/// Returns the internet checksum of bytes (RFC 1071).
pub fn checksum(bytes: &[u8]) -> u16 {
    !folded(sum(bytes))
}

/// Folds a sum in one's complement. Its complement is the checksum.
fn folded(sum: u32) -> u16 {
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

fn of(ends: PacketEnds, ecn: u8) -> IpEnds {
    IpEnds { from: ends.from.ip(), to: ends.to.ip(), ecn, ttl: LIFETIME }
}

/// Sums 16-bit words (RFC 1071); an odd last byte is the high half of one.
fn sum(bytes: &[u8]) -> u32 {
    bytes
        .chunks(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)])))
        .sum()
}

/// Sums what the checksums of TCP and UDP cover of the IP header (RFC 9293 section 3.1, RFC 768, RFC 8200
/// section 8.1).
fn pseudo_header(ip: &IpEnds, protocol: u8, length: usize) -> u32 {
    let address = |address: IpAddr| match address {
        IpAddr::V4(address) => sum(&address.octets()),
        IpAddr::V6(address) => sum(&address.octets()),
    };
    let length = length as u32;
    address(ip.from) + address(ip.to) + u32::from(protocol) + (length >> 16) + (length & 0xffff)
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TcpOptions, read_tcp, read_udp, read_unreachable};
    use std::net::SocketAddr;

    fn both() -> [PacketEnds; 2] {
        [["100.64.0.2:5001", "100.64.0.1:40000"], ["[fd63::2]:5001", "[fd63::1]:40000"]].map(|ends| {
            let [from, to] = ends.map(|end| end.parse::<SocketAddr>().unwrap());
            PacketEnds { from, to }
        })
    }

    /// Headers with their checksums in place, and the pseudo header, sum up to all ones.
    fn is_sound(bytes: &[u8], ends: PacketEnds, protocol: u8) -> bool {
        let at = if ends.from.is_ipv6() { IPV6_HEADER } else { IPV4_HEADER };
        let whole = pseudo_header(&of(ends, 0), protocol, bytes.len() - at) + sum(&bytes[at..]);
        (at == IPV6_HEADER || checksum(&bytes[..at]) == 0) && folded(whole) == 0xffff
    }

    fn segment() -> WireSegment {
        let options =
            TcpOptions { timestamps: Some((7, 1 << 30)), window_scale: Some(7), ..TcpOptions::default() };
        WireSegment {
            ecn: 2,
            seq: 1 << 31,
            ack: u32::MAX - 3,
            flags: 0x118,
            window: 1234,
            options,
            payload: 101,
        }
    }

    #[test]
    fn a_segment_is_read_as_it_was_written() {
        for ends in both() {
            let bytes = write_tcp(ends, &segment());
            assert!(is_sound(&bytes, ends, protocol::TCP));
            let ip = if ends.from.is_ipv6() { 40 } else { 20 };
            assert_eq!(bytes.len(), ip + 20 + 12 + 4 + 101);
            assert_eq!(read_tcp(&bytes), Some((ends, segment())));
            assert_eq!(ends.reversed().reversed(), ends);
            assert_eq!(read_tcp(&bytes[..ip + 35]), None, "cut off within its options");
        }
    }

    #[test]
    fn a_window_is_closed_and_opened_with_its_checksum() {
        for ends in both() {
            let mut bytes = write_tcp(ends, &segment());
            let before = bytes.clone();
            for window in [0, 65_535, 1, 1234] {
                set_window(&mut bytes, window);
                assert!(is_sound(&bytes, ends, protocol::TCP), "{window}");
                assert_eq!(read_tcp(&bytes).map(|(_, it)| it.window), Some(window));
            }
            assert_eq!(bytes, before);
        }
    }

    #[test]
    fn payload_is_what_ip_says() {
        for ends in both() {
            let mut bytes = write_tcp(ends, &WireSegment { payload: 0, ..segment() });
            bytes.extend([0; 100]);
            assert_eq!(read_tcp(&bytes).unwrap().1.payload, 0, "padding behind the packet");
        }
    }

    #[test]
    fn a_datagram_is_read_as_it_was_written() {
        for ends in both() {
            for payload in [&b"odd"[..], b"even", b""] {
                let bytes = write_udp(ends, payload);
                assert!(is_sound(&bytes, ends, protocol::UDP));
                assert_eq!(read_udp(&bytes), Some((ends, payload)));
                assert_eq!(read_tcp(&bytes), None);
            }
        }
    }

    #[test]
    fn an_unreachable_host_quotes_the_packet_and_eight_bytes() {
        let [v4, v6] = both();
        let about = write_tcp(v4, &segment());
        let message = unreachable(1, &about).unwrap();
        assert_eq!((message[..2].to_vec(), checksum(&message)), (vec![3, 1], 0));
        assert_eq!(message[8..], about[..28]);
        assert_eq!(unreachable(1, &about[..27]), None);
        assert_eq!(unreachable(1, &write_tcp(v6, &segment())), None);
        let whole = write_unreachable(Ipv4Addr::LOCALHOST, 1, &about).unwrap();
        assert_eq!(read_unreachable(&whole), Some(&about[..28]));
        assert_eq!(unreachable(1, &whole), None, "none about ICMP");
    }

    /// Whatever stands there, reading ends.
    #[test]
    fn nothing_is_read_beyond_the_end() {
        for ends in both() {
            let good = write_tcp(ends, &segment());
            let look = |bytes: &mut [u8]| {
                let _ = (read_tcp(bytes), read_udp(bytes), unreachable(1, bytes));
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

    /// RFC 3168 section 5: both ECN bits are set, and nothing else changes.
    #[test]
    fn a_mark_sets_both_bits_and_keeps_the_checksum() {
        for ends in both() {
            for ecn in 0..4 {
                let mut bytes = write_tcp(ends, &WireSegment { ecn, ..segment() });
                mark(&mut bytes);
                assert_eq!(bytes, write_tcp(ends, &WireSegment { ecn: 3, ..segment() }), "{ecn}");
            }
            // The other six bits of the octet stay: DSCP 46, and of IPv6 the flow label.
            let mut bytes = write_tcp(ends, &segment());
            let sound = is_sound(&bytes, ends, protocol::TCP);
            if ends.from.is_ipv6() {
                (bytes[0], bytes[1], bytes[2]) = (0x6b, 0x8f, 0xff);
                mark(&mut bytes);
                assert_eq!((sound, bytes[0], bytes[1], bytes[2]), (true, 0x6b, 0xbf, 0xff));
            } else {
                bytes[1] = 46 << 2;
                put(&mut bytes, 10, 0);
                let sum = checksum(&bytes[..20]);
                put(&mut bytes, 10, sum);
                mark(&mut bytes);
                assert_eq!((bytes[1], checksum(&bytes[..20])), (46 << 2 | 3, 0));
            }
        }
    }

    /// RFC 791 and RFC 8200 by hand; a length that the field cannot hold is 0 there.
    #[test]
    fn headers_of_ip_by_hand() {
        let [v4, v6] = both().map(|ends| IpEnds { from: ends.from.ip(), to: ends.to.ip(), ecn: 2, ttl: 9 });
        let bytes = ip_header(&v4, 17, 8);
        assert_eq!(bytes[..10], [0x45, 2, 0, 28, 0, 0, 0x40, 0, 9, 17]);
        assert_eq!((&bytes[12..], checksum(&bytes)), (&[100, 64, 0, 2, 100, 64, 0, 1][..], 0));
        let bytes = ip_header(&v6, 17, 8);
        assert_eq!(bytes[..8], [0x60, 2 << 4, 0, 0, 0, 8, 17, 9]);
        assert_eq!((bytes.len(), bytes[8], bytes[23], bytes[24], bytes[39]), (40, 0xfd, 2, 0xfd, 1));
        // IPv4 counts its own header, IPv6 does not.
        for (content, v4_length, v6_length) in
            [(65_515, [255, 255], [255, 235]), (65_516, [0, 0], [255, 236]), (65_536, [0, 0], [0, 0])]
        {
            assert_eq!(ip_header(&v4, 6, content)[2..4], v4_length, "{content}");
            assert_eq!(ip_header(&v6, 6, content)[4..6], v6_length, "{content}");
        }
    }

    /// RFC 1071: carries are added back, twice if need be. The example of its section 3 sums up to 0xddf2.
    #[test]
    fn checksums_by_hand() {
        assert_eq!(checksum(&[0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!((checksum(&[]), checksum(&[1]), checksum(&[0xff, 0xff])), (0xffff, 0xfeff, 0));
        assert_eq!((folded(0xffff_ffff), folded(0x1_ffff), folded(0x1_0000)), (0xffff, 1, 1));
        // The length of a segment beyond 64 KiB is two words of the pseudo header.
        let ip =
            IpEnds { from: Ipv4Addr::UNSPECIFIED.into(), to: Ipv4Addr::UNSPECIFIED.into(), ecn: 0, ttl: 0 };
        assert_eq!(pseudo_header(&ip, 6, 0x2_0003), 6 + 2 + 3);
        assert_eq!(pseudo_header(&ip, 6, 0xffff), 6 + 0xffff);
        // A datagram's checksum of zero is written as all ones (RFC 768): 17 + 2 * 8 + port = 0xffff.
        let port = 0xffff - 17 - 16;
        assert_eq!(udp_header(&ip, [port, 0], &[], 0), [0xff, 0xde, 0, 0, 0, 8, 0xff, 0xff]);
    }

    #[test]
    fn a_window_is_set_in_whole_tcp_segments_alone() {
        let [v4, _] = both();
        let whole = write_tcp(v4, &WireSegment { payload: 0, ..WireSegment::default() });
        let changes = |bytes: &[u8]| {
            let mut after = bytes.to_vec();
            set_window(&mut after, 9);
            after != bytes
        };
        assert!(changes(&whole));
        assert!(!changes(&whole[..39]), "one byte short of TCP's header");
        for (at, value, what) in [(9, 17, "UDP"), (6, 0x20, "a fragment"), (7, 1, "a later fragment")] {
            let mut other = whole.clone();
            other[at] = value;
            assert!(!changes(&other), "{what}");
        }
    }

    #[test]
    fn fragments_and_cut_packets_are_none() {
        let [v4, v6] = both();
        let (tcp, udp) = (write_tcp(v4, &segment()), write_udp(v4, b"abc"));
        assert!(read_tcp(&tcp).is_some() && read_udp(&udp).is_some());
        for (at, value) in [(6, 0x20), (7, 1)] {
            let spoilt = |bytes: &[u8]| [&bytes[..at], &[value], &bytes[at + 1..]].concat();
            assert_eq!((read_tcp(&spoilt(&tcp)), read_udp(&spoilt(&udp))), (None, None));
        }
        assert_eq!(read_udp(&udp[..30]), None, "a byte of the payload is missing");
        assert_eq!((read_udp(&tcp), read_tcp(&udp), read_unreachable(&tcp)), (None, None, None));
        // Only destination unreachable is read as such.
        let whole = write_unreachable(Ipv4Addr::LOCALHOST, 1, &tcp).unwrap();
        assert_eq!(whole[..2], [0x45, 0], "no ECN");
        let echo = [&whole[..20], &[8], &whole[21..]].concat();
        assert_eq!((read_unreachable(&echo), read_unreachable(&whole[..27])), (None, None));
        assert_eq!(read_unreachable(&whole[..28]), Some(&[][..]));
        // IPv6 without a length, as from a card that segments: everything there is content, the total unknown.
        let mut bytes = write_tcp(v6, &segment());
        let ip = read_ip(&bytes).unwrap();
        assert_eq!((ip.total, ip.identification, ip.is_fragment), (177, 0, false));
        (bytes[4], bytes[5]) = (0, 0);
        let ip = read_ip(&bytes).unwrap();
        assert_eq!((ip.total, ip.content.len(), ip.ecn), (0, 137, 2));
        // One byte of content.
        (bytes[4], bytes[5]) = (0, 1);
        let ip = read_ip(&bytes).unwrap();
        assert_eq!((ip.total, ip.content.len()), (41, 1));
    }
}
