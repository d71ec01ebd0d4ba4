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

#[cfg(test)]
mod tests {
    use super::*;

    /// Data for ever is never used up, and leaves what was written before where the application closes.
    #[test]
    fn what_is_written_is_sent_and_no_more() {
        let mut unsent = Unsent::default();
        assert!(unsent.is_empty() && unsent.take(1000) == 0);
        unsent.supply(Supply::Bytes(1200));
        unsent.supply(Supply::Message(300));
        assert_eq!((unsent.take(1000), unsent.is_empty(), unsent.take(1000)), (1000, false, 500));
        assert!(unsent.is_empty());
        unsent.supply(Supply::Saturated(true));
        unsent.supply(Supply::Bytes(1500));
        assert_eq!([0; 3].map(|_| unsent.take(1000)), [1000; 3]);
        assert!(!unsent.is_empty());
        unsent.close();
        assert!(unsent.is_empty(), "its 1500 bytes have left");
    }
}
