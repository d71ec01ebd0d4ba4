//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation).

use cogtcp_units::{Duration, Rate, Time};

/// The delivery rate seen between the sending of a segment and the ACK that delivered it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateSample {
    /// Bytes delivered over `interval`.
    pub delivered: u64,
    /// Length of the sample: the longer of its send and its ACK phase; zero: no sample.
    pub interval: Duration,
    /// Connection's `delivered` when the sampled segment was sent.
    pub prior_delivered: u64,
    /// Connection's `delivered_at` when the sampled segment was sent.
    pub prior_time: Time,
    /// Bytes in flight just after the sampled segment was sent.
    pub tx_in_flight: u64,
    /// Bytes declared lost between its sending and its delivery.
    pub lost: u64,
    /// Whether the application limited the sample.
    pub app_limited: bool,
}

impl RateSample {
    /// The rate; `None` when this ACK gave no sample.
    pub fn rate(&self) -> Option<Rate> {
        if self.interval.is_zero() { None } else { Some(Rate::from_bytes_in(self.delivered, self.interval)) }
    }
}
