//! Where packets will go next: for asking early for the memory that they will touch.

use super::{AIR, BY_ROUTE, HOST, Network};
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
        let next = match from.label {
            BY_ROUTE => *self.routes.get(packet.transit().next as usize)?,
            label => label,
        };
        match next {
            HOST => Some(Goal::Host(packet.transit().stream)),
            // A hop over the air, or no label, is no link that could be asked for.
            next => ((next as usize) < self.directions.len()).then_some(Goal::Direction(next)),
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
