//! The simulated plane: the network with the packets of this simulator, and the record of what happens in it.

use crate::event::Event;
use crate::packet::{Body, Packet, UdpDatagram};
use crate::recorder::Recorder;
use cogtcp_endpoint::PathId;
use cogtcp_hosts::Wake;
use cogtcp_link::Capacity;
use cogtcp_network::{Awaited, Network, StreamId};
use cogtcp_records::EventKind;
use cogtcp_transport::Segment;
use cogtcp_units::Time;

/// What hosts act on.
#[derive(Debug)]
pub(crate) struct Plane {
    pub(crate) network: Network<Packet>,
    pub(crate) recorder: Recorder,
}

impl Plane {
    /// A host waits for `event`.
    #[inline]
    pub(crate) fn schedule(&mut self, time: Time, event: Event) {
        self.network.agenda().push_host(time, event.code());
    }

    /// A measurement takes place at `time`, before all else at that instant.
    pub(crate) fn schedule_measurement(&mut self, time: Time, event: Event) {
        self.network.declare_look(time);
        self.network.agenda().push_measurement(time, event.code());
    }

    /// A flow starts or stops at `time`.
    pub(crate) fn schedule_flow(&mut self, time: Time, event: Event) {
        self.network.declare_look(time);
        self.schedule(time, event);
    }

    /// An application sends a datagram on `stream`.
    pub(crate) fn send_udp(&mut self, now: Time, stream: StreamId, datagram: UdpDatagram) {
        self.send(now, stream, Body::Udp(datagram), datagram.len + cogtcp_endpoint::Datagram::HEADERS);
    }

    /// A host sends a packet of `size` bytes that is no TCP segment on `stream`.
    pub(crate) fn send(&mut self, now: Time, stream: StreamId, body: Body, size: u32) {
        self.network.offer(now, stream, Packet::new(body, now), size, &mut self.recorder);
    }

    /// Returns the link directions that may be the bottleneck of `stream`: its path, unless the path crosses
    /// an ad hoc network.
    fn links(&self, stream: StreamId) -> Vec<u32> {
        // What an ad hoc network can carry is no number of a link: such a path has no bottleneck among links.
        if self.network.crosses_air(stream) { Vec::new() } else { self.network.route(stream).collect() }
    }
}

impl cogtcp_hosts::Plane for Plane {
    #[inline]
    fn wake(&mut self, at: Time, flow: u32, why: Wake) {
        self.schedule(at, Event::of(flow, why));
    }

    #[inline]
    fn send_segment(
        &mut self,
        now: Time,
        stream: StreamId,
        segment: &Segment,
        sent_at: Time,
        awaited: Awaited,
    ) {
        let size = segment.wire_size();
        let mut packet = self.recorder.options.pack(segment, sent_at, size);
        packet.awaited = awaited;
        self.network.offer(now, stream, packet, size, &mut self.recorder);
    }

    fn send_datagram(
        &mut self,
        now: Time,
        stream: StreamId,
        datagram: cogtcp_endpoint::Datagram,
        ecn_capable: bool,
        awaited: Awaited,
    ) {
        let size = datagram.wire_size();
        let mut packet = self.recorder.datagrams.pack(datagram, now, ecn_capable);
        packet.awaited = awaited;
        self.network.offer(now, stream, packet, size, &mut self.recorder);
    }

    fn send_request(&mut self, now: Time, stream: StreamId, number: u32, len: u32) {
        self.send_udp(now, stream, UdpDatagram { number, len });
    }

    fn record_event(&mut self, now: Time, kind: EventKind, flow: u32, value: f64) {
        self.recorder.trace.flow_event(now, kind, flow, value);
    }

    fn record_path_event(&mut self, now: Time, kind: EventKind, at: (u32, PathId), value: f64) {
        self.recorder.trace.path_event(now, kind, at, value);
    }

    fn dropped(&self, stream: StreamId) -> u64 {
        self.network.dropped(stream)
    }

    fn begin_span(
        &mut self,
        now: Time,
        stream: StreamId,
        awaited: impl FnOnce(&Self) -> Awaited,
        available: &mut Vec<u128>,
    ) {
        self.network.look_now(now, &mut self.recorder);
        let awaited = awaited(self);
        self.network.begin_budget(now, stream, awaited);
        let links = self.links(stream);
        available
            .extend(links.iter().map(|direction| self.network.direction(*direction).capacity(now).available));
    }

    fn end_span(
        &mut self,
        now: Time,
        stream: StreamId,
        awaited: impl FnOnce(&Self) -> Awaited,
        before: &mut std::slice::Iter<'_, u128>,
    ) -> Option<(u32, f64)> {
        self.network.look_now(now, &mut self.recorder);
        let awaited = awaited(self);
        self.network.end_budget(now, stream, awaited);
        let links = self.links(stream);
        let capacities = links.iter().zip(before).map(|(direction, before)| {
            (self.network.direction(*direction).capacity(now).available - before, *direction)
        });
        // The least capacity; among equals the link direction of the lowest number.
        capacities.min().map(|(available, direction)| (direction, Capacity::bytes(available)))
    }
}
