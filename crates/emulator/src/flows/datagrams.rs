//! A flow whose transport is not TCP: its two ends run here, and exchange datagrams by the UDP of the two
//! kernels.

use super::bulk::Application;
use super::{Account, Played, Playing, Standing};
use crate::error::{EmulationError, Tried};
use crate::event::RecordedEvent;
use crate::packet::FIRST_PORT;
use crate::states::Shown;
use crate::sys;
use crate::udp::unspecified;
use cogtcp_endpoint::{BoxedEndpoint, Datagram, Outgoing, Pair, PathId, Received, Supply};
use cogtcp_hosts::quic::QuicCounts;
use cogtcp_hosts::{DatagramEnds, End, EndEvent};
use cogtcp_records::{EventKind, Histogram};
use cogtcp_scenario::Traffic;
use cogtcp_units::Time;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, RawFd};

/// The receiving socket of flow `number`, in the namespace that this thread is in.
pub(crate) fn receiver(number: usize, address: IpAddr) -> Result<UdpSocket, EmulationError> {
    bound(SocketAddr::new(address, FIRST_PORT + number as u16))
}

/// The sending socket of flow `number` to the receiver at `address`, in the namespace that this thread is in.
pub(crate) fn sender(number: usize, address: IpAddr) -> Result<UdpSocket, EmulationError> {
    let socket = bound(SocketAddr::new(unspecified(address), 0))?;
    let peer = SocketAddr::new(address, FIRST_PORT + number as u16);
    socket.connect(peer).tried("a UDP socket cannot be connected")?;
    Ok(socket)
}

fn bound(to: SocketAddr) -> Result<UdpSocket, EmulationError> {
    let socket = UdpSocket::bind(to).tried("a UDP socket cannot be bound")?;
    sys::report_ecn(socket.as_fd(), to.is_ipv6()).tried("a UDP socket cannot report ECN")?;
    socket.set_nonblocking(true).tried("a socket cannot be set not to block")?;
    Ok(socket)
}

/// Codepoints of RFC 3168, section 5.
const ECT_0: u8 = 2;
const CONGESTION_EXPERIENCED: u8 = 3;

/// The socket of an end.
#[derive(Debug)]
struct Socket {
    socket: UdpSocket,
    /// Whether the socket has a peer: the receiver's has none until the first packet arrives.
    is_connected: bool,
    /// Whether its packets are ECN-capable.
    is_capable: bool,
}

impl Socket {
    const fn new(socket: UdpSocket, is_connected: bool) -> Self {
        Self { socket, is_connected, is_capable: false }
    }

    /// Hands over what arrived, and says that time has passed.
    fn receive(&mut self, now: Time, endpoint: &mut BoxedEndpoint, buffer: &mut [u8]) {
        if !self.is_connected
            // A look, without taking it: the packet is read below like any other.
            && let Ok((_, peer)) = self.socket.peek_from(buffer)
        {
            self.is_connected = self.socket.connect(peer).is_ok();
        }
        while let Ok((size, ecn)) = sys::receive_datagram(self.socket.as_fd(), buffer) {
            let packet = Datagram { bytes: buffer[..size].to_vec(), ..Datagram::default() };
            let received =
                Received { packet: &packet, path: PathId::default(), marked: ecn == CONGESTION_EXPERIENCED };
            endpoint.handle_packet(now, received);
        }
        if endpoint.poll_timeout() <= now {
            endpoint.handle_timeout(now);
        }
    }

    /// Sends what there is to send.
    fn send(&mut self, now: Time, endpoint: &mut BoxedEndpoint, buffer: &mut [u8]) {
        while let Some(Outgoing { packet, ecn_capable, .. }) = endpoint.poll_transmit(now) {
            if ecn_capable != self.is_capable {
                let is_v6 = self.socket.local_addr().is_ok_and(|address| address.is_ipv6());
                let codepoint = if ecn_capable { ECT_0 } else { 0 };
                // A kernel that refuses sends without ECN, as a sender may.
                let _ = sys::set_ecn(self.socket.as_fd(), is_v6, codepoint);
                self.is_capable = ecn_capable;
            }
            // A packet may claim more than it says: the rest is zeros.
            let size = (packet.payload_size() as usize).min(buffer.len());
            let head = packet.bytes.len().min(size);
            buffer[..head].copy_from_slice(&packet.bytes[..head]);
            buffer[head..size].fill(0);
            // What the kernel does not take is lost, as a packet in a full queue is.
            let _ = self.socket.send(&buffer[..size]);
        }
    }
}

/// Such a flow being played.
#[derive(Debug)]
pub(super) struct Datagrams {
    account: Account,
    application: Application,
    ends: DatagramEnds,
    /// Of the sender and of the receiver.
    sockets: [Socket; 2],
    has_started: bool,
    has_stopped: bool,
    /// Bytes that the application of constant rate has written.
    supplied: u64,
    round_trips: Histogram,
    /// QUIC's counts at the end of the warm-up.
    warm: QuicCounts,
}

