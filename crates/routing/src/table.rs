//! The route table of an on-demand protocol.

mod ends;

use crate::NodeAddress;
use crate::lookup::Lookup;
use cogtcp_units::Time;
use ends::Ends;

/// Whether sequence number `a` is newer than `b`: signed 32-bit difference, so that numbers may wrap
/// (RFC 3561, 6.1).
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
    /// Whether data that began at this node took it since it became valid.
    pub own_data: bool,
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
pub struct RouteOffer {
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
/// - a valid entry is replaced by a newer sequence number, or the same with fewer hops, or by the destination
///   itself heard directly, and by nothing else;
/// - what ends a route raises its number, so that no neighbour that still has the old one can offer it back;
/// - an entry is never deleted, because with it the number would be forgotten. RFC 3561 (6.11) says how long
///   it must be kept at least (DELETE_PERIOD), not at most; after that time only its hop count is forgotten.
///
/// The rules of RFC 3561, as read by van Glabbeek, Höfner, Portmann and Tan, who proved this reading free of
/// loops (Distributed Computing 29, 2016). Other readings of the same text have loops.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct RouteTable {
    /// No valid route ends before.
    next_expiry: Time,
    /// In the upper half of a number a destination, in the lower the place of its entry.
    places: Lookup,
    /// In the order in which destinations were first heard of, which no result depends on.
    entries: Vec<Entry>,
    /// By place.
    destinations: Vec<NodeAddress>,
    /// The places by destination.
    order: Vec<(NodeAddress, u32)>,
    ends: Ends,
}

/// One line of memory, which is all that taking a route touches of the table beside the look-up.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Entry(Route);

const _: () = assert!(size_of::<Entry>() == 64, "an entry is one line of memory");

impl Default for RouteTable {
    fn default() -> Self {
        Self::new()
    }
}

impl RouteTable {
    /// An empty table.
    pub fn new() -> Self {
        Self {
            next_expiry: Time::MAX,
            places: Lookup::new(u64::MAX << 32),
            entries: Vec::new(),
            destinations: Vec::new(),
            order: Vec::new(),
            ends: Ends::default(),
        }
    }

    #[inline]
    fn place(&self, destination: NodeAddress) -> Option<usize> {
        let number = self.places.get(u64::from(destination.number()) << 32)?;
        Some(number as u32 as usize)
    }

    /// Asks for the memory that the look-up of a destination touches.
    #[inline]
    pub(crate) fn prefetch(&self, destination: NodeAddress) {
        self.places.prefetch(u64::from(destination.number()) << 32);
    }

    #[inline]
    fn get_mut(&mut self, destination: NodeAddress) -> Option<&mut Route> {
        let place = self.place(destination)?;
        Some(&mut self.entries[place].0)
    }

    /// The place of the entry of `destination`; a new one is `route`.
    fn place_or_add(&mut self, destination: NodeAddress, route: impl FnOnce() -> Route) -> usize {
        if let Some(place) = self.place(destination) {
            return place;
        }
        let place = self.entries.len();
        self.entries.push(Entry(route()));
        self.destinations.push(destination);
        self.places.insert(u64::from(destination.number()) << 32 | place as u64);
        let before = self.order.partition_point(|(other, _)| *other < destination);
        self.order.insert(before, (destination, place as u32));
        place
    }

    /// The entry of `destination`.
    #[inline]
    pub fn get(&self, destination: NodeAddress) -> Option<&Route> {
        let place = self.place(destination)?;
        Some(&self.entries[place].0)
    }

    /// The route to `destination` that may be used now.
    pub fn active(&self, now: Time, destination: NodeAddress) -> Option<&Route> {
        self.get(destination).filter(|route| route.is_active(now))
    }

    /// The route to `destination` that may be used now, to be marked or to take a precursor.
    pub fn active_mut(&mut self, now: Time, destination: NodeAddress) -> Option<&mut Route> {
        self.get_mut(destination).filter(|route| route.is_active(now))
    }

    /// All entries by destination.
    pub fn iter(&self) -> impl Iterator<Item = (NodeAddress, &Route)> {
        self.order.iter().map(|(destination, place)| (*destination, &self.entries[*place as usize].0))
    }

