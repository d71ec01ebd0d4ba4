//! What happens in the network: packets are moved on, counted, measured and recorded.

use crate::announcer::Announcer;
use crate::clock::Watch;
use crate::device::Wire;
use crate::event::{Entity, RecordedEvent};
use crate::host_routes::LinkDirection;
use crate::journal::{Journal, Step};
use crate::lateness::Lateness;
use crate::network::{Hosts, stream_of};
use crate::packet::{self, IpPacket, NO_FLOW, Packets, Ports};
use crate::train::Train;
use crate::udp::UdpWatch;
use crate::unanswered::Unanswered;
use cogtcp_crosslayer::{LinkEvent, Phase};
use cogtcp_link::{DropCause, Frame};
use cogtcp_network::{Boards, PacketLocation, PacketStep, RadioIndex};
use cogtcp_records::{EventKind, Histogram, of_link_event};
use cogtcp_units::{Rate, Time};

/// What is seen of a flow's packets, from the end of the warm-up on.
#[derive(Debug)]
pub(crate) struct FlowWatch {
    /// Packets of the data direction that arrived, and their bytes.
    pub(crate) arrived: u64,
    pub(crate) arrived_bytes: u64,
    /// Packets dropped, of the data direction and of the other.
    pub(crate) dropped: [u64; 2],
    /// Round-trip times as the simulator takes them: from sending a data segment to the arrival of the ACK
    /// that answers it ([`Unanswered`]).
    pub(crate) rtt: Histogram,
    /// Times that data packets waited in the queue.
    pub(crate) queuing: Histogram,
    /// Data that arrived and that no acknowledgement has answered.
    unanswered: Unanswered,
    /// Of each of its paths: the number of its network, and bytes of payload that arrived over it.
    pub(crate) paths: Vec<(u8, u64)>,
}

impl FlowWatch {
    /// A watch of a flow whose paths are the networks of these numbers.
    pub(crate) fn over(networks: &[u8]) -> Self {
        Self { paths: networks.iter().map(|network| (*network, 0)).collect(), ..Self::default() }
    }
}

impl Default for FlowWatch {
    fn default() -> Self {
        Self {
            arrived: 0,
            arrived_bytes: 0,
            dropped: [0; 2],
            rtt: Histogram::new(),
            queuing: Histogram::new(),
            unanswered: Unanswered::default(),
            paths: Vec::new(),
        }
    }
}

/// Moves packets into the devices and keeps account of them.
#[derive(Debug)]
pub(crate) struct Observer {
    /// Where what arrives is put: by host.
    exits: Vec<Wire>,
    /// The nodes that are hosts, ascending.
    hosts: Vec<usize>,
    pub(crate) watch: Watch,
    pub(crate) packets: Packets,
    pub(crate) flows: Vec<FlowWatch>,
    pub(crate) udp: Vec<UdpWatch>,
    pub(crate) lateness: Lateness,
    pub(crate) events: Vec<RecordedEvent>,
    pub(crate) journal: Option<Journal>,
    pub(crate) train: Option<Train>,
    /// Where controls in the kernel are to hear what radios do.
    pub(crate) announcer: Option<Announcer>,
    /// The warm-up is over.
    pub(crate) is_warm: bool,
    /// Packets that left the network.
    pub(crate) arrivals: u64,
    /// Packets that a kernel did not take.
    pub(crate) refused: u64,
}

/// Where to ask the clock is dear, the lateness of one packet of so many is measured.
const MEASURED: u64 = 16;

/// A run that drops more does not need every one by name: beyond this many, only the counts go on.
const MOST_EVENTS: usize = 2_000_000;

impl Observer {
    pub(crate) fn new(
        (exits, hosts): (Vec<Wire>, Vec<usize>),
        ports: Ports,
        watch: Watch,
        flows: Vec<FlowWatch>,
        udp: Vec<UdpWatch>,
        journal: Option<Journal>,
    ) -> Self {
        Self {
            exits,
            hosts,
            watch,
            packets: Packets::new(ports),
            flows,
            udp,
            lateness: Lateness::default(),
            events: Vec::new(),
            journal,
            train: None,
            announcer: None,
            is_warm: false,
            arrivals: 0,
            refused: 0,
        }
    }

    /// Metrics count from here on.
    pub(crate) fn begin_measure(&mut self, now: Time) {
        self.is_warm = true;
        if let Some(train) = &mut self.train {
            train.end_warmup(now);
        }
        self.udp.iter_mut().for_each(UdpWatch::begin_measure);
    }

    /// The UDP source that a packet comes from.
    fn source_of(&mut self, packet: &IpPacket) -> Option<&mut UdpWatch> {
        self.udp.get_mut((packet.flow as usize).checked_sub(self.flows.len())?)
    }

