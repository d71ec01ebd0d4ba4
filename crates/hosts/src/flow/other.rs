//! A flow whose transport is not TCP: its ends exchange datagrams.

use super::{Delivery, Ends, Flow};
use crate::multipath::PathCounts;
use crate::{DatagramEnds, End, EndEvent, Plane};
use cogtcp_crosslayer::LinkEvent;
use cogtcp_endpoint::{Datagram, Outgoing, PathId, Received, SpectrumDatabase, Supply};
use cogtcp_multipath::MOST_PATHS;
use cogtcp_network::{Awaited, Reached, StreamCounters, StreamId, impossible};
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

/// The streams of a path, of data and of acknowledgements, and what the hosts counted of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathStreams {
    pub(super) ids: [StreamId; 2],
    pub(super) counters: [StreamCounters; 2],
    /// Bytes on the wire of the data packets that arrived over it, in all and by the end of the warm-up.
    pub(super) arrived_bytes: u64,
    pub(super) warm_bytes: u64,
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
        self.counters(end.other(), path).arrived += 1;
        let Ends::Other(other) = &mut self.ends else { return impossible("a flow over TCP") };
        if end == End::Receiver {
            self.arrived_bytes += u64::from(delivery.size);
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
        let delivered = other.ends.receiver.progress().delivered_bytes;
        self.pump_other(now, end, awaited, delivery.is_measured, plane);
        if end == End::Receiver && delivered >= self.goal {
            self.reach(now, plane);
        }
    }

    /// The timer of `end` is due.
    pub(super) fn expire_other(&mut self, now: Time, end: End, plane: &mut impl Plane) {
        let Ends::Other(other) = &mut self.ends else { return impossible("a flow over TCP") };
        let awaited = Waits::of(end, other);
        other.ends.end(end).handle_timeout(now);
        self.pump_other(now, end, awaited, false, plane);
    }

    /// Gives both ends a database of primary users, before they open.
    pub fn use_database(&mut self, database: &Arc<dyn SpectrumDatabase>) {
        if let Ends::Other(other) = &mut self.ends {
            other.ends.use_database(database);
        }
    }

    /// A radio of another node on the route reports, and its message reaches the sender at `arrives`.
    pub fn route_event(&mut self, now: Time, arrives: Time, event: LinkEvent, plane: &mut impl Plane) {
        let is_active = self.is_active();
        let Ends::Other(other) = &mut self.ends else { return impossible("a flow over TCP") };
        if is_active {
            let awaited = Waits::of(End::Sender, other);
            other.ends.sender.handle_route_event(now, arrives, event);
            self.pump_other(now, End::Sender, awaited, false, plane);
        }
    }

    /// The radio beside the sender reports.
    pub(super) fn notify_other(&mut self, now: Time, event: LinkEvent, plane: &mut impl Plane) {
        let Ends::Other(other) = &mut self.ends else { return impossible("a flow over TCP") };
        let awaited = Waits::of(End::Sender, other);
        other.ends.sender.handle_link_event(now, event);
        self.pump_other(now, End::Sender, awaited, false, plane);
    }

    /// The application offers data, and opens the connection with `open`.
    pub(super) fn supply_other(&mut self, now: Time, what: Supply, open: bool, plane: &mut impl Plane) {
        let Ends::Other(other) = &mut self.ends else { return impossible("a flow over TCP") };
        other.ends.sender.supply(now, what);
        if open {
            other.ends.open(now);
        }
        self.pump_other(now, End::Sender, Waits::Any(Awaited::Application), false, plane);
    }

    /// The application has no further data.
    pub(super) fn close_other(&mut self, now: Time, plane: &mut impl Plane) {
        let Ends::Other(other) = &mut self.ends else { return impossible("a flow over TCP") };
        other.ends.close(now);
        self.pump_other(now, End::Sender, Waits::Any(Awaited::Application), false, plane);
    }

    /// What the hosts counted of the stream on which the end `from` sends on `path`.
    fn counters(&mut self, from: End, path: PathId) -> &mut StreamCounters {
        match (&mut self.ends, path.0.checked_sub(1)) {
            (Ends::Other(other), Some(further)) => {
                &mut other.further[usize::from(further)].counters[from.index()]
            }
            _ => &mut self.counters[from.index()],
        }
    }

    /// Sends what `end` has to send, takes its events, then sets its timer. `awaited` is what the sender had
    /// waited for; `is_measured`: samples of the round-trip time count.
    fn pump_other(&mut self, now: Time, end: End, awaited: Waits, is_measured: bool, plane: &mut impl Plane) {
        let Ends::Other(other) = &mut self.ends else { return impossible("a flow over TCP") };
        while let Some(Outgoing { packet, ecn_capable, path, .. }) = other.ends.end(end).poll_transmit(now) {
            let (ids, counters) = match path.0.checked_sub(1) {
                None => (&self.ids, &mut self.counters),
                Some(further) => {
                    let PathStreams { ids, counters, .. } = &mut other.further[usize::from(further)];
                    (&*ids, counters)
                }
            };
            counters[end.index()].injected += 1;
            plane.send_datagram(now, ids[end.index()], packet, ecn_capable, awaited.on(path));
        }
        while let Some(told) = other.ends.poll(end) {
            match told {
                EndEvent::Recorded(kind, window) => plane.record_event(now, kind, self.number, window),
                EndEvent::RecordedOnPath(path, kind, value) => {
                    plane.record_path_event(now, kind, (self.number, path), value);
                }
                EndEvent::RoundTrip(sample) if is_measured => self.rtt.record(sample),
                EndEvent::RoundTrip(_) => {}
            }
        }
        // What an endpoint has just learnt may make a timer due in the past, as QUIC's for lost packets.
        let due = other.ends.end(end).poll_timeout().max(now);
        self.arm(end, due, plane);
    }
}
