//! Packets that wait to be transmitted, by time.

use crate::RoutingPacket;
use cogtcp_units::Time;
use std::collections::BTreeMap;

/// Packets in the order in which they are due; those due at one time in the order in which they were queued.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox {
    packets: BTreeMap<(Time, u64), RoutingPacket>,
    queued: u64,
}

impl Outbox {
    pub(crate) fn push(&mut self, due: Time, packet: RoutingPacket) {
        self.packets.insert((due, self.queued), packet);
        self.queued += 1;
    }

    pub(crate) fn pop(&mut self, now: Time) -> Option<RoutingPacket> {
        if self.next_due() > now {
            return None;
        }
        self.packets.pop_first().map(|(_, packet)| packet)
    }

    pub(crate) fn next_due(&self) -> Time {
        self.packets.first_key_value().map_or(Time::MAX, |((due, _), _)| *due)
    }
}