    /// Takes an offer or leaves it (RFC 3561, 6.2, 6.5 and 6.7).
    pub fn offer(&mut self, now: Time, offer: RouteOffer) -> Taken {
        debug_assert!(offer.sequence.is_some() || offer.next_hop == offer.destination);
        let place = self.place_or_add(offer.destination, || Route {
            next_hop: offer.next_hop,
            hops: offer.hops,
            sequence: None,
            valid: false,
            expires: Time::ZERO,
            precursors: Vec::new(),
            used: None,
            own_data: false,
            in_repair: false,
        });
        let route = &mut self.entries[place].0;
        let active = route.is_active(now);
        let better = match (offer.sequence, route.sequence) {
            // The destination itself, heard directly: the number stays. Anything that was offered with a
            // number and is replaced here is replaced by a route of one hop that ends at the destination.
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
        // A route over another next hop does not inherit the life of the one that it replaces.
        if offer.sequence.is_some() && before != Some(offer.next_hop) {
            route.expires = offer.until;
        }
        route.next_hop = offer.next_hop;
        route.hops = offer.hops;
        route.sequence = offer.sequence.or(route.sequence);
        route.valid = true;
        route.in_repair = false;
        // Perhaps before the route ends: it is looked at again then.
        self.record_expiry(place, offer.until);
        Taken::Installed { before }
    }

    /// Sets the lifetime of an active route to at least this.
    pub fn prolong(&mut self, now: Time, destination: NodeAddress, until: Time) {
        // The end that is noted comes before the new one, and the route is looked at again then.
        if let Some(route) = self.active_mut(now, destination) {
            route.expires = route.expires.max(until);
        }
    }

    /// Packets for the destination wait from now on, until another route comes or at most until then.
    pub fn repair(&mut self, now: Time, destination: NodeAddress, until: Time) {
        let Some(place) = self.place(destination) else { return };
        let route = &mut self.entries[place].0;
        if route.is_active(now) {
            route.in_repair = true;
            route.expires = until;
            // This may be before the end that is noted.
            self.record_expiry(place, until);
        }
    }

    /// Raises the sequence number of an entry; an older one changes nothing.
    pub fn raise_sequence(&mut self, destination: NodeAddress, sequence: u32) {
        if let Some(route) = self.get_mut(destination) {
            route.sequence = Some(route.sequence.map_or(sequence, |known| newer(known, sequence)));
        }
    }

    /// Ends a valid route: its number is `sequence`, or else one more than it was (6.11). Its hop count is
    /// kept until `forget`. Returns the precursors, who no longer are any.
    pub fn invalidate(
        &mut self,
        destination: NodeAddress,
        sequence: Option<u32>,
        forget: Time,
    ) -> Vec<NodeAddress> {
        let Some(route) = self.get_mut(destination).filter(|route| route.valid) else {
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
        route.own_data = false;
        route.in_repair = false;
        std::mem::take(&mut route.precursors)
    }

    /// Ends all valid routes whose lifetime is over, and returns their destinations, with whether data had
    /// taken them.
    pub fn expire(&mut self, now: Time, forget: Time) -> Vec<(NodeAddress, bool)> {
        if self.next_expiry > now {
            return Vec::new();
        }
        let (entries, destinations) = (&self.entries, &self.destinations);
        let ends_at = |place: u32| {
            let route = &entries[place as usize].0;
            route.valid.then_some(route.expires)
        };
        let mut ended = Vec::new();
        while let Some(place) = self.ends.pop(now, ends_at) {
            ended.push((destinations[place as usize], entries[place as usize].0.used.is_some()));
        }
        // Events must not depend on the order in which routes were learned.
        ended.sort_unstable();
        self.next_expiry = self.ends.first();
        for (destination, _) in &ended {
            self.invalidate(*destination, None, forget);
        }
        debug_assert_eq!(
            self.next_expiry,
            self.iter()
                .filter(|(_, route)| route.valid)
                .map(|(_, route)| route.expires)
                .min()
                .unwrap_or(Time::MAX),
            "the first end is known"
        );
        ended
    }

    /// When [`RouteTable::expire`] may have something to do.
    pub fn next_expiry(&self) -> Time {
        self.next_expiry
    }

    /// Removes a neighbour that is gone from all lists of precursors.
    pub fn remove_precursor(&mut self, neighbor: NodeAddress) {
        for Entry(route) in &mut self.entries {
            route.precursors.retain(|precursor| *precursor != neighbor);
        }
    }

    fn record_expiry(&mut self, place: usize, at: Time) {
        self.next_expiry = self.next_expiry.min(at);
        self.ends.record(place as u32, at);
    }
}
