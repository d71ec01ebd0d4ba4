//! TCP's two ends of a flow, with what belongs to TCP alone.

mod managed;

use super::shared::{Shared, Snapshot};
use super::verbs::BothEnds;
use super::{ACKS, DATA, Delivery, Flow};
use crate::ends::UNKNOWN;
use crate::freeze::Beside;
use crate::{End, Plane};
use cogtcp_endpoint::{PathId, Supply};
use cogtcp_network::{Awaited, impossible};
use cogtcp_records::EventKind;
use cogtcp_records::tables::FlowSample;
use cogtcp_scenario::TcpSpec;
use cogtcp_transport::{
    CongestionControl, ControlExtension, LinkEvent, Receiver, ReceiverHook, ReceiverState, Segment, Sender,
    SeqNumber, TransportEvent,
};
use cogtcp_units::Time;
use managed::Managed;
use std::sync::Arc;

/// Both ends of a TCP connection. What every packet needs comes first.
#[derive(Debug)]
#[repr(C)]
pub struct Tcp {
    /// The connection manager beside the end that sits on a train, and how long it has held the source.
    manager: Option<Box<Managed>>,
    /// Tag of the earliest data segment that no acknowledgement has answered, and when it was sent. No
    /// segment has tag 0.
    unanswered: (u32, Time),
    /// The sending end.
    pub sender: Sender,
    /// The receiving end.
    pub receiver: Receiver,
    /// The receiver's part of the congestion control.
    pub receiver_hook: Option<Box<dyn ReceiverHook>>,
}

impl Tcp {
    /// Both ends of `spec` at rest.
    pub fn new(spec: &TcpSpec, mut control: Box<dyn CongestionControl>) -> Self {
        Self {
            manager: None,
            unanswered: (0, Time::MAX),
            // Before the sender takes the control: both parts of it come from one object.
            receiver_hook: control.extension().and_then(ControlExtension::receiver_hook),
            sender: Sender::new(Arc::clone(&spec.sender), control),
            receiver: Receiver::new(Arc::clone(&spec.receiver)),
        }
    }

    /// What keeps a sender that has data to send from sending more.
    #[inline]
    fn limit(&self) -> Awaited {
        if self.sender.is_window_limited_by_peer() { Awaited::Receiver } else { Awaited::Window }
    }

    /// The sender's timer expires. Returns what it was that the sender had waited for.
    fn expire_sender(&mut self, now: Time) -> Awaited {
        // Asked before the timeout, which changes both.
        let (is_paced, persists) = (self.sender.awaits_pacer(), self.sender.awaits_window());
        self.sender.handle_timeout(now);
        if is_paced {
            Awaited::Window
        } else if persists {
            Awaited::Receiver
        } else {
            Awaited::Timeout
        }
    }

    /// When the segment was sent that `ack` answers, by its tag; `Time::MAX` when it is none that is
    /// remembered.
    #[inline]
    fn answered(&mut self, ack: &Segment, latest: Option<(u32, Time)>) -> Time {
        // Taken by every acknowledgement, also by one that names neither: what it covers is answered.
        let earliest = std::mem::replace(&mut self.unanswered, (0, Time::MAX));
        let named = |candidate: &(u32, Time)| ack.tag != 0 && candidate.0 == ack.tag;
        Some(earliest).filter(named).or(latest.filter(named)).map_or(Time::MAX, |(_, sent_at)| sent_at)
    }

    /// The congestion window in segments.
    pub fn cwnd_segments(&self) -> f64 {
        let state = self.sender.state();
        state.cwnd as f64 / state.mss.max(1) as f64
    }

    /// Whether the receiver has the connection open and expects data.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.receiver.state(), ReceiverState::SynReceived | ReceiverState::Established)
    }
}

impl Tcp {
    /// Sends what the sender has to send, then sets its timer. `awaited` is what it has waited for; nothing:
    /// its window tells.
    #[inline]
    fn pump_sender(&mut self, now: Time, mut awaited: Awaited, hosts: &mut Shared, plane: &mut impl Plane) {
        let mut is_done = self.sender.is_held(now);
        while !is_done && let Some(segment) = &mut self.sender.poll_transmit(now) {
            if awaited == Awaited::Nothing {
                awaited = self.limit();
            }
            self.manage_outgoing(now, segment, Beside::Sender);
            // The handshake, FINs and pure ACKs give no round-trip sample.
            let sent_at = if segment.len > 0 { now } else { Time::MAX };
            hosts.counters[DATA].injected += 1;
            plane.send_segment(now, hosts.ids[DATA], segment, sent_at, awaited);
            is_done = self.sender.is_done(now);
        }
        debug_assert!(!is_done || self.sender.poll_transmit(now).is_none(), "nothing may go");
        // After sending, so that an event is recorded with the window that it led to.
        while let Some(event) = self.sender.poll_event() {
            record(now, event, hosts.number, self, plane);
        }
        if hosts.needs_entry(End::Sender, self.sender.earliest_timeout()) {
            hosts.arm(End::Sender, self.sender.poll_timeout(), plane);
        }
    }

