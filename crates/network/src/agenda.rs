//! What is due when. The network keeps its changes here, and its driver the times of its hosts
//! ([`Due::Host`]), so that both have one order.
//!
//! Arrivals of packets, at most one per link direction and replaced at every hop, have a heap, or a list in
//! order where links are few. Everything else (timers, radios, applications) has a heap of its own: it is
//! long-lived and would only deepen the first.
//!
//! At one instant measurements come first, then links, radios and MACs change, then hosts act, then packets
//! arrive. Each of the first three comes in the order in which it was scheduled. The packet arrives first that
//! has been the first of its link direction for longest. Of equals the lower direction comes first.
//!
//! That depends on what packets cross, never on what else exists: other links, nodes, flows and radios leave
//! the order of two entries alone. It also lets the network hand a packet on early, and a driver play a host
//! late ([`Batch`](Due::Batch)): packets keep their order. `docs/simulator.md` says why, pair by pair.

mod few;

use cogtcp_units::{Heap, HeapKey, Time};
use few::Few;

/// What is due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Due {
    /// The network changes: [`Network::step`](crate::Network::step) plays it.
    Network(Change),
    /// The driver plays the host at the end of this link direction, which takes its packets in batches.
    Batch(u32),
    /// Something of the driver's own, by its code ([`host_code`]). The network does not interpret it.
    Host(u32),
}

/// A change of the network, which only the network can read: its code, as decoding it costs what many
/// arrivals do not need.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Change(u32);

/// The kinds of change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// The head of a link direction's packets in flight reaches the far end.
    Arrival(u32),
    /// The transmitter of a link direction with a queue discipline takes the next packet.
    Transmission(u32),
    /// A radio's phase changes.
    Radio(u32),
    /// A pair of wireless stations has something to do.
    Pair(u32),
    /// A cell has something to do.
    Cell(u32),
    /// Something happens in the ad hoc network.
    Air,
    /// The ad hoc network takes what hosts have sent.
    Sending,
    /// The places of nodes are recorded.
    Positions,
    /// A link direction hands its packets on at the latest.
    HandOn(u32),
    /// The packets that have reached a link direction are played at the latest.
    Inlet(u32),
}

// The lower word of a key: 40 bits of order, 24 bits of code.
const INDEX_BITS: u32 = 20;
pub(crate) const CODE_BITS: u32 = INDEX_BITS + 4;
/// Of entries that are no arrivals, two bits of the order are the [`Rank`].
const SEQUENCE_BITS: u32 = 64 - CODE_BITS - 2;

/// Order of entries at one instant, arrivals apart, which come last.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Rank {
    /// A measurement: it finds what was before the instant.
    Measurement,
    /// A link, a radio or a MAC changes: what holds at the instant.
    Link,
    /// A host acts: it finds links as they are then.
    Host,
}

/// Indices of changes and of hosts' entries lie below this.
pub const MAX_INDEX: u32 = 1 << INDEX_BITS;

/// Kinds of entry that are the network's own, of sixteen, by bit; all others are free for the driver.
const OWN_KINDS: u32 = 1 | 1 << 2 | 1 << 8 | 1 << 10 | 1 << AIR_KIND | 1 << 14 | 1 << BATCH_KIND;
/// The kind of all that happens in an ad hoc network, and of what is no event.
const AIR_KIND: u32 = 13;
/// First of the indices of that kind that stand for a link direction ([`Kind::HandOn`], [`Kind::Inlet`]).
const HAND_ON: u32 = 3;
/// The kind of a host that takes its packets in batches.
const BATCH_KIND: u32 = 15;

/// Whether an entry of this code is the network's own.
#[inline]
const fn is_own(code: u32) -> bool {
    OWN_KINDS >> (code >> INDEX_BITS) & 1 == 1
}

/// The code of an entry of the driver's own: four bits of kind, the rest for the index.
///
/// # Panics
///
/// In a constant, or with debug assertions: the kind is one of the network's, or one of both is too large.
#[inline]
pub const fn host_code(kind: u32, index: u32) -> u32 {
    let code = kind << INDEX_BITS | index;
    debug_assert!(kind < 16 && index < MAX_INDEX && !is_own(code));
    code
}

