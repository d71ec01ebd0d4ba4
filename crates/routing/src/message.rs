//! What routing protocols say to each other, with the sizes on the wire.

use crate::{ChannelNumber, NodeAddress};
use cogtcp_units::Duration;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// Octets of the IPv4 header.
const IP_HEADER: u32 = 20;
/// Octets of the UDP header.
const UDP_HEADER: u32 = 8;

/// A routing packet on its one hop from one node to a neighbour or to all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutingPacket {
    /// The node that transmits it on this hop.
    pub from: NodeAddress,
    /// The neighbour that it is for, or [`NodeAddress::BROADCAST`].
    pub to: NodeAddress,
    /// Time to live in hops as it is transmitted: 1 is not forwarded.
    pub ttl: u8,
    /// The channel to transmit it on; `None`: the host's own (a common control channel, or the only one).
    pub channel: Option<ChannelNumber>,
    /// Size with its network and transport headers, octets.
    pub bytes: u32,
    /// What it says.
    pub message: RoutingMessage,
}

/// The messages of all protocols.
#[derive(Clone, Debug, PartialEq)]
pub enum RoutingMessage {
    /// AODV: route request.
    Request(RouteRequest),
    /// AODV: route reply.
    Reply(RouteReply),
    /// AODV: route error.
    Error(RouteError),
    /// AODV: acknowledgement of a reply.
    ReplyAck,
    /// AODV: hello, a reply about its sender that goes one hop.
    Hello(Hello),
    /// A message that another protocol brings.
    Own(OwnMessage),
}

/// What hosts need to know of a message that a protocol brings; only the protocol reads it.
pub trait ProtocolMessage: Comparable + Any + Debug + Send + Sync {
    /// Octets behind the network and transport headers.
    fn body_bytes(&self) -> u32;

    /// The kind that statistics count it as.
    fn kind(&self) -> MessageKind;
}

/// Comparison with a value of any type.
pub trait Comparable {
    /// True if `other` is an equal value of this type.
    fn equals(&self, other: &dyn Any) -> bool;
}

impl<T: PartialEq + 'static> Comparable for T {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

/// A [`ProtocolMessage`], shared by all copies of its packet.
#[derive(Clone, Debug)]
pub struct OwnMessage(Arc<dyn ProtocolMessage>);

impl PartialEq for OwnMessage {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(&*other.0 as &dyn Any)
    }
}

/// RREQ, RFC 3561 section 5.1.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RouteRequest {
    /// Hops from the originator to the node that transmits it.
    pub hops: u8,
    /// RREQ ID: with the originator it names the request.
    pub id: u32,
    /// The node sought.
    pub destination: NodeAddress,
    /// Latest known sequence number of the destination; `None` is the U flag.
    pub destination_sequence: Option<u32>,
    /// The node that seeks.
    pub originator: NodeAddress,
    /// Its sequence number.
    pub originator_sequence: u32,
    /// G flag: an intermediate node that replies also tells the destination.
    pub gratuitous: bool,
    /// D flag: only the destination replies.
    pub destination_only: bool,
}

/// RREP, RFC 3561 section 5.2.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RouteReply {
    /// Hops from the node that transmits it to the destination.
    pub hops: u8,
    /// The node that was sought.
    pub destination: NodeAddress,
    /// Its sequence number.
    pub destination_sequence: u32,
    /// The node that sought, where the reply goes.
    pub originator: NodeAddress,
    /// How long the route is good from now on. On the wire it is in milliseconds; it is kept exact here.
    pub lifetime: Duration,
    /// A flag: the next hop shall acknowledge.
    pub acknowledge: bool,
}

/// RERR, RFC 3561 section 5.3.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RouteError {
    /// Destinations out of reach with their sequence numbers. `None`: not known (0 on the wire).
    pub unreachable: Vec<(NodeAddress, Option<u32>)>,
}

/// Hello, RFC 3561 section 6.9: a RREP about its sender with hop count 0 and time to live 1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hello {
    /// The sender's sequence number.
    pub sequence: u32,
    /// How long the neighbour may count on its sender.
    pub lifetime: Duration,
}

