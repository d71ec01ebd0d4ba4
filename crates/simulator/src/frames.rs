//! The frames of an ad hoc network, where packets are recorded: the table `frames`, the source of
//! captures.

use crate::packet::{Body, OptionStore, Packet};
use crate::trace::{flags_text, sack_text};
use cogtcp_adhoc::{ARP_BYTES, AirEvent, AirFrame, FrameContent, NodeRadio};
use cogtcp_hosts::Streams;
use cogtcp_network::{Carried, impossible};
use cogtcp_records::extensions::{FrameRow, FramesBuilder};
use cogtcp_records::{Code, Table};
use cogtcp_routing::NodeAddress;
use cogtcp_transport::{IPV4_HEADER, Segment};
use cogtcp_units::Time;
use cogtcp_wireless::FrameKind;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Bytes of a UDP header (RFC 768).
const UDP_HEADER: u32 = 8;
/// What a node with an announcement of its channel sends: see `cogtcp_adhoc`.
const ANNOUNCEMENT_BYTES: u32 = IPV4_HEADER + UDP_HEADER + 8;

/// A node, and which of its radios.
type RadioKey = (u32, u8);

/// What is kept of packets outside them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept<'a> {
    pub(crate) options: &'a OptionStore,
    pub(crate) streams: &'a Streams,
}

/// Records frames.
#[derive(Debug)]
pub(crate) struct Frames {
    rows: FramesBuilder,
    length: usize,
    /// By radio: the last packet that it put into a data frame, as it was written then. A copy of it is
    /// written alike: the packet may have arrived meanwhile, and be taken apart.
    last: BTreeMap<RadioKey, (u32, FrameRow)>,
    /// By radio: the row of its last RTS or data frame.
    attempts: BTreeMap<RadioKey, usize>,
    nodes: Vec<String>,
    flows: u32,
    nothing: FrameRow,
}

