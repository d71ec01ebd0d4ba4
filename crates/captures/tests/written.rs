//! Captures of a run by hand: which packets a node sees, and each byte of a frame's headers.

use cogtcp_captures::{About, CapturedFrame, Data, Frames, Limits, Point, Tables, Values, read, write};
use std::sync::Arc;

#[derive(Debug)]
enum Column {
    Numbers(Vec<f64>),
    Codes(Vec<u64>),
    Bools(Vec<bool>),
    Texts(Vec<u32>, Vec<String>),
}

impl Values for Column {
    fn data(&self) -> Data<'_> {
        match self {
            Self::Numbers(values) => Data::F64(values),
            Self::Codes(values) => Data::U64(values),
            Self::Bools(values) => Data::Bool(values),
            Self::Texts(codes, words) => Data::Text(codes, words),
        }
    }
}

/// The words of a column, each one once in its dictionary, which begins with `first`.
fn texts(first: &[&str], values: &[&str]) -> Column {
    let mut words: Vec<String> = first.iter().map(|word| (*word).to_owned()).collect();
    let code = |word: &&str| {
        words.iter().position(|known| known == word).unwrap_or_else(|| {
            words.push((*word).to_owned());
            words.len() - 1
        }) as u32
    };
    let codes = values.iter().map(code).collect();
    Column::Texts(codes, words)
}

type Table = Vec<(&'static str, Column)>;

fn tables(all: Vec<(&str, Table)>) -> Tables {
    let columns = |table: Table| {
        table
            .into_iter()
            .map(|(name, column)| (name.to_owned(), Arc::new(column) as Arc<dyn Values>))
            .collect()
    };
    all.into_iter().map(|(name, table)| (name.to_owned(), columns(table))).collect()
}

fn capture(tables: &Tables, node: &str, link: &str, outgoing: &str) -> Vec<u8> {
    let about = About { application: "test".to_owned(), comment: "by hand".to_owned() };
    let point = Point { link: link.to_owned(), node: node.to_owned(), outgoing: outgoing.to_owned() };
    write(tables, &about, &point).expect("packets").flatten().collect()
}

fn frames(bytes: &[u8]) -> Vec<CapturedFrame> {
    let mut frames = Frames::new(bytes).expect("a capture");
    std::iter::from_fn(|| frames.next_frame().expect("bytes")).collect()
}

fn holds(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|window| window == words.as_bytes())
}

/// Seconds, event, cause, refused, link, direction, protocol, stream, from, to, payload, whole.
type Row = (
    f64,
    &'static str,
    &'static str,
    bool,
    &'static str,
    &'static str,
    &'static str,
    u64,
    &'static str,
    &'static str,
    u64,
    u64,
);

fn packets(rows: &[Row]) -> Table {
    let words = |of: fn(&Row) -> &'static str| texts(&[], &rows.iter().map(of).collect::<Vec<_>>());
    let nodes = |of: fn(&Row) -> &'static str| texts(&["s", "d"], &rows.iter().map(of).collect::<Vec<_>>());
    vec![
        ("time_s", Column::Numbers(rows.iter().map(|row| row.0).collect())),
        ("event", words(|row| row.1)),
        ("cause", words(|row| row.2)),
        ("refused", Column::Bools(rows.iter().map(|row| row.3).collect())),
        ("link", words(|row| row.4)),
        ("direction", words(|row| row.5)),
        ("protocol", words(|row| row.6)),
        ("stream", Column::Codes(rows.iter().map(|row| row.7).collect())),
        ("flow", words(|_| "f")),
        ("from", nodes(|row| row.8)),
        ("to", nodes(|row| row.9)),
        ("ttl", Column::Codes(vec![63; rows.len()])),
        ("ecn", Column::Codes(vec![2; rows.len()])),
        ("payload_bytes", Column::Codes(rows.iter().map(|row| row.10).collect())),
        ("wire_bytes", Column::Codes(rows.iter().map(|row| row.11).collect())),
    ]
}

/// Two flows of two streams each.
fn flows() -> Table {
    vec![
        ("flow", texts(&[], &["e", "f"])),
        ("from", texts(&[], &["d", "s"])),
        ("to", texts(&[], &["s", "d"])),
    ]
}

const NONE: f64 = f64::NAN;

