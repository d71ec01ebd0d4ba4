//! Radio link control (RLC) of one direction of a user (TS 36.322, TS 38.322). Packets are a stream of bytes,
//! which is cut into transport blocks and put in order again at the far end.
//!
//! Acknowledged mode (AM) sends again what HARQ has lost; unacknowledged mode (UM) skips it. Both hand
//! packets over in order, and wait for what is missing by t-Reordering.
//!
//! Departures: status reports, polls and their headers take no capacity; a report is never lost; there is no
//! limit of retransmissions (maxRetxThreshold) and no limit of the window.

use cogtcp_units::{Duration, Time};
use std::collections::VecDeque;

/// Bytes that each packet adds: the PDCP header with a sequence number of 12 bits (TS 36.323, section 6.2.3)
/// and a length indicator of RLC.
pub const PACKET_HEADER: u64 = 4;

/// Bytes that each transport block takes for itself: an RLC header and a MAC subheader.
pub const BLOCK_HEADER: u64 = 5;

/// Whether RLC repeats.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// It does: AM.
    #[default]
    Acknowledged,
    /// It does not: UM.
    Unacknowledged,
}

/// The timers of RLC.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RlcTimers {
    /// t-Reordering: how long the receiver waits for what is missing.
    pub reordering: Duration,
    /// t-PollRetransmit: after how long the sender repeats what no later data reveals as missing.
    pub poll: Duration,
    /// From the receiver's status report to the sender's retransmission, at the earliest.
    pub status: Duration,
}

/// Bytes of the stream, from and until.
type Range = (u64, u64);

/// What a transport block carries.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Content {
    /// Bytes that were sent before.
    pub again: Range,
    /// Bytes that go for the first time.
    pub new: Range,
}

impl Content {
    /// Returns how many bytes it has.
    pub fn bytes(&self) -> u64 {
        self.again.1 - self.again.0 + self.new.1 - self.new.0
    }
}

/// Both ends of RLC for one direction of a user.
#[derive(Clone, Debug)]
pub struct Bearer {
    mode: Mode,
    timers: RlcTimers,
    /// Packets that have not been handed over: where each ends, and whether UM has lost it.
    packets: VecDeque<(u64, bool)>,
    /// Where the first of them begins.
    begin: u64,
    taken: u64,
    next: u64,
    /// To be retransmitted.
    again: VecDeque<Range>,
    again_bytes: u64,
    /// Lost by HARQ, and when it is known.
    lost: Vec<(Range, Time)>,
    /// The receiver has everything below, or has skipped it.
    prefix: u64,
    /// What it has beyond, apart and in order.
    ahead: Vec<Range>,
    /// When it gives up waiting for what is missing below so many bytes.
    reordering: Option<(Time, u64)>,
}

impl Bearer {
    /// Returns a bearer without packets.
    pub fn new(mode: Mode, timers: RlcTimers) -> Self {
        Self {
            mode,
            timers,
            packets: VecDeque::new(),
            begin: 0,
            taken: 0,
            next: 0,
            again: VecDeque::new(),
            again_bytes: 0,
            lost: Vec::new(),
            prefix: 0,
            ahead: Vec::new(),
            reordering: None,
        }
    }

    /// Takes a packet of `bytes`.
    pub fn push(&mut self, bytes: u32) {
        self.taken += u64::from(bytes) + PACKET_HEADER;
        self.packets.push_back((self.taken, false));
    }

    /// Returns the bytes of the packets that it has, which were never sent.
    pub fn unsent(&self) -> u64 {
        self.taken - self.next
    }

    /// Returns the bytes to be retransmitted.
    pub fn to_repeat(&self) -> u64 {
        self.again_bytes
    }

    /// Returns how many bytes were taken so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns how many bytes were sent so far, each counted once.
    pub fn sent(&self) -> u64 {
        self.next
    }

