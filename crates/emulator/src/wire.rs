//! Bytes of the packets of scripts: IPv4 and TCP headers with their checksums, and back.

use crate::checksum::{folded, pseudo_header, sum};
use crate::packet::{IPV4_HEADER, TCP};
use cogtcp_packets::{Ecn, Packet};
use std::net::SocketAddrV4;

const TCP_HEADER: usize = 20;
const ACK: u8 = 16;
/// Time to live of what the peer sends.
const LIFETIME: u8 = 64;

/// The numbers that both directions of a connection count from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Initial {
    /// The end's under test.
    pub(crate) own: u32,
    /// The peer's.
    pub(crate) peer: u32,
}

/// The bytes of what the peer sends from `from` to `to`. Its payload is zeros.
pub(crate) fn write(packet: &Packet, initial: Initial, from: SocketAddrV4, to: SocketAddrV4) -> Vec<u8> {
    let options = options(packet, initial);
    let tcp_length = TCP_HEADER + options.len() + packet.len as usize;
    let mut bytes = vec![0; IPV4_HEADER + tcp_length];
    bytes[0] = 0x45;
    bytes[1] = match packet.ecn {
        Ecn::NotCapable => 0,
        Ecn::Capable => 2,
        Ecn::Marked => 3,
    };
    bytes[2..4].copy_from_slice(&((IPV4_HEADER + tcp_length) as u16).to_be_bytes());
    (bytes[8], bytes[9]) = (LIFETIME, TCP);
    bytes[12..16].copy_from_slice(&from.ip().octets());
    bytes[16..20].copy_from_slice(&to.ip().octets());
    let checksum = !folded(sum(&bytes[..IPV4_HEADER]));
    bytes[10..12].copy_from_slice(&checksum.to_be_bytes());

    let tcp = &mut bytes[IPV4_HEADER..];
    tcp[0..2].copy_from_slice(&from.port().to_be_bytes());
    tcp[2..4].copy_from_slice(&to.port().to_be_bytes());
    tcp[4..8].copy_from_slice(&initial.peer.wrapping_add(packet.start).to_be_bytes());
    let ack = packet.ack.map_or(0, |ack| initial.own.wrapping_add(ack));
    tcp[8..12].copy_from_slice(&ack.to_be_bytes());
    tcp[12] = (((TCP_HEADER + options.len()) / 4) << 4) as u8;
    tcp[13] = packet.flags;
    tcp[14..16].copy_from_slice(&packet.window.to_be_bytes());
    tcp[TCP_HEADER..TCP_HEADER + options.len()].copy_from_slice(&options);
    let checksum = !folded(pseudo_header(*from.ip(), *to.ip(), TCP, tcp_length) + sum(tcp));
    tcp[16..18].copy_from_slice(&checksum.to_be_bytes());
    bytes
}

/// Reads a packet of TCP and its ports; `None`: it is none. Its numbers are relative to `initial`.
pub(crate) fn read(bytes: &[u8], initial: Initial) -> Option<(Packet, u16, u16)> {
    if bytes.len() < IPV4_HEADER + TCP_HEADER || bytes[0] >> 4 != 4 || bytes[9] != TCP {
        return None;
    }
    let header = usize::from(bytes[0] & 0x0f) * 4;
    let tcp = bytes.get(header..)?;
    let data = usize::from(tcp.get(12)? >> 4) * 4;
    if data < TCP_HEADER || data > tcp.len() {
        return None;
    }
    let short = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
    let flags = tcp[13];
    let mut packet = Packet {
        flags,
        start: word(tcp, 4).wrapping_sub(initial.own),
        len: (tcp.len() - data) as u32,
        ack: (flags & ACK != 0).then(|| word(tcp, 8).wrapping_sub(initial.peer)),
        window: short(14),
        ecn: match bytes[1] & 3 {
            0 => Ecn::NotCapable,
            3 => Ecn::Marked,
            _ => Ecn::Capable,
        },
        ..Packet::default()
    };
    read_options(&tcp[TCP_HEADER..data], initial, &mut packet);
    Some((packet, short(0), short(2)))
}

