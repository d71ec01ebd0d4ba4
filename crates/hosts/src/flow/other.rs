//! A flow whose transport is not TCP: its ends exchange datagrams.

use super::{Delivery, Ends, Flow};
use crate::multipath::PathCounts;
use crate::{DatagramEnds, End, EndEvent, Plane};
use cogtcp_crosslayer::LinkEvent;
use cogtcp_endpoint::{Datagram, Outgoing, PathId, Received, SpectrumDatabase, Supply};
use cogtcp_network::{Awaited, StreamCounters, StreamId};
use cogtcp_units::Time;
use std::sync::Arc;

/// The ends of such a flow, with the paths beyond the first.
#[derive(Debug)]
pub(super) struct Other {
    pub(super) ends: DatagramEnds,
    pub(super) further: Vec<PathStreams>,
    /// Counts of the subflows at the end of the warm-up.
    pub(super) warm: PathCounts,
}

/// What the sender waits for, where it is at work; a receiver's packets do not say.
fn awaited_by(end: End, other: &Other) -> Awaited {
    if end == End::Sender { other.ends.awaited() } else { Awaited::Nothing }
}

/// The streams of a path, of data and of acknowledgements, and what the hosts counted of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathStreams {
    pub(super) ids: [StreamId; 2],
    pub(super) counters: [StreamCounters; 2],
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
        let Ends::Other(other) = &mut self.ends else { return };
        if end == End::Receiver {
            self.arrived_bytes += u64::from(delivery.size);
            if delivery.is_measured {
                self.queuing.record(delivery.waited);
            }
        }
        // Asked before the packet changes what the sender waits for.
        let awaited = awaited_by(end, other);
        other.ends.end(end).handle_packet(now, Received { packet: datagram, path, marked: is_marked });
        let delivered = other.ends.receiver.progress().delivered_bytes;
        self.pump_other(now, end, awaited, delivery.is_measured, plane);
        if end == End::Receiver && delivered >= self.goal {
            self.reach(now, plane);
        }
    }

    /// The timer of `end` is due.
    pub(super) fn expire_other(&mut self, now: Time, end: End, plane: &mut impl Plane) {
        let Ends::Other(other) = &mut self.ends else { return };
        let awaited = awaited_by(end, other);
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
        let Ends::Other(other) = &mut self.ends else { return };
        if is_active {
            let awaited = other.ends.awaited();
            other.ends.sender.handle_route_event(now, arrives, event);
            self.pump_other(now, End::Sender, awaited, false, plane);
        }
    }

    /// The radio beside the sender reports.
    pub(super) fn notify_other(&mut self, now: Time, event: LinkEvent, plane: &mut impl Plane) {
        let Ends::Other(other) = &mut self.ends else { return };
        let awaited = other.ends.awaited();
        other.ends.sender.handle_link_event(now, event);
        self.pump_other(now, End::Sender, awaited, false, plane);
    }

    /// The application offers data, and opens the connection with `open`.
    pub(super) fn supply_other(&mut self, now: Time, what: Supply, open: bool, plane: &mut impl Plane) {
        let Ends::Other(other) = &mut self.ends else { return };
        other.ends.sender.supply(now, what);
        if open {
            other.ends.open(now);
        }
        self.pump_other(now, End::Sender, Awaited::Application, false, plane);
    }

    /// The application has no further data.
    pub(super) fn close_other(&mut self, now: Time, plane: &mut impl Plane) {
        let Ends::Other(other) = &mut self.ends else { return };
        other.ends.close(now);
        self.pump_other(now, End::Sender, Awaited::Application, false, plane);
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
    fn pump_other(
        &mut self,
        now: Time,
        end: End,
        awaited: Awaited,
        is_measured: bool,
        plane: &mut impl Plane,
    ) {
        let Ends::Other(other) = &mut self.ends else { return };
        while let Some(Outgoing { packet, ecn_capable, path, .. }) = other.ends.end(end).poll_transmit(now) {
            let (ids, counters) = match path.0.checked_sub(1) {
                None => (&self.ids, &mut self.counters),
                Some(further) => {
                    let PathStreams { ids, counters } = &mut other.further[usize::from(further)];
                    (&*ids, counters)
                }
            };
            counters[end.index()].injected += 1;
            plane.send_datagram(now, ids[end.index()], packet, ecn_capable, awaited);
        }
        while let Some(told) = other.ends.poll(end) {
            match told {
                EndEvent::Recorded(kind, window) => plane.record_event(now, kind, self.number, window),
                EndEvent::RoundTrip(sample) if is_measured => self.rtt.record(sample),
                EndEvent::RoundTrip(_) => {}
            }
        }
        // What an endpoint has just learnt may make a timer due in the past, as QUIC's for lost packets.
        let due = other.ends.end(end).poll_timeout().max(now);
        self.arm(end, due, plane);
    }
}
