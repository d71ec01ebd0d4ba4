//! Links that hand packets on ahead of time.
//!
//! Where nothing changes a link, a packet's arrival is known as soon as its transmission begins. The last link
//! before a host then needs no event for the packet's arrival there.

use super::inlets::Inlet;
use super::{AIR, BY_ROUTE, HOST, Network};
use crate::agenda::Kind;
use crate::observer::{Arrival, Observer, PacketStep};
use crate::payload::{Awaited, Payload};
use cogtcp_link::{DropCause, Frame, OfferOutcome};
use cogtcp_units::Time;

/// [`Link::place`](cogtcp_link::Link::place) of a link that hands nothing to an inlet.
pub(super) const NO_PLACE: u32 = u32::MAX;

impl<P: Payload> Network<P> {
    /// Chooses the links that hand packets on ahead of time: those in front of the last links of routes.
    /// `is_gated`, by link: a radio or something else of the driver's may change it.
    pub fn plan_ahead(&mut self, is_gated: impl Fn(usize) -> bool) {
        const NONE: u32 = u32::MAX;
        let count = self.directions.len();
        let mut allowed: Vec<bool> = (0..count)
            .map(|number| {
                let link = &self.directions[number];
                link.is_plain()
                    && !link.settles
                    && !is_gated(number / 2)
                    && !self.stamping.contains_key(&(number as u32))
            })
            .collect();
        // By direction: the one that feeds it; two or none are no one.
        let mut feeders = vec![Some(NONE); count];
        for start in &self.route_starts {
            let mut before = None;
            for hop in &self.routes[*start as usize..] {
                if *hop == HOST {
                    break;
                }
                if let Some(feeder) = feeders.get_mut(*hop as usize) {
                    *feeder = match (*feeder, before) {
                        (Some(NONE), Some(before)) => Some(before),
                        (Some(one), Some(before)) if one == before => Some(one),
                        _ => None,
                    };
                }
                before = Some(*hop);
            }
        }
        let plain = allowed.clone();
        let is_exit = |network: &Self, direction: usize| {
            let link = &network.directions[direction];
            allowed[direction]
                && !link.watched
                && link.label == HOST
                && matches!(feeders[direction], Some(feeder) if (feeder as usize) < count)
        };
        let exits: Vec<bool> = (0..count).map(|direction| is_exit(self, direction)).collect();
        for start in &self.route_starts {
            for pair in self.routes[*start as usize..].windows(2) {
                if pair[0] == HOST {
                    break;
                }
                if let Some(allowed) = allowed.get_mut(pair[0] as usize) {
                    *allowed &= exits.get(pair[1] as usize).is_some_and(|is_exit| *is_exit);
                }
            }
        }
        for direction in 0..count {
            if let Some(feeder) = feeders[direction]
                && exits[direction]
                && allowed[feeder as usize]
            {
                self.directions[feeder as usize].is_early = true;
                self.directions[direction].is_fed_early = true;
            }
        }
        self.plan_inlets(&plain);
    }

    /// Gives an inlet to each link that hands packets on ahead of time and whose packets all come from hosts
    /// one link away.
    fn plan_inlets(&mut self, plain: &[bool]) {
        let count = self.directions.len();
        // By direction: whether packets come from hosts alone, and whether no packet does.
        let (mut is_first, mut is_second) = (vec![true; count], vec![true; count]);
        for start in &self.route_starts {
            let mut before = None;
            for hop in self.routes[*start as usize..].iter().take_while(|hop| **hop < AIR) {
                let hop = *hop as usize;
                is_first[hop] &= before.is_none();
                is_second[hop] &= before.is_some_and(|before: usize| {
                    let link = &self.directions[before];
                    plain[before] && !link.watched && !link.is_early && link.label == hop as u32
                });
                before = Some(hop);
            }
        }
        let mut slacks = vec![u64::MAX; count];
        let mut feeders = vec![Vec::new(); count];
        for start in &self.route_starts {
            if let [first, second, third, ..] = self.routes[*start as usize..]
                && [first, second, third].iter().all(|hop| *hop < AIR)
            {
                let second = second as usize;
                is_second[second] &= is_first[first as usize];
                feeders[second].push(first);
                let delays = [second, third as usize].map(|hop| self.directions[hop].delay().as_nanos());
                slacks[second] = slacks[second].min(delays.iter().sum());
            }
        }
        for direction in 0..count {
            let link = &self.directions[direction];
            if !link.is_early || !is_second[direction] || slacks[direction] == 0 {
                continue;
            }
            for feeder in &feeders[direction] {
                let link = &mut self.directions[*feeder as usize];
                (link.is_early, link.place) = (true, self.inlets.len() as u32);
            }
            // One nanosecond less: what is played late still comes in time.
            self.inlets.push(Inlet::new(direction as u32, slacks[direction] - 1));
        }
    }

