//! Link directions, the routes of streams and the packets on them.

mod accounts;
mod air;
mod build;
mod cells;
mod conservation;
mod error;
mod lookahead;
mod notices;
mod pairs;
mod radios;
mod results;
mod stamps;
mod unshared;

pub use air::TIME_TO_LIVE;
pub use build::Recording;
pub use error::BuildError;
pub use lookahead::{Goal, LateHosts, Look, finish, look};
pub use notices::{fronts, tells};

use crate::agenda::{Agenda, Change, Due, Kind};
use crate::boards::Boards;
use crate::budget::{Budget, Carriage};
use crate::hop::{BY_ROUTE, HOST, LinkHop, Mark, NOWHERE};
use crate::observer::{Arrival, Observer, PacketLocation, PacketStep};
use crate::payload::{Awaited, Payload, StreamId, Transit};
use crate::routes::Hop;
use crate::station_pair::PairEvent;
use air::AdHoc;
use cells::CellLinks;
use cogtcp_crosslayer::StampingHop;
use cogtcp_link::{DropCause, Flushed, Frame, Gate, OfferOutcome};
use cogtcp_spectrum::air::Air;
use cogtcp_units::{Duration, Rate, Time};
use lookahead::{Inlet, Looks};
use notices::Notices;
use pairs::ServedPair;
use radios::GatedLinks;
use results::Standing;
use std::collections::{BTreeMap, VecDeque};
use std::hint::select_unpredictable;
use std::sync::Arc;

/// First of the hops that lead over the air; values below are link directions.
const AIR: u32 = crate::agenda::MAX_INDEX;

/// Packets that a host put into the network on a stream, and packets delivered at the other end.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct StreamCounters {
    /// Packets that the host sent.
    pub injected: u64,
    /// Packets that reached the other host.
    pub arrived: u64,
}

/// The kind of a change, for statistics of changes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tally {
    /// Something happens.
    Event,
    /// A timer that has moved on meanwhile: how many there are is a matter of how timers are kept.
    Stale,
    /// Somebody looks: the run is the same without.
    Observation,
}

/// The network of one run.
#[derive(Debug)]
pub struct Network<P> {
    agenda: Agenda,
    /// By direction: two of each link.
    directions: Vec<LinkHop<P>>,
    /// The routes of all streams, one after another: link directions and hops over the air, then [`HOST`].
    routes: Vec<u32>,
    /// Where the route of a stream begins in `routes`.
    route_starts: Vec<u32>,
    /// The nodes that each stream leads from and to.
    ends: Vec<(u32, u32)>,
    /// The nodes at the ends of each hop over the air.
    air_hops: Vec<(u32, u32)>,
    /// The hops of links that write into packets, by direction.
    stamping: BTreeMap<u32, StampingHop>,
    /// Packets dropped on the way, by stream.
    dropped: Vec<u64>,
    hops: u64,
    inlets: Vec<Inlet<P>>,
    /// Packets that arrive before this are handed on ahead of time: nobody looks at links before.
    horizon: Time,
    looks: Looks,
    /// Packets are handed on at most so long before they arrive.
    window: Duration,
    /// Packets that were handed on ahead of time.
    merged: u64,
    /// Events of arrivals whose packets had been handed on already.
    stale: u64,
    /// Something has happened that the driver is to take.
    has_news: bool,
    radios: Vec<GatedLinks>,
    pairs: Vec<ServedPair>,
    cells: Vec<CellLinks>,
    /// What a pair has to say, empty between its steps.
    pair_events: VecDeque<PairEvent>,
    boards: Boards,
    notices: Notices<P>,
    budget: Budget,
    air: Option<Box<AdHoc<P>>>,
    /// Packets that the air is to take.
    outgoing: VecDeque<Frame<P>>,
    /// Packets that have reached their hosts, and the driver has not taken.
    arrived: VecDeque<Arrival<P>>,
    /// The channels and primary users of radios in full.
    spectrum: Option<Arc<Air>>,
    /// The link directions at the end of the warm-up; none: there was no warm-up.
    baselines: Vec<Standing>,
    warm_at: Time,
}

impl<P: Payload> Network<P> {
    /// When something is due, and what; `None`: nothing until a host sends.
    #[inline]
    pub fn peek(&mut self) -> Option<(Time, Due)> {
        self.agenda.peek()
    }