impl Frames {
    /// A recorder of frames between `nodes`, whose flows have these names.
    pub(crate) fn new<'a>(nodes: &[String], flows: impl Iterator<Item = &'a str>) -> Self {
        let mut rows = FramesBuilder::default();
        // A flow's code is its number, and so is a node's; the code of nobody follows.
        let flows = flows.map(|name| rows.flow.intern(name)).count() as u32;
        for name in nodes.iter().map(String::as_str).chain([""]) {
            for column in [&mut rows.transmitter, &mut rows.receiver, &mut rows.from, &mut rows.to] {
                column.intern(name);
            }
        }
        let nobody = Code(nodes.len() as u32);
        let nothing = FrameRow {
            time_s: 0.0,
            end_s: 0.0,
            channel: 0,
            frame: Code(0),
            transmitter: nobody,
            transmitter_radio: 0,
            receiver: nobody,
            receiver_radio: 0,
            rate_bps: 0.0,
            reserves_s: 0.0,
            sequence: 0,
            retry: false,
            failed: rows.failed.intern(""),
            protocol: rows.protocol.intern(""),
            message: rows.message.intern(""),
            octets: rows.octets.intern(""),
            stream: 0,
            flow: rows.flow.intern(""),
            from: nobody,
            to: nobody,
            ttl: 0,
            ecn: 0,
            flags: rows.flags.intern(""),
            seq: 0,
            payload_bytes: 0,
            ack: 0,
            window: 0,
            sack: rows.sack.intern(""),
            sack_permitted: false,
            mss: f64::NAN,
            window_scale: f64::NAN,
            tsval: f64::NAN,
            tsecr: f64::NAN,
            experimental: f64::NAN,
            wire_bytes: 0,
        };
        Self {
            rows,
            length: 0,
            last: BTreeMap::new(),
            attempts: BTreeMap::new(),
            nodes: nodes.to_vec(),
            flows,
            nothing,
        }
    }

    /// Something happened in the air.
    pub(crate) fn record(&mut self, event: &AirEvent<Carried<Packet>>, kept: Kept<'_>) {
        match event {
            AirEvent::Frame(frame) => self.frame(frame, kept),
            AirEvent::Failed { radio, cause } => {
                let Some(row) = self.attempts.get(&key(*radio)) else {
                    return impossible("an attempt fails that no frame began");
                };
                let code = self.rows.failed.intern(cause.name());
                self.rows.failed.revise(*row, code);
            }
        }
    }

    fn frame(&mut self, frame: &AirFrame<Carried<Packet>>, kept: Kept<'_>) {
        let from = key(frame.from);
        let nobody = (self.nodes.len() as u32, NodeRadio::First);
        let to = frame.to.unwrap_or(nobody);
        let seconds = |time: Time| time.as_secs_f64();
        let is_first = matches!(frame.kind, FrameKind::Rts | FrameKind::Data);
        let (content, retry) = self.content(from, frame, kept);
        let row = FrameRow {
            time_s: seconds(frame.start),
            end_s: seconds(frame.end),
            channel: u64::from(frame.channel.0),
            frame: self.rows.frame.intern(frame.kind.name()),
            transmitter: Code(from.0),
            transmitter_radio: u64::from(from.1),
            receiver: Code(to.0),
            receiver_radio: u64::from(key(to).1),
            rate_bps: frame.rate.bits_per_second() as f64,
            reserves_s: frame.reserves.as_secs_f64(),
            sequence: if frame.content.is_some() { u64::from(frame.sequence) } else { 0 },
            retry,
            ..content
        };
        // An attempt that fails is marked in the row of its last RTS or data frame, never in that of an
        // answer.
        if is_first {
            self.attempts.insert(from, self.length);
        }
        self.rows.push(row);
        self.length += 1;
    }

    /// What a frame carries, and whether it is a copy.
    fn content(
        &mut self,
        from: RadioKey,
        frame: &AirFrame<Carried<Packet>>,
        kept: Kept<'_>,
    ) -> (FrameRow, bool) {
        // A frame of the MAC itself, such as an ACK.
        let Some(content) = &frame.content else { return (self.nothing, false) };
        // A retry bears the number of its first attempt (IEEE 802.11), and no two packets in a row have the
        // same.
        if let Some((sequence, row)) = self.last.get(&from)
            && *sequence == frame.sequence
        {
            return (*row, true);
        }
        let row = self.describe(from.0, content, kept);
        self.last.insert(from, (frame.sequence, row));
        (row, false)
    }

    fn describe(&mut self, sender: u32, content: &FrameContent<Carried<Packet>>, kept: Kept<'_>) -> FrameRow {
        let nobody = self.nodes.len() as u32;
        let nothing = FrameRow { from: Code(sender), ..self.nothing };
        match content {
            FrameContent::Data(packet) => {
                let carried = &packet.payload.packet;
                let flow = kept.streams.owner(carried.transit.stream).flow();
                self.packet(packet, flow, kept.options.peek(carried).as_ref())
            }
            FrameContent::Routing(packet, _) => {
                let address = |node: NodeAddress| match node.is_broadcast() {
                    true => u32::MAX,
                    // The addresses that captures give to nodes: 10.0.0.1 and up.
                    false => (10 << 24) + node.number() + 1,
                };
                let octets = packet.message.octets(packet.from, address).unwrap_or_default();
                let digits = octets.iter().fold(String::new(), |mut text, octet| {
                    let _ = write!(text, "{octet:02x}");
                    text
                });
                FrameRow {
                    protocol: self.rows.protocol.intern("routing"),
                    message: self.rows.message.intern(packet.message.kind().name()),
                    octets: self.rows.octets.intern(&digits),
                    to: Code(if packet.to.is_broadcast() { nobody } else { packet.to.number() }),
                    ttl: u64::from(packet.ttl),
                    wire_bytes: u64::from(packet.bytes),
                    ..nothing
                }
            }
            FrameContent::Channel(_) => FrameRow {
                protocol: self.rows.protocol.intern("channel"),
                // Nobody passes an announcement on.
                ttl: 1,
                wire_bytes: u64::from(ANNOUNCEMENT_BYTES),
                ..nothing
            },
            FrameContent::Arp { target, is_reply } => FrameRow {
                protocol: self.rows.protocol.intern("arp"),
                message: self.rows.message.intern(if *is_reply { "reply" } else { "request" }),
                to: Code(*target),
                wire_bytes: u64::from(ARP_BYTES),
                ..nothing
            },
        }
    }

    fn packet(
        &mut self,
        packet: &cogtcp_adhoc::HostPacket<Carried<Packet>>,
        flow: Option<u32>,
        segment: Option<&Segment>,
    ) -> FrameRow {
        let carried = &packet.payload.packet;
        let timestamps = segment.and_then(Segment::timestamps);
        let number = |value: Option<u32>| value.map_or(f64::NAN, f64::from);
        let (protocol, seq, payload) = match (&carried.body, segment) {
            (_, Some(segment)) => ("tcp", segment.seq.get(), segment.len),
            (Body::Unreachable { seq, .. }, None) => ("icmp", seq.get(), 0),
            _ => ("udp", 0, packet.bytes.saturating_sub(IPV4_HEADER + UDP_HEADER)),
        };
        FrameRow {
            protocol: self.rows.protocol.intern(protocol),
            stream: u64::from(carried.transit.stream.0),
            // The code of none follows those of the flows.
            flow: Code(flow.unwrap_or(self.flows)),
            from: Code(packet.source),
            to: Code(packet.destination),
            ttl: u64::from(packet.time_to_live),
            ecn: u64::from(carried.ecn_field()),
            flags: self.rows.flags.intern(&flags_text(segment)),
            seq: u64::from(seq),
            payload_bytes: u64::from(payload),
            ack: u64::from(segment.map_or(0, |segment| segment.ack.get())),
            window: u64::from(segment.map_or(0, |segment| segment.window)),
            sack: self.rows.sack.intern(&sack_text(segment)),
            sack_permitted: segment.is_some_and(Segment::sack_permitted),
            mss: number(segment.and_then(Segment::mss).map(u32::from)),
            window_scale: number(segment.and_then(Segment::window_scale).map(u32::from)),
            tsval: number(timestamps.map(|option| option.value)),
            tsecr: number(timestamps.map(|option| option.echo)),
            experimental: number(segment.and_then(Segment::custom)),
            wire_bytes: u64::from(packet.bytes),
            ..self.nothing
        }
    }

    /// The table so far.
    pub(crate) fn table(&self) -> Table {
        self.rows.clone().finish()
    }
}

fn key((node, radio): (u32, NodeRadio)) -> RadioKey {
    (node, radio as u8)
}
