//! Messages of AODV as octets, for captures: RFC 3561 section 5, over UDP port 654.

use crate::message::{Hello, RouteError, RouteReply, RouteRequest};
use crate::{NodeAddress, RoutingMessage};
use cogtcp_units::Duration;

const G: u8 = 0x20;
const D: u8 = 0x10;
const U: u8 = 0x08;
const A: u8 = 0x40;

impl RoutingMessage {
    /// The message of `sender` behind its UDP header as RFC 3561 section 5 has it, with the IPv4 addresses
    /// that `address` gives nodes; `None`: no RFC says how it looks. What ns-2 puts besides into a message
    /// ([`WireFormat::Ns2`](crate::WireFormat::Ns2)) is not in it.
    pub fn octets(&self, sender: NodeAddress, address: impl Fn(NodeAddress) -> u32) -> Option<Vec<u8>> {
        Some(match self {
            Self::Request(request) => request.octets(address),
            Self::Reply(reply) => reply.octets(address),
            Self::Error(error) => error.octets(address),
            Self::ReplyAck => vec![4, 0],
            Self::Hello(hello) => hello.octets(address(sender)),
            Self::Own(_) => return None,
        })
    }
}

impl Hello {
    /// A reply about its sender (section 6.9). The RFC does not say who its originator is: its sender, here.
    fn octets(&self, sender: u32) -> Vec<u8> {
        reply(0, 0, [sender, self.sequence, sender], self.lifetime)
    }
}

impl RouteRequest {
    fn octets(&self, address: impl Fn(NodeAddress) -> u32) -> Vec<u8> {
        let mut flags = 0;
        for (is_set, flag) in
            [(self.gratuitous, G), (self.destination_only, D), (self.destination_sequence.is_none(), U)]
        {
            flags |= if is_set { flag } else { 0 };
        }
        let words = [
            self.id,
            address(self.destination),
            self.destination_sequence.unwrap_or(0),
            address(self.originator),
            self.originator_sequence,
        ];
        joined([1, flags, 0, self.hops], words)
    }
}

impl RouteReply {
    fn octets(&self, address: impl Fn(NodeAddress) -> u32) -> Vec<u8> {
        let words = [address(self.destination), self.destination_sequence, address(self.originator)];
        reply(if self.acknowledge { A } else { 0 }, self.hops, words, self.lifetime)
    }
}

impl RouteError {
    fn octets(&self, address: impl Fn(NodeAddress) -> u32) -> Vec<u8> {
        // Its count is one octet; nobody has more neighbours' routes here than that.
        let listed = &self.unreachable[..self.unreachable.len().min(255)];
        let words = listed.iter().flat_map(|(node, sequence)| [address(*node), sequence.unwrap_or(0)]);
        joined([3, 0, 0, listed.len() as u8], words)
    }
}

fn reply(flags: u8, hops: u8, words: [u32; 3], lifetime: Duration) -> Vec<u8> {
    // The field has 32 bits of milliseconds (5.2).
    let millis = u32::try_from(lifetime.as_nanos() / 1_000_000).unwrap_or(u32::MAX);
    joined([2, flags, 0, hops], words.into_iter().chain([millis]))
}

fn joined(first: [u8; 4], words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    first.into_iter().chain(words.into_iter().flat_map(u32::to_be_bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WireFormat;

    fn address(node: NodeAddress) -> u32 {
        0x0a00_0001 + node.number()
    }

    /// As long as the message says it is, and each field at its place (sections 5.1 to 5.4).
    #[test]
    fn every_field_stands_at_its_place() {
        let request = RouteRequest {
            hops: 3,
            id: 0x0102_0304,
            destination: NodeAddress::new(8),
            destination_sequence: None,
            originator: NodeAddress::new(1),
            originator_sequence: 7,
            gratuitous: true,
            destination_only: false,
        };
        let reply = RouteReply {
            hops: 2,
            destination: NodeAddress::new(8),
            destination_sequence: 9,
            originator: NodeAddress::new(1),
            lifetime: Duration::from_micros(1_500_900),
            acknowledge: true,
        };
        let lost = vec![(NodeAddress::new(4), Some(5)), (NodeAddress::new(6), None)];
        let cases = [
            (
                RoutingMessage::Request(request),
                vec![1, 0x28, 0, 3, 1, 2, 3, 4, 10, 0, 0, 9, 0, 0, 0, 0, 10, 0, 0, 2, 0, 0, 0, 7],
            ),
            (
                RoutingMessage::Reply(reply),
                vec![2, 0x40, 0, 2, 10, 0, 0, 9, 0, 0, 0, 9, 10, 0, 0, 2, 0, 0, 5, 0xdc],
            ),
            (
                RoutingMessage::Error(RouteError { unreachable: lost }),
                vec![3, 0, 0, 2, 10, 0, 0, 5, 0, 0, 0, 5, 10, 0, 0, 7, 0, 0, 0, 0],
            ),
            (RoutingMessage::ReplyAck, vec![4, 0]),
        ];
        for (message, octets) in cases {
            assert_eq!(message.octets(NodeAddress::new(3), address), Some(octets.clone()));
            assert_eq!(message.wire_bytes(WireFormat::Rfc) as usize, 28 + octets.len());
        }
        let hello = Hello { sequence: 6, lifetime: Duration::from_secs(2) };
        let octets = vec![2, 0, 0, 0, 10, 0, 0, 4, 0, 0, 0, 6, 10, 0, 0, 4, 0, 0, 7, 0xd0];
        assert_eq!(RoutingMessage::Hello(hello).octets(NodeAddress::new(3), address), Some(octets));
    }

    /// The count of a route error is one octet (5.3): 255 are listed, and each takes 8 octets.
    #[test]
    fn a_route_error_lists_as_many_as_its_count_holds() {
        for (many, listed) in [(1, 1), (255, 255), (256, 255), (300, 255)] {
            let unreachable = (0..many).map(|node| (NodeAddress::new(node), Some(1))).collect();
            let octets = RouteError { unreachable }.octets(address);
            assert_eq!((octets[3], octets.len()), (listed as u8, 4 + 8 * listed), "{many}");
        }
    }

    /// Each flag by itself (5.1), and a lifetime beyond 32 bits of milliseconds.
    #[test]
    fn flags_and_lifetimes_of_their_width() {
        let node = NodeAddress::new(0);
        let flags = |gratuitous, destination_only, destination_sequence| {
            let request = RouteRequest {
                hops: 0,
                id: 0,
                destination: node,
                destination_sequence,
                originator: node,
                originator_sequence: 0,
                gratuitous,
                destination_only,
            };
            request.octets(address)[1]
        };
        assert_eq!(
            [flags(true, false, Some(1)), flags(false, true, Some(1)), flags(false, false, None)],
            [0x20, 0x10, 0x08]
        );
        assert_eq!(flags(false, false, Some(0)), 0);
        let lifetime = |seconds| reply(0, 0, [0; 3], Duration::from_secs(seconds))[16..].to_vec();
        assert_eq!((lifetime(1), lifetime(5_000_000)), (vec![0, 0, 3, 0xe8], vec![0xff; 4]));
    }
}
