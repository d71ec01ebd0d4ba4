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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::TAG;
    use crate::quinn_endpoint::{CLIENT, SERVER};

    /// Connection IDs: the client's first name for the server, the client's, and the server's own.
    const FIRST: [u8; 8] = [0xA1; 8];
    const OURS: [u8; 8] = [0xB2; 8];
    const THEIRS: [u8; 8] = [0xC3; 8];

    /// A packet with a long header (RFC 9000, section 17.2) of version 1, without a token.
    fn long(kind: u8, ids: [[u8; 8]; 2], number: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0xC0 | kind << 4, 0, 0, 0, 1];
        ids.iter().for_each(|id| bytes.extend([&[8][..], id].concat()));
        bytes.extend((kind == 0).then_some(0));
        bytes.extend([0x40, (1 + payload.len() + TAG) as u8, number]);
        [&bytes, payload, &[0; TAG]].concat()
    }

    /// A packet with a short header.
    fn short(id: [u8; 8], number: u8, payload: &[u8]) -> Vec<u8> {
        [&[0x40], &id[..], &[number], payload, &[0; TAG]].concat()
    }

    fn ms(at: u64) -> Time {
        Time::from_millis(at)
    }

    /// What was logged since the last look: names without "quic:", and data.
    fn told(log: &mut Log) -> Vec<(&'static str, String)> {
        let entries = log.take().into_iter();
        entries.map(|entry| (entry.name.strip_prefix("quic:").unwrap(), entry.data)).collect()
    }

    fn names(log: &mut Log) -> Vec<&'static str> {
        told(log).into_iter().map(|(name, _)| name).collect()
    }

    /// A client's log with packet 0 of the Initial and the 1-RTT space in flight.
    fn begun() -> Log {
        let mut log = Log::new([CLIENT, SERVER], [1200, 12_000]);
        log.sent(ms(1), &long(0, [FIRST, OURS], 0, &[1]), false);
        log.received(ms(2), &long(0, [OURS, THEIRS], 0, &[1]), None, false);
        log.sent(ms(3), &short(THEIRS, 0, &[1]), false);
        log.take();
        log
    }

    /// Each frame of RFC 9000, section 19, by the names and fields of the draft.
    #[test]
    fn frames_are_written_as_the_draft_names_them() {
        let id = [&[0x18, 3, 2, 4, 9, 8, 7, 0xF6][..], &[7; 16]].concat();
        let ack = "{\"frame_type\":\"ack\",\"ack_delay\":0.080000,\"acked_ranges\":[[18,20],[12]]";
        let cases: [(&[u8], &str); 25] = [
            (&[0, 0, 0], "{\"frame_type\":\"padding\",\"raw\":{\"length\":3}}"),
            (&[1], "{\"frame_type\":\"ping\"}"),
            // A delay of 10 units of 8 microseconds (section 19.3).
            (&[2, 20, 10, 1, 2, 4, 0], &format!("{ack}}}")),
            (&[3, 20, 10, 1, 2, 4, 0, 5, 6, 7], &format!("{ack},\"ect1\":6,\"ect0\":5,\"ce\":7}}")),
            (
                &[4, 1, 2, 3],
                "{\"frame_type\":\"reset_stream\",\"stream_id\":1,\"error\":\"unknown\",\"error_code\":2,\"final_size\":3}",
            ),
            (
                &[5, 1, 2],
                "{\"frame_type\":\"stop_sending\",\"stream_id\":1,\"error\":\"unknown\",\"error_code\":2}",
            ),
            (&[6, 5, 1, 9], "{\"frame_type\":\"crypto\",\"offset\":5,\"raw\":{\"payload_length\":1}}"),
            (&[7, 2, 9, 9], "{\"frame_type\":\"new_token\",\"token\":{\"raw\":{\"length\":2}}}"),
            (
                &[0x0E, 4, 5, 1, 9],
                "{\"frame_type\":\"stream\",\"stream_id\":4,\"offset\":5,\"fin\":false,\"raw\":{\"payload_length\":1}}",
            ),
            (
                &[0x09, 4, 9, 9],
                "{\"frame_type\":\"stream\",\"stream_id\":4,\"offset\":0,\"fin\":true,\"raw\":{\"payload_length\":2}}",
            ),
            (&[0x10, 9], "{\"frame_type\":\"max_data\",\"maximum\":9}"),
            (&[0x11, 1, 9], "{\"frame_type\":\"max_stream_data\",\"stream_id\":1,\"maximum\":9}"),
            (&[0x12, 9], "{\"frame_type\":\"max_streams\",\"stream_type\":\"bidirectional\",\"maximum\":9}"),
            (&[0x13, 9], "{\"frame_type\":\"max_streams\",\"stream_type\":\"unidirectional\",\"maximum\":9}"),
            (&[0x14, 9], "{\"frame_type\":\"data_blocked\",\"limit\":9}"),
            (&[0x15, 1, 9], "{\"frame_type\":\"stream_data_blocked\",\"stream_id\":1,\"limit\":9}"),
            (
                &[0x16, 9],
                "{\"frame_type\":\"streams_blocked\",\"stream_type\":\"bidirectional\",\"limit\":9}",
            ),
            (
                &[0x17, 9],
                "{\"frame_type\":\"streams_blocked\",\"stream_type\":\"unidirectional\",\"limit\":9}",
            ),
            (
                &id,
                "{\"frame_type\":\"new_connection_id\",\"sequence_number\":3,\"retire_prior_to\":2,\"connection_id\":\"090807f6\"}",
            ),
            (&[0x19, 3], "{\"frame_type\":\"retire_connection_id\",\"sequence_number\":3}"),
            (
                &[0x1A, 1, 2, 3, 4, 5, 6, 7, 8],
                "{\"frame_type\":\"path_challenge\",\"data\":\"0102030405060708\"}",
            ),
            (
                &[0x1B, 1, 2, 3, 4, 5, 6, 7, 8],
                "{\"frame_type\":\"path_response\",\"data\":\"0102030405060708\"}",
            ),
            (&[0x1C, 1, 2, 3], "{\"frame_type\":\"connection_close\"}"),
            (&[0x1E], "{\"frame_type\":\"handshake_done\"}"),
            (&[0x1F], "{\"frame_type\":\"unknown\",\"frame_type_bytes\":31}"),
        ];
        for (payload, expected) in cases {
            let bytes = short(OURS, 0, payload);
            let packet = wire::packets(&bytes).next().unwrap();
            let raw = format!("\"raw\":{{\"length\":{}}}", bytes.len());
            let header =
                "{\"header\":{\"packet_type\":\"1RTT\",\"packet_number\":0,\"packet_number_length\":1}";
            assert_eq!(described(&packet, 0), format!("{header},{raw},\"frames\":[{expected}]"));
        }
        let both = short(OURS, 0, &[1, 0x1E]);
        let written = described(&wire::packets(&both).next().unwrap(), 0);
        assert!(
            written.ends_with("[{\"frame_type\":\"ping\"},{\"frame_type\":\"handshake_done\"}]"),
            "{written}"
        );
    }

    /// A connection begins with its first packet, whose destination names it. RFC 9002, appendices A.2 and B.2,
    /// has the parameters. A long header's length covers number, payload and tag (RFC 9000, section 17.2).
    #[test]
    fn a_connection_begins_with_its_first_packet() {
        let mut log = Log::new([CLIENT, SERVER], [1200, 12_000]);
        log.sent(ms(1), &long(0, [FIRST, OURS], 0, &[1]), true);
        let entries = log.take();
        assert!(entries.iter().all(|entry| (entry.at, &*entry.connection) == (ms(1), "a1a1a1a1a1a1a1a1")));
        let tuple = |ip, port| format!("{{\"ip_v4\":\"{ip}\",\"port_v4\":{port}}}");
        let expected = [
            format!("{{\"local\":{},\"remote\":{}}}", tuple("10.0.0.1", 49_152), tuple("10.0.0.2", 443)),
            "{\"reordering_threshold\":3,\"time_threshold\":1.125,\"timer_granularity\":1,\"initial_rtt\":333,\
             \"max_datagram_size\":1200,\"initial_congestion_window\":12000,\
             \"minimum_congestion_window\":2400,\"persistent_congestion_threshold\":3}"
                .to_owned(),
            "{\"header\":{\"packet_type\":\"initial\",\"packet_number\":0,\"packet_number_length\":1,\"length\":18,\
             \"version\":\"00000001\",\"scid\":\"b2b2b2b2b2b2b2b2\",\"dcid\":\"a1a1a1a1a1a1a1a1\"},\
             \"raw\":{\"length\":44},\"frames\":[{\"frame_type\":\"ping\"}],\"trigger\":\"pto_probe\"}"
                .to_owned(),
        ];
        assert_eq!(entries.iter().map(|entry| &entry.data).collect::<Vec<_>>(), expected.each_ref());
        let found: Vec<_> = entries.iter().map(|entry| entry.name).collect();
        assert_eq!(found, ["quic:connection_started", "quic:recovery_parameters_set", "quic:packet_sent"]);
        // All IDs that either end names lead to it: of headers, and of NEW_CONNECTION_ID frames.
        log.received(ms(2), &long(2, [OURS, THEIRS], 0, &[1]), None, false);
        let more = [&[0x18, 1, 0, 8][..], &[0xD4; 8], &[7; 16]].concat();
        log.received(ms(3), &short(OURS, 0, &more), None, true);
        log.sent(ms(4), &short([0xD4; 8], 0, &[1]), false);
        log.sent(ms(5), &short(THEIRS, 1, &[1]), false);
        assert_eq!(names(&mut log), ["packet_received", "packet_received", "packet_sent", "packet_sent"]);
        // Another destination is another connection, of which later events are.
        log.sent(ms(6), &long(0, [[0xE5; 8], [0xF6; 8]], 0, &[1]), false);
        log.connected(ms(7));
        log.closed(ms(8), true);
        log.closed(ms(9), false);
        log.expired(ms(10));
        let entries = log.take();
        assert!(entries.iter().all(|entry| entry.connection == "e5e5e5e5e5e5e5e5"));
        assert_eq!(
            entries[3..].iter().map(|entry| (&entry.name[5..], &*entry.data)).collect::<Vec<_>>(),
            [
                ("connection_state_updated", "{\"new\":\"handshake_complete\"}"),
                ("connection_closed", "{\"initiator\":\"local\"}"),
                ("connection_closed", "{\"initiator\":\"remote\"}"),
                ("timer_updated", "{\"timer_type\":\"pto\",\"event_type\":\"expired\"}"),
            ]
        );
    }

    /// Packet numbers are whole, each space has its own. The 300th is written with one byte: 300 mod 256.
    #[test]
    fn packet_numbers_are_whole() {
        let numbers = |log: &mut Log| -> Vec<u64> {
            let number = |data: &str| {
                let (_, rest) = data.split_once("\"packet_number\":").unwrap();
                rest.split(',').next().unwrap().parse().unwrap()
            };
            told(log).iter().map(|(_, data)| number(data)).collect()
        };
        let mut log = begun();
        (1..=300).for_each(|number: u64| log.sent(ms(4), &short(THEIRS, number as u8, &[1]), false));
        log.sent(ms(5), &long(2, [THEIRS, OURS], 0, &[1]), false);
        log.sent(ms(5), &long(0, [THEIRS, OURS], 1, &[1]), false);
        let sent = numbers(&mut log);
        assert_eq!((sent[299], &sent[300..]), (300, &[0, 1][..]));
        (0..=300).for_each(|number: u64| log.received(ms(6), &short(OURS, number as u8, &[1]), None, true));
        // One that comes late moves nothing back: the next is expected after the largest.
        log.received(ms(7), &short(OURS, 200, &[1]), None, true);
        log.received(ms(7), &short(OURS, 80, &[1]), None, true);
        assert_eq!(numbers(&mut log)[300..], [300, 200, 336]);
    }

    /// A 1-RTT packet before its keys is dropped, and does not count as the latest of its space.
    #[test]
    fn a_packet_without_keys_is_dropped() {
        let mut log = begun();
        log.received(ms(5), &short(OURS, 7, &[1]), None, false);
        let header = "{\"header\":{\"packet_type\":\"1RTT\",\"packet_number\":7,\"packet_number_length\":1}";
        let data = format!("{header},\"raw\":{{\"length\":27}},\"trigger\":\"key_unavailable\"}}");
        assert_eq!(told(&mut log), [("packet_dropped", data)]);
        log.received(ms(6), &long(2, [OURS, THEIRS], 0, &[1]), None, false);
        log.received(ms(6), &short(OURS, 7, &[1]), None, true);
        assert_eq!(names(&mut log), ["packet_received", "packet_received"]);
    }

    /// The ECN codepoint is told when it changes, with the datagram's length.
    #[test]
    fn codepoints_are_told_once() {
        let mut log = begun();
        let packet = short(OURS, 1, &[1]);
        for (ecn, name) in [
            (Some(EcnCodepoint::Ect0), "ECT(0)"),
            (Some(EcnCodepoint::Ce), "CE"),
            (Some(EcnCodepoint::Ect1), "ECT(1)"),
            (None, "Not-ECT"),
        ] {
            log.received(ms(5), &packet, ecn, true);
            log.received(ms(5), &packet, ecn, true);
            let found = told(&mut log);
            let data = format!("{{\"count\":1,\"raw\":[{{\"length\":27}}],\"ecn\":[\"{name}\"]}}");
            assert_eq!((found.len(), &found[0]), (3, &("udp_datagrams_received", data)));
        }
    }

    /// RFC 9000, sections 8.2 and 9: a new address is told once, and is valid with the answer to its challenge.
    #[test]
    fn a_migration_ends_with_the_response() {
        let mut log = begun();
        let response = short(OURS, 1, &[0x1B, 1, 2, 3, 4, 5, 6, 7, 8]);
        log.received(ms(5), &response, None, true);
        for remote in [None, Some(SERVER)] {
            log.migrated(ms(5), remote);
        }
        assert_eq!(names(&mut log), ["packet_received"]);
        let moved = SocketAddr::new(SERVER.ip(), 444);
        log.migrated(ms(6), Some(moved));
        log.migrated(ms(6), Some(moved));
        log.received(ms(7), &short(OURS, 2, &[1]), None, true);
        log.received(ms(8), &response, None, true);
        log.received(ms(9), &response, None, true);
        let found = told(&mut log);
        let at = "{\"new\":\"migration_started\",\"tuple_remote\":{\"ip_v4\":\"10.0.0.2\",\"port_v4\":444}}";
        assert_eq!(found[0], ("migration_state_updated", at.to_owned()));
        let over = "{\"old\":\"migration_started\",\"new\":\"migration_complete\"}";
        assert_eq!(found[3], ("migration_state_updated", over.to_owned()));
        assert_eq!(found.len(), 5);
    }

    /// Lost are the oldest packets in flight of one space whose bytes are told, sent up to the time that is told.
    /// Padding is in flight, an acknowledgement alone is not (RFC 9002, section 2).
    #[test]
    fn the_oldest_in_flight_are_lost() {
        let lost = |sent: u64, bytes: u64| {
            let mut log = begun();
            log.sent(ms(4), &short(THEIRS, 1, &[0]), false);
            log.sent(ms(4), &short(THEIRS, 2, &[2, 0, 0, 0, 0]), false);
            for number in 3..=5 {
                log.sent(ms(u64::from(number)), &short(THEIRS, number, &[1]), false);
            }
            // Acknowledged: 3 alone.
            log.received(ms(8), &short(OURS, 1, &[2, 3, 0, 0, 0]), None, true);
            log.take();
            log.lost(ms(9), ms(sent), bytes);
            let header = |data: &str| {
                let rest = data.strip_prefix("{\"header\":{\"packet_type\":\"").unwrap().strip_suffix("}}");
                rest.unwrap().replace("\",\"packet_number\":", " ")
            };
            let found: Vec<_> = told(&mut log);
            assert!(found.iter().all(|(name, _)| *name == "packet_lost"));
            found.iter().map(|(_, data)| header(data)).collect::<Vec<_>>()
        };
        assert_eq!(lost(4, 27), ["1RTT 0"]);
        assert_eq!(lost(4, 54), ["1RTT 0", "1RTT 1"]);
        assert_eq!(lost(4, 81), ["1RTT 0", "1RTT 1", "1RTT 4"]);
        assert_eq!(lost(4, 108), [""; 0], "5 was sent later");
        assert_eq!(lost(5, 108).len(), 4);
        assert_eq!(lost(5, 28), [""; 0], "no packets have so many bytes");
        assert_eq!(lost(4, 44), ["initial 0"]);
        Log::new([CLIENT, SERVER], [1200, 12_000]).lost(ms(1), ms(1), 1);
    }

    /// An acknowledgement of many ranges takes out what it names.
    #[test]
    fn acknowledged_packets_are_not_lost() {
        let mut log = begun();
        (1..=9).for_each(|number| log.sent(ms(4), &short(THEIRS, number, &[1]), false));
        // 8 to 9, 5 and 0 to 1: 2, 3, 4, 6 and 7 are open.
        log.received(ms(8), &short(OURS, 1, &[2, 9, 0, 2, 1, 1, 0, 2, 1]), None, true);
        log.take();
        log.lost(ms(9), ms(4), 5 * 27);
        assert_eq!(names(&mut log).len(), 5);
        // The oldest lies above the last range: it stays.
        log.sent(ms(9), &short(THEIRS, 10, &[1]), false);
        log.received(ms(9), &short(OURS, 2, &[2, 9, 0, 0, 9]), None, true);
        log.take();
        log.lost(ms(9), ms(9), 27);
        assert_eq!(names(&mut log), ["packet_lost"]);
    }

    /// Values of the recovery are told when they change; states with the one before. Another connection tells all
    /// anew.
    #[test]
    fn recovery_is_told_by_its_changes() {
        let mut log = begun();
        let millis = Duration::from_millis;
        let first =
            Metrics { latest: millis(5), smoothed: millis(6), window: 7, threshold: None, in_flight: 9 };
        let all = "{\"latest_rtt\":5.000000,\"smoothed_rtt\":6.000000,\"congestion_window\":7";
        let cases = [
            (first, format!("{all},\"bytes_in_flight\":9}}")),
            (Metrics { threshold: Some(8), ..first }, "{\"ssthresh\":8}".to_owned()),
            (
                Metrics { latest: Duration::from_nanos(1_000_001), threshold: Some(8), ..first },
                "{\"latest_rtt\":1.000001}".to_owned(),
            ),
            (first, "{\"latest_rtt\":5.000000}".to_owned()),
        ];
        for (metrics, data) in cases {
            log.metrics(ms(5), metrics);
            log.metrics(ms(5), metrics);
            assert_eq!(told(&mut log), [("recovery_metrics_updated", data)]);
        }
        for (state, data) in [
            ("slow_start", "{\"new\":\"slow_start\"}"),
            ("recovery", "{\"old\":\"slow_start\",\"new\":\"recovery\"}"),
        ] {
            log.state(ms(5), state);
            log.state(ms(5), state);
            assert_eq!(told(&mut log), [("congestion_state_updated", data.to_owned())]);
        }
        log.sent(ms(6), &long(0, [[0xE5; 8], [0xF6; 8]], 0, &[1]), false);
        log.state(ms(6), "recovery");
        log.metrics(ms(6), first);
        let found = told(&mut log);
        assert_eq!(found[3].1, "{\"new\":\"recovery\"}");
        assert_eq!(found[4].1, format!("{all},\"bytes_in_flight\":9}}"));
    }
}
