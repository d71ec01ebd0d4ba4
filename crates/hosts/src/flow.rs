//! One flow: its two connection ends, its application and its measurements.

mod ends;
mod measured;
mod other;
mod shared;
mod tcp;
mod verbs;

pub use measured::Measured;
pub use shared::Snapshot;
pub use tcp::Tcp;

use crate::multipath::PathCounts;
use crate::quic::QuicCounts;
use crate::{DatagramEnds, End, Owner, Plane, Streams, Wake};
use cogtcp_endpoint::{LogEntry, PathId, SpectrumDatabase, Supply as EndpointSupply};
use cogtcp_network::{StreamCounters, StreamId, impossible};
use cogtcp_records::tables::FlowSample;
use cogtcp_records::{EventKind, Histogram};
use cogtcp_scenario::{FlowSpec, Protocol, TcpSpec, Traffic};
use cogtcp_transport::{CongestionControl, LinkEvent};
use cogtcp_units::{Duration, Rate, Time, prefetch};
use ends::{Ends, both};
use measured::Baseline;
use other::Other;
use shared::{PathStreams, Shared};
use std::sync::Arc;
use verbs::BothEnds;

/// One flow: both hosts' ends of its connection. What every packet needs comes first and together.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Flow {
    shared: Shared,
    /// What the receiving application waits for: so much delivered in all; `u64::MAX`: nothing.
    goal: u64,
    ends: Ends,
    /// Round-trip times since the end of the warm-up.
    pub rtt: Histogram,
    /// Times that data packets waited in queues, since the end of the warm-up.
    pub queuing: Histogram,
    /// When the last byte was delivered of a flow with so much to send.
    pub completed: Option<Time>,
    start: Time,
    traffic: Supply,
    /// Writes of a rate-limited application.
    writes: u64,
    /// State at the end of the warm-up; `None`: at rest.
    warm: Option<Box<Snapshot>>,
    baseline: Option<Box<Baseline>>,
    measured: Option<Box<Measured>>,
}

/// A packet that has reached a host of the flow.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Data: when it was sent. An acknowledgement: when the data was sent that it answers. Else
    /// [`Time::MAX`].
    pub sent_at: Time,
    /// Bytes on the wire.
    pub size: u32,
    /// How long the packet waited in queues.
    pub waited: Duration,
    /// The warm-up is over: the packet counts.
    pub is_measured: bool,
}

/// Where the flow's data comes from.
#[derive(Clone, Copy, Debug)]
enum Supply {
    /// There always is some.
    Saturated,
    /// This much at the start.
    Size(u64),
    /// At this rate.
    Rate(Rate),
    /// Responses, so many bytes so far; the first request opens the connection.
    Responses(u64),
    /// Responses, so many bytes so far; each is the last of its connection.
    LastResponses(u64),
}

const DATA: usize = 0;
const ACKS: usize = 1;

impl Flow {
    /// Builds flow `number` of `spec` at rest, whose data and acknowledgements are the streams `ids`, in a
    /// run with `seed`. `control` makes TCP's congestion control.
    ///
    /// # Errors
    ///
    /// `control` fails.
    pub fn new<E>(
        number: u32,
        spec: &FlowSpec,
        ids: [StreamId; 2],
        seed: u64,
        control: impl FnOnce(&TcpSpec) -> Result<Box<dyn CongestionControl>, E>,
    ) -> Result<Self, E> {
        let ends = match &spec.protocol {
            Protocol::Tcp(tcp) => Ends::Tcp(Tcp::new(tcp, control(tcp)?)),
            Protocol::Other(transport, connection) => {
                let ends = DatagramEnds::new(transport.kind().build(connection.of_flow(seed, &spec.name)));
                return Ok(Self::over(number, spec, ids, ends));
            }
        };
        Ok(Self::at_rest(number, spec, ids, ends))
    }

    /// Builds flow `number` of `spec` at rest over `ends`, whose transport is not TCP.
    pub fn over(number: u32, spec: &FlowSpec, ids: [StreamId; 2], ends: DatagramEnds) -> Self {
        Self::at_rest(number, spec, ids, Ends::Other(Box::new(Other::new(ends))))
    }

