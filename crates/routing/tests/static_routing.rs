//! Static routing told of its topology again and again.

use cogtcp_routing::{HostUpdate, NodeAddress, Routing, RoutingEvent, RoutingGraph, StaticRouting};
use cogtcp_units::Time;
use std::sync::Arc;

/// A route is said to change where its next hop does, and not where a topology only comes again.
#[test]
fn a_route_changes_with_its_next_hop() {
    let node = NodeAddress::new;
    let by = |middle: u32| {
        let mut topology = RoutingGraph::new(4);
        topology.link_both(node(0), node(middle));
        topology.link_both(node(middle), node(3));
        HostUpdate::Topology(Arc::new(topology))
    };
    let mut routing = StaticRouting::new(node(0));
    let mut told = |notice| {
        routing.handle_host_update(Time::ZERO, notice);
        std::iter::from_fn(|| routing.poll_event()).collect::<Vec<_>>()
    };
    assert_eq!(told(by(1)), []);
    assert_eq!(told(by(1)), []);
    let change = RoutingEvent::RouteChanged { destination: node(3), from: node(1), to: node(2) };
    assert_eq!(told(by(2)), [change]);
}
