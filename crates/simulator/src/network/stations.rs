//! The pairs of wireless stations: what they do to the pipes that they serve.

use super::Network;
use crate::packet::Packet;
use crate::queue::Event;
use cogtcp_link::Frame;
use cogtcp_records::tables::PacketEvent;
use cogtcp_scenario::PlacedPair;
use cogtcp_station_pair::{Noted, StationPair};
use cogtcp_units::{Rate, Time};

/// A pair of wireless stations with its place among the events.
#[derive(Debug)]
pub(crate) struct ServedPair {
    /// Its radio's place in the experiment.
    pub(crate) radio: usize,
    pub(crate) pair: StationPair,
    /// When its pending event is due; [`Time::MAX`]: none is.
    armed: Time,
}

impl ServedPair {
    /// The time for which an event must be scheduled now; `None`: one is pending that comes early enough.
    fn arm(&mut self) -> Option<Time> {
        let due = self.pair.next_change();
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
        is_armed && self.pair.next_change() <= now
    }
}

impl Network {
    /// Adds a pair of wireless stations.
    pub(crate) fn add_station_pair(&mut self, PlacedPair { radio, mut pair }: PlacedPair) {
        pair.begin(&mut self.pipes);
        self.station_pairs.push(ServedPair { radio, pair, armed: Time::MAX });
    }

    /// Schedules the first event of every pair.
    pub(crate) fn begin_station_pairs(&mut self) {
        for place in 0..self.station_pairs.len() {
            self.arm_station_pair(Time::ZERO, place);
        }
    }

    /// A pair of wireless stations may have something to do. A packet that has reached its host is returned.
    #[inline(never)]
    pub(crate) fn play_station_pair(&mut self, now: Time, place: u32) -> Option<Frame<Packet>> {
        let served = self.station_pairs.get_mut(place as usize)?;
        let mut arrived = None;
        // An entry that an earlier one has overtaken is stale.
        if served.fires(now) {
            let (number, pair) = (served.radio, &mut served.pair);
            let finished = pair.step(now, &mut self.pipes, &mut self.notes);
            for note in self.notes.drain(..) {
                match note {
                    Noted::Radio(radio, time, event) => {
                        self.trace.radio_event(time, (number, radio), event, Rate::ZERO);
                    }
                    Noted::Board(end, time, event) => {
                        let (node, link) = (pair.nodes()[end], pair.pipes()[end] as usize / 2);
                        self.boards.publish(node, time, link, event, Rate::ZERO);
                    }
                    Noted::Interference(pipe, frame) => self.trace.interference(now, pipe, frame),
                }
            }
            for (pipe, exchange) in pair.pipes().into_iter().zip(&finished.decided) {
                if let Some(exchange) = exchange.as_ref().filter(|_| self.pipes[pipe as usize].watched) {
                    self.budget.decide(now, pipe, exchange);
                }
            }
            if let Some((pipe, cause)) = finished.dropped {
                let frame = self.pipes[pipe as usize].end_service(now, Some(cause));
                self.drop_packet(now, pipe, &frame, cause);
                self.attend(now, pipe);
            }
            if let Some(pipe) = finished.delivered {
                self.hops += 1;
                let frame = self.pipes[pipe as usize].end_service(now, None);
                self.attend(now, pipe);
                self.note(now, PacketEvent::Received, pipe, &frame);
                arrived = self.forward(now, pipe, self.pipes[pipe as usize].label, frame);
            }
        }
        self.arm_station_pair(now, place as usize);
        arrived
    }

    fn arm_station_pair(&mut self, now: Time, place: usize) {
        let ServedPair { pair, .. } = &mut self.station_pairs[place];
        pair.feed(now, &self.pipes);
        for (end, pipe) in pair.pipes().into_iter().enumerate() {
            if self.pipes[pipe as usize].watched {
                self.budget.observe(now, pipe, pair.occupation(end, &self.pipes));
            }
        }
        if let Some(time) = self.station_pairs[place].arm() {
            self.queue.push(time, Event::StationPair(place as u32));
        }
    }

    pub(super) fn wake(&mut self, now: Time, pipe: u32) {
        let Some(place) = self.station_pairs.iter().position(|served| served.pair.pipes().contains(&pipe))
        else {
            return;
        };
        self.arm_station_pair(now, place);
    }
}
