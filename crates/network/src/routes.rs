//! Shortest routes, computed once before the run.
//!
//! A route crosses an ad hoc network only if no links lead to the destination. The route with the least
//! summed propagation delay wins, then the route with the fewest links. Then names decide: at each node
//! counted from the destination, the previous node whose name comes first, then the link whose name comes
//! first. Each direction of a flow is routed by the delays of its own direction.

use cogtcp_layout::NetworkSpec;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// A hop of a route.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hop {
    /// Over a link direction: `2 * link` is a link's forward direction, `2 * link + 1` its reverse.
    Link(u32),
    /// Over an ad hoc network, from its first of these nodes to its second: which nodes pass the packet on is
    /// found while the run goes on.
    Air((u32, u32)),
}

/// There is no route between two nodes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoRoute {
    /// The node that sends.
    pub from: usize,
    /// The node that it sends to.
    pub to: usize,
}

/// Finds routes in a layout's graph, alike under every clock.
///
/// Nodes of an ad hoc network reach each other by one hop over the air, which costs more than any route over
/// links. So a route crosses the air only if it must, by the gateway with the least delay behind it.
#[derive(Debug)]
pub struct Routes<'a> {
    layout: &'a NetworkSpec,
    /// How many nodes are on the air; they come first.
    on_air: usize,
    /// Outgoing (hop, next node) of every node; the air is a node of its own, the last, if there is one.
    outgoing: Vec<Vec<(u32, usize)>>,
    /// Shortest-path trees by their root, found so far.
    trees: BTreeMap<usize, Vec<Option<Reached>>>,
}

/// The hop between a node and the air.
const AIR: u32 = u32::MAX;

/// How a node is reached from the root of a tree.
#[derive(Clone, Copy, Debug)]
struct Reached {
    /// Hops to or from the air.
    air: u32,
    delay: u64,
    hops: u32,
    /// The link direction by which, and the node before; the root has itself.
    direction: u32,
    previous: usize,
}

impl<'a> Routes<'a> {
    /// Of the graph of `layout`; nothing is searched yet.
    pub fn new(layout: &'a NetworkSpec) -> Self {
        let nodes = layout.nodes.len();
        let on_air = layout.adhoc.as_ref().map_or(0, |spec| spec.nodes);
        let mut outgoing = vec![Vec::new(); nodes + usize::from(on_air > 0)];
        for (number, link) in layout.links.iter().enumerate() {
            outgoing[link.from].push((2 * number as u32, link.to));
            outgoing[link.to].push((2 * number as u32 + 1, link.from));
        }
        for node in 0..on_air {
            outgoing[node].push((AIR, nodes));
            outgoing[nodes].push((AIR, node));
        }
        Self { layout, on_air, outgoing, trees: BTreeMap::new() }
    }

    /// The hops from node `from` to node `to`; `None` when there is no route.
    pub fn find(&mut self, from: usize, to: usize) -> Option<Vec<Hop>> {
        // One hop: on the way the routing protocol decides, not this table.
        if from.max(to) < self.on_air {
            return Some(vec![Hop::Air((from as u32, to as u32))]);
        }
        let mut route = Vec::new();
        let mut node = from;
        let mut boarded = None;
        for (direction, next) in self.steps(from, to)? {
            match (direction, boarded) {
                (AIR, None) => boarded = Some(node as u32),
                (AIR, Some(first)) => {
                    route.push(Hop::Air((first, next as u32)));
                    boarded = None;
                }
                _ => route.push(Hop::Link(direction)),
            }
            node = next;
        }
        Some(route)
    }