impl Datagrams {
    pub(super) fn new(
        account: Account,
        application: Application,
        pair: Pair,
        [own, other]: [UdpSocket; 2],
    ) -> Self {
        Self {
            account,
            application,
            ends: DatagramEnds::new(pair),
            sockets: [Socket::new(own, true), Socket::new(other, false)],
            has_started: false,
            has_stopped: false,
            supplied: 0,
            round_trips: Histogram::new(),
            warm: QuicCounts::default(),
        }
    }

    fn standing(&self) -> Standing {
        let progress = self.ends.sender.progress();
        Standing {
            sent: progress.sent_packets,
            retransmitted: progress.resent_packets,
            timeouts: progress.timeouts,
            ..Standing::default()
        }
    }

    fn start(&mut self, now: Time, warmup: Time, events: &mut Vec<RecordedEvent>) {
        self.has_started = true;
        events.push(self.account.event(now, EventKind::FlowStart, f64::NAN));
        match self.application.traffic {
            Traffic::Saturated => self.ends.sender.supply(now, Supply::Saturated(true)),
            Traffic::Size(size) => self.ends.sender.supply(now, Supply::Bytes(size.get())),
            _ => {}
        }
        self.ends.open(now);
        // It closes once all has arrived.
        if let Traffic::Size(_) = self.application.traffic {
            self.ends.close(now);
        }
        if now >= warmup {
            self.begin_measure(now);
        }
    }

    fn stop(&mut self, now: Time, events: &mut Vec<RecordedEvent>) {
        self.has_stopped = true;
        events.push(self.account.event(now, EventKind::FlowStop, f64::NAN));
        self.ends.close(now);
        self.account.end_measure(now);
    }

    /// The application of constant rate writes what is due.
    fn write(&mut self, now: Time) {
        if let Traffic::Rate(_) = self.application.traffic {
            let due = self.application.goal(now).saturating_sub(self.supplied);
            if due > 0 {
                self.supplied += due;
                self.ends.sender.supply(now, Supply::Bytes(due));
            }
        }
    }

    fn take_events(&mut self, now: Time, events: &mut Vec<RecordedEvent>) {
        for end in End::BOTH {
            while let Some(told) = self.ends.poll(end) {
                match told {
                    EndEvent::Recorded(kind, value) | EndEvent::RecordedOnPath(_, kind, value) => {
                        events.push(self.account.event(now, kind, value));
                    }
                    EndEvent::RoundTrip(sample) if self.account.played.span.is_some() => {
                        self.round_trips.record(sample);
                    }
                    EndEvent::RoundTrip(_) => {}
                }
            }
        }
    }
}

impl Playing for Datagrams {
    fn step(&mut self, now: Time, warmup: Time, buffer: &mut [u8], events: &mut Vec<RecordedEvent>) {
        if !self.has_started && now >= self.application.start {
            self.start(now, warmup, events);
        }
        if !self.has_started {
            return;
        }
        if !self.has_stopped && self.application.has_stopped(now) {
            self.stop(now, events);
        }
        if !self.has_stopped {
            self.write(now);
        }
        for (end, socket) in End::BOTH.into_iter().zip(&mut self.sockets) {
            let endpoint = self.ends.end(end);
            socket.receive(now, endpoint, buffer);
            socket.send(now, endpoint, buffer);
        }
        self.account.delivered = self.ends.receiver.progress().delivered_bytes;
        self.account.complete(now, self.application.traffic, events);
        self.take_events(now, events);
    }

    fn begin_measure(&mut self, now: Time) {
        if self.has_started {
            let standing = self.standing();
            self.account.begin_measure(now, standing);
            self.warm = QuicCounts::of(&self.ends.sender).unwrap_or_default();
        }
    }

    fn sample(&mut self, now: Time, _: &mut Vec<RecordedEvent>) {
        if self.has_started {
            let mut shown = Vec::new();
            self.ends.observe(&mut |name, value| shown.push((name, value)));
            self.account.sample(now, self.ends.sample(), shown);
        }
    }

    fn record(&mut self, _: &[Shown]) {}

    fn next(&self, now: Time) -> Time {
        let application = &self.application;
        if !self.has_started {
            return application.start;
        }
        let mut next = self.ends.sender.poll_timeout().min(self.ends.receiver.poll_timeout());
        next = next.min(application.stop.filter(|stop| *stop > now).unwrap_or(Time::MAX));
        if let (false, Traffic::Rate(rate)) = (self.has_stopped, application.traffic) {
            let bytes = self.supplied + u64::from(application.segment);
            next = next.min(application.start + rate.transmission_time(bytes));
        }
        next
    }

    fn wait_for(&self, _: Time, waiting: &mut Vec<(RawFd, bool)>) {
        waiting.extend(self.sockets.each_ref().map(|it| (it.socket.as_raw_fd(), false)));
    }

    fn finish(mut self: Box<Self>, now: Time) -> Played {
        let standing = self.standing();
        self.account.played.round_trips = Some(self.round_trips);
        self.account.played.quic = QuicCounts::of(&self.ends.sender).map(|end| [self.warm, end]);
        self.account.finish(now, standing)
    }
}
