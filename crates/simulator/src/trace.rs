//! The time series, the events and the packets of a run, where they are asked for.

use crate::TraceLevel;
use crate::packet::{Body, Packet};
use cogtcp_crosslayer::LinkEvent;
use cogtcp_endpoint::{Datagram, PathId};
use cogtcp_hosts::Owner;
use cogtcp_link::{DropCause, Frame};
use cogtcp_network::{PacketLocation, TIME_TO_LIVE};
use cogtcp_records::extensions::{PayloadRow, PayloadsBuilder, TcpSegmentRow, TcpSegmentsBuilder};
use cogtcp_records::tables::{
    ControlSample, ControlSeriesBuilder, EventRow, EventsBuilder, FlowSample, FlowSeriesBuilder, LinkSample,
    LinkSeriesBuilder, PacketEvent, PacketRow, PacketsBuilder,
};
use cogtcp_records::{Code, EventKind, Table, of_link_event};
use cogtcp_scenario::Experiment;
use cogtcp_transport::{IPV4_HEADER, Segment, SeqNumber};
use cogtcp_units::{Rate, Time};

/// What is recorded while a run goes on.
#[derive(Debug)]
pub(crate) struct Trace {
    pub(crate) level: TraceLevel,
    flow_series: FlowSeriesBuilder,
    control_series: ControlSeriesBuilder,
    link_series: LinkSeriesBuilder,
    events: EventsBuilder,
    packets: PacketsBuilder,
    packet_rows: u64,
    segments: TcpSegmentsBuilder,
    payloads: PayloadsBuilder,
    /// Codes among the entities; a flow's code is its number.
    radios: Vec<Vec<Code>>,
    directions: Vec<Code>,
    /// Code of "no flow" and of "no detail".
    no_flow: Code,
    no_detail: Code,
    /// By flow and path: the link that names the path.
    paths: Vec<Vec<Code>>,
    causes: [Code; DropCause::ALL.len()],
    /// Codes of the causes among the packets, and of "no cause".
    packet_causes: [Code; DropCause::ALL.len()],
    no_cause: Code,
}

/// What a packet carries, where a table has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content<'a> {
    pub(crate) segment: Option<&'a Segment>,
    pub(crate) datagram: Option<&'a Datagram>,
}

/// Bytes of a UDP header (RFC 768).
const UDP_HEADER: u32 = 8;
/// Codes of the protocols among the packets; then what they carry.
const PROTOCOLS: [&str; 3] = ["tcp", "icmp", "udp"];
/// Codes of a flow's ends among the packets (from [`End`](cogtcp_hosts::End)), and of packets of no flow.
const SOURCES: [&str; 3] = ["sender", "receiver", ""];

