//! Data that the application has written and the sender has not sent.

use cogtcp_endpoint::Supply;

/// What is left to send for the first time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unsent {
    is_saturated: bool,
    bytes: u64,
}

impl Unsent {
    /// Takes what the application writes.
    pub(crate) fn supply(&mut self, what: Supply) {
        match what {
            Supply::Saturated(is_saturated) => self.is_saturated = is_saturated,
            Supply::Bytes(bytes) | Supply::Message(bytes) => self.bytes += bytes,
        }
    }

    /// The application closes: what it has written is sent, and no more.
    pub(crate) fn close(&mut self) {
        self.is_saturated = false;
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_saturated && self.bytes == 0
    }

    /// Takes the data of a packet, at most `most` bytes. Returns how many there are.
    pub(crate) fn take(&mut self, most: u32) -> u32 {
        let available = if self.is_saturated { u64::MAX } else { self.bytes };
        let len = u64::from(most).min(available);
        self.bytes -= len.min(self.bytes);
        len as u32
    }
}
