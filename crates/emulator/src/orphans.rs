//! Ends the connections of programs whose emulator was killed. Unlike in [`endings`](crate::endings) nobody
//! has kept account of them: what is there the tables of the namespaces tell, and what a reset must say the
//! connections tell themselves.
//!
//! A connection closed with data in flight is retransmitted for minutes, and keeps its namespace. A SYN makes
//! it state the number that it expects (the challenge ACK of RFC 5961 section 4); a reset with that number
//! ends it.

use crate::device::{Device, Wire};
use crate::error::{EmulationError, Tried};
use crate::sys;
use cogtcp_headers::{PacketEnds, WireSegment, read_tcp, write_tcp};
use cogtcp_transport::Flags;
use cogtcp_units::Duration;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

/// States of `/proc/net/tcp` that end with their namespace or with the listening socket
/// (include/net/tcp_states.h).
const TIME_WAIT: u8 = 6;
const CLOSED: u8 = 7;
const LISTEN: u8 = 10;
const NEW_SYN_RECV: u8 = 12;
/// How long is waited for answers, and how often at most: a host answers a connection's SYN twice a second
/// (`tcp_invalid_ratelimit`).
const ROUND: Duration = Duration::from_millis(100);
const ROUNDS: usize = 100;

/// The hosts at which programs run.
#[derive(Debug, Default)]
pub(crate) struct Orphans(Vec<ProgramHost>);

#[derive(Debug)]
struct ProgramHost {
    wire: Wire,
    /// `/proc/net/tcp` and `tcp6` of its namespace.
    tables: Vec<File>,
}

impl Orphans {
    /// Adds the host with this device, in whose namespace this thread is.
    pub(crate) fn add(&mut self, device: &Device) -> Result<(), EmulationError> {
        let wire = device.wire.for_fork().tried("a descriptor cannot be duplicated")?;
        // Where the kernel has no IPv6 there is no such table.
        let tables = ["tcp", "tcp6"].map(|name| File::open(format!("/proc/thread-self/net/{name}")).ok());
        self.0.push(ProgramHost { wire, tables: tables.into_iter().flatten().collect() });
        Ok(())
    }

    /// Ends all connections; gives up after some seconds. The programs have ended, and nobody else reads the
    /// wires.
    pub(crate) fn end(&mut self) {
        let mut buffer = vec![0; 1 << 16];
        for _ in 0..ROUNDS {
            let asked: usize = self.0.iter_mut().map(ProgramHost::challenge).sum();
            if asked == 0 {
                return;
            }
            let waiting: Vec<_> = self.0.iter().map(|host| (host.wire.as_raw_fd(), false)).collect();
            let _ = sys::poll(&waiting, ROUND.as_nanos());
            for host in &self.0 {
                while let Ok(Some(size)) = host.wire.receive(&mut buffer) {
                    host.reset(&buffer[..size]);
                }
            }
        }
    }
}

impl ProgramHost {
    /// Sends each connection a SYN of its peer; returns how many there are.
    fn challenge(&mut self) -> usize {
        let connections: Vec<PacketEnds> =
            self.tables.iter_mut().flat_map(|table| read(table).unwrap_or_default()).collect();
        for ends in &connections {
            let syn = WireSegment { flags: Flags::SYN.bits(), ..WireSegment::default() };
            let _ = self.wire.send(&write_tcp(ends.reversed(), &syn));
        }
        connections.len()
    }

    /// Answers what a connection has sent with the reset that it takes.
    fn reset(&self, bytes: &[u8]) {
        let Some((ends, tcp)) = read_tcp(bytes) else { return };
        let flags = Flags::from_bits(tcp.flags);
        if flags.contains(Flags::ACK) && !flags.contains(Flags::RST) {
            let reset = WireSegment { seq: tcp.ack, flags: Flags::RST.bits(), ..WireSegment::default() };
            let _ = self.wire.send(&write_tcp(ends.reversed(), &reset));
        }
    }
}

fn read(table: &mut File) -> io::Result<Vec<PacketEnds>> {
    let mut text = String::new();
    table.rewind()?;
    table.read_to_string(&mut text)?;
    Ok(text.lines().skip(1).filter_map(connection).collect())
}

/// The ends of a connection, of a line of `/proc/net/tcp` or `tcp6`; `None`: it is none that would outlive
/// its program.
fn connection(line: &str) -> Option<PacketEnds> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let (local, remote, state) = (words.next()?, words.next()?, words.next()?);
    let state = u8::from_str_radix(state, 16).ok()?;
    if matches!(state, TIME_WAIT | CLOSED | LISTEN | NEW_SYN_RECV) {
        return None;
    }
    Some(PacketEnds { from: end(local)?, to: end(remote)? })
}

/// An address as the kernel writes it: words of its own order, and the port.
fn end(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let word = |at: usize| u32::from_str_radix(address.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    let address: IpAddr = match address.len() {
        8 => word(0)?.into(),
        32 => {
            let bytes = [word(0)?, word(8)?, word(16)?, word(24)?].concat();
            // A socket of IPv6 may speak IPv4: its addresses are mapped ones.
            IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(address, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    #[test]
    fn connections_are_read_where_the_kernel_puts_them() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (from, to) = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
        let found = read(&mut File::open("/proc/net/tcp").unwrap()).unwrap();
        assert!(
            found.contains(&PacketEnds { from, to }) && found.contains(&PacketEnds { from: to, to: from })
        );
        assert!(!found.iter().any(|ends| ends.from == to && ends.to.port() == 0), "it listens only");
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn a_peer_of_ipv4_on_a_socket_of_ipv6_is_one_of_ipv4() {
        let line = "0: 0000000000000000FFFF000002004064:1F90 0000000000000000FFFF000001004064:9C40 04 0:0";
        let found = connection(line).unwrap();
        let text = (found.from.to_string(), found.to.to_string());
        assert_eq!(text, ("100.64.0.2:8080".to_owned(), "100.64.0.1:40000".to_owned()));
        assert_eq!(connection(&line.replace(" 04 ", " 06 ")), None, "it ends with its namespace");
        assert_eq!(connection(&line.replace("0000FFFF", "FFFF")), None, "no address");
        let own = "1: 000080FE00000000000000000100000A:0050 00000000000000000000000001000000:0051 01 0";
        assert_eq!(connection(own).unwrap().to.to_string(), "[::1]:81");
    }
}