    /// The link directions from node `from` to node `to`, and the node behind each.
    fn steps(&mut self, from: usize, to: usize) -> Option<Vec<(u32, usize)>> {
        // Hosts hang on one link: searching from the router behind it shares one tree among all of them.
        let mut route = Vec::new();
        let mut root = from;
        if let [(direction, next)] = self.outgoing[from][..]
            && from != to
        {
            route.push((direction, next));
            root = next;
        }
        if !self.trees.contains_key(&root) {
            let tree = self.tree(root);
            self.trees.insert(root, tree);
        }
        let tree = &self.trees[&root];
        let mut tail = Vec::new();
        let mut node = to;
        while node != root {
            let reached = tree[node]?;
            tail.push((reached.direction, node));
            node = reached.previous;
        }
        route.extend(tail.into_iter().rev());
        Some(route)
    }

    /// Dijkstra's algorithm from `root`.
    fn tree(&self, root: usize) -> Vec<Option<Reached>> {
        let mut tree: Vec<Option<Reached>> = vec![None; self.outgoing.len()];
        let mut done = vec![false; self.outgoing.len()];
        let mut frontier = BinaryHeap::new();
        tree[root] = Some(Reached { air: 0, delay: 0, hops: 0, direction: 0, previous: root });
        frontier.push(Reverse((0u32, 0u64, 0u32, root)));
        while let Some(Reverse((air, delay, hops, node))) = frontier.pop() {
            if std::mem::replace(&mut done[node], true) {
                continue;
            }
            for &(direction, next) in &self.outgoing[node] {
                let candidate = Reached {
                    air: air + u32::from(direction == AIR),
                    // Delays near the end of time must not wrap to the shortest route.
                    delay: delay.saturating_add(self.delay(direction)),
                    hops: hops + 1,
                    direction,
                    previous: node,
                };
                let better = match &tree[next] {
                    None => true,
                    Some(known) => self.rank(&candidate) < self.rank(known),
                };
                // A node may lie in the frontier several times, once for each better route; the first to come
                // out is the best.
                if !done[next] && better {
                    tree[next] = Some(candidate);
                    frontier.push(Reverse((candidate.air, candidate.delay, candidate.hops, next)));
                }
            }
        }
        tree
    }

