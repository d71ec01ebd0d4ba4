//! Positions for routing: where a node is, and who reaches whom.

use super::{AdHocNetwork, Slot};
use cogtcp_mobility::{Mobility, NeighborGrid};
use cogtcp_routing::{HostUpdate, NodeAddress, RoutingGraph};
use cogtcp_units::Time;
use cogtcp_wireless::Surroundings;
use std::sync::Arc;

impl<T: Clone, S: Surroundings> AdHocNetwork<T, S> {
    /// Tells routing where its node is and who reaches whom.
    pub(super) fn tell_locations(&mut self, now: Time) {
        let mobility = Arc::clone(&self.mobility);
        let wants_topology = self.config.routing.name() == "static";
        if wants_topology {
            let topology = topology(&mobility, self.range, now);
            // The same links are no news: each node would only work out its routes again.
            if self.topology.as_deref() != Some(&topology) {
                let topology = Arc::new(topology);
                for node in &mut self.nodes {
                    node.routing.handle_host_update(now, HostUpdate::Topology(Arc::clone(&topology)));
                }
                self.topology = Some(topology);
            }
        }
        for (number, node) in self.nodes.iter_mut().enumerate() {
            let place = mobility.position(number, now);
            node.routing.handle_host_update(now, HostUpdate::Position(place));
        }
        // Once all stand still, places change no more.
        if mobility.max_speed() > 0.0 && now < mobility.end() {
            self.set_timer(Slot::Locations, now + self.config.location_interval);
        }
    }
}

/// Who can receive whom, by distance alone.
fn topology(mobility: &Mobility, range: f64, now: Time) -> RoutingGraph {
    let mut grid = NeighborGrid::new(mobility, range);
    let mut topology = RoutingGraph::new(mobility.len());
    for node in 0..mobility.len() as u32 {
        for other in grid.neighbors(mobility, now, node).nodes {
            topology.link(NodeAddress::new(node), NodeAddress::new(other), 1);
        }
    }
    topology
}
