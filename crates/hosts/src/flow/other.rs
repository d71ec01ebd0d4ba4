//! A flow whose transport is not TCP: its ends exchange datagrams.

use super::shared::{PathStreams, Shared, Snapshot};
use super::verbs::BothEnds;
use super::{Delivery, Flow};
use crate::multipath::PathCounts;
use crate::quic::QuicCounts;
use crate::{DatagramEnds, End, EndEvent, Plane};
use cogtcp_crosslayer::LinkEvent;
use cogtcp_endpoint::{Datagram, LogEntry, Outgoing, PathId, Received, SpectrumDatabase, Supply};
use cogtcp_multipath::MOST_PATHS;
use cogtcp_network::{Awaited, Reached, StreamCounters, impossible};
use cogtcp_records::Histogram;
use cogtcp_records::tables::FlowSample;
use cogtcp_units::Time;
use std::sync::Arc;

/// The ends of such a flow, with the paths beyond the first.
#[derive(Debug)]
pub(super) struct Other {
    pub(super) ends: DatagramEnds,
    pub(super) further: Vec<PathStreams>,
    /// Counts of the subflows at the end of the warm-up.
    pub(super) warm: PathCounts,
    /// Of each of several paths: its bottleneck, and what arrived over it in the measured span.
    pub(super) measured: Vec<(Option<u32>, Reached)>,
}

/// What the sender had waited for when it was called, on each path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waits {
    /// On whatever path.
    Any(Awaited),
    /// By path.
    Paths([Awaited; MOST_PATHS]),
}

impl Waits {
    /// What the sender waits for, where it is at work; a receiver's packets do not say.
    fn of(end: End, other: &Other) -> Self {
        if end == End::Receiver {
            return Self::Any(Awaited::Nothing);
        }
        if other.further.is_empty() {
            return Self::Any(other.ends.awaited());
        }
        let mut paths = [Awaited::Nothing; MOST_PATHS];
        for (path, awaited) in (0..).zip(&mut paths[..=other.further.len().min(MOST_PATHS - 1)]) {
            *awaited = other.ends.awaited_on(PathId(path));
        }
        Self::Paths(paths)
    }

    fn on(&self, path: PathId) -> Awaited {
        match self {
            Self::Any(awaited) => *awaited,
            Self::Paths(paths) => paths.get(usize::from(path.0)).copied().unwrap_or(Awaited::Nothing),
        }
    }
}

impl Other {
    /// Ends at rest, over one path.
    pub(super) fn new(ends: DatagramEnds) -> Self {
        Self { ends, further: Vec::new(), warm: PathCounts::default(), measured: Vec::new() }
    }

    /// What the hosts counted of the stream on which the end `from` sends on `path`.
    fn counters<'a>(&'a mut self, from: End, path: PathId, hosts: &'a mut Shared) -> &'a mut StreamCounters {
        match path.0.checked_sub(1) {
            Some(further) => &mut self.further[usize::from(further)].counters[from.index()],
            None => &mut hosts.counters[from.index()],
        }
    }

    /// Sends what `end` has to send, takes its events, then sets its timer. `awaited` is what the sender had
    /// waited for; samples of the round-trip time go to `rtt`.
    fn pump(
        &mut self,
        now: Time,
        end: End,
        awaited: Waits,
        mut rtt: Option<&mut Histogram>,
        hosts: &mut Shared,
        plane: &mut impl Plane,
    ) {
        while let Some(Outgoing { packet, ecn_capable, path, .. }) = self.ends.end(end).poll_transmit(now) {
            let id = match path.0.checked_sub(1) {
                Some(further) => self.further[usize::from(further)].ids[end.index()],
                None => hosts.ids[end.index()],
            };
            self.counters(end, path, hosts).injected += 1;
            plane.send_datagram(now, id, packet, ecn_capable, awaited.on(path));
        }
        while let Some(told) = self.ends.poll(end) {
            match told {
                EndEvent::Recorded(kind, window) => plane.record_event(now, kind, hosts.number, window),
                EndEvent::RecordedOnPath(path, kind, value) => {
                    plane.record_path_event(now, kind, (hosts.number, path), value);
                }
                EndEvent::RoundTrip(sample) => rtt.iter_mut().for_each(|rtt| rtt.record(sample)),
            }
        }
        // What an endpoint has just learnt may make a timer due in the past, as QUIC's for lost packets.
        let due = self.ends.end(end).poll_timeout().max(now);
        hosts.arm(end, due, plane);
    }
}

impl BothEnds for Other {
    fn offer(
        &mut self,
        now: Time,
        what: Supply,
        (opens, is_last): (bool, bool),
        hosts: &mut Shared,
        plane: &mut impl Plane,
    ) {
        self.ends.sender.supply(now, what);
        if opens {
            self.ends.open(now);
        }
        self.pump(now, End::Sender, Waits::Any(Awaited::Application), None, hosts, plane);
        if is_last {
            self.close(now, hosts, plane);
        }
    }

