//! Events that an endpoint reports.

use cogtcp_units::Duration;

/// A path of a connection, numbered from 0 in the order of the scenario. A transport of one path uses path 0.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct PathId(pub u16);

/// What happened to an endpoint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EndpointEvent {
    /// Both ends know of each other.
    Connected,
    /// A timer that waits for the peer expired: TCP's RTO, QUIC's PTO, TFRC's nofeedback timer.
    Timeout,
    /// The transport reacted to a loss that the peer reported.
    Loss,
    /// The peer's answer gave a sample of the round-trip time.
    RoundTrip(Duration),
    /// The connection is over: all was sent and, where the transport promises that, delivered.
    Closed,
    /// Something happened to the subflow on one of several paths, whose window is then so many bytes.
    OnPath(PathId, PathEvent, u64),
}

/// What happened to one subflow of a connection that has several.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PathEvent {
    /// The subflow has joined the connection.
    Joined,
    /// Its timer that waits for the peer expired.
    Timeout,
    /// It reacted to a loss that the peer reported.
    Loss,
    /// Its loss recovery ended.
    Recovered,
    /// So many bytes that it had sent are queued for other subflows.
    Reinjected(u64),
    /// It gave up after too many timeouts.
    Aborted,
}
