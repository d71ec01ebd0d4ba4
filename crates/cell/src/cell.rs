//! Base stations and their users.

mod config;
mod moving;
mod slot;
mod uplink;

pub use config::{CellConfig, Load, McsChoice, UserConfig};

use crate::carrier::{Coding, Technology};
use crate::drx::DrxState;
use crate::errors::CQI;
use crate::fading::UserFading;
use crate::feedback;
use crate::frame::Direction;
use crate::handover::{Handover, Move};
use crate::rlc::{Bearer, Content, RlcTimers};
use crate::scheduler::{Candidate, UserScheduler};
use cogtcp_units::{Decibel, Duration, RandomStream, Rate, Time};
use std::collections::VecDeque;
use uplink::Uplink;

/// Both directions, in the order in which everything that has one for each lists them.
pub const DIRECTIONS: [Direction; 2] = [Direction::Downlink, Direction::Uplink];

/// Keeps the packets that wait for a cell: a queue for each user and direction.
pub trait Buffers {
    /// Returns the bytes and the number of the packets that wait.
    fn waiting(&self, user: usize, direction: Direction) -> (u64, u64);

    /// Hands the next packet over to the cell, and returns its bytes; `None`: none waits.
    fn take(&mut self, now: Time, user: usize, direction: Direction) -> Option<u32>;

    /// As [`take`](Self::take), of a packet that is lost without being sent.
    fn take_lost(&mut self, now: Time, user: usize, direction: Direction) -> Option<u32>;
}

/// What else is in the air.
pub trait Interference {
    /// Something of a direction is on the air. Returns true if the reception is destroyed.
    fn strikes(&mut self, direction: Direction, from: Time, until: Time) -> bool;

    /// Returns true if a block that could be received is lost all the same, by the channel's own errors.
    fn garbles(&mut self, direction: Direction) -> bool;
}

/// A packet that leaves a cell; packets of a user and direction leave in the order in which they came.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Departed {
    /// The user.
    pub user: usize,
    /// In which direction.
    pub direction: Direction,
    /// Whether it is lost: RLC in unacknowledged mode has given up a part of it, or a move has.
    pub is_lost: bool,
}

/// What a slot is to a user in a direction, in resource blocks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SlotUse {
    /// That may carry data; none: the slot belongs to the other direction.
    pub all: u32,
    /// With data of its own, which is received.
    pub received: u32,
    /// With data of its own, which is lost.
    pub lost: u32,
    /// True if what is lost was destroyed from outside.
    pub is_struck: bool,
    /// Of other users.
    pub others: u32,
    /// True if the user has more data than the slot takes, or no grant for it.
    pub waits: bool,
    /// True if the user moves, and has no station.
    pub is_moving: bool,
}

/// A transport block that HARQ will send again.
#[derive(Clone, Copy, Debug)]
struct Block {
    content: Content,
    efficiency: f64,
    /// Resource blocks.
    blocks: u32,
    /// Attempts so far.
    attempts: u32,
    /// Sum of the SINR of the attempts, linear.
    energy: f64,
    /// First slot of the next attempt.
    ready: u64,
}

/// One direction of a user.
#[derive(Clone, Debug)]
struct Stream {
    bearer: Bearer,
    again: Vec<Block>,
    /// Slots in which HARQ processes become free whose blocks have arrived or were given up.
    busy: VecDeque<u64>,
    sinr: f64,
    delay: Duration,
    errors: RandomStream,
    fading: Option<UserFading>,
    /// SINR now, and as reported.
    now: (f64, f64),
    slot: SlotUse,
}

/// The end of a block's slot at its receiver.
#[derive(Clone, Copy, Debug)]
struct Received {
    at: Time,
    stream: usize,
    content: Content,
    /// False: HARQ has given it up.
    is_received: bool,
}

/// A coding with the SINR at which a tenth of its blocks is lost.
#[derive(Clone, Copy, Debug)]
struct Level {
    coding: Coding,
    needed: f64,
}

/// Returns what a base station chooses from, of all codings of a slot.
fn levels(config: &CellConfig, direction: Direction, mut codings: Vec<Coding>) -> Vec<Level> {
    // The base station measures the uplink itself.
    if config.mcs_choice == McsChoice::Cqi && direction == Direction::Downlink {
        // The last coding of a CQI stays.
        codings.dedup_by(|next, kept| {
            let is_same = next.cqi == kept.cqi;
            if is_same {
                *kept = *next;
            }
            is_same
        });
        // It has the efficiency that the CQI says, whatever the control region.
        codings.iter_mut().for_each(|it| it.efficiency = CQI[it.cqi - 1]);
    }
    let level = |coding: Coding| Level { coding, needed: config.error_model.needed(coding.efficiency) };
    codings.into_iter().map(level).collect()
}

/// A base station, or several that are alike.
#[derive(Clone, Debug)]
struct Station {
    schedulers: [UserScheduler; 2],
    /// SINR of the users that only load it.
    load_fading: Vec<[UserFading; 2]>,
}

