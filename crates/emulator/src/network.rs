//! The network between the hosts: the links of a scenario, the radios that gate them or, with their MAC, serve them, and the ways of
//! packets; or an ad hoc network. Without a clock.
//!
//! A driver says what happens and when: [`Network::offer`] when a packet comes, [`Network::play`] whenever it looks, at the latest
//! when [`Network::next`] is due. Everything is played at its own time and in its order, however late the driver is: a packet that
//! goes from link to link loses nothing in between. So a real clock and one made by hand lead to the same arrivals.

mod ad_hoc;
mod cells;
mod notices;

pub(crate) use notices::{fronts, tells};

use crate::error::EmulationError;
use crate::packet::Packet;
use crate::ways::{Pipe, Step, Ways};
use ad_hoc::AdHoc;
use cells::Cell;
use cogtcp_crosslayer::{LinkEvent, Phase};
use cogtcp_link::{DropCause, Frame, Gate, Link, Offer};
use cogtcp_records::EventKind;
use cogtcp_scenario::{Experiment, RadioError, RadioSpec};
use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::{Radio, RadioStats};
use cogtcp_station_pair::Noted;
use cogtcp_units::{Rate, Time};
use notices::Notices;
use std::collections::VecDeque;
use std::sync::Arc;

/// Who is told what happens in the network.
pub trait Observer {
    /// A packet reaches its host, which was due at `due`. It came by `pipe`, or else over the air.
    fn arrived(&mut self, due: Time, host: usize, pipe: Option<Pipe>, frame: &Frame<Packet>);

    /// A packet goes from one direction of a link on to the next one, if that takes it.
    fn passed(&mut self, _at: Time, _from: Pipe, _to: Pipe, _frame: &Frame<Packet>) {}

    /// A packet is lost. `refused`: the queue had not taken it.
    fn dropped(&mut self, at: Time, pipe: Pipe, frame: &Frame<Packet>, cause: DropCause, refused: bool);

    /// Something happened to this radio. `own_rate` is the rate that "the link's own" stands for.
    fn radio(&mut self, at: Time, radio: RadioPlace, event: LinkEvent, own_rate: Rate);

    /// The links that the radio at this place of the experiment gates open or close: gates and rates are set.
    fn link(&mut self, _at: Time, _radio: usize, _event: LinkEvent) {}

    /// All events of a change have been told of the radio at this place of the experiment, which gates links: this is what it does
    /// from now on.
    fn phase(&mut self, _radio: usize, _phase: Phase) {}