/// Which specification sets message sizes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WireFormat {
    /// RFC 3561 section 5 over UDP and IPv4.
    Rfc,
    /// ns-2 (`aodv_packet.h`): requests and replies are one word longer (a time stamp), and there is no UDP
    /// header.
    Ns2,
}

impl RoutingMessage {
    /// Returns a message that the protocol brings.
    pub fn own(message: impl ProtocolMessage) -> Self {
        Self::Own(OwnMessage(Arc::new(message)))
    }

    /// Returns the message as the protocol made it; `None`: another protocol did.
    pub fn get<T: ProtocolMessage>(&self) -> Option<&T> {
        let Self::Own(message) = self else { return None };
        (&*message.0 as &dyn Any).downcast_ref()
    }

    /// Size with network and transport headers, octets.
    pub fn wire_bytes(&self, format: WireFormat) -> u32 {
        let (request, reply, headers) = match format {
            WireFormat::Rfc => (24, 20, IP_HEADER + UDP_HEADER),
            WireFormat::Ns2 => (28, 24, IP_HEADER),
        };
        headers
            + match self {
                Self::Request(_) => request,
                Self::Reply(_) | Self::Hello(_) => reply,
                // 5.3: four octets, then eight for each destination.
                Self::Error(error) => 4 + 8 * error.unreachable.len() as u32,
                Self::ReplyAck => 2,
                Self::Own(message) => message.0.body_bytes(),
            }
    }

    /// The kind of the message.
    pub fn kind(&self) -> MessageKind {
        match self {
            Self::Request(_) => MessageKind::Request,
            Self::Reply(_) => MessageKind::Reply,
            Self::Error(_) => MessageKind::Error,
            Self::ReplyAck => MessageKind::ReplyAck,
            Self::Hello(_) => MessageKind::Hello,
            Self::Own(message) => message.0.kind(),
        }
    }
}

/// The kinds of messages that statistics tell apart.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum MessageKind {
    /// Seeks a route.
    Request,
    /// Says a route.
    Reply,
    /// Says that a route is gone.
    Error,
    /// Acknowledges a reply.
    ReplyAck,
    /// Says that a neighbour is there.
    Hello,
    /// Mends a route in place.
    Repair,
}

impl MessageKind {
    /// All kinds, in the order of [`crate::RoutingStats::messages`].
    pub const ALL: [Self; 6] =
        [Self::Request, Self::Reply, Self::Error, Self::ReplyAck, Self::Hello, Self::Repair];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Reply => "reply",
            Self::Error => "error",
            Self::ReplyAck => "reply-ack",
            Self::Hello => "hello",
            Self::Repair => "repair",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3561 sections 5.1 to 5.4: 24, 20, 4 + 8n and 2 octets, under 20 of IP and 8 of UDP.
    #[test]
    fn sizes_on_the_wire() {
        let request = RoutingMessage::Request(RouteRequest {
            hops: 0,
            id: 1,
            destination: NodeAddress::new(2),
            destination_sequence: None,
            originator: NodeAddress::new(1),
            originator_sequence: 1,
            gratuitous: false,
            destination_only: false,
        });
        assert_eq!((request.wire_bytes(WireFormat::Rfc), request.wire_bytes(WireFormat::Ns2)), (52, 48));
        let hello = RoutingMessage::Hello(Hello { sequence: 1, lifetime: Duration::from_secs(2) });
        assert_eq!((hello.wire_bytes(WireFormat::Rfc), hello.wire_bytes(WireFormat::Ns2)), (48, 44));
        let error =
            RouteError { unreachable: vec![(NodeAddress::new(1), Some(4)), (NodeAddress::new(2), None)] };
        assert_eq!(RoutingMessage::Error(error).wire_bytes(WireFormat::Rfc), 28 + 4 + 16);
        assert_eq!(RoutingMessage::ReplyAck.wire_bytes(WireFormat::Rfc), 30);
    }
}
