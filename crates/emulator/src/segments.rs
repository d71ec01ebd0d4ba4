//! The TCP of real packets as [`Segment`]s, and back: for who stands in their way and speaks TCP with their ends.

use crate::checksum::{folded, pseudo_header, sum};
use crate::packet::{IPV4_HEADER, TCP, UDP};
use cogtcp_transport::{Flags, Segment, SeqNumber};
use std::net::Ipv4Addr;

const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
/// Kinds of options (RFC 9293 section 3.2, RFC 2018, RFC 7323).
const NO_OPERATION: u8 = 1;
const TIMESTAMPS: u8 = 8;
const SACK: u8 = 5;

/// Addresses and ports of a packet: where it comes from and where it goes.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Ends {
    pub(crate) from: (Ipv4Addr, u16),
    pub(crate) to: (Ipv4Addr, u16),
}

impl Ends {
    /// Those of the way back.
    pub(crate) fn reversed(self) -> Self {
        Self { from: self.to, to: self.from }
    }
}

/// Reads a TCP segment; `None`: the packet is none, or not a whole one. Of the options of a handshake none is read.
pub(crate) fn read(bytes: &[u8]) -> Option<(Ends, Segment)> {
    let at = transport_of(bytes, TCP)?;
    let tcp = bytes.get(at..)?;
    let header = usize::from(*tcp.get(12)? >> 4) * 4;
    let whole = usize::from(word(bytes, 2)).min(bytes.len());
    if header < TCP_HEADER || at + header > whole {
        return None;
    }
    let seq = |from: usize| SeqNumber::new(u32::from(word(tcp, from)) << 16 | u32::from(word(tcp, from + 2)));
    let len = (whole - at - header) as u32;
    let mut segment = Segment::new(seq(4), seq(8), len, word(tcp, 14), Flags::from_bits(tcp[13]));
    let mut options = &tcp[TCP_HEADER..header];
    while let Some((&kind, rest)) = options.split_first() {
        let size = match (kind, rest.first()) {
            (0, _) | (2.., None) => break,
            (NO_OPERATION, _) => 1,
            (_, Some(&size)) => usize::from(size),
        };
        let Some(option) = options.get(..size).filter(|_| size > 0) else { break };
        let number = |at: usize| u32::from(word(option, at)) << 16 | u32::from(word(option, at + 2));
        match (kind, size) {
            (TIMESTAMPS, 10) => segment.set_timestamps(number(2), number(6)),
            (SACK, _) => {
                for at in (2..size.saturating_sub(7)).step_by(8) {
                    segment.push_sack(SeqNumber::new(number(at)), SeqNumber::new(number(at + 4)));
                }
            }
            _ => {}
        }
        options = &options[size..];
    }
    Some((ends(bytes, at), segment))
}

/// Gives a TCP segment this window; the checksum follows (RFC 1624, equation 3).
pub(crate) fn set_window(bytes: &mut [u8], window: u16) {
    let Some(at) = transport_of(bytes, TCP).filter(|at| bytes.len() >= at + TCP_HEADER) else { return };
    let before = word(bytes, at + 14);
    let sum = u32::from(!word(bytes, at + 16)) + u32::from(!before) + u32::from(window);
    put(bytes, at + 14, window);
    put(bytes, at + 16, !folded(sum));
}

/// The packet of a pure ACK with timestamps and SACK blocks as `segment` has them.
pub(crate) fn acknowledgement(ends: Ends, segment: &Segment) -> Vec<u8> {
    let mut options = Vec::new();
    if let Some(stamps) = segment.timestamps() {
        options.extend([NO_OPERATION, NO_OPERATION, TIMESTAMPS, 10]);
        options.extend(stamps.value.to_be_bytes());
        options.extend(stamps.echo.to_be_bytes());
    }
    if !segment.sack().is_empty() {
        options.extend([NO_OPERATION, NO_OPERATION, SACK, 2 + 8 * segment.sack().len() as u8]);
        for block in segment.sack() {
            options.extend(block.start.get().to_be_bytes());
            options.extend(block.end.get().to_be_bytes());
        }
    }
    let header = TCP_HEADER + options.len();
    let mut tcp = vec![0; TCP_HEADER];
    put(&mut tcp, 0, ends.from.1);
    put(&mut tcp, 2, ends.to.1);
    tcp[4..8].copy_from_slice(&segment.seq.get().to_be_bytes());
    tcp[8..12].copy_from_slice(&segment.ack.get().to_be_bytes());
    tcp[12] = ((header / 4) as u8) << 4;
    tcp[13] = segment.flags.bits();
    put(&mut tcp, 14, segment.window);
    tcp.extend(options);
    let sum = pseudo_header(ends.from.0, ends.to.0, TCP, header);
    put_checksum(&mut tcp, 16, sum);
    packet(ends, TCP, &tcp)
}

/// The packet of a UDP datagram.
pub(crate) fn datagram(ends: Ends, payload: &[u8]) -> Vec<u8> {
    let mut udp = vec![0; UDP_HEADER];
    put(&mut udp, 0, ends.from.1);
    put(&mut udp, 2, ends.to.1);
    put(&mut udp, 4, (UDP_HEADER + payload.len()) as u16);
    udp.extend(payload);
    let sum = pseudo_header(ends.from.0, ends.to.0, UDP, udp.len());
    put_checksum(&mut udp, 6, sum);
    packet(ends, UDP, &udp)
}

