//! Where packets will go next: for asking early for the memory that they will touch.

use super::{AIR, HOST, Network};
use crate::hop::{BY_ROUTE, Mark};
use crate::payload::{Payload, StreamId};

/// Where a packet goes from a link.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// To the next link.
    Direction(u32),
    /// To its host, on this stream.
    Host(StreamId),
}

impl<P: Payload> Network<P> {
    /// Where the packet goes that arrives first from `direction`, as far as that is known: for a hint.
    #[inline]
    pub fn goal(&self, direction: u32) -> Option<Goal> {
        let from = self.directions.get(direction as usize)?;
        let packet = &from.first()?.packet;
        let place = packet.transit().next as usize;
        let mut next = self.hop(from.next, place)?;
        // A link that hands packets on ahead of time, and has none that wait, hands on this one at once.
        if let Some(link) = self.directions.get(next as usize)
            && link.is(Mark::Early)
            && link.is_empty()
        {
            next = self.hop(link.next, place + 1)?;
        }
        match next {
            HOST => Some(Goal::Host(packet.transit().stream)),
            // A hop over the air, or nowhere, is no link that could be asked for.
            next => ((next as usize) < self.directions.len()).then_some(Goal::Direction(next)),
        }
    }

    /// The hop after a link whose packets take `next`, at this place of a route.
    #[inline]
    pub(super) fn hop(&self, next: u32, place: usize) -> Option<u32> {
        match next {
            BY_ROUTE => self.routes.get(place).copied(),
            next => Some(next),
        }
    }

    /// Asks for the memory of the links to which `direction` hands on its next packets but two or three.
    pub(super) fn prefetch_exits(&self, direction: u32) {
        let from = &self.directions[direction as usize];
        let exit = |position| {
            let packet = &from.waiting_at(position)?.packet;
            self.directions.get(self.hop(from.next, packet.transit().next as usize)? as usize)
        };
        if let Some(exit) = exit(3) {
            exit.prefetch();
        }
        if let Some(exit) = exit(1) {
            exit.prefetch_room();
        }
    }

    /// The first link of the route of `stream`.
    #[inline]
    pub fn first_direction(&self, stream: StreamId) -> Option<u32> {
        let first = self.routes[self.route_starts[stream.index()] as usize];
        (first < AIR).then_some(first)
    }

    /// Whether so many packets are on their way that it pays to ask early for what the next arrivals touch.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.agenda.is_deep()
    }

    /// The arrivals that the last change has brought nearer, as link directions: the one that comes next is
    /// the last.
    #[inline]
    pub fn approaching(&self) -> [Option<u32>; 5] {
        self.agenda.approaching()
    }

    /// Asks for the account of `direction`, if it has one.
    #[inline]
    pub fn prefetch_account(&self, direction: u32) {
        self.budget.prefetch(direction);
    }
}
