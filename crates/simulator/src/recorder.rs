//! What is kept of what happens in the network: the segments of packets that are under way, and the record of
//! the run.

use crate::TraceLevel;
use crate::frames::{Frames, Kept};
use crate::packet::{Body, DatagramStore, OptionStore, Packet};
use crate::trace::{Content, Trace};
use cogtcp_adhoc::AirEvent;
use cogtcp_crosslayer::LinkEvent;
use cogtcp_endpoint::Datagram;
use cogtcp_hosts::{End, Owner, Streams};
use cogtcp_link::{DropCause, Frame};
use cogtcp_network::{Carried, Observer, PacketLocation, PacketStep, RadioIndex};
use cogtcp_records::EventKind;
use cogtcp_records::tables::PacketEvent;
use cogtcp_scenario::Experiment;
use cogtcp_transport::Segment;
use cogtcp_units::{Rate, Time};

/// Size of an ICMP message about a packet: IPv4 and ICMP headers, then the packet's IPv4 header and first 8
/// bytes, which hold its sequence number (RFC 792).
const NOTICE_SIZE: u32 = 56;

/// Observes the network.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) options: OptionStore,
    pub(crate) datagrams: DatagramStore,
    pub(crate) trace: Trace,
    /// The owner of each stream.
    pub(crate) streams: Streams,
    /// What goes over the air, where packets are recorded.
    pub(crate) frames: Option<Box<Frames>>,
    nodes: Vec<String>,
}

impl Recorder {
    /// A recorder of `level` for a run of `experiment`.
    pub(crate) fn new(level: TraceLevel, experiment: &Experiment) -> Self {
        let trace = Trace::new(level, experiment);
        let flows = || experiment.flows.iter().map(|flow| flow.name.as_str());
        let records = experiment.adhoc.is_some() && trace.records_packets();
        Self {
            options: OptionStore::default(),
            datagrams: DatagramStore::default(),
            frames: records.then(|| Box::new(Frames::new(&experiment.nodes, flows()))),
            // Only nodes of an ad hoc network appear in events by name.
            nodes: if experiment.adhoc.is_some() { experiment.nodes.clone() } else { Vec::new() },
            trace,
            streams: Streams::default(),
        }
    }

    /// Takes the TCP segment out of a packet that has reached its host; `None`: it carries something else.
    #[inline]
    pub(crate) fn open(&mut self, packet: &Packet) -> Option<Segment> {
        self.options.unpack(packet)
    }

    /// Frees what a lost packet has stored. Returns its datagram and its TCP segment, as far as it carries
    /// one.
    fn release(&mut self, packet: &Packet) -> (Option<Datagram>, Option<Segment>) {
        (self.datagrams.unpack(packet), self.options.unpack(packet))
    }
}

impl Observer<Packet> for Recorder {
    #[inline]
    fn follows_packets(&self) -> bool {
        self.trace.records_packets()
    }

    #[cold]
    fn packet(&mut self, at: Time, step: PacketStep, place: PacketLocation, frame: &Frame<Packet>) {
        let event = match step {
            PacketStep::Offered => unreachable!("offers are not followed"),
            PacketStep::Queued => PacketEvent::Queued,
            PacketStep::Received => PacketEvent::Received,
        };
        let segment = self.options.peek(&frame.packet);
        let content = Content { segment: segment.as_ref(), datagram: self.datagrams.peek(&frame.packet) };
        let owner = self.streams.owner(frame.packet.transit.stream);
        self.trace.packet(at, event, None, (place, owner), frame, content);
    }

    #[cold]
    fn dropped(
        &mut self,
        at: Time,
        place: PacketLocation,
        frame: &Frame<Packet>,
        cause: DropCause,
        refused: bool,
    ) {
        // Unpacked for its place in the store as well, which is free from here on.
        let (datagram, segment) = self.release(&frame.packet);
        let owner = self.streams.owner(frame.packet.transit.stream);
        self.trace.dropped(at, place.direction, owner, frame, cause);
        if self.trace.records_packets() {
            let cause = Some((cause, refused));
            let content = Content { segment: segment.as_ref(), datagram: datagram.as_ref() };
            self.trace.packet(at, PacketEvent::Dropped, cause, (place, owner), frame, content);
        }
    }

    fn lost(&mut self, at: Time, node: u32, frame: &Frame<Packet>, cause: &'static str) {
        let owner = self.streams.owner(frame.packet.transit.stream);
        self.trace.lost(at, owner, frame, &self.nodes[node as usize], cause);
        // After it is recorded: the record reads what the store has.
        self.release(&frame.packet);
    }

    fn radio(&mut self, at: Time, radio: RadioIndex, event: LinkEvent, own_rate: Rate) {
        self.trace.radio_event(at, radio, event, own_rate);
    }

    fn interference(&mut self, at: Time, direction: u32, frame: &'static str) {
        self.trace.interference(at, direction, frame);
    }

    /// The flow of a data packet. Destroyed acknowledgements are not reported, as their sender has nothing to
    /// hold back.
    fn source(&self, packet: &Packet) -> Option<u64> {
        let owner = self.streams.owner(packet.transit.stream);
        // An acknowledgement, or a packet of no flow.
        let Owner::Flow { flow, from: End::Sender, .. } = owner else { return None };
        packet.is_segment().then_some(u64::from(flow))
    }

    fn notice(&mut self, at: Time, _teller: Option<u32>, about: &Packet) -> Option<(Packet, u32)> {
        let seq = self.options.peek(about)?.seq;
        let flow = self.streams.owner(about.transit.stream).flow()?;
        let body = Body::Unreachable { seq, flow };
        Some((Packet::new(body, at), NOTICE_SIZE))
    }

    fn node_radio(&mut self, at: Time, node: u32, event: LinkEvent) {
        self.trace.named_radio_event(at, &self.nodes[node as usize], event);
    }

    fn node_event(&mut self, at: Time, kind: EventKind, nodes: [u32; 2], value: f64) {
        if self.trace.records_events() {
            let [node, about] = nodes.map(|node| &self.nodes[node as usize]);
            self.trace.detailed_node_event(at, kind, node, about, value);
        }
    }

    fn air(&mut self, event: &AirEvent<Carried<Packet>>) {
        if let Some(frames) = &mut self.frames {
            frames.record(event, Kept { options: &self.options, streams: &self.streams });
        }
    }
}
