//! Two CR users and the link between them: the medium of `cogtcp_wireless` with two stations.
//!
//! [`StationPair`] serves two directions of a link (gate [`Served`](Gate::Served)), which keep the packets
//! and their counts. Its driver tells it about a packet at an idle link
//! ([`OfferOutcome::Wake`](cogtcp_link::OfferOutcome::Wake)) and calls [`step`](StationPair::step) at
//! [`next_change`](StationPair::next_change). The driver ends the service of packets that are [`Finished`]
//! ([`Link::end_service`]).
//!
//! The medium says who sends when and which packets arrive; the radios say when an end is silent and on which
//! channel it listens. The link keeps the packets: a station has only the packet that its MAC is sending.
//! Exchanges that nothing can disturb (RTS, CTS, data, ACK) are computed when they begin, with at most three
//! events. These are the beginning, the packet's arrival (or the end of its lost frame), and the end.
//!
//! A frame goes over the channel that its exchange is addressed on: the one of the receiving radio, which the
//! sender knows. An exchange that was answered is completed, even into a silence.

mod events;
mod occupation;
mod results;

pub use occupation::{CellSlot, Exchange, Occupation, Rest};
pub use results::MacCounters;

use crate::hop::LinkHop;
use cogtcp_crosslayer::LinkEvent;
use cogtcp_link::{DropCause, Gate, LinkPayload};
use cogtcp_spectrum::{CognitiveRadio, Protection, Radio, RadioStats};
use cogtcp_units::{Position, Time};
use cogtcp_wireless::{Counters, Destination, InterfaceId, Medium, PrimaryUsers, QueuedPacket};
use std::collections::VecDeque;

/// The medium of a pair: interface 0 is the station at the first end, interface 1 the one at the second.
pub type PairMedium = Medium<(), Vec<Position>, PrimaryUsers>;

/// What a pair is, besides its medium and its radios.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PairConfig {
    /// The places of the link's directions among the links that it is given: end 0 sends on the first to end
    /// 1, and the other way round.
    pub directions: [u32; 2],
    /// The nodes at its ends.
    pub nodes: [usize; 2],
    /// A sender knows that its receiver is silent, and waits.
    pub waits_for_peer: bool,
    /// A station sends with the radio that senses: it is silent while that senses.
    pub sends_with_sensing_radio: bool,
}

/// Two CR users and the link between them.
#[derive(Debug)]
pub struct StationPair {
    config: PairConfig,
    medium: PairMedium,
    /// One for both ends, or one for each.
    radios: Vec<PairRadio>,
    /// The packet that each MAC has.
    packets: [Option<PacketInService>; 2],
    exchanges: [Option<Underway>; 2],
    warm_counters: [Counters; 2],
}

/// A packet that a MAC has.
#[derive(Clone, Copy, Debug)]
struct PacketInService {
    /// In bytes.
    size: u32,
    /// It has reached the far end: then its ACK has not come back.
    arrived: bool,
}

/// An exchange that is under way.
#[derive(Clone, Copy, Debug)]
enum Underway {
    /// The medium has worked out what it comes to.
    Known(Exchange),
    /// It is played frame by frame. From when to when the packet itself was on the air, if it has arrived.
    Open { data: (Time, Time) },
}

/// A radio of a pair, with what its results need.
#[derive(Debug)]
pub struct PairRadio {
    radio: CognitiveRadio,
    /// Until when frames have been on the air of its channel.
    on_air_until: Time,
    warm: (RadioStats, Protection),
}

/// Result of one step of a pair, for the driver of its links.
#[derive(Clone, Copy, Debug, Default)]
pub struct Finished {
    /// The packet in service of this direction has reached the far end.
    pub delivered: Option<u32>,
    /// The MAC gave up the packet in service of this direction.
    pub dropped: Option<(u32, DropCause)>,
    /// By end: an exchange that was undecided is over.
    pub decided: [Option<Exchange>; 2],
}

/// An event in a pair: the radio's number in the pair, and the event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PairEvent {
    /// A radio reports.
    Radio(usize, Time, LinkEvent),
    /// What the node at this end learns of its link.
    Board(usize, Time, LinkEvent),
    /// A primary user destroyed the named frame of an exchange that a packet of this direction was in.
    Interference(u32, &'static str),
}

impl StationPair {
    /// A pair on `medium`, which has a station for each end. `radios`: one that both ends share, or the one
    /// of each.
    pub fn new(config: PairConfig, medium: PairMedium, radios: Vec<CognitiveRadio>) -> Self {
        debug_assert!(matches!(radios.len(), 1 | 2), "a radio of both ends, or one of each");
        debug_assert_eq!(medium.len(), 2, "a station at each end");
        let unit = |radio| PairRadio { radio, on_air_until: Time::ZERO, warm: Default::default() };
        let mut pair = Self {
            config,
            medium,
            radios: radios.into_iter().map(unit).collect(),
            packets: [None; 2],
            exchanges: [None; 2],
            warm_counters: Default::default(),
        };
        (0..pair.radios.len()).for_each(|number| pair.tell_medium(number, Time::ZERO));
        pair
    }

    /// The places of the link's directions among the links that it is given.
    pub fn directions(&self) -> [u32; 2] {
        self.config.directions
    }

    /// The nodes at its ends.
    pub fn nodes(&self) -> [usize; 2] {
        self.config.nodes
    }

    /// Puts the links under the MAC's service, at time zero.
    pub fn begin<P: LinkPayload>(&mut self, links: &mut [LinkHop<P>]) {
        self.set_links(Time::ZERO, links);
    }

    /// When the pair has something to do next; [`Time::MAX`]: when it is fed. A station that was held back
    /// may be due before the present.
    pub fn next_change(&mut self) -> Time {
        let radios = self.radios.iter().map(|unit| unit.radio.next_change()).min().unwrap_or(Time::MAX);
        radios.min(self.medium.next_event())
    }