    fn at_rest(number: u32, spec: &FlowSpec, ids: [StreamId; 2], ends: Ends) -> Self {
        Self {
            shared: Shared::at_rest(number, ids),
            ends,
            rtt: Histogram::new(),
            queuing: Histogram::new(),
            goal: if let Traffic::Size(size) = spec.traffic { size.get() } else { u64::MAX },
            traffic: match spec.traffic {
                Traffic::Saturated => Supply::Saturated,
                Traffic::Size(size) => Supply::Size(size.get()),
                Traffic::Rate(rate) => Supply::Rate(rate),
                _ if spec.opens_anew() => Supply::LastResponses(0),
                _ => Supply::Responses(0),
            },
            start: spec.start,
            writes: 0,
            completed: None,
            warm: None,
            baseline: None,
            measured: None,
        }
    }

    /// The application starts: the connection opens.
    pub fn start(&mut self, now: Time, plane: &mut impl Plane) {
        self.shared.started = true;
        plane.record_event(now, EventKind::FlowStart, self.shared.number, f64::NAN);
        match self.traffic {
            Supply::Saturated => self.offer(now, EndpointSupply::Saturated(true), (true, false), plane),
            Supply::Size(bytes) => self.offer(now, EndpointSupply::Bytes(bytes), (true, true), plane),
            Supply::Rate(_) => self.write(now, plane),
            // The first request opens the connection (`respond`).
            Supply::Responses(_) | Supply::LastResponses(_) => {}
        }
    }

    /// The application offers data. Whether that opens the connection, and whether it is all.
    fn offer(
        &mut self,
        now: Time,
        what: EndpointSupply,
        opens_and_ends: (bool, bool),
        plane: &mut impl Plane,
    ) {
        both!(&mut self.ends, it => it.offer(now, what, opens_and_ends, &mut self.shared, plane));
    }

    /// The application stops: what it wrote is still sent, then the connection closes.
    pub fn stop(&mut self, now: Time, plane: &mut impl Plane) {
        self.shared.stopped = true;
        plane.record_event(now, EventKind::FlowStop, self.shared.number, f64::NAN);
        both!(&mut self.ends, it => it.close(now, &mut self.shared, plane));
        self.end_measure(now, plane);
    }

    /// A rate-limited application writes one segment's worth and plans its next write, so many that the sum
    /// keeps to the rate without drift.
    pub fn write(&mut self, now: Time, plane: &mut impl Plane) {
        let Supply::Rate(rate) = self.traffic else { return impossible("an application without a rate") };
        // The write that was planned before the stop is still in the queue.
        if self.shared.stopped {
            return;
        }
        let bytes = u64::from(both!(&self.ends, it => it.segment_size()));
        self.writes += 1;
        plane.wake(self.start + write_offset(rate, bytes, self.writes), self.shared.number, Wake::Write);
        // The first write opens the connection, which later ones leave as it is.
        self.offer(now, EndpointSupply::Bytes(bytes), (self.writes == 1, false), plane);
    }

    /// What the receiving application waits for has been delivered.
    #[cold]
    fn reach(&mut self, now: Time, plane: &mut impl Plane) {
        // Reached once: later data must not wake the application again.
        self.goal = u64::MAX;
        if self.shared.is_awaited {
            return plane.wake(now, self.shared.number, Wake::Delivered);
        }
        self.completed = Some(now);
        plane.record_event(now, EventKind::Completed, self.shared.number, f64::NAN);
        self.end_measure(now, plane);
    }

    /// The server writes a response of `bytes`, over a connection that the first one opens. Returns where in
    /// the flow's data it ends; `None`: the application has stopped.
    pub fn respond(&mut self, now: Time, bytes: u64, plane: &mut impl Plane) -> Option<u64> {
        let (Supply::Responses(written) | Supply::LastResponses(written)) = &mut self.traffic else {
            impossible("a request of an application that answers none");
            return None;
        };
        if self.shared.stopped {
            return None;
        }
        let is_first = *written == 0;
        *written += bytes;
        let end = *written;
        // A connection that serves one request closes after it, and the next request opens it again.
        let is_last = matches!(self.traffic, Supply::LastResponses(_));
        self.offer(now, EndpointSupply::Message(bytes), (is_first || is_last, is_last), plane);
        Some(end)
    }