    /// When the next packet arrives, and from which link direction, if nothing else is due before: the short
    /// way of [`peek`](Self::peek) and [`step_into`](Self::step_into).
    #[inline]
    pub fn first_arrival(&self) -> Option<(Time, u32)> {
        self.agenda.first_arrival()
    }

    /// When [`step`](Self::step) is to be called; [`Time::MAX`]: when a host has sent.
    pub fn next_change(&mut self) -> Time {
        self.peek().map_or(Time::MAX, |(at, _)| at)
    }

    /// What is due when; drivers keep what their hosts wait for there too.
    #[inline]
    pub fn agenda(&mut self) -> &mut Agenda {
        &mut self.agenda
    }

    /// How many entries its agenda has numbered so far ([`Agenda::MAX_SEQUENCE`]).
    pub fn scheduled(&self) -> u64 {
        self.agenda.scheduled()
    }

    /// Returns the kind of `change`, which is due now, for statistics of changes.
    #[inline]
    pub fn tally(&self, now: Time, change: Change) -> Tally {
        if change.is_of_air() { self.tally_air(now, change) } else { Tally::Event }
    }

    #[cold]
    fn tally_air(&self, now: Time, change: Change) -> Tally {
        match change.kind() {
            Kind::Air if !self.is_armed(now) => Tally::Stale,
            Kind::Positions | Kind::HandOn(_) | Kind::Inlet(_) => Tally::Observation,
            _ => Tally::Event,
        }
    }

    /// Plays what is due first, which is `change` at `now` ([`peek`](Self::peek)). Returns a packet that has
    /// reached its host; what else there is to hear [`has_news`](Self::has_news) tells.
    pub fn step(&mut self, now: Time, change: Change, observer: &mut impl Observer<P>) -> Option<Arrival<P>> {
        let mut arrival = Arrival::default();
        self.step_into(now, change, observer, &mut arrival).then_some(arrival)
    }

    /// Plays what is due first, as [`step`](Self::step), for a driver that has a place for packets. If true is
    /// returned, a packet has reached its host and is `into` that place. A packet that is handed over by value
    /// is copied several times on its way to the driver.
    #[inline]
    pub fn step_into(
        &mut self,
        now: Time,
        change: Change,
        observer: &mut impl Observer<P>,
        into: &mut Arrival<P>,
    ) -> bool {
        match change.arrival() {
            // It takes the entry off the agenda itself: as a rule the link direction's next arrival takes its
            // place.
            Some(direction) => self.arrive(now, direction, observer, into),
            None => self.rare_step(now, change, observer, into),
        }
    }

    /// All but arrivals, which are nearly every step.
    #[inline(never)]
    fn rare_step(
        &mut self,
        now: Time,
        change: Change,
        observer: &mut impl Observer<P>,
        into: &mut Arrival<P>,
    ) -> bool {
        // First, so that what the change schedules may take the place of its entry.
        self.agenda.pop(Due::Network(change));
        match change.kind() {
            Kind::Arrival(_) => unreachable!("arrivals are played by `step`"),
            Kind::Transmission(direction) if self.directions[direction as usize].is_managed() => {
                self.directions[direction as usize].transmit(now);
                self.attend(now, direction, observer);
            }
            Kind::Transmission(direction) => self.begin_waiting(now, direction),
            Kind::Radio(radio) => self.change_radio(now, radio as usize, observer),
            Kind::Pair(pair) => return self.step_pair(now, pair, observer, into),
            Kind::Cell(cell) => return self.step_cell(now, cell, observer, into),
            Kind::Air => self.advance_air(now, observer),
            Kind::Sending => self.send_on_air(now, observer),
            Kind::Positions => self.record_positions(now),
            Kind::HandOn(direction) => self.hand_on_late(now, direction, observer),
            Kind::Inlet(number) => self.play_inlet_late(now, number, observer),
        }
        false
    }

