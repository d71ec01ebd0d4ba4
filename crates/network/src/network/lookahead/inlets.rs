//! Links whose packets come from hosts one link away.
//!
//! Such a link, a bottleneck as a rule, changes nothing at its hosts before a packet has crossed it and the link
//! to the host. So the link may be played later by these two propagation delays, less a nanosecond, and at most by
//! 50 ms. Until then its packets need no order and no events. They lie in an inlet, are sorted when they are
//! played, and their memory is asked for early.

mod order;

use super::Network;
use crate::agenda::{CODE_BITS, Kind, arrival_key, code_of, first_at, time_of};
use crate::hop::Mark;
use crate::observer::Observer;
use crate::payload::Payload;
use cogtcp_link::Frame;
use cogtcp_units::{Duration, Time, prefetch};
use order::{Sorter, rank};

/// A run looks at cancellation only between two rounds.
const LONGEST_PERIOD: Duration = Duration::from_millis(50);
/// The first round. Later ones are longer where few packets come.
const FIRST_PERIOD: Duration = Duration::from_millis(1);
/// So many packets a round make its cost small.
const MANY: usize = 64;
/// So many packets before a packet is played, its memory is asked for.
const PREFETCH_DISTANCE: usize = 8;

/// The packets on their way to a link direction.
#[derive(Debug)]
pub(in crate::network) struct Inlet<P> {
    direction: u32,
    /// When each packet arrives and in what order, and its place in `frames`.
    keys: Vec<u128>,
    is_sorted: bool,
    sorter: Sorter,
    frames: Vec<Frame<P>>,
    free: Vec<u32>,
    /// Packets are played at most so long after they arrive.
    period: Duration,
    longest: Duration,
    /// When they are played at the latest; [`Time::MAX`]: there are none.
    due: Time,
    /// Up to when packets have been played.
    played: Time,
}

impl<P: Payload> Inlet<P> {
    /// No packets, on their way to `direction`, which may be played `slack` late.
    pub(in crate::network) fn new(direction: u32, slack: Duration) -> Self {
        let longest = slack.min(LONGEST_PERIOD);
        Self {
            direction,
            keys: Vec::new(),
            is_sorted: true,
            sorter: Sorter::default(),
            frames: Vec::new(),
            free: Vec::new(),
            period: FIRST_PERIOD.min(longest),
            longest,
            due: Time::MAX,
            played: Time::ZERO,
        }
    }

    /// Adds a packet that arrives at `arrival`, and has been the first of its link direction since `since`.
    /// Returns when the packets are to be played at the latest, if that is to be scheduled.
    #[expect(clippy::inline_always, reason = "the packet is made in the inlet, and not copied there")]
    #[inline(always)]
    pub(in crate::network) fn add(&mut self, since: Time, arrival: Time, frame: Frame<P>) -> Option<Time> {
        debug_assert!(arrival >= self.played, "packets are played after all have come");
        let place = match self.free.pop() {
            Some(place) => {
                self.frames[place as usize] = frame;
                place
            }
            None => {
                self.frames.push(frame);
                // A place has to fit in a key. So many packets take a gigabyte.
                assert!(self.frames.len() <= 1 << CODE_BITS, "too many packets on their way to a link");
                self.frames.len() as u32 - 1
            }
        };
        let key = arrival_key(since, arrival, place);
        self.is_sorted &= self.keys.last().is_none_or(|last| rank(*last) < rank(key));
        self.keys.push(key);
        self.schedule(arrival)
    }

    /// Returns when the packets are to be played at the latest, now that one arrives at `arrival`, if that is
    /// to be scheduled.
    #[inline]
    fn schedule(&mut self, arrival: Time) -> Option<Time> {
        let due = arrival + self.period;
        (due < self.due).then(|| {
            self.due = due;
            due
        })
    }

    /// Packets that are on their way.
    pub(in crate::network) fn visit(&self, visit: &mut dyn FnMut(&Frame<P>)) {
        self.keys.iter().for_each(|key| visit(&self.frames[code_of(*key) as usize]));
    }
}

impl<P: Payload> Network<P> {
    /// The packets of an inlet are to be played at the latest now.
    #[cold]
    pub(in crate::network) fn play_inlet_late(
        &mut self,
        now: Time,
        number: u32,
        observer: &mut impl Observer<P>,
    ) {
        let inlet = &mut self.inlets[number as usize];
        if inlet.due != now {
            // One that arrives earlier has come since.
            return;
        }
        inlet.due = Time::MAX;
        let played = self.play_inlet(first_at(now), now, number, observer);
        let inlet = &mut self.inlets[number as usize];
        // What stays is sorted again next time.
        if played < MANY.max(inlet.keys.len()) {
            inlet.period = (inlet.period * 2).min(inlet.longest);
        }
        if let Some(first) = inlet.keys.iter().copied().min()
            && let Some(at) = inlet.schedule(time_of(first))
        {
            self.agenda.push(at, Kind::Inlet(number));
        }
    }

    /// Whether any link has an inlet.
    pub fn has_inlets(&self) -> bool {
        !self.inlets.is_empty()
    }

