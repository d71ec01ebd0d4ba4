//! The state that every transport has.

use cogtcp_units::Duration;

/// What a sender waits for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Waiting {
    /// Nothing: the connection is not open, or over.
    #[default]
    Nothing,
    /// The application: it has no data.
    Application,
    /// The congestion window or the allowed rate.
    Window,
    /// The receiver's buffer.
    Receiver,
    /// A timer that waits for the peer.
    Timeout,
}

/// Counters and state of one end, since the connection opened.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Progress {
    /// Bytes of application data delivered to this end's application.
    pub delivered_bytes: u64,
    /// Bytes of application data that reached this end for the first time, whether delivered yet or not.
    pub received_bytes: u64,
    /// Bytes of application data that reached this end again.
    pub duplicate_bytes: u64,
    /// Bytes of application data sent, each transmission counted.
    pub sent_bytes: u64,
    /// Packets sent.
    pub sent_packets: u64,
    /// Packets that carry retransmitted data.
    pub resent_packets: u64,
    /// Packets that this end knows to be lost.
    pub lost_packets: u64,
    /// Expired timers that waited for the peer.
    pub timeouts: u64,
    /// Bytes sent and neither acknowledged nor lost, if the transport keeps this count.
    pub in_flight_bytes: Option<u64>,
    /// Congestion window in bytes, if the transport has one.
    pub window_bytes: Option<u64>,
    /// Allowed sending rate in bytes per second, if the transport has one.
    pub rate_bytes_per_s: Option<u64>,
    /// Smoothed round-trip time; `None`: not measured yet.
    pub smoothed_rtt: Option<Duration>,
    /// What the sender waits for.
    pub waiting: Waiting,
}
