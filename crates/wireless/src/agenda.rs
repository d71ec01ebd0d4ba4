//! What the medium does next: stations that act, frames that begin to be heard, frames that end.
//!
//! The entry of a station is a lower bound of the time at which it acts, so a backoff that freezes and
//! resumes costs nothing here.

mod far;
mod wheel;

use cogtcp_units::Time;
use std::collections::VecDeque;
use wheel::Wheel;

/// The order of events at one time. Frames end; frames begin to be heard to which a station defers though its
/// own slot ends just then (`Rules::defers_at_slot_end`); stations act; frames begin to be heard. Without a
/// delay stations always act first: otherwise no two of them would ever begin at once.
mod class {
    pub(super) const ENDS: u8 = 0;
    pub(super) const HEARD_FIRST: u8 = 1;
    pub(super) const ACTS: u8 = 2;
    pub(super) const HEARD: u8 = 3;
}

/// Time, then class, then number, in one number: comparing two costs no branch, which no processor could
/// predict.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Entry(u128);

impl Entry {
    const NEVER: Self = Self(u128::MAX);

    fn new(at: Time, class: u8, number: u32) -> Self {
        Self(u128::from(at.as_nanos()) << 64 | u128::from(class) << 32 | u128::from(number))
    }

    fn at(self) -> Time {
        Time::from_nanos((self.0 >> 64) as u64)
    }

    fn class(self) -> u8 {
        (self.0 >> 32) as u8
    }

    fn number(self) -> u32 {
        self.0 as u32
    }
}

/// What is due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Due {
    /// A station may have something to do.
    Acts(u32),
    /// A frame begins to be heard.
    Heard(u32),
    /// A frame has ended.
    Ends(u32),
}

/// What is due, by time, then what it is, then number: the order never depends on the history. At most one
/// entry for each station and one for each frame.
#[derive(Debug)]
pub(crate) struct Agenda {
    stations: Wheel,
    /// All are heard after the same delay, so that each new one is the last, or among the last.
    heard: VecDeque<Entry>,
    ends: Wheel,
}

impl Default for Agenda {
    fn default() -> Self {
        Self { stations: Wheel::new(class::ACTS), heard: VecDeque::new(), ends: Wheel::new(class::ENDS) }
    }
}

impl Agenda {
    #[inline]
    fn entry(&self) -> Entry {
        let heard = self.heard.front().copied().unwrap_or(Entry::NEVER);
        self.stations.first().min(heard).min(self.ends.first())
    }

    /// The time of the first entry; `Time::MAX`: there is none.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.entry().at()
    }

    /// Returns the first entry, which stays. A station's entry is usually postponed, which is one step less
    /// than out and in again.
    pub(crate) fn first(&self) -> Option<(Time, Due)> {
        let first = self.entry();
        if first == Entry::NEVER {
            return None;
        }
        let number = first.number();
        let due = match first.class() {
            class::ENDS => Due::Ends(number),
            class::ACTS => Due::Acts(number),
            _ => Due::Heard(number),
        };
        Some((first.at(), due))
    }

    /// The station whose entry is the first of all stations'.
    #[inline]
    pub(crate) fn first_station(&self) -> Option<u32> {
        let first = self.stations.first();
        (first != Entry::NEVER).then(|| first.number())
    }

    /// The frame that ends before all others.
    #[inline]
    pub(crate) fn first_end(&self) -> Option<u32> {
        let first = self.ends.first();
        (first != Entry::NEVER).then(|| first.number())
    }

    /// A station acts at `at`, whatever was said before; `Time::MAX`: it does not.
    pub(crate) fn act(&mut self, station: u32, at: Time) {
        self.stations.set(station, at);
    }

    /// Ensures that `station` is due at `at` or before; an earlier entry stays. A station that is due too
    /// early looks and returns: cheaper than moving the entry whenever a backoff freezes and resumes.
    pub(crate) fn act_at_latest(&mut self, station: u32, at: Time) {
        if at < self.stations.get(station) {
            self.act(station, at);
        }
    }

    /// A frame begins to be heard at `at`; `first`: before stations act that do so then.
    pub(crate) fn hear(&mut self, frame: u32, at: Time, first: bool) {
        let entry = Entry::new(at, if first { class::HEARD_FIRST } else { class::HEARD }, frame);
        // From the back: only frames of the same moment can come after this one.
        let later = self.heard.iter().rev().take_while(|other| **other > entry).count();
        self.heard.insert(self.heard.len() - later, entry);
    }

    /// The first frame is heard, and ends at `until`.
    pub(crate) fn end(&mut self, frame: u32, until: Time) {
        debug_assert_eq!(self.heard.front().map(|entry| entry.number()), Some(frame));
        self.heard.pop_front();
        if self.heard.is_empty() {
            // Back to the start of its memory, which is in the caches.
            self.heard.clear();
        }
        self.ends.set(frame, until);
    }

    /// A frame has ended.
    pub(crate) fn remove(&mut self, frame: u32) {
        self.ends.set(frame, Time::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::{Duration, RandomStream};
    use std::collections::BTreeMap;

    /// Against a sorted map: stations are put off and brought forward, frames begin and end, with and without
    /// a delay.
    #[test]
    fn entries_come_in_order_whatever_moved() {
        for (delay, first) in [(0, false), (3, false), (3, true)] {
            let mut stream = RandomStream::new(1, "agenda", delay);
            let heard = if first { class::HEARD_FIRST } else { class::HEARD };
            let (mut agenda, mut model) = (Agenda::default(), BTreeMap::new());
            let (mut now, mut free) = (Time::ZERO, (0..20).collect::<Vec<u32>>());
            for _ in 0..30_000 {
                let station = stream.below(60) as u32;
                let later = now + Duration::from_nanos(stream.below(40));
                match stream.below(5) {
                    0 => {
                        agenda.act(station, Time::MAX);
                        model.remove(&(false, station));
                    }
                    1 => {
                        agenda.act(station, later);
                        model.insert((false, station), (later, class::ACTS));
                    }
                    2 => {
                        agenda.act_at_latest(station, later);
                        let entry = model.entry((false, station)).or_insert((later, class::ACTS));
                        *entry = (*entry).min((later, class::ACTS));
                    }
                    3 if !free.is_empty() => {
                        let frame = free.swap_remove(stream.below(free.len() as u64) as usize);
                        let at = now + Duration::from_nanos(delay);
                        agenda.hear(frame, at, first);
                        model.insert((true, frame), (at, heard));
                    }
                    _ => {
                        let first = model.iter().map(|(key, (at, class))| (*at, *class, key.1)).min();
                        assert_eq!(agenda.next(), first.map_or(Time::MAX, |first| first.0));
                        let Some((at, class, number)) = first else { continue };
                        now = at;
                        let due = match class {
                            class::ENDS => Due::Ends(number),
                            class::ACTS => Due::Acts(number),
                            _ => Due::Heard(number),
                        };
                        assert_eq!(agenda.first(), Some((at, due)));
                        let later = now + Duration::from_nanos(1 + stream.below(100));
                        match due {
                            Due::Acts(station) => {
                                agenda.act(station, Time::MAX);
                                model.remove(&(false, station));
                            }
                            Due::Heard(frame) => {
                                agenda.end(frame, later);
                                model.insert((true, frame), (later, class::ENDS));
                            }
                            Due::Ends(frame) => {
                                agenda.remove(frame);
                                model.remove(&(true, frame));
                                free.push(frame);
                            }
                        }
                    }
                }
            }
        }
    }
}
