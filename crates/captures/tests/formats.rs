//! Files and packets byte by byte: blocks of pcapng, tunnels, what is a copy.

use cogtcp_captures::{CapturedFrame, Frames, Limits, Read, is_capture, read};
use cogtcp_headers::{
    IpEnds, PacketEnds, TcpOptions, WireSegment, ip_header, protocol, write_tcp, write_udp,
};

const MILLISECOND: i64 = 1_000_000;

fn ends() -> PacketEnds {
    PacketEnds { from: "10.0.0.1:4000".parse().unwrap(), to: "10.0.0.2:80".parse().unwrap() }
}

fn segment(payload: usize) -> Vec<u8> {
    write_tcp(ends(), &WireSegment { seq: 7, payload, ..WireSegment::default() })
}

/// A packet of any protocol between the two hosts.
fn ip(number: u8, content: &[u8]) -> Vec<u8> {
    let ends = IpEnds { from: ends().from.ip(), to: ends().to.ip(), ecn: 0, ttl: 64 };
    [&ip_header(&ends, number, content.len()), content].concat()
}

/// A file of pcap in nanoseconds, little-endian, that holds frames of a link type.
fn pcap(link: u32, frames: &[(i64, Vec<u8>)]) -> Vec<u8> {
    let mut out = vec![0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0];
    for word in [0, 0, 0x4_0000, link] {
        out.extend(u32::to_le_bytes(word));
    }
    for (time, data) in frames {
        let (seconds, rest) = (time / 1_000_000_000, time % 1_000_000_000);
        for word in [seconds as u32, rest as u32, data.len() as u32, data.len() as u32] {
            out.extend(word.to_le_bytes());
        }
        out.extend(data);
    }
    out
}

fn raw(frames: &[(i64, Vec<u8>)], limits: Limits) -> Read {
    read(&pcap(101, frames)[..], limits).expect("a capture")
}

fn of(packet: Vec<u8>) -> Read {
    raw(&[(0, packet)], Limits::default())
}

/// A block of pcapng, little-endian; its length stands at both ends.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let size = (12 + body.len() as u32).to_le_bytes();
    [&kind.to_le_bytes(), &size, body, &size].concat()
}

fn section() -> Vec<u8> {
    let body = [&[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0][..], &[0xff; 8]].concat();
    block(0x0a0d_0d0a, &body)
}

/// An interface with its options as they stand in the file.
fn interface(link: u8, options: &[u8]) -> Vec<u8> {
    block(1, &[&[link, 0, 0, 0, 0, 0, 0, 0][..], options].concat())
}

/// The words of a packet's block, then its data with their padding.
fn packet(kind: u32, words: [u32; 5], data: &[u8]) -> Vec<u8> {
    let mut body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    body.extend(data);
    body.resize(body.len().next_multiple_of(4), 0);
    block(kind, &body)
}

/// The frames of a file, the place of a cut, and frames without a time.
fn frames(blocks: &[Vec<u8>]) -> (Vec<CapturedFrame>, Option<u64>, u64) {
    let bytes = blocks.concat();
    let mut frames = Frames::new(&bytes[..]).expect("a capture");
    let mut found = Vec::new();
    while let Some(frame) = frames.next_frame().expect("bytes") {
        found.push(frame);
    }
    (found, frames.cut, frames.timeless)
}

