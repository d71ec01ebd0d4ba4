//! quinn's endpoint with its connections: one end of a flow, without the application.

use crate::clock::{instant, time};
use crate::qlog::Log;
use crate::wire::{self, PacketKind};
use bytes::BytesMut;
use cogtcp_endpoint::{Datagram, LogEntry};
use cogtcp_units::Time;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint, Event, Transmit,
    VarInt,
};
use std::collections::VecDeque;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Addresses of the two ends. Only their difference counts: paths are the network's.
pub(crate) const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 49_152);
pub(crate) const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 443);

/// Bytes of the largest block of zeros that is looked for at once.
const BLOCK: usize = 1024;
static ZEROS: [u8; BLOCK] = [0; BLOCK];

/// Bytes of memory for datagrams that is asked for at once.
const ROOM: usize = 16_384;

/// One end's connections.
pub(crate) struct QuinnEndpoint {
    endpoint: Endpoint,
    /// From oldest to newest: the newest is the one in use, the others drain.
    connections: Vec<(ConnectionHandle, Connection)>,
    /// Datagrams of the endpoint itself.
    outbox: VecDeque<(Vec<u8>, SocketAddr)>,
    is_client: bool,
    /// The client's port, counted from 0 each time that its address changes. A server knows it from what
    /// arrives.
    port: u16,
    offers_ecn: bool,
    buffer: Vec<u8>,
    /// Room for datagrams that arrive.
    room: BytesMut,
    /// When the next timer is due, as of the latest look.
    due: Time,
    /// The connections have changed since that look.
    is_stale: bool,
    /// The log, where one is kept.
    log: Option<Box<Log>>,
}

impl fmt::Debug for QuinnEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuinnEndpoint")
            .field("connections", &self.connections.len())
            .field("due", &self.due)
            .finish_non_exhaustive()
    }
}

impl QuinnEndpoint {
    pub(crate) fn new(endpoint: Endpoint, is_client: bool, offers_ecn: bool) -> Self {
        Self {
            endpoint,
            connections: Vec::new(),
            outbox: VecDeque::new(),
            is_client,
            port: 0,
            offers_ecn,
            buffer: Vec::new(),
            room: BytesMut::new(),
            due: Time::MAX,
            is_stale: false,
            log: None,
        }
    }

    /// Keeps a log from now on; `sizes` as in [`Log::new`].
    pub(crate) fn keep_log(&mut self, sizes: [u64; 2]) {
        let addresses = if self.is_client { [CLIENT, SERVER] } else { [SERVER, CLIENT] };
        self.log = Some(Box::new(Log::new(addresses, sizes)));
    }

    /// Logs by `write`, where a log is kept.
    pub(crate) fn log(&mut self, write: impl FnOnce(&mut Log)) {
        if let Some(log) = &mut self.log {
            write(log);
        }
    }

    /// Takes what was logged.
    pub(crate) fn take_log(&mut self) -> Vec<LogEntry> {
        self.log.as_mut().map(|log| log.take()).unwrap_or_default()
    }

    /// Logs the datagram of the latest call of [`Self::transmit`].
    pub(crate) fn log_sent(&mut self, now: Time, is_probe: bool) {
        if let Some(log) = &mut self.log {
            log.sent(now, &self.buffer, is_probe);
        }
    }

    /// Opens a connection. Returns whether it began.
    pub(crate) fn connect(&mut self, now: Time, config: ClientConfig) -> bool {
        let made = self.endpoint.connect(instant(now), config, SERVER, "receiver");
        let is_open = made.is_ok();
        self.connections.extend(made.ok());
        self.settle();
        is_open
    }

    /// The connection in use.
    pub(crate) fn connection(&mut self) -> Option<&mut Connection> {
        self.connections.last_mut().map(|(_, connection)| connection)
    }

    /// The client's address changes to `port`, which quinn does not notice: a NAT did it.
    pub(crate) const fn rebind(&mut self, port: u16) {
        self.port = port;
    }

