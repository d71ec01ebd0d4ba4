//! The TCP segment as sender, receiver and driver exchange it.

use crate::SeqNumber;
use std::fmt;

/// Bytes of an IPv4 header without options.
pub const IPV4_HEADER: u32 = 20;
/// Bytes of a TCP header without options.
pub const TCP_HEADER: u32 = 20;
/// Bytes of the timestamps option.
const TIMESTAMPS_SIZE: u32 = 12;

/// The control bits of the header (RFC 9293 section 3.1), at their places on the wire.
#[derive(Clone, Copy, Default, Eq, Hash, PartialEq)]
pub struct Flags(u16);

impl Flags {
    /// No bit.
    pub const NONE: Self = Self(0);
    /// No more data from the sender.
    pub const FIN: Self = Self(1);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(2);
    /// Reset the connection.
    pub const RST: Self = Self(4);
    /// Push: the end of a write.
    pub const PSH: Self = Self(8);
    /// The acknowledgement field is valid.
    pub const ACK: Self = Self(16);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(64);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(128);
    /// Accurate ECN (RFC 9768); once the nonce sum (RFC 3540).
    pub const AE: Self = Self(256);

    /// The flags of these bits on the wire: bytes 13 and 14 of the header, without its length.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & 0x1ff)
    }

    /// The flags AE, CWR and ECE with these three bits (RFC 9768 figure 3: the ACE field).
    pub const fn of_ace(ace: u8) -> Self {
        Self(((ace & 7) as u16) << 6)
    }

    /// AE, CWR and ECE as a number of three bits, AE the highest.
    pub const fn ace(self) -> u8 {
        ((self.0 >> 6) & 7) as u8
    }

    /// Whether all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The bits of both.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The bits on the wire.
    pub const fn bits(self) -> u16 {
        self.0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [(Flags, &str); 8] = [
            (Flags::SYN, "S"),
            (Flags::FIN, "F"),
            (Flags::RST, "R"),
            (Flags::PSH, "P"),
            (Flags::ACK, "."),
            (Flags::ECE, "E"),
            (Flags::CWR, "W"),
            (Flags::AE, "A"),
        ];
        NAMES.iter().filter(|(flag, _)| self.contains(*flag)).try_for_each(|(_, name)| f.write_str(name))
    }
}

/// One SACK block: the bytes `start..end` have arrived (RFC 2018).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub start: SeqNumber,
    /// The sequence number following the block's last.
    pub end: SeqNumber,
}

/// The timestamps option (RFC 7323 section 3).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the peer's clock, echoed.
    pub echo: u32,
}

const HAS_MSS: u8 = 1;
const HAS_SACK_PERMITTED: u8 = 2;
const HAS_WINDOW_SCALE: u8 = 4;
const HAS_TIMESTAMPS: u8 = 8;
const HAS_CUSTOM: u8 = 16;
/// Two bits of the IP header, not options (RFC 3168 section 5): a queue marked the packet (CE), and the
/// sender would react to a mark (ECT).
const MARKED: u8 = 32;
const ECN_CAPABLE: u8 = 64;
/// The sender is scalable (L4S): ECT(1) in place of ECT(0) (RFC 9331 section 4.1).
const L4S: u8 = 128;

/// One TCP segment without its payload bytes: only their number is carried.
#[derive(Clone, Copy, Default, Eq, PartialEq)]
pub struct Segment {
    /// Sequence number of the first byte (or of the SYN or FIN).
    pub seq: SeqNumber,
    /// Acknowledgement number; meaningful with [`Flags::ACK`].
    pub ack: SeqNumber,
    /// Payload length, bytes.
    pub len: u32,
    /// The window field as it stands in the header, that is before scaling (RFC 7323 section 2).
    pub window: u16,
    /// Control bits.
    pub flags: Flags,
    present: u8,
    /// Not on the wire. The sender numbers its transmissions from 1. The receiver puts on each ACK the tag of
    /// the earliest arrived segment that this ACK answers. By RFC 7323 section 4.3 this is the first segment
    /// since the last ACK that started at or below the left edge of then. Otherwise, as for every duplicate
    /// ACK, it is the segment that triggered the ACK. 0: unknown. Only statistics use the tag (exact counts
    /// of spurious timeouts); no rule of the protocol reads it.
    pub tag: u32,
    timestamps: Timestamps,
    custom: u32,
    mss: u16,
    window_scale: u8,
    sack_count: u8,
    sack: [SackBlock; 4],
}

impl Segment {
    /// Most SACK blocks a segment carries (RFC 2018 section 3: 40 bytes of options).
    pub const MAX_SACK: usize = 4;

