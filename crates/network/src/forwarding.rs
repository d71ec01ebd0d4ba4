//! Nodes, their interfaces, and the tables by which they forward.
//!
//! A node has an interface for every link direction that begins at it, whether a transmitter of its own or the MAC of a
//! pair of wireless stations serves it. A packet for another node leaves by the interface that the node's table names for its destination.
//! Tables are filled with the shortest paths before the run, or by whoever routes during it.
//!
//! Where tables stay as they are, the way of every stream is read off them once, and a hop needs no look-up
//! ([`crate::Network`]); the packets take the same way to the nanosecond, which a test holds.

use std::collections::BTreeMap;

/// The nodes of a network.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    nodes: Vec<Node>,
    /// The node at the far end of each link direction.
    heads: Vec<u32>,
}

/// A node.
#[derive(Clone, Debug, Default)]
struct Node {
    /// The link directions that begin here.
    interfaces: Vec<u32>,
    /// By destination: the interface to leave by.
    table: BTreeMap<u32, u32>,
}

/// What a node does with a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// It is for this node.
    Deliver,
    /// It leaves by this link direction.
    Send(u32),
    /// The table knows no way.
    NoRoute,
}

impl Nodes {
    /// `count` nodes, joined by link directions from the first to the second of each pair.
    pub(crate) fn new(count: usize, directions: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut made = Self { nodes: vec![Node::default(); count], heads: Vec::new() };
        for (from, to) in directions {
            made.nodes[from].interfaces.push(made.heads.len() as u32);
            made.heads.push(to as u32);
        }
        made
    }

    /// The node at the far end of the link direction `pipe`.
    pub(crate) fn head(&self, pipe: u32) -> u32 {
        self.heads[pipe as usize]
    }

    /// From now on packets for `destination` leave `node` by its interface on the link direction `pipe`.
    pub(crate) fn set_route(&mut self, node: u32, destination: u32, pipe: u32) {
        let node = &mut self.nodes[node as usize];
        debug_assert!(node.interfaces.contains(&pipe), "the node has no such interface");
        node.table.insert(destination, pipe);
    }

    /// Fills the tables along `path`, which leads from `from` to `destination`.
    pub(crate) fn fill(&mut self, from: u32, destination: u32, path: &[u32]) {
        let mut node = from;
        for &pipe in path {
            self.set_route(node, destination, pipe);
            node = self.head(pipe);
        }
        debug_assert!(node == destination, "the path leads elsewhere");
    }

    /// What `node` does with a packet for `destination`.
    pub(crate) fn step(&self, node: u32, destination: u32) -> Step {
        if node == destination {
            return Step::Deliver;
        }
        self.nodes[node as usize].table.get(&destination).map_or(Step::NoRoute, |pipe| Step::Send(*pipe))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes 0 - 1 - 2 in a row and a way round by 3: link directions 0 to 3 forward, 4 onwards the way round.
    fn nodes() -> Nodes {
        Nodes::new(4, [(0, 1), (1, 2), (2, 1), (1, 0), (1, 3), (3, 2)].into_iter())
    }

    #[test]
    fn packets_go_node_by_node() {
        let mut nodes = nodes();
        nodes.fill(0, 2, &[0, 1]);
        assert_eq!(nodes.step(0, 2), Step::Send(0));
        assert_eq!(nodes.step(nodes.head(0), 2), Step::Send(1));
        assert_eq!(nodes.step(nodes.head(1), 2), Step::Deliver);
        assert_eq!(nodes.step(0, 3), Step::NoRoute);
    }

    #[test]
    fn a_table_can_change() {
        let mut nodes = nodes();
        nodes.fill(0, 2, &[0, 1]);
        nodes.fill(1, 2, &[4, 5]);
        assert_eq!((nodes.step(1, 2), nodes.step(3, 2)), (Step::Send(4), Step::Send(5)));
    }
}