    /// A kernel sends a packet. `None`: the network carries no packet of this kind.
    pub(crate) fn take(&mut self, now: Time, bytes: &[u8]) -> Option<IpPacket> {
        let mut packet = self.packets.put(now, bytes)?;
        if let Some(flow) = self.flows.get_mut(packet.flow as usize) {
            if !packet.is_forward() {
                packet.answers = flow.unanswered.answer(bytes).unwrap_or(Time::MAX);
            } else if packet.payload > 0 {
                packet.answers = now;
            }
        } else if let Some(source) = self.source_of(&packet) {
            packet.payload = source.sent();
        }
        Some(packet)
    }

    /// Gives the kernel of a host a packet that came by no link.
    pub(crate) fn put(&mut self, host: usize, bytes: &[u8]) {
        if self.exits[host].send(bytes).is_err() {
            self.refused += 1;
        }
    }

    fn record_drop(&mut self, at: Time, entity: Entity, frame: &Frame<IpPacket>, cause: &'static str) {
        let packet = &frame.packet;
        if let Some(flow) = self.flows.get_mut(packet.flow as usize) {
            flow.dropped[usize::from(!packet.is_forward())] += u64::from(self.is_warm);
        } else if let Some(source) = self.source_of(packet) {
            source.dropped();
        }
        let own = (packet.flow != NO_FLOW).then_some(packet.flow as usize);
        let flow = own.or_else(|| self.packets.told_of(packet));
        self.record(RecordedEvent {
            at,
            kind: EventKind::Drop,
            entity,
            flow,
            detail: cause,
            value: f64::from(frame.size()),
        });
    }

    fn record_radio(&mut self, at: Time, entity: Entity, event: LinkEvent, own_rate: Rate) {
        let Some((kind, detail, value, error)) = of_link_event(event, own_rate) else { return };
        let event = RecordedEvent { at, kind, entity, flow: None, detail, value };
        self.record(event);
        if let Some(kind) = error {
            self.record(RecordedEvent { kind, detail: "", value: f64::NAN, ..event });
        }
    }

    fn record(&mut self, event: RecordedEvent) {
        if self.events.len() < MOST_EVENTS {
            self.events.push(event);
        }
    }
}

impl Hosts for Observer {
    fn arrived(&mut self, due: Time, host: usize, _: Option<LinkDirection>, frame: &Frame<IpPacket>) {
        let packet = &frame.packet;
        let is_measured = !self.watch.is_knowing() || self.arrivals.is_multiple_of(MEASURED);
        let now = if is_measured { self.watch.ask() } else { self.watch.now() };
        if is_measured {
            self.lateness.record(due, now);
        }
        self.arrivals += 1;
        if let Some(flow) = self.flows.get_mut(packet.flow as usize) {
            if packet.is_forward() {
                flow.arrived += u64::from(self.is_warm);
                flow.arrived_bytes += u64::from(frame.size()) * u64::from(self.is_warm);
                if packet.payload > 0 {
                    // Before the kernel has it: it may answer at once.
                    let bytes = self.packets.bytes(packet);
                    flow.unanswered.arrive(bytes, packet.answers);
                    if self.is_warm {
                        flow.queuing.record(frame.waited());
                        if let Some((network, _)) = packet::destination(bytes)
                            && let Some((_, arrived)) = flow.paths.iter_mut().find(|(own, _)| *own == network)
                        {
                            *arrived += u64::from(packet.payload);
                        }
                    }
                }
            } else if self.is_warm && packet.answers != Time::MAX {
                flow.rtt.record(now.saturating_since(packet.answers));
            }
        }
        if let Some(flow) = self.packets.told_of(packet) {
            let (kind, entity) = (EventKind::Unreachable, Entity::Flow(flow));
            let about =
                RecordedEvent { at: now, kind, entity, flow: Some(flow), detail: "", value: f64::NAN };
            self.record(about);
        }
        if let Some(source) = self.source_of(packet) {
            source.arrived(now, packet.payload, frame.size(), packet.sent_at);
        }
        let bytes = self.packets.bytes(packet);
        let is_message = self.train.as_mut().is_some_and(|train| train.incoming(now, host, bytes));
        // A message of the router is for the manager beside TCP: no socket waits for it.
        if !is_message && self.exits[host].send(bytes).is_err() {
            self.refused += 1;
        }
        self.packets.free(packet);
    }

    fn home(&self, packet: &IpPacket) -> usize {
        self.packets.destination(packet).unwrap_or_default()
    }

    fn called(&mut self, at: Time, boards: &mut Boards) {
        if let Some(train) = &mut self.train {
            train.read_board(at, boards);
        }
    }
}

impl cogtcp_network::Observer<IpPacket> for Observer {
    const FOLLOWS_OFFERS: bool = true;

    fn follows_packets(&self) -> bool {
        self.journal.is_some()
    }

