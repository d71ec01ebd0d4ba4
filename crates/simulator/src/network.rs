//! Pipes, the ways of packets and the packets on them; packets are counted here.

mod accounts;
mod air;
mod conservation;
mod hints;
mod stations;

pub(crate) use hints::Goal;
pub(crate) use stations::ServedPair;

use crate::boards::Boards;
use crate::budget::{Awaited, Budget};
use crate::forwarding::{Nodes, Step};
use crate::packet::{Body, OptionStore, Packet, Pipe, TIME_TO_LIVE};
use crate::queue::{Event, EventQueue};
use crate::trace::{Place, Trace};
use cogtcp_link::{Departure, DropCause, Flushed, Frame, Gate, Offer, Payload};
use cogtcp_records::tables::PacketEvent;
use cogtcp_station_pair::Noted;
use cogtcp_transport::{Segment, SeqNumber};
use cogtcp_units::{Rate, Time};
use std::collections::VecDeque;

/// End of a path in [`Network::paths`], and label of a pipe whose packets have all reached their host.
const HOST: u32 = u32::MAX;
/// Label of a pipe whose packets part ways: their paths tell. Any other label is the pipe that all its packets take next.
const BY_PATH: u32 = u32::MAX - 1;
/// Label of a pipe at whose far end the node looks every packet up in its table; also the way of a stream whose packets go so.
/// Of all labels that are no pipe it is the lowest.
const BY_TABLE: u32 = u32::MAX - 3;

/// The network of one run.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) queue: EventQueue,
    pub(crate) pipes: Vec<Pipe>,
    /// The paths of all streams, one after another: pipes, then [`HOST`].
    paths: Vec<u32>,
    /// Where the path of a stream begins in `paths`. Stream `2 * flow` carries data, `2 * flow + 1` acknowledgements.
    path_starts: Vec<u32>,
    /// The nodes that each stream leads from and to.
    addresses: Vec<(u32, u32)>,
    /// The nodes, where they forward by their tables; else nobody asks them.
    nodes: Option<Nodes>,
    options: OptionStore,
    /// Packets dropped on the way, by stream.
    pub(crate) dropped: Vec<u64>,
    pub(crate) trace: Trace,
    pub(crate) hops: u64,
    /// The wireless links.
    pub(crate) station_pairs: Vec<ServedPair>,
    notes: VecDeque<Noted>,
    /// What the nodes with a radio know of their links.
    pub(crate) boards: Boards,
    /// Pipes whose packets are noted when silence destroys them, and those packets: pipe, stream, sequence number.
    watched: Vec<u32>,
    destroyed: VecDeque<(u32, u32, SeqNumber)>,
    /// Where the time of the links that may be a flow's bottleneck goes.
    pub(crate) budget: Budget,
    /// Packets whose way has no links: hosts have sent them, and the air is to take them.
    on_air: VecDeque<Frame<Packet>>,
    /// Packets that the air has brought to their hosts, and whether boards are to be read.
    arrived: VecDeque<Frame<Packet>>,
    has_news: bool,
}

/// What a host put into the network on a stream, and what came out at the other end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamCounters {
    /// Packets that the host put on its first link.
    pub(crate) injected: u64,
    /// Packets that reached the other host.
    pub(crate) arrived: u64,
}

impl Network {
    /// A network of `pipes` without paths.
    pub(crate) fn new(pipes: Vec<Pipe>, boards: Boards, trace: Trace) -> Self {
        Self {
            queue: EventQueue::new(),
            pipes,
            paths: Vec::new(),
            path_starts: Vec::new(),
            addresses: Vec::new(),
            nodes: None,
            options: OptionStore::default(),
            dropped: Vec::new(),
            trace,
            hops: 0,
            station_pairs: Vec::new(),
            notes: VecDeque::new(),
            boards,
            watched: Vec::new(),
            destroyed: VecDeque::new(),
            budget: Budget::default(),
            on_air: VecDeque::new(),
            arrived: VecDeque::new(),
            has_news: false,
        }
    }

    /// From now on every node looks every packet up in its table, which may change. To be called before there are streams.
    pub(crate) fn forward_by_tables(&mut self, nodes: Nodes) {
        self.nodes = Some(nodes);
        self.pipes.iter_mut().for_each(|pipe| pipe.label = BY_TABLE);
    }

