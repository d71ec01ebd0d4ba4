//! The log of one end, in events of qlog (draft-ietf-quic-qlog-quic-events, state of July 2026).
//!
//! Packets are read from their bytes, which are in the clear, and not from quinn. The library does not say
//! which packets it declares lost. They are the oldest in flight up to the sum of bytes that quinn reports
//! (RFC 9002, section 6.1: both thresholds declare from the oldest on).

use crate::wire::{self, PacketKind, QuicFrame, QuicPacket};
use cogtcp_endpoint::LogEntry;
use cogtcp_units::{Duration, Time};
use quinn_proto::EcnCodepoint;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::net::SocketAddr;

/// RFC 9000, section 18.2: the default exponent of the field ACK Delay, which quinn keeps.
const ACK_DELAY_EXPONENT: u32 = 3;

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
struct Flying {
    number: u64,
    kind: PacketKind,
    at: Time,
    size: u64,
}

/// What is known of one connection.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The first destination connection ID: the connection's name in the log.
    name: String,
    /// The packet numbers that are expected next, by space.
    next_sent: [u64; 3],
    next_received: [u64; 3],
    flight: [VecDeque<Flying>; 3],
}

/// State of the recovery, as qlog shows it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Metrics {
    pub(crate) latest: Duration,
    pub(crate) smoothed: Duration,
    pub(crate) window: u64,
    pub(crate) threshold: Option<u64>,
    pub(crate) in_flight: u64,
}

/// The log of one end.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    /// Addresses of this end and of the other.
    addresses: [SocketAddr; 2],
    /// Largest datagram and initial window in bytes.
    sizes: [u64; 2],
    entries: Vec<LogEntry>,
    connections: Vec<Known>,
    /// Which connection has a connection ID, either end's.
    ids: BTreeMap<Vec<u8>, usize>,
    metrics: Option<Metrics>,
    state: &'static str,
    /// The ECN codepoint of the latest datagram that arrived.
    ecn: Option<EcnCodepoint>,
    /// The peer's new address has not answered a challenge yet.
    is_validating: bool,
}

impl Log {
    /// An empty log of the end at `addresses[0]`, whose peer is at `addresses[1]`; `sizes`: the largest
    /// datagram and the initial window in bytes.
    pub(crate) const fn new(addresses: [SocketAddr; 2], sizes: [u64; 2]) -> Self {
        Self {
            addresses,
            sizes,
            entries: Vec::new(),
            connections: Vec::new(),
            ids: BTreeMap::new(),
            metrics: None,
            state: "",
            ecn: None,
            is_validating: false,
        }
    }

    /// Takes the entries.
    pub(crate) fn take(&mut self) -> Vec<LogEntry> {
        std::mem::take(&mut self.entries)
    }

    fn push(&mut self, at: Time, connection: usize, name: &'static str, data: String) {
        let connection =
            self.connections.get(connection).map_or_else(String::new, |known| known.name.clone());
        self.entries.push(LogEntry { at, connection, name, data });
    }

    /// About the connection that opened last.
    fn push_latest(&mut self, at: Time, name: &'static str, data: String) {
        self.push(at, self.connections.len().saturating_sub(1), name, data);
    }

    /// The handshake is complete.
    pub(crate) fn connected(&mut self, at: Time) {
        self.push_latest(at, "quic:connection_state_updated", "{\"new\":\"handshake_complete\"}".to_owned());
    }

    /// The connection is over; `is_own`: this end closed it.
    pub(crate) fn closed(&mut self, at: Time, is_own: bool) {
        let initiator = if is_own { "local" } else { "remote" };
        self.push_latest(at, "quic:connection_closed", format!("{{\"initiator\":\"{initiator}\"}}"));
    }

    /// The peer's address is `remote` now.
    pub(crate) fn migrated(&mut self, at: Time, remote: Option<SocketAddr>) {
        if let Some(remote) = remote.filter(|remote| *remote != self.addresses[1]) {
            self.addresses[1] = remote;
            self.is_validating = true;
            let data = format!("{{\"new\":\"migration_started\",\"tuple_remote\":{}}}", address(remote));
            self.push_latest(at, "quic:migration_state_updated", data);
        }
    }

    /// The probe timeout has expired.
    pub(crate) fn expired(&mut self, at: Time) {
        let data = "{\"timer_type\":\"pto\",\"event_type\":\"expired\"}".to_owned();
        self.push_latest(at, "quic:timer_updated", data);
    }

