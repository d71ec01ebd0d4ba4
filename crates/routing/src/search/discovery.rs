//! Seeking a route on every channel, and the reply.

use super::geometry::{Candidate, around, greedy};
use super::joint::{ChannelPath, joint_path};
use super::message::{ForwardingMode, SearchId, SearchMessage, SearchRequest};
use super::{Hop, Search, bit};
use crate::table::is_newer;
use crate::{ChannelNumber, NodeAddress, RoutingEvent};
use cogtcp_units::{Position, Time};

/// A search of this node for one destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Discovery {
    started: Time,
    /// Whether it waits to be told where the destination is.
    waits: bool,
    failed: u32,
    pub(super) deadline: Time,
}

/// What the destination of a search has received.
#[derive(Clone, Debug)]
pub(super) enum Collecting {
    /// Requests come in.
    Open { until: Time, paths: Vec<ChannelPath> },
    /// The reply is sent; what comes later is too late.
    Closed,
}

impl Collecting {
    pub(super) fn deadline(&self) -> Option<Time> {
        match self {
            Self::Open { until, .. } => Some(*until),
            Self::Closed => None,
        }
    }
}

impl Search {
    /// Begins to seek a route, unless that is under way.
    pub(super) fn seek(&mut self, now: Time, destination: NodeAddress) {
        if self.discoveries.contains_key(&destination) {
            return;
        }
        self.stats.discoveries += 1;
        self.events.push_back(RoutingEvent::DiscoveryStarted { destination });
        let deadline = now + self.config.reply_timeout;
        self.discoveries.insert(destination, Discovery { started: now, waits: true, failed: 0, deadline });
        // Where it is now, not where it was last time: it moves.
        self.events.push_back(RoutingEvent::LocationWanted { node: destination });
    }

    /// Begins a search that waited for the place of its destination.
    pub(super) fn begin_waiting(&mut self, now: Time, destination: NodeAddress) {
        let deadline = now + self.config.reply_timeout;
        if let Some(discovery) = self.discoveries.get_mut(&destination).filter(|discovery| discovery.waits) {
            (discovery.waits, discovery.deadline) = (false, deadline);
            self.request(now, destination);
        }
    }

    /// Sends a request over every channel that is free here.
    fn request(&mut self, now: Time, destination: NodeAddress) {
        let Some(target) = self.locations.get(&destination).copied() else { return };
        let number = self.numbers.entry(destination).or_insert(0);
        *number = number.wrapping_add(1);
        let search = SearchId { source: self.address, destination, number: *number };
        // No limit of hops: a request ends where no neighbour is left for it.
        self.events.push_back(RoutingEvent::RequestSent { destination, ttl: u8::MAX });
        for channel in (1..=self.config.channels).map(ChannelNumber) {
            let path = vec![(self.address, now)];
            self.pass_on(now, SearchRequest { search, channel, target, path, mode: ForwardingMode::Greedy });
        }
    }

    /// Takes in a request: as its destination, or to pass it on.
    pub(super) fn handle_request(&mut self, now: Time, request: &SearchRequest) {
        let search = request.search;
        let known = request.path.iter().any(|(node, _)| *node == self.address);
        if known || request.path.first().map(|(node, _)| *node) != Some(search.source) {
            return;
        }
        let mut request = request.clone();
        request.path.push((self.address, now));
        if search.destination != self.address {
            self.pass_on(now, request);
            return;
        }
        let until = now + self.config.collect;
        let open = || Collecting::Open { until, paths: Vec::new() };
        if let Collecting::Open { paths, .. } = self.collecting.entry(search).or_insert_with(open) {
            paths.push(ChannelPath { channel: request.channel, nodes: request.path });
        }
    }

    /// Passes a request on over its channel, if there is a neighbour for it; otherwise it ends here.
    pub(super) fn pass_on(&mut self, now: Time, mut request: SearchRequest) {
        let Some(here) = self.position else { return };
        if !self.is_free(request.channel) || request.path.last().map(|(node, _)| *node) != Some(self.address)
        {
            return;
        }
        let fits = |(node, neighbor): &(NodeAddress, &super::Neighbor)| {
            neighbor.occupied & bit(request.channel) == 0
                && request.path.iter().all(|(known, _)| known != node)
        };
        let near: Vec<_> = self
            .near(now)
            .filter(fits)
            .map(|(node, neighbor)| Candidate { node, position: neighbor.position })
            .collect();
        let Some(next) = self.next_of(here, &near, &mut request) else { return };
        let channel = Some(request.channel);
        self.send(now, next, channel, SearchMessage::Request(request));
    }

