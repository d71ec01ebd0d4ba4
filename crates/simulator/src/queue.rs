//! The pending events, ordered by (time, sequence number): of two events at one instant, the one scheduled first
//! comes first.
//!
//! Two heaps share one sequence: one of packet arrivals (at most one per link direction, replaced at every hop) and one
//! of everything else (timers, radios, applications), which is long-lived and would only deepen the first.

use cogtcp_units::Time;
use std::ops::Range;

/// What happens next. The indices are those of the network's pipes, flows, radios and pairs of stations.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Event {
    /// The head of a link direction's packets in flight reaches the far end.
    Arrival(u32),
    /// A connection end asked to be woken: `2 * flow`, plus 1 for the receiver.
    Timer(u32),
    /// A radio's phase changes.
    Radio(u32),
    /// A flow opens its connection.
    FlowStart(u32),
    /// A flow's application stops.
    FlowStop(u32),
    /// A rate-limited application writes.
    Write(u32),
    /// The warm-up ends.
    WarmupEnd,
    /// The time series take a sample.
    Sample,
    /// A pair of wireless stations has something to do.
    StationPair(u32),
    /// The transmitter of a link direction with a queue discipline takes the next packet.
    Transmission(u32),
    /// An event of a part, by its code ([`crate::parts::codes`]).
    Part(u32),
}

const INDEX_BITS: u32 = 20;
const CODE_BITS: u32 = INDEX_BITS + 4;

impl Event {
    /// Indices lie below this.
    pub(crate) const MAX_INDEX: u32 = 1 << INDEX_BITS;

    /// The codes of a part's events: those of `kind`, with indices in `indices`.
    pub(crate) const fn codes(kind: u32, indices: Range<u32>) -> Range<u32> {
        kind << INDEX_BITS | indices.start..(kind << INDEX_BITS) + indices.end
    }

    /// The event in 24 bits: four for the kind, the rest for the index.
    #[inline]
    pub(crate) fn code(self) -> u32 {
        let (kind, index) = match self {
            Self::Arrival(pipe) => (0, pipe),
            Self::Timer(endpoint) => (1, endpoint),
            Self::Radio(radio) => (2, radio),
            Self::FlowStart(flow) => (3, flow),
            Self::FlowStop(flow) => (4, flow),
            Self::Write(flow) => (5, flow),
            Self::WarmupEnd => (6, 0),
            Self::Sample => (7, 0),
            Self::StationPair(pair) => (8, pair),
            Self::Transmission(pipe) => (10, pipe),
            Self::Part(code) => return code,
        };
        debug_assert!(index < Self::MAX_INDEX);
        kind << INDEX_BITS | index
    }

    #[inline]
    pub(crate) fn from_code(code: u32) -> Self {
        let index = code & (Self::MAX_INDEX - 1);
        match code >> INDEX_BITS {
            0 => Self::Arrival(index),
            1 => Self::Timer(index),
            2 => Self::Radio(index),
            3 => Self::FlowStart(index),
            4 => Self::FlowStop(index),
            5 => Self::Write(index),
            6 if index == 0 => Self::WarmupEnd,
            7 => Self::Sample,
            8 => Self::StationPair(index),
            10 => Self::Transmission(index),
            _ => Self::Part(code),
        }
    }
}

/// The event queue.
#[derive(Debug)]
pub(crate) struct EventQueue {
    arrivals: Heap,
    others: Heap,
    /// The first of `others` is done with and still there: the next to be scheduled takes its place, one step instead of two.
    is_vacant: bool,
    sequence: u64,
}

impl EventQueue {
    /// Events that one run may schedule: 2^40, some ten hours of computing.
    pub(crate) const MAX_SEQUENCE: u64 = 1 << (64 - CODE_BITS);

    pub(crate) fn new() -> Self {
        Self { arrivals: Heap::new(), others: Heap::new(), is_vacant: false, sequence: 0 }
    }

