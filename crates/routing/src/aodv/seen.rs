//! The requests that a node remembers, so that their copies are dropped: RFC 3561, section 6.5.

use crate::NodeAddress;
use crate::lookup::Lookup;
use cogtcp_units::Time;
use std::collections::VecDeque;

/// How many of the last requests are looked through first: one line of memory. Every neighbour passes a
/// request on, and nearly all of these copies come while it is among them.
const LAST: usize = 8;

/// A request that is none.
const NONE: u64 = u64::MAX;

/// Requests by originator and ID, each for a time.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct SeenRequests {
    last: [u64; LAST],
    /// When the first is forgotten; [`Time::MAX`]: there is none.
    first: Time,
    /// The place in `last` of the next.
    next: usize,
    /// All, by the time at which they are forgotten.
    order: VecDeque<(Time, u64)>,
    all: Lookup,
}

fn key(originator: NodeAddress, id: u32) -> u64 {
    u64::from(originator.number()) << 32 | u64::from(id)
}

impl SeenRequests {
    pub(super) fn new() -> Self {
        Self {
            last: [NONE; LAST],
            first: Time::MAX,
            next: 0,
            order: VecDeque::new(),
            all: Lookup::new(u64::MAX),
        }
    }

    /// Whether a request is remembered. One by nobody (the broadcast address) counts as a copy.
    #[inline]
    pub(super) fn contains(&self, originator: NodeAddress, id: u32) -> bool {
        // Nobody's request with an ID of all ones would be the mark of an empty place.
        let key = key(originator, id);
        self.is_recent(originator, id) || originator.is_broadcast() || self.all.get(key).is_some()
    }

    /// Whether a request is among the last: a copy that [`contains`](Self::contains) knows at once.
    #[inline]
    pub(super) fn is_recent(&self, originator: NodeAddress, id: u32) -> bool {
        self.last.contains(&key(originator, id))
    }

    /// Asks for the memory that [`contains`](Self::contains) touches of another.
    #[inline]
    pub(super) fn prefetch(&self, originator: NodeAddress, id: u32) {
        self.all.prefetch(key(originator, id));
    }

    /// Remembers a request until a time, which is never before an earlier entry's.
    pub(super) fn insert(&mut self, until: Time, originator: NodeAddress, id: u32) {
        if self.contains(originator, id) {
            return;
        }
        let key = key(originator, id);
        debug_assert!(self.order.back().is_none_or(|(last, _)| *last <= until));
        self.last[self.next] = key;
        self.next = (self.next + 1) % LAST;
        self.first = self.first.min(until);
        self.order.push_back((until, key));
        self.all.insert(key);
    }

    /// When the first is forgotten; [`Time::MAX`]: there is none.
    #[inline]
    pub(super) fn first(&self) -> Time {
        self.first
    }

    /// Forgets those whose time is over.
    #[inline]
    pub(super) fn expire(&mut self, now: Time) {
        if self.first <= now {
            self.forget(now);
        }
    }

    fn forget(&mut self, now: Time) {
        while let Some((until, key)) = self.order.front().copied() {
            self.first = until;
            if until > now {
                return;
            }
            self.order.pop_front();
            self.all.remove(key);
            if let Some(last) = self.last.iter_mut().find(|last| **last == key) {
                *last = NONE;
            }
        }
        self.first = Time::MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::{Duration, RandomStream};
    use std::collections::BTreeMap;

    /// Against a sorted map: copies soon and late, and after their time.
    #[test]
    fn a_request_is_remembered_for_its_time() {
        let mut draw = RandomStream::new(1, "seen", 0);
        let (mut seen, mut model) = (SeenRequests::new(), BTreeMap::new());
        let mut now = Time::ZERO;
        for _ in 0..20_000 {
            now += Duration::from_millis(draw.below(5));
            seen.expire(now);
            model.retain(|_, until| *until > now);
            let request = (NodeAddress::new(draw.below(6) as u32), draw.below(30) as u32);
            assert_eq!(seen.contains(request.0, request.1), model.contains_key(&request));
            let until = now + Duration::from_millis(100);
            model.entry(request).or_insert(until);
            seen.insert(until, request.0, request.1);
            assert_eq!(seen.first, model.values().min().copied().unwrap_or(Time::MAX));
        }
        assert!(seen.contains(NodeAddress::BROADCAST, u32::MAX));
    }
}
