//! The packets of the network: what a host sends, as it lies in a link.
//!
//! A packet is a small enum of its contents ([`Body`]); each protocol reads only its own. It is kept small,
//! so that a packet on a link is one cache line. A TCP segment without options lies in the packet itself, one
//! with options in the [`OptionStore`].
//!
//! Its addresses are its stream's. Packets from one end to another are one stream, and the network knows the
//! nodes at both ends ([`Network::ends`](cogtcp_network::Network::ends)).

use cogtcp_crosslayer::{Stamp, StampingHop};
use cogtcp_link::LinkPayload;
use cogtcp_network::{Awaited, Transit};
use cogtcp_transport::{Flags, IPV4_HEADER, Segment, SeqNumber, TCP_HEADER};
use cogtcp_units::{Duration, Time};

/// A packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// Data: when it was sent. An acknowledgement: when the data was sent that it answers. Else `Time::MAX`.
    pub(crate) sent_at: Time,
    /// Where it is on its path.
    pub(crate) transit: Transit,
    /// What it carries.
    pub(crate) body: Body,
    /// Data of a flow: what its sender had waited for. Else nothing.
    pub(crate) awaited: Awaited,
    /// Congestion notification: the ECN field of the IP header (RFC 3168), and TCP's flag AE.
    ecn: EcnBits,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    /// A TCP segment without options.
    Tcp {
        seq: SeqNumber,
        ack: SeqNumber,
        /// Payload bytes.
        len: u32,
        tag: u32,
        window: u16,
        /// All but AE, which is among the packet's bits: with the ninth it would not be one cache line.
        flags: u8,
    },
    /// A TCP segment with options: its place in the store.
    TcpWithOptions { place: u32 },
    /// A datagram of a transport other than TCP: its place in the [`DatagramStore`].
    Endpoint { place: u32, stamp: Stamp },
    /// A UDP datagram of an application.
    Udp(UdpDatagram),
    /// ICMP destination unreachable, about the TCP segment that begins with `seq` (RFC 792).
    Unreachable {
        seq: SeqNumber,
        /// The flow.
        flow: u32,
    },
    /// A message between parts of a node's own control: a train's router and its clients.
    Control(ControlMessage),
}

/// A UDP datagram (RFC 768) of an application.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct UdpDatagram {
    /// Its number at its source, from 0.
    pub(crate) number: u32,
    /// Payload bytes.
    pub(crate) len: u32,
}

/// A message that only its two ends understand.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ControlMessage {
    pub(crate) kind: u8,
    pub(crate) content: u32,
}

/// Congestion notification in the IP header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct EcnBits(u8);

impl EcnBits {
    const CAPABLE: u8 = 1;
    const MARKED: u8 = 2;
    const L4S: u8 = 4;
    /// The segment's flag AE.
    const AE: u8 = 8;

    #[inline]
    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
}

impl Default for Packet {
    /// A place for a packet: no packet.
    fn default() -> Self {
        Self::new(Body::TcpWithOptions { place: u32::MAX }, Time::MAX)
    }
}

impl Packet {
    /// A packet that is not marked and of a sender that would not react to marks.
    #[inline]
    pub(crate) fn new(body: Body, sent_at: Time) -> Self {
        Self { sent_at, transit: Transit::default(), body, awaited: Awaited::Nothing, ecn: EcnBits(0) }
    }

    /// Whether it carries a TCP segment.
    pub(crate) fn is_segment(&self) -> bool {
        matches!(self.body, Body::Tcp { .. } | Body::TcpWithOptions { .. })
    }

    /// Whether it carries a TCP segment with options, which the store has.
    pub(crate) fn is_stored(&self) -> bool {
        matches!(self.body, Body::TcpWithOptions { .. })
    }

    /// Whether it carries a datagram that the store has.
    pub(crate) fn is_datagram(&self) -> bool {
        matches!(self.body, Body::Endpoint { .. })
    }

    /// Returns the ECN field of its IP header, two bits (RFC 3168 section 5, RFC 9331 section 4.1).
    pub(crate) fn ecn_field(&self) -> u8 {
        match self.ecn {
            ecn if ecn.has(EcnBits::MARKED) => 3,
            ecn if ecn.has(EcnBits::L4S) => 1,
            ecn => 2 * u8::from(ecn.has(EcnBits::CAPABLE)),
        }
    }

    /// Whether a queue marked it.
    pub(crate) fn is_marked(&self) -> bool {
        self.ecn.has(EcnBits::MARKED)
    }
}