    fn packet(&mut self, at: Time, step: PacketStep, place: PacketLocation, frame: &Frame<IpPacket>) {
        let Some(journal) = &mut self.journal else { return };
        let step = match step {
            PacketStep::Offered => Step::Offered,
            PacketStep::Received => Step::Arrived,
            PacketStep::Queued => return,
        };
        let bytes = self.packets.bytes(&frame.packet);
        journal.packet(
            at,
            step,
            place.direction as LinkDirection,
            (&frame.packet, frame.size()),
            bytes,
            None,
        );
    }

    fn dropped(
        &mut self,
        at: Time,
        place: PacketLocation,
        frame: &Frame<IpPacket>,
        cause: DropCause,
        refused: bool,
    ) {
        let (packet, direction) = (&frame.packet, place.direction as LinkDirection);
        self.record_drop(at, Entity::LinkDirection(direction), frame, cause.name());
        if let Some(journal) = &mut self.journal {
            let step = if refused { Step::Refused } else { Step::Dropped };
            journal.packet(at, step, direction, (packet, frame.size()), &[], Some(cause));
        }
        self.packets.free(packet);
    }

    fn radio(&mut self, at: Time, radio: RadioIndex, event: LinkEvent, own_rate: Rate) {
        if let Some(announcer) = &mut self.announcer {
            announcer.event(radio, event);
        }
        self.record_radio(at, Entity::Radio(radio), event, own_rate);
    }

    fn source(&self, packet: &IpPacket) -> Option<u64> {
        self.packets.to_be_told(packet)
    }

    fn notice(&mut self, at: Time, teller: Option<u32>, about: &IpPacket) -> Option<(IpPacket, u32)> {
        // A kernel believes no packet that comes from outside with its own address.
        let teller = teller.and_then(|node| self.hosts.binary_search(&(node as usize)).ok());
        self.packets.unreachable(at, teller, about)
    }

    fn counts_to(&self, packet: &IpPacket) -> u32 {
        stream_of(packet.flow, packet.is_forward(), (self.flows.len() + self.udp.len()) as u32)
    }

    fn lost(&mut self, at: Time, node: u32, frame: &Frame<IpPacket>, cause: &'static str) {
        self.record_drop(at, Entity::Node(node as usize), frame, cause);
        self.packets.free(&frame.packet);
    }

    fn node_radio(&mut self, at: Time, node: u32, event: LinkEvent) {
        self.record_radio(at, Entity::Node(node as usize), event, Rate::ZERO);
    }

    fn node_event(&mut self, at: Time, kind: EventKind, nodes: [u32; 2], value: f64) {
        let entity = Entity::Nodes(nodes.map(|node| node as usize));
        self.record(RecordedEvent { at, kind, entity, flow: None, detail: "", value });
    }

    fn interference(&mut self, at: Time, direction: u32, frame: &'static str) {
        let (kind, entity) = (EventKind::Interference, Entity::LinkDirection(direction as LinkDirection));
        self.record(RecordedEvent { at, kind, entity, flow: None, detail: frame, value: f64::NAN });
    }

    fn phase(&mut self, radio: usize, phase: Phase) {
        if let Some(announcer) = &mut self.announcer {
            announcer.phase(radio, phase);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::FIRST_PORT;
    use cogtcp_headers as headers;
    use cogtcp_network::Observer as _;
    use std::net::Ipv4Addr;

    /// An ICMP message that is lost is about a flow, as in the simulator.
    #[test]
    fn a_lost_message_names_the_flow_that_it_is_about() {
        let ports = Ports::new(vec![false; 2], 0);
        let flows = (0..2).map(|_| FlowWatch::default()).collect();
        let mut observer = Observer::new(
            (Vec::new(), Vec::new()),
            ports,
            Watch::asking(crate::clock::Clock::start()),
            flows,
            Vec::new(),
            None,
        );
        let mut data = vec![0; 1040];
        (data[0], data[8], data[9], data[32]) = (0x45, 64, headers::protocol::TCP, 5 << 4);
        data[12..20].copy_from_slice(&[100, 64, 0, 1, 100, 64, 0, 2]);
        data[20..22].copy_from_slice(&40_000_u16.to_be_bytes());
        data[22..24].copy_from_slice(&(FIRST_PORT + 1).to_be_bytes());
        let message =
            headers::write_unreachable(Ipv4Addr::new(100, 64, 0, 9), headers::HOST_UNREACHABLE, &data)
                .unwrap();
        for bytes in [&message, &data] {
            let packet = observer.take(Time::ZERO, bytes).unwrap();
            let frame = Frame::new(packet, bytes.len() as u32);
            let place = PacketLocation { direction: 1, ends: (0, 1), hops: 0 };
            observer.dropped(Time::ZERO, place, &frame, DropCause::Loss, false);
        }
        let told: Vec<_> = observer.events.iter().map(|it| (it.kind, it.flow, it.value)).collect();
        assert_eq!(told, [(EventKind::Drop, Some(1), 56.0), (EventKind::Drop, Some(1), 1040.0)]);
    }
}
