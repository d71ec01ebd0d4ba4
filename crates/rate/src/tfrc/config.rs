//! Settings of TFRC.

/// Settings of both ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TfrcConfig {
    /// Segment size `s`: bytes of application data in a packet, without the headers of TFRC, UDP and IP.
    pub segment_size: u32,
    /// The receiver discounts old loss intervals during a long interval without loss (section 5.5).
    pub history_discounting: bool,
}

impl Default for TfrcConfig {
    fn default() -> Self {
        Self { segment_size: 1000, history_discounting: true }
    }
}