/// Microseconds without an option, powers of ten and of two with one, seconds that are added, and the limits.
#[test]
fn times_are_in_units_of_their_interface() {
    let seconds = |count: u8| [14, 0, 8, 0, count, 0, 0, 0, 0, 0, 0, 0];
    let resolution = |power: u8| vec![9, 0, 1, 0, power, 0, 0, 0];
    let ticks = (3_u64 << 32) + 5;
    for (options, expected) in [
        (vec![], ticks as i64 * 1000),
        (resolution(9), ticks as i64),
        (resolution(3), ticks as i64 * MILLISECOND),
        // 2^-10 s: ticks / 1024 s.
        (resolution(0x8a), (u128::from(ticks) * 1_000_000_000 / 1024) as i64),
        // 2^-64 s is the finest unit that is kept, and all finer ones are taken for it.
        (resolution(0xc0), 0),
        (resolution(0x7f), 0),
        ([resolution(9), seconds(2).to_vec()].concat(), ticks as i64 + 2_000_000_000),
        // Behind the end of options nothing counts; an unknown one is skipped with its padding.
        ([vec![0, 0, 0, 0], resolution(9)].concat(), ticks as i64 * 1000),
        ([vec![2, 0, 3, 0, b'e', b't', b'h', 0], resolution(9)].concat(), ticks as i64),
        // An offset of another length than eight is none.
        (vec![14, 0, 4, 0, 1, 0, 0, 0], ticks as i64 * 1000),
    ] {
        let file = [section(), interface(101, &options), packet(6, [0, 3, 5, 2, 9], &[0x45, 1])];
        let (found, cut, timeless) = frames(&file);
        let frame = CapturedFrame { time: expected, link: 101, data: vec![0x45, 1], length: 9 };
        assert_eq!((found, cut, timeless), (vec![frame], None, 0), "{options:?}");
    }
    // Whole seconds: 2^32 of them are still a time in nanoseconds, 2^34 are not.
    for (high, expected) in [(1, (1_i64 << 32) * 1_000_000_000), (4, i64::MAX)] {
        let file = [section(), interface(101, &resolution(0)), packet(6, [0, high, 0, 0, 0], &[])];
        assert_eq!(frames(&file).0[0].time, expected);
    }
}

#[test]
fn a_packet_is_of_the_interface_that_its_block_names() {
    let two = [section(), interface(1, &[]), interface(127, &[])].concat();
    let links = |more: Vec<u8>| -> Vec<u16> {
        frames(&[two.clone(), more]).0.iter().map(|frame| frame.link).collect()
    };
    assert_eq!(links(packet(6, [0, 0, 0, 0, 0], &[])), [1]);
    assert_eq!(links(packet(6, [1, 0, 0, 0, 0], &[])), [127]);
    assert_eq!(links(packet(6, [2, 0, 0, 0, 0], &[])), [0; 0], "there is no third one");
    // The block before it has 16 bits of number, then the packets that were dropped.
    assert_eq!(links(packet(2, [1 | 9 << 16, 0, 0, 0, 0], &[])), [127]);
    assert_eq!(links(packet(6, [1 | 9 << 16, 0, 0, 0, 0], &[])), [0; 0]);
    // A section has interfaces of its own.
    assert_eq!(links([section(), packet(6, [0, 0, 0, 0, 0], &[])].concat()), [0; 0]);
    // A block too short for a packet is skipped, as one of another kind.
    assert_eq!(links([block(6, &[0; 16]), block(5, &[0; 8]), packet(6, [0; 5], &[])].concat()), [1]);
}

#[test]
fn data_are_kept_up_to_what_headers_take_and_their_length_is_told() {
    let start = [section(), interface(101, &[])].concat();
    for (size, kept) in [(0, 0), (1, 1), (511, 511), (512, 512), (513, 512), (1500, 512)] {
        let data: Vec<u8> = (0..size).map(|at| at as u8).collect();
        let next = packet(6, [0, 0, 1, 0, 0], &[]);
        let (found, cut, _) =
            frames(&[start.clone(), packet(6, [0, 0, 0, size, size / 2], &data), next.clone()]);
        assert_eq!((found[0].data.len(), found[0].length), (kept, size), "no shorter than what is there");
        assert_eq!((found.len(), cut, found[1].time), (2, None, 1000));
    }
}

