//! Bytes of the packets of scripts, and back.

use crate::headers::{self, ACK, Ends, Options, Tcp, kind, pair, pairs, put_option};
use cogtcp_packet_scripts::{EcnCodepoint, Icmp, ScriptPacket};
use std::net::IpAddr;

/// The numbers that both directions of a connection count from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Initial {
    /// The end's under test.
    pub(crate) own: u32,
    /// The peer's.
    pub(crate) peer: u32,
}

/// The bytes of what the peer sends. Its payload is zeros.
pub(crate) fn write(packet: &ScriptPacket, initial: Initial, ends: Ends) -> Vec<u8> {
    headers::write_tcp(&Tcp {
        ends,
        // ECT(0) is 2 and ECT(1) is 1 (RFC 3168 section 5).
        ecn: match packet.ecn {
            EcnCodepoint::NotCapable => 0,
            EcnCodepoint::Capable => 2,
            EcnCodepoint::CapableOne => 1,
            EcnCodepoint::Marked => 3,
        },
        seq: initial.peer.wrapping_add(packet.start),
        ack: packet.ack.map_or(0, |ack| initial.own.wrapping_add(ack)),
        flags: packet.flags,
        window: packet.window,
        options: &options(packet, initial),
        payload: packet.len as usize,
    })
}

/// Reads a packet of TCP and its ports; `None`: it is none. Its numbers are relative to `initial`.
pub(crate) fn read(bytes: &[u8], initial: Initial) -> Option<(ScriptPacket, [u16; 2])> {
    let tcp = headers::read_tcp(bytes)?;
    let mut packet = ScriptPacket {
        flags: tcp.flags,
        start: tcp.seq.wrapping_sub(initial.own),
        len: tcp.payload as u32,
        ack: (tcp.flags & ACK != 0).then(|| tcp.ack.wrapping_sub(initial.peer)),
        window: tcp.window,
        ecn: match tcp.ecn {
            0 => EcnCodepoint::NotCapable,
            1 => EcnCodepoint::CapableOne,
            3 => EcnCodepoint::Marked,
            _ => EcnCodepoint::Capable,
        },
        ..ScriptPacket::default()
    };
    for (kind, value) in Options(tcp.options) {
        match (kind, value) {
            (kind::MSS, [high, low]) => packet.mss = Some(u16::from_be_bytes([*high, *low])),
            (kind::WINDOW_SCALE, [shift]) => packet.window_scale = Some(*shift),
            (kind::SACK_PERMITTED, []) => packet.sack_permitted = true,
            (kind::SACK, _) => {
                let relative = |number: u32| number.wrapping_sub(initial.peer);
                packet.sack = pairs(value).map(|(start, end)| (relative(start), relative(end))).collect();
            }
            (kind::TIMESTAMPS, _) => packet.timestamps = pairs(value).next(),
            _ => {}
        }
    }
    Some((packet, tcp.ends.ports()))
}

/// The absolute sequence number of a packet of TCP.
pub(crate) fn sequence(bytes: &[u8]) -> Option<u32> {
    headers::read_tcp(bytes).map(|tcp| tcp.seq)
}

/// The bytes of ICMP destination unreachable from the peer about a segment that the end has sent.
pub(crate) fn write_icmp(icmp: &Icmp, initial: Initial, ends: Ends) -> Option<Vec<u8>> {
    let about = headers::write_tcp(&Tcp {
        ends,
        ecn: 0,
        seq: initial.own.wrapping_add(icmp.quoted),
        ack: 0,
        flags: ACK,
        window: 0,
        options: &[],
        payload: 0,
    });
    let IpAddr::V4(from) = ends.to.ip() else { return None };
    headers::write_unreachable(from, icmp.code, &about)
}

fn options(packet: &ScriptPacket, initial: Initial) -> Vec<u8> {
    let mut options = Vec::new();
    let mut put = |kind, value: &[u8]| put_option(&mut options, kind, value);
    if let Some(mss) = packet.mss {
        put(kind::MSS, &mss.to_be_bytes());
    }
    if packet.sack_permitted {
        put(kind::SACK_PERMITTED, &[]);
    }
    if let Some((value, echo)) = packet.timestamps {
        put(kind::TIMESTAMPS, &pair(value, echo));
    }
    if let Some(shift) = packet.window_scale {
        put(kind::WINDOW_SCALE, &[shift]);
    }
    if !packet.sack.is_empty() {
        let own = |number: u32| initial.own.wrapping_add(number);
        let blocks = packet.sack.iter().flat_map(|(start, end)| pair(own(*start), own(*end)));
        put(kind::SACK, &blocks.collect::<Vec<_>>());
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn what_is_written_is_read() {
        let end = |host, port| (Ipv4Addr::new(100, 64, 0, host), port).into();
        let ends = Ends { from: end(2, 8080), to: end(1, 40_001) };
        let initial = Initial { own: 7, peer: u32::MAX - 3 };
        let packet = ScriptPacket {
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
            ecn: EcnCodepoint::Marked,
        };
        let bytes = write(&packet, initial, ends);
        // The peer's own numbers are the other way round when the end reads them.
        let seen = read(&bytes, Initial { own: initial.peer, peer: initial.own }).unwrap();
        assert_eq!(seen, (packet, [8080, 40_001]));
        assert_eq!(sequence(&bytes), Some(1));
        assert!(read(&bytes[..39], initial).is_none());
    }
}
