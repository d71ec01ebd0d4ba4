//! Events that an endpoint reports.

use cogtcp_units::Duration;

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
}
