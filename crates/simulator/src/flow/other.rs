//! The two ends of a flow whose transport is not TCP: endpoints that exchange datagrams.

use super::{ACKS, DATA, Ends, Flow, RECEIVER, SENDER};
use crate::packet::Packet;
use crate::plane::Plane;
use cogtcp_endpoint::{
    BoxedEndpoint, Datagram, EndpointEvent, Notice, Outgoing, Pair, Progress, Received, Supply, Waiting,
};
use cogtcp_link::Frame;
use cogtcp_network::Awaited;
use cogtcp_records::EventKind;
use cogtcp_units::Time;

/// Both ends of a connection that is not TCP.
#[derive(Debug)]
pub(crate) struct Other {
    pub(crate) sender: BoxedEndpoint,
    pub(crate) receiver: BoxedEndpoint,
    /// Most bytes of application data in a packet.
    pub(super) segment_size: u32,
    /// The sender has said that the connection is over.
    pub(super) is_closed: bool,
}

impl Other {
    /// The ends of `pair`, at rest.
    pub(super) fn new(pair: Pair) -> Self {
        let Pair { sender, receiver, segment_size } = pair;
        Self { sender, receiver, segment_size, is_closed: false }
    }

    fn end(&mut self, end: usize) -> &mut BoxedEndpoint {
        if end == SENDER { &mut self.sender } else { &mut self.receiver }
    }

    /// What the sender waits for.
    pub(super) fn awaited(&self) -> Awaited {
        match self.sender.progress().waiting {
            Waiting::Nothing | Waiting::Application => Awaited::Application,
            Waiting::Window => Awaited::Window,
            Waiting::Receiver => Awaited::Receiver,
            Waiting::Timeout => Awaited::Timeout,
        }
    }

    /// The congestion window in segments; not-a-number where the transport has none.
    pub(crate) fn window_segments(&self, progress: &Progress) -> f64 {
        progress.window_bytes.map_or(f64::NAN, |bytes| self.segments(bytes))
    }

    /// `bytes` in segments.
    pub(crate) fn segments(&self, bytes: u64) -> f64 {
        bytes as f64 / f64::from(self.segment_size.max(1))
    }
}

impl Flow {
    /// A datagram has reached the sender or the receiver in `frame`. `warm`: the warm-up is over.
    pub(crate) fn receive_datagram(
        &mut self,
        now: Time,
        end: usize,
        datagram: &Datagram,
        frame: &Frame<Packet>,
        warm: bool,
        plane: &mut Plane,
    ) {
        let Ends::Other(other) = &mut self.ends else { return };
        if end == RECEIVER {
            self.streams[DATA].arrived += 1;
            self.arrived_bytes += u64::from(frame.size());
            if warm {
                self.queuing.record(frame.waited());
            }
        } else {
            self.streams[ACKS].arrived += 1;
        }
        let awaited = other.awaited();
        let marked = frame.packet.is_marked();
        // A flow has one path; which one a packet took is for transports that use several.
        let received = Received { packet: datagram, path: cogtcp_endpoint::PathId::default(), marked };
        other.end(end).handle_packet(now, received);
        let delivered = other.receiver.progress().delivered_bytes;
        self.pump_other(now, end, awaited, warm, plane);
        if end == RECEIVER && delivered >= self.goal {
            self.reach(now, plane);
        }
    }

    /// The timer of `end` is due.
    pub(super) fn expire_other(&mut self, now: Time, end: usize, plane: &mut Plane) {
        let Ends::Other(other) = &mut self.ends else { return };
        let awaited = other.awaited();
        other.end(end).handle_timeout(now);
        self.pump_other(now, end, awaited, false, plane);
    }

    /// The radio beside the sender reports.
    pub(super) fn notify_other(&mut self, now: Time, notice: Notice, plane: &mut Plane) {
        let Ends::Other(other) = &mut self.ends else { return };
        let awaited = other.awaited();
        other.sender.handle_notice(now, notice);
        self.pump_other(now, SENDER, awaited, false, plane);
    }

    /// The application offers data, and opens the connection with `open`.
    pub(super) fn supply_other(&mut self, now: Time, what: Supply, open: bool, plane: &mut Plane) {
        let Ends::Other(other) = &mut self.ends else { return };
        other.sender.supply(now, what);
        if open {
            other.receiver.open(now);
            other.sender.open(now);
        }
        self.pump_other(now, SENDER, Awaited::Application, false, plane);
    }

    /// The application has no further data.
    pub(super) fn close_other(&mut self, now: Time, plane: &mut Plane) {
        let Ends::Other(other) = &mut self.ends else { return };
        other.sender.supply(now, Supply::Saturated(false));
        other.sender.close(now);
        self.pump_other(now, SENDER, Awaited::Application, false, plane);
    }

    /// Sends what `end` has to send, takes its events, then sets its timer. `awaited` is what the sender had waited for;
    /// `warm`: samples of the round-trip time count.
    fn pump_other(&mut self, now: Time, end: usize, awaited: Awaited, warm: bool, plane: &mut Plane) {
        let Ends::Other(other) = &mut self.ends else { return };
        let awaited = if end == SENDER { awaited } else { Awaited::Nothing };
        let stream = (2 * self.number + end) as u32;
        while let Some(Outgoing { packet, ecn_capable, .. }) = other.end(end).poll_transmit(now) {
            self.streams[end].injected += 1;
            plane.send_datagram(now, stream, packet, ecn_capable, awaited);
        }
        while let Some(event) = other.end(end).poll_event() {
            if let EndpointEvent::RoundTrip(sample) = event {
                if warm {
                    self.rtt.record(sample);
                }
            } else if end == SENDER {
                record(now, event, self.number, other, plane);
            }
        }
        let due = other.end(end).poll_timeout();
        self.arm(end, due, plane);
    }
}

/// Only the sender's events are recorded: one row for each.
fn record(now: Time, event: EndpointEvent, flow: usize, other: &mut Other, plane: &mut Plane) {
    let kind = match event {
        EndpointEvent::Connected => EventKind::Connected,
        EndpointEvent::Timeout => EventKind::Timeout,
        EndpointEvent::Loss => EventKind::Loss,
        EndpointEvent::Closed => {
            other.is_closed = true;
            EventKind::Closed
        }
        EndpointEvent::RoundTrip(_) => return,
    };
    let window = other.window_segments(&other.sender.progress());
    plane.recorder.trace.flow_event(now, kind, flow, window);
}