impl Trace {
    /// A recorder of `level` whose texts are the names in `experiment`: flows, radios and link directions
    /// have their number as code.
    pub(crate) fn new(level: TraceLevel, experiment: &Experiment) -> Self {
        let mut flow_series = FlowSeriesBuilder::default();
        let mut control_series = ControlSeriesBuilder::default();
        let mut link_series = LinkSeriesBuilder::default();
        let mut events = EventsBuilder::default();
        let mut packets = PacketsBuilder::default();
        // Without a trace the tables stay empty, and so may their dictionaries.
        let (flows, radios, links) = match level {
            TraceLevel::None => (&[][..], &[][..], &[][..]),
            _ => (&experiment.flows[..], &experiment.radios[..], &experiment.links[..]),
        };
        link_series.direction.intern("forward");
        link_series.direction.intern("reverse");
        packets.direction.intern("forward");
        packets.direction.intern("reverse");
        for source in SOURCES {
            packets.source.intern(source);
        }
        for protocol in PROTOCOLS {
            packets.protocol.intern(protocol);
        }
        for event in PacketEvent::ALL {
            packets.event.intern(event.name());
        }
        for kind in EventKind::ALL {
            events.kind.intern(kind.name());
        }
        // First of the entities: a flow's code is its number, and no look-up is needed while the run goes on.
        for flow in flows {
            flow_series.flow.intern(&flow.name);
            control_series.flow.intern(&flow.name);
            events.entity.intern(&flow.name);
            events.flow.intern(&flow.name);
            packets.flow.intern(&flow.name);
        }
        // The code after the flows, as among the events: `flow_of` gives it in both.
        packets.flow.intern("");
        if level >= TraceLevel::Packets {
            // A node's code is its number.
            for (number, node) in experiment.nodes.iter().enumerate() {
                let codes = [packets.from.intern(node), packets.to.intern(node)];
                debug_assert!(
                    codes.iter().all(|code| code.0 as usize == number),
                    "two nodes are called {node}"
                );
            }
        }
        let no_flow = events.flow.intern("");
        let radios = radios
            .iter()
            .map(|radio| {
                let names = experiment.radio_names(radio);
                names.iter().map(|name| events.entity.intern(name)).collect()
            })
            .collect();
        let mut directions = Vec::new();
        for link in links {
            link_series.link.intern(&link.name);
            packets.link.intern(&link.name);
            directions.push(events.entity.intern(&link.name));
            directions.push(events.entity.intern(&format!("{}/reverse", link.name)));
        }
        let no_detail = events.detail.intern("");
        let causes = DropCause::ALL.map(|cause| events.detail.intern(cause.name()));
        let no_cause = packets.cause.intern("");
        let packet_causes = DropCause::ALL.map(|cause| packets.cause.intern(cause.name()));
        let paths = experiment.flows.iter().map(|flow| {
            flow.paths.iter().map(|path| events.detail.intern(&experiment.links[path.link].name)).collect()
        });
        let paths = paths.collect();
        Self {
            level,
            paths,
            flow_series,
            control_series,
            link_series,
            events,
            packets,
            packet_rows: 0,
            segments: TcpSegmentsBuilder::default(),
            payloads: PayloadsBuilder::default(),
            radios,
            directions,
            no_flow,
            no_detail,
            causes,
            packet_causes,
            no_cause,
        }
    }

    /// The flow that a packet is of or about. Messages of a train belong to none.
    fn flow_of(&self, packet: &Packet, owner: Owner) -> Code {
        match packet.body {
            Body::Unreachable { flow, .. } => Code(flow),
            _ => owner.flow().map_or(self.no_flow, Code),
        }
    }

    /// Whether events are recorded.
    #[inline]
    pub(crate) fn records_events(&self) -> bool {
        self.level >= TraceLevel::Full
    }

    /// Whether packets are recorded.
    #[inline]
    pub(crate) fn records_packets(&self) -> bool {
        self.level >= TraceLevel::Packets
    }

    /// Something happened to a packet. `cause`: why it was dropped, and whether the link had not taken it.
    #[cold]
    pub(crate) fn packet(
        &mut self,
        now: Time,
        event: PacketEvent,
        cause: Option<(DropCause, bool)>,
        (place, owner): (PacketLocation, Owner),
        frame: &Frame<Packet>,
        content: Content<'_>,
    ) {
        let packet = &frame.packet;
        let Content { segment, datagram } = content;
        let (protocol, seq, payload) = match (&packet.body, segment) {
            (_, Some(segment)) => (0, Some(segment.seq), segment.len),
            (Body::Unreachable { seq, .. }, None) => (1, Some(*seq), 0),
            _ => (2, None, frame.size().saturating_sub(IPV4_HEADER + UDP_HEADER)),
        };
        let source = if let Owner::Flow { from, .. } = owner { from as u32 } else { 2 };
        // Nobody counts down on a path that was read off the tables: the place on it tells. A longer path
        // ends at 1.
        let ttl = u32::from(TIME_TO_LIVE).saturating_sub(place.hops).max(1);
        let row = PacketRow {
            time_s: now.as_secs_f64(),
            event: event.code(),
            cause: cause.map_or(self.no_cause, |(cause, _)| self.packet_causes[cause as usize]),
            // Of a packet lost to a full queue before it was queued; one lost to silence was no question of
            // room.
            refused: cause == Some((DropCause::Queue, true)),
            link: Code(place.direction / 2),
            direction: Code(place.direction % 2),
            stream: u64::from(packet.transit.stream.0),
            flow: self.flow_of(packet, owner),
            source: Code(source),
            protocol: Code(protocol),
            from: Code(place.ends.0),
            to: Code(place.ends.1),
            ttl: u64::from(ttl),
            ecn: u64::from(packet.ecn_field()),
            payload_bytes: u64::from(payload),
            wire_bytes: u64::from(frame.size()),
        };
        self.packets.push(row);
        if let Some(seq) = seq {
            self.record_segment(seq, segment);
        }
        if let Some(datagram) = datagram {
            let bytes = self.payloads.bytes.intern(&hex(&datagram.bytes));
            self.payloads.push(PayloadRow { packet: self.packet_rows, bytes });
        }
        self.packet_rows += 1;
    }

