//! One flow: its two connection ends, its application and its measurements.

mod managed;
mod measured;
mod other;
mod tcp;

pub use measured::{Measured, Snapshot};
pub use tcp::Tcp;

use crate::ends::UNKNOWN;
use crate::multipath::PathCounts;
use crate::quic::QuicCounts;
use crate::{DatagramEnds, End, Owner, Plane, Streams, Wake};
use cogtcp_endpoint::{LogEntry, PathId, Supply as EndpointSupply};
use cogtcp_network::{Awaited, StreamCounters, StreamId, impossible};
use cogtcp_records::tables::FlowSample;
use cogtcp_records::{EventKind, Histogram};
use cogtcp_scenario::{FlowSpec, Protocol, TcpSpec, Traffic};
use cogtcp_transport::{CongestionControl, LinkEvent};
use cogtcp_units::{Duration, Rate, Time, prefetch};
use measured::Baseline;
use other::{Other, PathStreams};

/// One flow: both hosts' ends of its connection. What every packet needs comes first and together.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Flow {
    /// When each end's next timer entry in the event queue is due, and the one after it; `Time::MAX`: none.
    /// An entry due at another time is stale.
    armed: [Time; 2],
    armed_after: [Time; 2],
    /// What the two hosts counted of the data and of the acknowledgements, on the first path.
    counters: [StreamCounters; 2],
    /// Bytes on the wire of the data packets that reached the receiver.
    arrived_bytes: u64,
    /// The streams of the first path, which TCP alone uses: data, acknowledgements.
    ids: [StreamId; 2],
    number: u32,
    started: bool,
    stopped: bool,
    /// The application is told when `goal` is reached; else the flow is complete.
    is_awaited: bool,
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