    /// A host sends `payload`, in a packet of `bytes`, on `stream`.
    #[expect(clippy::inline_always, reason = "the payload is made in its link, and not copied there")]
    #[inline(always)]
    pub fn offer<O: Observer<P>>(
        &mut self,
        now: Time,
        stream: StreamId,
        mut payload: P,
        bytes: u32,
        observer: &mut O,
    ) {
        let start = self.route_starts[stream.index()];
        // The hop that comes next counts up when a link takes the packet ([`Transit::enter`]).
        payload.set_transit(Transit { stream, next: start });
        let first = self.routes[start as usize];
        if self.hand_on_new(now, first, payload, bytes) {
            return;
        }
        if let Some(link) = self.directions.get_mut(first as usize)
            && !link.is(Mark::Watched)
            && !link.is(Mark::Early)
            && !O::FOLLOWS_OFFERS
            && !observer.follows_packets()
            && let Some(outcome) = link.offer_new(now, payload, bytes)
        {
            if let OfferOutcome::Schedule { at, since } = outcome {
                self.schedule_arrival(since, at, first);
            }
            return;
        }
        // A copy of its own: the payload then need not have a place in memory before.
        let frame = Frame::new(payload, bytes);
        self.offer_frame(now, first, &frame, observer);
    }

    #[inline(never)]
    fn offer_frame(&mut self, now: Time, first: u32, frame: &Frame<P>, observer: &mut impl Observer<P>) {
        if first < AIR {
            self.put(now, first, frame, observer);
        } else {
            self.send_elsewhere(now, *frame);
        }
    }