    /// Returns the packets that it holds.
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// Fills a transport block with at most `bytes`: first what was lost, then what is new.
    pub fn fill(&mut self, bytes: u64) -> Content {
        let mut content = Content::default();
        let mut room = bytes;
        // One range a block: content has no room for more.
        if let Some(first) = self.again.front_mut() {
            let length = (first.1 - first.0).min(room);
            content.again = (first.0, first.0 + length);
            first.0 += length;
            room -= length;
            self.again_bytes -= length;
            if first.0 == first.1 {
                self.again.pop_front();
            }
        }
        let until = self.taken.min(self.next + room);
        content.new = (self.next, until);
        self.next = until;
        content
    }

    /// A block has arrived.
    pub fn received(&mut self, now: Time, content: &Content) {
        for range in [content.again, content.new] {
            self.receive(range);
        }
        self.restart(now);
    }

    fn receive(&mut self, (from, until): Range) {
        if from >= until || until <= self.prefix {
            return;
        }
        // As a rule what comes is what is next.
        if from <= self.prefix {
            self.prefix = until;
        } else {
            // What ends just where this begins becomes one with it.
            let place = self.ahead.partition_point(|(_, end)| *end < from);
            let mut merged = (from, until);
            let mut last = place;
            while let Some(next) = self.ahead.get(last).filter(|next| next.0 <= merged.1) {
                merged = (merged.0.min(next.0), merged.1.max(next.1));
                last += 1;
            }
            self.ahead.splice(place..last, [merged]);
        }
        self.join();
    }

    /// Moves the prefix over adjacent data.
    fn join(&mut self) {
        let joined = self.ahead.iter().take_while(|range| range.0 <= self.prefix).count();
        if joined > 0 {
            self.prefix = self.prefix.max(self.ahead[joined - 1].1);
            self.ahead.drain(..joined);
        }
    }

    /// t-Reordering runs while something is missing below what has come (TS 36.322, section 5.1.3.2.3).
    fn restart(&mut self, now: Time) {
        if self.reordering.is_some_and(|(_, below)| self.prefix >= below) {
            self.reordering = None;
        }
        if self.reordering.is_none()
            && let Some((_, highest)) = self.ahead.last()
        {
            self.reordering = Some((now + self.timers.reordering, *highest));
        }
    }

    /// HARQ has given a block up.
    pub fn failed(&mut self, now: Time, content: &Content) {
        if self.mode == Mode::Unacknowledged {
            return;
        }
        for (range, is_new) in [(content.again, false), (content.new, true)] {
            if range.0 == range.1 {
                continue;
            }
            // Later data will show that it is missing, unless none has come or it has been retransmitted
            // already.
            let is_seen = is_new && self.ahead.last().is_some_and(|(_, highest)| *highest > range.0);
            let due = if is_seen { Time::MAX } else { now + self.timers.poll };
            self.lost.push((range, due));
            if is_seen && self.reordering.is_none_or(|(_, below)| below <= range.0) {
                // It came after the report that would have named it.
                self.restart(now);
            }
        }
    }

    /// The user moves and nothing is lost: RLC starts again, and PDCP retransmits each packet that has not
    /// arrived whole (TS 36.323, section 5.2.1.1). Packets that have arrived out of order stay with the
    /// receiver's PDCP.
    pub fn move_all(&mut self) {
        let (mut missing, mut arrived) = (VecDeque::new(), Vec::new());
        let mut begin = self.begin;
        for (end, _) in &self.packets {
            let packet = (begin, *end);
            begin = *end;
            if self.has(packet) {
                push_range(&mut arrived, packet);
            } else if packet.0 < self.next {
                // Whole packets, but of the one that is being sent only what has been: the rest is new.
                missing.push_back((packet.0, packet.1.min(self.next)));
            }
        }
        self.clear();
        self.again_bytes = missing.iter().map(|range: &Range| range.1 - range.0).sum();
        // The prefix may end within a packet: it starts over at a packet.
        (self.again, self.ahead, self.prefix) = (missing, arrived, self.begin);
    }