/// A connection's first segments, each numbered by its packet: a SYN, its answer with two SACK blocks, data.
fn segments(packet: &[u64]) -> Table {
    let count = packet.len();
    let cycle = |values: [f64; 3]| Column::Numbers((0..count).map(|at| values[at % 3]).collect());
    let words =
        |values: [&'static str; 3]| texts(&[], &(0..count).map(|at| values[at % 3]).collect::<Vec<_>>());
    vec![
        ("packet", Column::Codes(packet.to_vec())),
        ("flags", words(["SEWA", ".", "FRP."])),
        ("seq", cycle([1.0, 5.0, 2.0])),
        ("ack", cycle([0.0, 2.0, 6.0])),
        ("window", cycle([65_535.0, 500.0, 400.0])),
        ("sack", words(["", "10-20 x-3 7 30-40", ""])),
        ("tsval", cycle([7.0, NONE, 9.0])),
        ("tsecr", cycle([0.0, NONE, NONE])),
        ("experimental", cycle([NONE, NONE, 12.0])),
        ("mss", cycle([1460.0, NONE, NONE])),
        ("sack_permitted", Column::Bools((0..count).map(|at| at % 3 == 0).collect())),
        ("window_scale", cycle([7.0, NONE, NONE])),
    ]
}

#[test]
fn segments_are_written_as_they_are_read() {
    let row = |time, from, to, stream, payload, whole| {
        (time, "queued", "", false, "l", "forward", "tcp", stream, from, to, payload, whole)
    };
    let rows = [
        // Options: MSS 4, SACK permitted and timestamps 12, scale 4.
        row(0.25, "s", "d", 0, 0, 60),
        // Two blocks: 20.
        row(1.0, "d", "s", 1, 0, 60),
        // The experiment: 8; one of two timestamps is none.
        row(86_400.000_000_001, "s", "d", 0, 100, 148),
    ];
    let tables =
        tables(vec![("packets", packets(&rows)), ("tcp_segments", segments(&[0, 1, 2])), ("flows", flows())]);
    let bytes = capture(&tables, "s", "l", "forward");
    assert!(holds(&bytes, "test") && holds(&bytes, "by hand") && holds(&bytes, "l at s"));
    // Names of 10.0.0.1 and 10.0.0.2.
    assert!(holds(&bytes, "\u{a}\0\0\u{1}s\0") && holds(&bytes, "\u{a}\0\0\u{2}d\0"));
    let found = read(&bytes[..], Limits::default()).expect("a capture");
    let rows = &found.packets;
    assert_eq!(rows.time, [250_000_000, 1_000_000_000, 86_400_000_000_001]);
    assert_eq!((&rows.seq[..], &rows.ack[..]), (&[1, 5, 2][..], &[0, 2, 6][..]));
    // SYN, ECE, CWR and AE; ACK; FIN, RST, PSH and ACK.
    assert_eq!(rows.flags, [0x2 | 0x40 | 0x80 | 0x100, 0x10, 0x1 | 0x4 | 0x8 | 0x10]);
    assert_eq!((&rows.window[..], &rows.payload[..]), (&[65_535, 500, 400][..], &[0, 0, 100][..]));
    assert_eq!(rows.size, [60, 60, 148]);
    assert_eq!((&rows.mss[..], &rows.scale[..]), (&[1460, 0, 0][..], &[7, 255, 255][..]));
    assert_eq!(rows.stamped, [true, false, false]);
    assert_eq!((&rows.tsval[..], &rows.tsecr[..]), (&[7, 0, 0][..], &[0, 0, 0][..]));
    assert_eq!((&rows.sack_low[..], &rows.sack_high[..]), (&[10, 30][..], &[20, 40][..]));
    assert_eq!((&found.ports[..], &rows.forward[..]), (&[(49_152, 5201)][..], &[true, false, true][..]));
    // Raw IP, of which 80 bytes of headers are kept.
    assert!(bytes.windows(8).any(|it| *it == [101, 0, 0, 0, 80, 0, 0, 0]));
    let first = &frames(&bytes)[0].data;
    // Version, ECN, length, may not be fragmented, TTL, protocol.
    assert_eq!(first[..10], [0x45, 2, 0, 60, 0, 0, 0x40, 0, 63, 6]);
    assert_eq!(first[12..20], [10, 0, 0, 1, 10, 0, 0, 2]);
    // SACK permitted stands beside the timestamps.
    assert_eq!(first[40..48], [2, 4, 1460_u16.to_be_bytes()[0], 1460_u16.to_be_bytes()[1], 4, 2, 8, 10]);
    // The experiment and its value.
    assert_eq!(frames(&bytes)[2].data[40..], [253, 8, 0xc0, 0x67, 0, 0, 0, 12]);
    // Elsewhere there is no packet of this link.
    assert!(frames(&capture(&tables, "s", "other", "forward")).is_empty());
}

#[test]
fn a_node_sees_what_it_sends_and_what_reaches_it() {
    let row = |time, event, cause, refused, link, direction| {
        (time, event, cause, refused, link, direction, "tcp", 0, "s", "d", 0, 40)
    };
    let rows = [
        row(1.0, "queued", "", false, "l", "forward"),
        row(2.0, "queued", "", false, "l", "forward"),
        row(3.0, "received", "", false, "l", "forward"),
        // The second one, of the same headers.
        row(4.0, "dropped", "channel", false, "l", "forward"),
        row(5.0, "dropped", "queue", true, "l", "forward"),
        row(6.0, "queued", "", false, "m", "forward"),
        row(7.0, "queued", "", false, "l", "reverse"),
        row(8.0, "received", "", false, "l", "reverse"),
        row(9.0, "dropped", "channel", false, "l", "reverse"),
    ];
    let tables = tables(vec![("packets", packets(&rows)), ("flows", flows())]);
    let times = |node: &str, outgoing: &str| -> Vec<i64> {
        frames(&capture(&tables, node, "l", outgoing)).iter().map(|it| it.time / 1_000_000_000).collect()
    };
    assert_eq!(times("s", "forward"), [1, 2, 5, 8]);
    assert_eq!(times("d", "reverse"), [3, 7]);
    let at_s = capture(&tables, "s", "l", "forward");
    assert!(holds(&at_s, "dropped at 4.000000000 s: channel"));
    assert!(holds(&at_s, "dropped at 5.000000000 s: queue"));
    // Option 2 of a block says whether the node sends (2) or receives (1).
    let directions =
        |bytes: &[u8], flag: u8| bytes.windows(8).filter(|it| **it == [2, 0, 4, 0, flag, 0, 0, 0]).count();
    assert_eq!((directions(&at_s, 2), directions(&at_s, 1)), (3, 1));
    let at_d = capture(&tables, "d", "l", "reverse");
    assert!(!holds(&at_d, "dropped at 4"), "a packet that is lost before it is not seen");
    assert!(!holds(&at_d, "dropped at 9"), "what it sent at 7 s has arrived");
}

/// Packets of one link direction are told apart by stream, protocol, payload and TCP's own fields.
#[test]
fn a_drop_is_of_the_packet_with_its_headers() {
    let row = |time, event, stream, payload, protocol| {
        (time, event, "channel", false, "l", "forward", protocol, stream, "s", "d", payload, 40 + payload)
    };
    for (queued, dropped) in [
        (row(2.0, "queued", 2, 0, "tcp"), row(3.0, "dropped", 2, 0, "tcp")),
        (row(2.0, "queued", 0, 8, "tcp"), row(3.0, "dropped", 0, 8, "tcp")),
        (row(2.0, "queued", 0, 0, "udp"), row(3.0, "dropped", 0, 0, "udp")),
    ] {
        let rows = [row(1.0, "queued", 0, 0, "tcp"), queued, dropped];
        let tables = tables(vec![("packets", packets(&rows)), ("flows", flows())]);
        let bytes = capture(&tables, "s", "l", "forward");
        let comment = bytes.windows(7).position(|it| it == b"dropped").expect("a comment");
        // The comment stands in the second packet's block: behind it are a flag, an end and the length alone.
        assert!(bytes.len() - comment < 60, "{dropped:?}");
    }
    // The same stream, and another value of one column: the second packet's, or the first one's.
    let of = |event, time| row(time, event, 0, 0, "tcp");
    let rows = [of("queued", 1.0), of("queued", 2.0), of("dropped", 3.0)];
    for telling in ["flags", "seq", "ack", "window", "sack", "tsval", "tsecr", "experimental"] {
        for is_second in [true, false] {
            let mut segments = segments(&[0, 1, 2]);
            for (name, column) in &mut segments {
                let at = if *name == telling { [1, 2, if is_second { 2 } else { 1 }] } else { [1; 3] };
                *column = match *name {
                    "packet" => Column::Codes(vec![0, 1, 2]),
                    "flags" | "sack" => texts(&[], &at.map(|it| if it == 1 { "" } else { "S" })),
                    "sack_permitted" => Column::Bools(vec![false; 3]),
                    _ => Column::Numbers(at.map(f64::from).to_vec()),
                };
            }
            let tables =
                tables(vec![("packets", packets(&rows)), ("tcp_segments", segments), ("flows", flows())]);
            let bytes = capture(&tables, "s", "l", "forward");
            let comment = bytes.windows(7).position(|it| it == b"dropped").expect("a comment");
            assert_eq!(bytes.len() - comment < 60, is_second, "{telling}");
        }
    }
}

/// A datagram begins with the bytes that are recorded, with zeros up to 64: Wireshark needs a sample of QUIC.
#[test]
fn datagrams_have_their_first_bytes() {
    let row = |payload| (0.0, "queued", "", false, "l", "forward", "udp", 2, "s", "d", payload, 28 + payload);
    let rows = [row(1200), row(40), row(3), row(8)];
    let payloads =
        vec![("packet", Column::Codes(vec![0, 1, 2])), ("bytes", texts(&[], &["c301", "c301", "c30102zz"]))];
    let tables = tables(vec![("packets", packets(&rows)), ("payloads", payloads), ("flows", flows())]);
    let bytes = capture(&tables, "s", "l", "forward");
    let found = frames(&bytes);
    // IP, UDP, then 64 bytes at most; the last one has none.
    let lengths: Vec<usize> = found.iter().map(|frame| frame.data.len()).collect();
    assert_eq!(lengths, [28 + 64, 28 + 40, 28 + 3, 28]);
    assert_eq!(found[0].data[28..31], [0xc3, 1, 0]);
    assert_eq!(found[2].data[28..], [0xc3, 1, 2]);
    // Ports of the second flow, length, and where UDP is named.
    assert_eq!(found[0].data[20..26], [0xc0, 1, 0x14, 0x51, 0x04, 0xb8]);
    assert_eq!((found[0].data[9], found[0].length), (17, 1228));
    // The interface keeps whole datagrams where payloads are recorded, else headers of 80 bytes.
    assert_eq!(bytes.windows(4).filter(|it| **it == [0xff, 0xff, 0, 0]).count(), 1);
}

/// RFC 792: the quoted packet's header and 8 bytes, its ports and sequence number.
#[test]
fn an_unreachable_host_is_told_with_the_flows_own_packet() {
    let row = (0.0, "received", "", false, "l", "forward", "icmp", 1, "d", "s", 0, 56);
    let mut segments = segments(&[0]);
    segments[2].1 = Column::Numbers(vec![258.0]);
    let tables = tables(vec![("packets", packets(&[row])), ("tcp_segments", segments), ("flows", flows())]);
    let found = frames(&capture(&tables, "s", "l", "reverse"));
    let icmp = &found[0].data[20..];
    assert_eq!((found[0].data.len(), icmp[0], icmp[1]), (56, 3, 1));
    assert_eq!((&icmp[8..12], &icmp[17..18]), (&[0x45, 0, 0, 40][..], &[6][..]));
    assert_eq!(icmp[20..28], [10, 0, 0, 1, 10, 0, 0, 2]);
    assert_eq!(icmp[28..], [0xc0, 1, 0x14, 0x51, 0, 0, 1, 2], "the third stream is the second flow's");
}

/// Channel, kind, transmitter, receiver, rate, reserves, sequence, retry, failed, protocol, message, octets.
type AirRow = (
    u64,
    &'static str,
    &'static str,
    &'static str,
    f64,
    f64,
    u64,
    bool,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

fn air(rows: &[AirRow]) -> Tables {
    let words = |of: fn(&AirRow) -> &'static str| texts(&[], &rows.iter().map(of).collect::<Vec<_>>());
    let codes = |of: fn(&AirRow) -> u64| Column::Codes(rows.iter().map(of).collect());
    let same = |number: u64| Column::Codes(vec![number; rows.len()]);
    let frames = vec![
        ("time_s", Column::Numbers((0..rows.len()).map(|at| at as f64).collect())),
        ("channel", codes(|row| row.0)),
        ("frame", words(|row| row.1)),
        ("transmitter", words(|row| row.2)),
        ("transmitter_radio", same(1)),
        ("receiver", words(|row| row.3)),
        ("receiver_radio", same(2)),
        ("rate_bps", Column::Numbers(rows.iter().map(|row| row.4).collect())),
        ("reserves_s", Column::Numbers(rows.iter().map(|row| row.5).collect())),
        ("sequence", codes(|row| row.6)),
        ("retry", Column::Bools(rows.iter().map(|row| row.7).collect())),
        ("failed", words(|row| row.8)),
        ("message", words(|row| row.10)),
        ("octets", words(|row| row.11)),
        ("protocol", words(|row| row.9)),
        ("stream", same(0)),
        ("flow", words(|_| "f")),
        ("from", words(|row| row.2)),
        ("to", words(|row| row.3)),
        ("ttl", same(9)),
        ("ecn", same(3)),
        ("payload_bytes", same(0)),
        ("wire_bytes", same(52)),
    ];
    let nodes = vec![("node", texts(&[], &["n0", "s", "d"]))];
    tables(vec![("frames", frames), ("nodes", nodes), ("flows", flows())])
}

const S: [u8; 6] = [2, 1, 0, 0, 0, 2];
const D: [u8; 6] = [2, 2, 0, 0, 0, 3];

/// IEEE 802.11-2007 section 7.2: frame control, duration in microseconds, addresses, sequence number.
#[test]
fn frames_of_the_air_have_their_headers() {
    let row = |kind, to, rate, reserves, sequence, retry| {
        (3, kind, "s", to, rate, reserves, sequence, retry, "", "", "", "")
    };
    for (row, radiotap, control, duration) in [
        (row("rts", "d", 1e6, 0.001, 0, false), 10, [0xb4, 0], 1000_u16),
        (row("cts", "d", 2e6, 0.000_500_2, 0, false), 10, [0xc4, 0], 501),
        (row("ack", "d", 127.5e6, 0.0, 0, false), 10, [0xd4, 0], 0),
        (row("data", "d", 128e6, 0.032_767, 4095, true), 9, [0x08, 0x08], 32_767),
        // More than the field holds; no whole number of 500 kbit/s.
        (row("data", "", 5.25e6, 0.1, 4096, false), 9, [0x08, 0], 32_767),
        (row("data", "", 0.0, 0.1, 1, false), 9, [0x08, 0], 32_767),
        (row("data", "d", 0.5e6, 0.1, 1, false), 10, [0x08, 0], 32_767),
    ] {
        let found = &frames(&capture(&air(&[row]), "", "", ""))[0];
        assert_eq!(found.link, 127);
        let data = &found.data;
        assert_eq!(data[..4], [0, 0, radiotap, 0], "{row:?}");
        assert_eq!(data[4..8], [if radiotap == 10 { 6 } else { 2 }, 0, 0, 0]);
        if radiotap == 10 {
            assert_eq!(data[8..10], [0, (row.4 / 500_000.0) as u8]);
        }
        let mac = &data[usize::from(radiotap)..];
        assert_eq!((&mac[..2], &mac[2..4]), (&control[..], &duration.to_le_bytes()[..]), "{row:?}");
        assert_eq!(mac[4..10], if row.3.is_empty() { [0xff; 6] } else { D });
        let length = match row.1 {
            "rts" => 16,
            "data" => 24,
            _ => 10,
        };
        assert_eq!((mac.len(), found.length), (length, (length + usize::from(radiotap)) as u32));
        if length > 10 {
            assert_eq!(mac[10..16], S);
        }
        if length == 24 {
            assert_eq!(mac[16..22], *b"\x02cogtc");
            assert_eq!(mac[22..], (((row.6 % 4096) << 4) as u16).to_le_bytes());
        }
    }
}

#[test]
fn channels_are_interfaces_in_their_order() {
    let row = |channel, failed| (channel, "ack", "s", "d", 1e6, 0.0, 0, false, failed, "", "", "");
    let bytes = capture(&air(&[row(7, ""), row(2, "timeout"), row(7, ""), row(5, "")]), "", "", "");
    for name in ["channel 2", "channel 5", "channel 7", "the exchange failed: timeout"] {
        assert!(holds(&bytes, name), "{name}");
    }
    // The number of the interface stands behind kind and length of an enhanced packet block.
    let words: Vec<u32> = bytes.chunks(4).map(|it| u32::from_le_bytes(it.try_into().unwrap())).collect();
    let blocks = words.windows(3).filter(|it| it[0] == 6 && (32..200).contains(&it[1]));
    let interfaces: Vec<u32> = blocks.map(|it| it[2]).collect();
    assert_eq!(interfaces, [2, 0, 2, 1]);
    let tables = air(&[]);
    let about = About { application: String::new(), comment: String::new() };
    let point = Point { link: String::new(), node: String::new(), outgoing: String::new() };
    assert!(write(&tables, &about, &point).is_none(), "no frame was recorded");
}

#[test]
fn what_data_frames_carry_is_behind_llc() {
    let row = |protocol, message, octets, to| {
        (3, "data", "s", to, 1e6, 0.0, 0, false, "", protocol, message, octets)
    };
    let content = |row: AirRow| {
        let bytes = capture(&air(&[row]), "", "", "");
        let frame = frames(&bytes).remove(0);
        assert_eq!(frame.data[34..40], [0xaa, 0xaa, 3, 0, 0, 0]);
        (frame.data[40..].to_vec(), frame.length as usize - 40, bytes)
    };
    // RFC 826: Ethernet, IPv4, lengths 6 and 4, operation, then both ends.
    let (request, length, _) = content(row("arp", "request", "", ""));
    assert_eq!((request.len(), length), (30, 30));
    assert_eq!(request[..10], [8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    assert_eq!((&request[10..16], &request[16..20]), (&S[..], &[10, 0, 0, 2][..]));
    assert_eq!((&request[20..26], &request[26..]), (&[0; 6][..], &[0xff; 4][..]));
    let (reply, ..) = content(row("arp", "reply", "", "d"));
    assert_eq!((reply[9], &reply[20..26], &reply[26..]), (2, &D[..], &[10, 0, 0, 3][..]));
    // A segment has its headers, and the length of its packet.
    let (tcp, length, _) = content(row("tcp", "", "", "d"));
    assert_eq!((&tcp[..4], tcp[2 + 9], length), (&[8, 0, 0x45, 3][..], 6, 2 + 52));
    assert_eq!(tcp.len(), 2 + 40);
    // A message of AODV has its bytes and its port; the length is theirs.
    let (aodv, length, bytes) = content(row("routing", "rreq", "01020304", ""));
    assert_eq!((aodv.len(), length), (2 + 28 + 4, 2 + 28 + 4));
    assert_eq!(aodv[2..4], [0x45, 0], "no ECN");
    assert_eq!((&aodv[22..28], &aodv[30..]), (&[2, 142, 2, 142, 0, 12][..], &[1, 2, 3, 4][..]));
    assert!(!holds(&bytes, "not included"));
    // What no RFC describes has a length alone.
    let (other, length, bytes) = content(row("routing", "hop", "", ""));
    assert_eq!((other.len(), length), (2 + 28, 2 + 52));
    assert_eq!(other[22..28], [0xbf, 0xff, 0xbf, 0xff, 0, 32]);
    assert!(holds(&bytes, "hop of routing, content not included"));
    let (.., bytes) = content(row("channel", "", "", ""));
    assert!(holds(&bytes, "announcement of a channel, content not included"));
}

/// A long capture comes in pieces of at least 64 KiB, and nothing is lost between them.
#[test]
fn pieces_are_one_capture() {
    let rows: Vec<AirRow> = vec![(3, "rts", "s", "d", 1e6, 0.0, 0, false, "", "", "", ""); 2000];
    let about = About { application: String::new(), comment: String::new() };
    let point = Point { link: String::new(), node: String::new(), outgoing: String::new() };
    let pieces: Vec<Vec<u8>> = write(&air(&rows), &about, &point).expect("frames").collect();
    assert!(pieces.len() > 1);
    let (last, others) = pieces.split_last().expect("pieces");
    assert!(others.iter().all(|piece| (1 << 16..(1 << 16) + 1000).contains(&piece.len())));
    assert!(last.len() < 1 << 16);
    assert_eq!(frames(&pieces.concat()).len(), 2000);
}
