//! TCP's two ends of a flow, with what belongs to TCP alone.

use super::managed::Managed;
use super::{ACKS, DATA, Delivery, Ends, Flow};
use crate::freeze::Beside;
use crate::{End, Plane};
use cogtcp_network::{Awaited, impossible};
use cogtcp_records::EventKind;
use cogtcp_scenario::TcpSpec;
use cogtcp_transport::{
    CongestionControl, ControlExtension, Receiver, ReceiverHook, ReceiverState, Segment, Sender, SeqNumber,
    TransportEvent,
};
use cogtcp_units::Time;
use std::sync::Arc;

/// Both ends of a TCP connection. What every packet needs comes first.
#[derive(Debug)]
#[repr(C)]
pub struct Tcp {
    /// The connection manager beside the end that sits on a train, and how long it has held the source.
    pub(super) manager: Option<Box<Managed>>,
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
    pub(super) fn limit(&self) -> Awaited {
        if self.sender.is_window_limited_by_peer() { Awaited::Receiver } else { Awaited::Window }
    }

    /// The sender's timer expires. Returns what it was that the sender had waited for.
    fn expire(&mut self, now: Time) -> Awaited {
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

impl Flow {
    /// A data segment has reached the receiver.
    #[inline]
    pub fn receive_data(&mut self, now: Time, segment: &Segment, delivery: Delivery, plane: &mut impl Plane) {
        self.counters[DATA].arrived += 1;
        self.arrived_bytes += u64::from(delivery.size);
        if delivery.is_measured && segment.len > 0 {
            self.queuing.record(delivery.waited);
        }
        let Ends::Tcp(tcp) = &mut self.ends else { return impossible("a flow over another transport") };
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
            tcp.manage_incoming(now, &mut seen, Beside::Receiver, self.number, plane);
            tcp.receiver.handle_segment(now, &seen);
        } else {
            tcp.receiver.handle_segment(now, segment);
        }
        let delivered = tcp.receiver.delivered();
        self.pump_receiver(now, Some(latest), plane);
        if delivered >= self.goal {
            self.reach(now, plane);
        }
    }

    /// An acknowledgement has reached the sender.
    #[inline]
    pub fn receive_ack(&mut self, now: Time, segment: &Segment, delivery: Delivery, plane: &mut impl Plane) {
        self.counters[ACKS].arrived += 1;
        // `MAX`: it answers no data (the handshake, a manager's own acknowledgement).
        if delivery.is_measured && delivery.sent_at != Time::MAX {
            self.rtt.record(now - delivery.sent_at);
        }
        let Ends::Tcp(tcp) = &mut self.ends else { return impossible("a flow over another transport") };
        if tcp.manager.is_some() {
            let mut seen = *segment;
            tcp.manage_incoming(now, &mut seen, Beside::Sender, self.number, plane);
            tcp.sender.handle_segment(now, &seen);
        } else {
            tcp.sender.handle_segment(now, segment);
        }
        self.pump_sender(now, Awaited::Nothing, plane);
    }

    /// The timer of TCP's `end` is due.
    pub(super) fn expire_tcp(&mut self, now: Time, end: End, plane: &mut impl Plane) {
        let Ends::Tcp(tcp) = &mut self.ends else { return impossible("a flow over another transport") };
        if end == End::Sender {
            let awaited = tcp.expire(now);
            self.pump_sender(now, awaited, plane);
        } else {
            tcp.receiver.handle_timeout(now);
            self.pump_receiver(now, None, plane);
        }
    }

    /// ICMP destination unreachable has reached the sender's host, about the segment that begins with `seq`.
    pub fn unreachable(&mut self, now: Time, seq: SeqNumber, plane: &mut impl Plane) {
        let is_active = self.is_active();
        let Ends::Tcp(tcp) = &mut self.ends else { return impossible("a flow over another transport") };
        if is_active {
            plane.record_event(now, EventKind::Unreachable, self.number, tcp.cwnd_segments());
            tcp.sender.handle_unreachable(now, seq);
            self.pump_sender(now, Awaited::Window, plane);
        }
    }

    /// Both hosts forget their connection before a new one under `control`, between other ports. Their counts
    /// go on.
    pub fn renew(&mut self, now: Time, mut control: Box<dyn CongestionControl>, plane: &mut impl Plane) {
        self.renew_manager(now, plane);
        let Ends::Tcp(tcp) = &mut self.ends else { return impossible("a flow over another transport") };
        tcp.receiver_hook = control.extension().and_then(ControlExtension::receiver_hook);
        tcp.sender.renew(control);
        tcp.receiver.renew();
        tcp.unanswered = (0, Time::MAX);
    }

    /// Sends what the sender has to send, then sets its timer. `awaited` is what it has waited for; nothing:
    /// its window tells.
    #[inline]
    pub(super) fn pump_sender(&mut self, now: Time, mut awaited: Awaited, plane: &mut impl Plane) {
        let Ends::Tcp(tcp) = &mut self.ends else { return impossible("a flow over another transport") };
        while let Some(segment) = &mut tcp.sender.poll_transmit(now) {
            if awaited == Awaited::Nothing {
                awaited = tcp.limit();
            }
            tcp.manage_outgoing(now, segment, Beside::Sender);
            // The handshake, FINs and pure ACKs give no round-trip sample.
            let sent_at = if segment.len > 0 { now } else { Time::MAX };
            self.counters[DATA].injected += 1;
            plane.send_segment(now, self.ids[DATA], segment, sent_at, awaited);
            if tcp.sender.is_full() {
                debug_assert!(tcp.sender.poll_transmit(now).is_none(), "a full window lets nothing go");
                break;
            }
        }
        // After sending, so that an event is recorded with the window that it led to.
        while let Some(event) = tcp.sender.poll_event() {
            record(now, event, self.number, tcp, plane);
        }
        let due = tcp.sender.poll_timeout();
        self.arm(End::Sender, due, plane);
    }

    /// Sends what the receiver has to send, then sets its timer. `latest` is the segment that arrived last.
    #[inline]
    fn pump_receiver(&mut self, now: Time, latest: Option<(u32, Time)>, plane: &mut impl Plane) {
        let Ends::Tcp(tcp) = &mut self.ends else { return impossible("a flow over another transport") };
        let segment = &mut Segment::default();
        while tcp.receiver.poll_transmit_into(now, segment) {
            let sent_at = tcp.answered(segment, latest);
            tcp.manage_outgoing(now, segment, Beside::Receiver);
            self.counters[ACKS].injected += 1;
            plane.send_segment(now, self.ids[ACKS], segment, sent_at, Awaited::Nothing);
        }
        // Of the receiver's events none is recorded; left there, they would pile up.
        while tcp.receiver.poll_event().is_some() {}
        let due = tcp.receiver.poll_timeout();
        self.arm(End::Receiver, due, plane);
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
