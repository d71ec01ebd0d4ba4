//! A network from outside: what it holds, what it counted, where nodes are and which routes they know.

use super::AdHocNetwork;
use crate::node::NodeCounters;
use crate::packet::{HostPacket, Load};
use cogtcp_crosslayer::ChannelId;
use cogtcp_routing::{NodeAddress, Routing};
use cogtcp_spectrum::CognitiveRadio;
use cogtcp_units::{Position, Time};
use cogtcp_wireless::{Counters, Surroundings};

impl<T: Clone, S: Surroundings> AdHocNetwork<T, S> {
    /// Shows every packet of a host that is in the network: it waits for a route, in an interface queue, or
    /// is on the air.
    pub fn visit(&self, mut show: impl FnMut(&HostPacket<T>)) {
        for node in &self.nodes {
            node.buffer.visit(|data| show(&data.packet));
            node.released.iter().for_each(|(_, data)| show(&data.packet));
            let Some(arp) = &node.arp else { continue };
            arp.visit(|waiting| {
                if let Load::Data(data) = &waiting.packet.payload {
                    show(&data.packet);
                }
            });
        }
        self.medium.visit(|load| {
            if let Load::Data(data) = load {
                show(&data.packet);
            }
        });
    }

    /// What a node counted.
    pub fn counters(&self, node: u32) -> NodeCounters {
        self.nodes[node as usize].counters
    }

    /// What the MACs of a node counted, each interface of it apart: one, or control, transmitter and
    /// receiver.
    pub fn mac_counters(&self, node: u32) -> impl Iterator<Item = Counters> {
        self.nodes[node as usize].interfaces.each().map(|interface| self.medium.counters(interface))
    }

    /// The routing protocol of a node, to look at.
    pub fn routing(&self, node: u32) -> &dyn Routing {
        &*self.nodes[node as usize].routing
    }

    /// The cognitive radio of a node.
    pub fn radio(&self, node: u32) -> Option<&CognitiveRadio> {
        self.nodes[node as usize].radio.as_deref()
    }

    /// Mutable access to the cognitive radio of a node.
    pub fn radio_mut(&mut self, node: u32) -> Option<&mut CognitiveRadio> {
        self.nodes[node as usize].radio.as_deref_mut()
    }

    /// The channel on which a node listens for data.
    pub fn channel(&self, node: u32) -> ChannelId {
        self.nodes[node as usize].repository.channel()
    }

    /// Where a node is.
    pub fn position(&self, node: u32, now: Time) -> Position {
        self.mobility.position(node as usize, now)
    }

    /// How far a frame of the greatest power can be received without shadowing, fading and interference, m.
    pub fn range(&self) -> f64 {
        self.range
    }

    /// The route that a packet of `source` would take to `destination` now: the nodes after the source, as
    /// far as each knows a next hop. It ends at a node that comes twice.
    pub fn route(&self, now: Time, source: u32, destination: u32) -> Vec<u32> {
        let mut route = Vec::new();
        let mut at = source;
        while at != destination {
            let known = self.nodes[at as usize].routing.route(now, NodeAddress::new(destination));
            let Some(next) = known.map(|route| route.next_hop.number()) else { break };
            let again = next == source || route.contains(&next);
            route.push(next);
            if again {
                break;
            }
            at = next;
        }
        route
    }

    /// Whether no packet vanished in an interface queue.
    pub fn is_conserved(&self) -> bool {
        self.medium.is_conserved()
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }
}