    /// Whether there is something for the driver to take: [`take_arrival`](Self::take_arrival), the boards'
    /// listeners and readers, [`tell_source`](Self::tell_source), in this order.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.has_news
    }

    /// The next packet that has reached its host.
    pub fn take_arrival(&mut self) -> Option<Arrival<P>> {
        self.arrived.pop_front()
    }

    /// Sends, or returns to the host that it is for, what nodes tell the sources of packets that silence has
    /// destroyed. `None`: all of them are told, and the driver has all news.
    pub fn tell_source(&mut self, now: Time, observer: &mut impl Observer<P>) -> Option<Arrival<P>> {
        while let Some((stream, payload, bytes)) = self.notices.take() {
            match stream {
                Some(stream) => self.offer(now, stream, payload, bytes, observer),
                None => return Some(local(now, payload, bytes)),
            }
        }
        // Sending may have brought more news, such as a packet that is for its own host.
        self.has_news = !self.arrived.is_empty() || self.boards.has_news();
        None
    }

    /// A packet whose first hop is none over a link.
    #[cold]
    fn send_elsewhere(&mut self, now: Time, frame: Frame<P>) {
        match self.routes[frame.packet.transit().next as usize] {
            HOST => {
                self.has_news = true;
                self.arrived.push_back(Arrival { at: now, direction: None, frame });
            }
            _ => self.enter_air(now, frame),
        }
    }

    /// The first packet of `direction` arrives at the far end, as [`first_arrival`](Self::first_arrival) says.
    /// It moves on, or is lost, or has reached its host: then it is left in `into` and true is returned.
    #[expect(clippy::inline_always, reason = "two callers, of which the event loop makes nearly every call")]
    #[inline(always)]
    pub fn arrive(
        &mut self,
        now: Time,
        direction: u32,
        observer: &mut impl Observer<P>,
        into: &mut Arrival<P>,
    ) -> bool {
        if self.directions[direction as usize].is(Mark::Early) {
            return self.arrive_late(now, direction, observer, into);
        }
        self.hops += 1;
        let from = &mut self.directions[direction as usize];
        let mut lost = from.arrive_into(now, &mut into.frame);
        (into.at, into.direction) = (now, Some(direction));
        let next = from.next;
        let settles = from.is(Mark::Settles);
        // A link direction has one arrival in the agenda, that of its first packet in flight. The next takes
        // its place: one step of the heap instead of two.
        match from.next_arrival() {
            Some(time) => {
                let early = if from.is(Mark::FedEarly) { from.first_arrival() } else { None };
                let since = early.map_or(now, |(_, since)| since);
                self.agenda.replace_arrival(since, time, direction);
            }
            None => self.agenda.pop_arrival(),
        }
        if settles && let Some(cause) = self.settle(now, direction, &mut into.frame, lost, observer) {
            lost = Some(cause);
        }
        if let Some(cause) = lost {
            self.drop_packet(now, direction, &into.frame, (cause, false), observer);
            return false;
        }
        self.record(now, PacketStep::Received, direction, &into.frame, observer);
        self.forward(next, into, observer)
    }

    /// The packet in `into`, which came by a link direction or over the air, goes where `next`
    /// says; true: it has reached its host.
    #[expect(clippy::inline_always, reason = "two callers, of which `arrive` makes nearly every call")]
    #[inline(always)]
    fn forward(&mut self, mut next: u32, into: &mut Arrival<P>, observer: &mut impl Observer<P>) -> bool {
        // The route is read whether `next` asks for it or not: which direction a packet has left is as
        // good as random in a large network, and a branch on that costs more than the look.
        let by_route = self.routes[into.frame.packet.transit().next as usize];
        next = select_unpredictable(next == BY_ROUTE, by_route, next);
        // One comparison for the common case: below is the next link direction.
        if next >= AIR {
            if next == HOST {
                if self.notices.has_streams() {
                    self.count_notice(&into.frame.packet);
                }
                return true;
            }
            self.enter_air(into.at, into.frame);
            return false;
        }
        if self.directions[next as usize].is(Mark::Early) {
            self.put_ahead(into.at, next, &into.frame, observer);
        } else {
            self.put(into.at, next, &into.frame, observer);
        }
        false
    }

    /// A packet is offered to `direction`.
    #[inline]
    fn put<O: Observer<P>>(&mut self, now: Time, direction: u32, frame: &Frame<P>, observer: &mut O) {
        let link = &mut self.directions[direction as usize];
        if link.is(Mark::Early) {
            return self.put_ahead(now, direction, frame, observer);
        }
        // Data behind other data ends no pause. Data behind other packets ends the pause before these. Packets
        // that are no data count their bytes, whether the link is idle or not.
        if link.is(Mark::Watched)
            && (link.is(Mark::AwaitsData) || link.is_free(now) || frame.packet.awaited() == Awaited::Nothing)
        {
            self.budget.offered(now, direction, link, frame);
        }
        if O::FOLLOWS_OFFERS {
            self.record_entered(now, PacketStep::Offered, direction, frame, observer);
        }
        match self.directions[direction as usize].offer_copy(now, frame) {
            OfferOutcome::Taken => {}
            OfferOutcome::Schedule { at, since } => self.schedule_arrival(since, at, direction),
            OfferOutcome::Wake => self.wake(now, direction),
            OfferOutcome::Dropped => return self.refuse(now, direction, frame, DropCause::Queue, observer),
            OfferOutcome::Refused => return self.refuse(now, direction, frame, DropCause::Silence, observer),
            OfferOutcome::Managed => {
                // Told before the discipline's own doings are: it may drop this very packet.
                self.record_entered(now, PacketStep::Queued, direction, frame, observer);
                return self.attend(now, direction, observer);
            }
        }
        self.record_entered(now, PacketStep::Queued, direction, frame, observer);
    }

    /// A link direction does not take a packet: its queue is full, or its gate refuses it.
    #[cold]
    fn refuse(
        &mut self,
        now: Time,
        direction: u32,
        frame: &Frame<P>,
        cause: DropCause,
        observer: &mut impl Observer<P>,
    ) {
        // A location is worked out from `next` as if the link had taken the packet.
        let mut frame = *frame;
        frame.packet.enter();
        self.drop_packet(now, direction, &frame, (cause, true), observer);
    }

    /// Shows a packet that `direction` has taken to an observer that follows packets.
    #[inline]
    fn record_entered(
        &mut self,
        now: Time,
        step: PacketStep,
        direction: u32,
        frame: &Frame<P>,
        observer: &mut impl Observer<P>,
    ) {
        if observer.follows_packets() {
            self.tell_entered(now, step, direction, frame, observer);
        }
    }

    #[cold]
    fn tell_entered(
        &mut self,
        now: Time,
        step: PacketStep,
        direction: u32,
        frame: &Frame<P>,
        observer: &mut impl Observer<P>,
    ) {
        let mut frame = *frame;
        frame.packet.enter();
        self.tell_packet(now, step, direction, &frame, observer);
    }

    #[inline]
    fn record(
        &self,
        now: Time,
        step: PacketStep,
        direction: u32,
        frame: &Frame<P>,
        observer: &mut impl Observer<P>,
    ) {
        if observer.follows_packets() {
            self.tell_packet(now, step, direction, frame, observer);
        }
    }

    #[cold]
    fn tell_packet(
        &self,
        now: Time,
        step: PacketStep,
        direction: u32,
        frame: &Frame<P>,
        observer: &mut impl Observer<P>,
    ) {
        observer.packet(now, step, self.place(direction, &frame.packet), frame);
    }

    /// Where a packet on `direction` is.
    fn place(&self, direction: u32, packet: &P) -> PacketLocation {
        let Transit { stream, next } = packet.transit();
        let start = self.route_starts[stream.index()];
        // `next` is past the hop of `direction`, hence the one less.
        PacketLocation { direction, ends: self.ends[stream.index()], hops: next.saturating_sub(start + 1) }
    }

    /// Gate and rate of a link direction change.
    fn set_channel(
        &mut self,
        now: Time,
        direction: u32,
        gate: Gate,
        rate: Option<Rate>,
        observer: &mut impl Observer<P>,
    ) {
        let link = &mut self.directions[direction as usize];
        let was_due = link.next_arrival().is_some();
        let scheduled = if link.is(Mark::Watched) {
            self.budget.set_channel(now, direction, link, gate, rate)
        } else {
            link.set_channel(now, gate, rate)
        };
        // Within the warm-up there are no baselines.
        if let (Some(cut), Some(before)) = (link.cut(), self.baselines.get_mut(direction as usize)) {
            // The frame counted as carried when the warm-up ended. Now nothing of it is.
            before.carried -= cut.sent_by(self.warm_at);
        }
        if let Some(time) = scheduled {
            self.agenda.push_arrival(now, time, direction);
        }
        if was_due && self.directions[direction as usize].next_arrival().is_none() {
            // The packet whose arrival was scheduled is destroyed: the link went down.
            self.agenda.cancel_arrival(direction);
        }
        if let Some(at) = self.directions[direction as usize].end_of_destroyed(now) {
            self.agenda.push(at, Kind::Transmission(direction));
        }
        while let Some(Flushed { frame, was_carried }) = self.directions[direction as usize].take_flushed() {
            let carried = if was_carried { Carriage::Lost } else { Carriage::None };
            self.lose_on(now, direction, &frame, (DropCause::Silence, false, carried), observer);
        }
        self.attend(now, direction, observer);
    }

    /// The transmitter of `direction` is free of a frame that a silence destroyed, which is over.
    #[cold]
    fn begin_waiting(&mut self, now: Time, direction: u32) {
        if let Some((at, since)) = self.directions[direction as usize].begin_first(now) {
            self.agenda.push_arrival(since, at, direction);
        }
    }

    /// Follows up on what a queue discipline has done; nothing is to be done for a link direction without
    /// one.
    #[cold]
    fn attend(&mut self, now: Time, direction: u32, observer: &mut impl Observer<P>) {
        if !self.directions[direction as usize].is_managed() {
            return;
        }
        // A discipline such as CoDel drops at dequeue, packets that were offered long before.
        while let Some((frame, cause)) = self.directions[direction as usize].take_dropped() {
            self.drop_packet(now, direction, &frame, (cause, false), observer);
        }
        let link = &mut self.directions[direction as usize];
        if let Some(time) = link.take_arrival() {
            self.agenda.push_arrival(now, time, direction);
        }
        if let Some(time) = link.take_transmission() {
            self.agenda.push(time, Kind::Transmission(direction));
        }
        if link.take_wake() {
            self.wake(now, direction);
        }
    }

    /// A packet is lost on `direction`; its source may be told.
    #[cold]
    fn drop_packet(
        &mut self,
        now: Time,
        direction: u32,
        frame: &Frame<P>,
        (cause, refused): (DropCause, bool),
        observer: &mut impl Observer<P>,
    ) {
        let carried = match cause {
            DropCause::Loss => Carriage::Lost,
            // A MAC that gives a frame up has not carried it: its exchanges are noted as they end.
            DropCause::Interference if self.directions[direction as usize].is(Mark::Settles) => {
                Carriage::Interfered
            }
            _ => Carriage::None,
        };
        self.lose_on(now, direction, frame, (cause, refused, carried), observer);
    }

    /// A packet is lost on `direction`, or at its far end, which had taken it or `refused` it.
    #[cold]
    fn lose_on(
        &mut self,
        now: Time,
        direction: u32,
        frame: &Frame<P>,
        (cause, refused, carried): (DropCause, bool, Carriage),
        observer: &mut impl Observer<P>,
    ) {
        let stream = frame.packet.transit().stream.index();
        self.dropped[stream] += 1;
        let route = &self.routes[self.route_starts[stream] as usize..];
        let length = route.iter().position(|hop| *hop == HOST).unwrap_or(route.len());
        self.budget.dropped(&route[..length], direction, frame, carried);
        if cause == DropCause::Silence {
            self.record_silenced(now, direction, &frame.packet, observer);
        }
        observer.dropped(now, self.place(direction, &frame.packet), frame, cause, refused);
    }
}