    /// Schedules `event` at `time`.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, event: Event) {
        let key = self.key(time, event);
        if matches!(event, Event::Arrival(_)) {
            self.arrivals.push(key);
        } else if std::mem::take(&mut self.is_vacant) {
            self.others.replace_top(key);
        } else {
            self.others.push(key);
        }
    }

    /// The next event, left in place until [`pop`](Self::pop) or [`replace`](Self::replace). What is scheduled
    /// meanwhile, at the same instant or later, comes after it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<(Time, Event)> {
        if std::mem::take(&mut self.is_vacant) {
            self.others.pop();
        }
        // Keys hold the shared sequence: of equal times in the two heaps, too, the one scheduled first comes first.
        let key = match (self.arrivals.peek(), self.others.peek()) {
            (Some(a), Some(b)) => a.min(b),
            (Some(a), None) => a,
            (None, b) => b?,
        };
        let event = Event::from_code(key as u32 & ((1 << CODE_BITS) - 1));
        Some((Time::from_nanos((key >> 64) as u64), event))
    }

    /// Removes `event`, which [`peek`](Self::peek) returned.
    #[inline]
    pub(crate) fn pop(&mut self, event: Event) {
        if matches!(event, Event::Arrival(_)) {
            self.arrivals.pop();
        } else {
            debug_assert!(!self.is_vacant, "an event is removed once");
            self.is_vacant = true;
        }
    }

    /// Schedules `event`, which [`peek`](Self::peek) returned, again at `time`: one step instead of two.
    #[inline]
    pub(crate) fn replace(&mut self, time: Time, event: Event) {
        debug_assert!(!self.is_vacant, "it is still there");
        let key = self.key(time, event);
        self.heap_of(event).replace_top(key);
    }

    /// Removes the pending arrival `event`; nothing happens if there is none. It is none that [`peek`](Self::peek) returned.
    #[cold]
    pub(crate) fn cancel(&mut self, event: Event) {
        self.arrivals.remove(event.code());
    }

    /// The arrivals that the last one to be removed or replaced has brought nearer to the top, as pipes, of the five highest
    /// levels below the top: the one that comes next is the last.
    #[inline]
    pub(crate) fn approaching(&self) -> [Option<u32>; 5] {
        self.arrivals.raised().map(|key| key.map(|key| key as u32 & (Event::MAX_INDEX - 1)))
    }

    /// Whether so many arrivals are pending that [`approaching`](Self::approaching) says something: where there are few, what
    /// they touch is in the caches anyway.
    #[inline]
    pub(crate) fn is_deep(&self) -> bool {
        self.arrivals.len >= LEVEL_ENDS[1]
    }

    /// How many events were scheduled so far.
    pub(crate) fn scheduled(&self) -> u64 {
        self.sequence
    }

    #[inline]
    fn key(&mut self, time: Time, event: Event) -> u128 {
        // Time, sequence and event in one word: comparing two events is one comparison, and an entry needs no pointer.
        let order = self.sequence << CODE_BITS | u64::from(event.code());
        self.sequence += 1;
        u128::from(time.as_nanos()) << 64 | u128::from(order)
    }

    #[inline]
    fn heap_of(&mut self, event: Event) -> &mut Heap {
        if matches!(event, Event::Arrival(_)) { &mut self.arrivals } else { &mut self.others }
    }
}

/// A minimum heap with four children per node, siblings together in one cache line: the children of key `h` are group
/// `h + 1`, and key `h` itself lies in group `(h + 3) / 4` at place `(h + 3) % 4`. Unused places hold `u128::MAX`.
#[derive(Debug)]
struct Heap {
    groups: Vec<Group>,
    len: usize,
    /// Where the last replacement of the top came to rest: every key between that place and the top has moved up.
    rest: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Group([u128; 4]);

/// First place below each of the levels 5, 4, 3, 2 and 1; the top is level 0.
const LEVEL_ENDS: [usize; 5] = [1365, 341, 85, 21, 5];

const EMPTY: Group = Group([u128::MAX; 4]);

impl Heap {
    fn new() -> Self {
        Self { groups: vec![EMPTY], len: 0, rest: 0 }
    }

