//! Static shortest paths ([docs/routing/static.md](../../../docs/routing/static.md)).

use crate::{
    AfterFailure, DataPacket, Forwarding, HostUpdate, LostPacket, NodeAddress, RouteInfo, Routing,
    RoutingDropCause, RoutingEvent, RoutingGraph, RoutingPacket, RoutingStats,
};
use crate::{NodeSite, Protocol};
use cogtcp_units::{Named, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

/// Static shortest paths have no settings.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct StaticConfig {}

impl Named for StaticConfig {
    const NAME: &'static str = "static";
    const SUMMARY: &'static str = "shortest paths over a topology known from the host, without messages";
    const REFERENCE: &'static str = "Dijkstra, Numerische Mathematik 1, 1959";
}

impl Protocol for StaticConfig {
    fn build(&self, site: NodeSite) -> Box<dyn Routing> {
        Box::new(StaticRouting::new(site.address))
    }
}

/// Shortest paths over the topology of the last [`HostUpdate::Topology`]. Told once it is static routing;
/// told again whenever links come and go it is an oracle, which knows every change at once and at no cost.
#[derive(Clone, Debug)]
pub struct StaticRouting {
    address: NodeAddress,
    /// By destination: next hop and hops.
    routes: Vec<Option<(NodeAddress, u8)>>,
    events: VecDeque<RoutingEvent>,
    stats: RoutingStats,
}

impl StaticRouting {
    /// Without a topology: no route to anywhere.
    pub fn new(address: NodeAddress) -> Self {
        Self { address, routes: Vec::new(), events: VecDeque::new(), stats: RoutingStats::default() }
    }

    fn learn(&mut self, topology: &Arc<RoutingGraph>) {
        let routes = topology.next_hops_from(self.address);
        for (number, route) in routes.iter().enumerate() {
            let before = self.routes.get(number).copied().flatten();
            // A first route, or a lost one, is no change of an old one.
            if let (Some((from, _)), Some((to, _))) = (before, *route)
                && from != to
            {
                let destination = NodeAddress::new(number as u32);
                self.events.push_back(RoutingEvent::RouteChanged { destination, from, to });
            }
        }
        self.routes = routes;
    }
}

impl Routing for StaticRouting {
    fn name(&self) -> &'static str {
        StaticConfig::NAME
    }

    fn address(&self) -> NodeAddress {
        self.address
    }

    fn start(&mut self, _now: Time) {}

    fn forward(&mut self, now: Time, packet: DataPacket) -> Forwarding {
        if packet.destination == self.address {
            return Forwarding::Deliver;
        }
        match self.route(now, packet.destination) {
            Some(route) => Forwarding::Send { next_hop: route.next_hop, channel: None },
            None => Forwarding::Drop(RoutingDropCause::NoRoute),
        }
    }

    fn handle_message(&mut self, _now: Time, _packet: &RoutingPacket) {}

    fn handle_link_failure(
        &mut self,
        _now: Time,
        _neighbor: NodeAddress,
        _lost: LostPacket<'_>,
    ) -> AfterFailure {
        // The host alone says which links there are.
        AfterFailure::Lost
    }

    fn handle_host_update(&mut self, _now: Time, update: HostUpdate) {
        if let HostUpdate::Topology(topology) = update {
            self.learn(&topology);
        }
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_timeout(&self) -> Time {
        Time::MAX
    }

    fn poll_transmit(&mut self, _now: Time) -> Option<RoutingPacket> {
        None
    }

    fn poll_event(&mut self) -> Option<RoutingEvent> {
        self.events.pop_front()
    }

    fn route(&self, _now: Time, destination: NodeAddress) -> Option<RouteInfo> {
        let (next_hop, hops) = self.routes.get(destination.number() as usize).copied().flatten()?;
        Some(RouteInfo { next_hop, hops, channel: None })
    }

    fn stats(&self) -> &RoutingStats {
        &self.stats
    }
}
