//! Names of nodes and channels.

/// The address of a node. The creator of the network numbers nodes from 0.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeAddress(u32);

impl NodeAddress {
    /// All nodes that hear the sender (255.255.255.255 of IP).
    pub const BROADCAST: Self = Self(u32::MAX);

    /// The node of this number. `u32::MAX` is [`NodeAddress::BROADCAST`].
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The node's number.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Whether it stands for all nodes in range.
    pub const fn is_broadcast(self) -> bool {
        self.0 == u32::MAX
    }
}

impl std::fmt::Display for NodeAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_broadcast() { f.write_str("broadcast") } else { write!(f, "{}", self.0) }
    }
}

/// A channel by its number, as the host numbers its channels.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ChannelNumber(pub u32);
