//! AODV, RFC 3561 ([docs/routing/aodv.md](../../../docs/routing/aodv.md)).
//!
//! Without reboot (6.13), subnet routes (7) and multicast. Local repair (6.12) is ns-2's, and off.

mod config;
mod discovery;
mod error;
mod handoff;
mod hello;
mod repair;
mod reply;
mod request;
mod seen;
mod settings;

pub use config::{AtHandoff, ErrorTo, LocalRepair, RequestTimeout};
pub use settings::{AodvConfig, AodvProfile, AodvSettings};

use crate::outbox::Outbox;
use crate::routing::LossCause;
use crate::table::{RouteOffer, RouteTable, Taken};
use crate::{
    AfterFailure, ChannelNumber, DataPacket, Forwarding, HostUpdate, LostPacket, NodeAddress, RouteInfo,
    Routing, RoutingDropCause, RoutingEvent, RoutingMessage, RoutingPacket, RoutingStats,
};
use crate::{NodeSite, Protocol};
use cogtcp_units::{Check, Duration, Named, RandomStream, Time, prefetch};
use discovery::Discovery;
use seen::SeenRequests;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

impl Named for AodvSettings {
    const NAME: &'static str = "aodv";
    const SUMMARY: &'static str =
        "ad hoc on-demand distance vector routing: requests in growing rings search for routes";
    const REFERENCE: &'static str = "RFC 3561";

    fn check(&self, found: &mut dyn Check) {
        self.config().check(found);
    }
}

impl Protocol for AodvSettings {
    fn build(&self, site: NodeSite) -> Box<dyn Routing> {
        Box::new(Aodv::new(site.address, self.config(), site.seed))
    }

    fn hears_of_broken_links(&self) -> bool {
        self.config().hears_of_broken_links()
    }
}

/// AODV of one node. What every copy of a request touches comes first, in this order: a flood comes past from
/// each neighbour.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Aodv {
    /// Requests seen.
    seen: SeenRequests,
    address: NodeAddress,
    /// Own sequence number (6.1).
    sequence: u32,
    /// As the settings have it.
    neighbor_routes: bool,
    /// Neighbours that send hellos: when one was last heard, and when anything was (6.9).
    heard: BTreeMap<NodeAddress, hello::Heard>,
    outbox: Outbox,
    table: RouteTable,
    events: VecDeque<RoutingEvent>,
    /// Neighbours whose requests are ignored, until when (6.8).
    blacklist: BTreeMap<NodeAddress, Time>,
    discoveries: BTreeMap<NodeAddress, Discovery>,
    /// Neighbours that owe an acknowledgement, until when (6.8).
    owed: BTreeMap<NodeAddress, Time>,
    next_hello: Time,
    config: AodvConfig,
    /// Last RREQ ID used.
    request_id: u32,
    last_broadcast: Option<Time>,
    /// Destinations whose last search failed.
    unfound: BTreeSet<NodeAddress>,
    /// How long a hop took in the last searches for a destination.
    hop_times: BTreeMap<NodeAddress, VecDeque<Duration>>,
    /// When the last requests and errors were sent, for the rate limits.
    recent_requests: VecDeque<Time>,
    recent_errors: VecDeque<Time>,
    stats: RoutingStats,
    draw: RandomStream,
    /// Whether the host has said on which channel the node listens.
    has_channel: bool,
    /// Last known channels of neighbours that have moved.
    neighbor_channels: BTreeMap<NodeAddress, ChannelNumber>,
}