/// A packet that is for the host that it comes from.
fn local<P: Payload>(at: Time, mut payload: P, bytes: u32) -> Arrival<P> {
    payload.set_transit(Transit { stream: StreamId::NOWHERE, next: 0 });
    Arrival { at, direction: None, frame: Frame::new(payload, bytes) }
}

impl<P: Payload> Network<P> {
    /// Adds the next stream, from a node to a node, whose packets take `route`. Returns the stream.
    pub fn add_stream(&mut self, from: usize, to: usize, route: &[Hop]) -> StreamId {
        let start = self.routes.len();
        let stream = self.next_stream();
        let (from, to) = (from as u32, to as u32);
        self.route_starts.push(start as u32);
        self.ends.push((from, to));
        for hop in route {
            let hop = match hop {
                Hop::Link(direction) => *direction,
                Hop::Air(ends) => self.air_hop(*ends),
            };
            self.routes.push(hop);
        }
        self.routes.push(HOST);
        self.dropped.push(0);
        // Nearly every link direction is always followed by the same hop. Kept with the link, it needs no look
        // at the route, which would be another cache line for every packet.
        for step in self.routes[start..].windows(2) {
            // After the air, the route of a packet is looked up.
            if step[0] >= AIR {
                continue;
            }
            let direction = &mut self.directions[step[0] as usize];
            direction.next = match direction.next {
                NOWHERE => step[1],
                next if next == step[1] => next,
                _ => BY_ROUTE,
            };
        }
        stream
    }

