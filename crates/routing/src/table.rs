//! The route table of an on-demand protocol.

use crate::NodeAddress;
use cogtcp_units::Time;
use std::collections::BTreeMap;

/// Whether sequence number `a` is newer than `b`: signed 32-bit difference, so that numbers may wrap (RFC 3561, 6.1).
pub fn is_newer(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// The newer of two sequence numbers.
pub fn newer(a: u32, b: u32) -> u32 {
    if is_newer(a, b) { a } else { b }
}

/// An entry of the table: RFC 3561, section 2 of the overview and 6.2.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The neighbour to send to.
    pub next_hop: NodeAddress,
    /// Hops to the destination; of an invalid entry, the last known.
    pub hops: u8,
    /// The destination's sequence number, if known.
    pub sequence: Option<u32>,
    /// Whether it may be used.
    pub valid: bool,
    /// Valid: when it ends unless it is used. Invalid: when its hop count is forgotten.
    pub expires: Time,
    /// Neighbours that may use this node towards the destination, and are told when it cannot go on.
    pub precursors: Vec<NodeAddress>,
    /// When a data packet last took it.
    pub used: Option<Time>,
    /// Whether packets for the destination wait until it is mended ([`crate::aodv::LocalRepair`]).
    pub in_repair: bool,
}

impl Route {
    /// Whether a packet may take it now.
    pub fn is_active(&self, now: Time) -> bool {
        self.valid && self.expires > now
    }

    /// Adds a precursor.
    pub fn add_precursor(&mut self, neighbor: NodeAddress) {
        if !self.precursors.contains(&neighbor) {
            self.precursors.push(neighbor);
        }
    }
}

/// What somebody says about a destination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// The destination.
    pub destination: NodeAddress,
    /// The neighbour who says it.
    pub next_hop: NodeAddress,
    /// Hops to the destination through it.
    pub hops: u8,
    /// The destination's sequence number. `None` only for the neighbour itself, heard directly.
    pub sequence: Option<u32>,
    /// Until when the route is good.
    pub until: Time,
}

/// What became of an offer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Taken {
    /// The entry now is what was offered.
    Installed {
        /// The next hop of the valid route that it replaced.
        before: Option<NodeAddress>,
    },
    /// The entry is as good or better.
    Refused,
}

/// The routes of one node.
///
/// Loop freedom rests on what this type does and does not let happen to an entry:
///
/// - the sequence number of an entry never goes back;
/// - a valid entry is replaced by a newer sequence number, or the same with fewer hops, or by the destination itself heard
///   directly, and by nothing else;
/// - what ends a route raises its number, so that no neighbour that still has the old one can offer it back;
/// - an entry is never deleted, because with it the number would be forgotten. RFC 3561 (6.11) says how long it must be
///   kept at least (DELETE_PERIOD), not at most; after that time only its hop count is forgotten.
///
/// The rules are those of RFC 3561 in the reading that van Glabbeek, Höfner, Portmann and Tan proved free of loops
/// (Distributed Computing 29, 2016): other readings of the same text have loops.
#[derive(Clone, Debug, Default)]
pub struct RouteTable {
    routes: BTreeMap<NodeAddress, Route>,
    /// No valid route ends before.
    next_expiry: Option<Time>,
}