    /// A primary user destroyed a frame of this name, which was about a packet of `pipe`.
    fn interference(&mut self, _at: Time, _pipe: Pipe, _frame: &'static str) {}

    /// The host that is to be told if silence destroys this packet; `None`: nobody is.
    fn source(&mut self, _packet: &Packet) -> Option<usize> {
        None
    }

    /// Writes what `teller` tells the source of a packet that silence destroyed, which is to go by `pipe` first: a packet, and its
    /// size. `None`: a node that is no host tells it; it is there without a link.
    fn notice(
        &mut self,
        _at: Time,
        _teller: Option<usize>,
        _pipe: Option<Pipe>,
        _about: &Packet,
    ) -> Option<(Packet, u32)> {
        None
    }

    /// A packet is lost at a node of an ad hoc network.
    fn lost(&mut self, _at: Time, _node: u32, _frame: &Frame<Packet>, _cause: &'static str) {}

    /// Something happened to the radio of a node of an ad hoc network.
    fn node_radio(&mut self, _at: Time, _node: u32, _event: LinkEvent) {}

    /// Something happened at the first of these nodes of an ad hoc network, about the second.
    fn noted(&mut self, _at: Time, _kind: EventKind, _nodes: [u32; 2], _value: f64) {}
}

/// Which radio: its place in the experiment, and among those that it stands for there
/// ([`Experiment::radio_names`]).
pub type RadioPlace = (usize, usize);

/// Links with their radios.
#[derive(Debug)]
pub struct Network {
    /// By direction: two of each link.
    pipes: Vec<Link<Packet>>,
    radios: Vec<Gating>,
    cells: Vec<Cell>,
    ad_hoc: Option<Box<AdHoc>>,
    /// Packets that the air has taken and not given back.
    on_air: u64,
    notices: Notices,
    /// The channels and primary users of CR users with a MAC, if there are any.
    air: Option<Arc<Air>>,
    /// What a cell has to say, empty between its steps.
    notes: VecDeque<Noted>,
    ways: Ways,
    /// Up to when everything has been played: no later call may say that something happened before.
    played: Time,
}

/// A radio and what it gates.
#[derive(Debug)]
struct Gating {
    /// Its place in the experiment.
    number: usize,
    radio: Box<dyn Radio>,
    pipes: Vec<Pipe>,
    /// The gate in silence.
    silent: Gate,
    /// A direction that waits out every silence, whatever the others do.
    holding: Option<Pipe>,
    own_rate: Rate,
}

/// What is due next.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Due {
    // In the order of one instant: transmissions begin before the gate or the rate changes.
    Transmission(Pipe),
    Arrival(Pipe),
    Radio(usize),
    Cell(usize),
    Air,
}

impl Network {
    /// The links of `experiment` with their radios, in the run of seed `seed`; `end` is how long journeys and primary users are
    /// followed.
    ///
    /// # Errors
    ///
    /// A CR user or an ad hoc network that cannot be built.
    pub fn new(experiment: &Experiment, ways: Ways, seed: u64, end: Time) -> Result<Self, EmulationError> {
        let pipes = experiment.links.iter().flat_map(|link| link.build(seed)).collect();
        let radios = experiment.radios.iter().enumerate();
        let radios = radios.filter_map(|(number, spec)| Gating::new(number, spec, experiment, seed, end));
        let horizon = end.saturating_since(Time::ZERO);
        let (pairs, mut air) = experiment
            .station_pairs(horizon, seed)
            .map_err(|RadioError { radio, why }| EmulationError::Radio { radio, why })?;
        let mut ad_hoc = None;
        if let Some(spec) = &experiment.adhoc {
            let spectrum = experiment.air(horizon, seed);
            air = spectrum.map_err(|error| EmulationError::AdHoc(error.to_string()))?;
            ad_hoc = Some(Box::new(AdHoc::new(spec, experiment, air.as_ref(), seed, end)?));
        }
        let mut network = Self {
            pipes,
            radios: radios.collect(),
            cells: Vec::new(),
            ad_hoc,
            on_air: 0,
            notices: Notices::new(experiment),
            air,
            notes: VecDeque::new(),
            ways,
            played: Time::ZERO,
        };
        (0..network.radios.len()).for_each(|radio| network.gate(Time::ZERO, radio));
        pairs.into_iter().for_each(|placed| network.add_cell(placed));
        Ok(network)
    }

    /// When [`play`](Self::play) is to be called at the latest; `Time::MAX`: when a packet comes.
    pub fn next(&self) -> Time {
        self.due().map_or(Time::MAX, |(at, _)| at)
    }

    fn due(&self) -> Option<(Time, Due)> {
        let mut first: Option<(Time, Due)> = None;
        let mut consider = |at: Option<Time>, what: Due| {
            if let Some(at) = at.filter(|at| *at != Time::MAX) {
                first = Some(first.map_or((at, what), |known| known.min((at, what))));
            }
        };
        for (pipe, link) in self.pipes.iter().enumerate() {
            consider(link.next_transmission(), Due::Transmission(pipe));
            // What a MAC sends arrives when that says so.
            let arrival = link.next_arrival().filter(|_| !link.gate().is_served());
            consider(arrival, Due::Arrival(pipe));
        }
        for (number, gating) in self.radios.iter().enumerate() {
            consider(Some(gating.radio.next_change()), Due::Radio(number));
        }
        for (number, cell) in self.cells.iter().enumerate() {
            consider(Some(cell.due()), Due::Cell(number));
        }
        consider(self.ad_hoc.as_ref().map(|ad_hoc| ad_hoc.due()), Due::Air);
        first
    }

