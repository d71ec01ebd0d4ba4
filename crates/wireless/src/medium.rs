//! The stations and the air between them.
//!
//! A frame is two events: it begins and it ends to be heard. Both come one delay after the sender's own, at
//! the same instant for all in reach, the sender included. So every station of a cell counts slots from the
//! same moment. A station that begins within the delay of another has not heard it: they collide. This is the
//! only effect of the propagation delay (`docs/adhoc.md` says what it costs).

mod access;
mod exchange;
mod hearing;
mod rendezvous;
mod station;
mod stations;
mod whole;

pub use station::InterfaceConfig;

use crate::agenda::{Agenda, Due};
use crate::errors::Decoder;
use crate::grid::Grid;
use crate::receiver::{Listening, Strength};
use crate::timing::Timing;
use crate::{
    Capture, Counters, Destination, EnqueueOutcome, Errors, ExchangeFailure, FrameKind, InterfaceId,
    MediumConfig, MediumEvent, Positions, QueuedPacket, Surroundings,
};
use cogtcp_spectrum::ChannelId;
use cogtcp_units::Position;
use cogtcp_units::{Duration, Power, RandomStream, Rate, Time};
use station::{NOBODY, Phase, Station};
use stations::Stations;
use std::collections::VecDeque;
use whole::Whole;

/// What is known of a frame when it goes on the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    sender: u32,
    to: Destination,
    kind: FrameKind,
    channel: ChannelId,
    /// The packet's number at its sender, for the detection of duplicates.
    sequence: u32,
    pub(crate) rate: Rate,
    /// The duration field: for how long after its end the medium is reserved.
    reserves: Duration,
    /// When it is heard.
    pub(crate) from: Time,
    pub(crate) until: Time,
    /// Least signal to the rest, and least power, W.
    needs: (f64, f64),
}

impl Frame {
    /// The station that it is for, or [`NOBODY`]: it is for everybody.
    #[inline]
    fn receiver(&self) -> u32 {
        match self.to {
            Destination::Interface(InterfaceId(number)) => number,
            Destination::Broadcast => NOBODY,
        }
    }
}

/// A frame on the air.
#[derive(Debug)]
struct OnAir {
    frame: Frame,
    is_heard: bool,
    /// Why the one it is for does not receive it, as far as is known.
    missed: Option<ExchangeFailure>,
    /// Where it stands in the list of frames on the air.
    place: usize,
    /// Who has it in the air are its sender's neighbours, as they stand there: `hearers` is empty.
    is_to_neighbours: bool,
    /// Who has it in the air.
    hearers: Vec<Hearer>,
}

/// A station that has a frame in the air, and how loud it is there.
#[derive(Clone, Copy, Debug)]
struct Hearer {
    station: u32,
    strength: Strength,
}

/// A medium: `T` is what frames carry, `P` knows where nodes are, `S` what else is in the air.
#[derive(Debug)]
pub struct Medium<T, P, S = ()> {
    config: MediumConfig,
    timing: Timing,
    listening: Listening,
    seed: u64,
    positions: P,
    surroundings: S,
    stations: Stations<T>,
    /// By station, where bits have errors: what it has heard of the frame that it is set on.
    decoders: Vec<Decoder>,
    /// Whether not all stations have always been on the channel of the first.
    has_channels: bool,
    frames: Vec<OnAir>,
    free_frames: Vec<u32>,
    /// Frames between their start and their end.
    on_air: Vec<u32>,
    agenda: Agenda,
    grid: Grid,
    points: Vec<Position>,
    /// By station: candidates in reach, and the drawing of the squares that they are from.
    candidates: Vec<(u64, Vec<u32>)>,
    drawings: u64,
    /// By station, where nobody moves: who is in reach, and how loud its frames are there (before fading).
    /// Those that are out while a frame is played are back when it has been.
    neighbours: Vec<Option<Vec<Hearer>>>,
    /// Who may hear the frame at hand, with the path gain: kept for its memory.
    found: Vec<(u32, f64)>,
    /// The greatest reach of a station, m.
    reach: f64,
    /// By station: whose packet first in line is for it, and some whose was. Kept where senders wait for
    /// silent receivers.
    watchers: Vec<Vec<u32>>,
    /// Who holds an exchange back until a radio changes.
    held: Vec<u32>,
    /// Stations whose packet was given up at this instant: they take the next when time goes on.
    untaken: Vec<u32>,
    /// That instant.
    untaken_at: Time,
    /// The exchange under way that has been worked out.
    whole: Option<Whole>,
    /// At which power two stations that are alone always hear each other, if they do, once it is worked out.
    pair_power: Option<Option<f64>>,
    events: VecDeque<MediumEvent<T>>,
    now: Time,
}