    /// Next hop of a request. Without a neighbour in the focus region this node is a decision point. From
    /// here the request goes around, until it is nearer to the destination than the decision point and greedy
    /// forwarding works again.
    fn next_of(
        &self,
        here: Position,
        near: &[Candidate],
        request: &mut SearchRequest,
    ) -> Option<NodeAddress> {
        if near.iter().any(|candidate| candidate.node == request.search.destination) {
            return Some(request.search.destination);
        }
        let target = request.target;
        let half_angle = self.config.focus_angle.to_radians();
        let own = here.distance(target);
        let may_be_greedy = match request.mode {
            ForwardingMode::Greedy => true,
            ForwardingMode::Avoiding { decision } => own < decision,
        };
        if may_be_greedy && let Some(next) = greedy(here, target, half_angle, near) {
            request.mode = ForwardingMode::Greedy;
            return Some(next);
        }
        let reference = match request.mode {
            ForwardingMode::Greedy => {
                request.mode = ForwardingMode::Avoiding { decision: own };
                target
            }
            ForwardingMode::Avoiding { .. } => {
                // The last of the path is this node.
                let before = request.path.iter().rev().nth(1).map(|(node, _)| *node);
                before.and_then(|node| self.neighbors.get(&node)).map_or(target, |node| node.position)
            }
        };
        around(here, reference, near)
    }

    /// Replies to the searches for this node whose time is up.
    pub(super) fn answer_searches(&mut self, now: Time) {
        let due = self.collecting.iter().filter(|(_, it)| it.deadline().is_some_and(|until| until <= now));
        let due: Vec<_> = due.map(|(search, _)| *search).collect();
        for search in due {
            let Some(Collecting::Open { paths, .. }) = self.collecting.insert(search, Collecting::Closed)
            else {
                continue;
            };
            let is_past = |other: &SearchId, it: &Collecting| {
                *other != search
                    && (other.source, other.destination) == (search.source, search.destination)
                    && matches!(it, Collecting::Closed)
            };
            // One mark for each pair is enough: a reply to an earlier search is refused as old (`install`).
            self.collecting.retain(|other, it| !is_past(other, it));
            let path = joint_path(&paths, self.config.switching);
            self.install(now, search, &path);
        }
    }

    /// Takes in a reply on its way to the source.
    pub(super) fn handle_reply(
        &mut self,
        now: Time,
        search: SearchId,
        path: &[(NodeAddress, ChannelNumber)],
    ) {
        let ends = (path.first().map(|(node, _)| *node), path.last().map(|(node, _)| *node));
        let once = path.iter().filter(|(node, _)| *node == self.address).count() == 1;
        if once && path.len() > 1 && ends == (Some(search.source), Some(search.destination)) {
            self.install(now, search, path);
        }
    }

    /// Takes this node's place on a path and sends the reply on.
    fn install(&mut self, now: Time, search: SearchId, path: &[(NodeAddress, ChannelNumber)]) {
        let Some(place) = path.iter().position(|(node, _)| *node == self.address) else { return };
        let pair = (search.source, search.destination);
        let previous = place.checked_sub(1).map(|before| path[before]);
        // The destination has no hop onwards, and keeps no route.
        if let Some(next) = path.get(place + 1).map(|(node, _)| *node) {
            let old = self.routes.get(&pair);
            // A node takes a place on the route of one search once; an older search counts no more.
            if old.is_some_and(|old| !is_newer(search.number, old.number)) {
                return;
            }
            let before = old.filter(|old| old.valid && old.expires > now).map(|old| old.next);
            let hop = Hop {
                number: search.number,
                valid: true,
                expires: now + self.config.route_lifetime,
                previous: previous.map(|(node, _)| node),
                next,
                channel: path[place].1,
                receive: previous.map_or(path[place].1, |(_, channel)| channel),
                hops: u8::try_from(path.len() - 1 - place).unwrap_or(u8::MAX),
                anchor: self.position.unwrap_or_default(),
                offered: None,
            };
            self.routes.insert(pair, hop);
            if let Some(from) = before.filter(|from| *from != next) {
                let destination = search.destination;
                self.events.push_back(RoutingEvent::RouteChanged { destination, from, to: next });
            }
        }
        match previous {
            Some((node, channel)) => {
                self.events.push_back(RoutingEvent::ChannelWanted { channel });
                self.send(now, node, None, SearchMessage::Reply { search, path: path.to_vec() });
            }
            None => self.end_discovery(now, search, path.len() - 1),
        }
    }

    fn end_discovery(&mut self, now: Time, search: SearchId, hops: usize) {
        let destination = search.destination;
        if let Some(discovery) = self.discoveries.remove(&destination) {
            self.stats.found += 1;
            let (hops, took) = (u8::try_from(hops).unwrap_or(u8::MAX), now - discovery.started);
            self.events.push_back(RoutingEvent::RouteFound { destination, hops, took });
        }
    }

    /// Searches again where no reply came, or gives up.
    pub(super) fn continue_discoveries(&mut self, now: Time) {
        let due = self.discoveries.iter().filter(|(_, discovery)| discovery.deadline <= now);
        let due: Vec<_> = due.map(|(destination, _)| *destination).collect();
        for destination in due {
            let Some(discovery) = self.discoveries.get_mut(&destination) else { continue };
            discovery.failed += 1;
            if discovery.failed > self.config.retries {
                self.discoveries.remove(&destination);
                self.stats.failed += 1;
                self.events.push_back(RoutingEvent::DiscoveryFailed { destination });
                continue;
            }
            discovery.waits = true;
            discovery.deadline = now + self.config.reply_timeout;
            self.events.push_back(RoutingEvent::LocationWanted { node: destination });
        }
    }
}
