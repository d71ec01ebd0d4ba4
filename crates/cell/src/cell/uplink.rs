//! The base station's view of a user's buffer: requests, buffer status reports, and the grants that follow.

use super::{Buffers, Cell};
use crate::frame::Direction;
use crate::rlc::PACKET_HEADER;
use cogtcp_units::Time;
use std::collections::VecDeque;

/// The base station's view of a user's buffer. Bytes are counted from the beginning of the run, so that data
/// that is under way is counted once.
#[derive(Clone, Debug, Default)]
pub(super) struct Uplink {
    /// Reports under way: the first slot whose grant follows from it, and the bytes that have come so far.
    reports: VecDeque<(u64, u64)>,
    /// The bytes that may be granted.
    known: u64,
    /// The bytes of the last report, heard or under way.
    reported: u64,
    /// The first slot whose grant answers a request that is under way.
    request: Option<u64>,
}

impl Uplink {
    /// Slot `number` begins: reports whose grants it carries are known.
    pub(super) fn hear(&mut self, number: u64) {
        while let Some((_, bytes)) = self.reports.pop_front_if(|(ready, _)| *ready <= number) {
            self.known = self.known.max(bytes);
        }
    }

    /// Returns the bytes that slot `number` may grant to a user that has sent `sent`.
    pub(super) fn grant(&self, number: u64, sent: u64, first: u64) -> u64 {
        // A first grant goes out before any report: `sent` may exceed `known`.
        match self.known.saturating_sub(sent) {
            0 if self.request.is_some_and(|ready| ready <= number) => first,
            bytes => bytes,
        }
    }

    /// The user has sent a block, and with it a report of all `bytes` that have come, on which grants follow
    /// from slot `ready` on.
    pub(super) fn report(&mut self, ready: u64, bytes: u64) {
        // The report goes with the block: no request is needed.
        self.request = None;
        if bytes > self.reported {
            self.reported = bytes;
            self.reports.push_back((ready, bytes));
        }
    }
}

impl Cell {
    /// A user arrives without context (random access). The answer to its random access is its first grant,
    /// from slot `number` on (TS 36.321 section 5.1.4).
    pub(super) fn enter(&mut self, user: usize, number: u64, buffers: &impl Buffers) {
        let sent = self.streams[2 * user + 1].bearer.sent();
        let has_data = self.arrived(user, buffers) > sent;
        self.uplinks[user] = Uplink {
            reports: VecDeque::new(),
            known: sent,
            reported: sent,
            request: has_data.then_some(number),
        };
    }

    /// Returns the bytes that have come so far for the uplink of a user.
    pub(super) fn arrived(&self, user: usize, buffers: &impl Buffers) -> u64 {
        let (bytes, packets) = buffers.waiting(user, Direction::Uplink);
        self.streams[2 * user + 1].bearer.taken() + bytes + packets * PACKET_HEADER
    }

    /// A user asks for a grant if it has data and no other way to report the data.
    pub(super) fn request(&mut self, now: Time, user: usize, buffers: &impl Buffers) {
        let arrived = self.arrived(user, buffers);
        let sent = self.streams[2 * user + 1].bearer.sent();
        let uplink = &mut self.uplinks[user];
        if arrived > sent && uplink.reported <= sent && uplink.request.is_none() {
            let frame = &self.config.frame;
            let at = self.config.request.data_at(frame, now);
            uplink.request = Some(frame.number_from(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report that says nothing new is none; with any block the request for a grant is over.
    #[test]
    fn only_what_is_new_is_reported() {
        let mut uplink = Uplink { reports: VecDeque::new(), known: 0, reported: 0, request: Some(3) };
        for (ready, bytes) in [(10, 100), (12, 100), (14, 150)] {
            uplink.report(ready, bytes);
        }
        assert_eq!((uplink.request, &uplink.reports), (None, &VecDeque::from([(10, 100), (14, 150)])));
        uplink.hear(13);
        assert_eq!(uplink.grant(13, 40, 0), 60);
        uplink.hear(14);
        assert_eq!(uplink.grant(14, 40, 0), 110);
    }
}
