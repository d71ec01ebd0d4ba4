//! Pipes, paths and the packets on them; packets are counted here.

use crate::pipe::{DropCause, Offer, Pipe, Transit};
use crate::queue::{Event, EventQueue};
use crate::trace::Trace;
use cogtcp_transport::Segment;
use cogtcp_units::Time;

/// A packet in the network: the segment, and when the segment left that it is or that it answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    /// Data: when it was sent. An acknowledgement: when the data was sent that it answers. Else `Time::MAX`.
    pub(crate) sent_at: Time,
}

/// What one direction of a flow counted since its start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamCounters {
    /// Packets that the host put on its first link.
    pub(crate) injected: u64,
    /// Packets that reached the other host.
    pub(crate) arrived: u64,
    /// Bytes on the wire of the packets that reached the other host.
    pub(crate) arrived_bytes: u64,
    /// Packets dropped on the way.
    pub(crate) dropped: u64,
}

/// End of a path in [`Network::paths`].
const HOST: u32 = u32::MAX;

/// The network of one run.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) queue: EventQueue,
    pub(crate) pipes: Vec<Pipe>,
    /// The paths of all streams, one after another: pipes, then [`HOST`].
    paths: Vec<u32>,
    /// Where the path of a stream begins in `paths`. Stream `2 * flow` carries data, `2 * flow + 1` acknowledgements.
    path_starts: Vec<u32>,
    /// The packets under way; unused places are listed in `free`.
    packets: Vec<Packet>,
    free: Vec<u32>,
    pub(crate) streams: Vec<StreamCounters>,
    pub(crate) trace: Trace,
    pub(crate) hops: u64,
}

impl Network {
    /// A network of `pipes` without paths.
    pub(crate) fn new(pipes: Vec<Pipe>, trace: Trace) -> Self {
        Self {
            queue: EventQueue::new(),
            pipes,
            paths: Vec::new(),
            path_starts: Vec::new(),
            packets: Vec::new(),
            free: Vec::new(),
            streams: Vec::new(),
            trace,
            hops: 0,
        }
    }

    /// Adds the next stream, which takes `path`.
    pub(crate) fn add_stream(&mut self, path: &[u32]) {
        self.path_starts.push(self.paths.len() as u32);
        self.paths.extend_from_slice(path);
        self.paths.push(HOST);
        self.streams.push(StreamCounters::default());
    }

    /// The pipes of a stream's path.
    pub(crate) fn path(&self, stream: usize) -> &[u32] {
        let rest = &self.paths[self.path_starts[stream] as usize..];
        let length = rest.iter().position(|pipe| *pipe == HOST).unwrap_or(rest.len());
        &rest[..length]
    }

    /// A host sends `packet` on `stream`.
    #[inline]
    pub(crate) fn inject(&mut self, now: Time, stream: u32, packet: Packet) {
        self.streams[stream as usize].injected += 1;
        let wire = packet.segment.wire_size();
        let id = match self.free.pop() {
            Some(id) => {
                self.packets[id as usize] = packet;
                id
            }
            None => {
                self.packets.push(packet);
                self.packets.len() as u32 - 1
            }
        };
        let start = self.path_starts[stream as usize];
        let transit = Transit { time: 0, waited: 0, packet: id, stream, wire, next: start };
        self.forward(now, transit);
    }

    /// The first packet of `pipe` arrives at the far end: it moves on, is lost, or has reached its host, in which case it
    /// is returned with what it carries.
    #[inline]
    pub(crate) fn arrive(&mut self, now: Time, pipe: u32) -> Option<(Transit, Packet)> {
        self.hops += 1;
        let event = Event::Arrival(pipe);
        let from = &mut self.pipes[pipe as usize];
        let (transit, lost) = from.arrive(now);
        match from.next_arrival() {
            Some(time) => self.queue.replace(time, event),
            None => self.queue.pop(event),
        }
        if let Some(cause) = lost {
            self.drop_packet(now, pipe, &transit, cause);
            return None;
        }
        if self.paths[transit.next as usize] != HOST {
            self.forward(now, transit);
            return None;
        }
        let counters = &mut self.streams[transit.stream as usize];
        counters.arrived += 1;
        counters.arrived_bytes += u64::from(transit.wire);
        self.free.push(transit.packet);
        Some((transit, self.packets[transit.packet as usize]))
    }

    #[inline]
    fn forward(&mut self, now: Time, mut transit: Transit) {
        let pipe = self.paths[transit.next as usize];
        transit.next += 1;
        match self.pipes[pipe as usize].offer(now, transit) {
            Offer::Taken => {}
            Offer::Schedule(time) => self.queue.push(time, Event::Arrival(pipe)),
            Offer::Dropped => self.drop_packet(now, pipe, &transit, DropCause::Queue),
        }
    }

    #[cold]
    fn drop_packet(&mut self, now: Time, pipe: u32, transit: &Transit, cause: DropCause) {
        self.streams[transit.stream as usize].dropped += 1;
        self.free.push(transit.packet);
        self.trace.dropped(now, pipe, transit, cause);
    }

    /// Every packet is somewhere, once: sent = delivered + dropped by cause + queued + in flight, for every stream and
    /// every pipe, and the packet store holds exactly what the pipes hold.
    pub(crate) fn check_conservation(&self) -> Result<(), String> {
        let mut inside = vec![0u64; self.streams.len()];
        for (number, pipe) in self.pipes.iter().enumerate() {
            let mut held = 0;
            for transit in pipe.packets() {
                inside[transit.stream as usize] += 1;
                held += 1;
            }
            let counters = pipe.counters();
            if counters.offered != counters.delivered + counters.drops.iter().sum::<u64>() + held {
                return Err(format!("link direction {number} holds {held} packets and counted {counters:?}"));
            }
        }
        for (number, (stream, inside)) in self.streams.iter().zip(&inside).enumerate() {
            if stream.injected != stream.arrived + stream.dropped + inside {
                return Err(format!("stream {number} has {inside} packets under way and counted {stream:?}"));
            }
        }
        let (stored, under_way) = (self.packets.len() - self.free.len(), inside.iter().sum::<u64>());
        if stored as u64 != under_way {
            return Err(format!("{stored} packets are stored and {under_way} under way"));
        }
        Ok(())
    }
}