    fn rank<'b>(&'b self, reached: &Reached) -> (u32, u64, u32, &'b str, &'b str) {
        let nodes = &self.layout.nodes;
        let previous = nodes.get(reached.previous).map_or("", String::as_str);
        let link =
            self.layout.links.get(reached.direction as usize / 2).map_or("", |link| link.name.as_str());
        (reached.air, reached.delay, reached.hops, previous, link)
    }

    fn delay(&self, direction: u32) -> u64 {
        // The air's hop has no link and no delay: `air` counts it before all delays.
        let Some(link) = self.layout.links.get(direction as usize / 2) else { return 0 };
        let spec = if direction.is_multiple_of(2) { &link.forward } else { &link.reverse };
        spec.delay.as_nanos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_layout::{LinkDirectionSpec, LinkSpec};
    use cogtcp_link::{QueueLimit, QueueSpec};
    use cogtcp_units::{Duration, Probability, RandomStream, Rate};

    fn layout(nodes: &[&str], links: &[(&str, usize, usize, u64)]) -> NetworkSpec {
        let direction = |delay| LinkDirectionSpec {
            rate: Rate::from_bits_per_second(1_000_000),
            delay: Duration::from_millis(delay),
            queue: QueueSpec::DropTail(QueueLimit::Packets(10)),
            loss: Probability::ZERO,
            loss_run: None,
            drops: Vec::new(),
            mark: None,
            trace: None,
        };
        NetworkSpec {
            nodes: nodes.iter().map(|name| (*name).to_owned()).collect(),
            links: links
                .iter()
                .map(|&(name, from, to, delay)| LinkSpec {
                    name: name.to_owned(),
                    from,
                    to,
                    forward: direction(delay),
                    reverse: direction(delay),
                })
                .collect(),
            ..NetworkSpec::default()
        }
    }

    /// The link directions of a route that is all links.
    fn wired(routes: &mut Routes<'_>, from: usize, to: usize) -> Option<Vec<u32>> {
        let direction = |hop| if let Hop::Link(direction) = hop { direction } else { panic!("{hop:?}") };
        routes.find(from, to).map(|route| route.into_iter().map(direction).collect())
    }

    #[test]
    fn least_delay_wins_over_fewest_links() {
        let graph = layout(&["a", "b", "c"], &[("ab", 0, 1, 10), ("bc", 1, 2, 10), ("ac", 0, 2, 30)]);
        let mut routes = Routes::new(&graph);
        assert_eq!(wired(&mut routes, 0, 2), Some(vec![0, 2]));
        assert_eq!(wired(&mut routes, 2, 0), Some(vec![3, 1]));
        assert_eq!(wired(&mut routes, 1, 0), Some(vec![1]));
        assert_eq!(wired(&mut routes, 1, 1), Some(vec![]));
    }

    #[test]
    fn fewest_links_win_among_equal_delays() {
        let graph = layout(&["a", "b", "c"], &[("ab", 0, 1, 10), ("bc", 1, 2, 10), ("ac", 0, 2, 20)]);
        assert_eq!(wired(&mut Routes::new(&graph), 0, 2), Some(vec![4]));
    }

    /// Two equal routes, by "x" and by "m": the node's name decides, not the order of the links; of two
    /// parallel links the link's name.
    #[test]
    fn names_decide_among_equals() {
        let links = [("1", 0, 1, 10), ("2", 1, 3, 10), ("3", 0, 2, 10), ("5", 2, 3, 10), ("4", 2, 3, 10)];
        let graph = layout(&["a", "x", "m", "z"], &links);
        assert_eq!(wired(&mut Routes::new(&graph), 0, 3), Some(vec![4, 8]));
    }

    #[test]
    fn hosts_on_one_link_are_routed_through_it() {
        let graph = layout(&["s", "r1", "r2", "d"], &[("in", 0, 1, 5), ("core", 1, 2, 40), ("out", 2, 3, 5)]);
        let mut routes = Routes::new(&graph);
        assert_eq!(wired(&mut routes, 0, 3), Some(vec![0, 2, 4]));
        assert_eq!(wired(&mut routes, 3, 0), Some(vec![5, 3, 1]));
        let pair = layout(&["s", "d"], &[("link", 0, 1, 5)]);
        assert_eq!(wired(&mut Routes::new(&pair), 0, 1), Some(vec![0]));
    }

    #[test]
    fn unreachable_nodes_have_no_path() {
        let graph = layout(&["a", "b", "c", "d"], &[("ab", 0, 1, 1), ("cd", 2, 3, 1)]);
        assert_eq!(wired(&mut Routes::new(&graph), 0, 3), None);
    }

    /// Random graphs against Bellman-Ford: the delay of the route is the least there is.
    #[test]
    fn agrees_with_relaxation_on_random_graphs() {
        for seed in 0..50 {
            let mut stream = RandomStream::new(seed, "routes", 0);
            let names: Vec<String> = (0..8).map(|n| format!("n{n}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut links = Vec::new();
            for _ in 0..11 {
                let (a, b) = (stream.below(8) as usize, stream.below(8) as usize);
                if a != b {
                    links.push(("l", a, b, 1 + stream.below(9)));
                }
            }
            let graph = layout(&names, &links);
            let mut routes = Routes::new(&graph);
            for from in 0..8 {
                let mut least = [u64::MAX; 8];
                least[from] = 0;
                for _ in 0..8 {
                    for &(_, a, b, delay) in &links {
                        least[a] = least[a].min(least[b].saturating_add(delay));
                        least[b] = least[b].min(least[a].saturating_add(delay));
                    }
                }
                for (to, least) in least.into_iter().enumerate() {
                    let route = wired(&mut routes, from, to);
                    let sum = route.map(|route| {
                        route.iter().map(|direction| links[*direction as usize / 2].3).sum::<u64>()
                    });
                    assert_eq!(sum, (least < u64::MAX).then_some(least), "seed {seed}: {from} to {to}");
                }
            }
        }
    }
}