impl Aodv {
    /// AODV of the node `address`. Its random waits come from `seed`.
    pub fn new(address: NodeAddress, config: AodvConfig, seed: u64) -> Self {
        Self {
            address,
            neighbor_routes: config.neighbor_routes,
            config,
            sequence: 0,
            request_id: 0,
            table: RouteTable::new(),
            discoveries: BTreeMap::new(),
            unfound: BTreeSet::new(),
            hop_times: BTreeMap::new(),
            seen: SeenRequests::new(),
            blacklist: BTreeMap::new(),
            owed: BTreeMap::new(),
            heard: BTreeMap::new(),
            next_hello: Time::MAX,
            last_broadcast: None,
            recent_requests: VecDeque::new(),
            recent_errors: VecDeque::new(),
            outbox: Outbox::default(),
            events: VecDeque::new(),
            stats: RoutingStats::default(),
            draw: RandomStream::new(seed, "routing/aodv", u64::from(address.number())),
            has_channel: false,
            neighbor_channels: BTreeMap::new(),
        }
    }

    /// The route table, to look at.
    pub fn table(&self) -> &RouteTable {
        &self.table
    }

    /// The settings.
    pub fn config(&self) -> &AodvConfig {
        &self.config
    }

    /// Own sequence number.
    pub fn sequence(&self) -> u32 {
        self.sequence
    }

    /// Whether requests of `neighbor` are ignored now.
    pub fn is_blacklisted(&self, now: Time, neighbor: NodeAddress) -> bool {
        self.blacklist.get(&neighbor).is_some_and(|until| *until > now)
    }

    /// Ends what is over before anything else is done at `now`.
    fn catch_up(&mut self, now: Time) {
        if self.table.next_expiry() <= now {
            for (destination, used) in self.table.expire(now, now + self.config.delete_period()) {
                if used {
                    self.events.push_back(RoutingEvent::RouteLost { destination, cause: LossCause::Expired });
                }
            }
        }
        self.seen.expire(now);
    }

    /// Takes an offer into the table, and says what that changes.
    fn offer(&mut self, now: Time, offer: RouteOffer) -> bool {
        // A node needs no route to itself, and one that it believed in would be a loop.
        let ends = [offer.destination, offer.next_hop];
        if ends.contains(&self.address) || ends.contains(&NodeAddress::BROADCAST) {
            return false;
        }
        let offer = RouteOffer { until: self.config.looked_at(offer.until), ..offer };
        let Taken::Installed { before } = self.table.offer(now, offer) else { return false };
        let RouteOffer { destination, next_hop: to, hops, .. } = offer;
        let used = self.is_used(destination);
        if let Some(from) = before.filter(|from| used && *from != to) {
            self.events.push_back(RoutingEvent::RouteChanged { destination, from, to });
        }
        self.end_discovery(now, destination, hops);
        true
    }

    /// Whether data took the route to a destination since it became valid: only then is a change of it worth
    /// an event.
    fn is_used(&self, destination: NodeAddress) -> bool {
        self.table.get(destination).is_some_and(|route| route.used.is_some())
    }

    /// Hears a neighbour: there is a route to it, whose number this does not tell (6.2, 6.5, 6.7).
    fn hear(&mut self, now: Time, neighbor: NodeAddress) {
        if self.neighbor_routes {
            let until = now + self.config.active_route_timeout;
            let offer =
                RouteOffer { destination: neighbor, next_hop: neighbor, hops: 1, sequence: None, until };
            self.offer(now, offer);
        }
        if let Some(heard) = self.heard.get_mut(&neighbor) {
            heard.anything = now;
        }
    }

    fn send(&mut self, due: Time, to: NodeAddress, ttl: u8, message: RoutingMessage) {
        let bytes = message.wire_bytes(self.config.wire);
        self.outbox.push(due, RoutingPacket { from: self.address, to, ttl, channel: None, bytes, message });
    }

    fn jitter(&mut self) -> Duration {
        if self.config.jitter.is_zero() {
            return Duration::ZERO;
        }
        self.draw.uniform_duration(Duration::ZERO, self.config.jitter)
    }

    /// The life of a route to `destination` is at least until then.
    fn prolong(&mut self, now: Time, destination: NodeAddress, until: Time) {
        self.table.prolong(now, destination, self.config.looked_at(until));
    }

