//! The end that sends a flow's data: QUIC's client.

use crate::control::{Factory, Shared, Watched};
use crate::qlog::Metrics;
use crate::quinn_endpoint::{QuinnEndpoint, compact, contents};
use crate::sent::Sent;
use crate::settings::Ends;
use crate::wire::{HANDSHAKE_DONE, Other, QuicFrame};
use bytes::Bytes;
use cogtcp_endpoint::{
    Datagram, Endpoint, EndpointEvent, LogEntry, Outgoing, PathId, Progress, Received, Supply, Waiting,
};
use cogtcp_transport::LinkEvent;
use cogtcp_units::{Duration, Time};
use quinn_proto::{Dir, Event, StreamEvent, StreamId, WriteError};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Application data is zeros: all writes share this block.
static ZEROS: [u8; BLOCK] = [0; BLOCK];
/// Bytes of one write.
const BLOCK: usize = 16_384;

/// RFC 9002, section 6.2.2.
const INITIAL_RTT: Duration = Duration::from_millis(333);

/// A stream that data is written to.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// Bytes that quinn has taken.
    written: u64,
    /// Bytes that left at least once.
    sent: u64,
    /// Bytes that the application has written and quinn has not taken.
    backlog: u64,
    /// Nothing follows the backlog.
    is_last: bool,
    is_finished: bool,
}

/// Counts of QUIC alone.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct QuicStats {
    /// Expired probe timeouts.
    pub probe_timeouts: u64,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// Packets declared lost and acknowledged later.
    pub spurious_losses: u64,
    /// Times of persistent congestion.
    pub persistent_congestion: u64,
    /// Packets of early data.
    pub zero_rtt_packets: u64,
    /// Connections opened.
    pub connections: u64,
    /// Duration of the latest handshake; `None`: no handshake is complete.
    pub handshake: Option<Duration>,
}

/// The sending end.
#[derive(Debug)]
pub struct QuicSender {
    ends: Arc<Ends>,
    host: QuinnEndpoint,
    factory: Arc<Factory>,
    control: Option<Shared>,
    streams: BTreeMap<StreamId, Stream>,
    /// The stream of the application that writes bytes without bounds between messages.
    bulk: Option<StreamId>,
    /// Messages for which no stream could be opened yet.
    waiting: VecDeque<u64>,
    /// Bytes supplied before the connection opened.
    early: u64,
    is_saturated: bool,
    is_closing: bool,
    is_open: bool,
    has_lost_connection: bool,
    sent: Sent,
    /// A timer expired since the latest packet: a packet that leaves without regard to the window is a probe.
    has_expired: bool,
    /// Probe timeouts since the latest acknowledgement.
    probing: u32,
    /// The server has confirmed the handshake (HANDSHAKE_DONE; RFC 9001, section 4.1.2).
    is_confirmed: bool,
    last_sent: Time,
    /// When a handshake without a timer is probed; `Time::MAX`: never. quinn's client arms no probe timeout
    /// while early data is in flight (against RFC 9002, section 6.2.2.1). A server that may not send more
    /// would wait for ever.
    rescue: Time,
    /// Such probes sent.
    rescues: u32,
    /// The window does not count for the next packet, which carries the client's Finished: early data may
    /// fill the window.
    is_finishing: bool,
    /// The window does not count for the next packet, a probe.
    is_rescued: bool,
    /// A control of ours that paces lets the next packet leave then.
    release: Time,
    is_flow_blocked: bool,
    opened_at: Time,
    /// When the client's address changes; [`Time::MAX`]: never, or no longer.
    rebinds_at: Time,
    progress: Progress,
    counts: QuicStats,
    reductions: u64,
    losses: u64,
    is_logging: bool,
    /// What the log has seen of the control.
    logged: Watched,
    /// Packets lost in earlier connections.
    lost_before: u64,
    persistent_before: u64,
    events: VecDeque<EndpointEvent>,
}

impl QuicSender {
    pub(crate) fn new(ends: Arc<Ends>) -> Self {
        let (host, factory) = (ends.client(), ends.factory());
        Self {
            ends,
            host,
            factory,
            control: None,
            streams: BTreeMap::new(),
            bulk: None,
            waiting: VecDeque::new(),
            early: 0,
            is_saturated: false,
            is_closing: false,
            is_open: false,
            has_lost_connection: false,
            sent: Sent::default(),
            has_expired: false,
            probing: 0,
            is_confirmed: false,
            last_sent: Time::ZERO,
            rescue: Time::MAX,
            rescues: 0,
            is_finishing: false,
            is_rescued: false,
            release: Time::ZERO,
            is_flow_blocked: false,
            opened_at: Time::ZERO,
            rebinds_at: Time::MAX,
            progress: Progress::default(),
            counts: QuicStats::default(),
            reductions: 0,
            losses: 0,
            is_logging: false,
            logged: Watched::default(),
            lost_before: 0,
            persistent_before: 0,
            events: VecDeque::new(),
        }
    }

