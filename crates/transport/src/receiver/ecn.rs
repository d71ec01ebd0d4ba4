//! Accurate ECN (RFC 9768), the receiver's part.

use crate::accurate_ecn::{FIRST_COUNT, MARKS_AT_ONCE, NOT_CAPABLE};
use crate::{EcnMode, Flags, Segment};

/// The mode of a connection whose SYN has these flags.
pub(super) fn agreed_ecn(most: EcnMode, syn: Flags) -> EcnMode {
    match (most, syn.ace()) {
        // RFC 3168 section 6.1.1: an ECN-setup SYN has ECE and CWR. AE was reserved then.
        (EcnMode::Classic, 0b011 | 0b111) | (EcnMode::Accurate, 0b011) => EcnMode::Classic,
        // RFC 9768 section 3.1.3: other combinations are an offer, too.
        (EcnMode::Accurate, 1..) => EcnMode::Accurate,
        _ => EcnMode::Off,
    }
}

/// Marks as a receiver counts them.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccurateEcn {
    /// r.cep: packets that arrived marked.
    pub(super) count: u8,
    /// Those since the latest ACK.
    pub(super) since: u8,
    /// Since the latest ACK, data arrived marked behind a packet that was not.
    pub(super) changed: bool,
    /// The packet before was marked.
    before: bool,
    /// The ECN field of the latest SYN, as the SYN-ACK tells it.
    pub(super) syn: u8,
}

impl Default for AccurateEcn {
    fn default() -> Self {
        Self { count: FIRST_COUNT, since: 0, changed: false, before: false, syn: NOT_CAPABLE }
    }
}

impl AccurateEcn {
    /// An acceptable segment other than a SYN.
    pub(super) fn take(&mut self, segment: &Segment) {
        let marked = segment.is_marked();
        if marked {
            self.count = self.count.wrapping_add(1);
            self.since = self.since.saturating_add(1);
            self.changed |= !self.before && segment.len > 0;
        }
        self.before = marked;
    }

    /// Section 3.2.2.5.1: the first mark, and every second one, is acknowledged at once; every third one
    /// where no data is unacknowledged.
    pub(super) fn is_ack_due(&self, unacknowledged: bool) -> bool {
        self.changed || self.since >= MARKS_AT_ONCE[usize::from(!unacknowledged)]
    }
}
