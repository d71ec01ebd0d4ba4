//! Hellos and the loss of neighbours: RFC 3561, sections 6.9 and 6.10.

use super::Aodv;
use crate::message::Hello;
use crate::{NodeAddress, RoutingMessage};
use cogtcp_units::Time;

/// When a neighbour that sends hellos was heard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    /// A hello.
    pub(super) hello: Time,
    /// Anything.
    pub(super) anything: Time,
}

impl Aodv {
    pub(super) fn handle_hello(&mut self, now: Time, from: NodeAddress, hello: Hello) {
        self.hear(now, from);
        self.table.raise_sequence(from, hello.sequence);
        self.prolong(now, from, now + hello.lifetime);
        if self.config.hello {
            self.heard.insert(from, Heard { hello: now, anything: now });
        }
    }

    /// Sends a hello when it is time, unless a broadcast said already that this node is there.
    pub(super) fn say_hello(&mut self, now: Time) {
        if self.next_hello > now {
            return;
        }
        let interval = self.config.hello_interval;
        self.next_hello = now + interval;
        let said = self.last_broadcast.is_some_and(|last| last + interval > now);
        if !said && (self.config.hello_always || self.is_on_a_route(now)) {
            self.send_hello(now);
        }
    }

    pub(super) fn send_hello(&mut self, now: Time) {
        let hello = Hello { sequence: self.sequence, lifetime: self.config.hello_lifetime() };
        self.send(now, NodeAddress::BROADCAST, 1, RoutingMessage::Hello(hello));
    }

    /// 6.9: a node sends hellos only if it is part of an active route. It is if data went through here in the
    /// last ACTIVE_ROUTE_TIMEOUT, or a neighbour may send some.
    fn is_on_a_route(&self, now: Time) -> bool {
        let used = |used: Time| used + self.config.active_route_timeout > now;
        self.table.iter().any(|(_, route)| {
            route.is_active(now) && (!route.precursors.is_empty() || route.used.is_some_and(used))
        })
    }

    /// Breaks the links to neighbours that sent hellos and now are silent.
    pub(super) fn check_neighbors(&mut self, now: Time) {
        let lifetime = self.config.hello_lifetime();
        let silent: Vec<_> = self
            .heard
            .iter()
            .filter(|(_, heard)| heard.anything + lifetime <= now)
            .map(|(neighbor, heard)| (*neighbor, heard.hello))
            .collect();
        for (neighbor, hello) in silent {
            self.heard.remove(&neighbor);
            // Only of neighbours that said a hello within DELETE_PERIOD it is known that they would say
            // another.
            if hello + self.config.delete_period() > now {
                self.break_link(now, neighbor);
            }
        }
    }

    pub(super) fn next_neighbor_check(&self) -> Time {
        if self.heard.is_empty() {
            return Time::MAX;
        }
        let lifetime = self.config.hello_lifetime();
        self.heard.values().map(|heard| heard.anything + lifetime).min().unwrap_or(Time::MAX)
    }
}