    /// Gives each MAC that has no packet the first that waits.
    pub fn feed<P: LinkPayload>(&mut self, now: Time, links: &[LinkHop<P>]) {
        for end in [0, 1] {
            if self.packets[end].is_some() {
                continue;
            }
            // Only its size: the link keeps the packet until the MAC is done with it.
            let Some(size) = links[self.config.directions[end] as usize].head_size() else { continue };
            self.packets[end] = Some(PacketInService { size, arrived: false });
            let to = Destination::Interface(interface(1 - end));
            let packet = QueuedPacket { payload: (), bytes: size, to, channel: None, goes_first: false };
            let offer = self.medium.enqueue(now, interface(end), packet);
            debug_assert_eq!(
                offer,
                cogtcp_wireless::EnqueueOutcome::Queued,
                "a MAC has one packet at a time"
            );
        }
    }

    /// Does the first of what is due at `now`, and adds its events to `events`.
    pub fn step<P: LinkPayload>(
        &mut self,
        now: Time,
        links: &mut [LinkHop<P>],
        events: &mut VecDeque<PairEvent>,
    ) -> Finished {
        // Radios before stations: at the instant at which a silence begins nobody sends any more. One thing a
        // step: what else is due now is a step of its own at this instant.
        if let Some(number) = self.radios.iter().position(|unit| unit.radio.next_change() <= now) {
            self.change_radio(number, now, links, events);
        } else if self.medium.next_change() <= now {
            self.medium.step();
        }
        self.take_events(now, links, events)
    }

    /// A radio changes: stations freeze and go on, the links' capacity follows.
    fn change_radio<P: LinkPayload>(
        &mut self,
        number: usize,
        now: Time,
        links: &mut [LinkHop<P>],
        events: &mut VecDeque<PairEvent>,
    ) {
        let (was_open, ends) = (self.is_open(), self.ends_of(number));
        let unit = &mut self.radios[number];
        let before = (unit.radio.phase(), unit.radio.phase_end());
        let after = unit.radio.advance(now);
        while let Some((time, event)) = unit.radio.poll_event() {
            events.push_back(PairEvent::Radio(number, time, event));
            // A radio that both ends share is heard of at both.
            events.extend(ends.clone().map(|end| PairEvent::Board(end, time, event)));
        }
        if before != (after, self.radios[number].radio.phase_end()) {
            self.tell_medium(number, now);
        }
        // The end alone may have moved, which the medium had to know and the links need not.
        if before.0 == after {
            return;
        }
        self.set_links(now, links);
        if let Some(event) = LinkEvent::of_change(was_open, self.is_open()) {
            events.extend((0..2).map(|end| PairEvent::Board(end, now, event)));
        }
    }

    /// The medium hears what a radio does.
    fn tell_medium(&mut self, number: usize, now: Time) {
        let radio = &self.radios[number].radio;
        let (silent, until, channel) = (radio.phase().is_silent(), radio.phase_end(), radio.loaded());
        let stations = [interface(0), interface(1)];
        let stations = &stations[self.ends_of(number)];
        for station in stations {
            // Tuned first: a radio that opens is to be heard on its new channel.
            self.medium.tune(now, *station, channel);
        }
        self.medium.set_silent(now, stations, silent, until);
    }

    /// The ends that a radio stands for.
    fn ends_of(&self, number: usize) -> std::ops::Range<usize> {
        if self.radios.len() == 1 { 0..2 } else { number..number + 1 }
    }

    /// The number of the radio of `end`.
    fn radio_of(&self, end: usize) -> usize {
        end.min(self.radios.len() - 1)
    }

    /// The radio of `end`.
    fn radio(&self, end: usize) -> &CognitiveRadio {
        &self.radios[self.radio_of(end)].radio
    }

    /// Whether `end` knows of a silence and does not send: its own silence, where it sends with the radio that
    /// senses, and its peer's, where it waits for it.
    fn is_blocked(&self, end: usize) -> bool {
        let silent = |end| self.radio(end).phase().is_silent();
        (self.config.sends_with_sensing_radio && silent(end))
            || (self.config.waits_for_peer && silent(1 - end))
    }

    /// Whether both directions are open.
    fn is_open(&self) -> bool {
        self.radios.iter().all(|unit| !unit.radio.phase().is_silent())
    }

    /// What goes on at the direction that `end` sends on.
    pub fn occupation<P: LinkPayload>(&self, end: usize, links: &[LinkHop<P>]) -> Occupation {
        let link = &links[self.config.directions[end] as usize];
        match self.exchanges[end] {
            Some(Underway::Known(exchange)) => Occupation::Exchange(exchange),
            Some(Underway::Open { .. }) => Occupation::Undecided,
            None if self.exchanges[1 - end].is_some() => Occupation::Other,
            None if link.gate() == Gate::ServedSilent => Occupation::Silent,
            None if link.is_empty() => Occupation::Idle,
            None => Occupation::Contends,
        }
    }

    /// Gates and rates of the links: a direction is open while its receiver listens and its sender may send.
    fn set_links<P: LinkPayload>(&self, now: Time, links: &mut [LinkHop<P>]) {
        for (end, direction) in self.config.directions.into_iter().enumerate() {
            let receiver = self.radio(1 - end);
            let is_open = !receiver.phase().is_silent() && !self.is_blocked(end);
            let gate = Gate::of_served(!is_open);
            // A MAC serves the link: no arrival is scheduled by it.
            let _ = links[direction as usize].set_channel(now, gate, receiver.rate());
        }
    }
}

/// The station at `end`.
fn interface(end: usize) -> InterfaceId {
    InterfaceId(end as u32)
}