    /// Adds the next stream, from a node to a node. Its packets take `path`; where nodes forward by their tables these are
    /// filled with it.
    pub(crate) fn add_stream(&mut self, from: usize, to: usize, path: &[u32]) {
        let start = self.paths.len();
        let (from, to) = (from as u32, to as u32);
        self.path_starts.push(start as u32);
        self.addresses.push((from, to));
        self.paths.extend_from_slice(path);
        self.paths.push(HOST);
        self.dropped.push(0);
        if let Some(nodes) = &mut self.nodes {
            return nodes.fill(from, to, path);
        }
        // Nearly every pipe is always followed by the same one: its label tells the next hop, without a look at the path,
        // which would be another cache line for every packet.
        for step in self.paths[start..].windows(2) {
            let pipe = &mut self.pipes[step[0] as usize];
            pipe.label = match pipe.label {
                Pipe::UNLABELLED => step[1],
                next if next == step[1] => next,
                _ => BY_PATH,
            };
        }
    }

    /// How many streams there are: the number of the next one.
    pub(crate) fn streams(&self) -> u32 {
        self.path_starts.len() as u32
    }

    /// What silence destroys in `pipe` is to be noted.
    pub(crate) fn watch(&mut self, pipe: u32) {
        self.watched.push(pipe);
    }

    /// Whether a packet was destroyed that [`take_destroyed`](Self::take_destroyed) has not returned.
    #[inline]
    pub(crate) fn has_destroyed(&self) -> bool {
        !self.destroyed.is_empty()
    }

    /// The next packet that silence destroyed in a watched pipe: pipe, stream, sequence number.
    pub(crate) fn take_destroyed(&mut self) -> Option<(u32, u32, SeqNumber)> {
        self.destroyed.pop_front()
    }

    /// The pipes of a stream's path.
    pub(crate) fn path(&self, stream: usize) -> &[u32] {
        let rest = &self.paths[self.path_starts[stream] as usize..];
        let length = rest.iter().position(|pipe| *pipe == HOST).unwrap_or(rest.len());
        &rest[..length]
    }

    /// A host sends a TCP segment on `stream`. Data: `sent_at` is now. An acknowledgement: when the data was sent that it
    /// answers. Else `Time::MAX`. `awaited`: of data, what its sender had waited for.
    #[inline]
    pub(crate) fn send_segment(
        &mut self,
        now: Time,
        stream: u32,
        segment: &Segment,
        sent_at: Time,
        awaited: Awaited,
    ) {
        let size = segment.wire_size();
        let mut packet = self.options.pack(stream, segment, sent_at, size);
        packet.awaited = awaited;
        self.inject(now, packet, size);
    }

    /// A host sends a packet of `size` bytes that is no TCP segment on `stream`.
    pub(crate) fn send(&mut self, now: Time, stream: u32, body: Body, size: u32) {
        self.inject(now, Packet::new(stream, body, now), size);
    }

    #[inline]
    fn inject(&mut self, now: Time, mut packet: Packet, size: u32) {
        let start = self.path_starts[packet.stream as usize];
        packet.next = start;
        let frame = Frame::new(packet, size);
        match &self.nodes {
            None => match self.paths[start as usize] {
                HOST => self.send_on_air(now, frame),
                pipe => self.offer(now, pipe, frame),
            },
            Some(_) => self.send_by_table(now, frame),
        }
    }

    /// The nodes that a stream leads from and to.
    pub(crate) fn addresses(&self, stream: u32) -> (u32, u32) {
        self.addresses[stream as usize]
    }

    /// The first hop of a packet whose node forwards by its table. A packet for its own node is not sent.
    #[cold]
    fn send_by_table(&mut self, now: Time, frame: Frame<Packet>) {
        let (from, to) = self.addresses[frame.packet.stream as usize];
        match self.nodes.as_ref().map(|nodes| nodes.step(from, to)) {
            Some(Step::Send(pipe)) => self.offer(now, pipe, frame),
            // Nothing has carried it: it is dropped where it is.
            _ => self.discard(&frame),
        }
    }

    /// A packet has come to the node at the far end of `pipe`, which looks it up in its table.
    #[cold]
    fn forward_by_table(&mut self, now: Time, pipe: u32, mut frame: Frame<Packet>) -> Option<Frame<Packet>> {
        let (_, to) = self.addresses[frame.packet.stream as usize];
        let nodes = self.nodes.as_ref()?;
        match nodes.step(nodes.head(pipe), to) {
            Step::Deliver => return Some(frame),
            Step::NoRoute => self.drop_packet(now, pipe, &frame, DropCause::NoRoute),
            // RFC 1812 section 5.3.1.
            Step::Send(_) if frame.packet.time_to_live <= 1 => {
                self.drop_packet(now, pipe, &frame, DropCause::Expired);
            }
            Step::Send(next) => {
                frame.packet.time_to_live -= 1;
                self.offer(now, next, frame);
            }
        }
        None
    }