#[test]
fn a_file_ends_at_the_first_damage() {
    // 28 bytes of section, 20 of interface.
    let start = [section(), interface(101, &[])].concat();
    let of_size = |size: u32| [&6_u32.to_le_bytes()[..], &size.to_le_bytes(), &[0; 24]].concat();
    for (damage, cut) in [
        (vec![], None),
        (vec![6], Some(49)),
        (vec![6, 0, 0, 0], Some(52)),
        (vec![6, 0, 0, 0, 32], Some(53)),
        // A length is at least 12, a multiple of four, and below 64 MiB.
        (of_size(8), Some(56)),
        (of_size(30), Some(56)),
        (of_size((1 << 26) + 4), Some(56)),
        // 20 bytes of words are read, and say that there are more data than the block holds.
        (packet(6, [0, 0, 0, 5, 5], &[0; 4]), Some(76)),
        (packet(6, [0, 0, 0, 4, 5], &[0; 4])[..34].to_vec(), Some(82)),
    ] {
        let (found, place, _) = frames(&[start.clone(), damage.clone()]);
        assert_eq!((found.len(), place), (0, cut), "{damage:?}");
    }
    let whole = packet(6, [0, 0, 0, 4, 4], &[0; 4]);
    assert_eq!(frames(&[start.clone(), whole]).0.len(), 1);
    // The length itself may be 12: a block without a body, of no packet.
    let empty = block(5, &[]);
    assert_eq!(frames(&[start, empty, packet(6, [0; 5], &[])]).0.len(), 1);
    // A section is at least as long as its own words; its byte order has two marks.
    for (size, mark, cut) in [(15_u32, 0x4d, Some(12)), (28, 0x4e, Some(12)), (28, 0x4d, None)] {
        let mut bytes = section();
        bytes[4..8].copy_from_slice(&size.to_le_bytes());
        bytes[8] = mark;
        assert_eq!(frames(&[bytes]), (vec![], cut, 0));
    }
}

#[test]
fn packets_without_a_time_are_counted() {
    let simple = block(3, &[20, 0, 0, 0, 1, 2, 3, 4]);
    let file = [section(), interface(101, &[]), simple.clone(), simple].concat();
    assert_eq!(frames(std::slice::from_ref(&file)), (vec![], None, 2));
    let found = read(&file[..], Limits::default()).expect("a capture");
    assert_eq!(found.others.into_iter().collect::<Vec<_>>(), [("packets without a time", 2)]);
    let none = raw(&[], Limits::default());
    assert!(none.others.is_empty());
}

/// Magic numbers of the formats' own documents, RFC 1952 and RFC 8878.
#[test]
fn a_capture_is_known_by_its_first_bytes() {
    for head in [
        [0xd4, 0xc3, 0xb2, 0xa1],
        [0xa1, 0xb2, 0xc3, 0xd4],
        [0x4d, 0x3c, 0xb2, 0xa1],
        [0xa1, 0xb2, 0x3c, 0x4d],
        [0x34, 0xcd, 0xb2, 0xa1],
        [0xa1, 0xb2, 0xcd, 0x34],
        [0x0a, 0x0d, 0x0d, 0x0a],
        [0x1f, 0x8b, 8, 0],
        [0x28, 0xb5, 0x2f, 0xfd],
    ] {
        assert!(is_capture(&head), "{head:x?}");
        let mut other = head;
        other[1] ^= 1;
        assert!(!is_capture(&other), "{other:x?}");
    }
    assert!(!is_capture(&[0xd4, 0xc3, 0xb2]) && !is_capture(&[]));
    for bytes in [&b"\xd4\xc3\xb2"[..], b"GET /", b""] {
        assert!(Frames::new(bytes).is_err());
    }
}

