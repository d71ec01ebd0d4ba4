//! The trait of every routing protocol, and what passes between a protocol and its host.

use crate::message::{MessageKind, RoutingPacket};
use crate::{ChannelNumber, NodeAddress, RoutingGraph};
use cogtcp_units::{Duration, Position, Time};
use std::sync::Arc;

/// The routing protocol of one node: a state machine without a clock.
///
/// # What the host must do
///
/// 1. Call [`Routing::start`] once, then [`Routing::handle_timeout`] whenever [`Routing::poll_timeout`] is
///    reached.
/// 2. Ask [`Routing::forward`] for every data packet that the node originates or forwards (not for those that
///    it is the destination of), and do what the answer says. Packets to be held wait in the host's
///    [`crate::PacketBuffer`].
/// 3. Give every [`RoutingPacket`] that arrives for this node or for all to [`Routing::handle_message`].
/// 4. Tell [`Routing::handle_link_failure`] when the MAC gives a frame to a neighbour up, and do what it says
///    with the packet. The protocol then says itself, by [`Routing::forward`], what becomes of other packets
///    for that neighbour in the interface queue.
/// 5. Pass on what it knows of radio, places and spectrum by [`Routing::handle_host_update`]; each protocol
///    lists what it needs.
/// 6. After each of these calls, and not between, drain [`Routing::poll_transmit`] and
///    [`Routing::poll_event`]. On [`RoutingEvent::RouteFound`] it takes the destination's packets out of its
///    buffer and asks [`Routing::forward`] again for each; on [`RoutingEvent::DiscoveryFailed`] it drops
///    them.
///
/// Time never runs backwards between calls. The same calls give the same results, and nothing depends on
/// anything else.
pub trait Routing: std::fmt::Debug + Send {
    /// The name in scenarios.
    fn name(&self) -> &'static str;

    /// The node whose protocol this is.
    fn address(&self) -> NodeAddress;

    /// Begins.
    fn start(&mut self, now: Time);

    /// Says what becomes of a data packet, and takes note that its route is used.
    fn forward(&mut self, now: Time, packet: DataPacket) -> Forwarding;

    /// Takes in a packet of the protocol from a neighbour.
    fn handle_message(&mut self, now: Time, packet: &RoutingPacket);

    /// Whether [`handle_message`](Self::handle_message) would change nothing and nothing is due: a host may
    /// leave out the call, and what follows a call. So it is with most of what a flood brings, the copies of
    /// a request by each neighbour. `false` is never wrong.
    fn is_copy(&self, now: Time, packet: &RoutingPacket) -> bool {
        let _ = (now, packet);
        false
    }

    /// This packet will come soon: asks for the memory that it will touch. For speed alone.
    fn prefetch(&self, packet: &RoutingPacket) {
        let _ = packet;
    }

    /// The MAC did not get a frame through to `neighbor`. Says what becomes of a data packet; of a packet of
    /// the protocol the answer is of no account.
    fn handle_link_failure(&mut self, now: Time, neighbor: NodeAddress, lost: LostPacket<'_>)
    -> AfterFailure;

    /// Takes in what the host knows. What a protocol has no use for it ignores.
    fn handle_host_update(&mut self, _now: Time, _update: HostUpdate) {}

    /// Does what is due.
    fn handle_timeout(&mut self, now: Time);

    /// When [`Routing::handle_timeout`] wants to be called, or [`Routing::poll_transmit`] has something;
    /// [`Time::MAX`]: never.
    fn poll_timeout(&self) -> Time;

    /// The next packet to transmit now.
    fn poll_transmit(&mut self, now: Time) -> Option<RoutingPacket>;

    /// The next thing that happened.
    fn poll_event(&mut self) -> Option<RoutingEvent>;

    /// The route to `destination` that a data packet would take now, without using it.
    fn route(&self, now: Time, destination: NodeAddress) -> Option<RouteInfo>;

    /// What was sent so far.
    fn stats(&self) -> &RoutingStats;
}

/// What a protocol sees of a data packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DataPacket {
    /// The node that sent it.
    pub source: NodeAddress,
    /// The node that it is for.
    pub destination: NodeAddress,
    /// The neighbour that it came from; `None`: it begins here.
    pub previous_hop: Option<NodeAddress>,
    /// Hops that it has taken.
    pub hops: u8,
}

/// What becomes of a data packet that the MAC gave up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub enum AfterFailure {
    /// The link is broken and the packet lost. The host asks again for each other packet that waits for the
    /// neighbour, or drops it.
    Lost,
    /// It waits in the host's buffer while its route is mended. The others for the neighbour stay where they
    /// are.
    Hold,
}

/// What becomes of a data packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Forwarding {
    /// It goes to a neighbour.
    Send {
        /// The neighbour.
        next_hop: NodeAddress,
        /// The channel that the neighbour listens on, if the protocol knows; `None`: the host finds out.
        channel: Option<ChannelNumber>,
    },
    /// It waits in the host's buffer until [`RoutingEvent::RouteFound`] or [`RoutingEvent::DiscoveryFailed`].
    Hold,
    /// It is for this node.
    Deliver,
    /// It is dropped.
    Drop(RoutingDropCause),
}

/// Why a protocol drops a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RoutingDropCause {
    /// An intermediate node without a route.
    NoRoute,
    /// It came back to its source.
    Loop,
}