    /// Takes the route of a data packet: the lives of the routes to destination, next hop, previous hop and
    /// source rise (6.2).
    fn use_route(&mut self, now: Time, packet: DataPacket) -> Option<NodeAddress> {
        let until = self.config.looked_at(now + self.config.active_route_timeout);
        let (data_precursors, prolongs_all) = (self.config.data_precursors, self.config.prolongs_all);
        let route = self.table.active_mut(now, packet.destination).filter(|route| !route.in_repair)?;
        let next_hop = route.next_hop;
        route.used = Some(now);
        route.own_data |= packet.previous_hop.is_none();
        route.expires = route.expires.max(until);
        if let Some(previous) = packet.previous_hop {
            // Whoever sends through this node is told when it cannot go on. RFC 3561 makes precursors of
            // those that a reply goes through only, and leaves a node without them once a route was mended
            // below it.
            if data_precursors {
                route.add_precursor(previous);
            }
            if prolongs_all {
                self.table.prolong(now, previous, until);
                if packet.source != previous {
                    self.table.prolong(now, packet.source, until);
                }
            }
        }
        // The route to the destination itself is prolonged above.
        if prolongs_all && next_hop != packet.destination {
            self.table.prolong(now, next_hop, until);
        }
        Some(next_hop)
    }
}

/// Whether another event of a kind limited to `limit` a second may happen at `now`; if not, when.
fn allowed(recent: &mut VecDeque<Time>, limit: u32, now: Time) -> Result<(), Time> {
    const WINDOW: Duration = Duration::from_secs(1);
    while recent.front().is_some_and(|first| *first + WINDOW <= now) {
        recent.pop_front();
    }
    match recent.front() {
        // 0 is no limit.
        Some(first) if limit > 0 && recent.len() >= limit as usize => Err(*first + WINDOW),
        _ => Ok(()),
    }
}

