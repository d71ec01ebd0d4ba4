//! SEARCH: geographic routing for mobile cognitive radio networks, reconstructed
//! ([docs/routing/search.md](../../../docs/routing/search.md)).
//!
//! Chowdhury and Di Felice, *SEARCH: A routing protocol for mobile cognitive radio ad-hoc networks*, Computer
//! Communications 32, 2009. No code of it is public, and its thresholds are not at hand: what is
//! reconstructed is marked in the model page and in [`SearchConfig`].

mod config;
mod discovery;
mod geometry;
mod joint;
mod maintenance;
mod message;

pub use config::SearchConfig;
pub use joint::{ChannelPath, joint_path};
pub use message::{ForwardingMode, SearchId, SearchMessage, SearchRequest};

use crate::outbox::Outbox;
use crate::routing::LossCause;
use crate::{
    AfterFailure, ChannelNumber, DataPacket, Forwarding, HostUpdate, LostPacket, NodeAddress, RouteInfo,
    Routing, RoutingDropCause, RoutingEvent, RoutingMessage, RoutingPacket, RoutingStats, WireFormat,
};
use cogtcp_units::{Duration, Named as _, Position, RandomStream, Time};
use discovery::{Collecting, Discovery};
use std::collections::{BTreeMap, VecDeque};

/// A neighbour, as its last beacon says.
#[derive(Clone, Copy, Debug)]
struct Neighbor {
    position: Position,
    occupied: u64,
    heard: Time,
}

/// The place of this node on the route of one pair of nodes.
#[derive(Clone, Debug)]
struct Hop {
    number: u32,
    valid: bool,
    expires: Time,
    /// `None` at the source.
    previous: Option<NodeAddress>,
    next: NodeAddress,
    /// Of the hop onwards.
    channel: ChannelNumber,
    /// Of the hop before.
    receive: ChannelNumber,
    hops: u8,
    /// Where this node was when the route was made.
    anchor: Position,
    /// When it last offered its place to another.
    offered: Option<Time>,
}

/// Source and destination.
type Pair = (NodeAddress, NodeAddress);

/// SEARCH of one node.
///
/// Notices it needs: [`HostUpdate::Position`] (own place, whenever it changes), [`HostUpdate::Location`] (of
/// a destination, after [`RoutingEvent::LocationWanted`]), [`HostUpdate::PrimaryUser`]. It wants the node's
/// receiver on the channel of [`RoutingEvent::ChannelWanted`]. A [`RoutingPacket::channel`] is set for
/// requests only; the rest goes over the control channel.
#[derive(Debug)]
pub struct Search {
    address: NodeAddress,
    config: SearchConfig,
    position: Option<Position>,
    /// Channels with a primary user here: bit c for channel c.
    occupied: u64,
    neighbors: BTreeMap<NodeAddress, Neighbor>,
    locations: BTreeMap<NodeAddress, Position>,
    /// Routes by source and destination: routes of different pairs must not be mixed, or they could form a
    /// loop.
    routes: BTreeMap<Pair, Hop>,
    discoveries: BTreeMap<NodeAddress, Discovery>,
    collecting: BTreeMap<SearchId, Collecting>,
    numbers: BTreeMap<NodeAddress, u32>,
    next_beacon: Time,
    outbox: Outbox,
    events: VecDeque<RoutingEvent>,
    stats: RoutingStats,
    draw: RandomStream,
}

impl Search {
    /// SEARCH of the node `address`.
    pub fn new(address: NodeAddress, config: SearchConfig, seed: u64) -> Self {
        Self {
            address,
            config,
            position: None,
            occupied: 0,
            neighbors: BTreeMap::new(),
            locations: BTreeMap::new(),
            routes: BTreeMap::new(),
            discoveries: BTreeMap::new(),
            collecting: BTreeMap::new(),
            numbers: BTreeMap::new(),
            next_beacon: Time::MAX,
            outbox: Outbox::default(),
            events: VecDeque::new(),
            stats: RoutingStats::default(),
            draw: RandomStream::new(seed, "routing/search", u64::from(address.number())),
        }
    }

    fn send(&mut self, now: Time, to: NodeAddress, channel: Option<ChannelNumber>, message: SearchMessage) {
        let message = RoutingMessage::own(message);
        let bytes = message.wire_bytes(WireFormat::Rfc);
        // Each hop is a packet of its own.
        self.outbox.push(now, RoutingPacket { from: self.address, to, ttl: 1, channel, bytes, message });
    }

    /// The route of a pair that may be used now.
    fn active(&self, now: Time, pair: Pair) -> Option<&Hop> {
        self.routes.get(&pair).filter(|hop| hop.valid && hop.expires > now)
    }

    /// Whether a channel is free of primary users here.
    fn is_free(&self, channel: ChannelNumber) -> bool {
        self.occupied & bit(channel) == 0
    }

    /// The neighbours heard of late.
    fn near(&self, now: Time) -> impl Iterator<Item = (NodeAddress, &Neighbor)> {
        let lifetime = self.config.neighbor_lifetime();
        let near = self.neighbors.iter().filter(move |(_, neighbor)| neighbor.heard + lifetime > now);
        near.map(|(node, neighbor)| (*node, neighbor))
    }

    fn say_beacon(&mut self, now: Time) {
        if self.next_beacon > now {
            return;
        }
        let interval = self.config.beacon_interval;
        // Up to a tenth later each time, so that beacons of neighbours drift apart.
        self.next_beacon = now + interval + self.draw.uniform_duration(interval / 20, interval / 10);
        if let Some(position) = self.position {
            let beacon = SearchMessage::Beacon { position, occupied: self.occupied };
            self.send(now, NodeAddress::BROADCAST, None, beacon);
        }
    }
}

