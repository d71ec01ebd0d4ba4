//! Reads our own packets: headers (RFC 9000, section 17) and frames (section 19). With a null cipher all of a
//! packet is in the clear.

use crate::crypto::TAG;
use crate::random::CONNECTION_ID;

/// Type of HANDSHAKE_DONE (RFC 9000, section 19.20).
pub(crate) const HANDSHAKE_DONE: u64 = 0x1E;

/// The kinds of packets.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum PacketKind {
    /// Initial: the first flight of either end.
    Initial,
    /// 0-RTT: early data.
    ZeroRtt,
    /// Handshake.
    Handshake,
    /// 1-RTT: the short header.
    OneRtt,
}

impl PacketKind {
    /// Number of the packet number space (RFC 9000, section 12.3).
    pub(crate) const fn space(self) -> usize {
        match self {
            Self::Initial => 0,
            Self::Handshake => 1,
            Self::ZeroRtt | Self::OneRtt => 2,
        }
    }

    /// Name in qlog.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::ZeroRtt => "0RTT",
            Self::Handshake => "handshake",
            Self::OneRtt => "1RTT",
        }
    }
}

/// One packet of a datagram.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QuicPacket<'a> {
    /// Its kind.
    pub kind: PacketKind,
    /// The low bytes of the packet number.
    pub truncated: u64,
    /// How many bytes of the packet number the header has.
    pub number_size: usize,
    /// Destination connection ID.
    pub destination: &'a [u8],
    /// Source connection ID; empty in a short header.
    pub source: &'a [u8],
    /// Size in bytes, with header and tag.
    pub size: usize,
    /// The frames, without the tag.
    pub payload: &'a [u8],
}

impl QuicPacket<'_> {
    /// Returns the full packet number, the closest to `expected` (RFC 9000, appendix A.3).
    pub fn number(&self, expected: u64) -> u64 {
        // The number is truncated to so many bytes: candidates repeat every `window`.
        let window = 1u64 << (8 * self.number_size);
        let candidate = (expected & !(window - 1)) | self.truncated;
        if candidate + window / 2 <= expected {
            candidate + window
        } else if candidate > expected + window / 2 && candidate >= window {
            candidate - window
        } else {
            candidate
        }
    }
}

/// Reads integers and bytes.
#[derive(Clone, Copy, Debug)]
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, size: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(head)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// A number of `size` bytes.
    fn number(&mut self, size: usize) -> Option<u64> {
        Some(self.take(size)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Passes over a variable-length integer.
    fn skip_varint(&mut self) -> Option<()> {
        let first = *self.0.first()?;
        self.take(1 << (first >> 6)).map(drop)
    }

    /// A variable-length integer (RFC 9000, section 16).
    fn varint(&mut self) -> Option<u64> {
        let first = *self.0.first()?;
        let size = 1 << (first >> 6);
        let number = self.number(size)?;
        // Without the two bits that say the length.
        Some(number & (u64::MAX >> (66 - 8 * size as u32)))
    }
}

/// Returns the packets of a datagram; what cannot be read ends it.
pub fn packets(datagram: &[u8]) -> impl Iterator<Item = QuicPacket<'_>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let (packet, after) = packet(rest)?;
        rest = after;
        Some(packet)
    })
}

fn packet(datagram: &[u8]) -> Option<(QuicPacket<'_>, &[u8])> {
    let mut reader = Reader(datagram);
    let first = reader.byte()?;
    let number_size = usize::from(first & 3) + 1;
    let is_long = first & 0x80 != 0;
    let mut rest: &[u8] = &[];
    let (destination, source);
    let kind = if is_long {
        let version = reader.number(4)?;
        let size = reader.byte()?;
        destination = reader.take(usize::from(size))?;
        let size = reader.byte()?;
        source = reader.take(usize::from(size))?;
        let kind = match (version, first >> 4 & 3) {
            // (_, 3) => | Version negotiation and Retry, which neither end sends.
            (0, _) | (_, 3) => return None,
            (_, 0) => PacketKind::Initial,
            (_, 1) => PacketKind::ZeroRtt,
            _ => PacketKind::Handshake,
        };
        if kind == PacketKind::Initial {
            let token = reader.varint()?;
            reader.take(usize::try_from(token).ok()?)?;
        }
        let length = usize::try_from(reader.varint()?).ok()?;
        let (own, after) = reader.0.split_at_checked(length)?;
        // A packet with a long header says its length: others may follow in the datagram (RFC 9000, section
        // 12.2).
        (reader, rest) = (Reader(own), after);
        kind
    } else {
        destination = reader.take(CONNECTION_ID)?;
        source = &[];
        PacketKind::OneRtt
    };
    let truncated = reader.number(number_size)?;
    let payload = &reader.0[..reader.0.len().checked_sub(TAG)?];
    let size = datagram.len() - rest.len();
    Some((QuicPacket { kind, truncated, number_size, destination, source, size, payload }, rest))
}