impl LinkPayload for Packet {
    fn flow(&self) -> u32 {
        self.transit.stream.0
    }

    fn is_ecn_capable(&self) -> bool {
        self.ecn.has(EcnBits::CAPABLE)
    }

    /// CE, too: RFC 9331 section 5.1 (the ECT that it was sent with is lost in its header).
    fn is_l4s(&self) -> bool {
        self.ecn.has(EcnBits::L4S) || self.ecn.has(EcnBits::MARKED)
    }

    #[inline]
    fn mark(&mut self) {
        self.ecn.0 |= EcnBits::MARKED;
    }

    #[inline]
    fn enter(&mut self) {
        self.transit.enter();
    }
}

impl cogtcp_network::Payload for Packet {
    #[inline]
    fn transit(&self) -> Transit {
        self.transit
    }

    #[inline]
    fn set_transit(&mut self, transit: Transit) {
        self.transit = transit;
    }

    #[inline]
    fn awaited(&self) -> Awaited {
        self.awaited
    }

    fn stamp(&mut self, now: Time, spent: Option<Duration>, hop: &mut StampingHop) {
        if let Body::Endpoint { stamp, .. } = &mut self.body {
            stamp.pass(now, now.saturating_since(self.sent_at), spent, hop);
        }
    }
}

/// The segments with options that are under way, in places that are used again.
#[derive(Debug, Default)]
pub(crate) struct OptionStore {
    segments: Vec<Segment>,
    free: Vec<u32>,
}

impl OptionStore {
    /// The packet of a segment whose wire size is `wire`. Every one is to be taken out once.
    #[inline]
    pub(crate) fn pack(&mut self, segment: &Segment, sent_at: Time, wire: u32) -> Packet {
        // By the size on the wire, which the caller has worked out: no option is looked at again.
        let body = if wire == IPV4_HEADER + TCP_HEADER + segment.len {
            Body::Tcp {
                seq: segment.seq,
                ack: segment.ack,
                len: segment.len,
                tag: segment.tag,
                window: segment.window,
                flags: segment.flags.bits() as u8,
            }
        } else {
            Body::TcpWithOptions { place: self.put(segment) }
        };
        let l4s = u8::from(segment.is_l4s()) * EcnBits::L4S;
        let ae = u8::from(segment.flags.contains(Flags::AE)) * EcnBits::AE;
        let ecn = EcnBits((u8::from(segment.is_ecn_capable()) * EcnBits::CAPABLE) | l4s | ae);
        Packet { ecn, ..Packet::new(body, sent_at) }
    }

    /// Takes the TCP segment out of `packet`, with the mark that a queue left on it; `None`: it carries
    /// something else.
    #[inline]
    pub(crate) fn unpack(&mut self, packet: &Packet) -> Option<Segment> {
        let segment = self.peek(packet);
        if let Body::TcpWithOptions { place } = packet.body {
            self.free.push(place);
        }
        segment
    }

    /// The TCP segment in `packet`, which stays packed; `None`: it carries something else.
    #[inline]
    pub(crate) fn peek(&self, packet: &Packet) -> Option<Segment> {
        let mut segment = match packet.body {
            Body::Tcp { seq, ack, len, tag, window, flags } => {
                let ae = u16::from(packet.ecn.has(EcnBits::AE)) * Flags::AE.bits();
                let mut segment =
                    Segment::new(seq, ack, len, window, Flags::from_bits(u16::from(flags) | ae));
                segment.tag = tag;
                if packet.ecn.has(EcnBits::L4S) {
                    segment.set_l4s();
                } else if packet.ecn.has(EcnBits::CAPABLE) {
                    segment.set_ecn_capable();
                }
                segment
            }
            Body::TcpWithOptions { place } => self.segments[place as usize],
            _ => return None,
        };
        if packet.ecn.has(EcnBits::MARKED) {
            segment.mark();
        }
        Some(segment)
    }

    /// How many segments are stored.
    pub(crate) fn len(&self) -> usize {
        self.segments.len() - self.free.len()
    }

    fn put(&mut self, segment: &Segment) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.segments[place as usize] = *segment;
                place
            }
            None => {
                self.segments.push(*segment);
                self.segments.len() as u32 - 1
            }
        }
    }
}

/// The datagrams of transports other than TCP that are under way, in places that are used again.
#[derive(Debug, Default)]
pub(crate) struct DatagramStore {
    datagrams: Vec<cogtcp_endpoint::Datagram>,
    free: Vec<u32>,
}