    /// Returns the counts of QUIC.
    pub fn counts(&self) -> QuicStats {
        let watched = self.control.as_ref().map(Shared::watched).unwrap_or_default();
        QuicStats {
            lost_packets: self.progress.lost_packets,
            persistent_congestion: self.persistent_before + watched.persistent,
            ..self.counts
        }
    }

    /// The stream of the application that writes without bounds.
    fn bulk(&mut self) -> Option<&mut Stream> {
        if self.bulk.is_none() {
            let id = self.host.connection()?.streams().open(Dir::Uni)?;
            self.bulk = Some(id);
        }
        Some(self.streams.entry(self.bulk?).or_default())
    }

    /// Gives quinn what the application has written, as far as quinn takes it.
    fn feed(&mut self) {
        if !self.is_open || self.is_over() {
            return;
        }
        while let Some(&bytes) = self.waiting.front() {
            let Some(id) = self.host.connection().and_then(|connection| connection.streams().open(Dir::Uni))
            else {
                break;
            };
            self.waiting.pop_front();
            self.streams.insert(id, Stream { backlog: bytes, is_last: true, ..Stream::default() });
        }
        let early = std::mem::take(&mut self.early);
        let (is_saturated, is_closing) = (self.is_saturated, self.is_closing);
        if is_saturated || early > 0 || self.bulk.is_some() {
            match self.bulk() {
                Some(stream) => {
                    stream.backlog += early;
                    // Never empty, so that the application always has data.
                    if is_saturated {
                        stream.backlog = stream.backlog.max(BLOCK as u64);
                    }
                    stream.is_last = is_closing && !is_saturated;
                }
                None => self.early = early,
            }
        }
        // Two full packets are kept ready.
        let enough = 2 * u64::from(self.ends.datagram_size());
        let Some(connection) = self.host.connection() else { return };
        self.is_flow_blocked = false;
        for (&id, stream) in &mut self.streams {
            while stream.backlog > 0 && stream.written < stream.sent + enough {
                let size = stream.backlog.min(BLOCK as u64) as usize;
                let mut chunk = [Bytes::from_static(&ZEROS[..size])];
                match connection.send_stream(id).write_chunks(&mut chunk) {
                    Ok(written) => {
                        stream.written += written.bytes as u64;
                        stream.backlog -= written.bytes as u64;
                        if is_saturated && self.bulk == Some(id) {
                            stream.backlog = stream.backlog.max(BLOCK as u64);
                        }
                    }
                    Err(WriteError::Blocked) => {
                        // While written data still waits to leave, the window is the limit, not the
                        // receiver's credit.
                        self.is_flow_blocked = stream.written == stream.sent;
                        break;
                    }
                    // The peer stopped the stream, or it is closed: nothing more can leave.
                    Err(_) => {
                        stream.backlog = 0;
                        break;
                    }
                }
            }
            if stream.is_last && stream.backlog == 0 && !stream.is_finished {
                stream.is_finished = connection.send_stream(id).finish().is_ok();
            }
        }
    }

    fn is_over(&mut self) -> bool {
        self.host.connection().is_none_or(|connection| connection.is_closed())
    }

    /// Reads the connection's events and what the control has seen.
    fn listen(&mut self, now: Time) {
        while let Some(event) = self.host.event() {
            match event {
                Event::Connected => {
                    self.counts.handshake = Some(now.saturating_since(self.opened_at));
                    self.is_finishing = true;
                    self.host.log(|log| log.connected(now));
                    self.events.push_back(EndpointEvent::Connected);
                }
                Event::Stream(StreamEvent::Finished { id } | StreamEvent::Stopped { id, .. }) => {
                    self.streams.remove(&id);
                    if self.bulk == Some(id) {
                        self.bulk = None;
                    }
                }
                // quinn reports our own close too, which `finish` has announced.
                Event::ConnectionLost { .. } if !self.has_lost_connection => {
                    self.has_lost_connection = true;
                    self.host.log(|log| log.closed(now, false));
                    if self.is_open {
                        self.is_open = false;
                        self.events.push_back(EndpointEvent::Closed);
                    }
                }
                _ => {}
            }
        }
        let Some(control) = &self.control else { return };
        if let Some(sample) = control.take_sample() {
            self.probing = 0;
            self.events.push_back(EndpointEvent::RoundTrip(sample));
        }
        let watched = control.watched();
        if self.is_logging {
            self.log_recovery(now);
        }
        if watched.reductions > self.reductions {
            self.reductions = watched.reductions;
            self.events.push_back(EndpointEvent::Loss);
        }
        if watched.losses > self.losses {
            self.losses = watched.losses;
            if let Some(connection) = self.host.connection() {
                self.progress.lost_packets = self.lost_before + connection.stats().path.lost_packets;
            }
        }
    }