    fn close(&mut self, now: Time, hosts: &mut Shared, plane: &mut impl Plane) {
        self.ends.close(now);
        self.pump(now, End::Sender, Waits::Any(Awaited::Application), None, hosts, plane);
    }

    fn due(&mut self, end: End) -> Time {
        self.ends.end(end).poll_timeout()
    }

    fn expire(&mut self, now: Time, end: End, hosts: &mut Shared, plane: &mut impl Plane) {
        let awaited = Waits::of(end, self);
        self.ends.end(end).handle_timeout(now);
        self.pump(now, end, awaited, None, hosts, plane);
    }

    fn link_event(&mut self, now: Time, event: LinkEvent, hosts: &mut Shared, plane: &mut impl Plane) {
        let awaited = Waits::of(End::Sender, self);
        self.ends.sender.handle_link_event(now, event);
        self.pump(now, End::Sender, awaited, None, hosts, plane);
    }

    fn is_closed(&self) -> bool {
        self.ends.is_closed()
    }

    fn awaits(&self, path: PathId, _hosts: &Shared, _plane: &impl Plane) -> Awaited {
        self.ends.awaited_on(path)
    }

    fn counts(&self) -> Snapshot {
        let progress = self.ends.sender.progress();
        Snapshot {
            sent: progress.sent_packets,
            resent: progress.resent_packets,
            quic: QuicCounts::of(&self.ends.sender).unwrap_or_default(),
            ..Snapshot::default()
        }
    }

    fn received(&self) -> (u64, u64) {
        let progress = self.ends.receiver.progress();
        (progress.received_bytes, progress.duplicate_bytes)
    }

    fn delivered(&self) -> u64 {
        self.ends.receiver.progress().delivered_bytes
    }

    fn segment_size(&self) -> u32 {
        self.ends.segment_size
    }

    fn sample(&self) -> FlowSample {
        self.ends.sample()
    }

    fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        self.ends.observe(&mut |name, value| show(name, value));
    }

    fn further(&self) -> &[PathStreams] {
        &self.further
    }

    fn end_warmup(&mut self) {
        self.warm = PathCounts::of(&self.ends);
        self.further.iter_mut().for_each(|path| path.warm_bytes = path.arrived_bytes);
    }

    fn set_measured(&mut self, by_path: Vec<(Option<u32>, Reached)>) {
        self.measured = by_path;
    }

    fn measured(&self) -> &[(Option<u32>, Reached)] {
        &self.measured
    }

    fn subflows(&self) -> PathCounts {
        PathCounts::of(&self.ends).since(&self.warm)
    }

    fn use_database(&mut self, database: &Arc<dyn SpectrumDatabase>) {
        self.ends.use_database(database);
    }

    fn keep_logs(&mut self) {
        self.ends.sender.keep_log();
        self.ends.receiver.keep_log();
    }

    fn take_logs(&mut self) -> [Vec<LogEntry>; 2] {
        [self.ends.sender.take_log(), self.ends.receiver.take_log()]
    }
}

impl Flow {
    /// A datagram has reached `end` on `path`. `is_marked`: a queue marked it.
    pub fn receive_datagram<P: Plane>(
        &mut self,
        now: Time,
        (end, path): (End, PathId),
        datagram: &Datagram,
        is_marked: bool,
        delivery: Delivery,
        plane: &mut P,
    ) {
        let hosts = &mut self.shared;
        let Some(other) = self.ends.other_mut() else { return impossible("a flow over TCP") };
        other.counters(end.other(), path, hosts).arrived += 1;
        if end == End::Receiver {
            hosts.arrived_bytes += u64::from(delivery.size);
            if let Some(further) = path.0.checked_sub(1) {
                other.further[usize::from(further)].arrived_bytes += u64::from(delivery.size);
            }
            if delivery.is_measured {
                self.queuing.record(delivery.waited);
            }
        }
        // Asked before the packet changes what the sender waits for.
        let awaited = Waits::of(end, other);
        other.ends.end(end).handle_packet(now, Received { packet: datagram, path, marked: is_marked });
        let delivered = other.delivered();
        let rtt = delivery.is_measured.then_some(&mut self.rtt);
        other.pump(now, end, awaited, rtt, hosts, plane);
        if end == End::Receiver && delivered >= self.goal {
            self.reach(now, plane);
        }
    }

    /// A radio of another node on the route reports, and its message reaches the sender at `arrives`.
    pub fn route_event(&mut self, now: Time, arrives: Time, event: LinkEvent, plane: &mut impl Plane) {
        let is_active = self.is_active();
        let Some(other) = self.ends.other_mut() else { return impossible("a flow over TCP") };
        if is_active {
            let awaited = Waits::of(End::Sender, other);
            other.ends.sender.handle_route_event(now, arrives, event);
            other.pump(now, End::Sender, awaited, None, &mut self.shared, plane);
        }
    }
}