/// The absolute sequence number of a packet of TCP.
pub(crate) fn sequence(bytes: &[u8]) -> Option<u32> {
    let header = usize::from(bytes.first()? & 0x0f) * 4;
    bytes.get(header + 4..header + 8).map(|bytes| word(bytes, 0))
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// In whole words, filled with NOP (1).
fn options(packet: &Packet, initial: Initial) -> Vec<u8> {
    let mut options = Vec::new();
    if let Some(mss) = packet.mss {
        options.extend([2, 4]);
        options.extend(mss.to_be_bytes());
    }
    if packet.sack_permitted {
        options.extend([1, 1, 4, 2]);
    }
    if let Some((value, echo)) = packet.timestamps {
        options.extend([1, 1, 8, 10]);
        options.extend(value.to_be_bytes());
        options.extend(echo.to_be_bytes());
    }
    if let Some(shift) = packet.window_scale {
        options.extend([1, 3, 3, shift]);
    }
    if !packet.sack.is_empty() {
        options.extend([1, 1, 5, (2 + 8 * packet.sack.len()) as u8]);
        for (start, end) in &packet.sack {
            options.extend(initial.own.wrapping_add(*start).to_be_bytes());
            options.extend(initial.own.wrapping_add(*end).to_be_bytes());
        }
    }
    options
}

fn read_options(mut left: &[u8], initial: Initial, packet: &mut Packet) {
    while let [kind, rest @ ..] = left {
        match kind {
            // The end; nothing.
            0 => return,
            1 => left = rest,
            _ => {
                let length = rest.first().map_or(0, |length| usize::from(*length));
                let Some(value) = left.get(2..length) else { return };
                match (kind, value.len()) {
                    (2, 2) => packet.mss = Some(u16::from_be_bytes([value[0], value[1]])),
                    (3, 1) => packet.window_scale = Some(value[0]),
                    (4, 0) => packet.sack_permitted = true,
                    (5, size) if size % 8 == 0 => {
                        let relative = |bytes: &[u8], at| word(bytes, at).wrapping_sub(initial.peer);
                        packet.sack =
                            value.chunks(8).map(|block| (relative(block, 0), relative(block, 4))).collect();
                    }
                    (8, 8) => packet.timestamps = Some((word(value, 0), word(value, 4))),
                    _ => {}
                }
                left = &left[length..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn what_is_written_is_read_and_its_checksums_are_sound() {
        let (from, to) = (
            SocketAddrV4::new(Ipv4Addr::new(100, 64, 0, 2), 8080),
            SocketAddrV4::new(Ipv4Addr::new(100, 64, 0, 1), 40_001),
        );
        let initial = Initial { own: 7, peer: u32::MAX - 3 };
        let packet = Packet {
            flags: 16 | 2,
            start: 5,
            len: 101,
            ack: Some(9),
            window: 300,
            mss: Some(1000),
            sack_permitted: true,
            window_scale: Some(7),
            timestamps: Some((1, 2)),
            sack: vec![(1, 2)],
            ecn: Ecn::Marked,
        };
        let bytes = write(&packet, initial, from, to);
        assert_eq!(folded(sum(&bytes[..IPV4_HEADER])), 0xffff);
        let tcp = &bytes[IPV4_HEADER..];
        assert_eq!(folded(pseudo_header(*from.ip(), *to.ip(), TCP, tcp.len()) + sum(tcp)), 0xffff);
        // The peer's own numbers are the other way round when the end reads them.
        let seen = read(&bytes, Initial { own: initial.peer, peer: initial.own }).unwrap();
        assert_eq!(seen, (packet, 8080, 40_001));
        assert_eq!(sequence(&bytes), Some(1));
        assert!(read(&bytes[..39], initial).is_none());
    }
}