/// What a failed frame carried.
#[derive(Clone, Copy, Debug)]
pub enum LostPacket<'a> {
    /// A data packet.
    Data(DataPacket),
    /// A packet of the protocol.
    Routing(&'a RoutingPacket),
}

/// What a host tells its routing protocol about radio, positions and spectrum.
#[derive(Clone, Debug)]
pub enum HostUpdate {
    /// Who reaches whom, for [`crate::StaticRouting`].
    Topology(Arc<RoutingGraph>),
    /// Where this node is now.
    Position(Position),
    /// Where another node is, by a location service; the reply to [`RoutingEvent::LocationWanted`].
    Location {
        /// The node.
        node: NodeAddress,
        /// Its place.
        position: Position,
    },
    /// This node's receiver moved to a channel (spectrum handoff, or at the start).
    Handoff {
        /// The channel from now on.
        channel: ChannelNumber,
    },
    /// Another node's receiver is on this channel: learned at no cost, as from the shared repository of the
    /// released code.
    NeighborChannel {
        /// The neighbour.
        neighbor: NodeAddress,
        /// Its channel.
        channel: ChannelNumber,
    },
    /// This node's transmit power changed, and its range with it.
    Power,
    /// A node does not reach this one any more: its power fell.
    NeighborLost {
        /// The node.
        neighbor: NodeAddress,
    },
    /// A primary user was found on a channel here, or is gone from it.
    PrimaryUser {
        /// The channel.
        channel: ChannelNumber,
        /// Whether it is there.
        active: bool,
    },
}

/// A route as it stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RouteInfo {
    /// The neighbour to send to.
    pub next_hop: NodeAddress,
    /// Hops to the destination.
    pub hops: u8,
    /// The channel of the next hop, if the protocol knows.
    pub channel: Option<ChannelNumber>,
}

/// What happened in a protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RoutingEvent {
    /// A search for a route began.
    DiscoveryStarted {
        /// The node sought.
        destination: NodeAddress,
    },
    /// A request of this node was queued.
    RequestSent {
        /// The node sought.
        destination: NodeAddress,
        /// How far the request goes, hops.
        ttl: u8,
    },
    /// A search ended with a route; what was held for the destination can go.
    RouteFound {
        /// The node sought.
        destination: NodeAddress,
        /// Hops to it.
        hops: u8,
        /// From the beginning of the search to now.
        took: Duration,
    },
    /// A search ended without a route; what was held for the destination is to be dropped.
    DiscoveryFailed {
        /// The node sought.
        destination: NodeAddress,
    },
    /// A route that data takes moved to another next hop.
    RouteChanged {
        /// The destination.
        destination: NodeAddress,
        /// The next hop before.
        from: NodeAddress,
        /// The next hop from now on.
        to: NodeAddress,
    },
    /// A route that data took ended.
    RouteLost {
        /// The destination.
        destination: NodeAddress,
        /// Why.
        cause: LossCause,
    },
    /// The protocol needs to know where a node is: tell it by [`HostUpdate::Location`].
    LocationWanted {
        /// The node.
        node: NodeAddress,
    },
    /// A neighbour says that routes through it are gone: what waits for it is treated as after a failed link.
    NeighborGone {
        /// The neighbour.
        neighbor: NodeAddress,
    },
    /// The protocol wants this node's receiver on another channel.
    ChannelWanted {
        /// The channel.
        channel: ChannelNumber,
    },
}

/// Why a route ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LossCause {
    /// It was not used for its lifetime.
    Expired,
    /// The link to its next hop broke.
    LinkBroken,
    /// The next hop said so.
    ErrorReceived,
    /// A primary user came.
    PrimaryUser,
}

cogtcp_units::counts! {
    /// Counts of one node, from the start.
    pub struct RoutingStats {
        /// Packets transmitted by kind, in the order of [`MessageKind::ALL`].
        pub messages: [u64; MessageKind::ALL.len()],
        /// Octets of all packets transmitted, with network and transport headers.
        pub bytes: u64,
        /// Searches begun.
        pub discoveries: u64,
        /// Searches that found a route.
        pub found: u64,
        /// Searches that failed.
        pub failed: u64,
        /// Messages withheld by a rate limit: requests are put off, errors are not sent.
        pub limited: u64,
    }
}

impl RoutingStats {
    /// Packets transmitted, of all kinds.
    pub fn packets(&self) -> u64 {
        self.messages.iter().sum()
    }

    /// Packets transmitted of one kind.
    pub fn of(&self, kind: MessageKind) -> u64 {
        self.messages[kind as usize]
    }

    pub(crate) fn count(&mut self, packet: &RoutingPacket) {
        self.messages[packet.message.kind() as usize] += 1;
        self.bytes += u64::from(packet.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_added_and_taken_away_each_by_itself() {
        let messages = std::array::from_fn(|kind| kind as u64 + 1);
        let one = RoutingStats { messages, bytes: 20, discoveries: 21, found: 22, failed: 23, limited: 24 };
        let mut sum = RoutingStats::default();
        sum.add(&one);
        assert_eq!(sum, one);
        sum.add(&one);
        assert_eq!((sum.messages[1], sum.bytes, sum.limited), (4, 40, 48));
        assert_eq!(sum.since(&one), one);
    }
}