    /// Sends what the receiver has to send, then sets its timer. `latest` is the segment that arrived last.
    #[inline]
    fn pump_receiver(
        &mut self,
        now: Time,
        latest: Option<(u32, Time)>,
        hosts: &mut Shared,
        plane: &mut impl Plane,
    ) {
        let segment = &mut Segment::default();
        while self.receiver.poll_transmit_into(now, segment) {
            let sent_at = self.answered(segment, latest);
            self.manage_outgoing(now, segment, Beside::Receiver);
            hosts.counters[ACKS].injected += 1;
            plane.send_segment(now, hosts.ids[ACKS], segment, sent_at, Awaited::Nothing);
        }
        // Of the receiver's events none is recorded; left there, they would pile up.
        while self.receiver.poll_event().is_some() {}
        let due = self.receiver.poll_timeout();
        hosts.arm(End::Receiver, due, plane);
    }
}

impl BothEnds for Tcp {
    fn offer(
        &mut self,
        now: Time,
        what: Supply,
        (opens, is_last): (bool, bool),
        hosts: &mut Shared,
        plane: &mut impl Plane,
    ) {
        match what {
            Supply::Saturated(on) => self.sender.set_saturated(on),
            Supply::Bytes(bytes) | Supply::Message(bytes) => self.sender.write(bytes),
        }
        // Closed at once: the FIN goes out with the last of the data.
        if is_last {
            self.sender.close();
        }
        if opens {
            self.sender.open(now);
        }
        self.pump_sender(now, Awaited::Application, hosts, plane);
    }

    fn close(&mut self, now: Time, hosts: &mut Shared, plane: &mut impl Plane) {
        self.sender.close();
        self.pump_sender(now, Awaited::Application, hosts, plane);
    }

    fn due(&mut self, end: End) -> Time {
        if end == End::Sender { self.sender.poll_timeout() } else { self.receiver.poll_timeout() }
    }

    fn expire(&mut self, now: Time, end: End, hosts: &mut Shared, plane: &mut impl Plane) {
        if end == End::Sender {
            let awaited = self.expire_sender(now);
            self.pump_sender(now, awaited, hosts, plane);
        } else {
            self.receiver.handle_timeout(now);
            self.pump_receiver(now, None, hosts, plane);
        }
    }

    fn link_event(&mut self, now: Time, event: LinkEvent, hosts: &mut Shared, plane: &mut impl Plane) {
        if self.sender.handle_link_event(now, event) {
            self.pump_sender(now, Awaited::Window, hosts, plane);
        }
    }

    fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    fn awaits(&self, _path: PathId, hosts: &Shared, plane: &impl Plane) -> Awaited {
        let (has_unsent, flight) = (self.sender.has_unsent(), self.sender.state().flight_size);
        if !has_unsent && flight == 0 {
            return Awaited::Application;
        }
        let under_way = |stream: usize| {
            let counters = hosts.counters[stream];
            counters.injected - counters.arrived - plane.dropped(hosts.ids[stream])
        };
        // With nothing in the network no acknowledgement can come: only the timer helps.
        if under_way(DATA) + under_way(ACKS) == 0 && flight > 0 {
            return Awaited::Timeout;
        }
        if has_unsent { self.limit() } else { Awaited::Application }
    }

    fn counts(&self) -> Snapshot {
        let tcp = *self.sender.stats();
        Snapshot { sent: tcp.segments_sent, resent: tcp.segments_retransmitted, tcp, ..Snapshot::default() }
    }

    fn received(&self) -> (u64, u64) {
        let stats = self.receiver.stats();
        // Data without room was carried in vain, as duplicates are: the budget counts both as one.
        (stats.bytes, stats.duplicate_bytes + stats.out_of_window_bytes)
    }

    fn delivered(&self) -> u64 {
        self.receiver.delivered()
    }

    fn segment_size(&self) -> u32 {
        self.sender.config().handshake.mss
    }