impl DatagramStore {
    /// The packet of a datagram. Every one is to be taken out once.
    pub(crate) fn pack(
        &mut self,
        datagram: cogtcp_endpoint::Datagram,
        sent_at: Time,
        ecn_capable: bool,
    ) -> Packet {
        let place = self.free.pop().unwrap_or_else(|| {
            self.datagrams.push(cogtcp_endpoint::Datagram::default());
            self.datagrams.len() as u32 - 1
        });
        // Nodes on the way write into the stamp: it goes with the packet, where they reach it without the
        // store.
        let stamp = datagram.stamp;
        self.datagrams[place as usize] = datagram;
        let ecn = EcnBits(u8::from(ecn_capable) * EcnBits::CAPABLE);
        Packet { ecn, ..Packet::new(Body::Endpoint { place, stamp }, sent_at) }
    }

    /// Returns the datagram in `packet`, which stays packed; `None`: it carries something else.
    pub(crate) fn peek(&self, packet: &Packet) -> Option<&cogtcp_endpoint::Datagram> {
        let Body::Endpoint { place, .. } = packet.body else { return None };
        self.datagrams.get(place as usize)
    }

    /// Takes the datagram out of `packet`; `None`: it carries something else.
    pub(crate) fn unpack(&mut self, packet: &Packet) -> Option<cogtcp_endpoint::Datagram> {
        let Body::Endpoint { place, stamp } = packet.body else { return None };
        self.free.push(place);
        // Taken, not copied: the place then holds no bytes on the heap.
        let datagram = std::mem::take(&mut self.datagrams[place as usize]);
        Some(cogtcp_endpoint::Datagram { stamp, ..datagram })
    }

    /// How many datagrams are stored.
    pub(crate) fn len(&self) -> usize {
        self.datagrams.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_link::Frame;

    #[test]
    fn segments_come_out_as_they_went_in() {
        let mut plain =
            Segment::new(SeqNumber::new(7), SeqNumber::new(9), 1000, 500, Flags::ACK | Flags::PSH);
        plain.tag = 42;
        let mut stamped = plain;
        stamped.set_timestamps(1, 2);
        stamped.push_sack(SeqNumber::new(20), SeqNumber::new(30));
        let mut capable = plain;
        capable.set_ecn_capable();
        capable.flags = capable.flags | Flags::AE;
        let mut store = OptionStore::default();
        for _ in 0..3 {
            let sent = [plain, stamped, capable];
            let packets = sent.map(|segment| store.pack(&segment, Time::from_millis(5), segment.wire_size()));
            assert_eq!(store.len(), 1);
            assert_eq!(packets.map(|packet| packet.is_ecn_capable()), [false, false, true]);
            assert!(packets.iter().all(|packet| packet.sent_at == Time::from_millis(5)));
            for (packet, segment) in packets.iter().zip(sent) {
                assert!(store.peek(packet) == Some(segment));
            }
            for (mut packet, mut segment) in packets.into_iter().zip(sent) {
                packet.mark();
                segment.mark();
                assert!(packet.is_marked() && store.unpack(&packet) == Some(segment));
            }
        }
        assert_eq!((store.len(), store.segments.len()), (0, 1));
    }

    #[test]
    fn datagrams_come_out_as_they_went_in_and_leave_their_places() {
        let mut store = DatagramStore::default();
        for round in 0..3_u8 {
            let sent = [0, 1].map(|n| cogtcp_endpoint::Datagram {
                bytes: vec![round, n],
                filler: 1000,
                ..Default::default()
            });
            let packets = [0, 1].map(|n| store.pack(sent[n].clone(), Time::from_millis(5), n == 1));
            assert_eq!((store.len(), packets.map(|packet| packet.is_ecn_capable())), (2, [false, true]));
            assert!(packets.iter().all(|packet| packet.is_datagram() && !packet.is_segment()));
            for (packet, datagram) in packets.iter().zip(sent) {
                assert_eq!(store.unpack(packet), Some(datagram));
            }
        }
        assert_eq!((store.len(), store.datagrams.len()), (0, 2));
        assert_eq!(store.unpack(&Packet::default()), None);
    }

    #[test]
    fn what_is_no_segment_is_not_read_as_one() {
        let message = Body::Control(ControlMessage { kind: 1, content: 2 });
        assert!(OptionStore::default().unpack(&Packet::new(message, Time::MAX)).is_none());
    }

    /// A packet on a link is one cache line.
    #[test]
    fn a_packet_on_a_link_is_a_cache_line() {
        assert_eq!((size_of::<Body>(), size_of::<Packet>(), size_of::<Frame<Packet>>()), (20, 40, 64));
    }
}
