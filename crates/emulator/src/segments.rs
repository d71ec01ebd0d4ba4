//! The TCP of real packets as [`Segment`]s, and back: for who stands in their way and speaks TCP with their
//! ends.

use cogtcp_headers::{PacketEnds, TcpOptions, WireSegment, read_tcp, write_tcp};
use cogtcp_transport::{Flags, Segment, SeqNumber};

/// Reads a TCP segment; `None`: the packet is none, or not a whole one. Of the options of a handshake none is
/// read.
pub(crate) fn read(bytes: &[u8]) -> Option<(PacketEnds, Segment)> {
    let (ends, tcp) = read_tcp(bytes)?;
    let seq = SeqNumber::new;
    let flags = Flags::from_bits(tcp.flags);
    let mut segment = Segment::new(seq(tcp.seq), seq(tcp.ack), tcp.payload as u32, tcp.window, flags);
    if let Some((value, echo)) = tcp.options.timestamps {
        segment.set_timestamps(value, echo);
    }
    for (start, end) in tcp.options.sack.iter() {
        segment.push_sack(seq(*start), seq(*end));
    }
    Some((ends, segment))
}

/// The packet of a pure ACK with timestamps and SACK blocks as `segment` has them.
pub(crate) fn acknowledgement(ends: PacketEnds, segment: &Segment) -> Vec<u8> {
    let timestamps = segment.timestamps().map(|stamps| (stamps.value, stamps.echo));
    let mut options = TcpOptions { timestamps, ..TcpOptions::default() };
    segment.sack().iter().for_each(|block| options.sack.push(block.start.get(), block.end.get()));
    // A pure ACK is not ECN-capable (RFC 3168 section 6.1.4).
    let tcp = WireSegment {
        seq: segment.seq.get(),
        ack: segment.ack.get(),
        flags: segment.flags.bits(),
        window: segment.window,
        options,
        ..WireSegment::default()
    };
    write_tcp(ends, &tcp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Family;
    use std::net::SocketAddr;

    #[test]
    fn an_acknowledgement_is_read_as_it_was_written() {
        let number = SeqNumber::new;
        let mut segment = Segment::new(number(1 << 31), number(0xffff_fff0), 0, 1234, Flags::ACK);
        segment.set_timestamps(7, 1 << 30);
        segment.push_sack(number(0xffff_fff8), number(8));
        segment.push_sack(number(20), number(30));
        for family in [Family::V4, Family::V6] {
            let end = |host, port| SocketAddr::new(family.address(host), port);
            let ends = PacketEnds { from: end(1, 5001), to: end(0, 40_000) };
            let bytes = acknowledgement(ends, &segment);
            assert_eq!(bytes.len() as u32, family.header() + segment.options_size() + 20);
            assert_eq!(read(&bytes), Some((ends, segment)));
        }
    }
}
