//! Packets that wait to be transmitted, by time.

use crate::RoutingPacket;
use cogtcp_units::Time;
use std::collections::VecDeque;

/// Packets in the order in which they are due; those due at one time in the order in which they were queued.
#[derive(Clone, Debug)]
pub(crate) struct Outbox {
    /// When the first is due, kept apart: it is asked for after every message that a node hears.
    first: Time,
    packets: VecDeque<(Time, RoutingPacket)>,
}

impl Default for Outbox {
    fn default() -> Self {
        Self { first: Time::MAX, packets: VecDeque::new() }
    }
}

impl Outbox {
    pub(crate) fn push(&mut self, due: Time, packet: RoutingPacket) {
        let place = self.packets.partition_point(|(other, _)| *other <= due);
        self.packets.insert(place, (due, packet));
        self.first = self.first.min(due);
    }

    #[inline]
    pub(crate) fn pop(&mut self, now: Time) -> Option<RoutingPacket> {
        if self.first > now {
            return None;
        }
        let packet = self.packets.pop_front().map(|(_, packet)| packet);
        self.first = self.packets.front().map_or(Time::MAX, |(due, _)| *due);
        packet
    }

    #[inline]
    pub(crate) fn next_due(&self) -> Time {
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NodeAddress, RoutingMessage};

    #[test]
    fn packets_leave_by_time_and_then_in_their_order() {
        let mut outbox = Outbox::default();
        assert_eq!(outbox.next_due(), Time::MAX);
        let at = Time::from_millis;
        for (due, number) in [(5, 0), (3, 1), (5, 2), (4, 3), (3, 4)] {
            let from = NodeAddress::new(number);
            let to = NodeAddress::BROADCAST;
            let message = RoutingMessage::ReplyAck;
            outbox.push(at(due), RoutingPacket { from, to, ttl: 1, channel: None, bytes: 2, message });
        }
        assert_eq!(outbox.next_due(), at(3));
        let left = |outbox: &mut Outbox, now| {
            std::iter::from_fn(|| outbox.pop(at(now))).map(|packet| packet.from.number()).collect::<Vec<_>>()
        };
        assert!(left(&mut outbox, 2).is_empty());
        assert_eq!(left(&mut outbox, 4), [1, 4, 3]);
        assert_eq!(left(&mut outbox, 9), [0, 2]);
        assert_eq!(outbox.next_due(), Time::MAX);
    }
}