    /// A datagram leaves.
    pub(crate) fn sent(&mut self, at: Time, datagram: &[u8], is_probe: bool) {
        for packet in wire::packets(datagram) {
            let connection = self.connection(at, &packet);
            let space = packet.kind.space();
            let known = &mut self.connections[connection];
            let number = packet.number(known.next_sent[space]);
            known.next_sent[space] = number + 1;
            let mut frames = wire::frames(packet.payload);
            // Padding counts as in flight, acknowledgements alone do not (RFC 9002, section 2).
            if frames.any(|frame| frame.is_ack_eliciting() || matches!(frame, QuicFrame::Padding(_))) {
                let size = packet.size as u64;
                known.flight[space].push_back(Flying { number, kind: packet.kind, at, size });
            }
            let mut data = described(&packet, number);
            if is_probe {
                data.push_str(",\"trigger\":\"pto_probe\"");
            }
            data.push('}');
            self.learn(&packet, connection);
            self.push(at, connection, "quic:packet_sent", data);
        }
    }

    /// A datagram has arrived and was handled; `has_keys`: this end can read 1-RTT packets.
    pub(crate) fn received(&mut self, at: Time, datagram: &[u8], ecn: Option<EcnCodepoint>, has_keys: bool) {
        for packet in wire::packets(datagram) {
            let connection = self.connection(at, &packet);
            if ecn != self.ecn {
                self.ecn = ecn;
                let name = match ecn {
                    None => "Not-ECT",
                    Some(EcnCodepoint::Ect0) => "ECT(0)",
                    Some(EcnCodepoint::Ect1) => "ECT(1)",
                    Some(EcnCodepoint::Ce) => "CE",
                };
                let data = format!(
                    "{{\"count\":1,\"raw\":[{{\"length\":{}}}],\"ecn\":[\"{name}\"]}}",
                    datagram.len()
                );
                self.push(at, connection, "quic:udp_datagrams_received", data);
            }
            let space = packet.kind.space();
            let known = &mut self.connections[connection];
            let number = packet.number(known.next_received[space]);
            if packet.kind == PacketKind::OneRtt && !has_keys {
                let data = format!("{},\"trigger\":\"key_unavailable\"}}", head(&packet, number));
                self.push(at, connection, "quic:packet_dropped", data);
                continue;
            }
            known.next_received[space] = known.next_received[space].max(number + 1);
            for frame in wire::frames(packet.payload) {
                let QuicFrame::Ack(ack) = frame else { continue };
                let flight = &mut known.flight[space];
                for (low, high) in ack.ranges() {
                    // Long acknowledged packets are named again and again.
                    if flight.front().is_none_or(|oldest| oldest.number > high) {
                        break;
                    }
                    flight.retain(|flying| !(low..=high).contains(&flying.number));
                }
            }
            let data = format!("{}}}", described(&packet, number));
            self.learn(&packet, connection);
            self.push(at, connection, "quic:packet_received", data);
            // RFC 9000, section 8.2.3: the response validates the path.
            let mut frames = wire::frames(packet.payload);
            if self.is_validating && frames.any(|frame| frame.name() == "path_response") {
                self.is_validating = false;
                let data = "{\"old\":\"migration_started\",\"new\":\"migration_complete\"}".to_owned();
                self.push(at, connection, "quic:migration_state_updated", data);
            }
        }
    }

    /// Packets of `bytes` are lost, the latest of them sent at `sent`.
    pub(crate) fn lost(&mut self, at: Time, sent: Time, bytes: u64) {
        let Some(known) = self.connections.last_mut() else { return };
        // Both thresholds declare the oldest packets of one packet number space.
        let oldest = |flight: &VecDeque<Flying>| {
            let mut left = bytes;
            let fits = |flying: &&Flying| {
                let fits = flying.at <= sent && flying.size <= left;
                left -= if fits { flying.size } else { 0 };
                fits
            };
            let count = flight.iter().take_while(fits).count();
            (left == 0).then_some(count)
        };
        let Some((space, count)) =
            // The 1-RTT space first, which has nearly all packets.
            (0..3).rev().find_map(|space| Some((space, oldest(&known.flight[space]).filter(|n| *n > 0)?)))
        else {
            return;
        };
        let lost: Vec<Flying> = known.flight[space].drain(..count).collect();
        for Flying { number, kind, .. } in lost {
            let data =
                format!("{{\"header\":{{\"packet_type\":\"{}\",\"packet_number\":{number}}}}}", kind.name());
            self.push_latest(at, "quic:packet_lost", data);
        }
    }