#[test]
fn records_of_pcap_are_bounded() {
    let good = pcap(101, &[(2_000_000_003, segment(5))]);
    let (found, cut, _) = frames(std::slice::from_ref(&good));
    assert_eq!((found[0].time, found[0].link, found[0].length, cut), (2_000_000_003, 101, 45, None));
    // The upper half of the link type is about frame check sequences.
    let mut checked = good.clone();
    checked[22] = 0x14;
    assert_eq!(frames(&[checked]).0[0].link, 101);
    // 64 MiB are the most that a record holds.
    for (size, cut) in [((1 << 26) + 1, 40), (1 << 26, good.len() as u64)] {
        let mut long = good.clone();
        long[32..36].copy_from_slice(&u32::to_le_bytes(size));
        assert_eq!(frames(&[long]), (vec![], Some(cut), 0));
    }
    for length in [24 + 15, 24 + 16, good.len() - 1] {
        assert_eq!(frames(&[good[..length].to_vec()]), (vec![], Some(length as u64), 0));
    }
    assert_eq!(frames(&[good[..24].to_vec()]), (vec![], None, 0));
    assert_eq!(frames(&[good[..23].to_vec()]), (vec![], Some(23), 0), "the file's own header");
}

/// RFC 2784 and RFC 2890: 4 bytes, and 4 more for each field that a flag announces; PPTP's version 1 also has
/// an acknowledgement (RFC 2637).
#[test]
fn gre_has_the_fields_of_its_flags() {
    for (flags, more) in [
        (0x0000_u16, 0),
        (0x8000, 4),
        (0x2000, 4),
        (0x1000, 4),
        (0x3000, 8),
        (0xb000, 12),
        // In version 0 this bit is reserved; in version 1 there is no checksum.
        (0x0080, 0),
        (0x3001, 8),
        (0x3081, 12),
        (0xa001, 4),
    ] {
        let mut content = flags.to_be_bytes().to_vec();
        content.extend([0x08, 0x00]);
        content.extend(vec![0xaa; more]);
        content.extend(segment(5));
        let found = of(ip(47, &content));
        assert_eq!((&found.packets.payload[..], found.others.len()), (&[5][..], 0), "{flags:x}");
    }
    assert_eq!(of(ip(47, &[0, 0, 8])).others.into_keys().collect::<Vec<_>>(), ["packets captured too short"]);
}

/// 3GPP TS 29.281 section 5.1: 8 bytes; 4 more if any of three flags is set, extension headers if the first is.
#[test]
fn gtp_is_peeled_with_its_extension_headers() {
    let to = PacketEnds { to: "10.0.0.2:2152".parse().unwrap(), ..ends() };
    let udp = |content: &[u8], ends: PacketEnds| of(write_udp(ends, content));
    let with =
        |flags: u8, kind: u8, more: &[u8]| [&[flags, kind, 0, 0, 0, 0, 0, 9][..], more, &segment(5)].concat();
    for (flags, more) in [
        (0x30, &[][..]),
        (0x32, &[0, 1, 0, 0]),
        (0x31, &[0, 0, 7, 0]),
        // What the next header is counts only if the flag for extensions is set.
        (0x32, &[0, 1, 0, 0x85]),
        (0x34, &[0, 0, 0, 0]),
        (0x34, &[0, 0, 0, 0x85, 1, 5, 5, 0]),
        (0x36, &[0, 0, 0, 0x85, 1, 5, 5, 0xc0, 2, 5, 5, 5, 5, 5, 5, 0]),
    ] {
        let content = with(flags, 255, more);
        assert_eq!(udp(&content, to).packets.payload, [5], "{flags:x} {more:?}");
        assert_eq!(udp(&content, to.reversed()).packets.payload, [5], "from this port");
    }
    for content in [with(0x30, 254, &[]), with(0x50, 255, &[]), with(0x34, 255, &[0, 0, 0, 0x85, 0, 0, 0, 0])]
    {
        assert_eq!(udp(&content, to).others.into_keys().collect::<Vec<_>>(), ["GTP control"]);
    }
    assert_eq!(
        udp(&[0x34, 255, 0, 0, 0, 0, 0, 9, 0, 0, 0], to).others.into_keys().collect::<Vec<_>>(),
        ["packets captured too short"]
    );
}

