//! Captures to columns: connections get numbers, copies of a frame are left out, kinds of others are counted.

use crate::Error;
use crate::file::{CapturedFrame, Frames};
use crate::packet::{Content, End, IpPacket, packet};
use crate::peel::{Peeled, frame};
use crate::source::open;
use std::collections::{BTreeMap, VecDeque};
use std::io::Read as Source;
use std::path::Path;

/// Longest time between two copies of a frame that a bridge, bond or mirror port makes, ns: 1 ms. A wired
/// retransmission of the same bytes has another IP identification, and comes a round trip later.
const COPY: i64 = 1_000_000;
/// Longest time between two copies in 802.11, ns. The MAC repeats a frame: 200 ms holds all its retries.
const COPY_80211: i64 = 200_000_000;
/// Frames among which a copy is looked for: those that a link of 10 Gbit/s carries in some microseconds.
const RECENT: usize = 64;

/// What gets a row, and limits of what is kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Rows of all columns together.
    pub rows: usize,
    /// Connections that get a number.
    pub connections: usize,
    /// Whether copies of a frame get rows too.
    pub copies: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { rows: 3_000_000, connections: 100_000, copies: false }
    }
}

/// TCP packets, one row each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TcpRows {
    /// Time since 1970, ns.
    pub time: Vec<i64>,
    /// Number of the frame in the order of the files: their times may step.
    pub order: Vec<u32>,
    /// Number of the file that the packet is from.
    pub file: Vec<u32>,
    /// Number of the connection.
    pub connection: Vec<u32>,
    /// Whether the packet goes as the connection's first packet of all files went.
    pub forward: Vec<bool>,
    /// Sequence number.
    pub seq: Vec<u32>,
    /// Acknowledgement number.
    pub ack: Vec<u32>,
    /// Flags of TCP.
    pub flags: Vec<u32>,
    /// Bytes of payload.
    pub payload: Vec<u32>,
    /// Bytes of IP, headers included.
    pub size: Vec<u32>,
    /// Window field, unscaled.
    pub window: Vec<u32>,
    /// Shift of the window, in a SYN; 255 without.
    pub scale: Vec<u32>,
    /// MSS option; 0 without.
    pub mss: Vec<u32>,
    /// Whether there are timestamps.
    pub stamped: Vec<bool>,
    /// Timestamp.
    pub tsval: Vec<u32>,
    /// Timestamp that is echoed.
    pub tsecr: Vec<u32>,
    /// Rows of SACK blocks.
    pub sack_row: Vec<u32>,
    /// First bytes of the blocks.
    pub sack_low: Vec<u32>,
    /// Ends of the blocks.
    pub sack_high: Vec<u32>,
}

/// ICMP echo requests and replies, one row each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Echoes {
    /// Time since 1970, ns.
    pub time: Vec<i64>,
    /// Number of the frame in the order of the files.
    pub order: Vec<u32>,
    /// Number of the file.
    pub file: Vec<u32>,
    /// Number of the pair of hosts.
    pub connection: Vec<u32>,
    /// Whether the host that asks is the first of the pair.
    pub forward: Vec<bool>,
    /// Whether it is a reply.
    pub reply: Vec<bool>,
    /// Identifier and sequence number.
    pub key: Vec<u32>,
    /// Bytes of IP.
    pub size: Vec<u32>,
}

/// UDP datagrams, one row each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Datagrams {
    /// Time since 1970, ns.
    pub time: Vec<i64>,
    /// Number of the file.
    pub file: Vec<u32>,
    /// Number of the connection.
    pub connection: Vec<u32>,
    /// Whether the datagram goes as the connection's first one.
    pub forward: Vec<bool>,
    /// First byte of the payload: QUIC's header form, fixed and spin bit (RFC 9000, RFC 9312).
    pub first: Vec<u32>,
    /// Bytes of payload.
    pub payload: Vec<u32>,
    /// Bytes of IP.
    pub size: Vec<u32>,
}

/// What captures hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Read {
    /// TCP packets.
    pub packets: TcpRows,
    /// Pings.
    pub echoes: Echoes,
    /// UDP.
    pub datagrams: Datagrams,
    /// Ports of each connection by its number: the port that its first packet came from, and the other.
    pub ports: Vec<(u16, u16)>,
    /// Frames by kind that are none of these.
    pub others: BTreeMap<&'static str, u64>,
    /// Frames of each file.
    pub frames: Vec<u64>,
    /// Copies of frames that were left out, of each file.
    pub copies: Vec<u64>,
    /// Bytes after which each file is cut off, where it is.
    pub cut: Vec<Option<u64>>,
    /// Files that were read only to the limit of rows.
    pub full: Vec<bool>,
}

/// Reads files together: a connection in two of them has one number.
///
/// # Errors
///
/// A file is no capture or cannot be read; the number is the file's place in `paths`.
pub fn read_files(paths: &[&Path], limits: Limits) -> Result<Read, (usize, Error)> {
    let mut reader = Reader::new(limits);
    for (number, path) in paths.iter().enumerate() {
        open(path).and_then(|source| reader.file(source)).map_err(|error| (number, error))?;
    }
    Ok(reader.found)
}

/// Reads one capture from any source.
///
/// # Errors
///
/// It is no capture, or cannot be read.
pub fn read(source: impl Source, limits: Limits) -> Result<Read, Error> {
    let mut reader = Reader::new(limits);
    reader.file(source)?;
    Ok(reader.found)
}

#[derive(Debug)]
struct Reader {
    limits: Limits,
    found: Read,
    rows: usize,
    /// Protocol and both ends, the lower first: number, and whether the first packet left the lower end.
    connections: BTreeMap<(u8, End, End), (u32, bool)>,
    recent: VecDeque<(u64, i64)>,
}