impl<T: Clone, P: Positions, S: Surroundings> Medium<T, P, S> {
    /// A medium without stations, in the run of seed `seed`.
    ///
    /// Under [`Capture::Pairwise`] the cutoff is never below carrier sense. Powers are not added there, and a
    /// frame that is not sensed does not exist: ns-2.35 discards a packet below `CSThresh_` before the MAC
    /// sees it (`mac/wireless-phy.cc`).
    pub fn new(mut config: MediumConfig, positions: P, surroundings: S, seed: u64) -> Self {
        if config.mac.rules.capture == Capture::Pairwise {
            let sensed = config.phy.carrier_sense.watts();
            config.phy.cutoff = Power::from_watts(config.phy.cutoff.watts().max(sensed));
        }
        let listening = Listening {
            capture: config.mac.rules.capture,
            carrier_sense: config.mac.rules.carrier_sense,
            threshold: config.phy.carrier_sense.watts(),
            noise: config.phy.errors.noise(),
            step: Listening::step_for(config.phy.cutoff.watts(), 0.0),
        };
        Self {
            timing: Timing::new(&config.mac, config.phy.delay),
            listening,
            config,
            seed,
            positions,
            surroundings,
            stations: Stations::default(),
            decoders: Vec::new(),
            has_channels: false,
            frames: Vec::new(),
            free_frames: Vec::new(),
            on_air: Vec::new(),
            agenda: Agenda::default(),
            grid: Grid::default(),
            points: Vec::new(),
            candidates: Vec::new(),
            drawings: 0,
            neighbours: Vec::new(),
            found: Vec::new(),
            reach: 0.0,
            watchers: Vec::new(),
            held: Vec::new(),
            untaken: Vec::new(),
            untaken_at: Time::ZERO,
            whole: None,
            pair_power: None,
            events: VecDeque::new(),
            now: Time::ZERO,
        }
    }

    /// Adds a station; its number, which is its address, counts from zero. To be called before time runs.
    pub fn add_interface(&mut self, interface: InterfaceConfig) -> InterfaceId {
        let number = self.stations.len() as u32;
        let least = self.config.phy.cutoff.watts();
        let greatest = interface.power.watts().max(interface.greatest_power.watts());
        let reach = self.reach_of(interface.power.watts());
        self.reach = self.reach.max(self.reach_of(greatest));
        let loudest = greatest * self.config.phy.propagation.most();
        self.listening.step = self.listening.step.max(Listening::step_for(least, loudest));
        let (node, channel) = (interface.node, interface.channel);
        self.has_channels |= number > 0 && self.stations.channel(0) != channel;
        if self.config.phy.errors == Errors::Dsss {
            let key = format!("bit-errors/{}", interface.name);
            self.decoders.push(Decoder::new(RandomStream::new(self.seed, &key, 0)));
        }
        let station = Station::new(&self.config, interface, reach, number, self.seed);
        self.stations.push(node, channel, station);
        // What has been worked out does not know the new station.
        self.neighbours.clear();
        self.pair_power = None;
        self.watchers.push(Vec::new());
        // The next search draws the squares again, with this station.
        self.grid.expires = Time::ZERO;
        InterfaceId(number)
    }

