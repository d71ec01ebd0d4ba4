//! Packets that a node sees on a link.

use super::cells::{Cells, Tables, columns};
use super::row::{LONGEST, LONGEST_DATAGRAM, Packets};
use super::{Point, nanoseconds};
use crate::pcapng::{self, RAW_IP, WrittenPacket};
use std::collections::{BTreeMap, VecDeque};

/// Columns about what happened to a packet.
#[derive(Debug)]
struct Fates {
    time_s: Cells,
    event: Cells,
    cause: Cells,
    refused: Cells,
    link: Cells,
    direction: Cells,
}

/// The packets that a node sees on a link.
#[derive(Debug)]
pub(super) struct OnLink {
    packets: Packets,
    fates: Fates,
    point: Point,
    /// Numbers of packets with a payload, and the payloads.
    payloads: Option<[Cells; 2]>,
    /// Why packets that the node saw are dropped, by the row in which the node sees them.
    deaths: BTreeMap<usize, String>,
    next: usize,
}

impl OnLink {
    /// Adds the head of the file; `None`: no packets were recorded.
    pub(super) fn new(tables: &Tables, point: &Point, out: &mut Vec<u8>) -> Option<Self> {
        let [time_s, event, cause, refused, link, direction] =
            columns(tables, "packets", ["time_s", "event", "cause", "refused", "link", "direction"])?;
        if time_s.len() == 0 {
            return None;
        }
        let fates = Fates { time_s, event, cause, refused, link, direction };
        let payloads =
            columns(tables, "payloads", ["packet", "bytes"]).filter(|[packet, _]| packet.len() > 0);
        let packets = Packets::new(tables, "packets", None)?;
        let name = format!("{} at {}", point.link, point.node);
        let longest = if payloads.is_some() { LONGEST_DATAGRAM } else { LONGEST };
        let description = "simulated; headers only, checksums assume a payload of zeros";
        pcapng::interface(out, &name, description, longest, RAW_IP);
        pcapng::names(out, packets.nodes.named());
        let mut found =
            Self { packets, fates, point: point.clone(), payloads, deaths: BTreeMap::new(), next: 0 };
        found.deaths = found.deaths();
        Some(found)
    }

    fn is_here(&self, row: usize) -> bool {
        self.fates.link.text(row) == self.point.link
    }

    fn is_outgoing(&self, row: usize) -> bool {
        self.fates.direction.text(row) == self.point.outgoing
    }

    fn deaths(&self) -> BTreeMap<usize, String> {
        let mut deaths = BTreeMap::new();
        let mut under_way: BTreeMap<_, VecDeque<usize>> = BTreeMap::new();
        for row in (0..self.fates.link.len()).filter(|row| self.is_here(*row)) {
            // Packets of a stream with the same headers leave a link direction in the order in which they
            // came.
            let waiting =
                self.is_outgoing(row).then(|| under_way.entry(self.packets.identity(row)).or_default());
            let death = || {
                format!("dropped at {:.9} s: {}", self.fates.time_s.number(row), self.fates.cause.text(row))
            };
            match (self.fates.event.text(row), waiting) {
                ("queued", Some(waiting)) => waiting.push_back(row),
                ("received", Some(waiting)) => {
                    waiting.pop_front();
                }
                ("queued" | "received", None) => {}
                _ if self.fates.refused.is(row) => {
                    deaths.insert(row, death());
                }
                // Packets that come towards the node and are lost before it are never seen there.
                (_, waiting) => {
                    if let Some(seen) = waiting.and_then(VecDeque::pop_front) {
                        deaths.insert(seen, death());
                    }
                }
            }
        }
        deaths
    }

    /// Adds the next packet; false: there is none.
    pub(super) fn add(&mut self, out: &mut Vec<u8>) -> bool {
        while self.next < self.fates.link.len() {
            let row = self.next;
            self.next += 1;
            if self.is_here(row) && self.is_seen(row) {
                let payload = self
                    .payloads
                    .as_ref()
                    .and_then(|[packet, bytes]| Some(bytes.text(packet.find(row as u64)?)));
                let data = self.packets.headers(row, payload.unwrap_or(""));
                pcapng::packet(
                    out,
                    &WrittenPacket {
                        interface: 0,
                        time: nanoseconds(self.fates.time_s.number(row)),
                        data: &data,
                        length: self.packets.wire_bytes(row),
                        outgoing: Some(self.is_outgoing(row)),
                        comments: self.deaths.get(&row).map_or(&[], std::slice::from_ref),
                    },
                );
                return true;
            }
        }
        false
    }

    /// A node sees a packet that it sends when this enters the queue, or is refused; others on arrival.
    fn is_seen(&self, row: usize) -> bool {
        match (self.fates.event.text(row), self.is_outgoing(row)) {
            ("queued", is_outgoing) => is_outgoing,
            ("received", is_outgoing) => !is_outgoing,
            (_, is_outgoing) => is_outgoing && self.fates.refused.is(row),
        }
    }
}