    /// Logs what the recovery and the control did since the last look.
    #[cold]
    fn log_recovery(&mut self, now: Time) {
        let Some(control) = &self.control else { return };
        let (watched, before) = (control.watched(), self.logged);
        let (window, threshold) = (control.window(), control.threshold());
        // Before the first packet the connection has no name.
        if watched.in_flight == 0 && watched.acked_packets == 0 {
            return;
        }
        self.logged = watched;
        let Some(connection) = self.host.connection() else { return };
        let smoothed = connection.rtt().as_nanos();
        let metrics = Metrics {
            latest: watched.latest,
            smoothed: Duration::from_nanos(u64::try_from(smoothed).unwrap_or(u64::MAX)),
            window,
            threshold,
            in_flight: watched.in_flight,
        };
        // From the most special: persistent congestion lies within a recovery period.
        let state = if watched.persistent > before.persistent {
            "persistent_congestion"
        } else if watched.is_recovering() {
            "recovery"
        } else if threshold.is_none_or(|threshold| window < threshold) {
            "slow_start"
        } else {
            "congestion_avoidance"
        };
        self.host.log(|log| {
            if let Some(sent) = watched.lost_sent.filter(|_| watched.lost_bytes > before.lost_bytes) {
                log.lost(now, sent, watched.lost_bytes - before.lost_bytes);
            }
            log.state(now, state);
            log.metrics(now, metrics);
        });
    }

    /// Ends the connection when all is delivered.
    fn finish(&mut self, now: Time) {
        let is_done = self.is_closing
            && self.is_open
            && !self.is_saturated
            && self.early == 0
            && self.waiting.is_empty()
            && self.streams.is_empty();
        // Without early data nothing may have been sent yet.
        if is_done && self.counts.handshake.is_some() {
            self.is_open = false;
            self.has_lost_connection = true;
            self.host.close(now);
            self.host.log(|log| log.closed(now, true));
            self.events.push_back(EndpointEvent::Closed);
        }
    }

    fn after(&mut self, now: Time) {
        self.listen(now);
        self.feed();
        self.finish(now);
        self.host.touch();
        if !(self.is_open && self.host.is_handshaking()) {
            (self.rescue, self.rescues) = (Time::MAX, 0);
        } else if self.host.has_timer() {
            self.rescue = Time::MAX;
        } else if self.rescue == Time::MAX {
            // As the probe timeout before the second sample (RFC 9002, section 6.2.1): three round trips,
            // doubled each time.
            self.rescue = now + self.round_trip().mul_ratio(3 << self.rescues.min(16), 1);
        }
    }

    /// The smoothed round-trip time, or what stands for it before the first sample.
    fn round_trip(&self) -> Duration {
        let smoothed = self.control.as_ref().map_or(Duration::ZERO, |control| control.watched().smoothed);
        if smoothed.is_zero() { INITIAL_RTT } else { smoothed }
    }

    /// The client's address changes when its time has come.
    fn rebind(&mut self, now: Time) {
        // A server follows no client before the handshake is confirmed (RFC 9000, section 9): it would be
        // over for good.
        if now >= self.rebinds_at && self.is_confirmed {
            self.rebinds_at = Time::MAX;
            self.host.rebind(1);
        }
    }

    fn set_saturated(&mut self, is_saturated: bool) {
        let bulk = self.bulk.and_then(|id| self.streams.get_mut(&id));
        if let (true, false, Some(stream)) = (self.is_saturated, is_saturated, bulk) {
            // What was kept ready and quinn has not taken was never written.
            stream.backlog = 0;
        }
        self.is_saturated = is_saturated;
    }

    /// The application has written data that has not left.
    fn has_data(&self) -> bool {
        let is_unsent = |stream: &Stream| stream.backlog > 0 || stream.written > stream.sent;
        self.is_saturated
            || self.early > 0
            || !self.waiting.is_empty()
            || self.streams.values().any(is_unsent)
    }
}

