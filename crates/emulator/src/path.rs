//! The way between two nodes: both directions of a link, and the radio that gates them. Without a clock.
//!
//! A driver says what happens and when: [`Path::offer`] when a packet comes, [`Path::play`] whenever it looks, at the latest
//! when [`Path::next`] is due. Everything is played at its own time and in its order, however late the driver is. So a real
//! clock and one made by hand lead to the same arrivals.

use crate::packet::Packet;
use cogtcp_crosslayer::LinkEvent;
use cogtcp_link::{DropCause, Frame, Gate, Link, Offer};
use cogtcp_scenario::{LinkSpec, RadioSpec};
use cogtcp_spectrum::{Radio, RadioStats};
use cogtcp_units::{Rate, Time};

/// A direction of the link: 0 is forward, from the link's first node to its second, 1 is reverse.
pub type Direction = usize;

/// Who is told what happens on the path.
pub trait Observer {
    /// A packet arrives at the far end, which was due at `due`.
    fn arrived(&mut self, due: Time, direction: Direction, frame: &Frame<Packet>);

    /// A packet is lost. `refused`: the queue had not taken it.
    fn dropped(
        &mut self,
        at: Time,
        direction: Direction,
        frame: &Frame<Packet>,
        cause: DropCause,
        refused: bool,
    );

    /// Something happened to the radio. `own_rate` is the rate that "the link's own" stands for.
    fn radio(&mut self, at: Time, event: LinkEvent, own_rate: Rate);
}

/// A link with its radio.
#[derive(Debug)]
pub struct Path {
    links: [Link<Packet>; 2],
    radio: Option<Box<dyn Radio>>,
    /// The gate in silence.
    silent: Gate,
    own_rate: Rate,
    /// Up to when everything has been played: no later call may say that something happened before.
    played: Time,
}

/// What is due next.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Due {
    // In the order of one instant: transmissions begin before the gate or the rate changes.
    Transmission(Direction),
    Arrival(Direction),
    Radio,
}

impl Path {
    /// The link of `spec` with its radio, in the run of seed `seed`; `end` is how long a journey is followed.
    pub fn new(spec: &LinkSpec, radio: Option<&RadioSpec>, seed: u64, end: Time) -> Self {
        let gating = radio.and_then(|radio| radio.kind.gating()).unwrap_or_default();
        let mut path = Self {
            links: spec.build(seed),
            radio: radio.and_then(|radio| radio.build(radio.course(end, seed).as_ref(), seed)),
            silent: Gate::of(true, gating.silence),
            own_rate: spec.forward.rate,
            played: Time::ZERO,
        };
        path.gate(Time::ZERO);
        path
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
        for (direction, link) in self.links.iter().enumerate() {
            consider(link.next_transmission(), Due::Transmission(direction));
            consider(link.next_arrival(), Due::Arrival(direction));
        }
        consider(self.radio.as_ref().map(|radio| radio.next_change()), Due::Radio);
        first
    }

    /// Plays everything that is due by `now`, each at its own time.
    pub fn play(&mut self, now: Time, observer: &mut impl Observer) {
        while let Some((at, due)) = self.due().filter(|(at, _)| *at <= now) {
            // A transmission may be due since before the packet came that is to be transmitted.
            self.played = self.played.max(at);
            match due {
                Due::Transmission(direction) => {
                    self.links[direction].transmit(self.played);
                    self.attend(direction, observer);
                }
                Due::Arrival(direction) => {
                    let departure = self.links[direction].arrive(self.played);
                    match departure.lost {
                        None => observer.arrived(at, direction, &departure.frame),
                        Some(cause) => observer.dropped(at, direction, &departure.frame, cause, false),
                    }
                }
                Due::Radio => self.change(at, observer),
            }
        }
        self.played = self.played.max(now);
    }

    /// A packet of `size` bytes comes.
    pub fn offer(
        &mut self,
        now: Time,
        direction: Direction,
        packet: Packet,
        size: u32,
        observer: &mut impl Observer,
    ) {
        self.play(now, observer);
        let frame = Frame::new(packet, size);
        match self.links[direction].offer(self.played, frame) {
            Offer::Dropped => observer.dropped(self.played, direction, &frame, DropCause::Queue, true),
            Offer::Refused => observer.dropped(self.played, direction, &frame, DropCause::Silence, true),
            Offer::Managed => self.attend(direction, observer),
            Offer::Taken | Offer::Schedule(_) | Offer::Wake => {}
        }
    }

    fn change(&mut self, at: Time, observer: &mut impl Observer) {
        let Some(radio) = &mut self.radio else { return };
        radio.advance(at);
        while let Some((time, event)) = radio.poll_event() {
            observer.radio(time, event, self.own_rate);
        }
        self.gate(at);
        for direction in 0..2 {
            self.attend(direction, observer);
        }
    }

    /// Gate and rate follow the radio.
    fn gate(&mut self, at: Time) {
        let Some(radio) = &self.radio else { return };
        let gate = if radio.phase().is_silent() { self.silent } else { Gate::Open };
        for link in &mut self.links {
            link.set_channel(at, gate, radio.rate());
        }
    }

    /// What a queue discipline has dropped.
    fn attend(&mut self, direction: Direction, observer: &mut impl Observer) {
        while let Some((frame, cause)) = self.links[direction].take_dropped() {
            observer.dropped(self.played, direction, &frame, cause, false);
        }
    }

    /// A direction.
    pub fn link(&mut self, direction: Direction) -> &mut Link<Packet> {
        &mut self.links[direction]
    }

    /// What the radio did up to `now`, if there is one.
    pub fn radio_stats(&self, now: Time) -> Option<RadioStats> {
        self.radio.as_ref().map(|radio| radio.stats(now))
    }

    /// Every packet is somewhere, once.
    pub fn check_conservation(&self) -> Result<(), String> {
        for (direction, link) in self.links.iter().enumerate() {
            let counters = link.counters();
            let held = u64::from(link.len());
            if counters.offered != counters.delivered + counters.drops.iter().sum::<u64>() + held {
                return Err(format!("direction {direction} holds {held} packets and counted {counters:?}"));
            }
        }
        Ok(())
    }
}
