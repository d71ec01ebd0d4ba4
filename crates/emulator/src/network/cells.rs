//! Links that a MAC serves: two CR users with their radios, which the simulator drives too.

use super::{Network, Observer, Pipe};
use cogtcp_scenario::PlacedPair;
use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::{Protection, RadioStats};
use cogtcp_station_pair::{MacCounters, Noted, StationPair};
use cogtcp_units::{Rate, Time};

/// A pair of CR users.
#[derive(Debug)]
pub(super) struct Cell {
    /// Its radio's place in the experiment.
    radio: usize,
    pair: StationPair,
    /// When it has something to do.
    due: Time,
}

impl Cell {
    pub(super) fn due(&self) -> Time {
        self.due
    }
}

impl Network {
    /// Adds a pair of CR users, who serve their link from time zero on.
    pub(super) fn add_cell(&mut self, PlacedPair { radio, mut pair }: PlacedPair) {
        pair.begin(&mut self.pipes);
        let due = pair.next_change();
        self.cells.push(Cell { radio, pair, due });
    }

    /// A link has a packet that its MAC does not know of.
    pub(super) fn wake(&mut self, pipe: Pipe) {
        if let Some(cell) = self.cell_of(pipe) {
            self.feed(cell);
        }
    }

    fn cell_of(&self, pipe: Pipe) -> Option<usize> {
        self.cells.iter().position(|cell| cell.pair.pipes().contains(&(pipe as u32)))
    }

    fn feed(&mut self, cell: usize) {
        let cell = &mut self.cells[cell];
        cell.pair.feed(self.played, &self.pipes);
        cell.due = cell.pair.next_change();
    }

    /// Something is due in a cell.
    pub(super) fn step_cell(&mut self, number: usize, observer: &mut impl Observer) {
        let (now, cell) = (self.played, &mut self.cells[number]);
        let finished = cell.pair.step(now, &mut self.pipes, &mut self.notes);
        for note in self.notes.drain(..) {
            match note {
                Noted::Radio(unit, time, event) => {
                    observer.radio(time, (cell.radio, unit), event, Rate::ZERO)
                }
                Noted::Interference(pipe, frame) => observer.interference(now, pipe as Pipe, frame),
                // The hosts' kernels are told nothing of their links.
                Noted::Board(..) => {}
            }
        }
        if let Some((pipe, cause)) = finished.dropped {
            let pipe = pipe as Pipe;
            let frame = self.pipes[pipe].end_service(now, Some(cause));
            observer.dropped(now, pipe, &frame, cause, false);
            self.attend(pipe, observer);
        }
        if let Some(pipe) = finished.delivered {
            let pipe = pipe as Pipe;
            let frame = self.pipes[pipe].end_service(now, None);
            self.attend(pipe, observer);
            self.forward(now, pipe, frame, observer);
        }
        self.feed(number);
    }

    /// Metrics count from `now`.
    pub fn end_warmup(&mut self, now: Time) {
        self.pipes.iter_mut().for_each(|pipe| pipe.restart_maximum(now));
        self.cells.iter_mut().for_each(|cell| cell.pair.end_warmup(now));
        self.ad_hoc.iter_mut().for_each(|ad_hoc| ad_hoc.end_warmup(now));
    }

    /// What the MAC counted that serves `pipe`, since the end of the warm-up; nothing where there is none.
    pub fn mac(&self, pipe: Pipe) -> MacCounters {
        let cell = self.cell_of(pipe).map(|cell| &self.cells[cell]);
        cell.map_or_else(MacCounters::default, |cell| cell.pair.measured(pipe % 2))
    }

    /// What the CR users with a MAC did since the end of the warm-up that the radio at this place of the experiment stands for,
    /// and how primary users fared with them.
    pub fn users(&self, radio: usize, now: Time) -> Vec<(RadioStats, Protection)> {
        let cell = self.cells.iter().find(|cell| cell.radio == radio);
        cell.map_or_else(Vec::new, |cell| cell.pair.radios().iter().map(|unit| unit.measured(now)).collect())
    }

    /// The channels and primary users of CR users who have a MAC.
    pub fn air(&self) -> Option<&Air> {
        self.air.as_deref()
    }
}