    /// The plane is asked for [`Wake::Delivered`] when so much has been delivered in all; `u64::MAX`: never.
    pub fn wait_for_delivery(&mut self, delivered: u64) {
        (self.goal, self.shared.is_awaited) = (delivered, true);
    }

    /// Adds a path: its streams of data and of acknowledgements. Paths count from 0: path 0 is the path of
    /// [`Flow::new`].
    ///
    /// # Panics
    ///
    /// TCP uses one path.
    pub fn add_path(&mut self, ids: [StreamId; 2]) -> PathId {
        let Some(other) = self.ends.other_mut() else { panic!("TCP uses one path") };
        other.further.push(PathStreams {
            ids,
            counters: [StreamCounters::default(); 2],
            arrived_bytes: 0,
            warm_bytes: 0,
        });
        PathId(other.further.len() as u16)
    }

    /// Enters the owners of the flow's streams.
    pub fn enter(&self, streams: &mut Streams) {
        for (path, ids) in (0..).zip(self.paths()) {
            for (id, from) in ids.into_iter().zip(End::BOTH) {
                streams.enter(id, Owner::Flow { flow: self.shared.number, from, path: PathId(path) });
            }
        }
    }

    /// Returns the streams of each path: data, acknowledgements.
    fn paths(&self) -> impl Iterator<Item = [StreamId; 2]> {
        std::iter::once(self.shared.ids).chain(self.further().iter().map(|path| path.ids))
    }

    fn further(&self) -> &[PathStreams] {
        both!(&self.ends, it => it.further())
    }

    /// Returns the streams that the end `from` sends on, with what the hosts counted of each, by path.
    pub fn counted(&self, from: End) -> impl Iterator<Item = (StreamId, StreamCounters)> {
        let first = (self.shared.ids[from.index()], self.shared.counters[from.index()]);
        let further = self.further().iter();
        std::iter::once(first)
            .chain(further.map(move |path| (path.ids[from.index()], path.counters[from.index()])))
    }

    /// Returns the stream of data on the first path.
    #[inline]
    pub fn data(&self) -> StreamId {
        self.shared.ids[DATA]
    }

    /// Returns the stream on which the end `from` sends on the first path.
    #[inline]
    pub fn stream(&self, from: End) -> StreamId {
        self.shared.ids[from.index()]
    }

    /// Asks for the memory of `end`.
    #[inline]
    pub fn prefetch(&self, end: End) {
        prefetch(self, 2);
        prefetch(if end == End::Sender { &self.rtt } else { &self.queuing }, 2);
        both!(&self.ends, it => it.prefetch(end));
    }

    /// Asks for what `end` points to, whose own memory is at hand.
    #[inline]
    pub fn prefetch_depth(&self, end: End) {
        if end == End::Sender { &self.rtt } else { &self.queuing }.prefetch_latest();
        both!(&self.ends, it => it.prefetch_depth(end));
    }

    /// Whether the receiver has the connection open and expects data.
    pub fn is_open(&self) -> bool {
        // Only TCP tells the two ends' states apart.
        self.tcp().map_or_else(|| self.is_active(), Tcp::is_open)
    }

    /// The timer entry of `end` is due. Returns whether the end was called, or its timer had moved on
    /// meanwhile.
    pub fn timer(&mut self, now: Time, end: End, plane: &mut impl Plane) -> bool {
        if !self.shared.disarm(now, end) {
            return false;
        }
        let due = both!(&mut self.ends, it => it.due(end));
        // The timer was put off since this entry was made, as it is at nearly every acknowledgement. That
        // costs an entry only now, not at each of them.
        if due > now {
            self.shared.arm(end, due, plane);
            return false;
        }
        both!(&mut self.ends, it => it.expire(now, end, &mut self.shared, plane));
        true
    }

