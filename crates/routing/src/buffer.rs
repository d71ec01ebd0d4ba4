//! The packets that wait for a route.

use crate::NodeAddress;
use cogtcp_units::{Duration, Time};
use std::collections::VecDeque;

/// Packets of a host that wait while its routing protocol seeks routes: first in, first out for each
/// destination (RFC 3561, section 6.3). The host holds it, because packets are the host's; the protocol only
/// says when.
///
/// A full buffer drops the oldest packet, whatever its destination; packets that are too old go too. ns-2
/// (`aodv_rqueue.h`) and ns-3 (`MaxQueueLen`, `MaxQueueTime`) both hold 64 packets for 30 s. RFC 3561 sets no
/// bounds.
#[derive(Clone, Debug)]
pub struct PacketBuffer<P> {
    waiting: VecDeque<Waiting<P>>,
    capacity: usize,
    patience: Duration,
}

#[derive(Clone, Debug)]
struct Waiting<P> {
    since: Time,
    destination: NodeAddress,
    packet: P,
}

impl<P> Default for PacketBuffer<P> {
    /// 64 packets, 30 s.
    fn default() -> Self {
        Self::new(64, Duration::from_secs(30))
    }
}

impl<P> PacketBuffer<P> {
    /// A buffer of this many packets, each for at most this long.
    pub fn new(capacity: usize, patience: Duration) -> Self {
        Self { waiting: VecDeque::new(), capacity, patience }
    }

    /// Takes a packet in. What has to leave for it is returned: the oldest, or the packet itself if there is
    /// no room at all.
    pub fn push(&mut self, now: Time, destination: NodeAddress, packet: P) -> Option<P> {
        if self.capacity == 0 {
            return Some(packet);
        }
        let full = self.waiting.len() >= self.capacity;
        let oldest = if full { self.waiting.pop_front() } else { None };
        self.waiting.push_back(Waiting { since: now, destination, packet });
        oldest.map(|waiting| waiting.packet)
    }

    /// Takes out all packets for `destination`, oldest first.
    pub fn take(&mut self, destination: NodeAddress) -> Vec<P> {
        let mut taken = Vec::new();
        let mut kept = VecDeque::with_capacity(self.waiting.len());
        for waiting in self.waiting.drain(..) {
            if waiting.destination == destination {
                taken.push(waiting.packet);
            } else {
                kept.push_back(waiting);
            }
        }
        self.waiting = kept;
        taken
    }

    /// Takes out all packets that have waited for too long, oldest first.
    pub fn expire(&mut self, now: Time) -> Vec<P> {
        let mut expired = Vec::new();
        // All have one patience, so the oldest end first.
        while self.next_change() <= now {
            expired.extend(self.waiting.pop_front().map(|waiting| waiting.packet));
        }
        expired
    }

    /// When [`PacketBuffer::expire`] has something to do; [`Time::MAX`] if nothing waits.
    pub fn next_change(&self) -> Time {
        self.waiting.front().map_or(Time::MAX, |waiting| waiting.since + self.patience)
    }

    /// Shows all packets that wait, oldest first.
    pub fn visit(&self, mut show: impl FnMut(&P)) {
        self.waiting.iter().for_each(|waiting| show(&waiting.packet));
    }

    /// Packets that wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_millis(seconds * 1000)
    }

    #[test]
    fn packets_leave_in_order_or_when_old_or_pushed_out() {
        let (a, b) = (NodeAddress::new(1), NodeAddress::new(2));
        let mut buffer = PacketBuffer::new(3, Duration::from_secs(30));
        assert_eq!(buffer.push(at(0), a, "a1"), None);
        assert_eq!(buffer.push(at(1), b, "b1"), None);
        assert_eq!(buffer.push(at(2), a, "a2"), None);
        assert_eq!(buffer.push(at(3), a, "a3"), Some("a1"), "the oldest goes");
        assert_eq!(buffer.take(a), ["a2", "a3"]);
        assert_eq!((buffer.len(), buffer.next_change()), (1, at(31)));
        assert!(buffer.expire(at(30)).is_empty());
        assert_eq!(buffer.expire(at(31)), ["b1"]);
        assert!(buffer.is_empty() && buffer.next_change() == Time::MAX);
        assert_eq!(PacketBuffer::new(0, Duration::MAX).push(at(0), a, 7), Some(7));
    }
}