    /// Nobody looks at links before `horizon`.
    pub fn set_horizon(&mut self, horizon: Time) {
        self.horizon = horizon;
    }

    /// Arrivals that were no events of their own, less events that were no arrivals.
    pub fn merged(&self) -> u64 {
        self.merged.wrapping_add_signed(self.uncounted)
    }

    /// A packet is offered to `direction`, which hands packets on ahead of time.
    #[inline(never)]
    pub(super) fn put_ahead<O: Observer<P>>(
        &mut self,
        now: Time,
        direction: u32,
        frame: &Frame<P>,
        observer: &mut O,
    ) {
        self.hand_on(now, direction, observer);
        let link = &mut self.directions[direction as usize];
        if link.watched
            && (link.awaits_data || link.free_at() < now || frame.packet.awaited() == Awaited::Nothing)
        {
            self.budget.offered(now, direction, link, frame);
        }
        let link = &mut self.directions[direction as usize];
        if link.place != NO_PLACE {
            // From a host. What could be handed on at once has been (`offer`).
            if let OfferOutcome::Dropped = link.offer_behind(now, frame) {
                return self.refuse(now, direction, frame, DropCause::Queue, observer);
            }
        } else if let Some(going) = link.new_going(now, frame.size()) {
            let next = match link.label {
                BY_ROUTE => self.routes[frame.packet.transit().next as usize + 1],
                next => next,
            };
            if going.arrival < self.horizon
                && let Some(outcome) = self.directions[next as usize].take_ahead(going, frame, false)
            {
                self.directions[direction as usize].pass_new(going);
                self.merged += 1;
                if let OfferOutcome::Schedule { at, since } = outcome {
                    self.schedule_arrival(since, at, next);
                }
                return;
            }
            self.directions[direction as usize].offer_copy(now, frame);
        } else if let OfferOutcome::Dropped = link.offer_behind(now, frame) {
            return self.refuse(now, direction, frame, DropCause::Queue, observer);
        }
        self.see_to_first(direction);
    }

    /// Hands a packet on to the inlet of the next link, ahead of time.
    #[expect(clippy::inline_always, reason = "the packet is made in the inlet, and not copied there")]
    #[inline(always)]
    pub(super) fn add_to_inlet(&mut self, since: Time, arrival: Time, from: u32, frame: Frame<P>) {
        let place = self.directions[from as usize].place;
        self.merged += 1;
        if let Some(at) = self.inlets[place as usize].add(since, arrival, frame) {
            self.agenda.push(at, Kind::Inlet(place));
        }
    }

    /// Hands on what has begun by `now` to the inlet of the next link.
    fn hand_on_to_inlet(&mut self, now: Time, direction: u32) {
        loop {
            let link = &mut self.directions[direction as usize];
            let Some(going) = link.first_going(now) else { return };
            let Some(frame) = link.first() else { return };
            if going.arrival >= self.horizon {
                break;
            }
            let (since, frame) = (link.going_since(&going), frame.handed_on(&going));
            link.pass_first(going);
            self.add_to_inlet(since, going.arrival, direction, frame);
        }
        self.directions[direction as usize].catch_up_to(now);
    }

