//! Real packets: where their bytes lie while they are on the link, and what links and reports read of them.

use cogtcp_headers::{self as headers, IPV4_HEADER, IPV6_HEADER, UDP_HEADER, protocol};
use cogtcp_link::LinkPayload;
use cogtcp_network::Transit;
use cogtcp_transport::Flags;
use cogtcp_units::Time;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A packet on the link: a handle of its bytes in [`Packets`], and what was read of them when it came.
#[derive(Clone, Copy, Debug)]
pub struct IpPacket {
    /// When it came from its kernel.
    pub sent_at: Time,
    /// Data: like `sent_at`. An acknowledgement: when the data was sent that it answers. Else `Time::MAX`.
    pub answers: Time,
    slot: u32,
    /// Which flow of the scenario it belongs to, or which UDP source, counted on; `u32::MAX`: to none.
    pub flow: u32,
    /// What disciplines that keep flows apart tell it by, and in the lowest bits [`FORWARD`], [`CAPABLE`],
    /// [`MARKED`] and [`L4S`].
    key: u32,
    /// Bytes of TCP payload; of a datagram, its number at its source.
    pub payload: u32,
    /// Where it is on its way.
    pub(crate) transit: Transit,
}

/// What the four lowest bits of [`IpPacket`]'s key say, so that a packet on a link is one cache line.
const FORWARD: u32 = 1;
const CAPABLE: u32 = 2;
const MARKED: u32 = 4;
const L4S: u32 = 8;

/// [`IpPacket::flow`] of a packet that belongs to no flow of the scenario.
pub(crate) const NO_FLOW: u32 = u32::MAX;

impl Default for IpPacket {
    fn default() -> Self {
        Self {
            sent_at: Time::ZERO,
            answers: Time::MAX,
            slot: u32::MAX,
            flow: NO_FLOW,
            key: 0,
            payload: 0,
            transit: Transit::default(),
        }
    }
}

impl IpPacket {
    /// Whether it goes from its flow's sender to its receiver.
    pub fn is_forward(&self) -> bool {
        self.key & FORWARD != 0
    }

    /// Where its bytes lie; no other packet of a run has the same place and [`sent_at`](Self::sent_at).
    pub(crate) fn slot(&self) -> u32 {
        self.slot
    }
}

impl LinkPayload for IpPacket {
    // Packets of other programs have flows too, which disciplines are to tell apart.
    fn flow(&self) -> u32 {
        self.key >> 4
    }

    fn is_ecn_capable(&self) -> bool {
        self.key & CAPABLE != 0
    }

    // ECT(1), or CE (RFC 9331 section 5.1).
    fn is_l4s(&self) -> bool {
        self.key & (L4S | MARKED) != 0
    }

    fn mark(&mut self) {
        self.key |= MARKED;
    }

    fn enter(&mut self) {
        self.transit.enter();
    }
}

impl cogtcp_network::Payload for IpPacket {
    fn transit(&self) -> Transit {
        self.transit
    }

    fn set_transit(&mut self, transit: Transit) {
        self.transit = transit;
    }
}

/// The bytes of the packets on the link. Places are used again, and so is their memory.
#[derive(Debug, Default)]
pub struct Packets {
    ports: Ports,
    slots: Vec<Vec<u8>>,
    free: Vec<u32>,
}

/// Which protocol of the internet the scenario's own flows use.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Family {
    /// IPv4 (RFC 791).
    #[default]
    V4,
    /// IPv6 (RFC 8200).
    V6,
}

impl Family {
    /// Bytes of its header.
    pub(crate) const fn header(self) -> u32 {
        match self {
            Self::V4 => IPV4_HEADER as u32,
            Self::V6 => IPV6_HEADER as u32,
        }
    }

    /// Bytes of the headers of a datagram.
    pub(crate) const fn udp_headers(self) -> u32 {
        self.header() + UDP_HEADER as u32
    }

    /// The address of a host.
    pub(crate) fn address(self, host: usize) -> IpAddr {
        match self {
            Self::V4 => address(host).into(),
            Self::V6 => address6(host).into(),
        }
    }
}