impl Endpoint for QuicSender {
    type Packet = Datagram;

    /// Opens a connection, or a new one where the one before is closed.
    fn open(&mut self, now: Time) {
        if self.is_open {
            return;
        }
        let watched = self.control.take().map(|control| control.watched()).unwrap_or_default();
        self.persistent_before += watched.persistent;
        self.lost_before = self.progress.lost_packets;
        self.streams.clear();
        self.bulk = None;
        (self.sent, self.reductions, self.losses) = (Sent::default(), 0, 0);
        self.logged = Watched::default();
        (self.probing, self.has_expired, self.release) = (0, false, Time::ZERO);
        (self.is_closing, self.has_lost_connection, self.is_confirmed) = (false, false, false);
        self.opened_at = now;
        self.counts.handshake = None;
        self.is_open = self.host.connect(now, self.ends.client_config());
        self.control = self.factory.latest();
        // The change of address happens once in a run, not once for each connection.
        if let Some(after) = self.ends.rebinds_after().filter(|_| self.counts.connections == 0) {
            self.rebinds_at = now + after;
        }
        self.counts.connections += 1;
        self.after(now);
    }

    fn supply(&mut self, now: Time, what: Supply) {
        match what {
            Supply::Saturated(is_saturated) => self.set_saturated(is_saturated),
            Supply::Bytes(bytes) => self.early += bytes,
            Supply::Message(bytes) => self.waiting.push_back(bytes),
        }
        self.after(now);
    }

    fn close(&mut self, now: Time) {
        self.set_saturated(false);
        self.is_closing = true;
        self.after(now);
    }