    /// How far frames of a power matter, m: the least gain with which they are heard at the best of shadowing
    /// and fading.
    fn reach_of(&self, watts: f64) -> f64 {
        let propagation = &self.config.phy.propagation;
        propagation.path_loss.range(self.config.phy.cutoff.watts() / (watts * propagation.most()))
    }

    /// Sets the power of frames that `at` sends from now on; at most its greatest power. Frames on the air
    /// keep theirs.
    pub fn set_power(&mut self, at: InterfaceId, power: Power) {
        let number = at.0;
        // Their list of hearers is the sender's neighbours, which change.
        for place in 0..self.on_air.len() {
            let index = self.on_air[place];
            if self.frames[index as usize].frame.sender == number {
                self.part_from_neighbours(index);
            }
        }
        let reach = self.reach_of(power.watts());
        debug_assert!(reach <= self.reach, "the medium was told of the greatest power");
        let cold = &mut self.stations[number].cold;
        (cold.power, cold.reach) = (power.watts(), reach);
        if let Some(near) = self.neighbours.get_mut(number as usize) {
            *near = None;
        }
        self.pair_power = None;
        self.grid.expires = Time::ZERO;
    }

    /// How many stations there are.
    pub fn len(&self) -> usize {
        self.stations.len()
    }

    /// Whether there is no station.
    pub fn is_empty(&self) -> bool {
        self.stations.len() == 0
    }

    /// When to call [`advance`](Self::advance) next; `Time::MAX`: when something has been put in. It may be
    /// that nothing happens then.
    pub fn next_change(&self) -> Time {
        self.agenda.next()
    }

    /// When something happens next; `Time::MAX`: when something has been put in.
    pub fn next_event(&mut self) -> Time {
        while let Some((at, due)) = self.agenda.first() {
            let Due::Acts(number) = due else { return at };
            // A station's entry is a lower bound: its backoff may have been frozen since.
            let due = self.stations.due(number, &self.timing);
            if due <= at {
                return at;
            }
            self.agenda.act(number, due);
        }
        Time::MAX
    }

    /// Does everything that is due up to `now`, each at its own time.
    pub fn advance(&mut self, now: Time) {
        while self.agenda.next() <= now {
            self.step();
        }
        self.now = self.now.max(now);
    }

    /// Does the first thing that is due.
    pub fn step(&mut self) {
        self.take_untaken();
        let Some((at, due)) = self.agenda.first() else { return };
        debug_assert!(at >= self.now, "time runs forward");
        self.now = at;
        match due {
            Due::Acts(number) => {
                let due = self.stations.due(number, &self.timing);
                // Later: its backoff has stood still meanwhile.
                self.agenda.act(number, if due > at { due } else { Time::MAX });
                if let Some(next) = self.agenda.first_station() {
                    self.stations.prefetch_ear(next);
                    self.stations.prefetch_own(next, 2);
                }
                if due <= at {
                    self.act(number, at);
                }
            }
            Due::Heard(frame) => self.frame_heard(frame, at),
            Due::Ends(frame) => {
                self.agenda.remove(frame);
                self.frame_ends(frame, at);
            }
        }
    }

    /// What happened, oldest first.
    pub fn poll_event(&mut self) -> Option<MediumEvent<T>> {
        let event = self.events.pop_front();
        if self.events.is_empty() {
            // Back to the start of its memory, which is in the caches.
            self.events.clear();
        }
        event
    }

    /// What will be polled so many events after the next, if it has happened already: for hosts that
    /// prefetch.
    pub fn upcoming_event(&self, place: usize) -> Option<&MediumEvent<T>> {
        self.events.get(place)
    }