    fn air_hop(&mut self, ends: (u32, u32)) -> u32 {
        let known = self.air_hops.iter().position(|hop| *hop == ends);
        AIR + known.unwrap_or_else(|| {
            self.air_hops.push(ends);
            self.air_hops.len() - 1
        }) as u32
    }

    /// The stream that the next call of [`add_stream`](Self::add_stream) gives out.
    pub fn next_stream(&self) -> StreamId {
        StreamId(self.route_starts.len() as u32)
    }

    /// The nodes that a stream leads from and to.
    pub fn ends(&self, stream: StreamId) -> (u32, u32) {
        self.ends[stream.index()]
    }

    /// The link directions of a stream's route.
    pub fn route(&self, stream: StreamId) -> impl Iterator<Item = u32> {
        let rest = &self.routes[self.route_starts[stream.index()] as usize..];
        rest.iter().copied().take_while(|hop| *hop != HOST).filter(|hop| *hop < AIR)
    }

    /// Whether a stream's route crosses an ad hoc network: what that can carry no link tells.
    pub fn crosses_air(&self, stream: StreamId) -> bool {
        let rest = &self.routes[self.route_starts[stream.index()] as usize..];
        rest.iter().take_while(|hop| **hop != HOST).any(|hop| *hop >= AIR)
    }

    /// Packets of a stream that were dropped on the way.
    pub fn dropped(&self, stream: StreamId) -> u64 {
        self.dropped[stream.index()]
    }

    /// Hops that packets have made.
    pub fn hops(&self) -> u64 {
        self.hops + self.merged
    }

    /// The link directions: two of each link, forward and reverse.
    pub fn directions(&self) -> &[LinkHop<P>] {
        &self.directions
    }

    /// A link direction.
    pub fn direction(&mut self, direction: u32) -> &mut LinkHop<P> {
        &mut self.directions[direction as usize]
    }

    /// The boards of the nodes.
    pub fn boards(&mut self) -> &mut Boards {
        &mut self.boards
    }

    /// The channels and primary users, where radios share them.
    pub fn spectrum(&self) -> Option<&Arc<Air>> {
        self.spectrum.as_ref()
    }
}