    /// The user moves. Packets whose transmission has begun are lost unless they have arrived whole. With
    /// `keeps` the others are sent from the target, else they are lost too (TS 36.323, sections 5.2.1.2 and
    /// 5.2.2.2).
    pub fn move_unsent(&mut self, keeps: bool) {
        let mut begin = self.begin;
        let mut until = self.next;
        for place in 0..self.packets.len() {
            let end = self.packets[place].0;
            if begin < self.next || !keeps {
                // PDCP takes whole packets only.
                self.packets[place].1 = !self.has((begin, end));
                until = end;
            }
            begin = end;
        }
        self.clear();
        self.ahead.clear();
        (self.prefix, self.next) = (until, until);
    }

    /// Whether a packet has arrived whole.
    fn has(&self, packet: Range) -> bool {
        packet.1 <= self.prefix || self.ahead.iter().any(|range| range.0 <= packet.0 && packet.1 <= range.1)
    }

    /// Forgets what is under way.
    fn clear(&mut self) {
        self.again.clear();
        self.again_bytes = 0;
        self.lost.clear();
        self.reordering = None;
    }

    /// Returns when [`expire`](Self::expire) is to be called; [`Time::MAX`]: never.
    pub fn next_change(&self) -> Time {
        let lost = self.lost.iter().map(|(_, due)| *due).min().unwrap_or(Time::MAX);
        self.reordering.map_or(lost, |(at, _)| at.min(lost))
    }

    /// Does what is due at `now`.
    pub fn expire(&mut self, now: Time) {
        if let Some((_, below)) = self.reordering.filter(|(at, _)| *at <= now) {
            self.reordering = None;
            match self.mode {
                Mode::Acknowledged => {
                    let reported = now + self.timers.status;
                    for (range, due) in self.lost.iter_mut().filter(|(range, _)| range.0 < below) {
                        debug_assert!(range.0 < range.1, "nothing cannot be lost");
                        *due = reported.min(*due);
                    }
                    // Loss that is not known yet gets its own time when it is.
                    if self.ahead.last().is_some_and(|(_, highest)| *highest > below) {
                        self.restart(now);
                    }
                }
                Mode::Unacknowledged => {
                    self.skip(below);
                    self.restart(now);
                }
            }
        }
        let mut place = 0;
        while place < self.lost.len() {
            if self.lost[place].1 <= now {
                let (range, _) = self.lost.remove(place);
                self.again_bytes += range.1 - range.0;
                self.again.push_back(range);
            } else {
                place += 1;
            }
        }
    }

    /// UM gives up what is missing below `below`.
    fn skip(&mut self, below: u64) {
        while self.prefix < below {
            let until = self.ahead.first().map_or(below, |range| range.0);
            let (from, mut begin) = (self.prefix, self.begin);
            for (end, is_lost) in &mut self.packets {
                *is_lost |= begin < until && *end > from;
                begin = *end;
                if begin >= until {
                    break;
                }
            }
            self.prefix = until;
            self.join();
        }
    }

    /// Returns whether the next packet that leaves in order is lost; `None`: none leaves.
    pub fn poll(&mut self) -> Option<bool> {
        let (end, is_lost) = *self.packets.front()?;
        if end > self.prefix {
            return None;
        }
        self.packets.pop_front();
        self.begin = end;
        Some(is_lost)
    }
}