impl Reader {
    fn new(limits: Limits) -> Self {
        Reader {
            limits,
            found: Read::default(),
            rows: 0,
            connections: BTreeMap::new(),
            recent: VecDeque::with_capacity(RECENT),
        }
    }

    fn file(&mut self, source: impl Source) -> Result<(), Error> {
        let number = u32::try_from(self.found.frames.len()).unwrap_or(u32::MAX);
        let mut frames = Frames::new(source)?;
        self.recent.clear();
        let (mut count, mut copies, mut full) = (0, 0, false);
        while let Some(each) = frames.next_frame()? {
            count += 1;
            if self.rows >= self.limits.rows {
                full = true;
                break;
            }
            copies += u64::from(self.frame(number, &each));
        }
        if frames.timeless > 0 {
            *self.found.others.entry("packets without a time").or_default() += frames.timeless;
        }
        self.found.frames.push(count);
        self.found.copies.push(copies);
        self.found.cut.push(frames.cut);
        self.found.full.push(full);
        Ok(())
    }

    /// Adds a frame; true if it is a copy of another one, and left out.
    fn frame(&mut self, file: u32, each: &CapturedFrame) -> bool {
        let found = match frame(each.link, &each.data) {
            Peeled::Ip(at) => packet(&each.data, at, each.length),
            Peeled::Other(kind) => Err(kind),
        };
        match found {
            Err(kind) => {
                *self.found.others.entry(kind).or_default() += 1;
                false
            }
            Ok(packet) => {
                if !self.limits.copies && self.copied(each, &packet) {
                    return true;
                }
                self.row(file, each.time, &packet);
                false
            }
        }
    }

    /// Returns whether a packet was there a moment ago.
    fn copied(&mut self, each: &CapturedFrame, packet: &IpPacket) -> bool {
        // Without an identification, acknowledgements of the same moment may be alike: only data are compared.
        let comparable = packet.identification != 0
            || match &packet.content {
                Content::Tcp(tcp) => tcp.payload > 0,
                Content::Echo { .. } => true,
                _ => false,
            };
        if !comparable {
            return false;
        }
        let within = if matches!(each.link, 105 | 127) { COPY_80211 } else { COPY };
        let seen = self
            .recent
            .iter()
            .any(|(hash, time)| *hash == packet.hash && each.time.abs_diff(*time) <= within.unsigned_abs());
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((packet.hash, each.time));
        seen
    }

    /// Returns the number of a connection, and whether a packet goes forward; none beyond the limit.
    fn connection(&mut self, protocol: u8, source: End, target: End) -> Option<(u32, bool)> {
        let low = source <= target;
        let key = if low { (protocol, source, target) } else { (protocol, target, source) };
        if let Some((number, first_low)) = self.connections.get(&key) {
            return Some((*number, *first_low == low));
        }
        if self.connections.len() >= self.limits.connections {
            *self.found.others.entry("packets of further connections").or_default() += 1;
            return None;
        }
        let number = u32::try_from(self.connections.len()).ok()?;
        self.connections.insert(key, (number, low));
        self.found.ports.push((source.1, target.1));
        Some((number, true))
    }

    fn row(&mut self, file: u32, time: i64, packet: &IpPacket) {
        let protocol = match &packet.content {
            Content::Tcp(_) => 6,
            Content::Datagram { .. } => 17,
            Content::Echo { .. } => 1,
            Content::Other(kind) => {
                *self.found.others.entry(kind).or_default() += 1;
                return;
            }
        };
        let Some((connection, forward)) = self.connection(protocol, packet.source, packet.target) else {
            return;
        };
        let order = u32::try_from(self.rows).unwrap_or(u32::MAX);
        self.rows += 1;
        match &packet.content {
            Content::Tcp(tcp) => {
                let rows = &mut self.found.packets;
                let row = u32::try_from(rows.time.len()).unwrap_or(u32::MAX);
                rows.time.push(time);
                rows.order.push(order);
                rows.file.push(file);
                rows.connection.push(connection);
                rows.forward.push(forward);
                rows.seq.push(tcp.seq);
                rows.ack.push(tcp.ack);
                rows.flags.push(u32::from(tcp.flags));
                rows.payload.push(tcp.payload);
                rows.size.push(packet.size);
                rows.window.push(u32::from(tcp.window));
                rows.scale.push(tcp.options.window_scale.map_or(255, u32::from));
                rows.mss.push(tcp.options.mss.map_or(0, u32::from));
                rows.stamped.push(tcp.options.timestamps.is_some());
                let (tsval, tsecr) = tcp.options.timestamps.unwrap_or_default();
                rows.tsval.push(tsval);
                rows.tsecr.push(tsecr);
                for (low, high) in tcp.options.sack.iter() {
                    rows.sack_row.push(row);
                    rows.sack_low.push(*low);
                    rows.sack_high.push(*high);
                }
            }
            Content::Datagram { first, payload } => {
                let rows = &mut self.found.datagrams;
                rows.time.push(time);
                rows.file.push(file);
                rows.connection.push(connection);
                rows.forward.push(forward);
                rows.first.push(u32::from(*first));
                rows.payload.push(*payload);
                rows.size.push(packet.size);
            }
            Content::Echo { reply, key } => {
                let rows = &mut self.found.echoes;
                rows.time.push(time);
                rows.order.push(order);
                rows.file.push(file);
                rows.connection.push(connection);
                // A reply goes to the host that asked.
                rows.forward.push(forward != *reply);
                rows.reply.push(*reply);
                rows.key.push(*key);
                rows.size.push(packet.size);
            }
            Content::Other(_) => {}
        }
    }
}