    #[inline]
    fn peek(&self) -> Option<u128> {
        if self.len > 0 { Some(self.groups[0].0[3]) } else { None }
    }

    #[inline]
    fn push(&mut self, key: u128) {
        let mut hole = self.len;
        self.len += 1;
        // Groups are never given back: the heap soon needs them again.
        if hole.div_ceil(4) == self.groups.len() {
            self.groups.push(EMPTY);
        }
        while hole > 0 {
            let parent = (hole - 1) / 4;
            let above = *self.place(parent);
            if above <= key {
                break;
            }
            *self.place(hole) = above;
            hole = parent;
        }
        *self.place(hole) = key;
    }

    fn pop(&mut self) {
        self.len -= 1;
        let last = self.len;
        // `MAX` loses every comparison, so that groups need no test for being full.
        let key = std::mem::replace(self.place(last), u128::MAX);
        if last > 0 {
            self.replace_top(key);
        }
    }

    /// Removes the key of the event of this code, wherever it is.
    fn remove(&mut self, code: u32) {
        let is_its = |place: &usize| self.key(*place) as u32 & ((1 << CODE_BITS) - 1) == code;
        let Some(place) = (0..self.len).find(is_its) else { return };
        self.len -= 1;
        let last = self.len;
        let key = std::mem::replace(self.place(last), u128::MAX);
        if place == last {
            return;
        }
        // The last key is anywhere in the order: it rises or sinks from here.
        let mut hole = place;
        while hole > 0 && *self.place((hole - 1) / 4) > key {
            *self.place(hole) = *self.place((hole - 1) / 4);
            hole = (hole - 1) / 4;
        }
        self.sink(hole, key);
        self.rest = 0;
    }

    #[inline]
    fn replace_top(&mut self, key: u128) {
        self.sink(0, key);
    }

    /// Puts `key` where it belongs at or below `hole`.
    #[expect(clippy::inline_always, reason = "every hop replaces the top")]
    #[inline(always)]
    fn sink(&mut self, mut hole: usize, key: u128) {
        while let Some(&Group([a, b, c, d])) = self.groups.get(hole + 1) {
            // A tournament: two comparisons that do not wait for each other, then one.
            let (i, left) = if b < a { (1, b) } else { (0, a) };
            let (j, right) = if d < c { (3, d) } else { (2, c) };
            let (offset, least) = if right < left { (j, right) } else { (i, left) };
            if key <= least {
                break;
            }
            *self.place(hole) = least;
            hole = 4 * hole + 1 + offset;
        }
        *self.place(hole) = key;
        self.rest = hole;
    }

    /// The keys that the last replacement of the top moved up, of levels 5 to 1.
    #[inline]
    fn raised(&self) -> [Option<u128>; 5] {
        let mut place = self.rest;
        LEVEL_ENDS.map(|end| {
            while place >= end {
                place = (place - 1) / 4;
            }
            (place >= (end - 1) / 4 && place != self.rest).then(|| self.key(place))
        })
    }

    #[inline]
    fn key(&self, position: usize) -> u128 {
        self.groups[position.div_ceil(4)].0[(position + 3) % 4]
    }