impl RouteTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The entry of `destination`.
    pub fn get(&self, destination: NodeAddress) -> Option<&Route> {
        self.routes.get(&destination)
    }

    /// The route to `destination` that may be used now.
    pub fn active(&self, now: Time, destination: NodeAddress) -> Option<&Route> {
        self.get(destination).filter(|route| route.is_active(now))
    }

    /// The route to `destination` that may be used now, to be marked or to take a precursor.
    pub fn active_mut(&mut self, now: Time, destination: NodeAddress) -> Option<&mut Route> {
        self.routes.get_mut(&destination).filter(|route| route.is_active(now))
    }

    /// All entries by destination.
    pub fn iter(&self) -> impl Iterator<Item = (NodeAddress, &Route)> {
        self.routes.iter().map(|(destination, route)| (*destination, route))
    }

    /// Takes an offer or leaves it (RFC 3561, 6.2, 6.5 and 6.7).
    pub fn offer(&mut self, now: Time, offer: Offer) -> Taken {
        debug_assert!(offer.sequence.is_some() || offer.next_hop == offer.destination);
        let route = self.routes.entry(offer.destination).or_insert(Route {
            next_hop: offer.next_hop,
            hops: offer.hops,
            sequence: None,
            valid: false,
            expires: Time::ZERO,
            precursors: Vec::new(),
            used: None,
            in_repair: false,
        });
        let active = route.is_active(now);
        let better = match (offer.sequence, route.sequence) {
            // The destination itself, heard directly: the number stays. Anything that was offered with a number and
            // is replaced here is replaced by a route of one hop that ends at the destination.
            (None, _) => !active || route.hops > 1 || route.next_hop == offer.next_hop,
            (Some(_), None) => true,
            (Some(offered), Some(known)) if offered == known => !active || offer.hops < route.hops,
            (Some(offered), Some(known)) => is_newer(offered, known),
        };
        if !better {
            return Taken::Refused;
        }
        let before = active.then_some(route.next_hop);
        route.expires = if active { route.expires.max(offer.until) } else { offer.until };
        if offer.sequence.is_some() && before != Some(offer.next_hop) {
            route.expires = offer.until;
        }
        route.next_hop = offer.next_hop;
        route.hops = offer.hops;
        route.sequence = offer.sequence.or(route.sequence);
        route.valid = true;
        route.in_repair = false;
        self.note_expiry(offer.until);
        Taken::Installed { before }
    }

    /// Sets the lifetime of an active route to at least this.
    pub fn prolong(&mut self, now: Time, destination: NodeAddress, until: Time) {
        if let Some(route) = self.active_mut(now, destination) {
            route.expires = route.expires.max(until);
        }
    }

    /// Packets for the destination wait from now on, until another route comes or at most until then.
    pub fn repair(&mut self, now: Time, destination: NodeAddress, until: Time) {
        if let Some(route) = self.active_mut(now, destination) {
            route.in_repair = true;
            route.expires = until;
            self.note_expiry(until);
        }
    }

    /// Raises the sequence number of an entry; an older one changes nothing.
    pub fn raise_sequence(&mut self, destination: NodeAddress, sequence: u32) {
        if let Some(route) = self.routes.get_mut(&destination) {
            route.sequence = Some(route.sequence.map_or(sequence, |known| newer(known, sequence)));
        }
    }

    /// Ends a valid route: its number is `sequence`, or else one more than it was (6.11). Its hop count is kept until
    /// `forget`. Returns the precursors, who no longer are any.
    pub fn invalidate(
        &mut self,
        destination: NodeAddress,
        sequence: Option<u32>,
        forget: Time,
    ) -> Vec<NodeAddress> {
        let Some(route) = self.routes.get_mut(&destination).filter(|route| route.valid) else {
            return Vec::new();
        };
        let raised = route.sequence.map(|known| known.wrapping_add(1));
        debug_assert!(match (sequence, route.sequence) {
            (Some(sequence), Some(known)) => is_newer(sequence, known),
            _ => true,
        });
        route.sequence = sequence.or(raised);
        route.valid = false;
        route.expires = forget;
        route.used = None;
        route.in_repair = false;
        std::mem::take(&mut route.precursors)
    }

    /// Ends all valid routes whose lifetime is over, and returns their destinations, with whether data had taken them.
    pub fn expire(&mut self, now: Time, forget: Time) -> Vec<(NodeAddress, bool)> {
        if self.next_expiry() > now {
            return Vec::new();
        }
        let over = |route: &Route| route.valid && route.expires <= now;
        let ended = self.iter().filter(|(_, route)| over(route));
        let ended: Vec<_> = ended.map(|(destination, route)| (destination, route.used.is_some())).collect();
        for (destination, _) in &ended {
            self.invalidate(*destination, None, forget);
        }
        self.next_expiry = self.routes.values().filter(|route| route.valid).map(|route| route.expires).min();
        ended
    }

    /// When [`RouteTable::expire`] may have something to do.
    pub fn next_expiry(&self) -> Time {
        self.next_expiry.unwrap_or(Time::MAX)
    }

    /// Removes a neighbour that is gone from all lists of precursors.
    pub fn remove_precursor(&mut self, neighbor: NodeAddress) {
        for route in self.routes.values_mut() {
            route.precursors.retain(|precursor| *precursor != neighbor);
        }
    }

    fn note_expiry(&mut self, at: Time) {
        self.next_expiry = Some(self.next_expiry().min(at));
    }
}