    fn sample(&self) -> FlowSample {
        let state = self.sender.state();
        let mss = state.mss.max(1) as f64;
        // Without a loss so far the threshold is arbitrarily high (RFC 5681): no number.
        let is_set = state.ssthresh < u64::MAX;
        FlowSample {
            cwnd_segments: self.cwnd_segments(),
            ssthresh_segments: if is_set { state.ssthresh as f64 / mss } else { f64::NAN },
            srtt_s: if state.srtt.is_zero() { f64::NAN } else { state.srtt.as_secs_f64() },
            in_flight_segments: state.in_flight as f64 / mss,
            ..UNKNOWN
        }
    }

    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        self.sender.control().observe(self.sender.state(), show);
    }

    #[inline]
    fn prefetch(&self, end: End) {
        if end == End::Sender { self.sender.prefetch() } else { self.receiver.prefetch() }
    }

    #[inline]
    fn prefetch_depth(&self, end: End) {
        if end == End::Sender { self.sender.prefetch_depth() } else { self.receiver.prefetch_depth() }
    }
}

const OTHER: &str = "a flow over another transport";

impl Flow {
    /// A data segment has reached the receiver.
    #[inline]
    pub fn receive_data(&mut self, now: Time, segment: &Segment, delivery: Delivery, plane: &mut impl Plane) {
        let hosts = &mut self.shared;
        hosts.counters[DATA].arrived += 1;
        hosts.arrived_bytes += u64::from(delivery.size);
        if delivery.is_measured && segment.len > 0 {
            self.queuing.record(delivery.waited);
        }
        let Some(tcp) = self.ends.tcp_mut() else { return impossible(OTHER) };
        // The acknowledgement that this segment calls for, at once or delayed, names by its tag the segment
        // that it answers: the earliest since the last acknowledgement, or this one. No other need be
        // remembered.
        let latest = (segment.tag, delivery.sent_at);
        if tcp.unanswered.0 == 0 {
            tcp.unanswered = latest;
        }
        // A copy only where a manager may rewrite it.
        if tcp.manager.is_some() {
            let mut seen = *segment;
            tcp.manage_incoming(now, &mut seen, Beside::Receiver, hosts.number, plane);
            tcp.receiver.handle_segment(now, &seen);
        } else {
            tcp.receiver.handle_segment(now, segment);
        }
        let delivered = tcp.receiver.delivered();
        tcp.pump_receiver(now, Some(latest), hosts, plane);
        if delivered >= self.goal {
            self.reach(now, plane);
        }
    }

    /// An acknowledgement has reached the sender.
    #[inline]
    pub fn receive_ack(&mut self, now: Time, segment: &Segment, delivery: Delivery, plane: &mut impl Plane) {
        let hosts = &mut self.shared;
        hosts.counters[ACKS].arrived += 1;
        // `MAX`: it answers no data (the handshake, a manager's own acknowledgement).
        if delivery.is_measured && delivery.sent_at != Time::MAX {
            self.rtt.record(now - delivery.sent_at);
        }
        let Some(tcp) = self.ends.tcp_mut() else { return impossible(OTHER) };
        if tcp.manager.is_some() {
            let mut seen = *segment;
            tcp.manage_incoming(now, &mut seen, Beside::Sender, hosts.number, plane);
            tcp.sender.handle_segment(now, &seen);
        } else {
            tcp.sender.handle_segment(now, segment);
        }
        tcp.pump_sender(now, Awaited::Nothing, hosts, plane);
    }

    /// ICMP destination unreachable has reached the sender's host, about the segment that begins with `seq`.
    pub fn unreachable(&mut self, now: Time, seq: SeqNumber, plane: &mut impl Plane) {
        let is_active = self.is_active();
        let Some(tcp) = self.ends.tcp_mut() else { return impossible(OTHER) };
        if is_active {
            plane.record_event(now, EventKind::Unreachable, self.shared.number, tcp.cwnd_segments());
            tcp.sender.handle_unreachable(now, seq);
            tcp.pump_sender(now, Awaited::Window, &mut self.shared, plane);
        }
    }

    /// Both hosts forget their connection before a new one under `control`, between other ports. Their counts
    /// go on.
    pub fn renew(&mut self, now: Time, mut control: Box<dyn CongestionControl>, plane: &mut impl Plane) {
        let Some(tcp) = self.ends.tcp_mut() else { return impossible(OTHER) };
        tcp.renew_manager(now, self.shared.number, plane);
        tcp.receiver_hook = control.extension().and_then(ControlExtension::receiver_hook);
        tcp.sender.renew(control);
        tcp.receiver.renew();
        tcp.unanswered = (0, Time::MAX);
    }
}

#[cold]
fn record(now: Time, event: TransportEvent, flow: u32, tcp: &Tcp, plane: &mut impl Plane) {
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
    plane.record_event(now, kind, flow, tcp.cwnd_segments());
}