    /// Plays everything that is due by `now`, each at its own time.
    pub fn play(&mut self, now: Time, observer: &mut impl Observer) {
        while let Some((at, due)) = self.due().filter(|(at, _)| *at <= now) {
            // A transmission may be due since before the packet came that is to be transmitted.
            self.played = self.played.max(at);
            match due {
                Due::Transmission(pipe) => {
                    self.pipes[pipe].transmit(self.played);
                    self.attend(pipe, observer);
                }
                Due::Arrival(pipe) => self.arrive(at, pipe, observer),
                Due::Radio(radio) => self.change(at, radio, observer),
                Due::Cell(cell) => self.step_cell(cell, observer),
                Due::Air => self.step_air(self.played, observer),
            }
        }
        self.played = self.played.max(now);
    }

    /// The first packet of `pipe` arrives at its far end: it moves on, is lost, or has reached its host.
    fn arrive(&mut self, at: Time, pipe: Pipe, observer: &mut impl Observer) {
        let departure = self.pipes[pipe].arrive(self.played);
        match departure.lost {
            Some(cause) => self.lose(at, pipe, &departure.frame, (cause, false), observer),
            None => self.forward(at, pipe, departure.frame, observer),
        }
    }

    /// A packet has come through `pipe`.
    fn forward(&mut self, at: Time, pipe: Pipe, mut frame: Frame<Packet>, observer: &mut impl Observer) {
        match self.ways.step(frame.packet.place) {
            Step::Host(host) => observer.arrived(at, host, Some(pipe), &frame),
            Step::Air(ends) => self.send_on_air(ends, &frame, observer),
            Step::Pipe(next) => {
                frame.packet.place += 1;
                observer.passed(at, pipe, next, &frame);
                self.put(next, frame, observer);
            }
        }
    }

    /// A packet of `size` bytes comes from its host, to take the way `way` (of [`Ways::way`]).
    pub fn offer(&mut self, now: Time, way: u32, packet: Packet, size: u32, observer: &mut impl Observer) {
        self.play(now, observer);
        self.send(way, packet, size, observer);
    }

    fn send(&mut self, way: u32, mut packet: Packet, size: u32, observer: &mut impl Observer) {
        packet.place = way + 1;
        let frame = Frame::new(packet, size);
        match self.ways.step(way) {
            Step::Pipe(pipe) => self.put(pipe, frame, observer),
            Step::Air(ends) => self.send_on_air(ends, &frame, observer),
            // It is there.
            Step::Host(host) => observer.arrived(self.played, host, None, &frame),
        }
    }

    fn put(&mut self, pipe: Pipe, frame: Frame<Packet>, observer: &mut impl Observer) {
        match self.pipes[pipe].offer(self.played, frame) {
            Offer::Dropped => observer.dropped(self.played, pipe, &frame, DropCause::Queue, true),
            Offer::Refused => {
                self.lose(self.played, pipe, &frame, (DropCause::Silence, true), observer);
            }
            Offer::Managed => self.attend(pipe, observer),
            Offer::Wake => self.wake(pipe),
            Offer::Taken | Offer::Schedule(_) => {}
        }
    }