/// Kind and index of an entry of the driver's own.
#[inline]
pub const fn host_parts(code: u32) -> (u32, u32) {
    (code >> INDEX_BITS, code & (MAX_INDEX - 1))
}

impl Due {
    /// It in 24 bits: four for the kind, the rest for the index.
    #[inline]
    pub const fn code(self) -> u32 {
        match self {
            Self::Network(Change(code)) | Self::Host(code) => code,
            Self::Batch(direction) => BATCH_KIND << INDEX_BITS | direction,
        }
    }

    /// The arrival of a packet from `direction`.
    #[inline]
    pub const fn arrival(direction: u32) -> Self {
        Self::Network(Change(direction))
    }

    #[inline]
    fn from_code(code: u32) -> Self {
        // Arrivals first, here and wherever a change is read: one comparison tells nearly all of them, and
        // the compiler sees it is the same.
        if is_arrival(code) {
            Self::Network(Change(code))
        } else if !is_own(code) {
            Self::Host(code)
        } else if code >> INDEX_BITS == BATCH_KIND {
            Self::Batch(code & (MAX_INDEX - 1))
        } else {
            Self::Network(Change(code))
        }
    }
}

impl Change {
    /// The link direction of an arrival, which is nearly every change.
    #[inline]
    pub const fn arrival(self) -> Option<u32> {
        if is_arrival(self.0) { Some(self.0) } else { None }
    }

    /// Whether it happens in an ad hoc network, or is no event.
    #[inline]
    pub(crate) const fn is_of_air(self) -> bool {
        !is_arrival(self.0) && self.0 >> INDEX_BITS == AIR_KIND
    }

    pub(crate) fn kind(self) -> Kind {
        let index = self.0 & (MAX_INDEX - 1);
        match self.0 >> INDEX_BITS {
            // Arrivals are kind 0, so that one comparison with the index tells them ([`is_arrival`]).
            0 => Kind::Arrival(index),
            2 => Kind::Radio(index),
            8 => Kind::Pair(index),
            10 => Kind::Transmission(index),
            14 => Kind::Cell(index),
            _ => match index {
                0 => Kind::Air,
                1 => Kind::Sending,
                2 => Kind::Positions,
                _ if (index - HAND_ON).is_multiple_of(2) => Kind::HandOn((index - HAND_ON) / 2),
                _ => Kind::Inlet((index - HAND_ON) / 2),
            },
        }
    }
}

impl Kind {
    #[inline]
    const fn rank(self) -> Rank {
        match self {
            Self::Positions => Rank::Measurement,
            Self::Arrival(_)
            | Self::Transmission(_)
            | Self::Radio(_)
            | Self::Pair(_)
            | Self::Cell(_)
            | Self::Air => Rank::Link,
            // The air takes what all hosts have sent at one instant. The last two are no events.
            Self::Sending | Self::HandOn(_) | Self::Inlet(_) => Rank::Host,
        }
    }

    #[inline]
    const fn code(self) -> u32 {
        let (kind, index) = match self {
            Self::Arrival(direction) => (0, direction),
            Self::Radio(radio) => (2, radio),
            Self::Pair(pair) => (8, pair),
            Self::Transmission(direction) => (10, direction),
            Self::Cell(cell) => (14, cell),
            Self::Air => (AIR_KIND, 0),
            Self::Sending => (AIR_KIND, 1),
            Self::Positions => (AIR_KIND, 2),
            Self::HandOn(direction) => (AIR_KIND, HAND_ON + 2 * direction),
            Self::Inlet(place) => (AIR_KIND, HAND_ON + 2 * place + 1),
        };
        debug_assert!(index < MAX_INDEX);
        kind << INDEX_BITS | index
    }
}

/// Whether an entry of this code is an arrival.
#[inline]
const fn is_arrival(code: u32) -> bool {
    code < MAX_INDEX
}

/// Up to so many link directions are few: a list in order of their arrivals is cheaper than a heap.
const FEW: usize = 32;
const _: () = assert!(FEW <= Few::MOST);