    /// Takes the TCP segment out of a packet that has reached its host; `None`: it carries something else.
    #[inline]
    pub(crate) fn open(&mut self, packet: &Packet) -> Option<Segment> {
        self.options.unpack(packet)
    }

    /// The first packet of `pipe` arrives at the far end: it moves on, is lost, or has reached its host, in which case it
    /// is returned.
    #[inline]
    pub(crate) fn arrive(&mut self, now: Time, pipe: u32) -> Option<Frame<Packet>> {
        self.hops += 1;
        let event = Event::Arrival(pipe);
        let from = &mut self.pipes[pipe as usize];
        let Departure { frame, lost } = from.arrive(now);
        let next = from.label;
        // A pipe has one arrival in the queue, that of its first packet in flight. The next takes its place: one step of
        // the heap instead of two.
        match from.next_arrival() {
            Some(time) => self.queue.replace(time, event),
            None => self.queue.pop(event),
        }
        if let Some(cause) = lost {
            self.drop_packet(now, pipe, &frame, cause);
            return None;
        }
        self.note(now, PacketEvent::Received, pipe, &frame);
        self.forward(now, pipe, next, frame)
    }

    /// A packet that came by `pipe` goes where its label `next` says, or has reached its host.
    #[expect(clippy::inline_always, reason = "two callers, of which `arrive` makes nearly every call")]
    #[inline(always)]
    fn forward(
        &mut self,
        now: Time,
        pipe: u32,
        mut next: u32,
        frame: Frame<Packet>,
    ) -> Option<Frame<Packet>> {
        // One comparison for the common case: a label below is the next pipe.
        if next >= BY_TABLE {
            match next {
                BY_TABLE => return self.forward_by_table(now, pipe, frame),
                BY_PATH => next = self.paths[frame.packet.next as usize],
                _ => {}
            }
            if next == HOST {
                return Some(frame);
            }
        }
        self.offer(now, next, frame);
        None
    }

    #[inline]
    fn offer(&mut self, now: Time, pipe: u32, frame: Frame<Packet>) {
        let link = &mut self.pipes[pipe as usize];
        if link.watched && (link.free_at() < now || frame.packet.awaited == Awaited::Nothing) {
            self.budget.offered(now, pipe, link, &frame);
        }
        match link.offer(now, frame) {
            Offer::Taken => {}
            Offer::Schedule(time) => self.queue.push(time, Event::Arrival(pipe)),
            Offer::Wake => self.wake(now, pipe),
            Offer::Dropped => return self.refuse(now, pipe, frame, DropCause::Queue),
            Offer::Refused => return self.refuse(now, pipe, frame, DropCause::Silence),
            Offer::Managed => {
                // Recorded before the discipline's own doings are: it may drop this very packet.
                self.note_queued(now, pipe, frame);
                return self.attend(now, pipe);
            }
        }
        self.note_queued(now, pipe, frame);
    }

    /// A pipe does not take a packet: its queue is full, or its gate refuses it.
    #[cold]
    fn refuse(&mut self, now: Time, pipe: u32, mut frame: Frame<Packet>, cause: DropCause) {
        frame.packet.enter();
        self.drop_packet(now, pipe, &frame, cause);
    }

    /// Enters a packet in the trace, where packets are traced, as it was offered to `pipe`.
    #[inline]
    fn note_queued(&mut self, now: Time, pipe: u32, mut frame: Frame<Packet>) {
        if self.trace.records_packets() {
            frame.packet.enter();
            self.trace_packet(now, PacketEvent::Queued, pipe, &frame);
        }
    }

    /// Gate and rate of a pipe change.
    pub(crate) fn set_channel(&mut self, now: Time, pipe: u32, gate: Gate, rate: Option<Rate>) {
        let link = &mut self.pipes[pipe as usize];
        let was_due = link.next_arrival().is_some();
        let scheduled = if link.watched {
            self.budget.set_channel(now, pipe, link, gate, rate)
        } else {
            link.set_channel(now, gate, rate)
        };
        if let Some(time) = scheduled {
            self.queue.push(time, Event::Arrival(pipe));
        }
        if was_due && self.pipes[pipe as usize].next_arrival().is_none() {
            self.queue.cancel(Event::Arrival(pipe));
        }
        while let Some(Flushed { frame, was_carried }) = self.pipes[pipe as usize].take_flushed() {
            self.lose_on(now, pipe, &frame, DropCause::Silence, was_carried);
        }
        self.attend(now, pipe);
    }