    /// The radio beside the sender reports.
    pub fn link_event(&mut self, now: Time, event: LinkEvent, plane: &mut impl Plane) {
        if self.is_active() {
            both!(&mut self.ends, it => it.link_event(now, event, &mut self.shared, plane));
        }
    }

    /// Whether the flow has started and its connection is not over.
    pub fn is_active(&self) -> bool {
        self.shared.started && !both!(&self.ends, it => it.is_closed())
    }

    /// Whether its sender counts what QUIC counts.
    pub fn is_quic(&self) -> bool {
        matches!(&self.ends, Ends::Other(other) if QuicCounts::of(&other.ends.sender).is_some())
    }

    /// Gives both ends a database of primary users, before they open.
    pub fn use_database(&mut self, database: &Arc<dyn SpectrumDatabase>) {
        both!(&mut self.ends, it => it.use_database(database));
    }

    /// Keeps a log of each end from now on, where the transport has one.
    pub fn keep_logs(&mut self) {
        both!(&mut self.ends, it => it.keep_logs());
    }

    /// Takes what the sender and the receiver have logged.
    pub fn take_logs(&mut self) -> [Vec<LogEntry>; 2] {
        both!(&mut self.ends, it => it.take_logs())
    }

    /// Returns the counts of its subflows since the end of the warm-up, by path; empty: it has none.
    pub fn subflows(&self) -> PathCounts {
        both!(&self.ends, it => it.subflows())
    }

    /// Returns the stream of data on each path.
    pub fn data_by_path(&self) -> impl Iterator<Item = StreamId> {
        self.paths().map(|[data, _]| data)
    }

    /// The flow's measurements, once the measured span has ended.
    pub fn measured(&self) -> Option<Measured> {
        self.measured.as_deref().copied()
    }

    /// Whether the flow has started.
    pub fn has_started(&self) -> bool {
        self.shared.started
    }

    /// TCP's ends; `None`: the transport is another.
    pub fn tcp(&self) -> Option<&Tcp> {
        self.ends.tcp()
    }

    /// TCP's ends, to be changed; `None`: the transport is another.
    pub fn tcp_mut(&mut self) -> Option<&mut Tcp> {
        self.ends.tcp_mut()
    }

    /// Payload handed to the receiving application so far.
    pub fn delivered(&self) -> u64 {
        both!(&self.ends, it => it.delivered())
    }

    /// A point of the flow's series, without flow, time and goodput.
    pub fn sample(&self) -> FlowSample {
        both!(&self.ends, it => it.sample())
    }

    /// Shows the variables of the congestion control, or of the transport.
    pub fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        both!(&self.ends, it => it.observe(show));
    }
}

/// Time from the start of a rate-limited application to its write number `writes`.
fn write_offset(rate: Rate, bytes: u64, writes: u64) -> Duration {
    // From the start, not from the write before: rounded intervals would add up. What saturates is beyond any
    // run.
    Duration::from_nanos(bytes.saturating_mul(8).saturating_mul(writes))
        .mul_ratio(1_000_000_000, rate.bits_per_second().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What every packet needs of a flow itself is two cache lines.
    #[test]
    fn what_every_packet_needs_is_together() {
        use std::mem::offset_of;
        assert!(offset_of!(Flow, ends) <= 128, "all before the sender is what every packet needs");
    }

    /// Thousands of flows fit in the caches as long as a flow is small. State that few flows need is boxed.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_flow_is_25_cache_lines() {
        assert!(size_of::<Flow>() <= 25 * 64, "{} B", size_of::<Flow>());
    }

    /// 1000-byte writes at 3 Mbit/s: 2.666... ms apart, without drift after a million of them.
    #[test]
    fn writes_keep_to_the_rate() {
        let rate = Rate::from_bits_per_second(3_000_000);
        assert_eq!(write_offset(rate, 1000, 1), Duration::from_nanos(2_666_666));
        assert_eq!(write_offset(rate, 1000, 3_000_000), Duration::from_secs(8000));
    }
}