/// Where a user is.
#[derive(Clone, Copy, Debug, Default)]
struct Whereabouts {
    station: usize,
    /// Until when it has no station, as it moves.
    away: Time,
    /// What its timers of DRX have done.
    drx: DrxState,
}

/// Base stations and their users.
#[derive(Clone, Debug)]
pub struct Cell {
    config: CellConfig,
    /// By slot of the pattern and direction.
    levels: Vec<[Vec<Level>; 2]>,
    processes: [usize; 2],
    /// Downlink and uplink of each user.
    streams: Vec<Stream>,
    uplinks: Vec<Uplink>,
    stations: Vec<Station>,
    /// By user.
    whereabouts: Vec<Whereabouts>,
    /// Handovers to come, in time order.
    moves: VecDeque<Move>,
    /// In a slot: what each user could have, and those that load the cell after them.
    candidates: Vec<Candidate>,
    received: VecDeque<Received>,
    departures: VecDeque<(Time, Departed)>,
    /// The next timer of RLC.
    timer: Time,
    /// The next slot that is played; `None`: nothing is to be sent, or the channel is closed.
    next_slot: Option<u64>,
    /// The first slot that has not been played.
    unplayed: u64,
    /// Until when the channel is open; `None`: it is closed.
    open: Option<Time>,
    /// Power by direction, in relation to the power for which the SINR is given; linear.
    power: [f64; 2],
}

impl Cell {
    /// Returns a cell without packets whose channel is open for ever, in the run of seed `seed`.
    pub fn new(config: CellConfig, seed: u64, name: &str) -> Self {
        let users = config.users.len();
        let (frame, carrier) = (&config.frame, &config.carrier);
        let levels = frame
            .slots()
            .iter()
            .map(|slot| DIRECTIONS.map(|it| levels(&config, it, carrier.codings(*slot, it))))
            .collect();
        let timers = RlcTimers {
            reordering: config.reordering,
            poll: config.poll,
            status: frame.slot() * feedback::TURNAROUND,
        };
        let draws = |part: &str, user: usize, place: usize| {
            RandomStream::new(seed, &format!("{part}/{name}/{}", ["down", "up"][place]), user as u64)
        };
        let fading = |part: &str, user: usize, place: usize| {
            config.coherence.map(|coherence| UserFading::new(coherence, draws(part, user, place)))
        };
        let mut streams = Vec::with_capacity(2 * users);
        for (user, spec) in config.users.iter().enumerate() {
            for place in [0, 1] {
                let sinr = spec.sinr[place].linear();
                streams.push(Stream {
                    bearer: Bearer::new(config.mode, timers),
                    again: Vec::new(),
                    busy: VecDeque::new(),
                    sinr,
                    delay: spec.delay[place],
                    errors: draws("cell", user, place),
                    fading: fading("fading", user, place),
                    now: (sinr, sinr),
                    slot: SlotUse::default(),
                });
            }
        }
        let saturated = config.load.saturated as usize;
        let handover = config.handover.as_ref();
        let station = |number: usize| {
            // Users that load different stations have different draws.
            let users_of = |user| number * saturated + user;
            let load_fading = (0..saturated).filter_map(|user| {
                Some([fading("load", users_of(user), 0)?, fading("load", users_of(user), 1)?])
            });
            Station {
                schedulers: [0, 1].map(|_| UserScheduler::new(config.rule, users + saturated)),
                load_fading: load_fading.collect(),
            }
        };
        let mut whereabouts = vec![Whereabouts::default(); users];
        for track in handover.iter().flat_map(|it| &it.tracks) {
            whereabouts[track.user].station = track.first(handover.map_or(1, |it| it.stations));
        }
        let is_lte = carrier.technology == Technology::Lte;
        Self {
            levels,
            processes: DIRECTIONS.map(|it| feedback::processes(frame, it, is_lte)),
            streams,
            uplinks: vec![Uplink::default(); users],
            stations: (0..handover.map_or(1, |it| it.stations)).map(station).collect(),
            whereabouts,
            moves: handover.map(Handover::all_moves).unwrap_or_default().into(),
            candidates: vec![Candidate::default(); users + saturated],
            received: VecDeque::new(),
            departures: VecDeque::new(),
            timer: Time::MAX,
            // Users that load the cell send from the first slot on. Without them a packet starts the slots
            // (`arm`).
            next_slot: (saturated > 0).then_some(0),
            unplayed: 0,
            open: Some(Time::MAX),
            power: [1.0; 2],
            config,
        }
    }

    /// Returns the rate of a direction that a user would have alone, by its mean SINR; with fading or
    /// handovers, at the highest MCS.
    pub fn rate(&self, user: usize, direction: Direction) -> Rate {
        let varies = self.config.coherence.is_some() || self.config.handover.is_some();
        let sinr = match varies {
            true => f64::INFINITY,
            false => self.streams[2 * user + direction as usize].sinr,
        };
        let choose = |codings: &[Coding]| {
            let levels = levels(&self.config, direction, codings.to_vec());
            levels.iter().rev().find(|it| it.needed <= sinr).map(|it| it.coding)
        };
        self.config.carrier.rate(&self.config.frame, direction, choose)
    }

