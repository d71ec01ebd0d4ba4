//! Links that hand packets on ahead of time.
//!
//! Where nothing changes a link, it is known when a packet arrives at its far end as soon as the transmission
//! begins. If nobody else sends to the next link, the packet can be offered there at once, for that time: the
//! arrival is no event. The last link before a host is such a link ([`Mark::FedEarly`]). A link that
//! packets reach from several sides is not: it has an inlet, which brings them in order ([`inlets`]).
//!
//! Results are the same as if each packet had its turn. A link counts packets as delivered when it hands
//! them on. So a packet that arrives at a look at links, or later, stays and has its turn
//! ([`looks`](super::looks)).
//!
//! [`inlets`]: super::inlets
//! [`Mark::FedEarly`]: crate::hop::Mark::FedEarly

use super::Network;
use crate::agenda::Kind;
use crate::hop::{Mark, NO_INLET};
use crate::impossible;
use crate::observer::{Arrival, Observer};
use crate::payload::{Awaited, Payload};
use cogtcp_link::{DropCause, Frame, OfferOutcome};
use cogtcp_units::Time;

impl<P: Payload> Network<P> {
    /// Returns how many events a driver that counted `events` would have counted with each packet in its turn.
    /// Adds arrivals that were no events, and takes off events whose packets had been handed on already.
    pub fn events_in_turn(&self, events: u64) -> u64 {
        debug_assert!(self.stale <= events, "a driver counts each event");
        events - self.stale + self.merged
    }

    /// A host sends `payload`, in a packet of `bytes`, over `direction`. Hands the packet on at once if the link
    /// has an inlet and is free. False: the link is to be offered the packet.
    #[expect(clippy::inline_always, reason = "the packet is made in the inlet, and not copied there")]
    #[inline(always)]
    pub(in crate::network) fn hand_on_new(
        &mut self,
        now: Time,
        direction: u32,
        mut payload: P,
        bytes: u32,
    ) -> bool {
        // A first hop over the air is no link.
        let Some(link) = self.directions.get_mut(direction as usize) else { return false };
        if link.inlet != NO_INLET
            && let Some(going) = link.new_going(now, bytes)
            && going.arrival < self.horizon
        {
            let since = link.going_since(&going);
            link.pass_new(going);
            payload.enter();
            self.merged += 1;
            self.add_to_inlet(since, going.arrival, direction, Frame::new(payload, bytes));
            return true;
        }
        false
    }

