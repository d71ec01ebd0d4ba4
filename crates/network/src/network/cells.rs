//! Links that a cell serves: a base station, whose users are the far ends of its radio's links.
//!
//! The links keep what waits, and packets on their way until they leave; the cell decides what is sent in
//! which slot, and when packets leave. The radio decides when the channel is open, and primary users what is
//! lost of a slot.

use super::Network;
use super::unshared::ChannelUser;
use crate::agenda::Kind;
use crate::hop::{LinkHop, Mark};
use crate::impossible;
use crate::observer::{Arrival, Observer, PacketStep};
use crate::payload::Payload;
use crate::station_pair::{CellSlot, Occupation};
use cogtcp_cell::cell::DIRECTIONS;
use cogtcp_cell::frame::Direction;
use cogtcp_cell::{Buffers, Cell, Interference, SlotUse};
use cogtcp_layout::{CellSpec, NetworkSpec};
use cogtcp_link::{DropCause, Gate};
use cogtcp_spectrum::Radio;
use cogtcp_units::{Decibel, Rate, Time};
use cogtcp_wireless::FrameKind;

/// A cell with its links.
#[derive(Debug)]
pub(super) struct CellLinks {
    /// Its radio's place among those that gate links.
    radio: usize,
    cell: Cell,
    /// Downlink and uplink of each user.
    directions: Vec<u32>,
    /// The rate of each, alone in the cell.
    rates: Vec<Rate>,
    /// When its pending event is due; [`Time::MAX`]: none is.
    armed: Time,
}

/// The links of a cell as its buffers.
struct Queues<'a, P> {
    links: &'a mut [LinkHop<P>],
    directions: &'a [u32],
}

impl<P: Payload> Buffers for Queues<'_, P> {
    fn waiting(&self, user: usize, direction: Direction) -> (u64, u64) {
        self.links[self.directions[2 * user + direction as usize] as usize].backlog()
    }

    fn take(&mut self, now: Time, user: usize, direction: Direction) -> Option<u32> {
        self.links[self.directions[2 * user + direction as usize] as usize].take_next(now)
    }

    fn take_lost(&mut self, now: Time, user: usize, direction: Direction) -> Option<u32> {
        self.links[self.directions[2 * user + direction as usize] as usize].take_lost(now)
    }
}

/// The primary users around a cell. `station`: the end of its links that it is at.
struct Around<'a> {
    user: &'a mut ChannelUser,
    station: usize,
}

impl Around<'_> {
    /// The direction of the links that a direction of the cell is.
    fn side(&self, direction: Direction) -> usize {
        (direction as usize) ^ self.station
    }
}

impl Interference for Around<'_> {
    fn strikes(&mut self, direction: Direction, from: Time, until: Time) -> bool {
        self.user.sends_slot(self.side(direction), from, until)
    }

    fn garbles(&mut self, direction: Direction) -> bool {
        self.user.garbles(self.side(direction))
    }
}

impl<P: Payload> Network<P> {
    /// Adds the cells of the layout, whose radios are there.
    pub(super) fn add_cells(&mut self, layout: &NetworkSpec, seed: u64) {
        for (number, spec) in layout.radios.iter().enumerate() {
            let Some(cell) = spec.kind.cell() else { continue };
            let Some(radio) = self.give_cell(number, self.cells.len()) else {
                return impossible("a cell without a CR user");
            };
            let CellSpec { config, station } = cell.clone();
            // Slots may have carried a pattern's worth more than the mean rate, and a packet that has only begun.
            let period = config.frame.slot() * config.frame.slots().len() as u64;
            let cell = Cell::new(config, seed, &spec.name);
            let (mut directions, mut rates) = (Vec::new(), Vec::new());
            for (user, link) in spec.links.iter().enumerate() {
                for (place, side) in DIRECTIONS.into_iter().enumerate() {
                    let direction = (2 * link + (place ^ station)) as u32;
                    let rate = cell.rate(user, side);
                    self.directions[direction as usize].serve_many(rate.bytes_in(period * 2).get() + 65_536);
                    directions.push(direction);
                    rates.push(rate);
                }
            }
            self.cells.push(CellLinks { radio, cell, directions, rates, armed: Time::MAX });
        }
    }

    /// Gates and rates of a cell's links as its radio has them.
    pub(super) fn set_cell(&mut self, now: Time, radio: usize, place: usize) {
        let Self { cells, radios, directions: links, .. } = self;
        let it = &mut cells[place];
        let Some(user) = radios[radio].user_mut() else { return impossible("a cell without a CR user") };
        let is_silent = user.radio().phase().is_silent();
        // Less power changes the rates that the links promise to those who ask for their capacity.
        if it.cell.set_power(Decibel(-user.radio().power_reduction().0)) {
            for (stream, rate) in it.rates.iter_mut().enumerate() {
                *rate = it.cell.rate(stream / 2, DIRECTIONS[stream % 2]);
            }
        }
        let gate = Gate::of_served(is_silent);
        for (direction, rate) in it.directions.iter().zip(&it.rates) {
            // A cell serves the link: no arrival is scheduled by it.
            let _ = links[*direction as usize].set_channel(now, gate, Some(*rate));
        }
        it.cell.set_open(now, (!is_silent).then(|| user.radio().phase_end()));
        if is_silent {
            for direction in
                it.directions.iter().filter(|direction| links[**direction as usize].is(Mark::Watched))
            {
                self.budget.observe(now, *direction, Occupation::Silent);
            }
        } else {
            self.observe_waiting(now, place);
        }
        self.arm_cell(place);
    }

