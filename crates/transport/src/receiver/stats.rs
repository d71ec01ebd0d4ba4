//! Counters of a receiver.

/// What a receiver has counted since it was made.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ReceiverStats {
    /// Segments handled, of every kind.
    pub segments: u64,
    /// Payload bytes accepted for the first time, in order or not.
    pub bytes: u64,
    /// Payload bytes that had arrived before.
    pub duplicate_bytes: u64,
    /// Segments whose whole payload had arrived before.
    pub duplicate_segments: u64,
    /// Segments that began beyond the in-order frontier.
    pub out_of_order_segments: u64,
    /// Payload bytes dropped because they lay beyond the window.
    pub out_of_window_bytes: u64,
    /// Segments refused by the acceptability test (RFC 9293 section 3.10.7.4) or for a missing timestamp.
    pub unacceptable: u64,
    /// Segments refused by their timestamp (RFC 7323 section 5.3).
    pub paws_rejected: u64,
    /// Acceptable segments that a queue on the way had marked (ECN).
    pub marked_segments: u64,
    /// Segments sent, SYN-ACKs apart.
    pub acks: u64,
    /// Of these, how many repeated the acknowledgement number before them without new data in order.
    pub duplicate_acks: u64,
    /// ACKs sent by the timer of delayed ACKs.
    pub delayed_ack_timeouts: u64,
    /// ACKs sent only to open the window.
    pub window_updates: u64,
    /// ACKs that advertised no window.
    pub zero_windows: u64,
}