/// The networks of all hosts, of those that are for networks behind a translator (RFC 6598). The next byte is
/// a network's number: 0, or the number of a path which a flow names.
const NETWORK: [u8; 2] = [100, 64];
/// The network of routes of least delay.
pub(crate) const SHORTEST: u8 = 0;
/// Their network of IPv6, with a prefix of 64 bits of those that anybody may choose (RFC 4193): "cogtcp"
/// follows the first byte.
const NETWORK6: [u8; 8] = [0xfd, b'c', b'o', b'g', b't', b'c', b'p', 0];
/// So many hosts have an address.
pub(crate) const MOST_HOSTS: usize = 250;
/// The number whose address a node has that is no host.
const NO_HOST: usize = MOST_HOSTS + 1;

/// The address of a host.
pub(crate) fn address(host: usize) -> Ipv4Addr {
    address_in(SHORTEST, host)
}

/// Its address in the network of this number.
pub(crate) fn address_in(network: u8, host: usize) -> Ipv4Addr {
    let [a, b] = NETWORK;
    Ipv4Addr::new(a, b, network, host as u8 + 1)
}

/// Its address of IPv6.
pub(crate) fn address6(host: usize) -> Ipv6Addr {
    let mut octets = [0; 16];
    octets[..8].copy_from_slice(&NETWORK6);
    octets[15] = host as u8 + 1;
    octets.into()
}

/// The number of the host with this address, if it is one of theirs.
pub(crate) fn host(address: IpAddr) -> Option<usize> {
    match address {
        IpAddr::V4(address) => networked(&address.octets()).map(|(_, host)| host),
        IpAddr::V6(address) => numbered(address.octets().strip_prefix(&NETWORK6)?),
    }
}

/// The host that the rest of an address is the number of.
fn numbered(rest: &[u8]) -> Option<usize> {
    let (number, zeros) = rest.split_last()?;
    usize::from(*number).checked_sub(1).filter(|_| zeros.iter().all(|byte| *byte == 0))
}

/// The number of a network and of a host in it that an address of IPv4 is made of.
fn networked(address: &[u8]) -> Option<(u8, usize)> {
    let (network, rest) = address.strip_prefix(&NETWORK)?.split_first()?;
    Some((*network, numbered(rest)?))
}

/// The number of the host that a packet is for, as far as it has the address of one, and of the network in
/// which it has this address.
pub(crate) fn destination(bytes: &[u8]) -> Option<(u8, usize)> {
    match bytes.first()? >> 4 {
        4 => networked(bytes.get(16..20)?),
        6 => numbered(bytes.get(24..40)?.strip_prefix(&NETWORK6)?).map(|host| (SHORTEST, host)),
        _ => None,
    }
}

/// First port of the scenario's flows: flow n has this one plus n at the end that listens.
pub(crate) const FIRST_PORT: u16 = 5001;

/// First port of the scenario's UDP sources: source n sends to this one plus n.
pub(crate) const FIRST_UDP_PORT: u16 = 20_001;

/// By which ports the packets of the scenario are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ports {
    /// Of each flow: its receiver listens, or (where it has to be asked for data) its sender.
    sender_listens: Vec<bool>,
    /// How many UDP sources there are.
    udp: u32,
    /// Of each flow: whether its transport is not TCP and goes by UDP.
    datagrams: Vec<bool>,
}

impl Ports {
    /// Streams of flows, each with whether its sender listens to notices, and of this many UDP sources.
    pub(crate) fn new(sender_listens: Vec<bool>, udp: u32) -> Self {
        Self { sender_listens, udp, datagrams: Vec::new() }
    }

    /// Marks the flows that go by UDP.
    pub(crate) fn with_datagrams(self, datagrams: Vec<bool>) -> Self {
        Self { datagrams, ..self }
    }

    /// The flow that a UDP packet belongs to, from port to port, and whether it goes to that flow's receiver.
    fn datagram(&self, ports: [u16; 2]) -> Option<(usize, bool)> {
        self.flow(ports).filter(|(number, _)| self.datagrams.get(*number) == Some(&true))
    }