/// The two ends of a flow's connection.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all flows are TCP, and each of its packets needs the ends"
)]
#[derive(Debug)]
enum Ends {
    /// TCP, without indirection.
    Tcp(Tcp),
    /// Another transport.
    Other(Box<Other>),
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
        Self::at_rest(
            number,
            spec,
            ids,
            Ends::Other(Box::new(Other {
                ends,
                further: Vec::new(),
                warm: PathCounts::default(),
                measured: Vec::new(),
            })),
        )
    }

    fn at_rest(number: u32, spec: &FlowSpec, ids: [StreamId; 2], ends: Ends) -> Self {
        Self {
            ends,
            ids,
            number,
            armed: [Time::MAX; 2],
            armed_after: [Time::MAX; 2],
            counters: [StreamCounters::default(); 2],
            arrived_bytes: 0,
            rtt: Histogram::new(),
            queuing: Histogram::new(),
            is_awaited: false,
            goal: if let Traffic::Size(size) = spec.traffic { size.get() } else { u64::MAX },
            traffic: match spec.traffic {
                Traffic::Saturated => Supply::Saturated,
                Traffic::Size(size) => Supply::Size(size.get()),
                Traffic::Rate(rate) => Supply::Rate(rate),
                _ if spec.opens_anew() => Supply::LastResponses(0),
                _ => Supply::Responses(0),
            },
            start: spec.start,
            started: false,
            stopped: false,
            writes: 0,
            completed: None,
            warm: None,
            baseline: None,
            measured: None,
        }
    }

    /// The application starts: the connection opens.
    pub fn start(&mut self, now: Time, plane: &mut impl Plane) {
        self.started = true;
        plane.record_event(now, EventKind::FlowStart, self.number, f64::NAN);
        let Ends::Tcp(tcp) = &mut self.ends else { return self.start_other(now, plane) };
        match self.traffic {
            Supply::Saturated => tcp.sender.set_saturated(true),
            // Closed at once: the FIN goes out with the last of the data.
            Supply::Size(bytes) => {
                tcp.sender.write(bytes);
                tcp.sender.close();
            }
            Supply::Rate(_) => self.write(now, plane),
            // The first request opens the connection (`respond`).
            Supply::Responses(_) | Supply::LastResponses(_) => return,
        }
        if let Ends::Tcp(tcp) = &mut self.ends {
            tcp.sender.open(now);
        }
        self.pump_sender(now, Awaited::Application, plane);
    }

    /// The same where the transport is not TCP.
    fn start_other(&mut self, now: Time, plane: &mut impl Plane) {
        match self.traffic {
            Supply::Saturated => self.supply_other(now, EndpointSupply::Saturated(true), true, plane),
            Supply::Size(bytes) => {
                self.supply_other(now, EndpointSupply::Bytes(bytes), true, plane);
                self.close_other(now, plane);
            }
            Supply::Rate(_) => self.write(now, plane),
            Supply::Responses(_) | Supply::LastResponses(_) => {}
        }
    }

    /// The application stops: what it wrote is still sent, then the connection closes.
    pub fn stop(&mut self, now: Time, plane: &mut impl Plane) {
        self.stopped = true;
        plane.record_event(now, EventKind::FlowStop, self.number, f64::NAN);
        match &mut self.ends {
            Ends::Tcp(tcp) => {
                tcp.sender.set_saturated(false);
                tcp.sender.close();
                self.pump_sender(now, Awaited::Application, plane);
            }
            Ends::Other(_) => self.close_other(now, plane),
        }
        self.end_measure(now, plane);
    }

    /// A rate-limited application writes one segment's worth and plans its next write, so many that the sum
    /// keeps to the rate without drift.
    pub fn write(&mut self, now: Time, plane: &mut impl Plane) {
        let Supply::Rate(rate) = self.traffic else { return impossible("an application without a rate") };
        // The write that was planned before the stop is still in the queue.
        if self.stopped {
            return;
        }
        let bytes = u64::from(match &self.ends {
            Ends::Tcp(tcp) => tcp.sender.config().handshake.mss,
            Ends::Other(other) => other.ends.segment_size,
        });
        self.writes += 1;
        plane.wake(self.start + write_offset(rate, bytes, self.writes), self.number, Wake::Write);
        if let Ends::Tcp(tcp) = &mut self.ends {
            tcp.sender.write(bytes);
            self.pump_sender(now, Awaited::Application, plane);
        } else {
            // The first write opens the connection, which later ones leave as it is.
            self.supply_other(now, EndpointSupply::Bytes(bytes), self.writes == 1, plane);
        }
    }

    /// What the receiving application waits for has been delivered.
    #[cold]
    fn reach(&mut self, now: Time, plane: &mut impl Plane) {
        // Reached once: later data must not wake the application again.
        self.goal = u64::MAX;
        if self.is_awaited {
            return plane.wake(now, self.number, Wake::Delivered);
        }
        self.completed = Some(now);
        plane.record_event(now, EventKind::Completed, self.number, f64::NAN);
        self.end_measure(now, plane);
    }

    /// The server writes a response of `bytes`, over a connection that the first one opens. Returns where in
    /// the flow's data it ends; `None`: the application has stopped.
    pub fn respond(&mut self, now: Time, bytes: u64, plane: &mut impl Plane) -> Option<u64> {
        let (Supply::Responses(written) | Supply::LastResponses(written)) = &mut self.traffic else {
            impossible("a request of an application that answers none");
            return None;
        };
        if self.stopped {
            return None;
        }
        let is_first = *written == 0;
        *written += bytes;
        let end = *written;
        let Ends::Tcp(tcp) = &mut self.ends else {
            // A connection that serves one request closes after it, and the next request opens it again.
            let is_last = matches!(self.traffic, Supply::LastResponses(_));
            self.supply_other(now, EndpointSupply::Message(bytes), is_first || is_last, plane);
            if is_last {
                self.close_other(now, plane);
            }
            return Some(end);
        };
        tcp.sender.write(bytes);
        if let Supply::LastResponses(_) = self.traffic {
            tcp.sender.close();
        }
        // Does nothing once the connection is open.
        tcp.sender.open(now);
        self.pump_sender(now, Awaited::Application, plane);
        Some(end)
    }

    /// The plane is asked for [`Wake::Delivered`] when so much has been delivered in all; `u64::MAX`: never.
    pub fn wait_for_delivery(&mut self, delivered: u64) {
        (self.goal, self.is_awaited) = (delivered, true);
    }

    /// Adds a path: its streams of data and of acknowledgements. Paths count from 0: path 0 is the path of
    /// [`Flow::new`].
    ///
    /// # Panics
    ///
    /// TCP uses one path.
    pub fn add_path(&mut self, ids: [StreamId; 2]) -> PathId {
        let Ends::Other(other) = &mut self.ends else { panic!("TCP uses one path") };
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
                streams.enter(id, Owner::Flow { flow: self.number, from, path: PathId(path) });
            }
        }
    }

    /// Returns the streams of each path: data, acknowledgements.
    fn paths(&self) -> impl Iterator<Item = [StreamId; 2]> {
        std::iter::once(self.ids).chain(self.further().iter().map(|path| path.ids))
    }

    fn further(&self) -> &[PathStreams] {
        if let Ends::Other(other) = &self.ends { &other.further } else { &[] }
    }

    /// Returns the streams that the end `from` sends on, with what the hosts counted of each, by path.
    pub fn counted(&self, from: End) -> impl Iterator<Item = (StreamId, StreamCounters)> {
        let first = (self.ids[from.index()], self.counters[from.index()]);
        let further = self.further().iter();
        std::iter::once(first)
            .chain(further.map(move |path| (path.ids[from.index()], path.counters[from.index()])))
    }

    /// Returns the stream of data on the first path.
    #[inline]
    pub fn data(&self) -> StreamId {
        self.ids[DATA]
    }

    /// Returns the stream on which the end `from` sends on the first path.
    #[inline]
    pub fn stream(&self, from: End) -> StreamId {
        self.ids[from.index()]
    }

    /// Asks for the memory of `end`.
    #[inline]
    pub fn prefetch(&self, end: End) {
        prefetch(self, 2);
        let Ends::Tcp(tcp) = &self.ends else { return };
        if end == End::Sender {
            prefetch(&self.rtt, 2);
            tcp.sender.prefetch();
        } else {
            prefetch(&self.queuing, 2);
            tcp.receiver.prefetch();
        }
    }

    /// Asks for what `end` points to, whose own memory is at hand.
    #[inline]
    pub fn prefetch_depth(&self, end: End) {
        let Ends::Tcp(tcp) = &self.ends else { return };
        if end == End::Sender {
            self.rtt.prefetch_latest();
            tcp.sender.prefetch_depth();
        } else {
            self.queuing.prefetch_latest();
            tcp.receiver.prefetch_depth();
        }
    }

    /// Whether the receiver has the connection open and expects data.
    pub fn is_open(&self) -> bool {
        match &self.ends {
            Ends::Tcp(tcp) => tcp.is_open(),
            Ends::Other(_) => self.is_active(),
        }
    }

    /// The timer entry of `end` is due. Returns whether the end was called, or its timer had moved on
    /// meanwhile.
    pub fn timer(&mut self, now: Time, end: End, plane: &mut impl Plane) -> bool {
        if self.armed[end.index()] != now {
            return false;
        }
        // Of the entries that earlier ones have overtaken the nearest is remembered: a timer that was put off
        // to that time or beyond needs no new one.
        self.armed[end.index()] = std::mem::replace(&mut self.armed_after[end.index()], Time::MAX);
        let due = match &mut self.ends {
            Ends::Tcp(tcp) if end == End::Sender => tcp.sender.poll_timeout(),
            Ends::Tcp(tcp) => tcp.receiver.poll_timeout(),
            Ends::Other(other) => other.ends.end(end).poll_timeout(),
        };
        // The timer was put off since this entry was made, as it is at nearly every acknowledgement. That
        // costs an entry only now, not at each of them.
        if due > now {
            self.arm(end, due, plane);
            return false;
        }
        match &self.ends {
            Ends::Tcp(_) => self.expire_tcp(now, end, plane),
            Ends::Other(_) => self.expire_other(now, end, plane),
        }
        true
    }

    /// The radio beside the sender reports.
    pub fn link_event(&mut self, now: Time, event: LinkEvent, plane: &mut impl Plane) {
        if !self.is_active() {
            return;
        }
        if let Ends::Tcp(tcp) = &mut self.ends {
            tcp.sender.handle_link_event(now, event);
            self.pump_sender(now, Awaited::Window, plane);
        } else {
            self.notify_other(now, event, plane);
        }
    }

    /// Makes sure that an entry of `end`'s timer is due no later than `due`. An entry that comes too early
    /// moves itself.
    #[inline]
    fn arm(&mut self, end: End, due: Time, plane: &mut impl Plane) {
        if due < self.armed[end.index()] {
            self.armed_after[end.index()] = std::mem::replace(&mut self.armed[end.index()], due);
            plane.wake(due, self.number, Wake::Timer(end));
        }
    }

    /// Whether the flow has started and its connection is not over.
    pub fn is_active(&self) -> bool {
        self.started
            && match &self.ends {
                Ends::Tcp(tcp) => !tcp.sender.is_closed(),
                Ends::Other(other) => !other.ends.is_closed(),
            }
    }

    /// Whether its sender counts what QUIC counts.
    pub fn is_quic(&self) -> bool {
        matches!(&self.ends, Ends::Other(other) if QuicCounts::of(&other.ends.sender).is_some())
    }

    /// Keeps a log of each end from now on, where the transport has one.
    pub fn keep_logs(&mut self) {
        if let Ends::Other(other) = &mut self.ends {
            other.ends.sender.keep_log();
            other.ends.receiver.keep_log();
        }
    }

    /// Takes what the sender and the receiver have logged.
    pub fn take_logs(&mut self) -> [Vec<LogEntry>; 2] {
        match &mut self.ends {
            Ends::Tcp(_) => Default::default(),
            Ends::Other(other) => [other.ends.sender.take_log(), other.ends.receiver.take_log()],
        }
    }

    /// Returns the counts of its subflows since the end of the warm-up, by path; empty: it has none.
    pub fn subflows(&self) -> PathCounts {
        match &self.ends {
            Ends::Tcp(_) => PathCounts::default(),
            Ends::Other(other) => PathCounts::of(&other.ends).since(&other.warm),
        }
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
        self.started
    }

    /// TCP's ends; `None`: the transport is another.
    pub fn tcp(&self) -> Option<&Tcp> {
        if let Ends::Tcp(tcp) = &self.ends { Some(tcp) } else { None }
    }

    /// The same, to change them.
    pub fn tcp_mut(&mut self) -> Option<&mut Tcp> {
        if let Ends::Tcp(tcp) = &mut self.ends { Some(tcp) } else { None }
    }

    /// Payload handed to the receiving application so far.
    pub fn delivered(&self) -> u64 {
        match &self.ends {
            Ends::Tcp(tcp) => tcp.receiver.delivered(),
            Ends::Other(other) => other.ends.receiver.progress().delivered_bytes,
        }
    }

    /// A point of the flow's series, without flow, time and goodput.
    pub fn sample(&self) -> FlowSample {
        match &self.ends {
            Ends::Tcp(tcp) => {
                let state = tcp.sender.state();
                let mss = state.mss.max(1) as f64;
                FlowSample {
                    cwnd_segments: tcp.cwnd_segments(),
                    // Without a loss so far it is arbitrarily high (RFC 5681): no number.
                    ssthresh_segments: if state.ssthresh == u64::MAX {
                        f64::NAN
                    } else {
                        state.ssthresh as f64 / mss
                    },
                    srtt_s: if state.srtt.is_zero() { f64::NAN } else { state.srtt.as_secs_f64() },
                    in_flight_segments: state.in_flight as f64 / mss,
                    ..UNKNOWN
                }
            }
            Ends::Other(other) => other.ends.sample(),
        }
    }

    /// Shows the variables of the congestion control, or of the transport.
    pub fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        match &self.ends {
            Ends::Tcp(tcp) => tcp.sender.control().observe(tcp.sender.state(), show),
            Ends::Other(other) => other.ends.observe(&mut |name, value| show(name, value)),
        }
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
    fn a_flow_is_26_cache_lines() {
        assert!(size_of::<Flow>() <= 26 * 64, "{} B", size_of::<Flow>());
    }

    /// 1000-byte writes at 3 Mbit/s: 2.666... ms apart, without drift after a million of them.
    #[test]
    fn writes_keep_to_the_rate() {
        let rate = Rate::from_bits_per_second(3_000_000);
        assert_eq!(write_offset(rate, 1000, 1), Duration::from_nanos(2_666_666));
        assert_eq!(write_offset(rate, 1000, 3_000_000), Duration::from_secs(8000));
    }
}
