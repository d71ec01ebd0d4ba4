//! One flow: its two connection ends, its application and what is measured of it.

mod managed;
mod measured;

pub(crate) use measured::{Measured, Snapshot};

use crate::event::Event;
use crate::packet::Packet;
use crate::plane::Plane;
use cogtcp_link::Frame;
use cogtcp_network::Awaited;
use cogtcp_network::StreamCounters;
use cogtcp_records::EventKind;
use cogtcp_records::Histogram;
use cogtcp_scenario::{Connection, FlowSpec, RequestConfig, Traffic};
use cogtcp_transport::freeze::Beside;
use cogtcp_transport::{
    CongestionControl, LinkEvent, Receiver, ReceiverHook, ReceiverState, Segment, Sender, SeqNumber,
    TransportEvent,
};
use cogtcp_units::{Duration, Rate, Time, prefetch};
use managed::Managed;
use measured::Baseline;
use std::sync::Arc;

/// One flow. Its data is stream `2 * number`, its acknowledgements stream `2 * number + 1`. What every packet needs comes
/// first and together.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Flow {
    /// When each end's next timer entry in the event queue is due, and the one after it; `Time::MAX`: none. An entry due
    /// at another time is stale.
    armed: [Time; 2],
    armed_after: [Time; 2],
    /// What the two hosts counted of the data and of the acknowledgements.
    pub(crate) streams: [StreamCounters; 2],
    /// Bytes on the wire of the data packets that reached the receiver.
    arrived_bytes: u64,
    /// The connection manager beside the end that sits on a train, and how long it has held the source.
    manager: Option<Box<Managed>>,
    number: usize,
    /// Tag of the earliest data segment that no acknowledgement has answered, and when it was sent. No segment has tag 0.
    unanswered: (u32, Time),
    /// What the receiving application waits for: so much delivered in all; `u64::MAX`: nothing.
    goal: u64,
    pub(crate) sender: Sender,
    pub(crate) rtt: Histogram,
    pub(crate) queuing: Histogram,
    pub(crate) receiver: Receiver,
    pub(crate) completed: Option<Time>,
    start: Time,
    traffic: Supply,
    started: bool,
    stopped: bool,
    /// The receiver's part of the congestion control.
    pub(crate) receiver_hook: Option<Box<dyn ReceiverHook>>,
    /// What happens when `goal` is reached; `None`: the flow is complete.
    then: Option<Event>,
    /// Writes of a rate-limited application.
    writes: u64,
    /// State at the end of the warm-up; `None`: at rest.
    warm: Option<Box<Snapshot>>,
    baseline: Option<Box<Baseline>>,
    pub(crate) measured: Option<Measured>,
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
    /// The same, but each response is the last of its connection.
    LastResponses(u64),
}

const SENDER: usize = 0;
const RECEIVER: usize = 1;
const DATA: usize = 0;
const ACKS: usize = 1;

impl Flow {
    /// Flow `number` of `spec`, at rest.
    pub(crate) fn new(number: usize, spec: &FlowSpec, control: Box<dyn CongestionControl>) -> Self {
        Self {
            receiver_hook: control.receiver_hook(),
            sender: Sender::new(Arc::clone(&spec.sender), control),
            receiver: Receiver::new(Arc::clone(&spec.receiver)),
            number,
            armed: [Time::MAX; 2],
            armed_after: [Time::MAX; 2],
            unanswered: (0, Time::MAX),
            streams: [StreamCounters::default(); 2],
            arrived_bytes: 0,
            rtt: Histogram::new(),
            queuing: Histogram::new(),
            then: None,
            goal: if let Traffic::Size(size) = spec.traffic { size.get() } else { u64::MAX },
            traffic: match spec.traffic {
                Traffic::Saturated => Supply::Saturated,
                Traffic::Size(size) => Supply::Size(size.get()),
                Traffic::Rate(rate) => Supply::Rate(rate),
                Traffic::Requests(RequestConfig { connection: Connection::New, .. }) => {
                    Supply::LastResponses(0)
                }
                Traffic::Requests(_) | Traffic::Video(_) => Supply::Responses(0),
            },
            start: spec.start,
            started: false,
            stopped: false,
            writes: 0,
            completed: None,
            warm: None,
            manager: None,
            baseline: None,
            measured: None,
        }
    }