    /// The transmitter of a pipe takes the next packet from its queue discipline.
    pub(crate) fn transmit(&mut self, now: Time, pipe: u32) {
        self.pipes[pipe as usize].transmit(now);
        self.attend(now, pipe);
    }

    /// Follows up on what a queue discipline has done; nothing is to be done for a pipe without one.
    #[cold]
    fn attend(&mut self, now: Time, pipe: u32) {
        if !self.pipes[pipe as usize].is_managed() {
            return;
        }
        // A discipline such as CoDel drops at dequeue, packets that were offered long before.
        while let Some((frame, cause)) = self.pipes[pipe as usize].take_dropped() {
            self.drop_packet(now, pipe, &frame, cause);
        }
        let link = &mut self.pipes[pipe as usize];
        if let Some(time) = link.take_arrival() {
            self.queue.push(time, Event::Arrival(pipe));
        }
        if let Some(time) = link.take_transmission() {
            self.queue.push(time, Event::Transmission(pipe));
        }
        if link.take_wake() {
            self.wake(now, pipe);
        }
    }

    /// Enters a packet in the trace, where packets are traced.
    #[inline]
    fn note(&mut self, now: Time, event: PacketEvent, pipe: u32, frame: &Frame<Packet>) {
        if self.trace.records_packets() {
            self.trace_packet(now, event, pipe, frame);
        }
    }

    #[cold]
    fn trace_packet(&mut self, now: Time, event: PacketEvent, pipe: u32, frame: &Frame<Packet>) {
        let segment = self.options.peek(&frame.packet);
        let place = self.place(pipe, &frame.packet);
        self.trace.packet(now, event, None, place, frame, segment.as_ref());
    }

    /// Where the trace says that a packet on `pipe` is.
    fn place(&self, pipe: u32, packet: &Packet) -> Place {
        let stream = packet.stream as usize;
        let time_to_live = match self.nodes {
            Some(_) => packet.time_to_live,
            // Nobody counts down on a way that was read off the tables: the place on it tells. A longer way ends at 1.
            None => {
                let hops = packet.next.saturating_sub(self.path_starts[stream] + 1);
                u32::from(TIME_TO_LIVE).saturating_sub(hops).max(1) as u8
            }
        };
        let refuses = !self.pipes[pipe as usize].is_managed();
        Place { pipe, refuses, addresses: self.addresses[stream], time_to_live }
    }

    /// Counts a packet as dropped that no link has seen.
    fn discard(&mut self, frame: &Frame<Packet>) {
        self.dropped[frame.packet.stream as usize] += 1;
        self.options.unpack(&frame.packet);
    }

    #[cold]
    fn drop_packet(&mut self, now: Time, pipe: u32, frame: &Frame<Packet>, cause: DropCause) {
        let was_carried = matches!(cause, DropCause::Loss | DropCause::NoRoute | DropCause::Expired);
        self.lose_on(now, pipe, frame, cause, was_carried);
    }

    /// A packet is lost on `pipe`, or at its far end. `was_carried`: it had left the transmitter.
    #[cold]
    fn lose_on(&mut self, now: Time, pipe: u32, frame: &Frame<Packet>, cause: DropCause, was_carried: bool) {
        self.dropped[frame.packet.stream as usize] += 1;
        let way = &self.paths[self.path_starts[frame.packet.stream as usize] as usize..];
        let length = way.iter().position(|pipe| *pipe == HOST).unwrap_or(way.len());
        self.budget.dropped(&way[..length], pipe, frame, was_carried);
        // Unpacked for its place in the store as well, which is free from here on.
        let segment = self.options.unpack(&frame.packet);
        if cause == DropCause::Silence
            && let Some(segment) = &segment
            && self.watched.contains(&pipe)
        {
            self.destroyed.push_back((pipe, frame.packet.stream, segment.seq));
        }
        self.trace.dropped(now, pipe, frame, cause);
        if self.trace.records_packets() {
            let place = self.place(pipe, &frame.packet);
            self.trace.packet(now, PacketEvent::Dropped, Some(cause), place, frame, segment.as_ref());
        }
    }
}