    /// The recovery's state; only changes are logged.
    pub(crate) fn metrics(&mut self, at: Time, new: Metrics) {
        if self.metrics == Some(new) {
            return;
        }
        let old = self.metrics.replace(new).unwrap_or_default();
        let mut data = String::new();
        let mut show = |name: &str, value: String| {
            let comma = if data.is_empty() { '{' } else { ',' };
            let _ = write!(data, "{comma}\"{name}\":{value}");
        };
        if new.latest != old.latest {
            show("latest_rtt", milliseconds(new.latest.as_nanos()));
        }
        if new.smoothed != old.smoothed {
            show("smoothed_rtt", milliseconds(new.smoothed.as_nanos()));
        }
        if new.window != old.window {
            show("congestion_window", new.window.to_string());
        }
        if let Some(threshold) = new.threshold.filter(|_| new.threshold != old.threshold) {
            show("ssthresh", threshold.to_string());
        }
        if new.in_flight != old.in_flight {
            show("bytes_in_flight", new.in_flight.to_string());
        }
        if !data.is_empty() {
            data.push('}');
            self.push_latest(at, "quic:recovery_metrics_updated", data);
        }
    }

    /// The congestion control's state: `slow_start`, `congestion_avoidance`, `recovery` or
    /// `persistent_congestion`.
    pub(crate) fn state(&mut self, at: Time, new: &'static str) {
        if self.state != new {
            let old = std::mem::replace(&mut self.state, new);
            let old = if old.is_empty() { String::new() } else { format!("\"old\":\"{old}\",") };
            self.push_latest(at, "quic:congestion_state_updated", format!("{{{old}\"new\":\"{new}\"}}"));
        }
    }

    /// The connection of `packet`, which its first packet begins.
    fn connection(&mut self, at: Time, packet: &QuicPacket<'_>) -> usize {
        if let Some(&known) = self.ids.get(packet.destination) {
            return known;
        }
        let connection = self.connections.len();
        self.connections.push(Known { name: hex(packet.destination), ..Known::default() });
        self.ids.insert(packet.destination.to_vec(), connection);
        // Of the connection before: the new one logs all its values once.
        (self.metrics, self.state) = (None, "");
        let [local, remote] = self.addresses.map(address);
        let data = format!("{{\"local\":{local},\"remote\":{remote}}}");
        self.push(at, connection, "quic:connection_started", data);
        // RFC 9002, appendices A.2 and B.2.
        let [datagram, window] = self.sizes;
        let data = format!(
            "{{\"reordering_threshold\":3,\"time_threshold\":1.125,\"timer_granularity\":1,\"initial_rtt\":333,\
             \"max_datagram_size\":{datagram},\"initial_congestion_window\":{window},\
             \"minimum_congestion_window\":{},\"persistent_congestion_threshold\":3}}",
            2 * datagram
        );
        self.push(at, connection, "quic:recovery_parameters_set", data);
        connection
    }

    /// Learns the connection IDs that `packet` names.
    fn learn(&mut self, packet: &QuicPacket<'_>, connection: usize) {
        if !packet.source.is_empty() && !self.ids.contains_key(packet.source) {
            self.ids.insert(packet.source.to_vec(), connection);
        }
        for frame in wire::frames(packet.payload) {
            if let QuicFrame::Other(other) = frame
                && other.name == "new_connection_id"
            {
                self.ids.insert(other.bytes.to_vec(), connection);
            }
        }
    }
}

/// The header of a packet, its size, and its frames; the object is left open.
fn described(packet: &QuicPacket<'_>, number: u64) -> String {
    let mut data = head(packet, number);
    data.push_str(",\"frames\":[");
    for (place, frame) in wire::frames(packet.payload).enumerate() {
        if place > 0 {
            data.push(',');
        }
        write_frame(&mut data, &frame);
    }
    data.push(']');
    data
}

/// The header of a packet and its size; the object is left open.
fn head(packet: &QuicPacket<'_>, number: u64) -> String {
    let mut data = format!(
        "{{\"header\":{{\"packet_type\":\"{}\",\"packet_number\":{number},\"packet_number_length\":{}",
        packet.kind.name(),
        packet.number_size,
    );
    if packet.kind != PacketKind::OneRtt {
        // The header's field covers packet number, payload and tag (RFC 9000, section 17.2).
        let length = packet.number_size + packet.payload.len() + crate::crypto::TAG;
        let (source, destination) = (hex(packet.source), hex(packet.destination));
        let _ = write!(
            data,
            ",\"length\":{length},\"version\":\"00000001\",\"scid\":\"{source}\",\"dcid\":\"{destination}\""
        );
    }
    let _ = write!(data, "}},\"raw\":{{\"length\":{}}}", packet.size);
    data
}