/// RFC 7348: 8 bytes behind UDP, then Ethernet; by the destination's port alone.
#[test]
fn vxlan_is_peeled_where_it_goes_to() {
    let to = PacketEnds { to: "10.0.0.2:4789".parse().unwrap(), ..ends() };
    let ethernet = [&[8, 0, 0, 0, 0, 0, 1, 0][..], &[0; 12], &[0x08, 0x00]].concat();
    let content = [&ethernet[..], &segment(5)].concat();
    assert_eq!(of(write_udp(to, &content)).packets.payload, [5]);
    let back = of(write_udp(to.reversed(), &content));
    assert_eq!((back.packets.time.len(), &back.datagrams.payload[..]), (0, &[8 + 14 + 45][..]));
}

#[test]
fn packets_within_packets_are_peeled_to_a_depth() {
    let within = |depth: usize| (0..depth).fold(segment(5), |inner, _| ip(4, &inner));
    // Six IP headers at most.
    assert_eq!(of(within(5)).packets.payload, [5]);
    assert_eq!(of(within(6)).others.into_keys().collect::<Vec<_>>(), ["packets within too many headers"]);
    let v6 = PacketEnds { from: "[fd63::1]:1".parse().unwrap(), to: "[fd63::2]:2".parse().unwrap() };
    let inner = write_tcp(v6, &WireSegment { payload: 6, ..WireSegment::default() });
    assert_eq!(of(ip(41, &inner)).ports, [(1, 2)]);
}

#[test]
fn what_has_no_row_is_counted_by_its_kind() {
    let fragment = |flags: u8, offset: u8| {
        let mut bytes = segment(5);
        (bytes[6], bytes[7]) = (flags, offset);
        bytes
    };
    for (bytes, kind) in [
        (ip(132, &[0; 12]), "SCTP"),
        (ip(50, &[0; 12]), "encrypted IP (ESP)"),
        (ip(89, &[0; 12]), "other protocols over IP"),
        (ip(1, &[3, 1, 0, 0, 0, 0, 0, 0]), "ICMP"),
        (ip(1, &[]), "packets captured too short"),
        (ip(1, &[8, 0, 0, 0, 1, 2, 3]), "packets captured too short"),
        (ip(6, &[0; 19]), "packets captured too short"),
        // A header of 16 bytes.
        (ip(6, &[&[0; 12][..], &[0x40, 0], &[0; 6]].concat()), "damaged TCP headers"),
        (ip(17, &[1, 2, 3]), "packets captured too short"),
        (fragment(0, 1), "later fragments"),
        (vec![0x50; 40], "packets that are not IP"),
        (vec![0x45; 10], "packets captured too short"),
    ] {
        let found = of(bytes.clone());
        assert_eq!(found.others.into_iter().collect::<Vec<_>>(), [(kind, 1)], "{bytes:?}");
        assert_eq!(found.frames, [1]);
    }
    // The first fragment has the header.
    assert_eq!(of(fragment(0x20, 0)).packets.payload, [5]);
}

/// A sender that leaves segmentation to its network card writes no length: the frame's length counts.
#[test]
fn a_length_of_zero_is_that_of_the_frame() {
    let mut bytes = segment(5);
    bytes[2..4].copy_from_slice(&[0, 0]);
    let found = of(bytes.clone());
    assert_eq!((&found.packets.payload[..], &found.packets.size[..]), (&[5][..], &[45][..]));
    // Behind 14 bytes of Ethernet, too.
    let frame = [&[0; 12][..], &[0x08, 0x00], &bytes].concat();
    let found = read(&pcap(1, &[(0, frame)])[..], Limits::default()).expect("a capture");
    assert_eq!((&found.packets.payload[..], &found.packets.size[..]), (&[5][..], &[45][..]));
}