    fn handle_packet(&mut self, now: Time, received: Received<'_, Datagram>) {
        let acked =
            |control: &Option<Shared>| control.as_ref().map_or(0, |control| control.watched().acked_packets);
        let (before, mut newly) = (acked(&self.control), 0);
        // A datagram that also acknowledges packets of the handshake is not compared.
        let mut is_plain = true;
        self.rebind(now);
        let whole = self.host.whole(received.packet);
        contents(&whole, |packet, frame| {
            is_plain &= packet.kind.space() == 2;
            match frame {
                QuicFrame::Ack(ack) if packet.kind.space() == 2 => newly += self.sent.on_ack(ack),
                QuicFrame::Other(Other { kind: HANDSHAKE_DONE, .. }) => self.is_confirmed = true,
                _ => {}
            }
        });
        self.host.receive(now, whole, received.packet.port, received.marked);
        if is_plain {
            // quinn passes a packet that it had declared lost over: nobody hears of its acknowledgement.
            self.counts.spurious_losses += newly.saturating_sub(acked(&self.control) - before);
        }
        self.after(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.host.due() <= now {
            self.has_expired = true;
            self.host.expire(now);
            // quinn takes a complete handshake for a confirmed one and probes the 1-RTT space, whose packets
            // the server drops while the client's Finished is lost; and it holds the Finished back while the
            // window is full. A probe may exceed the window (RFC 9002, section 7), and what the handshake has
            // to send goes first.
            if !self.is_confirmed && now >= self.last_sent + self.round_trip() {
                self.is_rescued = true;
            }
        }
        if self.rescue <= now {
            self.rescue = Time::MAX;
            self.rescues += 1;
            (self.has_expired, self.is_rescued) = (true, true);
            if let Some(connection) = self.host.connection() {
                connection.ping();
            }
            return;
        }
        self.after(now);
    }

    fn handle_link_event(&mut self, now: Time, event: LinkEvent) {
        if let Some(control) = &self.control {
            control.link_event(now, event);
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<Datagram>> {
        if now < self.release {
            self.host.refresh();
            return None;
        }
        self.release = Time::ZERO;
        self.rebind(now);
        self.feed();
        let control = self.control.as_ref();
        // Forgets earlier questions: `was_asked` below is about this packet.
        control.map(Shared::take_asked);
        let is_finishing = std::mem::take(&mut self.is_finishing);
        let is_stuck = self.is_rescued
            || is_finishing
            || (self.is_open && self.host.is_unarmed() && control.is_some_and(Shared::has_flight));
        if let Some(control) = control.filter(|_| is_stuck) {
            control.lift(true);
        }
        let is_rescued = std::mem::take(&mut self.is_rescued);
        let made = self.host.transmit(now);
        if let Some(control) = control.filter(|_| is_stuck) {
            control.lift(false);
        }
        let (bytes, ecn_capable, port) = made?;
        let size = bytes.len() as u64;
        let packet = compact(bytes, port);
        let mut is_resent = false;
        let (sent, streams) = (&mut self.sent, &mut self.streams);
        let mut number = None;
        let found = contents(bytes, |packet, frame| {
            if packet.kind.space() == 2 {
                // A datagram has at most one packet of this space: a short header runs to its end (RFC 9000,
                // section 12.2).
                let entry = number.get_or_insert((packet.number(sent.next()), false));
                entry.1 |= frame.is_ack_eliciting();
            }
            if let QuicFrame::Stream { stream, offset, length, .. } = frame
                && let Some(known) = streams
                    .get_mut(&StreamId::from(quinn_proto::VarInt::from_u64(*stream).unwrap_or_default()))
            {
                // QUIC repeats stream data in new packets: only the offset tells.
                is_resent |= *offset < known.sent;
                known.sent = known.sent.max(offset + length);
            }
        });
        if let Some((number, is_ack_eliciting)) = number {
            sent.on_sent(number, is_ack_eliciting);
        }
        let mut is_probe = false;
        if let Some(control) = control {
            let was_asked = control.take_asked();
            if found.is_ack_eliciting {
                // quinn does not ask for the window before a probe, which may exceed it (RFC 9002, section
                // 7.5).
                is_probe = self.has_expired && (!was_asked || is_rescued);
                if is_probe {
                    self.counts.probe_timeouts += 1;
                    self.progress.timeouts += 1;
                    self.probing += 1;
                    self.events.push_back(EndpointEvent::Timeout);
                }
                // Only packets in flight are paced (RFC 9002, section 7.7: an ACK alone is not).
                if let Some(rate) = control.pacing_rate() {
                    self.release = now + rate.transmission_time(size);
                }
            } else {
                control.forget(now, size);
            }
        }
        if is_probe {
            self.host.log(|log| log.expired(now));
        }
        self.host.log_sent(now, is_probe);
        self.has_expired = false;
        self.last_sent = now;
        self.counts.zero_rtt_packets += u64::from(found.has_zero_rtt);
        self.progress.sent_packets += 1;
        self.progress.sent_bytes += found.data;
        self.progress.resent_packets += u64::from(is_resent);
        let data = u32::try_from(found.data).unwrap_or(u32::MAX);
        Some(Outgoing { packet, path: PathId::default(), ecn_capable, data })
    }

    fn poll_timeout(&self) -> Time {
        let due = self.host.due().min(self.rescue);
        if self.release > Time::ZERO { due.min(self.release) } else { due }
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        self.events.pop_front()
    }

    fn observe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let control = self.control.as_ref();
        let segment = f64::from(self.ends.most_data());
        let threshold = control.and_then(Shared::threshold).map_or(f64::NAN, |bytes| bytes as f64 / segment);
        let rate =
            control.and_then(Shared::pacing_rate).map_or(f64::NAN, |rate| rate.bits_per_second() as f64);
        show("ssthresh_segments", threshold);
        show("pacing_rate_bps", rate);
    }

    fn count(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let counts = self.counts();
        show("connections", counts.connections as f64);
        show("handshake_s", counts.handshake.map_or(f64::NAN, Duration::as_secs_f64));
        show("zero_rtt_packets", counts.zero_rtt_packets as f64);
        show("probe_timeouts", counts.probe_timeouts as f64);
        show("lost_packets", counts.lost_packets as f64);
        show("spurious_losses", counts.spurious_losses as f64);
        show("persistent_congestion", counts.persistent_congestion as f64);
    }

    fn progress(&self) -> Progress {
        let Some(control) = &self.control else { return self.progress };
        let watched = control.watched();
        let waiting = if !self.is_open {
            Waiting::Nothing
        } else if self.probing > 0 {
            Waiting::Timeout
        } else if !self.has_data() {
            Waiting::Application
        } else if self.is_flow_blocked {
            Waiting::Receiver
        } else {
            Waiting::Window
        };
        Progress {
            in_flight_bytes: Some(watched.in_flight),
            window_bytes: Some(control.window()),
            smoothed_rtt: (!watched.smoothed.is_zero()).then_some(watched.smoothed),
            waiting,
            ..self.progress
        }
    }

    fn keep_log(&mut self) {
        self.is_logging = true;
        self.host.keep_log(self.ends.sizes());
    }

    fn take_log(&mut self) -> Vec<LogEntry> {
        self.host.take_log()
    }
}
