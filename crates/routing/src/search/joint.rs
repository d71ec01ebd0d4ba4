//! The joint choice of path and channel at the destination.

use crate::{ChannelNumber, NodeAddress};
use cogtcp_units::{Duration, Time};

/// The path that a request found over one channel: its nodes from the source to the destination, with the
/// time at each.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelPath {
    /// The channel.
    pub channel: ChannelNumber,
    /// The nodes and when the request was there.
    pub nodes: Vec<(NodeAddress, Time)>,
}

impl ChannelPath {
    /// Latency from its node number `index` to the destination.
    fn remaining(&self, index: usize) -> Duration {
        let end = self.nodes.last().map_or(Time::ZERO, |(_, time)| *time);
        end.saturating_since(self.nodes[index].1)
    }
}

/// One hop of a joint path.
#[derive(Clone, Copy)]
struct Hop {
    node: NodeAddress,
    channel: ChannelNumber,
    latency: Duration,
}

/// The path of least latency that the destination finds (SEARCH, section 4.2). It begins with the
/// single-channel path of least latency; ties go to the lowest channel. Where the path of another channel
/// crosses one of its nodes, it continues on that path if this saves more than the time of switching
/// channels. It repeats this until nothing is saved.
///
/// Returns the nodes, each with the channel of its next hop; the destination with the channel of its last
/// hop. Empty without paths.
pub fn joint_path(paths: &[ChannelPath], switching: Duration) -> Vec<(NodeAddress, ChannelNumber)> {
    let usable = paths.iter().filter(|path| path.nodes.len() > 1);
    let Some(first) = usable.min_by_key(|path| (path.remaining(0), path.channel)) else { return Vec::new() };
    let mut hops = hops(first, 0);
    // Every turn of the loop saves latency, of which there are finitely many sums.
    while let Some((at, better)) = shortcut(&hops, paths, switching) {
        hops.truncate(at);
        hops.extend(better);
    }
    let last = hops.last().map_or(first.channel, |hop| hop.channel);
    let mut path: Vec<_> = hops.iter().map(|hop| (hop.node, hop.channel)).collect();
    path.extend(first.nodes.last().map(|(destination, _)| (*destination, last)));
    path
}

/// The hops of a path from its node number `index` on.
fn hops(path: &ChannelPath, index: usize) -> Vec<Hop> {
    let legs = path.nodes[index..].windows(2);
    legs.map(|leg| Hop {
        node: leg[0].0,
        channel: path.channel,
        latency: leg[1].1.saturating_since(leg[0].1),
    })
    .collect()
}

/// The first place at which going on over another path saves latency, with the hops of that.
fn shortcut(current: &[Hop], paths: &[ChannelPath], switching: Duration) -> Option<(usize, Vec<Hop>)> {
    for (at, hop) in current.iter().enumerate() {
        let rest: Duration = current[at..].iter().map(|hop| hop.latency).sum();
        let switches = current[at..].windows(2).filter(|pair| pair[0].channel != pair[1].channel).count();
        let arrives_on = at.checked_sub(1).map(|before| current[before].channel);
        let entering = |channel| u64::from(arrives_on.is_some_and(|before| before != channel));
        let now = rest + switching * (switches as u64 + entering(hop.channel));
        for other in paths.iter().filter(|path| path.channel != hop.channel) {
            let Some(index) = other.nodes.iter().position(|(node, _)| *node == hop.node) else { continue };
            // The other path has one channel: it switches at most once, to enter it.
            let then = other.remaining(index) + switching * entering(other.channel);
            let rejoined = hops(other, index);
            // No node twice on a path.
            let crosses =
                rejoined.iter().any(|hop| current[..at].iter().any(|before| before.node == hop.node));
            if then < now && !crosses && !rejoined.is_empty() {
                return Some((at, rejoined));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path over `channel` through (node, ms).
    fn path(channel: u32, nodes: &[(u32, u64)]) -> ChannelPath {
        let nodes =
            nodes.iter().map(|(node, ms)| (NodeAddress::new(*node), Time::from_millis(*ms))).collect();
        ChannelPath { channel: ChannelNumber(channel), nodes }
    }

    fn joint(paths: &[ChannelPath], switching_ms: u64) -> Vec<(u32, u32)> {
        let path = joint_path(paths, Duration::from_millis(switching_ms));
        path.iter().map(|(node, channel)| (node.number(), channel.0)).collect()
    }

    #[test]
    fn a_single_path_is_taken_as_it_is() {
        assert_eq!(joint(&[path(1, &[(0, 0), (5, 10), (9, 30)])], 1), [(0, 1), (5, 1), (9, 1)]);
        assert!(joint(&[], 1).is_empty());
        let two = [path(2, &[(0, 0), (9, 10)]), path(1, &[(0, 0), (4, 5), (9, 10)])];
        assert_eq!(joint(&two, 1), [(0, 1), (4, 1), (9, 1)], "of equal latency the lower channel");
    }

    /// Channel 1 takes 10 ms to node 5 and 30 ms from there, channel 2 takes 35 and 10: together 20 ms and a
    /// switch.
    #[test]
    fn it_switches_where_that_saves_more_than_switching_takes() {
        let two = [path(1, &[(0, 0), (5, 10), (9, 40)]), path(2, &[(0, 0), (5, 35), (9, 45)])];
        assert_eq!(joint(&two, 5), [(0, 1), (5, 2), (9, 2)]);
        // 30 ms against 10 + 20: nothing saved.
        assert_eq!(joint(&two, 20), [(0, 1), (5, 1), (9, 1)]);
        assert_eq!(joint(&two, 19), [(0, 1), (5, 2), (9, 2)]);
    }

    /// A detour of another channel may lead back to where the path comes from: that is no shortcut.
    #[test]
    fn a_node_comes_once() {
        let two =
            [path(1, &[(0, 0), (4, 10), (5, 20), (9, 60)]), path(2, &[(0, 0), (5, 90), (4, 100), (9, 101)])];
        let joined = joint(&two, 1);
        assert_eq!(joined, [(0, 1), (4, 2), (9, 2)]);
        let two =
            [path(1, &[(0, 0), (4, 1), (5, 2), (9, 62)]), path(2, &[(0, 0), (5, 90), (4, 91), (9, 152)])];
        assert_eq!(joint(&two, 1), [(0, 1), (4, 1), (5, 1), (9, 1)]);
    }
}