/// What is due, soonest first.
#[derive(Debug)]
pub struct Agenda {
    arrivals: Arrivals,
    others: Heap<u128>,
    /// The first of `others` is done with and still there: the next to be scheduled takes its place, one step
    /// instead of two.
    is_vacant: bool,
    sequence: u64,
    /// The key of the entry that was removed or replaced last, as an arrival would have it.
    current: u128,
}

/// The next arrival of every link direction.
#[derive(Debug)]
enum Arrivals {
    Few(Few),
    Many(Heap<u128>),
}

impl Agenda {
    /// Entries that one run may number: 2^38. Arrivals have no number.
    pub const MAX_SEQUENCE: u64 = 1 << SEQUENCE_BITS;

    /// Nothing is due; there are so many link directions.
    pub(crate) fn new(directions: usize) -> Self {
        let arrivals =
            if directions <= FEW { Arrivals::Few(Few::new()) } else { Arrivals::Many(Heap::default()) };
        Self { arrivals, others: Heap::default(), is_vacant: false, sequence: 0, current: 0 }
    }

    /// Schedules an entry of the driver's own, of [`host_code`].
    #[inline]
    pub fn push_host(&mut self, time: Time, code: u32) {
        debug_assert!(!is_own(code), "code {code:x} is the network's");
        self.push_other(time, Rank::Host, code);
    }

    /// Schedules a measurement of the driver's, of [`host_code`]: it comes before all else at its instant.
    pub fn push_measurement(&mut self, time: Time, code: u32) {
        debug_assert!(!is_own(code), "code {code:x} is the network's");
        self.push_other(time, Rank::Measurement, code);
    }