    /// What TCP's header says in the packet of the newest row, or in the packet that ICMP is about (its `seq`
    /// alone).
    fn record_segment(&mut self, seq: SeqNumber, segment: Option<&Segment>) {
        let timestamps = segment.and_then(Segment::timestamps);
        let number = |value: Option<u32>| value.map_or(f64::NAN, f64::from);
        let row = TcpSegmentRow {
            packet: self.packet_rows,
            flags: self.segments.flags.intern(&flags_text(segment)),
            seq: u64::from(seq.get()),
            ack: u64::from(segment.map_or(0, |segment| segment.ack.get())),
            window: u64::from(segment.map_or(0, |segment| segment.window)),
            sack_blocks: segment.map_or(0, |segment| segment.sack().len()) as u64,
            sack: self.segments.sack.intern(&sack_text(segment)),
            sack_permitted: segment.is_some_and(Segment::sack_permitted),
            mss: number(segment.and_then(Segment::mss).map(u32::from)),
            window_scale: number(segment.and_then(Segment::window_scale).map(u32::from)),
            tsval: number(timestamps.map(|option| option.value)),
            tsecr: number(timestamps.map(|option| option.echo)),
            experimental: number(segment.and_then(Segment::custom)),
        };
        self.segments.push(row);
    }

    /// Something happened to a flow.
    pub(crate) fn flow_event(&mut self, now: Time, kind: EventKind, flow: u32, value: f64) {
        if self.records_events() {
            let code = Code(flow);
            self.push_row(now, kind, [code, code, self.no_detail], value);
        }
    }

    /// Something happened to a flow's subflow.
    pub(crate) fn path_event(&mut self, now: Time, kind: EventKind, (flow, path): (u32, PathId), value: f64) {
        if self.records_events() {
            let code = Code(flow);
            let named = self.paths.get(flow as usize).and_then(|paths| paths.get(usize::from(path.0)));
            let detail = named.copied().unwrap_or(self.no_detail);
            self.push_row(now, kind, [code, code, detail], value);
        }
    }

    /// Something happened at the node called `node`.
    pub(crate) fn node_event(&mut self, now: Time, kind: EventKind, node: &str, value: f64) {
        if self.records_events() {
            let entity = self.events.entity.intern(node);
            self.push_row(now, kind, [entity, self.no_flow, self.no_detail], value);
        }
    }

    /// Something happened to a radio: its place in the experiment, and among the radios there. `own_rate` is
    /// the rate that "the link's own" stands for.
    pub(crate) fn radio_event(
        &mut self,
        time: Time,
        radio: (usize, usize),
        event: LinkEvent,
        own_rate: Rate,
    ) {
        if self.records_events() {
            self.record_radio(time, self.radios[radio.0][radio.1], event, own_rate);
        }
    }

    fn record_radio(&mut self, time: Time, entity: Code, event: LinkEvent, own_rate: Rate) {
        let Some((kind, detail, value, error)) = of_link_event(event, own_rate) else {
            // No row: the series or other events have it.
            return;
        };
        self.push(time, kind, entity, detail, value);
        if let Some(error) = error {
            self.push(time, error, entity, "", f64::NAN);
        }
    }

    /// A primary user destroyed a frame of an exchange for a packet of `direction`.
    pub(crate) fn interference(&mut self, now: Time, direction: u32, frame: &str) {
        if self.records_events() {
            self.push(now, EventKind::Interference, self.directions[direction as usize], frame, f64::NAN);
        }
    }