/// The bit of a channel in a set of channels. Channels above 63 have none: nobody can occupy them.
fn bit(channel: ChannelNumber) -> u64 {
    1_u64.checked_shl(channel.0).unwrap_or(0)
}

impl Routing for Search {
    fn name(&self) -> &'static str {
        SearchConfig::NAME
    }

    fn address(&self) -> NodeAddress {
        self.address
    }

    fn start(&mut self, now: Time) {
        // Not all nodes at one instant.
        self.next_beacon = now + self.draw.uniform_duration(Duration::ZERO, self.config.beacon_interval / 2);
    }

    fn forward(&mut self, now: Time, packet: DataPacket) -> Forwarding {
        if packet.destination == self.address {
            return Forwarding::Deliver;
        }
        if packet.previous_hop.is_some() && packet.source == self.address {
            return Forwarding::Drop(RoutingDropCause::Loop);
        }
        let pair = (packet.source, packet.destination);
        if self.active(now, pair).is_some()
            && let Some(hop) = self.routes.get_mut(&pair)
        {
            hop.expires = hop.expires.max(now + self.config.route_lifetime);
            return Forwarding::Send { next_hop: hop.next, channel: Some(hop.channel) };
        }
        match packet.previous_hop {
            None => {
                self.seek(now, packet.destination);
                Forwarding::Hold
            }
            Some(previous) => {
                // 0 where there never was a route: see `handle_error`.
                let number = self.routes.get(&pair).map_or(0, |hop| hop.number);
                let (source, destination) = pair;
                let search = SearchId { source, destination, number };
                self.send(now, previous, None, SearchMessage::Error(search));
                Forwarding::Drop(RoutingDropCause::NoRoute)
            }
        }
    }

    fn handle_message(&mut self, now: Time, packet: &RoutingPacket) {
        let for_us = packet.to == self.address || packet.to.is_broadcast();
        let Some(message) = packet.message.get() else { return };
        if !for_us || packet.from == self.address || packet.from.is_broadcast() {
            return;
        }
        match message {
            SearchMessage::Beacon { position, occupied } => {
                let neighbor = Neighbor { position: *position, occupied: *occupied, heard: now };
                self.neighbors.insert(packet.from, neighbor);
            }
            SearchMessage::Request(request) => self.handle_request(now, request),
            SearchMessage::Reply { search, path } => self.handle_reply(now, *search, path),
            SearchMessage::Error(search) => self.handle_error(now, packet.from, *search),
            SearchMessage::Switch { search, channel, upstream } => {
                self.handle_switch(packet.from, *search, *channel, *upstream);
            }
            SearchMessage::Handover { search, previous, next, receive, anchor } => {
                self.handle_handover(now, packet.from, *search, (*previous, *next, *receive, *anchor));
            }
            SearchMessage::Takeover { search, replaced } => {
                self.handle_takeover(now, packet.from, *search, *replaced);
            }
        }
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        neighbor: NodeAddress,
        lost: LostPacket<'_>,
    ) -> AfterFailure {
        // It is not there: the next choice falls on another, until its next beacon.
        self.neighbors.remove(&neighbor);
        if let LostPacket::Routing(packet) = lost
            && let Some(SearchMessage::Request(request)) = packet.message.get()
        {
            // To another neighbour, now that this one is forgotten.
            self.pass_on(now, request.clone());
        }
        self.end_routes(now, LossCause::LinkBroken, |_, hop| hop.next == neighbor);
        AfterFailure::Lost
    }

    fn handle_host_update(&mut self, now: Time, update: HostUpdate) {
        match update {
            // A place that is no number would spoil every comparison of distances.
            HostUpdate::Position(position) if position.x.is_finite() && position.y.is_finite() => {
                self.position = Some(position);
                self.hold_anchors(now);
            }
            HostUpdate::Location { node, position } if position.x.is_finite() && position.y.is_finite() => {
                self.locations.insert(node, position);
                self.begin_waiting(now, node);
            }
            HostUpdate::PrimaryUser { channel, active } => {
                let before = self.occupied;
                self.occupied = if active { before | bit(channel) } else { before & !bit(channel) };
                if self.occupied != before {
                    // Neighbours choose by what they know of each other: a change is told at once.
                    self.next_beacon = self.next_beacon.min(now);
                    self.say_beacon(now);
                }
                if active {
                    self.leave_channel(now, channel);
                }
            }
            _ => {}
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.say_beacon(now);
        self.answer_searches(now);
        self.continue_discoveries(now);
    }

    fn poll_timeout(&self) -> Time {
        let discoveries = self.discoveries.values().map(|discovery| discovery.deadline);
        let collecting = self.collecting.values().filter_map(Collecting::deadline);
        let first = discoveries.chain(collecting).min().unwrap_or(Time::MAX);
        first.min(self.next_beacon).min(self.outbox.next_due())
    }

    fn poll_transmit(&mut self, now: Time) -> Option<RoutingPacket> {
        let packet = self.outbox.pop(now)?;
        self.stats.count(&packet);
        Some(packet)
    }

    fn poll_event(&mut self) -> Option<RoutingEvent> {
        self.events.pop_front()
    }

    /// Of the pair of this node and the destination.
    fn route(&self, now: Time, destination: NodeAddress) -> Option<RouteInfo> {
        let hop = self.active(now, (self.address, destination))?;
        Some(RouteInfo { next_hop: hop.next, hops: hop.hops, channel: Some(hop.channel) })
    }

    fn stats(&self) -> &RoutingStats {
        &self.stats
    }
}