    /// Base stations transmit at this power, in relation to the power for which the SINR of users is given.
    /// Returns whether it changes. Users keep their power.
    pub fn set_power(&mut self, power: Decibel) -> bool {
        let before = std::mem::replace(&mut self.power[0], power.linear());
        if before == self.power[0] {
            return false;
        }
        // Under fading the SINR of each slot follows from this one.
        for stream in self.streams.iter_mut().step_by(2) {
            stream.sinr *= self.power[0] / before;
            stream.now = (stream.sinr, stream.sinr);
        }
        true
    }

    /// Returns what the last slot was to a user in a direction.
    pub fn slot_use(&self, user: usize, direction: Direction) -> SlotUse {
        self.streams[2 * user + direction as usize].slot
    }

    /// Returns how many packets of a user's direction it holds.
    pub fn packets(&self, user: usize, direction: Direction) -> usize {
        self.streams[2 * user + direction as usize].bearer.packets()
    }

    /// Returns when [`step`](Self::step) is to be called; [`Time::MAX`]: when a packet comes.
    pub fn next_change(&self) -> Time {
        let slot = self.next_slot.map_or(Time::MAX, |number| self.config.frame.start_of(number));
        let received = self.received.front().map_or(Time::MAX, |it| it.at);
        let departure = self.departures.front().map_or(Time::MAX, |it| it.0);
        let moves = self.moves.front().map_or(Time::MAX, |it| self.slot_from(it.at));
        slot.min(received).min(departure).min(self.timer).min(moves)
    }

    /// A user has a packet that it had not.
    pub fn wake(&mut self, now: Time, user: usize, direction: Direction, buffers: &impl Buffers) {
        if direction == Direction::Uplink {
            self.request(now, user, buffers);
        }
        self.arm(now);
    }

    /// The channel is open until `until`, or closed.
    pub fn set_open(&mut self, now: Time, until: Option<Time>) {
        self.open = until;
        // The slot that was planned may not fit any more.
        self.next_slot = None;
        self.arm(now);
    }

    /// The next slot is played, if it fits into the time for which the channel is open.
    fn arm(&mut self, now: Time) {
        let Some(until) = self.open else { return };
        if self.next_slot.is_none() {
            // A slot under way, or one that has been played, does not begin again.
            let number = self.config.frame.number_from(now).max(self.unplayed);
            self.next_slot = (self.config.frame.start_of(number + 1) <= until).then_some(number);
        }
    }

    /// Whether no slot is under way at `now`.
    pub fn is_between(&self, now: Time) -> bool {
        self.config.frame.start_of(self.unplayed) <= now
    }

    /// Plays what is due at `now`. Returns the slot that begins. What leaves tells [`poll`](Self::poll).
    pub fn step(
        &mut self,
        now: Time,
        buffers: &mut impl Buffers,
        air: &mut impl Interference,
    ) -> Option<u64> {
        // What ends with a slot comes before the slot that begins there.
        while let Some(received) = self.received.pop_front_if(|it| it.at <= now) {
            self.receive(now, &received);
        }
        if self.timer <= now {
            for stream in 0..self.streams.len() {
                if self.streams[stream].bearer.next_change() <= now {
                    self.streams[stream].bearer.expire(now);
                    self.hand_over(now, stream);
                }
            }
            self.timer = self.streams.iter().map(|it| it.bearer.next_change()).min().unwrap_or(Time::MAX);
            self.arm(now);
        }
        while let Some(it) = self.moves.pop_front_if(|it| {
            let frame = &self.config.frame;
            frame.start_of(frame.number_from(it.at)) <= now
        }) {
            self.move_user(now, &it, buffers);
        }
        let number = self.next_slot.filter(|number| self.config.frame.start_of(*number) <= now)?;
        self.next_slot = None;
        self.unplayed = number + 1;
        if self.play(number, buffers, air) {
            self.arm(self.config.frame.start_of(number + 1));
        }
        Some(number)
    }

    fn receive(&mut self, now: Time, received: &Received) {
        let stream = &mut self.streams[received.stream];
        if received.is_received {
            stream.bearer.received(now, &received.content);
        } else {
            stream.bearer.failed(now, &received.content);
        }
        self.timer = self.timer.min(stream.bearer.next_change());
        self.hand_over(now, received.stream);
    }

    /// What is in order at the receiver leaves the cell.
    fn hand_over(&mut self, now: Time, stream: usize) {
        let it = &mut self.streams[stream];
        let at = now + it.delay;
        while let Some(is_lost) = it.bearer.poll() {
            let departed = Departed { user: stream / 2, direction: DIRECTIONS[stream % 2], is_lost };
            // Behind earlier packets of the same instant: packets leave in order.
            let place = self.departures.partition_point(|(other, _)| *other <= at);
            self.departures.insert(place, (at, departed));
        }
    }

    /// Returns the next packet that has left by `now`.
    pub fn poll(&mut self, now: Time) -> Option<Departed> {
        self.departures.pop_front_if(|(at, _)| *at <= now).map(|(_, departed)| departed)
    }
}