/// Adds a range that begins where the last one ends or later.
fn push_range(ranges: &mut Vec<Range>, range: Range) {
    match ranges.last_mut().filter(|last| last.1 == range.0) {
        Some(last) => last.1 = range.1,
        None => ranges.push(range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A move repeats what was sent, whole packets, and the rest stays new.
    #[test]
    fn a_move_repeats_only_what_was_sent() {
        let timers = RlcTimers { reordering: Duration::ZERO, poll: Duration::ZERO, status: Duration::ZERO };
        let mut bearer = Bearer::new(Mode::Acknowledged, timers);
        let size = 1000 + PACKET_HEADER;
        bearer.push(1000);
        bearer.push(1000);
        assert_eq!(bearer.fill(size), Content { again: (0, 0), new: (0, size) });
        bearer.move_all();
        assert_eq!((bearer.to_repeat(), bearer.unsent()), (size, size));
        assert_eq!(bearer.fill(size), Content { again: (0, size), new: (size, size) });
        assert_eq!(bearer.fill(size), Content { again: (0, 0), new: (size, 2 * size) });
    }

    fn ms(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    /// Packets of 1000 bytes with their headers, and what was sent of them in blocks that end at `ends`.
    fn sent(mode: Mode, packets: usize, ends: &[u64]) -> (Bearer, Vec<Content>) {
        let millis = Duration::from_millis;
        let timers = RlcTimers { reordering: millis(40), poll: millis(45), status: millis(8) };
        let mut bearer = Bearer::new(mode, timers);
        (0..packets).for_each(|_| bearer.push(1000 - PACKET_HEADER as u32));
        let mut before = 0;
        let blocks = ends.iter().map(|end| bearer.fill(end - std::mem::replace(&mut before, *end)));
        let blocks = blocks.collect();
        (bearer, blocks)
    }

    fn all(bearer: &mut Bearer) -> Vec<bool> {
        std::iter::from_fn(|| bearer.poll()).collect()
    }

    #[test]
    fn what_arrives_in_any_order_is_joined() {
        let (mut bearer, _) = sent(Mode::Acknowledged, 1, &[1000]);
        for (range, ahead, prefix) in [
            ((500, 700), vec![(500, 700)], 0),
            ((800, 900), vec![(500, 700), (800, 900)], 0),
            // Just between the two.
            ((700, 800), vec![(500, 900)], 0),
            ((450, 500), vec![(450, 900)], 0),
            ((100, 200), vec![(100, 200), (450, 900)], 0),
            ((150, 160), vec![(100, 200), (450, 900)], 0),
            ((190, 460), vec![(100, 900)], 0),
            ((0, 100), vec![], 900),
            ((300, 900), vec![], 900),
            ((950, 950), vec![], 900),
            ((850, 1000), vec![], 1000),
        ] {
            bearer.receive(range);
            assert_eq!((&bearer.ahead, bearer.prefix), (&ahead, prefix), "{range:?}");
        }
    }

    /// The receiver waits 40 ms for the first block, its report takes 8 ms; what nothing reveals waits for the
    /// poll, 45 ms.
    #[test]
    fn what_is_missing_is_repeated_after_its_timer() {
        let (mut bearer, blocks) = sent(Mode::Acknowledged, 3, &[1000, 2000, 3000]);
        assert_eq!(bearer.next_change(), Time::MAX);
        bearer.received(ms(5), &blocks[1]);
        assert_eq!((bearer.next_change(), bearer.poll()), (ms(45), None));
        bearer.failed(ms(6), &blocks[0]);
        // What comes later does not start the timer again.
        bearer.received(ms(7), &blocks[2]);
        assert_eq!(bearer.next_change(), ms(45));
        bearer.expire(ms(44));
        assert_eq!(bearer.next_change(), ms(45));
        bearer.expire(ms(45));
        assert_eq!((bearer.to_repeat(), bearer.next_change()), (0, ms(53)));
        bearer.expire(ms(53));
        assert_eq!(bearer.to_repeat(), 1000);
        let again = bearer.fill(400);
        assert_eq!((again, bearer.to_repeat()), (Content { again: (0, 400), new: (3000, 3000) }, 600));
        // A repeated one is revealed by nothing.
        bearer.failed(ms(60), &again);
        assert_eq!(bearer.lost, [((0, 400), ms(105))]);
        bearer.expire(ms(105));
        assert_eq!(bearer.to_repeat(), 1000);
        let rest = [bearer.fill(9000), bearer.fill(9000)];
        assert_eq!((rest[0].again, rest[1].again), ((400, 1000), (0, 400)));
        rest.iter().for_each(|content| bearer.received(ms(110), content));
        assert_eq!((all(&mut bearer), bearer.packets()), (vec![false; 3], 0));
        assert_eq!(bearer.next_change(), Time::MAX);
    }

    #[test]
    fn a_loss_that_nothing_reveals_waits_for_the_poll() {
        let (mut bearer, blocks) = sent(Mode::Acknowledged, 2, &[1000, 2000]);
        bearer.failed(ms(5), &blocks[1]);
        assert_eq!(bearer.next_change(), ms(50));
        bearer.failed(ms(5), &Content::default());
        assert_eq!(bearer.lost.len(), 1, "nothing is not lost");
        bearer.received(ms(6), &blocks[0]);
        assert_eq!((bearer.poll(), bearer.poll()), (Some(false), None));
        bearer.expire(ms(49));
        assert_eq!(bearer.to_repeat(), 0);
        bearer.expire(ms(50));
        assert_eq!((bearer.to_repeat(), bearer.next_change()), (1000, Time::MAX));
    }

    /// UM: of four packets the second is lost whole and the third in part; the others are not, although they end
    /// and begin just there.
    #[test]
    fn what_is_skipped_is_lost_and_nothing_beside_it() {
        let (mut bearer, blocks) = sent(Mode::Unacknowledged, 4, &[1000, 2400, 3000, 4000]);
        bearer.received(ms(1), &blocks[0]);
        bearer.failed(ms(2), &blocks[1]);
        bearer.received(ms(3), &blocks[2]);
        bearer.received(ms(4), &blocks[3]);
        assert_eq!(bearer.next_change(), ms(43));
        bearer.expire(ms(43));
        assert_eq!(all(&mut bearer), [false, true, true, false]);
        assert_eq!((bearer.next_change(), bearer.to_repeat()), (Time::MAX, 0));
        // The next packet begins just where a lost one ends.
        let (mut bearer, blocks) = sent(Mode::Unacknowledged, 3, &[1000, 2000, 3000]);
        bearer.received(ms(0), &blocks[0]);
        bearer.received(ms(0), &blocks[2]);
        bearer.expire(ms(40));
        assert_eq!(all(&mut bearer), [false, true, false]);
    }

    /// TS 36.323 section 5.2.1.2: of a seamless move those that were begun and have not arrived are lost.
    #[test]
    fn a_seamless_move_loses_what_was_begun() {
        for (ends, arrived, keeps, lost, unsent) in [
            (&[1000, 1500][..], 1, true, vec![false, true], 1000),
            (&[1000, 1500], 1, false, vec![false, true, true], 0),
            (&[1000, 1500], 0, true, vec![true, true], 1000),
            // Sent just to its end: the next one was not begun.
            (&[1000], 1, true, vec![false], 2000),
            (&[1000], 0, true, vec![true], 2000),
            (&[1000], 0, false, vec![true, true, true], 0),
        ] {
            let (mut bearer, blocks) = sent(Mode::Unacknowledged, 3, ends);
            blocks[..arrived].iter().for_each(|content| bearer.received(ms(1), content));
            bearer.move_unsent(keeps);
            assert_eq!((all(&mut bearer), bearer.unsent()), (lost, unsent), "{ends:?} {arrived} {keeps}");
            assert_eq!(bearer.next_change(), Time::MAX);
        }
    }

    /// Of a lossless move what has arrived whole stays with the receiver, the rest is retransmitted.
    #[test]
    fn a_lossless_move_keeps_what_has_arrived_whole() {
        let (mut bearer, blocks) = sent(Mode::Acknowledged, 5, &[500, 1000, 2000, 3000, 3500]);
        for block in [0, 2, 3] {
            bearer.received(ms(1), &blocks[block]);
        }
        bearer.move_all();
        // The first packet whole; of the fourth the half that was sent.
        assert_eq!(bearer.again, [(0, 1000), (3000, 3500)]);
        assert_eq!((bearer.to_repeat(), bearer.unsent()), (1500, 1500));
        assert_eq!((&bearer.ahead, bearer.prefix), (&vec![(1000, 3000)], 0));
        let again = bearer.fill(5000);
        assert_eq!((again.again, again.new, again.bytes()), ((0, 1000), (3500, 5000), 2500));
        bearer.received(ms(2), &Content { again: (0, 1000), new: (0, 0) });
        assert_eq!(all(&mut bearer), [false; 3]);
    }
}