fn write_frame(data: &mut String, frame: &QuicFrame<'_>) {
    let result = match frame {
        QuicFrame::Padding(length) => {
            write!(data, "{{\"frame_type\":\"padding\",\"raw\":{{\"length\":{length}}}}}")
        }
        QuicFrame::Ping | QuicFrame::Close => write!(data, "{{\"frame_type\":\"{}\"}}", frame.name()),
        QuicFrame::Ack(ack) => write_ack(data, ack),
        QuicFrame::Crypto(offset, length) => write!(
            data,
            "{{\"frame_type\":\"crypto\",\"offset\":{offset},\"raw\":{{\"payload_length\":{length}}}}}"
        ),
        QuicFrame::Stream { stream, offset, length, is_last } => write!(
            data,
            "{{\"frame_type\":\"stream\",\"stream_id\":{stream},\"offset\":{offset},\"fin\":{is_last},\
             \"raw\":{{\"payload_length\":{length}}}}}"
        ),
        QuicFrame::Other(other) => write_other(data, other),
    };
    // Text in memory takes all that is written.
    debug_assert!(result.is_ok());
}

fn write_ack(data: &mut String, ack: &wire::Ack<'_>) -> std::fmt::Result {
    // Microseconds over 2^exponent on the wire (RFC 9000, section 19.3), nanoseconds here.
    let delay = ack.delay.saturating_mul(1000 << ACK_DELAY_EXPONENT);
    write!(data, "{{\"frame_type\":\"ack\",\"ack_delay\":{},\"acked_ranges\":[", milliseconds(delay))?;
    for (place, (low, high)) in ack.ranges().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        if low == high {
            write!(data, "{comma}[{low}]")?;
        } else {
            write!(data, "{comma}[{low},{high}]")?;
        }
    }
    data.push(']');
    if let Some([ect0, ect1, ce]) = ack.ecn {
        write!(data, ",\"ect1\":{ect1},\"ect0\":{ect0},\"ce\":{ce}")?;
    }
    data.push('}');
    Ok(())
}

fn write_other(data: &mut String, other: &wire::Other<'_>) -> std::fmt::Result {
    let [first, second, third, _] = other.numbers;
    // The last bit of the frame's type tells (RFC 9000, sections 19.11 and 19.14).
    let stream_type = if other.kind.is_multiple_of(2) { "bidirectional" } else { "unidirectional" };
    // Frames that the schema does not name are of the type `unknown`.
    let name = match other.name {
        "immediate_ack" | "ack_frequency" => "unknown",
        name => name,
    };
    write!(data, "{{\"frame_type\":\"{name}\"")?;
    match other.name {
        "reset_stream" => write!(
            data,
            ",\"stream_id\":{first},\"error\":\"unknown\",\"error_code\":{second},\"final_size\":{third}"
        ),
        "stop_sending" => {
            write!(data, ",\"stream_id\":{first},\"error\":\"unknown\",\"error_code\":{second}")
        }
        "new_token" => write!(data, ",\"token\":{{\"raw\":{{\"length\":{}}}}}", other.bytes.len()),
        "max_data" => write!(data, ",\"maximum\":{first}"),
        "max_stream_data" => write!(data, ",\"stream_id\":{first},\"maximum\":{second}"),
        "max_streams" => write!(data, ",\"stream_type\":\"{stream_type}\",\"maximum\":{first}"),
        "data_blocked" => write!(data, ",\"limit\":{first}"),
        "stream_data_blocked" => write!(data, ",\"stream_id\":{first},\"limit\":{second}"),
        "streams_blocked" => write!(data, ",\"stream_type\":\"{stream_type}\",\"limit\":{first}"),
        "new_connection_id" => write!(
            data,
            ",\"sequence_number\":{first},\"retire_prior_to\":{second},\"connection_id\":\"{}\"",
            hex(other.bytes)
        ),
        "retire_connection_id" => write!(data, ",\"sequence_number\":{first}"),
        "path_challenge" | "path_response" => write!(data, ",\"data\":\"{}\"", hex(other.bytes)),
        "immediate_ack" | "ack_frequency" => write!(data, ",\"frame_type_bytes\":{}", other.kind),
        _ => Ok(()),
    }?;
    data.push('}');
    Ok(())
}

fn address(of: SocketAddr) -> String {
    format!("{{\"ip_v4\":\"{}\",\"port_v4\":{}}}", of.ip(), of.port())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Milliseconds to the nanosecond.
fn milliseconds(nanos: u64) -> String {
    format!("{}.{:06}", nanos / 1_000_000, nanos % 1_000_000)
}