#[test]
fn columns_of_tcp_have_the_fields_of_each_segment() {
    let mut options = TcpOptions {
        mss: Some(1460),
        window_scale: Some(7),
        timestamps: Some((3, 4)),
        ..TcpOptions::default()
    };
    options.sack.push(10, 20);
    let syn = WireSegment { seq: 1, ack: 2, flags: 0x112, window: 99, options, ..WireSegment::default() };
    let data = WireSegment { seq: 5, flags: 0x10, payload: 3, ..WireSegment::default() };
    let found =
        raw(&[(7, write_tcp(ends(), &syn)), (8, write_tcp(ends().reversed(), &data))], Limits::default());
    let rows = &found.packets;
    assert_eq!((&rows.time[..], &rows.order[..], &rows.file[..]), (&[7, 8][..], &[0, 1][..], &[0, 0][..]));
    assert_eq!((&rows.connection[..], &rows.forward[..]), (&[0, 0][..], &[true, false][..]));
    assert_eq!(
        (&rows.seq[..], &rows.ack[..], &rows.flags[..]),
        (&[1, 5][..], &[2, 0][..], &[0x112, 0x10][..])
    );
    // 20 of IP, 20 of TCP, options: MSS 4, timestamps 12, scale 4, a block 12.
    assert_eq!((&rows.payload[..], &rows.size[..]), (&[0, 3][..], &[72, 43][..]));
    assert_eq!(
        (&rows.window[..], &rows.scale[..], &rows.mss[..]),
        (&[99, 0][..], &[7, 255][..], &[1460, 0][..])
    );
    assert_eq!(
        (&rows.stamped[..], &rows.tsval[..], &rows.tsecr[..]),
        (&[true, false][..], &[3, 0][..], &[4, 0][..])
    );
    assert_eq!(
        (&rows.sack_row[..], &rows.sack_low[..], &rows.sack_high[..]),
        (&[0][..], &[10][..], &[20][..])
    );
    assert_eq!(found.ports, [(4000, 80)]);
}

#[test]
fn pings_and_datagrams_have_rows_of_their_own() {
    let ping = |kind: u8| ip(protocol::ICMP, &[kind, 0, 0, 0, 0, 1, 0, 2]);
    let mut answer = ping(0);
    // Back to the host that asked.
    answer[12..20].copy_from_slice(&[10, 0, 0, 2, 10, 0, 0, 1]);
    let datagram = write_udp(ends(), &[0xc3, 1, 2]);
    let found = raw(&[(1, ping(8)), (2, datagram), (3, answer)], Limits::default());
    let rows = &found.echoes;
    assert_eq!((&rows.time[..], &rows.order[..], &rows.file[..]), (&[1, 3][..], &[0, 2][..], &[0, 0][..]));
    assert_eq!((&rows.reply[..], &rows.key[..]), (&[false, true][..], &[0x1_0002; 2][..]));
    assert_eq!((&rows.forward[..], &rows.connection[..]), (&[true, true][..], &[0, 0][..]));
    assert_eq!(rows.size, [28, 28]);
    let rows = &found.datagrams;
    assert_eq!((&rows.time[..], &rows.file[..], &rows.connection[..]), (&[2][..], &[0][..], &[1][..]));
    assert_eq!((&rows.forward[..], &rows.first[..]), (&[true][..], &[0xc3][..]));
    assert_eq!((&rows.payload[..], &rows.size[..]), (&[3][..], &[31][..]));
    // ICMPv6 has other numbers.
    let v6 = IpEnds { from: "fd63::1".parse().unwrap(), to: "fd63::2".parse().unwrap(), ecn: 0, ttl: 1 };
    for (kind, reply) in [(128, &[false][..]), (129, &[true]), (8, &[]), (0, &[])] {
        let bytes = [&ip_header(&v6, 58, 8)[..], &[kind, 0, 0, 0, 0, 1, 0, 2]].concat();
        assert_eq!(of(bytes).echoes.reply, reply, "{kind}");
    }
}

