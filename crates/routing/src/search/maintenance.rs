//! Keeping routes: primary users that come, nodes that leave their anchors, links that break.

use super::message::{SearchId, SearchMessage};
use super::{Hop, Pair, Search, bit};
use crate::routing::LossCause;
use crate::table::is_newer;
use crate::{ChannelNumber, NodeAddress, RoutingEvent};
use cogtcp_units::{Position, Time};

impl Search {
    fn search_of(pair: Pair, number: u32) -> SearchId {
        SearchId { source: pair.0, destination: pair.1, number }
    }

    /// Ends the valid routes for which `ends` holds, and tells the nodes before.
    pub(super) fn end_routes(&mut self, now: Time, cause: LossCause, ends: impl Fn(&Pair, &Hop) -> bool) {
        let mut told = Vec::new();
        for (pair, hop) in &mut self.routes {
            if !hop.valid || !ends(pair, hop) {
                continue;
            }
            hop.valid = false;
            self.events.push_back(RoutingEvent::RouteLost { destination: pair.1, cause });
            told.extend(hop.previous.map(|previous| (previous, Self::search_of(*pair, hop.number))));
        }
        for (previous, search) in told {
            self.send(now, previous, None, SearchMessage::Error(search));
        }
    }

    /// The next hop of a route says that the route is gone.
    pub(super) fn handle_error(&mut self, now: Time, from: NodeAddress, search: SearchId) {
        let pair = (search.source, search.destination);
        // Number 0: the sender knows of no route of this pair at all.
        // An error about an older search than the one that made this route came late.
        let concerns = |hop: &Hop| search.number == 0 || !is_newer(hop.number, search.number);
        let route = self.routes.get_mut(&pair).filter(|hop| hop.valid && hop.next == from);
        if let Some(hop) = route.filter(|hop| concerns(hop)) {
            hop.valid = false;
            let told = hop.previous.map(|previous| (previous, hop.number));
            let (destination, cause) = (pair.1, LossCause::ErrorReceived);
            self.events.push_back(RoutingEvent::RouteLost { destination, cause });
            if let Some((previous, number)) = told {
                self.send(now, previous, None, SearchMessage::Error(Self::search_of(pair, number)));
            }
        }
    }

    /// A primary user came on a channel here. Hops over it move to another channel that is free at both ends;
    /// otherwise their routes end, and their sources seek other routes.
    pub(super) fn leave_channel(&mut self, now: Time, channel: ChannelNumber) {
        let mut told = Vec::new();
        let mut dead = Vec::new();
        let touched = self
            .routes
            .iter()
            .filter(|(_, hop)| hop.valid && (hop.channel == channel || hop.receive == channel));
        let touched: Vec<Pair> = touched.map(|(pair, _)| *pair).collect();
        for pair in touched {
            let Some(hop) = self.routes.get(&pair).cloned() else { continue };
            let onwards = if hop.channel == channel { self.common(hop.next) } else { Some(hop.channel) };
            let before = match hop.previous {
                Some(previous) if hop.receive == channel => self.common(previous),
                _ => Some(hop.receive),
            };
            let (Some(onwards), Some(before)) = (onwards, before) else {
                dead.push(pair);
                continue;
            };
            let search = Self::search_of(pair, hop.number);
            if onwards != hop.channel {
                told.push((hop.next, SearchMessage::Switch { search, channel: onwards, upstream: false }));
            }
            if let Some(previous) = hop.previous.filter(|_| before != hop.receive) {
                told.push((previous, SearchMessage::Switch { search, channel: before, upstream: true }));
                self.events.push_back(RoutingEvent::ChannelWanted { channel: before });
            }
            if let Some(hop) = self.routes.get_mut(&pair) {
                (hop.channel, hop.receive) = (onwards, before);
            }
        }
        for (to, message) in told {
            self.send(now, to, None, message);
        }
        self.end_routes(now, LossCause::PrimaryUser, |pair, _| dead.contains(pair));
    }

    /// The lowest channel that is free here and, as its last beacon said, at a neighbour.
    fn common(&self, neighbor: NodeAddress) -> Option<ChannelNumber> {
        // Of a neighbour without a beacon nothing is known that would forbid a channel.
        let there = self.neighbors.get(&neighbor).map_or(0, |neighbor| neighbor.occupied);
        let mut channels = (1..=self.config.channels).map(ChannelNumber);
        channels.find(|channel| (self.occupied | there) & bit(*channel) == 0)
    }

