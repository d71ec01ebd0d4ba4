//! The TCP of real packets as [`Segment`]s, and back: for who stands in their way and speaks TCP with their
//! ends.

use crate::headers::{self, Ends, Options, Tcp, kind, pair, pairs, put_option};
use cogtcp_transport::{Flags, Segment, SeqNumber};

/// Reads a TCP segment; `None`: the packet is none, or not a whole one. Of the options of a handshake none is
/// read.
pub(crate) fn read(bytes: &[u8]) -> Option<(Ends, Segment)> {
    let tcp = headers::read_tcp(bytes)?;
    let seq = SeqNumber::new;
    let flags = Flags::from_bits(tcp.flags);
    let mut segment = Segment::new(seq(tcp.seq), seq(tcp.ack), tcp.payload as u32, tcp.window, flags);
    for (kind, value) in Options(tcp.options) {
        match (kind, value.len()) {
            (kind::TIMESTAMPS, 8) => {
                for (value, echo) in pairs(value) {
                    segment.set_timestamps(value, echo);
                }
            }
            (kind::SACK, _) => {
                for (start, end) in pairs(value) {
                    segment.push_sack(seq(start), seq(end));
                }
            }
            _ => {}
        }
    }
    Some((tcp.ends, segment))
}

/// The packet of a pure ACK with timestamps and SACK blocks as `segment` has them.
pub(crate) fn acknowledgement(ends: Ends, segment: &Segment) -> Vec<u8> {
    let mut options = Vec::new();
    if let Some(stamps) = segment.timestamps() {
        put_option(&mut options, kind::TIMESTAMPS, &pair(stamps.value, stamps.echo));
    }
    if !segment.sack().is_empty() {
        let blocks = segment.sack().iter().flat_map(|block| pair(block.start.get(), block.end.get()));
        put_option(&mut options, kind::SACK, &blocks.collect::<Vec<_>>());
    }
    headers::write_tcp(&Tcp {
        ends,
        // A pure ACK is not ECN-capable (RFC 3168 section 6.1.4).
        ecn: 0,
        seq: segment.seq.get(),
        ack: segment.ack.get(),
        flags: segment.flags.bits(),
        window: segment.window,
        options: &options,
        payload: 0,
    })
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
            let ends = Ends { from: end(1, 5001), to: end(0, 40_000) };
            let bytes = acknowledgement(ends, &segment);
            assert_eq!(bytes.len() as u32, family.header() + segment.options_size() + 20);
            assert_eq!(read(&bytes), Some((ends, segment)));
        }
    }
}
