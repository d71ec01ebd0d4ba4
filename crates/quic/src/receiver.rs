//! The end that receives a flow's data: QUIC's server.

use crate::quinn_endpoint::{QuinnEndpoint, compact, contents, whole};
use crate::settings::Ends;
use crate::wire;
use bytes::BytesMut;
use cogtcp_endpoint::{Datagram, Endpoint, EndpointEvent, LogEntry, Outgoing, PathId, Progress, Received};
use cogtcp_transport::Reassembly;
use cogtcp_units::Time;
use quinn_proto::{Dir, Event, StreamEvent, StreamId};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The receiving end.
#[derive(Debug)]
pub struct QuicReceiver {
    ends: Arc<Ends>,
    host: QuinnEndpoint,
    /// Which bytes of each stream have arrived.
    streams: BTreeMap<StreamId, Reassembly>,
    /// Bytes of stream data in the packets that arrived.
    arrived_bytes: u64,
    progress: Progress,
    events: VecDeque<EndpointEvent>,
}

impl QuicReceiver {
    pub(crate) fn new(ends: &Arc<Ends>) -> Self {
        Self {
            ends: ends.clone(),
            host: ends.server(),
            streams: BTreeMap::new(),
            arrived_bytes: 0,
            progress: Progress::default(),
            events: VecDeque::new(),
        }
    }

    fn listen(&mut self, now: Time) {
        while let Some(event) = self.host.event() {
            match event {
                Event::Connected => {
                    self.host.log(|log| log.connected(now));
                    self.events.push_back(EndpointEvent::Connected);
                }
                Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                    while let Some(id) =
                        self.host.connection().and_then(|connection| connection.streams().accept(Dir::Uni))
                    {
                        self.read(id);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => self.read(id),
                Event::ConnectionLost { .. } => {
                    self.host.log(|log| log.closed(now, false));
                    self.events.push_back(EndpointEvent::Closed);
                }
                _ => {}
            }
        }
    }

    /// Reads what has arrived of a stream, in the order of arrival.
    fn read(&mut self, id: StreamId) {
        let Some(connection) = self.host.connection() else { return };
        let mut stream = connection.recv_stream(id);
        // Not in order: `received_bytes` counts data behind a gap too.
        let Ok(mut chunks) = stream.read(false) else { return };
        let arrived = self.streams.entry(id).or_insert(const { Reassembly::new(0) });
        let is_over = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    let size = chunk.bytes.len() as u64;
                    self.progress.received_bytes += size;
                    let range = chunk.offset..chunk.offset + size;
                    self.progress.delivered_bytes += arrived.insert(range, |_| {}).advanced;
                }
                Ok(None) => break true,
                Err(error) => break !matches!(error, quinn_proto::ReadError::Blocked),
            }
        };
        // The next call of `transmit` sends what credit this gave.
        let _ = chunks.finalize();
        if is_over {
            self.streams.remove(&id);
        }
    }
}

impl Endpoint for QuicReceiver {
    type Packet = Datagram;

    fn handle_packet(&mut self, now: Time, received: Received<'_, Datagram>) {
        let whole = self.host.whole(received.packet);
        self.arrived_bytes += contents(&whole, |_, _| {}).data;
        if self.host.receive(now, whole, received.packet.port, received.marked) {
            // Streams of the connection before are over.
            self.streams.clear();
        }
        self.listen(now);
        self.host.touch();
        // quinn drops duplicates silently: what arrived and was never read is the rest.
        self.progress.duplicate_bytes = self.arrived_bytes.saturating_sub(self.progress.received_bytes);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.host.expire(now);
        self.listen(now);
        self.host.touch();
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<Datagram>> {
        let (bytes, ecn_capable, port) = self.host.transmit(now)?;
        let packet = compact(bytes, port);
        self.host.log_sent(now, false);
        self.progress.sent_packets += 1;
        Some(Outgoing { packet, path: PathId::default(), ecn_capable, data: 0 })
    }

    fn poll_timeout(&self) -> Time {
        self.host.due()
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        self.events.pop_front()
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn keep_log(&mut self) {
        self.host.keep_log(self.ends.sizes());
    }

    fn take_log(&mut self) -> Vec<LogEntry> {
        self.host.take_log()
    }
}

/// Returns the kinds of packets in a datagram.
pub fn kinds(datagram: &Datagram) -> Vec<wire::PacketKind> {
    wire::packets(&whole(datagram, &mut BytesMut::new())).map(|packet| packet.kind).collect()
}