    /// Schedules a change other than an arrival.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, kind: Kind) {
        debug_assert!(!matches!(kind, Kind::Arrival(_)), "arrivals have an order of their own");
        self.push_other(time, kind.rank(), kind.code());
    }

    /// Schedules the next arrival from `direction`, of a packet that is the first there since `since`.
    #[inline]
    pub(crate) fn push_arrival(&mut self, since: Time, time: Time, direction: u32) {
        self.arrivals.push(arrival_key(since, time, direction));
    }

    /// Schedules the host at the end of `direction` for `time`.
    pub(crate) fn push_batch(&mut self, time: Time, direction: u32) {
        self.arrivals.push(arrival_key(time, time, Due::Batch(direction).code()));
    }

    /// Schedules the host whose batch [`peek`](Self::peek) returned again; `None`: it has no packets.
    pub(crate) fn replace_batch(&mut self, time: Option<Time>, direction: u32) {
        let code = Due::Batch(direction).code();
        debug_assert_eq!(code_of(self.arrivals.first()), code, "what a host does comes later than its batch");
        match time {
            Some(time) => self.arrivals.replace_top(arrival_key(time, time, code)),
            None => self.arrivals.pop(),
        }
    }

    #[inline]
    fn push_other(&mut self, time: Time, rank: Rank, code: u32) {
        // Time, rank, sequence and code in one word: comparing two entries is one comparison, and an entry
        // needs no pointer.
        let order = (rank as u64) << (64 - 2) | self.sequence << CODE_BITS | u64::from(code);
        self.sequence += 1;
        let other = u128::from(time.as_nanos()) << 64 | u128::from(order);
        if std::mem::take(&mut self.is_vacant) {
            self.others.replace_top(other);
        } else {
            self.others.push(other);
        }
    }

    /// What is due next, left in place until it is removed. What is scheduled meanwhile for this instant may
    /// come before it: remove it first.
    #[inline]
    pub fn peek(&mut self) -> Option<(Time, Due)> {
        // Nothing took the place of the entry that is done with: it must not be returned again.
        if std::mem::take(&mut self.is_vacant) {
            self.others.pop();
        }
        let (arrival, other) = (self.arrivals.first(), self.others.first());
        // At the end of all times there may be no other entry.
        let is_arrival_next = time_of(arrival) < time_of(other) || other == NEVER;
        let key = if is_arrival_next { arrival } else { other };
        if key == NEVER {
            return None;
        }
        Some((time_of(key), Due::from_code(code_of(key))))
    }

    /// The packet that arrives next and its link direction, if nothing else is due before or at that time. The
    /// same as [`peek`](Self::peek), for a driver that asks for nearly every event.
    #[inline]
    pub(crate) fn first_arrival(&self) -> Option<(Time, u32)> {
        let key = self.arrivals.first();
        let code = code_of(key);
        // An entry that is done with and still there is no later: then `peek` looks.
        (time_of(key) < time_of(self.others.first()) && is_arrival(code)).then(|| (time_of(key), code))
    }

    /// What is due next of everything but arrivals and batches, left in place as by [`peek`](Self::peek).
    pub fn peek_other(&mut self) -> Option<(Time, Due)> {
        if std::mem::take(&mut self.is_vacant) {
            self.others.pop();
        }
        let key = self.others.first();
        (key != NEVER).then(|| (time_of(key), Due::from_code(code_of(key))))
    }

    /// Removes `due`, which [`peek`](Self::peek) returned and which is no arrival.
    #[inline]
    pub fn pop(&mut self, due: Due) {
        let key = self.others.first();
        debug_assert_eq!(code_of(key), due.code(), "it is the first of its order");
        debug_assert!(!self.is_vacant, "an entry is removed once");
        self.current = first_at(time_of(key));
        self.is_vacant = true;
    }

    /// The entry that is played: arrivals whose keys are lower have been before it.
    pub(crate) fn current(&self) -> u128 {
        self.current
    }

    /// Removes the first arrival, which [`peek`](Self::peek) returned.
    #[inline]
    pub(crate) fn pop_arrival(&mut self) {
        self.current = self.arrivals.first();
        self.arrivals.pop();
    }

    /// Replaces the first arrival by the next one of its `direction`, at `time`. That packet is the first there
    /// since `since`.
    #[expect(clippy::inline_always, reason = "every hop replaces the top")]
    #[inline(always)]
    pub(crate) fn replace_arrival(&mut self, since: Time, time: Time, direction: u32) {
        self.current = self.arrivals.first();
        self.arrivals.replace_top(arrival_key(since, time, direction));
    }

    /// Removes the pending arrival of `direction`; nothing happens if there is none. It is none that
    /// [`peek`](Self::peek) returned.
    #[cold]
    pub(crate) fn cancel_arrival(&mut self, direction: u32) {
        self.arrivals.remove(Kind::Arrival(direction).code());
    }

    /// The arrivals, as link directions, that the last removal or replacement moved closer to the top, of the
    /// five highest levels below the top. The next arrival is the last.
    #[inline]
    pub fn approaching(&self) -> [Option<u32>; 5] {
        // Few arrivals are in a list, which has no levels.
        let Arrivals::Many(heap) = &self.arrivals else { return [None; 5] };
        raised(heap).map(|key| key.map(|key| key as u32 & (MAX_INDEX - 1)))
    }

    /// Whether so many arrivals are pending that [`approaching`](Self::approaching) says something: where
    /// there are few, what they touch is in the caches anyway.
    #[inline]
    pub fn is_deep(&self) -> bool {
        matches!(&self.arrivals, Arrivals::Many(heap) if heap.len() >= LEVEL_ENDS[1])
    }

    /// Whether there are so many link directions that batches pay.
    pub(crate) fn is_large(&self) -> bool {
        matches!(self.arrivals, Arrivals::Many(_))
    }

    /// How many entries have a number so far.
    pub fn scheduled(&self) -> u64 {
        self.sequence
    }
}

/// The key of an arrival, or of a host that takes its packets in batches.
#[inline]
pub(crate) fn arrival_key(since: Time, time: Time, code: u32) -> u128 {
    // The longer the packet has been the first, the lower. 40 bits suffice for 18 minutes; beyond, the order
    // still depends on links alone.
    let order = !(time.as_nanos() - since.as_nanos()) << CODE_BITS;
    u128::from(time.as_nanos()) << 64 | u128::from(order | u64::from(code))
}

