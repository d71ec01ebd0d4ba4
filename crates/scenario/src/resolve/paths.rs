//! The paths of a flow: for each link that the flow names, the route of least delay over this link.

use super::Findings;
use super::network::ResolvedNetwork;
use crate::experiment::PathSpec;
use crate::tree::KeyPath;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Most paths of a flow.
const MOST_PATHS: usize = cogtcp_multipath::MOST_PATHS;

/// The paths over `links` from node `from` to node `to`; `None`: something is wrong, and found.
pub(super) fn resolve(
    links: &[String],
    (from, to): (usize, usize),
    network: &ResolvedNetwork,
    path: &KeyPath,
    findings: &mut Findings,
) -> Option<Vec<PathSpec>> {
    if links.len() > MOST_PATHS {
        let message = format!("there are {} paths", links.len());
        findings.error(path, message, format!("write at most {MOST_PATHS}"));
        return None;
    }
    let mut paths: Vec<PathSpec> = Vec::with_capacity(links.len());
    for (i, name) in links.iter().enumerate() {
        let at = path.index(i);
        let link = network.link(name, &at, findings)?;
        let Some(directions) = route(network, from, to, link) else {
            let (from, to) = (&network.nodes[from], &network.nodes[to]);
            findings.error(
                &at,
                format!("no route from \"{from}\" to \"{to}\" leads over the link \"{name}\""),
                "name a link that a route crosses, once",
            );
            return None;
        };
        if let Some(same) = paths.iter().find(|path| path.directions == directions) {
            let other = &network.links[same.link].name;
            findings.error(
                &at,
                format!("the path over \"{name}\" is the path over \"{other}\""),
                "name a link that only one of the paths crosses",
            );
            return None;
        }
        paths.push(PathSpec { link, directions });
    }
    Some(paths)
}

/// The route over `link` that visits no node twice; of the two directions over the link the one of less
/// delay.
fn route(network: &ResolvedNetwork, from: usize, to: usize, link: usize) -> Option<Vec<u32>> {
    let spec = &network.links[link];
    let forward = (2 * link as u32, spec.from, spec.to);
    let candidates = [forward, (forward.0 + 1, spec.to, spec.from)].map(|(direction, enters, leaves)| {
        let mut visited = vec![false; network.nodes.len()];
        // The way to the link must not cross it, or come to its far end.
        visited[leaves] = true;
        let mut directions = shortest(network, from, enters, &visited)?;
        // The way on must not touch a node of the way so far.
        visited[from] = true;
        visited[enters] = true;
        directions.iter().for_each(|direction| visited[end_of(network, *direction)] = true);
        visited[leaves] = false;
        let rest = shortest(network, leaves, to, &visited)?;
        directions.push(direction);
        directions.extend(rest);
        Some((directions.iter().map(|direction| delay(network, *direction)).sum::<u64>(), directions))
    });
    candidates.into_iter().flatten().min().map(|(_, directions)| directions)
}

/// Dijkstra's algorithm around the nodes that are `closed`. Among equals the links' order in the scenario
/// decides.
pub(super) fn shortest(
    network: &ResolvedNetwork,
    from: usize,
    to: usize,
    closed: &[bool],
) -> Option<Vec<u32>> {
    if closed[from] || closed[to] {
        return None;
    }
    let mut reached: Vec<Option<(u64, u32)>> = vec![None; network.nodes.len()];
    let mut frontier = BinaryHeap::from([Reverse((0, from))]);
    while let Some(Reverse((spent, node))) = frontier.pop() {
        if node == to {
            break;
        }
        // A better way to this node was found after the entry had been pushed.
        if reached[node].is_some_and(|(best, _)| best < spent) {
            continue;
        }
        for (number, link) in (0..).zip(&network.links) {
            for (direction, start, end) in
                [(2 * number, link.from, link.to), (2 * number + 1, link.to, link.from)]
            {
                let sum = spent.saturating_add(delay(network, direction));
                let is_better = reached[end].is_none_or(|(best, _)| sum < best);
                // Strictly better only: of equals the first link in the scenario stays.
                if start == node && end != from && !closed[end] && is_better {
                    reached[end] = Some((sum, direction));
                    frontier.push(Reverse((sum, end)));
                }
            }
        }
    }
    let mut directions = Vec::new();
    let mut node = to;
    while node != from {
        let (_, direction) = reached[node]?;
        directions.push(direction);
        node = end_of(network, direction ^ 1);
    }
    directions.reverse();
    Some(directions)
}

/// The node where a link direction ends.
fn end_of(network: &ResolvedNetwork, direction: u32) -> usize {
    let link = &network.links[direction as usize / 2];
    if direction.is_multiple_of(2) { link.to } else { link.from }
}

fn delay(network: &ResolvedNetwork, direction: u32) -> u64 {
    let link = &network.links[direction as usize / 2];
    let spec = if direction.is_multiple_of(2) { &link.forward } else { &link.reverse };
    spec.delay.as_nanos()
}