    /// A neighbour on a route moves the hop between us to another channel.
    pub(super) fn handle_switch(
        &mut self,
        from: NodeAddress,
        search: SearchId,
        channel: ChannelNumber,
        upstream: bool,
    ) {
        let Some(hop) = self.routes.get_mut(&(search.source, search.destination)) else {
            // The destination keeps no route: it only listens.
            if search.destination == self.address && !upstream {
                self.events.push_back(RoutingEvent::ChannelWanted { channel });
            }
            return;
        };
        if !hop.valid || hop.number != search.number {
            return;
        }
        if upstream && hop.next == from {
            hop.channel = channel;
        } else if !upstream && hop.previous == Some(from) {
            hop.receive = channel;
            self.events.push_back(RoutingEvent::ChannelWanted { channel });
        }
    }

    /// A node farther from a route's anchor than the threshold offers its place to the neighbour nearest to
    /// the anchor. This neighbour must be nearer than itself and within the threshold. It asks once per
    /// beacon interval.
    pub(super) fn hold_anchors(&mut self, now: Time) {
        let Some(here) = self.position else { return };
        let threshold = self.config.anchor_threshold;
        let retry = self.config.beacon_interval;
        let mut offers = Vec::new();
        for (pair, hop) in &self.routes {
            // A source cannot hand its place over.
            let Some(previous) = hop.previous else { continue };
            let waits = hop.offered.is_some_and(|offered| offered + retry > now);
            if !hop.valid || hop.expires <= now || waits || here.distance(hop.anchor) <= threshold {
                continue;
            }
            let usable = |node: NodeAddress, occupied: u64| {
                // Nobody has two places on a route.
                ![previous, hop.next, pair.0, pair.1].contains(&node)
                    && occupied & (bit(hop.channel) | bit(hop.receive)) == 0
            };
            let near = self.near(now).filter(|(node, neighbor)| usable(*node, neighbor.occupied));
            let near = near.map(|(node, neighbor)| (neighbor.position.distance(hop.anchor), node));
            let best = near.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            if let Some((_, node)) = best.filter(|(off, _)| *off <= threshold) {
                let message = SearchMessage::Handover {
                    search: Self::search_of(*pair, hop.number),
                    previous,
                    next: (hop.next, hop.channel, hop.hops),
                    receive: hop.receive,
                    anchor: hop.anchor,
                };
                offers.push((*pair, node, message));
            }
        }
        for (pair, node, message) in offers {
            if let Some(hop) = self.routes.get_mut(&pair) {
                hop.offered = Some(now);
            }
            self.send(now, node, None, message);
        }
    }

    /// Takes the place of a node on a route, unless it has or had one on it already: so nobody comes twice.
    pub(super) fn handle_handover(
        &mut self,
        now: Time,
        from: NodeAddress,
        search: SearchId,
        (previous, next, receive, anchor): (
            NodeAddress,
            (NodeAddress, ChannelNumber, u8),
            ChannelNumber,
            Position,
        ),
    ) {
        let pair = (search.source, search.destination);
        let known = self.routes.get(&pair).is_some_and(|hop| !is_newer(search.number, hop.number));
        let ours = [previous, next.0, pair.0, pair.1].contains(&self.address);
        let reached = self.near(now).filter(|(node, _)| *node == previous || *node == next.0).count() == 2;
        if known || ours || !reached {
            return;
        }
        let hop = Hop {
            number: search.number,
            valid: true,
            expires: now + self.config.route_lifetime,
            previous: Some(previous),
            next: next.0,
            channel: next.1,
            receive,
            hops: next.2,
            anchor,
            offered: None,
        };
        self.routes.insert(pair, hop);
        self.events.push_back(RoutingEvent::ChannelWanted { channel: receive });
        for neighbor in [previous, next.0] {
            self.send(now, neighbor, None, SearchMessage::Takeover { search, replaced: from });
        }
    }

    /// A neighbour took the place of the one before or after this node.
    pub(super) fn handle_takeover(
        &mut self,
        now: Time,
        from: NodeAddress,
        search: SearchId,
        replaced: NodeAddress,
    ) {
        let pair = (search.source, search.destination);
        let Some(hop) = self.routes.get_mut(&pair).filter(|hop| hop.valid && hop.number == search.number)
        else {
            return;
        };
        if hop.next == replaced && from != self.address {
            hop.next = from;
            hop.expires = hop.expires.max(now + self.config.route_lifetime);
            let destination = pair.1;
            self.events.push_back(RoutingEvent::RouteChanged { destination, from: replaced, to: from });
        } else if hop.previous == Some(replaced) {
            hop.previous = Some(from);
        }
    }
}