/// Lower than the keys of all arrivals at `time`.
#[inline]
pub(crate) fn first_at(time: Time) -> u128 {
    u128::from(time.as_nanos()) << 64
}

impl Arrivals {
    #[inline]
    fn first(&self) -> u128 {
        match self {
            Self::Few(few) => few.first(),
            Self::Many(heap) => heap.first(),
        }
    }

    #[inline]
    fn push(&mut self, key: u128) {
        match self {
            Self::Few(few) => few.push(key),
            Self::Many(heap) => heap.push(key),
        }
    }

    #[inline]
    fn pop(&mut self) {
        match self {
            Self::Few(few) => few.pop(),
            Self::Many(heap) => heap.pop(),
        }
    }

    #[expect(clippy::inline_always, reason = "every hop replaces the top")]
    #[inline(always)]
    fn replace_top(&mut self, key: u128) {
        match self {
            Self::Few(few) => few.replace_top(key),
            Self::Many(heap) => heap.replace_top(key),
        }
    }

    fn remove(&mut self, code: u32) {
        match self {
            Self::Few(few) => few.remove(code),
            Self::Many(heap) => remove(heap, code),
        }
    }
}

/// First place below each of the levels 5, 4, 3, 2 and 1; the top is level 0.
const LEVEL_ENDS: [usize; 5] = [1365, 341, 85, 21, 5];

/// The time of an entry.
#[inline]
pub(crate) fn time_of(key: u128) -> Time {
    Time::from_nanos((key >> 64) as u64)
}

/// The code of an entry.
#[inline]
pub(crate) fn code_of(key: u128) -> u32 {
    // The cast drops the time and most of the order, the mask the rest of it.
    key as u32 & ((1 << CODE_BITS) - 1)
}

/// Later than every key.
const NEVER: u128 = <u128 as HeapKey>::NEVER;

/// Removes the key of the entry of this code, wherever it is.
fn remove(heap: &mut Heap<u128>, code: u32) {
    let is_its = |place: &usize| code_of(heap.key(*place)) == code;
    // A search through the whole heap: only a link that goes down in a silence asks for it.
    // None is pending: there is nothing to cancel.
    if let Some(place) = (0..heap.len()).find(is_its) {
        heap.remove(place);
    }
}

