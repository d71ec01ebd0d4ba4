//! Segments of a subflow as bytes: the TCP header from the sequence number on, and its options.
//!
//! A [`Datagram`] has the headers of IPv4 and UDP already. UDP's 8 bytes stand for ports, checksum and urgent
//! pointer of TCP, so a segment has its true size. Data sequence numbers have 64 bits, as Linux sends them.

use cogtcp_endpoint::Datagram;
use cogtcp_transport::{Flags, Segment, SeqNumber};

/// Header bytes before the options.
const FIXED: usize = 12;
/// Most bytes of options (RFC 9293 section 3.1).
const MOST_OPTIONS: usize = 40;
const NOP: u8 = 1;
const MPTCP: u8 = 30;

/// What MPTCP adds to a segment (RFC 8684 section 3).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Mptcp {
    /// MP_CAPABLE on a SYN: the first data sequence number.
    pub capable: Option<u64>,
    /// MP_JOIN on a SYN.
    pub join: bool,
    /// DATA_ACK: the next data sequence number that the receiver expects.
    pub ack: Option<u64>,
    /// Data sequence number of the first byte of the payload.
    pub map: Option<u64>,
    /// DATA_FIN.
    pub fin: bool,
}

/// Returns the datagram of `segment` with `mptcp`.
///
/// SACK blocks for which the other options leave no room are left out, the oldest first, as in Linux.
pub fn encode(segment: &Segment, mptcp: &Mptcp) -> Datagram {
    let mut bytes = Vec::with_capacity(FIXED + MOST_OPTIONS);
    bytes.extend(segment.seq.get().to_be_bytes());
    bytes.extend(segment.ack.get().to_be_bytes());
    bytes.extend(segment.flags.bits().to_be_bytes());
    bytes.extend(segment.window.to_be_bytes());
    if let Some(mss) = segment.mss() {
        bytes.extend([2, 4]);
        bytes.extend(mss.to_be_bytes());
    }
    match (segment.sack_permitted(), segment.timestamps().is_some()) {
        (true, true) => bytes.extend([4, 2]),
        (true, false) => bytes.extend([NOP, NOP, 4, 2]),
        (false, true) => bytes.extend([NOP, NOP]),
        (false, false) => {}
    }
    if let Some(stamps) = segment.timestamps() {
        bytes.extend([8, 10]);
        bytes.extend(stamps.value.to_be_bytes());
        bytes.extend(stamps.echo.to_be_bytes());
    }
    if let Some(shift) = segment.window_scale() {
        bytes.extend([NOP, 3, 3, shift]);
    }
    put_mptcp(&mut bytes, segment, mptcp);
    let room = (FIXED + MOST_OPTIONS).saturating_sub(bytes.len() + 4) / 8;
    let blocks = &segment.sack()[..segment.sack().len().min(room)];
    if !blocks.is_empty() {
        bytes.extend([NOP, NOP, 5, 2 + 8 * blocks.len() as u8]);
        for block in blocks {
            bytes.extend(block.start.get().to_be_bytes());
            bytes.extend(block.end.get().to_be_bytes());
        }
    }
    debug_assert!(
        bytes.len() <= FIXED + MOST_OPTIONS,
        "options of {} bytes: {segment:?}",
        bytes.len() - FIXED
    );
    // The data offset counts the ports, checksum and urgent pointer too.
    bytes[8] |= (((bytes.len() + 8) / 4) << 4) as u8;
    Datagram { bytes, filler: segment.len, ..Datagram::default() }
}

fn put_mptcp(bytes: &mut Vec<u8>, segment: &Segment, mptcp: &Mptcp) {
    let syn = segment.flags.contains(Flags::SYN);
    if let Some(first) = mptcp.capable {
        // Departure: RFC 8684 sends no key on the SYN, RFC 6824 sends one of 8 bytes. Version 1, no checksum,
        // HMAC-SHA256.
        bytes.extend([MPTCP, 12, 1, 1]);
        bytes.extend(first.to_be_bytes());
    } else if syn && mptcp.join {
        let length = if segment.flags.contains(Flags::ACK) { 16 } else { 12 };
        bytes.extend([MPTCP, length, 1 << 4, 0]);
        bytes.resize(bytes.len() + usize::from(length) - 4, 0);
    }
    if syn || (mptcp.ack.is_none() && mptcp.map.is_none() && !mptcp.fin) {
        return;
    }
    // Section 3.3: F, m and M (8 bytes), a and A (8 bytes).
    let mut length = 4;
    let mut flags = u8::from(mptcp.fin) << 4;
    if mptcp.ack.is_some() {
        (length, flags) = (length + 8, flags | 3);
    }
    if mptcp.map.is_some() {
        (length, flags) = (length + 14, flags | 12);
    }
    bytes.extend([MPTCP, length, 2 << 4, flags]);
    if let Some(ack) = mptcp.ack {
        bytes.extend(ack.to_be_bytes());
    }
    if let Some(map) = mptcp.map {
        bytes.extend(map.to_be_bytes());
        bytes.extend(segment.seq.get().to_be_bytes());
        bytes.extend((segment.len as u16).to_be_bytes());
        bytes.extend([NOP, NOP]);
    }
}

