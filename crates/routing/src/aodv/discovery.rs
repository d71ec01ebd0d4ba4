//! Seeking a route: RFC 3561, sections 6.3 and 6.4.

use super::{Aodv, RequestTimeout, allowed};
use crate::message::RouteRequest;
use crate::{NodeAddress, RoutingEvent, RoutingMessage};
use cogtcp_units::{Duration, Time};

/// A search for one destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Discovery {
    started: Time,
    state: State,
    /// How many requests may go through the whole network.
    wide_requests: u32,
    /// True if a valid route is to be replaced: only a newer one ends the search.
    replaces: bool,
    /// When the last request went.
    asked: Time,
    /// From when on a packet for the destination begins the next request.
    pub(super) may_ask: Time,
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
        let Some(discovery) = self.discoveries.get_mut(&destination) else {
            return self.begin(now, destination, false);
        };
        // A wait may be over before the periodic timer looks (`timer_interval`). Then a packet begins the
        // next request; else the timer does.
        let over = discovery.may_ask <= now && discovery.deadline > now;
        match &mut discovery.state {
            State::Paused { .. } if over => {
                self.discoveries.remove(&destination);
                self.begin(now, destination, false);
            }
            State::Paused { wanted } => *wanted = true,
            State::Waiting { ttl, wide } if over => {
                let (ttl, wide) = (*ttl, *wide);
                self.try_again(now, destination, ttl, wide);
            }
            State::Waiting { .. } | State::Limited { .. } => {}
        }
    }

    /// Begins to seek another route to a destination that has one, unless a search is under way.
    pub(super) fn seek_another(&mut self, now: Time, destination: NodeAddress) {
        if !self.discoveries.contains_key(&destination) {
            self.begin(now, destination, true);
        }
    }

    fn begin(&mut self, now: Time, destination: NodeAddress, replaces: bool) {
        self.stats.discoveries += 1;
        self.events.push_back(RoutingEvent::DiscoveryStarted { destination });
        let ttl = self.first_ttl(now, destination, replaces);
        // RREQ_RETRIES counts what follows the first request. ns-2 counts all that go through the whole
        // network.
        let is_wide = ttl == self.config.net_diameter && self.config.request_timeout == RequestTimeout::Rfc;
        let wide_requests = self.config.rreq_retries + u32::from(is_wide);
        let state = State::Limited { ttl, wide: 0 };
        let begun = Discovery {
            started: now,
            state,
            wide_requests,
            replaces,
            asked: now,
            may_ask: now,
            deadline: now,
        };
        self.discoveries.insert(destination, begun);
        self.request(now, destination, ttl, 0);
    }

    /// 6.4: TTL_START, or for a route that was lost or is replaced its hop count and TTL_INCREMENT.
    fn first_ttl(&self, now: Time, destination: NodeAddress, replaces: bool) -> u8 {
        let config = &self.config;
        if config.wide_after_failure && self.unfound.contains(&destination) {
            return config.net_diameter;
        }
        let lost = self.table.get(destination).filter(|route| route.valid == replaces && route.expires > now);
        lost.map_or_else(|| self.within_rings(config.ttl_start), |route| self.ring_after(route.hops))
    }

    /// The ring after one of this many hops.
    fn ring_after(&self, last: u8) -> u8 {
        let config = &self.config;
        let ttl = last.saturating_add(config.ttl_increment);
        match config.threshold_of_last_ring {
            true if last < config.ttl_threshold => ttl.min(config.net_diameter),
            true => config.net_diameter,
            false => self.within_rings(ttl),
        }
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
        // 6.1: incremented immediately before the search, so that the reverse routes are newer than all
        // before.
        self.sequence = self.sequence.wrapping_add(1);
        self.request_id = self.request_id.wrapping_add(1);
        self.remember(now, self.address, self.request_id);
        let request = RouteRequest {
            hops: 0,
            id: self.request_id,
            destination,
            destination_sequence: self.wanted_sequence(destination),
            originator: self.address,
            originator_sequence: self.sequence,
            gratuitous: self.config.gratuitous_replies,
            destination_only: self.config.destination_only,
        };
        let due = if self.config.jitter_own { now + self.jitter() } else { now };
        self.send(due, NodeAddress::BROADCAST, ttl, RoutingMessage::Request(request));
        self.events.push_back(RoutingEvent::RequestSent { destination, ttl });
        let hop_time = self.hop_time(destination);
        let deadline = now + self.config.wait_for_reply(ttl, wide, hop_time);
        self.set(destination, State::Waiting { ttl, wide }, deadline);
        if let Some(discovery) = self.discoveries.get_mut(&destination) {
            discovery.asked = now;
        }
    }

    /// Returns the sequence number that a request asks for: the last known number (6.3). To replace a valid
    /// route, a request asks for the next number: only the destination has it (6.6.1).
    fn wanted_sequence(&self, destination: NodeAddress) -> Option<u32> {
        let route = self.table.get(destination)?;
        let replaces = self.discoveries.get(&destination).is_some_and(|discovery| discovery.replaces);
        route.sequence.map(|known| if replaces && route.valid { known.wrapping_add(1) } else { known })
    }

    /// NODE_TRAVERSAL_TIME, or the mean over the last three searches for the destination.
    fn hop_time(&self, destination: NodeAddress) -> Duration {
        let measured = self.hop_times.get(&destination).filter(|_| self.config.measured_hop_time);
        measured.map_or(self.config.node_traversal_time, |times| {
            times.iter().fold(Duration::ZERO, |sum, time| sum + *time) / times.len() as u64
        })
    }

    /// A reply to a request of this node has come over so many hops. To be called while the search is under
    /// way.
    pub(super) fn measure_hop_time(&mut self, now: Time, destination: NodeAddress, hops: u8) {
        /// `MAX_HISTORY` of ns-2.
        const HISTORY: usize = 3;
        let Some(asked) = self.discoveries.get(&destination).map(|discovery| discovery.asked) else { return };
        // A reply in the same instant would make a hop take no time, and the next wait nothing.
        if asked == now {
            return;
        }
        let times = self.hop_times.entry(destination).or_default();
        times.push_back((now - asked) / u64::from(hops.max(1)));
        if times.len() > HISTORY {
            times.pop_front();
        }
    }

    fn set(&mut self, destination: NodeAddress, state: State, over: Time) {
        let deadline = self.config.looked_at(over);
        if let Some(discovery) = self.discoveries.get_mut(&destination) {
            (discovery.state, discovery.may_ask, discovery.deadline) = (state, over, deadline);
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
                        self.begin(now, destination, false);
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
            let ttl = self.ring_after(ttl);
            if ttl < diameter || wide_requests > 0 {
                return self.request(now, destination, ttl, 0);
            }
        } else if wide + 1 < wide_requests {
            return self.request(now, destination, diameter, wide + 1);
        }
        self.stats.failed += 1;
        if self.config.wide_after_failure {
            self.unfound.insert(destination);
        }
        self.events.push_back(RoutingEvent::DiscoveryFailed { destination });
        if self.config.failure_pause.is_zero() {
            self.discoveries.remove(&destination);
        } else {
            self.set(destination, State::Paused { wanted: false }, now + self.config.failure_pause);
        }
    }

    /// There is a route now, however it came.
    pub(super) fn end_discovery(&mut self, now: Time, destination: NodeAddress, hops: u8) {
        self.unfound.remove(&destination);
        if let Some(discovery) = self.discoveries.remove(&destination) {
            // A paused search has been counted as failed.
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
        self.seen.insert(until, originator, id);
    }
}