    /// A packet is offered to `direction`, which hands packets on ahead of time.
    #[inline(never)]
    pub(in crate::network) fn put_ahead<O: Observer<P>>(
        &mut self,
        now: Time,
        direction: u32,
        frame: &Frame<P>,
        observer: &mut O,
    ) {
        debug_assert!(!observer.follows_packets(), "whoever follows packets sees each in its turn");
        self.hand_on(now, now, direction, observer);
        let link = &mut self.directions[direction as usize];
        if link.is(Mark::Watched)
            && (link.is(Mark::AwaitsData)
                || link.free_at() < now
                || frame.packet.awaited() == Awaited::Nothing)
        {
            self.budget.offered(now, direction, link, frame);
        }
        let link = &mut self.directions[direction as usize];
        if link.inlet != NO_INLET {
            // From a host. What could be handed on at once has been (`hand_on_new`).
            if let OfferOutcome::Dropped = link.offer_behind(now, frame) {
                return self.refuse(now, direction, frame, DropCause::Queue, observer);
            }
        } else if let Some(going) = link.new_going(now, frame.size()) {
            // In the packet, the hop of this link is still to come.
            let next = link.next;
            let next = self.hop(next, frame.packet.transit().next as usize + 1);
            if let Some(next) = next
                && going.arrival < self.horizon
                && going.arrival.saturating_since(now) <= self.window
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

    /// Hands a packet on to the inlet of the next link. The caller counts its arrival.
    #[expect(clippy::inline_always, reason = "the packet is made in the inlet, and not copied there")]
    #[inline(always)]
    pub(in crate::network) fn add_to_inlet(
        &mut self,
        since: Time,
        arrival: Time,
        from: u32,
        frame: Frame<P>,
    ) {
        let inlet = self.directions[from as usize].inlet;
        if let Some(at) = self.inlets[inlet as usize].add(since, arrival, frame) {
            self.agenda.push(at, Kind::Inlet(inlet));
        }
    }

    /// Hands on what has begun by `now` to the inlet of the next link.
    fn hand_on_to_inlet(&mut self, now: Time, direction: u32) {
        loop {
            let link = &mut self.directions[direction as usize];
            // Nothing has begun that is still here: there is nothing to catch up with.
            let Some(going) = link.first_going(now) else { return };
            let Some(frame) = link.first() else { return impossible("a packet goes that is not there") };
            if going.arrival >= self.horizon {
                break;
            }
            let (since, frame) = (link.going_since(&going), frame.handed_on(&going));
            link.pass_first(going);
            self.merged += 1;
            self.add_to_inlet(since, going.arrival, direction, frame);
        }
        self.directions[direction as usize].catch_up_to(now);
    }

    /// Hands on what has begun by `now`. What the next link has no room for stays until it arrives, `clock`
    /// at the latest.
    #[expect(clippy::inline_always, reason = "one caller for nearly every packet")]
    #[inline(always)]
    pub(in crate::network) fn hand_on(
        &mut self,
        now: Time,
        clock: Time,
        direction: u32,
        observer: &mut impl Observer<P>,
    ) {
        if self.directions[direction as usize].inlet != NO_INLET {
            return self.hand_on_to_inlet(now, direction);
        }
        loop {
            let link = &self.directions[direction as usize];
            // Nothing has begun that is still here: there is nothing to catch up with.
            let Some(going) = link.first_going(now) else { return };
            let Some(frame) = link.first() else { return impossible("a packet goes that is not there") };
            let Some(next) = self.hop(link.next, frame.packet.transit().next as usize) else {
                return impossible("a route ends on a link");
            };
            if going.arrival >= self.horizon || going.arrival.saturating_since(clock) > self.window {
                break;
            }
            let ends = [direction as usize, next as usize];
            let Ok([link, exit]) = self.directions.get_disjoint_mut(ends) else {
                return impossible("a link that feeds itself, or no link");
            };
            let Some(frame) = link.first() else { return impossible("a packet goes that is not there") };
            let Some(outcome) = exit.take_ahead(going, frame, true) else {
                if going.arrival > clock {
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
    pub(in crate::network) fn see_to_first(&mut self, direction: u32) {
        let link = &mut self.directions[direction as usize];
        if !link.is(Mark::Scheduled) && !link.is(Mark::Deadline) {
            self.schedule_first(direction);
        }
    }

    #[cold]
    fn schedule_first(&mut self, direction: u32) {
        let link = &mut self.directions[direction as usize];
        // The link is empty: its next packet sees to itself.
        let Some((time, since)) = link.first_arrival() else { return };
        // A packet that arrives when somebody looks at links, or later, arrives in its turn. Any other has
        // been handed on by then, unless nobody offers packets meanwhile.
        if time < self.horizon {
            link.set(Mark::Deadline, true);
            self.agenda.push(time, Kind::HandOn(direction));
        } else {
            link.set(Mark::Scheduled, true);
            self.agenda.push_arrival(since, time, direction);
        }
    }

    /// Packets of `direction` are to be handed on at the latest now.
    #[cold]
    pub(in crate::network) fn hand_on_late(
        &mut self,
        now: Time,
        direction: u32,
        observer: &mut impl Observer<P>,
    ) {
        self.directions[direction as usize].set(Mark::Deadline, false);
        self.hand_on_arrived(now, direction, observer);
        self.see_to_first(direction);
    }

    /// Hands on at least what arrives by `now`.
    fn hand_on_arrived(&mut self, now: Time, direction: u32, observer: &mut impl Observer<P>) {
        self.play_inlet_of(now, direction, observer);
        // No more: a host that is played late may still offer packets at times before `now`, later than this,
        // and the queue must be as it was then.
        let begun = self.begun_by(now, direction);
        self.hand_on(begun, now, direction, observer);
    }

    /// By when a packet has begun that arrives from `direction` by `now`.
    fn begun_by(&self, now: Time, direction: u32) -> Time {
        let delay = self.directions[direction as usize].delay();
        Time::from_nanos(now.as_nanos().saturating_sub(delay.as_nanos()))
    }

    /// A packet of `direction`, which hands packets on ahead of time, was to arrive now. As a rule the packet
    /// has been handed on since.
    #[inline(never)]
    pub(in crate::network) fn arrive_late(
        &mut self,
        now: Time,
        direction: u32,
        observer: &mut impl Observer<P>,
        into: &mut Arrival<P>,
    ) -> bool {
        self.agenda.pop_arrival();
        self.directions[direction as usize].set(Mark::Scheduled, false);
        self.hand_on_arrived(now, direction, observer);
        let link = &self.directions[direction as usize];
        let mut reached = false;
        if link.first_arrival().is_some_and(|(time, _)| time == now) {
            reached = self.arrive_in_turn(now, direction, observer, into);
        } else {
            self.stale += 1;
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
        let begun = self.begun_by(now, direction);
        let link = &mut self.directions[direction as usize];
        link.catch_up_to(begun);
        let since = link.first_arrival().map_or(now, |(_, since)| since);
        self.hops += 1;
        let lost = link.arrive_into(now, &mut into.frame);
        debug_assert!(lost.is_none(), "a plain link loses nothing");
        (into.at, into.direction) = (now, Some(direction));
        let (next, inlet) = (link.next, link.inlet);
        if inlet != NO_INLET {
            self.add_to_inlet(since, now, direction, into.frame);
            return false;
        }
        self.forward(next, into, observer)
    }
}
