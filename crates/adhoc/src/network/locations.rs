//! Positions for routing: where a node is, and who reaches whom.

use super::{AdHocNetwork, Slot};
use cogtcp_mobility::NeighborGrid;
use cogtcp_routing::{HostUpdate, NodeAddress, RoutingGraph};
use cogtcp_units::Time;
use cogtcp_wireless::Surroundings;
use std::sync::Arc;

impl<T: Clone, S: Surroundings> AdHocNetwork<T, S> {
    /// Tells routing who reaches whom, if it wants to know.
    pub(super) fn tell_topology(&mut self, now: Time) {
        if self.config.routing.name() != "static" {
            return;
        }
        let topology = self.find_topology(now);
        // The same links are no news: each node would only work out its routes again.
        if self.topology.as_deref() != Some(&topology) {
            let topology = Arc::new(topology);
            for node in &mut self.nodes {
                node.routing.handle_host_update(now, HostUpdate::Topology(Arc::clone(&topology)));
            }
            self.topology = Some(topology);
        }
    }

    /// Tells routing where its node is and who reaches whom.
    pub(super) fn tell_locations(&mut self, now: Time) {
        self.tell_topology(now);
        let mobility = Arc::clone(&self.mobility);
        for (number, node) in self.nodes.iter_mut().enumerate() {
            let place = mobility.position(number, now);
            node.routing.handle_host_update(now, HostUpdate::Position(place));
        }
        // Once all stand still, places change no more.
        if mobility.max_speed() > 0.0 && now < mobility.end() {
            self.set_timer(Slot::Locations, now + self.config.location_interval);
        }
    }

    /// Which nodes receive each other, by distance and power alone.
    fn find_topology(&self, now: Time) -> RoutingGraph {
        let mobility = &*self.mobility;
        let mut grid = NeighborGrid::new(mobility, self.range);
        let mut topology = RoutingGraph::new(mobility.len());
        for node in 0..mobility.len() as u32 {
            for other in grid.neighbors(mobility, now, node).nodes {
                let apart = mobility.position(node as usize, now);
                let apart = apart.distance(mobility.position(other as usize, now));
                // Data need an ACK: the weaker node decides.
                if apart <= self.range_of(node).min(self.range_of(other)) {
                    topology.link(NodeAddress::new(node), NodeAddress::new(other), 1);
                }
            }
        }
        topology
    }
}