    /// The application starts: the connection opens.
    pub(crate) fn start(&mut self, now: Time, plane: &mut Plane) {
        self.started = true;
        plane.recorder.trace.flow_event(now, EventKind::FlowStart, self.number, f64::NAN);
        match self.traffic {
            Supply::Saturated => self.sender.set_saturated(true),
            // Closed at once: the FIN goes out with the last of the data.
            Supply::Size(bytes) => {
                self.sender.write(bytes);
                self.sender.close();
            }
            Supply::Rate(_) => self.write(now, plane),
            Supply::Responses(_) | Supply::LastResponses(_) => return,
        }
        self.sender.open(now);
        self.pump_sender(now, Awaited::Application, plane);
    }

    /// The application stops: what it wrote is still sent, then the connection closes.
    pub(crate) fn stop(&mut self, now: Time, plane: &mut Plane) {
        self.stopped = true;
        plane.recorder.trace.flow_event(now, EventKind::FlowStop, self.number, f64::NAN);
        self.sender.set_saturated(false);
        self.sender.close();
        self.pump_sender(now, Awaited::Application, plane);
        self.end_measure(now, plane);
    }

    /// A rate-limited application writes one segment's worth and plans its next write, so many that the sum keeps to
    /// the rate without drift.
    pub(crate) fn write(&mut self, now: Time, plane: &mut Plane) {
        let Supply::Rate(rate) = self.traffic else { return };
        // The write that was planned before the stop is still in the queue.
        if self.stopped {
            return;
        }
        let bytes = u64::from(self.sender.config().mss);
        self.sender.write(bytes);
        self.writes += 1;
        plane.schedule(self.start + write_offset(rate, bytes, self.writes), Event::Write(self.number as u32));
        self.pump_sender(now, Awaited::Application, plane);
    }

    /// A data segment has reached the receiver in `frame`. `warm`: the warm-up is over.
    #[inline]
    pub(crate) fn receive_data(
        &mut self,
        now: Time,
        segment: &Segment,
        frame: &Frame<Packet>,
        warm: bool,
        plane: &mut Plane,
    ) {
        self.streams[DATA].arrived += 1;
        self.arrived_bytes += u64::from(frame.size());
        if warm && segment.len > 0 {
            self.queuing.record(frame.waited());
        }
        // The acknowledgement that this segment calls for, at once or delayed, names by its tag the segment that it
        // answers: the earliest since the last acknowledgement, or this one. No other need be remembered.
        let latest = (segment.tag, frame.packet.sent_at);
        if self.unanswered.0 == 0 {
            self.unanswered = latest;
        }
        // A copy only where a manager may rewrite it.
        if self.manager.is_some() {
            let mut seen = *segment;
            self.manage_incoming(now, &mut seen, Beside::Receiver, plane);
            self.receiver.handle_segment(now, &seen);
        } else {
            self.receiver.handle_segment(now, segment);
        }
        self.pump_receiver(now, Some(latest), plane);
        if self.receiver.delivered() >= self.goal {
            self.reach(now, plane);
        }
    }

    /// What the receiving application waits for has been delivered.
    #[cold]
    fn reach(&mut self, now: Time, plane: &mut Plane) {
        self.goal = u64::MAX;
        if let Some(event) = self.then {
            return plane.schedule(now, event);
        }
        self.completed = Some(now);
        plane.recorder.trace.flow_event(now, EventKind::Completed, self.number, f64::NAN);
        self.end_measure(now, plane);
    }

    /// The server writes a response of `bytes`, over a connection that the first one opens. Returns where in the flow's data it
    /// ends; `None`: the application has stopped.
    pub(crate) fn respond(&mut self, now: Time, bytes: u64, plane: &mut Plane) -> Option<u64> {
        let (Supply::Responses(written) | Supply::LastResponses(written)) = &mut self.traffic else {
            return None;
        };
        if self.stopped {
            return None;
        }
        *written += bytes;
        let end = *written;
        self.sender.write(bytes);
        if let Supply::LastResponses(_) = self.traffic {
            self.sender.close();
        }
        self.sender.open(now);
        self.pump_sender(now, Awaited::Application, plane);
        Some(end)
    }

    /// Both hosts forget their connection before a new one under `control`, that of other ports; what they counted goes on.
    pub(crate) fn renew(&mut self, now: Time, control: Box<dyn CongestionControl>, plane: &mut Plane) {
        self.renew_manager(now, plane);
        self.receiver_hook = control.receiver_hook();
        self.sender.renew(control);
        self.receiver.renew();
        self.unanswered = (0, Time::MAX);
    }

    /// `event` is to happen when so much has been delivered in all; `u64::MAX`: never.
    pub(crate) fn wait_for_delivery(&mut self, delivered: u64, event: Event) {
        (self.goal, self.then) = (delivered, Some(event));
    }

    /// The number of its stream of data, or of acknowledgements.
    pub(crate) fn stream(&self, direction: usize) -> u32 {
        (2 * self.number + direction) as u32
    }