    /// Puts a packet into the queue of an interface.
    pub fn enqueue(&mut self, now: Time, at: InterfaceId, packet: QueuedPacket<T>) -> EnqueueOutcome<T> {
        // At that instant itself routing may still put packets first.
        if now > self.untaken_at {
            self.take_untaken();
        }
        let station = &mut self.stations[at.0];
        let offer = station.cold.queue.push(packet);
        match &offer {
            EnqueueOutcome::Queued => station.cold.counters.queued += 1,
            EnqueueOutcome::Displaced(_) => {
                station.cold.counters.queued += 1;
                station.cold.counters.removed += 1;
            }
            EnqueueOutcome::Refused(_) => return offer,
        }
        if !self.stations.ear(at.0).contention.is_ready() {
            self.next_packet(at.0, now);
            self.reschedule(at.0);
        }
        if self.watch(at.0) {
            // Routing's packet goes first: its receiver may be silent, or the one of the packet before may
            // have been.
            self.reconsider(at.0, now);
        }
        offer
    }

    /// Takes the waiting packets that `goes` picks out of a queue: those for a neighbour that is gone. The
    /// one that the MAC is at stays.
    pub fn remove_waiting(
        &mut self,
        now: Time,
        at: InterfaceId,
        goes: impl FnMut(&QueuedPacket<T>) -> bool,
    ) -> Vec<QueuedPacket<T>> {
        // At that instant itself routing may still take packets out.
        if now > self.untaken_at {
            self.take_untaken();
        }
        let station = &mut self.stations[at.0];
        let gone = station.cold.queue.remove(goes);
        station.cold.counters.removed += gone.len() as u64;
        // A station may contend for a packet that is still in the queue.
        let is_idle = station.cold.service.is_none() && station.cold.queue.len() == 0;
        if is_idle && self.stations.phase(at.0) == Phase::Contending {
            self.stations.ear_mut(at.0).contention.clear_ready();
            self.reschedule(at.0);
        }
        if self.watch(at.0) {
            self.reconsider(at.0, now);
        }
        gone
    }

    /// Packets that wait or that the MAC is at.
    pub fn waiting(&self, at: InterfaceId) -> usize {
        let station = &self.stations[at.0];
        station.cold.queue.len() + usize::from(station.cold.service.is_some())
    }

    /// The packet that the MAC of an interface is at.
    pub fn in_service(&self, at: InterfaceId) -> Option<&QueuedPacket<T>> {
        self.stations[at.0].cold.service.as_ref().map(|service| &service.packet)
    }

    /// Shows the packets that wait or that the MAC is at, but for those that have arrived.
    pub fn visit(&self, mut show: impl FnMut(&T)) {
        for station in self.stations.iter() {
            let service = station.cold.service.as_ref().filter(|service| !service.arrived);
            service.iter().for_each(|service| show(&service.packet.payload));
            station.cold.queue.packets().for_each(|packet| show(&packet.payload));
        }
    }

    /// What an interface has counted.
    pub fn counters(&self, at: InterfaceId) -> Counters {
        let received = self.stations.received[at.0 as usize];
        Counters { received, ..self.stations[at.0].cold.counters }
    }

    /// The channel that an interface is tuned to.
    pub fn channel(&self, at: InterfaceId) -> ChannelId {
        self.stations.channel(at.0)
    }

    /// The time up to which the medium has been played.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Where a node is.
    pub fn position(&mut self, node: u32, now: Time) -> Position {
        self.positions.position(node, now)
    }

    /// `queued = sent + given up + removed + waiting` at every station, and what was heard is consistent with
    /// what was sent. Checked by tests and, in debug builds, at the end of a run.
    pub fn is_conserved(&self) -> bool {
        self.stations.iter().all(|station| {
            let counters = &station.cold.counters;
            let gone = counters.sent + counters.given_up + counters.given_up_arrived + counters.removed;
            let waiting = station.cold.queue.len() as u64 + u64::from(station.cold.service.is_some());
            counters.queued == gone + waiting
        })
    }

    /// The state of a station has changed: it comes up in the agenda by the time that this says.
    fn reschedule(&mut self, number: u32) {
        let due = self.stations.due(number, &self.timing);
        if due != Time::MAX {
            self.agenda.act_at_latest(number, due);
        }
    }
}
