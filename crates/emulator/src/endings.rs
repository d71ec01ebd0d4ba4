//! Ends the connections of programs that have ended. A connection closed with data in flight would stay in
//! its kernel for minutes, and keep its namespace alive.
//!
//! Each end gets a reset that it accepts from the other (RFC 9293 section 3.10.7.4, RFC 5961 section 3.2).
//! Its sequence number is what the end expects next and acknowledged last.

use crate::device::Wire;
use cogtcp_headers::{PacketEnds, WireSegment, read_tcp, write_tcp};
use cogtcp_transport::Flags;
use std::collections::BTreeMap;
use std::io;

/// An end that expects another number answers with an acknowledgement of it, so that the second reset is the
/// right one.
const ROUNDS: usize = 2;

/// What the ends of connections have acknowledged: by the ends as they name them, the host and the number.
#[derive(Debug, Default)]
pub(crate) struct Endings(BTreeMap<PacketEnds, (usize, u32)>);

impl Endings {
    /// A packet comes from a host.
    pub(crate) fn outgoing(&mut self, host: usize, bytes: &[u8]) {
        let Some((ends, tcp)) = read_tcp(bytes) else { return };
        let flags = Flags::from_bits(tcp.flags);
        if flags.contains(Flags::RST) {
            self.0.remove(&ends);
        } else if flags.contains(Flags::ACK) {
            self.0.insert(ends, (host, tcp.ack));
        }
    }

    /// The resets, each with the host that it is for.
    fn resets(&self) -> impl Iterator<Item = (usize, Vec<u8>)> {
        self.0.iter().map(|(ends, (host, expected))| {
            let reset = WireSegment { seq: *expected, flags: Flags::RST.bits(), ..WireSegment::default() };
            (*host, write_tcp(ends.reversed(), &reset))
        })
    }

    /// Ends all connections, over the hosts' wires. The programs have ended, and nothing else reads the
    /// wires.
    pub(crate) fn end(&mut self, wires: &[&Wire]) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        for _ in 0..ROUNDS {
            for (host, wire) in wires.iter().enumerate() {
                while let Some(size) = wire.receive(&mut buffer)? {
                    self.outgoing(host, &buffer[..size]);
                }
            }
            for (host, reset) in self.resets() {
                // A host that does not take it keeps its connection for a while.
                let _ = wires[host].send(&reset);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Family;
    use std::net::SocketAddr;

    #[test]
    fn an_end_is_reset_with_the_number_that_it_expects() {
        let end = |host, port| SocketAddr::new(Family::V6.address(host), port);
        let ends = PacketEnds { from: end(0, 40_000), to: end(1, 80) };
        let sent = |ack, flags: Flags| {
            write_tcp(
                ends,
                &WireSegment { seq: 7, ack, flags: flags.bits(), payload: 3, ..WireSegment::default() },
            )
        };
        let mut endings = Endings::default();
        endings.outgoing(0, &sent(0, Flags::SYN));
        assert_eq!(endings.resets().count(), 0, "nothing is known of one that waits for its SYN-ACK");
        for ack in [100, 200] {
            endings.outgoing(0, &sent(ack, Flags::ACK));
        }
        let (host, bytes) = endings.resets().next().unwrap();
        let (back, reset) = read_tcp(&bytes).unwrap();
        assert_eq!((host, back, reset.seq, reset.flags), (0, ends.reversed(), 200, Flags::RST.bits()));
        endings.outgoing(0, &sent(200, Flags::ACK | Flags::RST));
        assert_eq!(endings.resets().count(), 0);
    }
}
