//! What hosts act on.

use crate::End;
use cogtcp_endpoint::{Datagram, PathId};
use cogtcp_network::{Awaited, StreamId};
use cogtcp_records::EventKind;
use cogtcp_transport::Segment;
use cogtcp_units::Time;

/// Why a flow is to be called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wake {
    /// The timer of this end ([`Flow::timer`](crate::Flow::timer)).
    Timer(End),
    /// The application of constant rate writes ([`Flow::write`](crate::Flow::write)).
    Write,
    /// So much has been delivered as [`Flow::wait_for_delivery`](crate::Flow::wait_for_delivery) said.
    Delivered,
    /// The timer of the application that asks ([`Asking::handle_timer`](crate::Asking::handle_timer)).
    Ask,
}

/// The surroundings of the hosts: a clock, a network, and a record of the run.
///
/// Hosts know no link: they ask for packets to be sent on streams, and what a path could have carried.
pub trait Plane {
    /// Asks for a call of flow `flow` at `at`.
    fn wake(&mut self, at: Time, flow: u32, why: Wake);

    /// Sends a TCP segment on `stream`. Data: `sent_at` is now. An acknowledgement: when the data was sent
    /// that it answers. Else [`Time::MAX`]. `awaited`: of data, what its sender had waited for.
    fn send_segment(
        &mut self,
        now: Time,
        stream: StreamId,
        segment: &Segment,
        sent_at: Time,
        awaited: Awaited,
    );

    /// Sends a datagram of a transport other than TCP on `stream`. `awaited`: of data, what its sender had
    /// waited for.
    fn send_datagram(
        &mut self,
        now: Time,
        stream: StreamId,
        datagram: Datagram,
        ecn_capable: bool,
        awaited: Awaited,
    );

    /// Sends request `number` of an application on `stream`, a UDP packet with a payload of `bytes`.
    fn send_request(&mut self, now: Time, stream: StreamId, number: u32, bytes: u32);

    /// Records an event of flow `flow` with its value.
    fn record_event(&mut self, now: Time, kind: EventKind, flow: u32, value: f64);

    /// Records an event of a flow's subflow on one of several paths.
    fn record_path_event(&mut self, now: Time, kind: EventKind, at: (u32, PathId), value: f64);

    /// Returns how many packets of `stream` were dropped on the way.
    fn dropped(&self, stream: StreamId) -> u64;

    /// Begins the measured span of the flow whose data is `stream`. Adds to `available` the capacity of each link
    /// of the path so far; nothing if no link tells what the path can carry (an ad hoc network). `awaited`
    /// returns what the flow waits for: it is called when the plane has been played up to `now`.
    fn begin_span(
        &mut self,
        now: Time,
        stream: StreamId,
        awaited: impl FnOnce(&Self) -> Awaited,
        available: &mut Vec<u128>,
    );

    /// Ends the span that began with the next capacities of `before`. Returns the link of least capacity over the
    /// span, and that capacity in bytes. `awaited`: as for [`begin_span`](Self::begin_span).
    fn end_span(
        &mut self,
        now: Time,
        stream: StreamId,
        awaited: impl FnOnce(&Self) -> Awaited,
        before: &mut std::slice::Iter<'_, u128>,
    ) -> Option<(u32, f64)>;
}
