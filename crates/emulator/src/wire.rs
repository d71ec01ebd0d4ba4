//! Bytes of the packets of scripts, and back.

use cogtcp_headers::{self as headers, PacketEnds, TcpOptions, WireSegment};
use cogtcp_packet_scripts::{EcnCodepoint, Icmp, ScriptPacket};
use cogtcp_transport::Flags;
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
pub(crate) fn write(packet: &ScriptPacket, initial: Initial, ends: PacketEnds) -> Vec<u8> {
    let own = |number: u32| initial.own.wrapping_add(number);
    let mut options = TcpOptions {
        mss: packet.mss,
        window_scale: packet.window_scale,
        sack_permitted: packet.sack_permitted,
        timestamps: packet.timestamps,
        ..TcpOptions::default()
    };
    packet.sack.iter().for_each(|(start, end)| options.sack.push(own(*start), own(*end)));
    let tcp = WireSegment {
        // ECT(0) is 2 and ECT(1) is 1 (RFC 3168 section 5).
        ecn: match packet.ecn {
            EcnCodepoint::NotCapable => 0,
            EcnCodepoint::Capable => 2,
            EcnCodepoint::CapableOne => 1,
            EcnCodepoint::Marked => 3,
        },
        seq: initial.peer.wrapping_add(packet.start),
        ack: packet.ack.map_or(0, own),
        flags: packet.flags,
        window: packet.window,
        options,
        payload: packet.len as usize,
    };
    headers::write_tcp(ends, &tcp)
}

/// Reads a packet of TCP and its ports; `None`: it is none. Its numbers are relative to `initial`.
pub(crate) fn read(bytes: &[u8], initial: Initial) -> Option<(ScriptPacket, [u16; 2])> {
    let (ends, tcp) = headers::read_tcp(bytes)?;
    let relative = |number: u32| number.wrapping_sub(initial.peer);
    let packet = ScriptPacket {
        flags: tcp.flags,
        start: tcp.seq.wrapping_sub(initial.own),
        len: tcp.payload as u32,
        ack: Flags::from_bits(tcp.flags).contains(Flags::ACK).then(|| relative(tcp.ack)),
        window: tcp.window,
        mss: tcp.options.mss,
        sack_permitted: tcp.options.sack_permitted,
        window_scale: tcp.options.window_scale,
        timestamps: tcp.options.timestamps,
        sack: tcp.options.sack.iter().map(|(start, end)| (relative(*start), relative(*end))).collect(),
        ecn: match tcp.ecn {
            0 => EcnCodepoint::NotCapable,
            1 => EcnCodepoint::CapableOne,
            3 => EcnCodepoint::Marked,
            _ => EcnCodepoint::Capable,
        },
    };
    Some((packet, ends.ports()))
}

/// The absolute sequence number of a packet of TCP.
pub(crate) fn sequence(bytes: &[u8]) -> Option<u32> {
    headers::read_tcp(bytes).map(|(_, tcp)| tcp.seq)
}

/// The bytes of ICMP destination unreachable from the peer about a segment that the end has sent.
pub(crate) fn write_icmp(icmp: &Icmp, initial: Initial, ends: PacketEnds) -> Option<Vec<u8>> {
    let seq = initial.own.wrapping_add(icmp.quoted);
    let about =
        headers::write_tcp(ends, &WireSegment { seq, flags: Flags::ACK.bits(), ..WireSegment::default() });
    let IpAddr::V4(from) = ends.to.ip() else { return None };
    headers::write_unreachable(from, icmp.code, &about)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn what_is_written_is_read() {
        let end = |host, port| (Ipv4Addr::new(100, 64, 0, host), port).into();
        let ends = PacketEnds { from: end(2, 8080), to: end(1, 40_001) };
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