    /// Plays all packets that have reached their links `now`, before the event that is played.
    pub(super) fn play_inlets(&mut self, now: Time, observer: &mut impl Observer<P>) {
        self.play_all_inlets(self.agenda.current(), now, observer);
    }

    /// Plays all packets that have reached their links by `now`, when somebody looks who has declared it. A
    /// packet that arrives at `now` and is there has had its turn.
    pub(super) fn play_inlets_to(&mut self, now: Time, observer: &mut impl Observer<P>) {
        self.play_all_inlets(first_at(now + Duration::from_nanos(1)), now, observer);
    }

    fn play_all_inlets(&mut self, until: u128, now: Time, observer: &mut impl Observer<P>) {
        for number in 0..self.inlets.len() as u32 {
            self.play_inlet(until, now, number, observer);
        }
    }

    /// Plays the packets that have reached `direction` before `until`, where it has an inlet.
    pub(in crate::network) fn play_inlet_of(
        &mut self,
        until: Time,
        direction: u32,
        observer: &mut impl Observer<P>,
    ) {
        if let Ok(number) = self.inlets.binary_search_by_key(&direction, |inlet| inlet.direction) {
            self.play_inlet(first_at(until), until, number as u32, observer);
        }
    }

    /// Plays the packets of an inlet that arrive before `until`, a key of the agenda, then what has begun by
    /// `now`. Returns how many have arrived.
    fn play_inlet(&mut self, until: u128, now: Time, number: u32, observer: &mut impl Observer<P>) -> usize {
        let inlet = &mut self.inlets[number as usize];
        inlet.played = inlet.played.max(time_of(until).min(now));
        let direction = inlet.direction;
        // Taken out: playing them needs the whole network, and adds nothing to them.
        let mut keys = std::mem::take(&mut inlet.keys);
        let frames = std::mem::take(&mut inlet.frames);
        let routes = &self.routes;
        // The hop before this one: the link direction that the packet comes from.
        let from = |key: u128| routes[frames[code_of(key) as usize].packet.transit().next as usize - 1];
        if !std::mem::replace(&mut inlet.is_sorted, true) {
            inlet.sorter.sort(&mut keys, from);
        }
        let count = keys.partition_point(|key| {
            rank(*key) < rank(until) || rank(*key) == rank(until) && from(*key) < code_of(until)
        });
        // Until all are played, nothing is scheduled: it might be for the past.
        let had_deadline = self.directions[direction as usize].put(Mark::Deadline);
        for (number, key) in keys[..count].iter().enumerate() {
            if let Some(later) = keys.get(number + PREFETCH_DISTANCE) {
                prefetch(&frames[code_of(*later) as usize], 1);
            }
            self.put_ahead(time_of(*key), direction, &frames[code_of(*key) as usize], observer);
        }
        self.directions[direction as usize].set(Mark::Deadline, had_deadline);
        self.hand_on(now, now, direction, observer);
        self.see_to_first(direction);
        let inlet = &mut self.inlets[number as usize];
        inlet.free.extend(keys.drain(..count).map(code_of));
        (inlet.keys, inlet.frames) = (keys, frames);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
    struct Numbered(u32);
    impl cogtcp_link::LinkPayload for Numbered {}
    impl Payload for Numbered {
        fn transit(&self) -> crate::Transit {
            crate::Transit::default()
        }
        fn set_transit(&mut self, _: crate::Transit) {}
    }

    /// The first round is of 1 ms; the link and the host behind it allow no longer one, and no round is longer than
    /// 50 ms.
    #[test]
    fn packets_are_played_within_a_period() {
        let ms = Duration::from_millis;
        for (slack, period, longest) in [(ms(90), ms(1), ms(50)), (ms(7), ms(1), ms(7))] {
            let inlet = Inlet::<Numbered>::new(3, slack);
            assert_eq!((inlet.period, inlet.longest, inlet.due), (period, longest, Time::MAX));
        }
        let short = Duration::from_micros(3);
        assert_eq!(Inlet::<Numbered>::new(3, short).period, short);
    }

    /// Only a packet that is to be played earlier than all is scheduled. Packets that come in order need no sort; of
    /// two at one place in the order the link directions decide.
    #[test]
    fn the_earliest_packet_is_scheduled() {
        let at = Time::from_millis;
        let mut inlet = Inlet::new(3, Duration::from_millis(9));
        let mut add = |since, arrival, number| {
            let due = inlet.add(at(since), at(arrival), Frame::new(Numbered(number), 100));
            (due, inlet.is_sorted)
        };
        assert_eq!(add(1, 5, 0), (Some(at(6)), true));
        assert_eq!(add(1, 7, 1), (None, true));
        assert_eq!(add(2, 7, 2), (None, true));
        assert_eq!(add(2, 7, 3), (None, false));
        assert_eq!(add(1, 4, 4), (Some(at(5)), false));
        let mut seen = Vec::new();
        inlet.visit(&mut |frame| seen.push(frame.packet.0));
        assert_eq!(seen, [0, 1, 2, 3, 4]);
        // A place that is free is used again.
        inlet.free.push(2);
        inlet.add(at(3), at(9), Frame::new(Numbered(5), 100));
        assert_eq!((inlet.frames.len(), inlet.frames[2].packet, inlet.free.len()), (5, Numbered(5), 0));
    }
}