    /// A datagram has arrived, from or to `port` of the client. Returns whether it opened a connection.
    pub(crate) fn receive(&mut self, now: Time, data: BytesMut, port: u16, is_marked: bool) -> bool {
        let peer = if self.is_client { SERVER } else { client(port) };
        // The NAT has forgotten where datagrams to an earlier port are to go.
        if self.is_client && port != self.port {
            return false;
        }
        let logged = self.log.is_some().then(|| data.clone());
        let ecn = match (self.offers_ecn, is_marked) {
            (false, _) => None,
            (true, false) => Some(EcnCodepoint::Ect0),
            (true, true) => Some(EcnCodepoint::Ce),
        };
        self.buffer.clear();
        let event = self.endpoint.handle(instant(now), peer, None, ecn, data, &mut self.buffer);
        let mut is_new = false;
        match event {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some((_, connection)) =
                    // From the newest, to which nearly all datagrams belong.
                    self.connections.iter_mut().rev().find(|(own, _)| *own == handle)
                {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, instant(now), &mut self.buffer, None) {
                    Ok(made) => {
                        self.connections.push(made);
                        is_new = true;
                    }
                    Err(error) => {
                        if let Some(transmit) = error.response {
                            self.outbox.push_back((self.buffer[..transmit.size].to_vec(), peer));
                        }
                    }
                }
            }
            Some(DatagramEvent::Response(transmit)) => {
                self.outbox.push_back((self.buffer[..transmit.size].to_vec(), peer));
            }
            None => {}
        }
        self.settle();
        if let Some(datagram) = logged {
            let has_keys = !self.is_handshaking();
            let remote = self.connection().map(|connection| connection.remote_address());
            self.log(|log| {
                log.received(now, &datagram, ecn, has_keys);
                log.migrated(now, remote);
            });
        }
        is_new
    }

    /// A timer is due.
    pub(crate) fn expire(&mut self, now: Time) {
        for (_, connection) in &mut self.connections {
            connection.handle_timeout(instant(now));
        }
        self.settle();
    }

    /// Returns the next datagram, whether it carries ECT(0), and the client's port that it is from or to. The
    /// bytes stay until the next call.
    pub(crate) fn transmit(&mut self, now: Time) -> Option<(&[u8], bool, u16)> {
        self.buffer.clear();
        if let Some((datagram, destination)) = self.outbox.pop_front() {
            self.buffer = datagram;
            let port = self.port_of(destination);
            return Some((&self.buffer, false, port));
        }
        let buffer = &mut self.buffer;
        let sent = self
            .connections
            .iter_mut()
            // The newest first: older connections only repeat their close.
            .rev()
            // One datagram a call: each is a packet of its own in the network.
            .find_map(|(_, connection)| connection.poll_transmit(instant(now), 1, buffer));
        self.settle();
        let Some(Transmit { size, ecn, destination, .. }) = sent else {
            // The last call before somebody asks when a timer is due ([`cogtcp_endpoint::Endpoint`]).
            self.refresh();
            return None;
        };
        let port = self.port_of(destination);
        Some((&self.buffer[..size], self.offers_ecn && ecn.is_some(), port))
    }

    /// The client's port of a datagram to `destination`.
    fn port_of(&self, destination: SocketAddr) -> u16 {
        if self.is_client { self.port } else { destination.port().wrapping_sub(CLIENT.port()) }
    }

    /// Returns the next event of the connection in use; the others' are dropped.
    pub(crate) fn event(&mut self) -> Option<Event> {
        let (_, connection) = self.connections.last_mut()?;
        connection.poll()
    }

    /// True if the handshake is complete and no timer is armed. With packets in flight that is a dead end of
    /// quinn's: early data fills the window, so that the client's Finished does not leave, and nothing arms
    /// the probe timeout.
    pub(crate) fn is_unarmed(&mut self) -> bool {
        self.refresh();
        self.due == Time::MAX
            && self
                .connection()
                .is_some_and(|connection| !connection.is_handshaking() && !connection.is_closed())
    }

    /// True if a timer is armed.
    pub(crate) fn has_timer(&mut self) -> bool {
        self.refresh();
        self.due < Time::MAX
    }

    pub(crate) fn is_handshaking(&mut self) -> bool {
        self.connection().is_some_and(|connection| connection.is_handshaking())
    }

    /// Closes the connection in use.
    pub(crate) fn close(&mut self, now: Time) {
        if let Some(connection) = self.connection() {
            connection.close(instant(now), VarInt::from_u32(0), bytes::Bytes::new());
        }
        self.settle();
    }

    /// When [`Self::expire`] is due.
    pub(crate) fn due(&self) -> Time {
        debug_assert!(!self.is_stale, "the driver pulls packets until there are none");
        self.due
    }

    /// Exchanges events between endpoint and connections, and forgets connections that are over.
    fn settle(&mut self) {
        let Self { endpoint, connections, .. } = self;
        let mut newer = connections.len();
        connections.retain_mut(|(handle, connection)| {
            newer -= 1;
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            }
            // The newest stays for its events and its state, though its handle may be given out again.
            newer == 0 || !connection.is_drained()
        });
        self.touch();
    }

    /// Notes that the connection has been used: its timers may have moved.
    pub(crate) const fn touch(&mut self) {
        self.is_stale = true;
    }

    /// Finds the next timer, if connections have changed since the latest look.
    pub(crate) fn refresh(&mut self) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let next = self.connections.iter_mut().filter_map(|(_, connection)| connection.poll_timeout()).min();
        self.due = next.map_or(Time::MAX, time);
    }

    /// Returns the bytes of `datagram`, filler included.
    pub(crate) fn whole(&mut self, datagram: &Datagram) -> BytesMut {
        whole(datagram, &mut self.room)
    }
}