    /// A segment with these header fields and no options.
    pub fn new(seq: SeqNumber, ack: SeqNumber, len: u32, window: u16, flags: Flags) -> Self {
        Self { seq, ack, len, window, flags, ..Self::default() }
    }

    /// The maximum segment size option (RFC 9293 section 3.7.1), bytes.
    pub const fn mss(&self) -> Option<u16> {
        if self.present & HAS_MSS != 0 { Some(self.mss) } else { None }
    }

    /// Whether the SACK-permitted option is present (RFC 2018 section 2).
    pub const fn sack_permitted(&self) -> bool {
        self.present & HAS_SACK_PERMITTED != 0
    }

    /// The window scale option's shift count (RFC 7323 section 2).
    pub const fn window_scale(&self) -> Option<u8> {
        if self.present & HAS_WINDOW_SCALE != 0 { Some(self.window_scale) } else { None }
    }

    /// The timestamps option.
    pub const fn timestamps(&self) -> Option<Timestamps> {
        if self.present & HAS_TIMESTAMPS != 0 { Some(self.timestamps) } else { None }
    }

    /// The custom option: kind 253 with a 16-bit experiment identifier (RFC 6994) and a 32-bit value.
    pub const fn custom(&self) -> Option<u32> {
        if self.present & HAS_CUSTOM != 0 { Some(self.custom) } else { None }
    }

    /// The SACK blocks, the most recent first (RFC 2018 section 4).
    pub fn sack(&self) -> &[SackBlock] {
        &self.sack[..usize::from(self.sack_count)]
    }

    /// Whether a queue on the way has marked the packet: congestion experienced, in its IP header (RFC 3168).
    pub const fn is_marked(&self) -> bool {
        self.present & MARKED != 0
    }

    /// Marks the packet.
    pub fn mark(&mut self) {
        self.present |= MARKED;
    }

    /// Whether the packet says that its sender reacts to marks: ECN-capable transport, ECT(0), in its IP
    /// header (RFC 3168 section 5). A queue that signals congestion marks such a packet and drops any other.
    pub const fn is_ecn_capable(&self) -> bool {
        self.present & ECN_CAPABLE != 0
    }

    /// Whether the packet is an L4S sender's: ECT(1) (RFC 9331 section 4.1).
    pub const fn is_l4s(&self) -> bool {
        self.present & L4S != 0
    }

    /// Says that the packet is ECN-capable, and an L4S sender's.
    pub fn set_l4s(&mut self) {
        self.present |= ECN_CAPABLE | L4S;
    }

    /// Says so.
    pub fn set_ecn_capable(&mut self) {
        self.present |= ECN_CAPABLE;
    }

    /// Sets the MSS option.
    pub fn set_mss(&mut self, mss: u16) {
        self.mss = mss;
        self.present |= HAS_MSS;
    }

    /// Sets the SACK-permitted option.
    pub fn set_sack_permitted(&mut self) {
        self.present |= HAS_SACK_PERMITTED;
    }

    /// Sets the window scale option; a shift above 14 becomes 14 (RFC 7323 section 2.3).
    pub fn set_window_scale(&mut self, shift: u8) {
        self.window_scale = shift.min(14);
        self.present |= HAS_WINDOW_SCALE;
    }

    /// Sets the timestamps option.
    pub fn set_timestamps(&mut self, value: u32, echo: u32) {
        self.timestamps = Timestamps { value, echo };
        self.present |= HAS_TIMESTAMPS;
    }

    /// Sets the custom option.
    pub fn set_custom(&mut self, value: u32) {
        self.custom = value;
        self.present |= HAS_CUSTOM;
    }

    /// Adds a SACK block behind those present. False when the options are full: 4 blocks, or 3 beside
    /// timestamps.
    pub fn push_sack(&mut self, start: SeqNumber, end: SeqNumber) -> bool {
        let room = if self.present & HAS_TIMESTAMPS != 0 { 3 } else { Self::MAX_SACK };
        let count = usize::from(self.sack_count);
        if count >= room {
            return false;
        }
        self.sack[count] = SackBlock { start, end };
        self.sack_count += 1;
        true
    }

    /// Sequence numbers the segment takes: payload, plus one for SYN and one for FIN (RFC 9293 section 3.4).
    pub const fn sequence_len(&self) -> u32 {
        self.len + self.flags.contains(Flags::SYN) as u32 + self.flags.contains(Flags::FIN) as u32
    }

    /// Whether it has no mark and, of options, the timestamps of a connection with `timestamps` alone.
    #[inline]
    pub const fn is_plain(&self, timestamps: bool) -> bool {
        let expected = if timestamps { HAS_TIMESTAMPS } else { 0 };
        self.present & !ECN_CAPABLE == expected && self.sack_count == 0
    }