/// Reads what [`encode`] wrote; `None`: other bytes.
pub fn decode(datagram: &Datagram) -> Option<(Segment, Mptcp)> {
    let bytes = &datagram.bytes;
    let word = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let half = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let long = |at: usize| Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let (seq, ack) = (SeqNumber::new(word(0)?), SeqNumber::new(word(4)?));
    let flags = Flags::from_bits(half(8)?);
    let mut segment = Segment::new(seq, ack, datagram.filler, half(10)?, flags);
    if bytes.len() + 8 != usize::from(bytes[8] >> 4) * 4 {
        return None;
    }
    let mut mptcp = Mptcp::default();
    let mut at = FIXED;
    while at < bytes.len() {
        if bytes[at] == NOP {
            at += 1;
            continue;
        }
        let length = usize::from(*bytes.get(at + 1)?);
        if length < 2 || at + length > bytes.len() {
            return None;
        }
        match bytes[at] {
            2 => segment.set_mss(half(at + 2)?),
            3 => segment.set_window_scale(*bytes.get(at + 2)?),
            4 => segment.set_sack_permitted(),
            5 => {
                for block in (at + 2..at + length - 1).step_by(8) {
                    segment.push_sack(SeqNumber::new(word(block)?), SeqNumber::new(word(block + 4)?));
                }
            }
            8 => segment.set_timestamps(word(at + 2)?, word(at + 6)?),
            MPTCP => match bytes.get(at + 2)? >> 4 {
                0 => mptcp.capable = Some(long(at + 4)?),
                1 => mptcp.join = true,
                _ => {
                    let present = *bytes.get(at + 3)?;
                    mptcp.fin = present & 16 != 0;
                    let mut next = at + 4;
                    if present & 1 != 0 {
                        mptcp.ack = Some(long(next)?);
                        next += 8;
                    }
                    if present & 4 != 0 {
                        mptcp.map = Some(long(next)?);
                    }
                }
            },
            _ => {}
        }
        at += length;
    }
    Some((segment, mptcp))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(value: u32) -> SeqNumber {
        SeqNumber::new(value)
    }

    /// A data segment has 28 bytes of DSS as Linux sends it, an acknowledgement 12, beside IPv4's and TCP's
    /// 40.
    #[test]
    fn segments_have_their_true_size() {
        let mut data = Segment::new(n(7), n(9), 1460, 500, Flags::ACK);
        let mapped = Mptcp { ack: Some(1), map: Some(1 << 40), ..Mptcp::default() };
        assert_eq!(encode(&data, &mapped).wire_size(), 1460 + 40 + 28);
        data.set_timestamps(1, 2);
        assert_eq!(encode(&data, &mapped).wire_size(), 1460 + 40 + 40);
        let ack = Segment::new(n(7), n(9), 0, 500, Flags::ACK);
        let answer = Mptcp { ack: Some(1), ..Mptcp::default() };
        assert_eq!(encode(&ack, &answer).wire_size(), 40 + 12);
        assert_eq!(encode(&ack, &Mptcp::default()).wire_size(), ack.wire_size());
        // MP_JOIN: 12 bytes on the SYN, 16 on the SYN-ACK (section 3.2).
        let joins = |flags| {
            let syn = Segment::new(n(0), n(0), 0, 500, flags);
            encode(&syn, &Mptcp { join: true, ..Mptcp::default() }).wire_size()
        };
        assert_eq!((joins(Flags::SYN), joins(Flags::SYN | Flags::ACK)), (52, 56));
    }

    #[test]
    fn segments_are_read_as_written() {
        let mut segment = Segment::new(n(7), n(u32::MAX), 1000, 500, Flags::ACK | Flags::PSH);
        segment.push_sack(n(100), n(200));
        segment.push_sack(n(300), n(400));
        let mptcp = Mptcp { ack: Some(u64::MAX - 3), fin: true, ..Mptcp::default() };
        assert_eq!(decode(&encode(&segment, &mptcp)), Some((segment, mptcp)));
        let mut syn = Segment::new(n(7), n(0), 0, 65_535, Flags::SYN);
        syn.set_mss(1460);
        syn.set_sack_permitted();
        syn.set_timestamps(5, 0);
        syn.set_window_scale(7);
        for mptcp in
            [Mptcp { capable: Some(1 << 33), ..Mptcp::default() }, Mptcp { join: true, ..Mptcp::default() }]
        {
            assert_eq!(decode(&encode(&syn, &mptcp)), Some((syn, mptcp)));
        }
    }

    /// Section 3.3: DATA_ACK, mapping and DATA_FIN stand for themselves.
    #[test]
    fn each_part_of_a_dss_is_there_or_not() {
        for parts in 0..8 {
            let mptcp = Mptcp {
                ack: (parts & 1 != 0).then_some(1 << 40),
                map: (parts & 2 != 0).then_some(1 << 41),
                fin: parts & 4 != 0,
                ..Mptcp::default()
            };
            let segment = Segment::new(n(7), n(9), 1000, 500, Flags::ACK);
            assert_eq!(decode(&encode(&segment, &mptcp)), Some((segment, mptcp)), "{parts:03b}");
        }
    }

    /// 40 bytes of options: beside timestamps and a DATA_ACK one SACK block has room, without timestamps
    /// three.
    #[test]
    fn sack_blocks_give_way_to_the_data_ack() {
        let blocks = |stamped: bool| {
            let mut ack = Segment::new(n(1), n(1), 0, 500, Flags::ACK);
            if stamped {
                ack.set_timestamps(1, 2);
            }
            for k in 0..4 {
                ack.push_sack(n(k * 10), n(k * 10 + 5));
            }
            let read = decode(&encode(&ack, &Mptcp { ack: Some(3), ..Mptcp::default() }));
            read.map(|(read, _)| read.sack().len())
        };
        assert_eq!((blocks(false), blocks(true)), (Some(3), Some(1)));
    }

    #[test]
    fn foreign_bytes_are_refused() {
        for length in 0..30 {
            let bytes = vec![5; length];
            assert_eq!(decode(&Datagram { bytes, ..Datagram::default() }), None, "{length} bytes");
        }
    }

    fn bytes(segment: &Segment, mptcp: &Mptcp) -> String {
        encode(segment, mptcp).bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// RFC 9293 section 3.1 and RFC 8684 sections 3.1 to 3.3, from the sequence number on, without checksum and
    /// urgent pointer.
    #[test]
    fn segments_are_those_of_the_rfcs() {
        let mut syn = Segment::new(n(7), n(0), 0, 65_535, Flags::SYN);
        syn.set_mss(1460);
        syn.set_sack_permitted();
        syn.set_timestamps(5, 6);
        syn.set_window_scale(7);
        let capable = Mptcp { capable: Some(1 << 33), ..Mptcp::default() };
        let options = "020405b4 0402 080a0000000500000006 01030307 1e0c0101 0000000200000000";
        let expected = format!("00000007 00000000 d002 ffff {options}");
        assert_eq!(bytes(&syn, &capable), expected.replace(' ', ""));
        let join = Mptcp { join: true, ..Mptcp::default() };
        let mut plain = Segment::new(n(7), n(0), 0, 1, Flags::SYN);
        plain.set_sack_permitted();
        let expected = "00000007 00000000 9002 0001 01010402 1e0c1000 0000000000000000";
        assert_eq!(bytes(&plain, &join), expected.replace(' ', ""));
        // A SYN of plain TCP has no option of MPTCP.
        assert_eq!(bytes(&plain, &Mptcp::default()), "00000007000000006002000101010402");
        let answer = Segment::new(n(7), n(8), 0, 1, Flags::SYN | Flags::ACK);
        let expected = "00000007 00000008 9012 0001 1e101000 000000000000000000000000";
        assert_eq!(bytes(&answer, &join), expected.replace(' ', ""));
        let mut data = Segment::new(n(7), n(9), 1000, 500, Flags::ACK);
        data.push_sack(n(16), n(32));
        let dss = Mptcp { ack: Some(3), map: Some(4), fin: true, ..Mptcp::default() };
        let expected = "00000007 00000009 f010 01f4 \
            1e1a201f 0000000000000003 0000000000000004 00000007 03e8 0101 0101 050a 00000010 00000020";
        let expected: String = expected.split_whitespace().collect();
        let shown = bytes(&data, &dss);
        assert_eq!(shown, expected);
        let mut stamped = Segment::new(n(7), n(9), 0, 500, Flags::ACK);
        stamped.set_timestamps(1, 2);
        let ack = Mptcp { ack: Some(3), ..Mptcp::default() };
        let expected = "00000007 00000009 b010 01f4 0101080a0000000100000002 1e0c2003 0000000000000003";
        assert_eq!(bytes(&stamped, &ack), expected.replace(' ', ""));
        // A DATA_FIN alone is a DSS; a segment without any of it has none.
        let fin = Mptcp { fin: true, ..Mptcp::default() };
        let bare = Segment::new(n(7), n(9), 0, 500, Flags::ACK);
        assert_eq!(bytes(&bare, &fin), "0000000700000009".to_owned() + "601001f4" + "1e042010");
        assert_eq!(bytes(&bare, &Mptcp::default()), "0000000700000009501001f4");
    }

    /// An option of less than two bytes, one beyond the end, and an offset that is another length.
    #[test]
    fn options_that_do_not_fit_are_refused() {
        let header = |offset: u8, options: &[u8]| {
            let mut bytes = vec![0; FIXED];
            bytes[8] = offset << 4;
            bytes.extend(options);
            decode(&Datagram { bytes, ..Datagram::default() }).is_some()
        };
        assert!(header(6, &[1, 1, 1, 1]) && !header(5, &[1, 1, 1, 1]) && !header(7, &[1, 1, 1, 1]));
        assert!(header(6, &[9, 2, 1, 1]) && header(6, &[9, 4, 7, 7]) && !header(6, &[9, 5, 7, 7]));
        assert!(!header(6, &[9, 1, 1, 1]) && !header(6, &[9, 0, 1, 1]) && !header(6, &[1, 1, 1, 9]));
    }
}