/// Reads a UDP datagram; `None`: the packet is none.
pub(crate) fn read_datagram(bytes: &[u8]) -> Option<(Ends, &[u8])> {
    let at = transport_of(bytes, UDP)?;
    let length = usize::from(word(bytes.get(at..at + UDP_HEADER)?, 4));
    Some((ends(bytes, at), bytes.get(at + UDP_HEADER..at + length)?))
}

/// Where the transport's header begins, of an IPv4 packet of this protocol that is no fragment.
fn transport_of(bytes: &[u8], protocol: u8) -> Option<usize> {
    if bytes.len() < IPV4_HEADER || bytes[0] >> 4 != 4 || bytes[9] != protocol || word(bytes, 6) & 0x3fff != 0
    {
        return None;
    }
    let at = usize::from(bytes[0] & 0x0f) * 4;
    (bytes.len() >= at + UDP_HEADER).then_some(at)
}

fn ends(bytes: &[u8], at: usize) -> Ends {
    let address = |at: usize| Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
    Ends { from: (address(12), word(bytes, at)), to: (address(16), word(bytes, at + 2)) }
}

fn packet(ends: Ends, protocol: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; IPV4_HEADER];
    bytes[0] = 0x45;
    put(&mut bytes, 2, (IPV4_HEADER + content.len()) as u16);
    // Not to be cut into pieces; time to live as Linux has it.
    bytes[6] = 0x40;
    (bytes[8], bytes[9]) = (64, protocol);
    bytes[12..16].copy_from_slice(&ends.from.0.octets());
    bytes[16..20].copy_from_slice(&ends.to.0.octets());
    put_checksum(&mut bytes, 10, 0);
    bytes.extend(content);
    bytes
}

/// The checksum of all of `bytes`, and of what `before` is the sum of (RFC 1071), where nothing stands yet.
fn put_checksum(bytes: &mut [u8], at: usize, before: u32) {
    let checksum = !folded(before + sum(bytes));
    put(bytes, at, checksum);
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: Ends =
        Ends { from: (Ipv4Addr::new(100, 64, 0, 2), 5001), to: (Ipv4Addr::new(100, 64, 0, 1), 40_000) };

    /// Headers with their checksums in place, and the pseudo header, sum up to all ones.
    fn is_sound(bytes: &[u8], protocol: u8) -> bool {
        let content = &bytes[IPV4_HEADER..];
        let whole = pseudo_header(ENDS.from.0, ENDS.to.0, protocol, content.len()) + sum(content);
        folded(sum(&bytes[..IPV4_HEADER])) == 0xffff && folded(whole) == 0xffff
    }

    fn segment() -> Segment {
        let number = SeqNumber::new;
        let mut segment = Segment::new(number(1 << 31), number(0xffff_fff0), 0, 1234, Flags::ACK);
        segment.set_timestamps(7, 1 << 30);
        segment.push_sack(number(0xffff_fff8), number(8));
        segment.push_sack(number(20), number(30));
        segment
    }

    #[test]
    fn an_acknowledgement_is_read_as_it_was_written() {
        let bytes = acknowledgement(ENDS, &segment());
        assert!(is_sound(&bytes, TCP));
        assert_eq!(bytes.len(), 20 + segment().options_size() as usize + 20);
        assert_eq!(read(&bytes), Some((ENDS, segment())));
        assert_eq!(ENDS.reversed().reversed(), ENDS);
    }

    #[test]
    fn a_window_is_closed_and_opened_with_its_checksum() {
        let mut bytes = acknowledgement(ENDS, &segment());
        let before = bytes.clone();
        for window in [0, 65_535, 1, 1234] {
            set_window(&mut bytes, window);
            assert!(is_sound(&bytes, TCP), "{window}");
            assert_eq!(read(&bytes).map(|(_, segment)| segment.window), Some(window));
        }
        assert_eq!(bytes, before);
    }

    #[test]
    fn payload_is_what_ip_says() {
        let mut bytes = acknowledgement(ENDS, &segment());
        bytes.extend([0; 100]);
        assert_eq!(read(&bytes).unwrap().1.len, 0, "padding behind the packet");
        let whole = bytes.len() as u16;
        put(&mut bytes, 2, whole);
        assert_eq!(read(&bytes).unwrap().1.len, 100);
    }

    #[test]
    fn a_datagram_is_read_as_it_was_written() {
        for payload in [&b"odd"[..], b"even", b""] {
            let bytes = datagram(ENDS, payload);
            assert!(is_sound(&bytes, UDP));
            assert_eq!(read_datagram(&bytes), Some((ENDS, payload)));
            assert_eq!(read(&bytes), None);
        }
    }

    /// Whatever stands there, reading ends.
    #[test]
    fn nothing_is_read_beyond_the_end() {
        let good = acknowledgement(ENDS, &segment());
        for length in 0..good.len() {
            let _ = (read(&good[..length]), read_datagram(&good[..length]));
            set_window(&mut good[..length].to_vec(), 5);
        }
        for at in 0..good.len() {
            for value in [0, 1, 0x45, 0x4f, 0xff] {
                let mut bad = good.clone();
                bad[at] = value;
                let _ = read(&bad);
                set_window(&mut bad, 5);
            }
        }
    }
}