    /// Hands on what has begun by `now`.
    #[expect(clippy::inline_always, reason = "one caller for nearly every packet")]
    #[inline(always)]
    pub(super) fn hand_on(&mut self, now: Time, direction: u32, observer: &mut impl Observer<P>) {
        if self.directions[direction as usize].place != NO_PLACE {
            return self.hand_on_to_inlet(now, direction);
        }
        loop {
            let link = &self.directions[direction as usize];
            let Some(going) = link.first_going(now) else { return };
            let Some(frame) = link.first() else { return };
            let next = match link.label {
                BY_ROUTE => self.routes[frame.packet.transit().next as usize],
                next => next,
            };
            if going.arrival >= self.horizon {
                break;
            }
            let ends = [direction as usize, next as usize];
            let Ok([link, exit]) = self.directions.get_disjoint_mut(ends) else { return };
            let Some(frame) = link.first() else { return };
            let Some(outcome) = exit.take_ahead(going, frame, true) else {
                if going.arrival > now {
                    break;
                }
                let frame = frame.handed_on(&going);
                link.pass_first(going);
                self.merged += 1;
                self.put(going.arrival, next, &frame, observer);
                continue;
            };
            link.pass_first(going);
            self.merged += 1;
            if let OfferOutcome::Schedule { at, since } = outcome {
                self.schedule_arrival(since, at, next);
            }
            if self.agenda.is_deep() {
                self.prefetch_exits(direction);
            }
        }
        self.directions[direction as usize].catch_up_to(now);
    }

    /// Sees to it that the first packet of `direction` is handed on, at the latest as it arrives.
    #[inline]
    pub(super) fn see_to_first(&mut self, direction: u32) {
        let link = &mut self.directions[direction as usize];
        if !link.has_entry && !link.has_call {
            self.schedule_first(direction);
        }
    }

    #[cold]
    fn schedule_first(&mut self, direction: u32) {
        let link = &mut self.directions[direction as usize];
        let Some((time, since)) = link.first_arrival() else { return };
        // A packet that arrives when somebody looks at links, or later, arrives in its turn. Any other has been
        // handed on by then, unless nobody offers packets meanwhile.
        if time < self.horizon {
            link.has_call = true;
            self.agenda.push(time, Kind::HandOn(direction));
        } else {
            link.has_entry = true;
            self.agenda.push_arrival(since, time, direction);
        }
    }

    /// Packets of `direction` are to be handed on at the latest now.
    #[cold]
    pub(super) fn hand_on_late(&mut self, now: Time, direction: u32, observer: &mut impl Observer<P>) {
        self.directions[direction as usize].has_call = false;
        self.play_inlet_of(now, direction, observer);
        self.hand_on(now, direction, observer);
        self.see_to_first(direction);
    }

    /// A packet of `direction`, which hands packets on ahead of time, was to arrive now. As a rule the packet
    /// has been handed on since.
    #[inline(never)]
    pub(super) fn arrive_late(
        &mut self,
        now: Time,
        direction: u32,
        observer: &mut impl Observer<P>,
        into: &mut Arrival<P>,
    ) -> bool {
        self.agenda.pop_arrival(now);
        self.directions[direction as usize].has_entry = false;
        self.play_inlet_of(now, direction, observer);
        self.hand_on(now, direction, observer);
        let link = &self.directions[direction as usize];
        let mut reached = false;
        if link.first_arrival().is_some_and(|(time, _)| time == now) {
            reached = self.arrive_in_turn(now, direction, observer, into);
        } else {
            self.uncounted -= 1;
        }
        self.see_to_first(direction);
        reached
    }

    fn arrive_in_turn(
        &mut self,
        now: Time,
        direction: u32,
        observer: &mut impl Observer<P>,
        into: &mut Arrival<P>,
    ) -> bool {
        let link = &mut self.directions[direction as usize];
        link.catch_up_to(now);
        let since = link.first_arrival().map_or(now, |(_, since)| since);
        self.hops += 1;
        let lost = link.arrive_into(now, &mut into.frame);
        debug_assert!(lost.is_none(), "a plain link loses nothing");
        (into.at, into.direction) = (now, Some(direction));
        let (next, place) = (link.label, link.place);
        self.record(now, PacketStep::Received, direction, &into.frame, observer);
        if place != NO_PLACE {
            self.merged -= 1;
            self.add_to_inlet(since, now, direction, into.frame);
            return false;
        }
        self.forward(next, into, observer)
    }
}