    /// Asks for the memory of one end.
    #[inline]
    pub(crate) fn prefetch(&self, sender: bool) {
        prefetch(self, 2);
        if sender {
            prefetch(&self.rtt, 2);
            self.sender.prefetch();
        } else {
            prefetch(&self.queuing, 2);
            self.receiver.prefetch();
        }
    }

    /// Asks for what one end points to, its own memory being at hand.
    #[inline]
    pub(crate) fn prefetch_depth(&self, sender: bool) {
        if sender {
            self.rtt.prefetch_latest();
            self.sender.prefetch_depth();
        } else {
            self.queuing.prefetch_latest();
            self.receiver.prefetch_depth();
        }
    }

    /// Whether the receiver has the connection open and expects data.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.receiver.state(), ReceiverState::SynReceived | ReceiverState::Established)
    }

    /// An acknowledgement has reached the sender.
    #[inline]
    pub(crate) fn receive_ack(
        &mut self,
        now: Time,
        segment: &Segment,
        frame: &Frame<Packet>,
        warm: bool,
        plane: &mut Plane,
    ) {
        self.streams[ACKS].arrived += 1;
        // `MAX`: it answers no data (the handshake, a manager's own acknowledgement).
        if warm && frame.packet.sent_at != Time::MAX {
            self.rtt.record(now - frame.packet.sent_at);
        }
        if self.manager.is_some() {
            let mut seen = *segment;
            self.manage_incoming(now, &mut seen, Beside::Sender, plane);
            self.sender.handle_segment(now, &seen);
        } else {
            self.sender.handle_segment(now, segment);
        }
        self.pump_sender(now, Awaited::Nothing, plane);
    }

    /// The timer entry of `end` is due. Returns whether the end was called, or its timer had moved on meanwhile.
    pub(crate) fn timer(&mut self, now: Time, end: usize, plane: &mut Plane) -> bool {
        if self.armed[end] != now {
            return false;
        }
        // Of the entries that earlier ones have overtaken the nearest is remembered: a timer that was put off to that time
        // or beyond needs no new one.
        self.armed[end] = std::mem::replace(&mut self.armed_after[end], Time::MAX);
        let due = if end == SENDER { self.sender.poll_timeout() } else { self.receiver.poll_timeout() };
        // The timer was put off since this entry was made, as it is at nearly every acknowledgement. That costs an entry
        // only now, not at each of them.
        if due > now {
            self.arm(end, due, plane);
            return false;
        }
        if end == SENDER {
            let awaited = self.expire(now);
            self.pump_sender(now, awaited, plane);
        } else {
            self.receiver.handle_timeout(now);
            self.pump_receiver(now, None, plane);
        }
        true
    }

    /// The sender's timer expires. Returns what it was that the sender had waited for.
    fn expire(&mut self, now: Time) -> Awaited {
        let (is_paced, probes) = (self.sender.awaits_pacer(), self.sender.stats().window_probes);
        self.sender.handle_timeout(now);
        if is_paced {
            Awaited::Window
        } else if self.sender.state().peer_window == 0 || self.sender.stats().window_probes > probes {
            Awaited::Receiver
        } else {
            Awaited::Timeout
        }
    }

    /// The radio beside the sender reports.
    pub(crate) fn link_event(&mut self, now: Time, event: LinkEvent, plane: &mut Plane) {
        if self.is_active() {
            self.sender.handle_link_event(now, event);
            self.pump_sender(now, Awaited::Window, plane);
        }
    }

    /// ICMP destination unreachable has reached the sender's host, about the segment that begins with `seq`.
    pub(crate) fn unreachable(&mut self, now: Time, seq: SeqNumber, plane: &mut Plane) {
        if self.is_active() {
            plane.recorder.trace.flow_event(now, EventKind::Unreachable, self.number, self.cwnd_segments());
            self.sender.handle_unreachable(now, seq);
            self.pump_sender(now, Awaited::Window, plane);
        }
    }

    /// Sends what the sender has to send, then sets its timer. `awaited` is what it has waited for; nothing: its window tells.
    #[inline]
    fn pump_sender(&mut self, now: Time, mut awaited: Awaited, plane: &mut Plane) {
        while let Some(segment) = &mut self.sender.poll_transmit(now) {
            if awaited == Awaited::Nothing {
                awaited = self.limit();
            }
            self.manage_outgoing(now, segment, Beside::Sender);
            // The handshake, FINs and pure ACKs give no round-trip sample.
            let sent_at = if segment.len > 0 { now } else { Time::MAX };
            self.streams[DATA].injected += 1;
            plane.send_segment(now, 2 * self.number as u32, segment, sent_at, awaited);
        }
        // After sending, so that an event is recorded with the window that it led to.
        while let Some(event) = self.sender.poll_event() {
            self.record(now, event, plane);
        }
        let due = self.sender.poll_timeout();
        self.arm(SENDER, due, plane);
    }

    /// Sends what the receiver has to send, then sets its timer. `latest` is the segment that arrived last.
    #[inline]
    fn pump_receiver(&mut self, now: Time, latest: Option<(u32, Time)>, plane: &mut Plane) {
        while let Some(segment) = &mut self.receiver.poll_transmit(now) {
            let sent_at = self.answered(segment, latest);
            self.manage_outgoing(now, segment, Beside::Receiver);
            self.streams[ACKS].injected += 1;
            plane.send_segment(now, 2 * self.number as u32 + 1, segment, sent_at, Awaited::Nothing);
        }
        // Of the receiver's events none is recorded; left there, they would pile up.
        while self.receiver.poll_event().is_some() {}
        let due = self.receiver.poll_timeout();
        self.arm(RECEIVER, due, plane);
    }

    /// When the segment was sent that `ack` answers, by its tag; `Time::MAX` when it is none that is remembered.
    #[inline]
    fn answered(&mut self, ack: &Segment, latest: Option<(u32, Time)>) -> Time {
        // Taken by every acknowledgement, also by one that names neither: what it covers is answered.
        let earliest = std::mem::replace(&mut self.unanswered, (0, Time::MAX));
        let named = |candidate: &(u32, Time)| ack.tag != 0 && candidate.0 == ack.tag;
        Some(earliest).filter(named).or(latest.filter(named)).map_or(Time::MAX, |(_, sent_at)| sent_at)
    }

    /// Makes sure that an entry of `end`'s timer is due no later than `due`. An entry that comes too early moves itself.
    #[inline]
    fn arm(&mut self, end: usize, due: Time, plane: &mut Plane) {
        if due < self.armed[end] {
            self.armed_after[end] = std::mem::replace(&mut self.armed[end], due);
            plane.schedule(due, Event::Timer((2 * self.number + end) as u32));
        }
    }

    #[cold]
    fn record(&mut self, now: Time, event: TransportEvent, plane: &mut Plane) {
        let kind = match event {
            TransportEvent::Connected => EventKind::Connected,
            TransportEvent::Rto { .. } => EventKind::Rto,
            TransportEvent::SpuriousRto { .. } => EventKind::SpuriousRto,
            TransportEvent::FastRetransmit => EventKind::FastRetransmit,
            TransportEvent::EcnReduction => EventKind::EcnReduction,
            TransportEvent::RecoveryExit { .. } => EventKind::RecoveryExit,
            TransportEvent::ZeroWindow => EventKind::ZeroWindow,
            TransportEvent::WindowOpened => EventKind::WindowOpen,
            TransportEvent::Closed => EventKind::Closed,
            TransportEvent::Aborted => EventKind::Aborted,
            TransportEvent::WindowProbe | TransportEvent::Finished => return,
        };
        plane.recorder.trace.flow_event(now, kind, self.number, self.cwnd_segments());
    }

    /// The congestion window in segments.
    pub(crate) fn cwnd_segments(&self) -> f64 {
        let state = self.sender.state();
        state.cwnd as f64 / state.mss.max(1) as f64
    }

    /// Whether the flow has started and its connection is not over.
    pub(crate) fn is_active(&self) -> bool {
        self.started && !self.sender.is_closed()
    }

    /// Whether the flow has started.
    pub(crate) fn has_started(&self) -> bool {
        self.started
    }

    /// What keeps a sender that has data to send from sending more.
    #[inline]
    fn limit(&self) -> Awaited {
        if self.sender.is_window_limited_by_peer() { Awaited::Receiver } else { Awaited::Window }
    }
}

/// Time from the start of a rate-limited application to its write number `writes`.
fn write_offset(rate: Rate, bytes: u64, writes: u64) -> Duration {
    // From the start, not from the write before: rounded intervals would add up. What saturates is beyond any run.
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
        assert!(offset_of!(Flow, sender) <= 128, "all before the sender is what every packet needs");
    }

    /// 1000-byte writes at 3 Mbit/s: 2.666... ms apart, without drift after a million of them.
    #[test]
    fn writes_keep_to_the_rate() {
        let rate = Rate::from_bits_per_second(3_000_000);
        assert_eq!(write_offset(rate, 1000, 1), Duration::from_nanos(2_666_666));
        assert_eq!(write_offset(rate, 1000, 3_000_000), Duration::from_secs(8000));
    }
}