/// One frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum QuicFrame<'a> {
    /// PADDING, all that stands together.
    Padding(usize),
    /// PING.
    Ping,
    /// ACK.
    Ack(Ack<'a>),
    /// CRYPTO: offset and length.
    Crypto(u64, u64),
    /// STREAM: stream, offset, length, and whether the stream ends.
    Stream {
        /// Stream ID.
        stream: u64,
        /// Offset of the first byte.
        offset: u64,
        /// Bytes of data.
        length: u64,
        /// The stream ends with this data.
        is_last: bool,
    },
    /// CONNECTION_CLOSE of either kind, which ends the packet.
    Close,
    /// Any other frame. All of them are ack-eliciting.
    Other(Other<'a>),
}

/// A frame that only a log reads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Other<'a> {
    /// Its type (RFC 9000, section 12.4).
    pub kind: u64,
    /// Name in qlog.
    pub name: &'static str,
    /// Its integers, in their order; zeros where it has fewer.
    pub numbers: [u64; 4],
    /// Its bytes: a connection ID, or the data of a path's challenge.
    pub bytes: &'a [u8],
}

impl QuicFrame<'_> {
    /// True if a packet with this frame is to be acknowledged (RFC 9002, section 2).
    pub const fn is_ack_eliciting(&self) -> bool {
        !matches!(self, Self::Padding(_) | Self::Ack(_) | Self::Close)
    }

    /// Name in qlog.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Padding(_) => "padding",
            Self::Ping => "ping",
            Self::Ack(_) => "ack",
            Self::Crypto(..) => "crypto",
            Self::Stream { .. } => "stream",
            Self::Close => "connection_close",
            Self::Other(other) => other.name,
        }
    }
}

/// An ACK frame: the ranges are read as they are asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ack<'a> {
    /// Largest packet number acknowledged.
    pub largest: u64,
    /// Delay of the acknowledgement, in the peer's unit.
    pub delay: u64,
    /// Counts of packets that arrived with ECT(0), ECT(1) and CE.
    pub ecn: Option<[u64; 3]>,
    first: u64,
    ranges: &'a [u8],
    count: u64,
}

impl Ack<'_> {
    /// Returns the lowest packet number of the first range, and the encoded ranges below it.
    pub(crate) fn lower(&self) -> (u64, &[u8]) {
        (self.largest.saturating_sub(self.first), self.ranges)
    }

    /// Returns the ranges of packet numbers, first and last, from the highest down.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut reader = Reader(self.ranges);
        let mut next = Some((self.largest.saturating_sub(self.first), self.largest));
        let mut left = self.count;
        std::iter::from_fn(move || {
            let (low, high) = next?;
            next = None;
            if left > 0 {
                left -= 1;
                let gap = reader.varint()?;
                let length = reader.varint()?;
                // RFC 9000, section 19.3.1: largest = previous smallest - gap - 2.
                if let Some(high) = low.checked_sub(gap + 2) {
                    next = Some((high.saturating_sub(length), high));
                }
            }
            Some((low, high))
        })
    }
}

/// Returns the frames of a payload; an unknown frame ends it.
pub fn frames(payload: &[u8]) -> impl Iterator<Item = QuicFrame<'_>> {
    let mut reader = Reader(payload);
    std::iter::from_fn(move || frame(&mut reader))
}

