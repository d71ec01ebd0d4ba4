//! UDP sources: real datagrams on real sockets, counted where they come out of one kernel and go into
//! another.

use crate::error::{EmulationError, Tried};
use crate::packet::{FIRST_UDP_PORT, Family};
use cogtcp_hosts::datagrams::{self, SourceAccount};
use cogtcp_records::Table;
use cogtcp_scenario::{Experiment, UdpSpec};
use cogtcp_traffic::Source;
use cogtcp_units::Time;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Any address of the family of this one.
pub(crate) const fn unspecified(like: IpAddr) -> IpAddr {
    if like.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { IpAddr::V6(Ipv6Addr::UNSPECIFIED) }
}

/// A source with its sockets.
#[derive(Debug)]
pub(crate) struct Sending {
    sender: UdpSocket,
    /// Kept open: a port that nobody listens on would answer by ICMP.
    receiver: UdpSocket,
    source: Source,
    stop: Option<Time>,
}

/// The receiving socket of source `number`, in the namespace that this thread is in.
pub(crate) fn receiver(number: usize, address: IpAddr) -> Result<UdpSocket, EmulationError> {
    let socket = UdpSocket::bind(at(number, address)).tried("a UDP socket cannot be bound")?;
    socket.set_nonblocking(true).tried("a socket cannot be set not to block")?;
    Ok(socket)
}

fn at(number: usize, address: IpAddr) -> SocketAddr {
    SocketAddr::new(address, FIRST_UDP_PORT + number as u16)
}

impl Sending {
    /// Returns source `number`, which sends from the namespace that this thread is in to `receiver` at
    /// `address`. Its draws are a simulation's with this seed.
    pub(crate) fn new(
        number: usize,
        spec: &UdpSpec,
        seed: u64,
        receiver: UdpSocket,
        address: IpAddr,
    ) -> Result<Self, EmulationError> {
        let sender = UdpSocket::bind((unspecified(address), 0)).tried("a UDP socket cannot be bound")?;
        sender.connect(at(number, address)).tried("a UDP socket cannot be connected")?;
        sender.set_nonblocking(true).tried("a socket cannot be set not to block")?;
        Ok(Self { sender, receiver, source: datagrams::source(spec, seed), stop: spec.stop })
    }

    /// When its next packet is due; `Time::MAX`: never.
    pub(crate) fn next(&self) -> Time {
        let next = self.source.next_packet();
        if self.stop.is_none_or(|stop| next < stop) { next } else { Time::MAX }
    }

    /// Sends what is due, and takes what has come.
    pub(crate) fn step(&mut self, now: Time, buffer: &mut [u8]) {
        while self.next() <= now {
            // What the kernel does not take is not sent, and so not counted.
            let size = (self.source.size() as usize).min(buffer.len());
            let _ = self.sender.send(&buffer[..size]);
            self.source.advance();
        }
        // Read and thrown away: the network has counted it, and a full buffer would drop the next.
        while self.receiver.recv(buffer).is_ok() {}
    }
}

/// What is seen of a source's packets.
#[derive(Debug)]
pub(crate) struct UdpWatch {
    /// Bytes of a packet's headers.
    headers: u32,
    dropped: u64,
    account: SourceAccount,
}

impl UdpWatch {
    pub(crate) fn new(family: Family) -> Self {
        Self { headers: family.udp_headers(), dropped: 0, account: SourceAccount::default() }
    }

    /// A packet comes from its kernel; returns its number.
    pub(crate) fn sent(&mut self) -> u32 {
        self.account.sent += 1;
        (self.account.sent - 1) as u32
    }

    pub(crate) fn dropped(&mut self) {
        self.dropped += 1;
    }

    /// A packet of `size` bytes reaches its host.
    pub(crate) fn arrived(&mut self, now: Time, number: u32, size: u32, sent_at: Time) {
        self.account.receive(now, number, size.saturating_sub(self.headers), sent_at);
    }

    /// Metrics count from here on.
    pub(crate) fn begin_measure(&mut self) {
        self.account.begin_measure(self.dropped);
    }
}

/// The tables of datagrams between two times: one row for each source, and for each call.
pub(crate) fn tables(experiment: &Experiment, watches: &[UdpWatch], span: [Time; 2]) -> Vec<Table> {
    let accounts = watches.iter().map(|watch| (&watch.account, watch.dropped));
    datagrams::tables(experiment, accounts, span)
}
