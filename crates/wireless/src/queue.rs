//! The interface queue: packets that wait for the MAC, routing packets first.

use crate::QueuedPacket;
use std::collections::VecDeque;

/// What became of a packet that was offered to an interface.
#[derive(Debug, PartialEq)]
pub enum EnqueueOutcome<T> {
    /// It waits.
    Queued,
    /// The queue was full: here it is again.
    Refused(QueuedPacket<T>),
    /// The queue was full: the packet of routing waits, and the last packet of data had to go.
    Displaced(QueuedPacket<T>),
}

/// Packets of routing, then packets of data, in the order of their coming.
#[derive(Debug)]
pub(crate) struct InterfaceQueue<T> {
    packets: VecDeque<QueuedPacket<T>>,
    /// How many at the front are of routing.
    first: usize,
    limit: usize,
    /// A packet was refused or displaced since [`take_overflow`](Self::take_overflow).
    overflowed: bool,
}

impl<T> InterfaceQueue<T> {
    pub(crate) fn new(limit: usize) -> Self {
        Self { packets: VecDeque::new(), first: 0, limit, overflowed: false }
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(crate) fn packets(&self) -> impl Iterator<Item = &QueuedPacket<T>> {
        self.packets.iter()
    }

    pub(crate) fn front(&self) -> Option<&QueuedPacket<T>> {
        self.packets.front()
    }

    pub(crate) fn push(&mut self, packet: QueuedPacket<T>) -> EnqueueOutcome<T> {
        if self.packets.len() < self.limit {
            let last = self.first == self.packets.len();
            self.first += usize::from(packet.goes_first);
            if packet.goes_first && !last {
                self.packets.insert(self.first - 1, packet);
            } else {
                self.packets.push_back(packet);
            }
            return EnqueueOutcome::Queued;
        }
        self.overflowed = true;
        // Only data make room for routing, never routing for routing.
        if packet.goes_first && self.first < self.packets.len() {
            let last = self.packets.pop_back();
            self.packets.insert(self.first, packet);
            self.first += 1;
            return last.map_or(EnqueueOutcome::Queued, EnqueueOutcome::Displaced);
        }
        EnqueueOutcome::Refused(packet)
    }

    pub(crate) fn pop(&mut self) -> Option<QueuedPacket<T>> {
        let packet = self.packets.pop_front()?;
        self.first = self.first.saturating_sub(1);
        if self.packets.is_empty() {
            // Back to the start of its memory: else a queue that is mostly short would go round and round
            // through all of it.
            self.packets.clear();
        }
        Some(packet)
    }

    /// Takes out the packets that `goes` picks, in their order.
    pub(crate) fn remove(&mut self, mut goes: impl FnMut(&QueuedPacket<T>) -> bool) -> Vec<QueuedPacket<T>> {
        let mut gone = Vec::new();
        for packet in std::mem::take(&mut self.packets) {
            if goes(&packet) { gone.push(packet) } else { self.packets.push_back(packet) }
        }
        // Packets of both kinds may be gone.
        self.first = self.packets.iter().take_while(|packet| packet.goes_first).count();
        gone
    }

    /// Whether a packet was turned away since the last call that found room.
    pub(crate) fn take_overflow(&mut self) -> bool {
        self.packets.len() < self.limit && std::mem::take(&mut self.overflowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Destination;

    fn packet(number: u32, goes_first: bool) -> QueuedPacket<u32> {
        QueuedPacket { payload: number, bytes: 100, to: Destination::Broadcast, channel: None, goes_first }
    }

    #[test]
    fn routing_goes_first_and_pushes_data_out() {
        let mut queue = InterfaceQueue::new(3);
        for (number, goes_first) in [(1, false), (2, true), (3, true)] {
            assert_eq!(queue.push(packet(number, goes_first)), EnqueueOutcome::Queued);
        }
        assert_eq!(queue.push(packet(4, false)), EnqueueOutcome::Refused(packet(4, false)));
        assert_eq!(queue.push(packet(5, true)), EnqueueOutcome::Displaced(packet(1, false)));
        assert_eq!(
            queue.push(packet(6, true)),
            EnqueueOutcome::Refused(packet(6, true)),
            "only routing waits"
        );
        assert!(!queue.take_overflow(), "still full");
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|packet| packet.payload).collect();
        assert_eq!(order, [2, 3, 5]);
        assert!(queue.take_overflow() && !queue.take_overflow());
    }

    #[test]
    fn packets_of_a_broken_link_can_be_taken_out() {
        let mut queue = InterfaceQueue::new(10);
        for (number, goes_first) in [(1, false), (2, true), (3, false), (4, true)] {
            queue.push(packet(number, goes_first));
        }
        let gone = queue.remove(|packet| packet.payload % 4 == 2 || packet.payload == 1);
        assert_eq!(gone.iter().map(|packet| packet.payload).collect::<Vec<_>>(), [2, 1]);
        queue.push(packet(5, true));
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|packet| packet.payload).collect();
        assert_eq!(order, [4, 5, 3]);
    }
}