/// The keys that the last replacement of the top moved up, of levels 5 to 1.
#[inline]
fn raised(heap: &Heap<u128>) -> [Option<u128>; 5] {
    let rest = heap.rest();
    let mut place = rest;
    LEVEL_ENDS.map(|end| {
        // The parent of a place in a heap with four children each; `(end - 1) / 4` is the first place of a
        // level.
        while place >= end {
            place = (place - 1) / 4;
        }
        (place >= (end - 1) / 4 && place != rest).then(|| heap.key(place))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::RandomStream;

    /// Link directions for which there is a heap.
    const MANY: usize = FEW + 1;

    fn timer(end: u32) -> Due {
        Due::Host(host_code(1, end))
    }

    fn push(agenda: &mut Agenda, time: Time, due: Due) {
        match due {
            Due::Network(change) => agenda.push_arrival(time, time, change.arrival().unwrap()),
            Due::Batch(direction) => agenda.push_batch(time, direction),
            Due::Host(code) => agenda.push_host(time, code),
        }
    }

    fn pop(agenda: &mut Agenda, due: Due) {
        if is_arrival(due.code()) { agenda.pop_arrival() } else { agenda.pop(due) }
    }

    #[test]
    fn entries_survive_their_code() {
        let last = MAX_INDEX - 1;
        let kinds = [
            Kind::Arrival(last),
            Kind::Transmission(last),
            Kind::HandOn(last / 4),
            Kind::Inlet(last / 4),
            Kind::Radio(0),
            Kind::Pair(last),
            Kind::Cell(0),
        ];
        for kind in kinds.into_iter().chain([Kind::Air, Kind::Sending, Kind::Positions]) {
            let Due::Network(change) = Due::from_code(kind.code()) else { panic!("{kind:?}") };
            assert_eq!(change.kind(), kind);
            assert_eq!(change.arrival().is_some(), matches!(kind, Kind::Arrival(_)));
        }
        assert_eq!(Due::from_code(Due::Batch(last).code()), Due::Batch(last));
        for kind in (0..16).filter(|kind| !is_own(kind << INDEX_BITS)) {
            let code = host_code(kind, last);
            assert_eq!((Due::from_code(code), host_parts(code)), (Due::Host(code), (kind, last)));
        }
    }

    /// Measurements, changes of links, hosts in the order of scheduling, then arrivals: by how long their
    /// packet has been the first, then by direction.
    #[test]
    fn equal_times_have_one_order() {
        let (early, late, t) = (Time::from_millis(1), Time::from_millis(2), Time::from_millis(3));
        let (sample, radio) = (host_code(7, 0), Kind::Radio(0));
        let expected = [
            Due::Host(sample),
            Due::from_code(radio.code()),
            timer(7),
            timer(6),
            Due::arrival(2),
            Due::arrival(3),
            Due::arrival(5),
        ];
        for directions in [FEW, MANY] {
            let mut queue = Agenda::new(directions);
            // Scheduled out of order: a packet may be handed on before its time.
            queue.push_arrival(late, t, 5);
            queue.push_arrival(early, t, 3);
            queue.push_arrival(early, t, 2);
            push(&mut queue, t, timer(7));
            push(&mut queue, late, timer(8));
            assert_eq!(queue.peek(), Some((late, timer(8))));
            queue.pop(timer(8));
            push(&mut queue, t, timer(6));
            queue.push(t, radio);
            queue.push_measurement(t, sample);
            for event in expected {
                assert_eq!(queue.peek(), Some((t, event)), "{directions} link directions");
                pop(&mut queue, event);
            }
            assert_eq!(queue.peek(), None);
        }
    }

    /// A batch is scheduled again or removed in its place; timers can be asked for apart from arrivals.
    #[test]
    fn batches_and_timers_can_be_asked_for_apart() {
        let mut queue = Agenda::new(MANY);
        queue.push_batch(Time::from_millis(2), 5);
        queue.push_arrival(Time::ZERO, Time::from_millis(4), 6);
        push(&mut queue, Time::from_millis(3), timer(1));
        assert_eq!(queue.peek(), Some((Time::from_millis(2), Due::Batch(5))));
        assert_eq!(queue.peek_other(), Some((Time::from_millis(3), timer(1))));
        queue.replace_batch(Some(Time::from_millis(5)), 5);
        assert_eq!(queue.peek(), Some((Time::from_millis(3), timer(1))));
        queue.pop(timer(1));
        assert_eq!(queue.peek_other(), None);
        assert_eq!(queue.peek(), Some((Time::from_millis(4), Due::arrival(6))));
        queue.pop_arrival();
        assert_eq!(queue.peek(), Some((Time::from_millis(5), Due::Batch(5))));
        queue.replace_batch(None, 5);
        assert_eq!(queue.peek(), None);
    }

    /// The keys that a replacement of the top moves from one of the levels 2 to 6 to the one above are those
    /// named, each once.
    #[test]
    fn names_what_approaches() {
        let level = |place: usize| LEVEL_ENDS.iter().filter(|end| place < **end).count();
        let mut stream = RandomStream::new(7, "queue", 0);
        let directions = 6000;
        let mut queue = Agenda::new(directions as usize);
        for direction in 0..directions {
            let time = Time::from_nanos(stream.below(1000));
            queue.push_arrival(time, time, direction);
        }
        assert!(queue.is_deep());
        let levels = |queue: &Agenda| -> Vec<usize> {
            let mut levels = vec![0; directions as usize];
            let Arrivals::Many(heap) = &queue.arrivals else { panic!("a heap for {directions} directions") };
            for place in 1..heap.len() {
                let direction = heap.key(place) as u32 & (MAX_INDEX - 1);
                levels[direction as usize] = level(place);
            }
            levels
        };
        let mut named = [0; 5];
        for _ in 0..2000 {
            let Some((now, event)) = queue.peek() else { break };
            let before = levels(&queue);
            let top = event.code();
            let next = now + cogtcp_units::Duration::from_nanos(stream.below(1000));
            queue.replace_arrival(now, next, top);
            let after = levels(&queue);
            for (i, direction) in queue.approaching().into_iter().enumerate() {
                // Levels counted from the sixth (0) to the first (5); the top itself is not looked at.
                let moved = (0..directions as usize).find(|direction| {
                    *direction as u32 != top && before[*direction] == i && after[*direction] == i + 1
                });
                assert_eq!(direction.map(|direction| direction as usize), moved);
                named[i] += usize::from(direction.is_some());
            }
        }
        assert!(named.iter().all(|count| *count > 1000), "{named:?}");
    }

    /// Against a sorted list: 200 rounds of random pushes, pops and replacements with many equal times, where
    /// links are few and where they are many.
    #[test]
    fn agrees_with_a_sorted_list() {
        for (seed, directions) in (0..200).flat_map(|seed| [(seed, FEW), (seed, MANY)]) {
            let mut stream = RandomStream::new(seed, "queue", 0);
            let mut queue = Agenda::new(directions);
            // By time, then by rank, 3 for arrivals; these by since when their packet is the first and by
            // direction, all else in sequence.
            type Order = (u64, u64, u64);
            let mut model: Vec<(u64, Order, Due)> = Vec::new();
            let mut now = 0;
            for sequence in 0..600 {
                let time = now + stream.below(20);
                let draw = stream.below(2 * directions as u64) as u32;
                let event = match draw % 2 {
                    0 => Due::arrival(draw / 2),
                    _ => match stream.below(3) {
                        0 => Due::Host(host_code(7, draw)),
                        1 => Due::from_code(Kind::Radio(draw).code()),
                        _ => timer(draw),
                    },
                };
                let arrival = |event: Due| match event {
                    Due::Network(change) => change.arrival(),
                    _ => None,
                };
                let since = now + stream.below(1 + time - now);
                let order = |event: Due, since: u64| match event {
                    _ if let Some(direction) = arrival(event) => (3, since, u64::from(direction)),
                    Due::Host(code) if code >> INDEX_BITS == 7 => (0, sequence, 0),
                    Due::Network(_) => (1, sequence, 0),
                    _ => (2, sequence, 0),
                };
                let schedule = |queue: &mut Agenda, time: u64, event: Due| {
                    let time = Time::from_nanos(time);
                    match event {
                        Due::Host(code) if code >> INDEX_BITS == 7 => queue.push_measurement(time, code),
                        Due::Host(code) => queue.push_host(time, code),
                        Due::Network(change) => queue.push(time, change.kind()),
                        Due::Batch(_) => unreachable!("the test draws no batch"),
                    }
                };
                match stream.below(6) {
                    5 if let Some(direction) = arrival(event) => {
                        // One that is pending, or not.
                        queue.cancel_arrival(direction);
                        model.retain(|(.., other)| *other != event);
                    }
                    // A link direction has one arrival at most.
                    0..=2 if arrival(event).is_none() || model.iter().all(|(.., other)| *other != event) => {
                        match arrival(event) {
                            Some(direction) => {
                                let (since, time) = (Time::from_nanos(since), Time::from_nanos(time));
                                queue.push_arrival(since, time, direction);
                            }
                            None => schedule(&mut queue, time, event),
                        }
                        model.push((time, order(event, since), event));
                    }
                    choice @ (3 | 4) => {
                        model.sort_by_key(|(time, order, _)| (*time, *order));
                        let expected =
                            model.first().map(|(time, _, event)| (Time::from_nanos(*time), *event));
                        assert_eq!(queue.peek(), expected, "seed {seed}");
                        let Some((at, event)) = expected else { continue };
                        now = at.as_nanos();
                        model.remove(0);
                        let again = now + stream.below(20);
                        match arrival(event) {
                            Some(_) if choice == 3 => queue.pop_arrival(),
                            Some(direction) => queue.replace_arrival(at, Time::from_nanos(again), direction),
                            None => queue.pop(event),
                        }
                        if choice == 4 {
                            if arrival(event).is_none() {
                                schedule(&mut queue, again, event);
                            }
                            model.push((again, order(event, now), event));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}