    /// Between slots a link of a cell waits or is idle.
    fn observe_waiting(&mut self, now: Time, place: usize) {
        for direction in &self.cells[place].directions {
            let link = &self.directions[*direction as usize];
            if link.is(Mark::Watched) && link.gate() == Gate::Served {
                let waits = link.waiting() > 0;
                self.budget.observe(
                    now,
                    *direction,
                    if waits { Occupation::Granted } else { Occupation::Idle },
                );
            }
        }
    }

    /// A link of a cell has a packet that the cell does not know of.
    pub(super) fn wake_cell(&mut self, now: Time, direction: u32) {
        let found = self.cells.iter().enumerate().find_map(|(place, it)| {
            it.directions.iter().position(|own| *own == direction).map(|stream| (place, stream))
        });
        let Some((place, stream)) = found else { return impossible("a link that no cell serves") };
        let it = &mut self.cells[place];
        let queues = Queues { links: &mut self.directions, directions: &it.directions };
        let is_between = it.cell.is_between(now);
        it.cell.wake(now, stream / 2, DIRECTIONS[stream % 2], &queues);
        let link = &self.directions[direction as usize];
        if link.is(Mark::Watched) && is_between && link.gate() == Gate::Served {
            self.budget.observe(now, direction, Occupation::Granted);
        }
        self.arm_cell(place);
    }

    fn arm_cell(&mut self, place: usize) {
        let it = &mut self.cells[place];
        let due = it.cell.next_change();
        if due < it.armed {
            it.armed = due;
            self.agenda.push(due, Kind::Cell(place as u32));
        }
    }

    /// A cell has something to do. A packet that has reached its host is put `into` its place, and true
    /// returned: then the cell is not done with this instant.
    pub(super) fn step_cell(
        &mut self,
        now: Time,
        place: u32,
        observer: &mut impl Observer<P>,
        into: &mut Arrival<P>,
    ) -> bool {
        let place = place as usize;
        // An entry that an earlier one has overtaken is stale.
        if self.cells[place].armed != now {
            return false;
        }
        self.cells[place].armed = Time::MAX;
        let mut has_arrived = false;
        // Packets that left at the last step at this instant go first; one that reaches its host interrupts.
        while !has_arrived && self.cells[place].cell.next_change() <= now {
            while !has_arrived && let Some(left) = self.cells[place].cell.poll(now) {
                let direction = self.cells[place].directions[2 * left.user + left.direction as usize];
                let cause = left.is_lost.then_some(DropCause::Retry);
                let mut frame = self.directions[direction as usize].finish(cause);
                if let Some(cause) = cause {
                    self.drop_packet(now, direction, &frame, (cause, false), observer);
                } else {
                    self.hops += 1;
                    // A link that is served has no arrival of its own, where other links' packets are
                    // stamped.
                    self.stamp_at(now, direction, &mut frame);
                    self.record(now, PacketStep::Received, direction, &frame, observer);
                    *into = Arrival { at: now, direction: Some(direction), frame };
                    has_arrived = self.forward(self.directions[direction as usize].next, into, observer);
                }
            }
            if !has_arrived && self.cells[place].cell.next_change() <= now {
                self.play_cell(now, place, observer);
            }
        }
        self.arm_cell(place);
        has_arrived
    }

    /// Plays what is due in the cell, except departures.
    fn play_cell(&mut self, now: Time, place: usize, observer: &mut impl Observer<P>) {
        let Self { cells, radios, directions: links, .. } = self;
        let CellLinks { radio, cell, directions, .. } = &mut cells[place];
        let Some(user) = radios[*radio].user_mut() else {
            return impossible("a cell over a radio without a CR user");
        };
        // The first is a downlink, which leads away from the station.
        let station = (directions[0] % 2) as usize;
        let slot = cell.step(now, &mut Queues { links, directions }, &mut Around { user, station });
        if slot.is_none() {
            // A slot has ended and none has begun.
            if cell.is_between(now) {
                self.observe_waiting(now, place);
            }
            return;
        }
        for number in 0..self.cells[place].directions.len() {
            let it = &self.cells[place];
            let direction = it.directions[number];
            let slot = it.cell.slot_use(number / 2, DIRECTIONS[number % 2]);
            if slot.is_struck && slot.lost > 0 {
                observer.interference(now, direction, FrameKind::Data.name());
            }
            if self.directions[direction as usize].is(Mark::Watched) {
                self.budget.observe(now, direction, occupation(&slot));
            }
            self.attend(now, direction, observer);
        }
    }
}

/// What a slot is to a link, for the account of its time.
fn occupation(slot: &SlotUse) -> Occupation {
    let SlotUse { all, received, lost, is_struck, others, waits, is_moving } = *slot;
    if !waits && received + lost == 0 {
        return Occupation::Idle;
    }
    Occupation::Slot(CellSlot { all, received, lost, is_struck, others, waits, is_moving })
}
