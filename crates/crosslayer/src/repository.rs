//! What the layers of one node share: transmit power, channel, neighbours.

use crate::{Board, ChannelId, ReaderId};
use cogtcp_units::{Power, Time};
use std::collections::BTreeSet;

/// A value of a repository that changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SharedChange {
    /// The node sends with this power from now on.
    Power(Power),
    /// The node listens on this channel from now on.
    Channel(ChannelId),
    /// This node is a neighbour from now on.
    NeighborFound(u32),
    /// This node is no neighbour any more.
    NeighborLost(u32),
}

/// A change, with its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedEntry {
    /// When it changed.
    pub at: Time,
    /// What changed.
    pub change: SharedChange,
}

/// The cross-layer repository of one node (MSWiM 2009, section 4): what its PHY, MAC and network layer
/// share. Any layer reads the values; subscribers take each change once.
#[derive(Clone, Debug)]
pub struct Repository {
    power: Power,
    channel: ChannelId,
    neighbors: BTreeSet<u32>,
    changes: Board<SharedEntry>,
}

impl Repository {
    /// A repository without neighbours and subscribers.
    pub fn new(power: Power, channel: ChannelId) -> Self {
        Self { power, channel, neighbors: BTreeSet::new(), changes: Board::new() }
    }

    /// Transmit power of the node.
    pub fn power(&self) -> Power {
        self.power
    }

    /// The channel on which the node listens for data.
    pub fn channel(&self) -> ChannelId {
        self.channel
    }

    /// The node's neighbours, in ascending order.
    pub fn neighbors(&self) -> impl ExactSizeIterator<Item = u32> {
        self.neighbors.iter().copied()
    }

    /// Adds a subscriber, which sees changes from now on.
    pub fn subscribe(&mut self) -> ReaderId {
        self.changes.subscribe()
    }

    /// The oldest change that this subscriber has not taken.
    pub fn take(&mut self, reader: ReaderId) -> Option<SharedEntry> {
        self.changes.take(reader)
    }

    /// Writes the transmit power. Returns false if nothing changed.
    pub fn set_power(&mut self, at: Time, power: Power) -> bool {
        let is_new = std::mem::replace(&mut self.power, power) != power;
        self.publish(is_new, at, SharedChange::Power(power))
    }

    /// Writes the channel. Returns false if nothing changed.
    pub fn set_channel(&mut self, at: Time, channel: ChannelId) -> bool {
        let is_new = std::mem::replace(&mut self.channel, channel) != channel;
        self.publish(is_new, at, SharedChange::Channel(channel))
    }

    /// Adds a neighbour. Returns false if the node was one.
    pub fn add_neighbor(&mut self, at: Time, neighbor: u32) -> bool {
        let is_new = self.neighbors.insert(neighbor);
        self.publish(is_new, at, SharedChange::NeighborFound(neighbor))
    }

    /// Removes a neighbour. Returns false if the node was none.
    pub fn remove_neighbor(&mut self, at: Time, neighbor: u32) -> bool {
        let was_there = self.neighbors.remove(&neighbor);
        self.publish(was_there, at, SharedChange::NeighborLost(neighbor))
    }

    fn publish(&mut self, has_changed: bool, at: Time, change: SharedChange) -> bool {
        if has_changed {
            self.changes.publish(SharedEntry { at, change });
        }
        has_changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_by_all_and_changes_taken_once_by_each_subscriber() {
        let (low, high) = (Power::from_watts(0.1), Power::from_watts(0.2));
        let mut shared = Repository::new(low, ChannelId(1));
        let (mac, routing) = (shared.subscribe(), shared.subscribe());
        let at = Time::from_millis(5);
        assert!(!shared.set_power(at, low) && !shared.set_channel(at, ChannelId(1)));
        assert!(!shared.remove_neighbor(at, 7));
        assert_eq!(shared.take(mac), None, "what stays is no news");
        assert!(shared.set_power(at, high) && shared.set_channel(at, ChannelId(2)));
        assert!(shared.add_neighbor(at, 7) && !shared.add_neighbor(at, 7));
        assert_eq!((shared.power(), shared.channel()), (high, ChannelId(2)));
        assert!(shared.neighbors().eq([7]));
        assert!(shared.remove_neighbor(at, 7));
        for reader in [mac, routing] {
            let taken: Vec<_> =
                std::iter::from_fn(|| shared.take(reader)).map(|entry| entry.change).collect();
            let expected = [
                SharedChange::Power(high),
                SharedChange::Channel(ChannelId(2)),
                SharedChange::NeighborFound(7),
                SharedChange::NeighborLost(7),
            ];
            assert_eq!(taken, expected);
        }
    }
}
