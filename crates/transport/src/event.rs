//! What a connection end reports to its driver.

use cogtcp_units::Duration;

/// Something that happened at a connection end. Taken from it by `poll_event`; a driver that does not care
/// may leave them: the oldest are dropped beyond a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TransportEvent {
    /// The handshake is complete.
    Connected,
    /// The retransmission timer expired (RFC 6298 section 5, or on the SYN).
    Rto {
        /// Consecutive expirations without new data acknowledged, 1 for the first.
        count: u32,
        /// The timer's value for the next expiration, backed off.
        next: Duration,
    },
    /// Timeouts counted before were found to be spurious: an earlier transmission had arrived.
    SpuriousRto {
        /// How many of the timeouts of this episode.
        count: u32,
        /// Whether F-RTO found it and the window was restored (RFC 5682); else it is for statistics alone.
        undone: bool,
    },
    /// A loss was inferred from duplicate ACKs or SACK and its segment retransmitted (RFC 5681 section 3.2).
    FastRetransmit,
    /// The network notified congestion (ECN) and the window was reduced (RFC 3168 section 6.1.2).
    EcnReduction,
    /// Loss recovery ended: everything outstanding at its start is acknowledged.
    RecoveryExit {
        /// Whether the recovery had begun with a timeout.
        after_rto: bool,
    },
    /// The peer's window does not let the next segment go: the persist timer runs (RFC 9293 section 3.8.6.1).
    ZeroWindow,
    /// The peer's window opened again.
    WindowOpened,
    /// A window probe was sent.
    WindowProbe,
    /// All data and the FIN are acknowledged (sender), or the FIN and all before it arrived (receiver).
    Finished,
    /// The connection is closed in both directions and its state may be dropped.
    Closed,
    /// The connection was given up: reset by the peer, or the user timeout passed.
    Aborted,
}
