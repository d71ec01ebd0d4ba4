//! The repositories of the nodes: who writes into them, and what routing, which subscribes, makes of it.

use super::{AdHocNetwork, Slot};
use cogtcp_crosslayer::{Repository, SharedChange};
use cogtcp_routing::{HostUpdate, NodeAddress};
use cogtcp_units::{Power, Time};
use cogtcp_wireless::Surroundings;

impl<T: Clone, S: Surroundings> AdHocNetwork<T, S> {
    /// The cross-layer repository of a node: transmit power, channel, neighbours.
    ///
    /// Neighbours are kept where nodes sense or change their power: nodes heard since the MAC last failed to
    /// reach them.
    pub fn repository(&self, node: u32) -> &Repository {
        &self.nodes[node as usize].repository
    }

    /// Mutable access to a node's repository, to subscribe and to take changes.
    pub fn repository_mut(&mut self, node: u32) -> &mut Repository {
        &mut self.nodes[node as usize].repository
    }

    /// How far a frame of `node` can be received without shadowing, fading and interference, m.
    pub(crate) fn range_of(&self, node: u32) -> f64 {
        if self.config.powers.is_empty() {
            return self.range;
        }
        self.config.range(self.nodes[node as usize].repository.power())
    }

    /// Notes in the repository of `node` that it has heard `other`.
    pub(super) fn note_heard(&mut self, node: u32, other: u32, now: Time) {
        if self.config.keeps_neighbors() && self.nodes[node as usize].repository.add_neighbor(now, other) {
            self.tell_routing(node, now);
        }
    }

    /// Notes in the repository of `node` that the MAC failed to reach `other`. Routing hears of the failure
    /// itself (`handle_link_failure`), so its subscription skips the change.
    pub(super) fn note_unreached(&mut self, node: u32, other: u32, now: Time) {
        let node = &mut self.nodes[node as usize];
        if self.config.keeps_neighbors() && node.repository.remove_neighbor(now, other) {
            let _ = node.repository.take(node.routing_reads);
        }
    }

    /// Notes in the repository of `node` that `other` does not reach it any more.
    fn note_lost(&mut self, node: u32, other: u32, now: Time) {
        if self.config.keeps_neighbors() && self.nodes[node as usize].repository.remove_neighbor(now, other) {
            self.tell_routing(node, now);
        }
    }

    /// Routing takes what has changed in the repository of its node. To be followed by `settle`.
    pub(crate) fn tell_routing(&mut self, number: u32, now: Time) {
        let node = &mut self.nodes[number as usize];
        while let Some(entry) = node.repository.take(node.routing_reads) {
            let update = match entry.change {
                SharedChange::Channel(channel) => {
                    HostUpdate::Handoff { channel: self.channels.number(channel) }
                }
                SharedChange::Power(_) => HostUpdate::Power,
                SharedChange::NeighborLost(neighbor) => {
                    HostUpdate::NeighborLost { neighbor: NodeAddress::new(neighbor) }
                }
                SharedChange::NeighborFound(_) => continue,
            };
            node.routing.handle_host_update(now, update);
        }
    }

    /// Sets the timer of the next change of power.
    pub(super) fn plan_power(&mut self) {
        let due = self.config.powers.get(self.powers_set).map_or(Time::MAX, |change| change.at);
        self.set_timer(Slot::Power, due);
    }

    /// Changes of power that are due.
    pub(super) fn change_powers(&mut self, now: Time) {
        while let Some(change) = self.config.powers.get(self.powers_set).copied().filter(|it| it.at <= now) {
            self.powers_set += 1;
            match change.node {
                Some(node) => self.set_power(node, change.power, now),
                None => (0..self.nodes.len() as u32).for_each(|node| self.set_power(node, change.power, now)),
            }
        }
        self.plan_power();
        self.tell_topology(now);
        (0..self.nodes.len() as u32).for_each(|node| self.settle(node, now));
    }

    /// A node sends with another power from now on. Its repository and its routing know; where channels are
    /// known at no cost, so do those that are out of its range now.
    fn set_power(&mut self, number: u32, power: Power, now: Time) {
        let before = self.range_of(number);
        if !self.nodes[number as usize].repository.set_power(now, power) {
            return;
        }
        let interfaces = self.nodes[number as usize].interfaces;
        interfaces.each().for_each(|interface| self.medium.set_power(interface, power));
        self.tell_routing(number, now);
        let after = self.range_of(number);
        if self.is_signalled() || after >= before {
            return;
        }
        let place = self.medium.position(number, now);
        for other in self.near.near(&self.mobility, now, place) {
            if other != number && self.medium.position(other, now).distance(place) > after {
                self.note_lost(other, number, now);
            }
        }
    }
}