    /// The flow that a TCP packet belongs to, from port to port, and whether it goes to that flow's receiver.
    pub(crate) fn flow(&self, ports: [u16; 2]) -> Option<(usize, bool)> {
        let number = |port: u16| {
            let number = usize::from(port.checked_sub(FIRST_PORT)?);
            Some((number, *self.sender_listens.get(number)?))
        };
        let [from, to] = ports.map(number);
        let called = to.map(|(number, sender_listens)| (number, !sender_listens));
        called.or(from)
    }

    /// The UDP source that a datagram comes from, by the port that it goes to.
    fn source(&self, port: u16) -> Option<u32> {
        Some(u32::from(port.checked_sub(FIRST_UDP_PORT)?)).filter(|number| *number < self.udp)
    }
}

impl Packets {
    /// None yet; what belongs to the scenario is known by these ports.
    pub(crate) fn new(ports: Ports) -> Self {
        Self { ports, ..Self::default() }
    }

    /// Keeps the bytes of a packet that came at `now`. `None`: it is no packet of IPv4 or IPv6.
    pub fn put(&mut self, now: Time, bytes: &[u8]) -> Option<IpPacket> {
        let header = Header::read(bytes)?;
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.slots.push(Vec::new());
                self.slots.len() as u32 - 1
            }
        };
        let kept = &mut self.slots[slot as usize];
        kept.clear();
        kept.extend_from_slice(bytes);
        let flow = header.flow(&self.ports);
        Some(IpPacket {
            sent_at: now,
            answers: Time::MAX,
            slot,
            flow: flow.map_or(NO_FLOW, |(number, _)| number),
            key: header.key << 4
                | if flow.is_some_and(|(_, is_forward)| is_forward) { FORWARD } else { 0 }
                | if header.ecn != 0 { CAPABLE } else { 0 }
                | if header.ecn & 1 != 0 { L4S } else { 0 },
            payload: header.payload,
            transit: Transit::default(),
        })
    }

    /// The bytes of a packet as they leave the link: with the mark that a queue has left on it.
    pub fn bytes(&mut self, packet: &IpPacket) -> &mut [u8] {
        let bytes = &mut self.slots[packet.slot as usize];
        if packet.key & MARKED != 0 {
            headers::mark(bytes);
        }
        bytes
    }

    /// What a host (`None`: a node that is none) tells the source of a packet that could not be delivered:
    /// ICMP destination unreachable, and its size.
    pub fn unreachable(
        &mut self,
        now: Time,
        from: Option<usize>,
        about: &IpPacket,
    ) -> Option<(IpPacket, u32)> {
        let quoted = self.slots.get(about.slot as usize)?;
        let bytes =
            headers::write_unreachable(address(from.unwrap_or(NO_HOST)), headers::HOST_UNREACHABLE, quoted)?;
        Some((self.put(now, &bytes)?, bytes.len() as u32))
    }

    /// Tells sources apart that are told if this packet is destroyed, by its flow or else connection; `None`:
    /// nobody is, or it is of IPv6.
    ///
    /// As in the simulator no notice goes out about destroyed acknowledgements and datagrams of UDP sources:
    /// their senders have nothing to hold back. Unlike in the simulator, sources of SYNs get none either.
    /// Linux gives up a connection that is not established, against RFC 1122 section 4.2.3.9, and the flow
    /// would never begin. Programs get all notices.
    pub fn to_be_told(&self, packet: &IpPacket) -> Option<u64> {
        let bytes = self.slots.get(packet.slot as usize)?;
        let is_data = || {
            packet.is_forward()
                && headers::read_tcp(bytes)
                    .is_some_and(|(_, tcp)| !Flags::from_bits(tcp.flags).contains(Flags::SYN))
        };
        if bytes.first()? >> 4 != 4 || (packet.flow != NO_FLOW && !is_data()) {
            return None;
        }
        let is_own = packet.flow != NO_FLOW;
        let connection = if is_own { packet.flow } else { packet.flow() };
        // Numbers of flows and hashes of connections must not meet.
        Some(u64::from(is_own) << 32 | u64::from(connection))
    }

    /// The host that a packet of IPv4 is for.
    pub fn destination(&self, packet: &IpPacket) -> Option<usize> {
        networked(self.slots.get(packet.slot as usize)?.get(16..20)?).map(|(_, host)| host)
    }

    /// The flow that the ICMP message in a packet is about.
    pub(crate) fn told_of(&self, packet: &IpPacket) -> Option<usize> {
        let quoted = headers::read_unreachable(self.slots.get(packet.slot as usize)?)?;
        self.ports.flow(headers::read_ip(quoted).ok()?.ports()?).map(|(flow, _)| flow)
    }

    /// The packet has left the link.
    pub fn free(&mut self, packet: &IpPacket) {
        self.free.push(packet.slot);
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What is read of a packet's headers.
#[derive(Clone, Copy, Debug)]
struct Header {
    protocol: u8,
    ports: [u16; 2],
    payload: u32,
    ecn: u8,
    key: u32,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let ip = headers::read_ip(bytes).ok()?;
        // A fragment but the first has no ports.
        let ports = if matches!(ip.protocol, protocol::TCP | protocol::UDP) { ip.ports() } else { None };
        let payload = match (ports, ip.protocol) {
            (None, _) => 0,
            (_, protocol::UDP) => ip.content.len().saturating_sub(UDP_HEADER),
            _ => headers::tcp_header(ip.content).map_or(0, |tcp| ip.content.len().saturating_sub(tcp.length)),
        };
        let ports = ports.unwrap_or_default();
        // FNV-1a (draft-eastlake-fnv) over addresses, protocol and ports.
        let mut key = 0x811c_9dc5_u32;
        let [from, to] = ports.map(u16::to_be_bytes);
        for part in [ip.addresses, &[ip.protocol], &from, &to] {
            for byte in part {
                key = (key ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
            }
        }
        Some(Self { protocol: ip.protocol, ports, payload: payload as u32, ecn: ip.ecn, key })
    }

    /// The number of the flow that it belongs to, and whether it goes to that flow's receiver. UDP sources
    /// count on after flows.
    fn flow(&self, known: &Ports) -> Option<(u32, bool)> {
        match self.protocol {
            protocol::TCP => known.flow(self.ports).map(|(number, is_forward)| (number as u32, is_forward)),
            protocol::UDP => {
                let source = known.source(self.ports[1]);
                let own = source.map(|it| (known.sender_listens.len() as u32 + it, true));
                own.or_else(|| known.datagram(self.ports).map(|(number, forward)| (number as u32, forward)))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The one's complement sum of a header with its checksum in place is all ones (RFC 1071).
    fn is_sound(header: &[u8]) -> bool {
        let sum: u32 = header.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
        (sum & 0xffff) + (sum >> 16) == 0xffff
    }

    /// An IPv4 header of 20 bytes with a TCP header of 32 (12 of options), `payload` bytes, and a sound
    /// header checksum.
    fn tcp(ports: [u16; 2], ecn: u8, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0; 52 + payload];
        bytes[0] = 0x45;
        bytes[1] = ecn;
        bytes[2..4].copy_from_slice(&(52 + payload as u16).to_be_bytes());
        (bytes[8], bytes[9]) = (64, protocol::TCP);
        bytes[12..20].copy_from_slice(&[100, 64, 0, 1, 100, 64, 0, 2]);
        bytes[20..22].copy_from_slice(&ports[0].to_be_bytes());
        bytes[22..24].copy_from_slice(&ports[1].to_be_bytes());
        bytes[32] = 8 << 4;
        let sum: u32 =
            bytes[..20].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
        let folded = (sum & 0xffff) + (sum >> 16);
        bytes[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
        assert!(is_sound(&bytes[..20]));
        bytes
    }

    #[test]
    fn headers_say_flow_payload_and_ecn() {
        let mut packets = Packets::new(Ports::new(vec![false; 2], 0));
        let mut put = |ports, ecn, payload| packets.put(Time::ZERO, &tcp(ports, ecn, payload)).unwrap();
        let data = put([40_000, FIRST_PORT + 1], 2, 1000);
        assert_eq!((data.flow, data.payload, data.is_ecn_capable()), (1, 1000, true));
        let ack = put([FIRST_PORT, 40_000], 0, 0);
        assert_eq!((ack.flow, ack.payload, ack.is_ecn_capable()), (0, 0, false));
        // Two flows are played: the third port is somebody else's.
        let other = put([40_000, FIRST_PORT + 2], 0, 5);
        assert_eq!(other.flow, NO_FLOW);
        assert_ne!(LinkPayload::flow(&data), LinkPayload::flow(&other));
        assert!(packets.put(Time::ZERO, &[0x60; 39]).is_none(), "too short");
        assert!(packets.put(Time::ZERO, &[0x45; 19]).is_none(), "too short");
        assert!(packets.put(Time::ZERO, &[0x55; 90]).is_none(), "neither IPv4 nor IPv6");
    }

    /// Where the sender listens, data come from its port.
    #[test]
    fn who_is_asked_sends_from_the_port_that_listens() {
        let mut packets = Packets::new(Ports::new(vec![false, true], 0));
        let mut put = |ports| packets.put(Time::ZERO, &tcp(ports, 0, 10)).unwrap();
        let response = put([FIRST_PORT + 1, 40_000]);
        assert_eq!((response.flow, response.is_forward()), (1, true));
        let request = put([40_000, FIRST_PORT + 1]);
        assert_eq!((request.flow, request.is_forward()), (1, false));
        assert!(put([40_000, FIRST_PORT]).is_forward());
    }

    /// The same segment in IPv6.
    fn tcp6(ports: [u16; 2], ecn: u8, payload: usize) -> Vec<u8> {
        let segment = tcp(ports, 0, payload).split_off(20);
        let mut bytes = vec![0; 40];
        (bytes[0], bytes[1]) = (0x60, ecn << 4);
        bytes[4..6].copy_from_slice(&(segment.len() as u16).to_be_bytes());
        (bytes[6], bytes[7]) = (protocol::TCP, 64);
        bytes[8..24].copy_from_slice(&address6(0).octets());
        bytes[24..40].copy_from_slice(&address6(1).octets());
        bytes.extend(segment);
        bytes
    }

    #[test]
    fn headers_of_ipv6_say_the_same() {
        let mut packets = Packets::new(Ports::new(vec![false], 0));
        let bytes = tcp6([40_000, FIRST_PORT], 2, 1000);
        assert_eq!(destination(&bytes), Some((SHORTEST, 1)));
        let mut data = packets.put(Time::ZERO, &bytes).unwrap();
        assert_eq!(
            (data.flow, data.payload, data.is_ecn_capable(), data.is_forward()),
            (0, 1000, true, true)
        );
        data.mark();
        assert_eq!(packets.bytes(&data)[..2], [0x60, 3 << 4]);
        let mut elsewhere = bytes;
        elsewhere[30] = 1;
        assert_eq!(destination(&elsewhere), None);
        let other = packets.put(Time::ZERO, &tcp6([40_001, FIRST_PORT], 0, 1)).unwrap();
        assert_ne!(LinkPayload::flow(&data), LinkPayload::flow(&other));
    }

    #[test]
    fn a_mark_keeps_the_checksum_sound() {
        let mut packets = Packets::default();
        for ecn in [1, 2, 3] {
            let mut packet = packets.put(Time::ZERO, &tcp([1, 2], ecn, 10)).unwrap();
            packet.mark();
            // Read twice, marked once.
            for _ in 0..2 {
                let bytes = packets.bytes(&packet);
                assert_eq!(bytes[1] & 3, 3);
                assert!(is_sound(&bytes[..20]));
            }
        }
    }

    #[test]
    fn places_are_used_again() {
        let mut packets = Packets::default();
        let first = packets.put(Time::ZERO, &tcp([1, 2], 0, 100)).unwrap();
        packets.free(&first);
        assert!(packets.is_empty());
        let second = packets.put(Time::ZERO, &tcp([3, 4], 0, 0)).unwrap();
        assert_eq!((second.slot, packets.len(), packets.bytes(&second).len()), (first.slot, 1, 52));
    }

    /// A packet on the link is one cache line, as in the simulator.
    #[test]
    fn a_packet_on_a_link_is_a_cache_line() {
        assert_eq!(size_of::<cogtcp_link::Frame<IpPacket>>(), 64);
    }
}