    /// The primary user of this number in its log goes ON or OFF in `band`.
    pub(crate) fn primary_user(&mut self, now: Time, id: u32, band: u32, is_on: bool) {
        let entity = self.events.entity.intern(&format!("pu{id}"));
        let kind = if is_on { EventKind::PuOn } else { EventKind::PuOff };
        self.push(now, kind, entity, "", f64::from(band));
    }

    fn push(&mut self, time: Time, kind: EventKind, entity: Code, detail: &str, value: f64) {
        let detail = self.events.detail.intern(detail);
        self.push_row(time, kind, [entity, self.no_flow, detail], value);
    }

    fn push_row(&mut self, time: Time, kind: EventKind, [entity, flow, detail]: [Code; 3], value: f64) {
        let (time_s, kind) = (time.as_secs_f64(), kind.code());
        self.events.push(EventRow { time_s, kind, entity, flow, detail, value });
    }

    /// A packet was dropped on `direction`.
    pub(crate) fn dropped(
        &mut self,
        now: Time,
        direction: u32,
        owner: Owner,
        frame: &Frame<Packet>,
        cause: DropCause,
    ) {
        if self.records_events() {
            let flow = self.flow_of(&frame.packet, owner);
            let codes = [self.directions[direction as usize], flow, self.causes[cause as usize]];
            self.push_row(now, EventKind::Drop, codes, f64::from(frame.size()));
        }
    }

    /// A packet was lost at the node called `node`.
    pub(crate) fn lost(&mut self, now: Time, owner: Owner, frame: &Frame<Packet>, node: &str, cause: &str) {
        if self.records_events() {
            let entity = self.events.entity.intern(node);
            let codes = [entity, self.flow_of(&frame.packet, owner), self.events.detail.intern(cause)];
            self.push_row(now, EventKind::Drop, codes, f64::from(frame.size()));
        }
    }

    /// Something happened to the radio called `radio`.
    pub(crate) fn named_radio_event(&mut self, time: Time, radio: &str, event: LinkEvent) {
        if self.records_events() {
            let entity = self.events.entity.intern(radio);
            self.record_radio(time, entity, event, Rate::ZERO);
        }
    }

    /// Something happened at a node, about what `detail` says.
    pub(crate) fn detailed_node_event(
        &mut self,
        now: Time,
        kind: EventKind,
        node: &str,
        detail: &str,
        value: f64,
    ) {
        if self.records_events() {
            let entity = self.events.entity.intern(node);
            self.push(now, kind, entity, detail, value);
        }
    }

    /// A point of a flow's series; the flow's code is its number.
    pub(crate) fn flow_sample(&mut self, row: FlowSample) {
        self.flow_series.push(row);
    }

    /// A variable of a flow's congestion control; the flow's code is its number.
    pub(crate) fn control_sample(&mut self, time_s: f64, flow: Code, variable: &str, value: f64) {
        let variable = self.control_series.variable.intern(variable);
        self.control_series.push(ControlSample { time_s, flow, variable, value });
    }

    /// A point of a link direction's series; the link's code is its number, the direction's 0 or 1.
    pub(crate) fn link_sample(&mut self, row: LinkSample) {
        self.link_series.push(row);
    }

    /// The finished tables: flow series, control series, link series, events, packets; then what they carry.
    pub(crate) fn finish(self) -> ([Table; 5], impl Iterator<Item = Table>) {
        let tables = [
            self.flow_series.finish(),
            self.control_series.finish(),
            self.link_series.finish(),
            self.events.finish(),
            self.packets.finish(),
        ];
        let contents = [self.segments.finish(), self.payloads.finish()];
        // A run that records no packets has neither table.
        (tables, contents.into_iter().filter(|table| !table.is_empty()))
    }
}

/// The flags of a segment as tables have them.
pub(crate) fn flags_text(segment: Option<&Segment>) -> String {
    segment.map_or_else(String::new, |segment| format!("{:?}", segment.flags))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        text.extend(
            [byte >> 4, byte & 15].map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or('0')),
        );
        text
    })
}

/// The edges of its SACK blocks as tables have them.
pub(crate) fn sack_text(segment: Option<&Segment>) -> String {
    let blocks = segment.map_or(&[][..], Segment::sack).iter();
    blocks.map(|block| format!("{}-{}", block.start, block.end)).collect::<Vec<_>>().join(" ")
}