    fn change(&mut self, at: Time, number: usize, observer: &mut impl Observer) {
        let gating = &mut self.radios[number];
        let was_open = !gating.radio.phase().is_silent();
        let is_open = !gating.radio.advance(at).is_silent();
        while let Some((time, event)) = gating.radio.poll_event() {
            observer.radio(time, (gating.number, 0), event, gating.own_rate);
        }
        observer.phase(gating.number, gating.radio.phase());
        let place = gating.number;
        self.gate(at, number);
        // From one silent phase to another (sensing, then switching) the links do not change.
        if let Some(event) = LinkEvent::of_change(was_open, is_open) {
            observer.link(at, place, event);
        }
        for place in 0..self.radios[number].pipes.len() {
            self.attend(self.radios[number].pipes[place], observer);
        }
    }

    /// Gates and rates follow the radio.
    fn gate(&mut self, at: Time, number: usize) {
        let gating = &self.radios[number];
        let gate = if gating.radio.phase().is_silent() { gating.silent } else { Gate::Open };
        for pipe in &gating.pipes {
            let is_held = gate.destroys() && gating.holding == Some(*pipe);
            let gate = if is_held { Gate::Hold } else { gate };
            self.pipes[*pipe].set_channel(at, gate, gating.radio.rate());
        }
    }

    /// What comes to this direction in a silence of its radio waits, even where silence drops what comes to others.
    pub fn hold(&mut self, pipe: Pipe) {
        for number in 0..self.radios.len() {
            if self.radios[number].pipes.contains(&pipe) {
                self.radios[number].holding = Some(pipe);
                self.gate(self.played, number);
            }
        }
    }

    /// What a queue discipline has dropped, and what a link destroyed that went down.
    fn attend(&mut self, pipe: Pipe, observer: &mut impl Observer) {
        while let Some(flushed) = self.pipes[pipe].take_flushed() {
            self.lose(self.played, pipe, &flushed.frame, (DropCause::Silence, false), observer);
        }
        while let Some((frame, cause)) = self.pipes[pipe].take_dropped() {
            observer.dropped(self.played, pipe, &frame, cause, false);
        }
        if self.pipes[pipe].take_wake() {
            self.wake(pipe);
        }
    }

    /// The ways of packets.
    pub fn ways(&self) -> &Ways {
        &self.ways
    }

    /// How many directions of links there are.
    pub fn pipes(&self) -> usize {
        self.pipes.len()
    }

    /// A direction of a link.
    pub fn pipe(&mut self, pipe: Pipe) -> &mut Link<Packet> {
        &mut self.pipes[pipe]
    }

    /// What each radio does that gates links, with its place in the experiment.
    pub fn phases(&self) -> Vec<(usize, Phase)> {
        self.radios.iter().map(|gating| (gating.number, gating.radio.phase())).collect()
    }

    /// What each radio did up to `now` that gates links, with its place in the experiment.
    pub fn radio_stats(&self, now: Time) -> Vec<(usize, RadioStats)> {
        self.radios.iter().map(|gating| (gating.number, gating.radio.stats(now))).collect()
    }

    /// Every packet is somewhere, once.
    pub fn check_conservation(&self) -> Result<(), String> {
        for (pipe, link) in self.pipes.iter().enumerate() {
            let counters = link.counters();
            let held = u64::from(link.len());
            if counters.offered != counters.delivered + counters.drops.iter().sum::<u64>() + held {
                return Err(format!("link direction {pipe} holds {held} packets and counted {counters:?}"));
            }
        }
        self.check_air()
    }
}

impl Gating {
    /// `None`: a radio that comes with its MAC, as a [`Cell`].
    fn new(number: usize, spec: &RadioSpec, experiment: &Experiment, seed: u64, end: Time) -> Option<Self> {
        let gating = spec.kind.gating()?;
        Some(Self {
            number,
            radio: spec.build(spec.course(end, seed).as_ref(), seed)?,
            pipes: spec.links.iter().flat_map(|link| [2 * link, 2 * link + 1]).collect(),
            silent: gating.silent_gate(),
            holding: None,
            own_rate: spec.links.first().map_or(Rate::ZERO, |link| experiment.links[*link].forward.rate),
        })
    }
}
