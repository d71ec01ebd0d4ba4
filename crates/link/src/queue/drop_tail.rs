//! Drop-tail: packets leave in the order in which they came, and what finds no room is dropped.

use super::QueueLimit;

/// The limits of a drop-tail queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropTail {
    /// Most packets that wait; the one being transmitted is not counted.
    pub packets: u64,
    /// Most bytes that wait.
    pub bytes: u64,
    /// A packet that finds this many packets waiting is marked (ECN), whatever its source.
    pub mark_at: u64,
}

impl DropTail {
    /// Everything may wait.
    pub const UNLIMITED: Self = Self { packets: u64::MAX, bytes: u64::MAX, mark_at: u64::MAX };

    /// As much as `limit` may wait.
    pub const fn of(limit: QueueLimit) -> Self {
        match limit {
            QueueLimit::Packets(packets) => Self { packets: packets as u64, ..Self::UNLIMITED },
            QueueLimit::Bytes(bytes) => Self { bytes, ..Self::UNLIMITED },
        }
    }

    /// Whether a packet may wait that finds so many, and makes it so many bytes.
    #[inline]
    pub(crate) const fn has_room(&self, waiting: u64, bytes: u64) -> bool {
        waiting < self.packets && bytes <= self.bytes
    }

    /// Whether a packet that finds so many waiting is marked.
    #[inline]
    pub(crate) const fn marks(&self, waiting: u64) -> bool {
        waiting >= self.mark_at
    }

    /// Room in bytes; a queue of packets counts them at `size` bytes each.
    pub(crate) fn room(&self, waiting: u64, waiting_bytes: u64, size: u32) -> u64 {
        // Saturating: an unlimited queue has `u64::MAX` packets.
        let packets = self.packets.saturating_sub(waiting).saturating_mul(u64::from(size));
        packets.min(self.bytes.saturating_sub(waiting_bytes))
    }
}