impl Routing for Aodv {
    fn name(&self) -> &'static str {
        AodvSettings::NAME
    }

    fn address(&self) -> NodeAddress {
        self.address
    }

    fn start(&mut self, now: Time) {
        if self.config.hello {
            // Not all nodes at one instant.
            self.next_hello = now + self.draw.uniform_duration(Duration::ZERO, self.config.hello_interval);
        }
    }

    fn forward(&mut self, now: Time, packet: DataPacket) -> Forwarding {
        self.catch_up(now);
        if packet.destination == self.address {
            return Forwarding::Deliver;
        }
        if let Some(previous) = packet.previous_hop {
            if let Some(heard) = self.heard.get_mut(&previous) {
                heard.anything = now;
            }
            if packet.source == self.address {
                return Forwarding::Drop(RoutingDropCause::Loop);
            }
        }
        if let Some(next_hop) = self.use_route(now, packet) {
            return Forwarding::Send { next_hop, channel: None };
        }
        match packet.previous_hop {
            None => {
                self.seek(now, packet.destination);
                Forwarding::Hold
            }
            Some(_) if self.is_in_repair(now, packet.destination) => {
                self.seek(now, packet.destination);
                Forwarding::Hold
            }
            Some(previous) => {
                self.report_no_route(now, packet.destination, previous);
                Forwarding::Drop(RoutingDropCause::NoRoute)
            }
        }
    }

    fn handle_message(&mut self, now: Time, packet: &RoutingPacket) {
        self.catch_up(now);
        if packet.from == self.address || !(packet.to == self.address || packet.to.is_broadcast()) {
            return;
        }
        match &packet.message {
            RoutingMessage::Request(request) => self.handle_request(now, packet.from, packet.ttl, request),
            RoutingMessage::Reply(reply) => self.handle_reply(now, packet.from, reply),
            RoutingMessage::Error(error) => self.handle_error(now, packet.from, error),
            RoutingMessage::ReplyAck => {
                self.hear(now, packet.from);
                self.owed.remove(&packet.from);
            }
            RoutingMessage::Hello(hello) => self.handle_hello(now, packet.from, *hello),
            RoutingMessage::Own(_) => {}
        }
    }

    fn is_copy(&self, now: Time, packet: &RoutingPacket) -> bool {
        let RoutingMessage::Request(request) = &packet.message else { return false };
        (self.seen.contains(request.originator, request.id) || request.originator == self.address)
            // Even a copy may renew a route to a neighbour or its last sign of life; and what is due would
            // wait.
            && packet.from != self.address
            && !self.neighbor_routes
            && !self.heard.contains_key(&packet.from)
            && self.seen.first() > now
            && self.outbox.next_due() > now
            && self.table.next_expiry() > now
    }

    fn prefetch(&self, packet: &RoutingPacket) {
        let RoutingMessage::Request(request) = &packet.message else { return };
        // A copy ends at this one line of memory.
        if self.seen.is_recent(request.originator, request.id) {
            return;
        }
        self.seen.prefetch(request.originator, request.id);
        self.table.prefetch(request.originator);
        prefetch(&self.config, size_of::<AodvConfig>().div_ceil(64));
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        neighbor: NodeAddress,
        lost: LostPacket<'_>,
    ) -> AfterFailure {
        self.catch_up(now);
        if !self.config.link_feedback {
            return AfterFailure::Lost;
        }
        match lost {
            LostPacket::Data(packet) if self.repair(now, packet) => return AfterFailure::Hold,
            LostPacket::Routing(_) if !self.config.routing_breaks_link => return AfterFailure::Lost,
            LostPacket::Routing(RoutingPacket { message: RoutingMessage::Reply(_), .. }) => {
                // The neighbour's request came here and our reply does not get there (6.8).
                self.blacklist.insert(neighbor, now + self.config.blacklist_timeout());
            }
            LostPacket::Data(_) | LostPacket::Routing(_) => {}
        }
        self.break_link(now, neighbor);
        AfterFailure::Lost
    }

    fn handle_host_update(&mut self, now: Time, update: HostUpdate) {
        match update {
            HostUpdate::Handoff { .. } => self.handle_handoff(now),
            HostUpdate::NeighborChannel { neighbor, channel } => {
                self.handle_neighbor_channel(now, neighbor, channel);
            }
            HostUpdate::Power => self.reconfigure(now),
            HostUpdate::NeighborLost { neighbor } if self.config.at_handoff == AtHandoff::Search => {
                self.search_again(now, Some(neighbor));
            }
            HostUpdate::NeighborLost { .. }
            | HostUpdate::Topology(_)
            | HostUpdate::Position(_)
            | HostUpdate::Location { .. }
            | HostUpdate::PrimaryUser { .. } => {}
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.catch_up(now);
        self.check_acknowledgements(now);
        self.check_neighbors(now);
        self.say_hello(now);
        self.continue_discoveries(now);
    }

    fn poll_timeout(&self) -> Time {
        let discoveries = self.discoveries.values().map(|discovery| discovery.deadline);
        let owed = self.owed.values().copied();
        let first = discoveries.chain(owed).min().unwrap_or(Time::MAX);
        let table = self.table.next_expiry();
        first.min(self.outbox.next_due()).min(table).min(self.next_hello).min(self.next_neighbor_check())
    }

    fn poll_transmit(&mut self, now: Time) -> Option<RoutingPacket> {
        let packet = self.outbox.pop(now)?;
        if packet.to.is_broadcast() {
            // As it goes out: what still waits tells nobody that this node is there (6.9).
            self.last_broadcast = Some(now);
        }
        self.stats.count(&packet);
        Some(packet)
    }

    fn poll_event(&mut self) -> Option<RoutingEvent> {
        self.events.pop_front()
    }

    fn route(&self, now: Time, destination: NodeAddress) -> Option<RouteInfo> {
        let route = self.table.active(now, destination).filter(|route| !route.in_repair)?;
        Some(RouteInfo { next_hop: route.next_hop, hops: route.hops, channel: None })
    }

    fn stats(&self) -> &RoutingStats {
        &self.stats
    }
}
