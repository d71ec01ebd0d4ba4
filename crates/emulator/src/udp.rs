//! UDP sources: real datagrams on real sockets, counted where they come out of one kernel and go into another.

use crate::engine::Account;
use crate::error::{EmulationError, Tried};
use crate::packet::{FIRST_UDP_PORT, Family};
use crate::plan::Plan;
use cogtcp_records::extensions::{DatagramRow, DatagramsBuilder};
use cogtcp_records::{Histogram, Table};
use cogtcp_scenario::UdpSpec;
use cogtcp_traffic::{Arrivals, Source};
use cogtcp_units::{RandomStream, Time};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Bytes of the header of UDP (RFC 768).
const HEADER: u32 = 8;

/// Bytes of the headers of a datagram.
pub(crate) const fn headers(family: Family) -> u32 {
    family.header() + HEADER
}

/// Any address of the family of this one.
const fn unspecified(like: IpAddr) -> IpAddr {
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
    /// Source `number`, sending from the namespace that this thread is in to `receiver` at `address`. Its draws are those of a
    /// simulation with this seed.
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
        let stream = RandomStream::new(seed, &format!("udp/{}", spec.name), 0);
        let source = Source::new(spec.pattern, spec.size, spec.start, stream);
        Ok(Self { sender, receiver, source, stop: spec.stop })
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
        while self.receiver.recv(buffer).is_ok() {}
    }
}

/// What is seen of a source's packets.
#[derive(Debug)]
pub(crate) struct UdpWatch {
    /// Bytes of a packet's headers.
    headers: u32,
    sent: u64,
    dropped: u64,
    arrivals: Arrivals,
    delay: Histogram,
    /// What was counted before the end of the warm-up: sent, dropped, received, bytes.
    before: [u64; 4],
}

impl UdpWatch {
    pub(crate) fn new(family: Family) -> Self {
        Self {
            headers: headers(family),
            sent: 0,
            dropped: 0,
            arrivals: Arrivals::default(),
            delay: Histogram::new(),
            before: [0; 4],
        }
    }

    /// A packet comes from its kernel; returns its number.
    pub(crate) fn sent(&mut self) -> u32 {
        self.sent += 1;
        (self.sent - 1) as u32
    }

    pub(crate) fn dropped(&mut self) {
        self.dropped += 1;
    }

    /// A packet of `size` bytes reaches its host.
    pub(crate) fn arrived(&mut self, now: Time, number: u32, size: u32, sent_at: Time, is_warm: bool) {
        self.arrivals.receive(now, number, size.saturating_sub(self.headers), sent_at);
        if is_warm {
            self.delay.record(now.saturating_since(sent_at));
        }
    }

    /// Metrics count from here on.
    pub(crate) fn begin_measure(&mut self) {
        self.before = self.counted();
    }

    fn counted(&self) -> [u64; 4] {
        [self.sent, self.dropped, self.arrivals.packets, self.arrivals.bytes]
    }
}

/// The table of datagrams, one row for each source, as the simulator has it.
pub(crate) fn table(plan: &Plan, watches: &[UdpWatch], account: &Account) -> Table {
    let mut table = DatagramsBuilder::default();
    for (watch, spec) in watches.iter().zip(&plan.experiment.udp) {
        let after = watch.counted();
        let [sent, dropped, received, bytes] = [0, 1, 2, 3].map(|i| after[i] - watch.before[i]);
        let until = spec.stop.map_or(account.ended_at, |stop| stop.min(account.ended_at));
        let span = until.saturating_since(spec.start.max(account.warm_at)).as_secs_f64();
        let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { f64::NAN };
        let row = DatagramRow {
            source: table.source.intern(&spec.name),
            from: table.from.intern(&plan.experiment.nodes[spec.from]),
            to: table.to.intern(&plan.experiment.nodes[spec.to]),
            sent_packets: sent,
            received_packets: received,
            drops: dropped,
            goodput_bps: ratio(bytes as f64 * 8.0, span),
            loss_ratio: ratio(dropped as f64, (received + dropped) as f64),
            delay_mean_s: watch.delay.mean(),
            delay_p50_s: watch.delay.quantile(0.50),
            delay_p95_s: watch.delay.quantile(0.95),
            delay_p99_s: watch.delay.quantile(0.99),
            delay_max_s: watch.delay.greatest(),
            jitter_s: watch.arrivals.jitter_s(),
            reordered_packets: watch.arrivals.reordered,
        };
        table.push(row);
    }
    table.finish()
}