    /// Bytes of the options, each in whole 32-bit words as stacks lay them out (RFC 7323 appendix A). MSS 4;
    /// SACK-permitted 4, or inside the padding of timestamps; window scale 4; timestamps 12; SACK 4 + 8 per
    /// block; custom 8.
    pub const fn options_size(&self) -> u32 {
        if self.present == 0 && self.sack_count == 0 {
            return 0;
        }
        if self.is_plain(true) {
            return TIMESTAMPS_SIZE;
        }
        let timestamps = self.present & HAS_TIMESTAMPS != 0;
        let mut size = 0;
        if self.present & HAS_MSS != 0 {
            size += 4;
        }
        if timestamps {
            size += TIMESTAMPS_SIZE;
        } else if self.present & HAS_SACK_PERMITTED != 0 {
            size += 4;
        }
        if self.present & HAS_WINDOW_SCALE != 0 {
            size += 4;
        }
        if self.present & HAS_CUSTOM != 0 {
            size += 8;
        }
        if self.sack_count > 0 {
            size += 4 + 8 * self.sack_count as u32;
        }
        size
    }

    /// Bytes on the network layer: IPv4 and TCP headers, options, payload.
    pub const fn wire_size(&self) -> u32 {
        IPV4_HEADER + TCP_HEADER + self.options_size() + self.len
    }
}

impl fmt::Debug for Segment {
    /// In the manner of tcpdump: `[S.] seq 0:1 ack 1 win 65535 len 0 <mss 1460>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.seq.plus(self.sequence_len());
        write!(f, "[{:?}] seq {}:{end}", self.flags, self.seq)?;
        if self.flags.contains(Flags::ACK) {
            write!(f, " ack {}", self.ack)?;
        }
        write!(f, " win {} len {}", self.window, self.len)?;
        if let Some(mss) = self.mss() {
            write!(f, " <mss {mss}>")?;
        }
        if self.sack_permitted() {
            f.write_str(" <sackOK>")?;
        }
        if let Some(shift) = self.window_scale() {
            write!(f, " <wscale {shift}>")?;
        }
        if let Some(ts) = self.timestamps() {
            write!(f, " <ts {} {}>", ts.value, ts.echo)?;
        }
        for block in self.sack() {
            write!(f, " <sack {}:{}>", block.start, block.end)?;
        }
        if let Some(custom) = self.custom() {
            write!(f, " <custom {custom:#x}>")?;
        }
        if self.is_marked() {
            f.write_str(" <CE>")?;
        } else if self.is_l4s() {
            f.write_str(" <ECT(1)>")?;
        } else if self.is_ecn_capable() {
            f.write_str(" <ECT>")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(value: u32) -> SeqNumber {
        SeqNumber::new(value)
    }

    #[test]
    fn wire_size_counts_headers_and_options() {
        let mut data = Segment::new(n(1), n(1), 1000, 100, Flags::ACK);
        assert_eq!(data.wire_size(), 1040);
        data.set_timestamps(1, 2);
        assert_eq!(data.wire_size(), 1052);
        let mut syn = Segment::new(n(0), n(0), 0, 100, Flags::SYN);
        syn.set_mss(1460);
        syn.set_sack_permitted();
        syn.set_window_scale(20);
        // What Linux sends without timestamps: 20 + 20 + 4 + 4 + 4; with them 60.
        assert_eq!((syn.wire_size(), syn.window_scale()), (52, Some(14)));
        syn.set_timestamps(7, 0);
        assert_eq!(syn.wire_size(), 60);
        // ECN's bits are in the IP header as it is.
        data.set_ecn_capable();
        data.mark();
        assert_eq!((data.wire_size(), data.is_ecn_capable(), data.is_marked()), (1052, true, true));
        assert_eq!((syn.sequence_len(), data.sequence_len()), (1, 1000));
    }

    /// RFC 2018 section 3: four blocks fill the options, three beside timestamps.
    #[test]
    fn sack_room() {
        let mut plain = Segment::new(n(1), n(1), 0, 100, Flags::ACK);
        assert_eq!((0..6).filter(|i| plain.push_sack(n(i * 10), n(i * 10 + 5))).count(), 4);
        assert_eq!(plain.wire_size(), 40 + 36);
        let mut stamped = Segment::new(n(1), n(1), 0, 100, Flags::ACK);
        stamped.set_timestamps(1, 2);
        assert_eq!((0..6).filter(|i| stamped.push_sack(n(i * 10), n(i * 10 + 5))).count(), 3);
        assert_eq!(stamped.wire_size(), 40 + 40);
        assert!(std::mem::size_of::<Segment>() <= 72);
    }
}