/// Returns the address of the client's port, counted from 0.
fn client(port: u16) -> SocketAddr {
    SocketAddr::new(CLIENT.ip(), CLIENT.port().wrapping_add(port))
}

/// Returns the datagram of `bytes` from or to `port` of the client: zeros at its end become filler, for which
/// the peer puts zeros again.
pub(crate) fn compact(bytes: &[u8], port: u16) -> Datagram {
    // Application data is zeros: whole blocks of them are the rule.
    let mut rest = bytes;
    for size in [BLOCK, 256, 64, 8, 1] {
        while let Some(shorter) = rest.strip_suffix(&ZEROS[..size]) {
            rest = shorter;
        }
    }
    let end = rest.len();
    Datagram { bytes: bytes[..end].to_vec(), filler: (bytes.len() - end) as u32, port, ..Datagram::default() }
}

/// Returns the bytes of `datagram`, filler included, in a part of `room`: quinn keeps it for as long as it
/// needs, and what is free again is used again.
pub(crate) fn whole(datagram: &Datagram, room: &mut BytesMut) -> BytesMut {
    let size = datagram.payload_size() as usize;
    if room.capacity() < size {
        room.reserve(size.max(ROOM));
    }
    room.extend_from_slice(&datagram.bytes);
    room.resize(size, 0);
    room.split()
}

/// What a datagram holds, for the account.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Contents {
    /// Bytes of stream data.
    pub(crate) data: u64,
    pub(crate) is_ack_eliciting: bool,
    pub(crate) has_zero_rtt: bool,
}

/// Reads what `bytes` holds.
pub(crate) fn contents(
    bytes: &[u8],
    mut each: impl FnMut(&wire::QuicPacket<'_>, &wire::QuicFrame<'_>),
) -> Contents {
    let mut found = Contents::default();
    for packet in wire::packets(bytes) {
        found.has_zero_rtt |= packet.kind == PacketKind::ZeroRtt;
        for frame in wire::frames(packet.payload) {
            found.is_ack_eliciting |= frame.is_ack_eliciting();
            if let wire::QuicFrame::Stream { length, .. } = frame {
                found.data += length;
            }
            each(&packet, &frame);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::ResetKey;
    use crate::random::{ConnectionIds, Mix};
    use quinn_proto::crypto::HmacKey as _;
    use quinn_proto::{EndpointConfig, ServerConfig};

    /// RFC 9000, section 10.3: a packet of a connection that nobody knows is answered by a stateless reset, which
    /// is shorter and ends with the token of its connection ID. A short packet gets none.
    #[test]
    fn an_unknown_connection_is_reset() {
        let mut config = EndpointConfig::new(std::sync::Arc::new(ResetKey(7)));
        config.cid_generator(|| Box::new(ConnectionIds(Mix::new(1, 1))));
        let endpoint =
            Endpoint::new(std::sync::Arc::new(config), None::<std::sync::Arc<ServerConfig>>, false, None);
        let mut server = QuinnEndpoint::new(endpoint, false, true);
        let datagram = |size| {
            let mut bytes = vec![0x40, 1, 2, 3, 4, 5, 6, 7, 8];
            bytes.resize(size, 9);
            BytesMut::from(&bytes[..])
        };
        // What is left of an earlier datagram is no part of it.
        server.buffer = vec![1; 100];
        assert!(!server.receive(Time::ZERO, datagram(100), 3, false));
        let (bytes, is_capable, port) = server.transmit(Time::ZERO).unwrap();
        assert!((21..100).contains(&bytes.len()) && bytes[0] & 0xC0 == 0x40, "{bytes:?}");
        let mut token = [0; 32];
        ResetKey(7).sign(&[1, 2, 3, 4, 5, 6, 7, 8], &mut token);
        assert_eq!((&bytes[bytes.len() - 16..], is_capable, port), (&token[..16], false, 3));
        server.receive(Time::ZERO, datagram(20), 3, false);
        assert!(server.transmit(Time::ZERO).is_none());
        assert_eq!((server.due(), server.has_timer(), server.is_unarmed()), (Time::MAX, false, false));
    }

    /// Zeros at a datagram's end are filler, whatever their number.
    #[test]
    fn filler_is_what_ends_with_zeros() {
        for (data, zeros) in [(0, 0), (0, 1), (3, 0), (3, 7), (3, 8), (3, 63), (3, 255), (3, 1024), (3, 3001)]
        {
            let mut bytes = vec![5; data];
            bytes.resize(data + zeros, 0);
            let made = compact(&bytes, 2);
            assert_eq!((made.bytes.len(), made.filler as usize, made.port), (data, zeros, 2));
            assert_eq!(whole(&made, &mut BytesMut::new()), bytes);
        }
    }
}