/// A bridge or a mirror port makes copies within a millisecond; 802.11 repeats for 200.
#[test]
fn a_copy_is_the_same_packet_a_moment_later() {
    let numbered = |number: u8, payload: usize| {
        let mut bytes = segment(payload);
        bytes[5] = number;
        bytes
    };
    let copies = |frames: &[(i64, Vec<u8>)]| raw(frames, Limits::default()).copies[0];
    for (later, expected) in [(0, 1), (MILLISECOND, 1), (MILLISECOND + 1, 0), (-MILLISECOND, 1)] {
        let frames = [(5 * MILLISECOND, numbered(1, 0)), (5 * MILLISECOND + later, numbered(1, 0))];
        assert_eq!(copies(&frames), expected, "{later}");
    }
    // A router in between changes TTL and checksum of IP.
    let mut routed = numbered(1, 0);
    (routed[8], routed[10]) = (9, 9);
    assert_eq!(copies(&[(0, numbered(1, 0)), (0, routed)]), 1);
    assert_eq!(copies(&[(0, numbered(1, 0)), (0, numbered(2, 0))]), 0);
    assert_eq!(copies(&[(0, numbered(1, 7)), (0, numbered(1, 8))]), 0);
    // Without an identification only data and pings are compared.
    let ping = ip(1, &[8, 0, 0, 0, 0, 1, 0, 2]);
    for (packet, expected) in [(segment(0), 0), (segment(1), 1), (ping, 1), (write_udp(ends(), b"a"), 0)] {
        assert_eq!(copies(&[(0, packet.clone()), (0, packet)]), expected);
    }
    // A copy is looked for among 64 packets.
    for (others, expected) in [(63, 1), (64, 0)] {
        let mut frames = vec![(0, numbered(200, 0))];
        frames.extend((0..others).map(|number| (0, numbered(number + 1, 0))));
        frames.push((0, numbered(200, 0)));
        assert_eq!(copies(&frames), expected, "{others}");
    }
    // 802.11: a data frame of 24 bytes, LLC, IP.
    let air = |bytes: Vec<u8>| [&[8][..], &[0; 23], &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &bytes].concat();
    for (later, expected) in [(200 * MILLISECOND, 1), (200 * MILLISECOND + 1, 0)] {
        for link in [105, 127] {
            let radiotap = if link == 127 { vec![0, 0, 8, 0, 0, 0, 0, 0] } else { vec![] };
            let frame = [radiotap, air(numbered(1, 0))].concat();
            let found =
                read(&pcap(link, &[(0, frame.clone()), (later, frame)])[..], Limits::default()).unwrap();
            assert_eq!(found.copies, [expected], "{later}");
        }
    }
}

#[test]
fn limits_count_rows_and_connections() {
    let from = |port: u16| {
        let ends = PacketEnds { from: (ends().from.ip(), port).into(), ..ends() };
        write_tcp(ends, &WireSegment::default())
    };
    let frames: Vec<_> = [1, 2, 1, 3].map(|port| (0, from(port))).to_vec();
    for (connections, rows, refused) in [(3, 4, 0), (2, 3, 1), (1, 2, 2), (0, 0, 4)] {
        let found = raw(&frames, Limits { connections, ..Limits::default() });
        let counted = found.others.get("packets of further connections").copied().unwrap_or(0);
        assert_eq!((found.packets.time.len(), counted), (rows, refused), "{connections}");
        assert_eq!(found.ports.len(), connections);
    }
    for (rows, full) in [(5, false), (4, false), (3, true), (0, true)] {
        let found = raw(&frames, Limits { rows, ..Limits::default() });
        assert_eq!((found.packets.time.len(), found.full[0]), (rows.min(4), full), "{rows}");
    }
    // Rows of all kinds together.
    let mixed = [(0, from(1)), (0, write_udp(ends(), b"")), (0, from(2))];
    let found = raw(&mixed, Limits { rows: 2, ..Limits::default() });
    assert_eq!((found.packets.time.len(), found.datagrams.time.len(), found.full[0]), (1, 1, true));
}