    #[inline]
    fn place(&mut self, position: usize) -> &mut u128 {
        &mut self.groups[position.div_ceil(4)].0[(position + 3) % 4]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::RandomStream;

    #[test]
    fn events_survive_their_code() {
        let last = Event::MAX_INDEX - 1;
        for event in [
            Event::Arrival(last),
            Event::Timer(7),
            Event::Radio(0),
            Event::FlowStart(last),
            Event::FlowStop(3),
            Event::Write(5),
            Event::WarmupEnd,
            Event::Sample,
            Event::StationPair(last),
            Event::Transmission(last),
            Event::Part(11 << INDEX_BITS | last),
            Event::Part(6 << INDEX_BITS | 1),
        ] {
            assert_eq!(Event::from_code(event.code()), event);
        }
    }

    #[test]
    fn equal_times_come_in_the_order_of_scheduling() {
        let mut queue = EventQueue::new();
        let t = Time::from_millis(1);
        // Alternating between the two heaps.
        let events: Vec<Event> =
            (0..50).map(|i| if i % 2 == 0 { Event::Arrival(i) } else { Event::Timer(i) }).collect();
        for event in &events {
            queue.push(t, *event);
        }
        for event in events {
            assert_eq!(queue.peek(), Some((t, event)));
            queue.pop(event);
        }
        assert_eq!(queue.peek(), None);
    }

    /// The keys that a replacement of the top moves from one of the levels 2 to 6 to the one above are those named, each once.
    #[test]
    fn names_what_approaches() {
        let level = |place: usize| LEVEL_ENDS.iter().filter(|end| place < **end).count();
        let mut stream = RandomStream::new(7, "queue", 0);
        let mut queue = EventQueue::new();
        let pipes = 6000;
        for pipe in 0..pipes {
            queue.push(Time::from_nanos(stream.below(1000)), Event::Arrival(pipe));
        }
        assert!(queue.is_deep());
        let levels = |queue: &EventQueue| -> Vec<usize> {
            let mut levels = vec![0; pipes as usize];
            for place in 1..queue.arrivals.len {
                let pipe = queue.arrivals.key(place) as u32 & (Event::MAX_INDEX - 1);
                levels[pipe as usize] = level(place);
            }
            levels
        };
        let mut named = [0; 5];
        for _ in 0..2000 {
            let Some((now, event)) = queue.peek() else { break };
            let before = levels(&queue);
            let top = event.code();
            queue.replace(now + cogtcp_units::Duration::from_nanos(stream.below(1000)), event);
            let after = levels(&queue);
            for (i, pipe) in queue.approaching().into_iter().enumerate() {
                // Levels counted from the sixth (0) to the first (5); the top itself is not looked at.
                let moved = (0..pipes as usize)
                    .find(|pipe| *pipe as u32 != top && before[*pipe] == i && after[*pipe] == i + 1);
                assert_eq!(pipe.map(|pipe| pipe as usize), moved);
                named[i] += usize::from(pipe.is_some());
            }
        }
        assert!(named.iter().all(|count| *count > 1000), "{named:?}");
    }

    /// Against a sorted list: 200 rounds of random pushes, pops and replacements with many equal times.
    #[test]
    fn agrees_with_a_sorted_list() {
        for seed in 0..200 {
            let mut stream = RandomStream::new(seed, "queue", 0);
            let mut queue = EventQueue::new();
            let mut model: Vec<(u64, u64, Event)> = Vec::new();
            let mut sequence = 0;
            let mut now = 0;
            for _ in 0..600 {
                let time = now + stream.below(20);
                let draw = stream.below(100);
                let event = if draw.is_multiple_of(2) {
                    Event::Arrival(draw as u32)
                } else {
                    Event::Timer(draw as u32)
                };
                match stream.below(6) {
                    5 => {
                        // An arrival that is pending once, or not at all.
                        if model.iter().filter(|(.., other)| *other == event).count() < 2 {
                            queue.cancel(event);
                            let is_arrival = matches!(event, Event::Arrival(_));
                            model.retain(|(.., other)| *other != event || !is_arrival);
                        }
                    }
                    0..=2 => {
                        queue.push(Time::from_nanos(time), event);
                        model.push((time, sequence, event));
                        sequence += 1;
                    }
                    choice => {
                        model.sort_by_key(|(time, sequence, _)| (*time, *sequence));
                        let expected =
                            model.first().map(|(time, _, event)| (Time::from_nanos(*time), *event));
                        assert_eq!(queue.peek(), expected, "seed {seed}");
                        let Some((at, event)) = expected else { continue };
                        now = at.as_nanos();
                        model.remove(0);
                        if choice == 3 {
                            queue.pop(event);
                        } else {
                            let again = now + stream.below(20);
                            queue.replace(Time::from_nanos(again), event);
                            model.push((again, sequence, event));
                            sequence += 1;
                        }
                    }
                }
            }
        }
    }
}
