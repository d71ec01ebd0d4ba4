//! Seeking a route: RFC 3561, sections 6.3 and 6.4.

use super::{Aodv, RequestTimeout, allowed};
use crate::message::RouteRequest;
use crate::{NodeAddress, RoutingEvent, RoutingMessage};
use cogtcp_units::Time;

/// A search for one destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Discovery {
    started: Time,
    state: State,
    /// How many requests may go through the whole network.
    wide_requests: u32,
    /// When something is to be done.
    pub(super) deadline: Time,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// A request waits for the rate limit.
    Limited { ttl: u8, wide: u32 },
    /// A request is out. `wide`: how many went through the whole network before it.
    Waiting { ttl: u8, wide: u32 },
    /// The search failed; the next may begin at the deadline, and does if a packet came.
    Paused { wanted: bool },
}

impl Aodv {
    /// Begins to seek a route, unless that is under way.
    pub(super) fn seek(&mut self, now: Time, destination: NodeAddress) {
        match self.discoveries.get_mut(&destination).map(|discovery| &mut discovery.state) {
            Some(State::Paused { wanted }) => *wanted = true,
            Some(_) => {}
            None => self.begin(now, destination),
        }
    }

    fn begin(&mut self, now: Time, destination: NodeAddress) {
        self.stats.discoveries += 1;
        self.events.push_back(RoutingEvent::DiscoveryStarted { destination });
        let ttl = self.first_ttl(now, destination);
        // RREQ_RETRIES counts what follows the first request. ns-2 counts all that go through the whole network.
        let is_wide = ttl == self.config.net_diameter && self.config.request_timeout == RequestTimeout::Rfc;
        let wide_requests = self.config.rreq_retries + u32::from(is_wide);
        let state = State::Limited { ttl, wide: 0 };
        self.discoveries.insert(destination, Discovery { started: now, state, wide_requests, deadline: now });
        self.request(now, destination, ttl, 0);
    }

    /// 6.4: TTL_START, or for a route that was lost its last hop count and TTL_INCREMENT.
    fn first_ttl(&self, now: Time, destination: NodeAddress) -> u8 {
        let config = &self.config;
        let lost = self.table.get(destination).filter(|route| !route.valid && route.expires > now);
        let ttl = match lost {
            Some(route) => route.hops.saturating_add(config.ttl_increment),
            None => config.ttl_start,
        };
        self.within_rings(ttl)
    }

    fn within_rings(&self, ttl: u8) -> u8 {
        let config = &self.config;
        if ttl > config.ttl_threshold { config.net_diameter } else { ttl.min(config.net_diameter) }
    }

    /// Sends a request, or puts it off until the rate limit allows it (6.3).
    fn request(&mut self, now: Time, destination: NodeAddress, ttl: u8, wide: u32) {
        let limit = self.config.rreq_ratelimit;
        if let Err(later) = allowed(&mut self.recent_requests, limit, now) {
            self.stats.limited += 1;
            self.set(destination, State::Limited { ttl, wide }, later);
            return;
        }
        if limit > 0 {
            self.recent_requests.push_back(now);
        }
        // 6.1: incremented immediately before the search, so that the reverse routes are newer than all before.
        self.sequence = self.sequence.wrapping_add(1);
        self.request_id = self.request_id.wrapping_add(1);
        self.remember(now, self.address, self.request_id);
        let request = RouteRequest {
            hops: 0,
            id: self.request_id,
            destination,
            destination_sequence: self.table.get(destination).and_then(|route| route.sequence),
            originator: self.address,
            originator_sequence: self.sequence,
            gratuitous: self.config.gratuitous_replies,
            destination_only: self.config.destination_only,
        };
        let due = if self.config.jitter_own { now + self.jitter() } else { now };
        self.send(due, NodeAddress::BROADCAST, ttl, RoutingMessage::Request(request));
        self.events.push_back(RoutingEvent::RequestSent { destination, ttl });
        let deadline = now + self.config.wait_for_reply(ttl, wide);
        self.set(destination, State::Waiting { ttl, wide }, deadline);
    }

    fn set(&mut self, destination: NodeAddress, state: State, deadline: Time) {
        if let Some(discovery) = self.discoveries.get_mut(&destination) {
            (discovery.state, discovery.deadline) = (state, deadline);
        }
    }

    /// Does what is due in all searches.
    pub(super) fn continue_discoveries(&mut self, now: Time) {
        let due = self.discoveries.iter().filter(|(_, discovery)| discovery.deadline <= now);
        let due: Vec<_> = due.map(|(destination, discovery)| (*destination, discovery.state)).collect();
        for (destination, state) in due {
            match state {
                State::Limited { ttl, wide } => self.request(now, destination, ttl, wide),
                State::Waiting { ttl, wide } => self.try_again(now, destination, ttl, wide),
                State::Paused { wanted } => {
                    self.discoveries.remove(&destination);
                    if wanted {
                        self.begin(now, destination);
                    }
                }
            }
        }
    }

    /// No reply came: a greater ring, or once more through the whole network, or the end.
    fn try_again(&mut self, now: Time, destination: NodeAddress, ttl: u8, wide: u32) {
        let diameter = self.config.net_diameter;
        let wide_requests = self.discoveries.get(&destination).map_or(0, |discovery| discovery.wide_requests);
        if ttl < diameter {
            let ttl = self.within_rings(ttl.saturating_add(self.config.ttl_increment));
            if ttl < diameter || wide_requests > 0 {
                return self.request(now, destination, ttl, 0);
            }
        } else if wide + 1 < wide_requests {
            return self.request(now, destination, diameter, wide + 1);
        }
        self.stats.failed += 1;
        self.events.push_back(RoutingEvent::DiscoveryFailed { destination });
        if self.config.failure_pause.is_zero() {
            self.discoveries.remove(&destination);
        } else {
            self.set(destination, State::Paused { wanted: false }, now + self.config.failure_pause);
        }
    }

    /// There is a route now, however it came.
    pub(super) fn end_discovery(&mut self, now: Time, destination: NodeAddress, hops: u8) {
        if let Some(discovery) = self.discoveries.remove(&destination) {
            if !matches!(discovery.state, State::Paused { .. }) {
                self.stats.found += 1;
            }
            let took = now - discovery.started;
            self.events.push_back(RoutingEvent::RouteFound { destination, hops, took });
        }
    }

    /// Remembers a request, so that its copies are dropped.
    pub(super) fn remember(&mut self, now: Time, originator: NodeAddress, id: u32) {
        let until = now + self.config.request_memory();
        if self.seen.insert((originator, id), until).is_none() {
            self.seen_order.push_back((until, originator, id));
        }
    }
}
