//! Who reaches whom, and the shortest paths over it.

use crate::NodeAddress;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A directed graph of nodes 0 to n - 1 with a cost on each link.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RoutingGraph {
    /// For each node, who it reaches and at what cost.
    links: Vec<Vec<(NodeAddress, u32)>>,
}

impl RoutingGraph {
    /// `nodes` nodes without a link.
    pub fn new(nodes: usize) -> Self {
        Self { links: vec![Vec::new(); nodes] }
    }

    /// Adds a link from one node to another. A cost of 0 counts as 1: paths over free links could be equal
    /// and cross.
    ///
    /// # Panics
    ///
    /// If a node is not one of the graph's.
    pub fn link(&mut self, from: NodeAddress, to: NodeAddress, cost: u32) {
        assert!((to.number() as usize) < self.links.len(), "node {to} is not in the graph");
        self.links[from.number() as usize].push((to, cost.max(1)));
    }

    /// Adds links of cost 1 in both directions.
    pub fn link_both(&mut self, a: NodeAddress, b: NodeAddress) {
        self.link(a, b, 1);
        self.link(b, a, 1);
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether it has no nodes.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// For each destination, the next hop and the number of hops of the shortest path from `source`; `None`
    /// where there is none. Of paths of one cost, the one with fewer hops; of those, the one whose next hop
    /// has the lowest number. Every next hop is nearer to the destination by this order, so following them
    /// ends there.
    pub fn next_hops_from(&self, source: NodeAddress) -> Vec<Option<(NodeAddress, u8)>> {
        let unreached = (u64::MAX, u32::MAX);
        let mut best = vec![unreached; self.links.len()];
        let mut first_hop = vec![NodeAddress::BROADCAST; self.links.len()];
        let start = source.number() as usize;
        let mut open = BinaryHeap::new();
        if start < best.len() {
            best[start] = (0, 0);
            open.push(Reverse(((0, 0), start)));
        }
        // Costs are at least 1, so a node's first hop is settled when the node is taken from the heap.
        while let Some(Reverse((known, node))) = open.pop() {
            if known > best[node] {
                continue;
            }
            for (to, cost) in &self.links[node] {
                let reached = to.number() as usize;
                let offer = (known.0 + u64::from(*cost), known.1 + 1);
                let through = if node == start { *to } else { first_hop[node] };
                if offer < best[reached] {
                    best[reached] = offer;
                    first_hop[reached] = through;
                    open.push(Reverse((offer, reached)));
                } else if offer == best[reached] {
                    first_hop[reached] = first_hop[reached].min(through);
                }
            }
        }
        let routes = best.iter().zip(&first_hop).enumerate().map(|(node, ((_, hops), next))| {
            let reached = node != start && !next.is_broadcast();
            reached.then_some((*next, u8::try_from(*hops).unwrap_or(u8::MAX)))
        });
        routes.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u32) -> NodeAddress {
        NodeAddress::new(number)
    }

    /// 0-1-2-3 and a direct but dear link 0-3.
    #[test]
    fn cost_decides_then_hops_then_the_lowest_number() {
        let mut graph = RoutingGraph::new(5);
        for (a, b) in [(0, 1), (1, 2), (2, 3)] {
            graph.link_both(node(a), node(b));
        }
        graph.link(node(0), node(3), 4);
        let from = |number| graph.next_hops_from(node(number));
        assert_eq!(from(0), [None, Some((node(1), 1)), Some((node(1), 2)), Some((node(1), 3)), None]);
        assert_eq!(from(1)[3], Some((node(2), 2)));
        assert_eq!(from(9), [None; 5]);
        graph.link(node(0), node(3), 3);
        assert_eq!(graph.next_hops_from(node(0))[3], Some((node(3), 1)), "of equal cost, fewer hops");
        let mut square = RoutingGraph::new(4);
        for (a, b) in [(0, 2), (0, 1), (2, 3), (1, 3)] {
            square.link_both(node(a), node(b));
        }
        assert_eq!(square.next_hops_from(node(0))[3], Some((node(1), 2)));
    }

    #[test]
    fn following_next_hops_ends_at_the_destination() {
        let mut draw = cogtcp_units::RandomStream::new(1, "topology", 0);
        for _ in 0..50 {
            let nodes = 12;
            let mut graph = RoutingGraph::new(nodes as usize);
            for _ in 0..30 {
                let (from, to) = (draw.below(nodes), draw.below(nodes));
                graph.link(node(from as u32), node(to as u32), draw.below(4) as u32);
            }
            let routes: Vec<_> = (0..nodes as u32).map(|from| graph.next_hops_from(node(from))).collect();
            for (from, to) in
                (0..nodes * nodes).map(|pair| ((pair / nodes) as usize, (pair % nodes) as usize))
            {
                let (mut at, mut steps) = (from, 0);
                while let Some((next, _)) = routes[at][to] {
                    (at, steps) = (next.number() as usize, steps + 1);
                    assert!(steps <= nodes, "a loop to {to}");
                }
                assert_eq!(at == to, from == to || routes[from][to].is_some());
            }
        }
    }
}
