//! The pairs of wireless stations: what they do to the link directions that they serve.

use super::Network;
use crate::agenda::Kind;
use crate::build::PlacedPair;
use crate::hop::Mark;
use crate::impossible;
use crate::observer::{Arrival, Observer, PacketStep};
use crate::payload::Payload;
use crate::station_pair::{MacCounters, PairEvent, StationPair};
use cogtcp_units::{Rate, Time};

/// A pair of wireless stations with its place among the events.
#[derive(Debug)]
pub(super) struct ServedPair {
    /// Its radio's place in the layout.
    pub(super) radio: usize,
    pub(super) pair: StationPair,
    /// When its pending event is due; [`Time::MAX`]: none is.
    armed: Time,
    /// When the pair has something to do next, if nothing has changed since that was asked.
    due: Option<Time>,
}

impl ServedPair {
    /// The time for which an event must be scheduled now; `None`: one is pending that comes early enough.
    fn arm(&mut self) -> Option<Time> {
        let due = self.pair.next_change();
        self.due = Some(due);
        (due < self.armed).then(|| {
            self.armed = due;
            due
        })
    }

    /// Whether the event that is due at `now` is the pending one, which it is no longer.
    fn fires(&mut self, now: Time) -> bool {
        let is_armed = self.armed == now;
        if is_armed {
            self.armed = Time::MAX;
        }
        // What it was scheduled for may have moved (a station froze meanwhile).
        is_armed && self.due.take().unwrap_or_else(|| self.pair.next_change()) <= now
    }
}

impl<P: Payload> Network<P> {
    /// Adds a pair of wireless stations.
    pub(super) fn add_pair(&mut self, PlacedPair { radio, mut pair }: PlacedPair) {
        pair.begin(&mut self.directions);
        self.pairs.push(ServedPair { radio, pair, armed: Time::MAX, due: None });
    }

    /// Schedules the first event of every pair.
    pub(super) fn begin_pairs(&mut self) {
        for place in 0..self.pairs.len() {
            self.arm_pair(Time::ZERO, place);
        }
    }

    /// A pair of wireless stations may have something to do. A packet that has reached its host is put `into`
    /// its place, and true returned.
    pub(super) fn step_pair(
        &mut self,
        now: Time,
        place: u32,
        observer: &mut impl Observer<P>,
        into: &mut Arrival<P>,
    ) -> bool {
        let Some(served) = self.pairs.get_mut(place as usize) else {
            impossible("an event of a pair that is not there");
            return false;
        };
        let mut has_arrived = false;
        // An entry that an earlier one has overtaken is stale.
        if served.fires(now) {
            let (number, pair) = (served.radio, &mut served.pair);
            let finished = pair.step(now, &mut self.directions, &mut self.pair_events);
            for event in self.pair_events.drain(..) {
                match event {
                    PairEvent::Radio(unit, time, event) => {
                        observer.radio(time, (number, unit), event, Rate::ZERO);
                    }
                    PairEvent::Board(end, time, event) => {
                        let (node, link) = (pair.nodes()[end], pair.directions()[end] as usize / 2);
                        self.boards.publish(node, time, link, event, Rate::ZERO);
                    }
                    PairEvent::Interference(direction, frame) => observer.interference(now, direction, frame),
                }
            }
            for (direction, exchange) in pair.directions().into_iter().zip(&finished.decided) {
                if let Some(exchange) =
                    exchange.as_ref().filter(|_| self.directions[direction as usize].is(Mark::Watched))
                {
                    self.budget.decide(now, direction, exchange);
                }
            }
            if let Some((direction, cause)) = finished.dropped {
                let frame = self.directions[direction as usize].end_service(now, Some(cause));
                self.drop_packet(now, direction, &frame, (cause, false), observer);
                self.attend(now, direction, observer);
            }
            if let Some(direction) = finished.delivered {
                self.hops += 1;
                let mut frame = self.directions[direction as usize].end_service(now, None);
                self.stamp_at(now, direction, &mut frame);
                self.attend(now, direction, observer);
                self.record(now, PacketStep::Received, direction, &frame, observer);
                *into = Arrival { at: now, direction: Some(direction), frame };
                has_arrived = self.forward(self.directions[direction as usize].next, into, observer);
            }
        }
        // Even if nothing was due: the entry is used up, and what it was for may only have moved.
        self.arm_pair(now, place as usize);
        self.has_news |= self.boards.has_news();
        has_arrived
    }

    fn arm_pair(&mut self, now: Time, place: usize) {
        let ServedPair { pair, .. } = &mut self.pairs[place];
        pair.feed(now, &self.directions);
        for (end, direction) in pair.directions().into_iter().enumerate() {
            if self.directions[direction as usize].is(Mark::Watched) {
                self.budget.observe(now, direction, pair.occupation(end, &self.directions));
            }
        }
        if let Some(time) = self.pairs[place].arm() {
            self.agenda.push(time, Kind::Pair(place as u32));
        }
    }

    /// A link has a packet that its MAC does not know of.
    pub(super) fn wake(&mut self, now: Time, direction: u32) {
        if let Some(place) =
            self.pairs.iter().position(|served| served.pair.directions().contains(&direction))
        {
            self.arm_pair(now, place);
        } else {
            self.wake_cell(now, direction);
        }
    }

    /// What the MAC counted that serves `direction`, since the end of the warm-up; nothing where there is
    /// none.
    pub fn mac(&self, direction: u32) -> MacCounters {
        let served = self.pairs.iter().find(|served| served.pair.directions().contains(&direction));
        served.map_or_else(MacCounters::default, |served| served.pair.measured(direction as usize % 2))
    }

    /// The pair that the radio at this place of the layout stands for, if it is one.
    pub fn pair(&self, radio: usize) -> Option<&StationPair> {
        self.pairs.iter().find(|served| served.radio == radio).map(|served| &served.pair)
    }

    /// Returns the pair, to be steered.
    pub fn pair_mut(&mut self, radio: usize) -> Option<&mut StationPair> {
        let served = self.pairs.iter_mut().find(|served| served.radio == radio)?;
        served.due = None;
        Some(&mut served.pair)
    }
}