fn frame<'a>(reader: &mut Reader<'a>) -> Option<QuicFrame<'a>> {
    let kind = reader.varint()?;
    let other = |reader: &mut Reader<'a>, name, count: usize| {
        let mut numbers = [0; 4];
        for number in &mut numbers[..count] {
            *number = reader.varint()?;
        }
        Some(QuicFrame::Other(Other { kind, name, numbers, bytes: &[] }))
    };
    match kind {
        0x00 => {
            let more = reader.0.iter().take_while(|byte| **byte == 0).count();
            reader.take(more)?;
            Some(QuicFrame::Padding(1 + more))
        }
        0x01 => Some(QuicFrame::Ping),
        0x02 | 0x03 => {
            let (largest, delay) = (reader.varint()?, reader.varint()?);
            let (count, first) = (reader.varint()?, reader.varint()?);
            let rest = reader.0;
            for _ in 0..count {
                reader.skip_varint()?;
                reader.skip_varint()?;
            }
            let ranges = &rest[..rest.len() - reader.0.len()];
            let ecn = if kind == 0x03 {
                Some([reader.varint()?, reader.varint()?, reader.varint()?])
            } else {
                None
            };
            Some(QuicFrame::Ack(Ack { largest, delay, ecn, first, ranges, count }))
        }
        0x04 => other(reader, "reset_stream", 3),
        0x05 => other(reader, "stop_sending", 2),
        0x06 => {
            let (offset, length) = (reader.varint()?, reader.varint()?);
            reader.take(usize::try_from(length).ok()?)?;
            Some(QuicFrame::Crypto(offset, length))
        }
        0x07 => {
            let length = reader.varint()?;
            let bytes = reader.take(usize::try_from(length).ok()?)?;
            Some(QuicFrame::Other(Other { kind, name: "new_token", numbers: [0; 4], bytes }))
        }
        0x08..=0x0F => {
            let stream = reader.varint()?;
            let offset = if kind & 4 != 0 { reader.varint()? } else { 0 };
            // Without a length the data run to the end of the packet (RFC 9000, section 19.8).
            let length = if kind & 2 != 0 { reader.varint()? } else { reader.0.len() as u64 };
            reader.take(usize::try_from(length).ok()?)?;
            Some(QuicFrame::Stream { stream, offset, length, is_last: kind & 1 != 0 })
        }
        0x10 => other(reader, "max_data", 1),
        0x11 => other(reader, "max_stream_data", 2),
        0x12 | 0x13 => other(reader, "max_streams", 1),
        0x14 => other(reader, "data_blocked", 1),
        0x15 => other(reader, "stream_data_blocked", 2),
        0x16 | 0x17 => other(reader, "streams_blocked", 1),
        0x18 => {
            let numbers = [reader.varint()?, reader.varint()?, 0, 0];
            let size = reader.byte()?;
            let bytes = reader.take(usize::from(size))?;
            // The stateless reset token.
            reader.take(16)?;
            Some(QuicFrame::Other(Other { kind, name: "new_connection_id", numbers, bytes }))
        }
        0x19 => other(reader, "retire_connection_id", 1),
        0x1A | 0x1B => {
            let bytes = reader.take(8)?;
            let name = if kind == 0x1A { "path_challenge" } else { "path_response" };
            Some(QuicFrame::Other(Other { kind, name, numbers: [0; 4], bytes }))
        }
        0x1C | 0x1D => {
            // Error code and reason: nobody reads them, and no frame follows.
            reader.take(reader.0.len())?;
            Some(QuicFrame::Close)
        }
        HANDSHAKE_DONE => other(reader, "handshake_done", 0),
        // draft-ietf-quic-ack-frequency-04, section 10.2: IMMEDIATE_ACK and ACK_FREQUENCY.
        0x1F | 0xAC => other(reader, "immediate_ack", 0),
        0xAF => other(reader, "ack_frequency", 4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packet_numbers_follow_the_appendix() {
        // RFC 9000, appendix A.3: 0x9b32 after 0xa82f30ea is 0xa82f9b32.
        let packet = QuicPacket {
            kind: PacketKind::OneRtt,
            truncated: 0x9B32,
            number_size: 2,
            destination: &[],
            source: &[],
            size: 0,
            payload: &[],
        };
        assert_eq!(packet.number(0xA82F_30EB), 0xA82F_9B32);
        let wrapped = QuicPacket { truncated: 2, number_size: 1, ..packet };
        assert_eq!((wrapped.number(0), wrapped.number(255), wrapped.number(258)), (2, 258, 258));
    }

    #[test]
    fn variable_integers_follow_the_appendix() {
        // RFC 9000, appendix A.1.
        for (bytes, number) in [
            (&[0xC2, 0x19, 0x7C, 0x5E, 0xFF, 0x14, 0xE8, 0x8C][..], 151_288_809_941_952_652),
            (&[0x9D, 0x7F, 0x3E, 0x7D], 494_878_333),
            (&[0x7B, 0xBD], 15_293),
            (&[0x25], 37),
        ] {
            assert_eq!(Reader(bytes).varint(), Some(number));
        }
    }

    /// The frames of RFC 9000, section 19, that carry numbers or bytes, one after the other: each takes its own
    /// bytes and no more, or the next would be another.
    #[test]
    fn frames_take_their_own_bytes() {
        let payload = [
            &[0x10, 1][..],
            &[0x11, 1, 2],
            &[0x12, 1],
            &[0x13, 1],
            &[0x14, 1],
            &[0x15, 1, 2],
            &[0x16, 1],
            &[0x17, 1],
            &[0x18, 1, 0, 4, 9, 9, 9, 9],
            &[7; 16],
            &[0x19, 1],
            &[0x1A, 1, 2, 3, 4, 5, 6, 7, 8],
            &[0x1B, 1, 2, 3, 4, 5, 6, 7, 8],
            &[0x1E],
            &[0x1F],
            &[0x40, 0xAC],
            &[0x40, 0xAF, 1, 2, 3, 4],
            &[0x01],
        ]
        .concat();
        let names: Vec<_> = frames(&payload)
            .map(|frame| match frame {
                QuicFrame::Other(other) => other.name,
                QuicFrame::Ping => "ping",
                frame => panic!("{frame:?}"),
            })
            .collect();
        assert_eq!(
            names,
            [
                "max_data",
                "max_stream_data",
                "max_streams",
                "max_streams",
                "data_blocked",
                "stream_data_blocked",
                "streams_blocked",
                "streams_blocked",
                "new_connection_id",
                "retire_connection_id",
                "path_challenge",
                "path_response",
                "handshake_done",
                "immediate_ack",
                "immediate_ack",
                "ack_frequency",
                "ping",
            ]
        );
        // A frame that is cut off ends the payload.
        assert_eq!(frames(&[0x1A, 1, 2, 3]).count(), 0);
    }

    #[test]
    fn ranges_of_an_acknowledgement() {
        // Largest 20, delay 0, two further ranges, first range 2: 18..20; gap 3, length 1: 12..13; gap 0,
        // length 0: 10.
        let payload = [0x02, 20, 0, 2, 2, 3, 1, 0, 0, 0x01];
        let found: Vec<_> = frames(&payload).collect();
        let [QuicFrame::Ack(ack), QuicFrame::Ping] = found[..] else { panic!("{found:?}") };
        assert_eq!(ack.ranges().collect::<Vec<_>>(), [(18, 20), (12, 13), (10, 10)]);
    }

    #[test]
    fn a_stream_frame_without_length_takes_the_rest() {
        let payload = [0x0D, 4, 0x40, 100, 7, 7, 7];
        let found: Vec<_> = frames(&payload).collect();
        assert_eq!(found, [QuicFrame::Stream { stream: 4, offset: 100, length: 3, is_last: true }]);
        assert!(found[0].is_ack_eliciting());
    }

    #[test]
    fn coalesced_packets_are_read_one_after_the_other() {
        let mut bytes = vec![0xE0, 0, 0, 0, 1, 1, 9, 1, 8, 18, 5, 0x01];
        bytes.extend([0; TAG]);
        bytes.extend([0x41, 1, 2, 3, 4, 5, 6, 7, 8, 0, 9, 0x01]);
        bytes.extend([0; TAG]);
        let found: Vec<_> = packets(&bytes)
            .map(|packet| (packet.kind, packet.truncated, packet.size, packet.payload.len()))
            .collect();
        assert_eq!(found, [(PacketKind::Handshake, 5, 28, 1), (PacketKind::OneRtt, 9, 28, 1)]);
    }
}
