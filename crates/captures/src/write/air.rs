//! Frames over the air of an ad hoc network: IEEE 802.11 behind a radiotap header, as a sniffer hears that
//! is on every channel. Section numbers refer to IEEE Std 802.11-2007.

use super::cells::{Cells, Tables, columns};
use super::nanoseconds;
use super::row::{LONGEST, Packets, datagram, octets};
use crate::pcapng::{self, RADIOTAP, WrittenPacket};
use cogtcp_headers::{IPV4_HEADER, IpEnds, UDP_HEADER};

const RETRY: u8 = 0x08;
const EVERYBODY: [u8; 6] = [0xff; 6];
/// One network for all, with a locally administered address (7.1.3.3.3).
const BSSID: &[u8; 6] = b"\x02cogtc";
/// The duration field holds so many microseconds (7.1.3.2).
const LONGEST_DURATION: u64 = 32_767;
/// Logical link control with a subnetwork access protocol header (RFC 1042), before the type of what follows.
const LLC: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
const TYPE_IP: [u8; 2] = [0x08, 0x00];
const TYPE_ARP: [u8; 2] = [0x08, 0x06];
/// RFC 3561 section 1; and the last port that can be registered, for messages that are in no RFC.
const AODV: u16 = 654;
const OTHERS: u16 = 49_151;
/// Radiotap: which fields are there. Without the flag for it no checksum ends the frame.
const FLAGS_AND_RATE: u8 = 0b110;
const FLAGS: u8 = 0b010;
const RATE_UNIT: f64 = 500_000.0;
/// Most bytes before IP: radiotap, 802.11, LLC.
const MOST_BEFORE_IP: u32 = 10 + 24 + 8;

/// The frames of a run.
#[derive(Debug)]
pub(super) struct Air {
    packets: Packets,
    time_s: Cells,
    channel: Cells,
    frame: Cells,
    transmitter: Cells,
    transmitter_radio: Cells,
    receiver: Cells,
    receiver_radio: Cells,
    rate_bps: Cells,
    reserves_s: Cells,
    sequence: Cells,
    retry: Cells,
    failed: Cells,
    message: Cells,
    octets: Cells,
    /// Channels in ascending order: an interface each.
    channels: Vec<u64>,
    next: usize,
}

impl Air {
    /// Adds the head of the file; `None`: no frames were recorded.
    pub(super) fn new(tables: &Tables, out: &mut Vec<u8>) -> Option<Self> {
        let [node] = columns(tables, "nodes", ["node"])?;
        let nodes = (0..node.len()).map(|row| node.text(row).to_owned()).collect();
        let packets = Packets::new(tables, "frames", Some(nodes))?;
        let [time_s, channel, frame, transmitter, transmitter_radio, receiver, receiver_radio] = columns(
            tables,
            "frames",
            ["time_s", "channel", "frame", "transmitter", "transmitter_radio", "receiver", "receiver_radio"],
        )?;
        let [rate_bps, reserves_s, sequence, retry, failed, message, octets] = columns(
            tables,
            "frames",
            ["rate_bps", "reserves_s", "sequence", "retry", "failed", "message", "octets"],
        )?;
        let mut channels: Vec<u64> = (0..channel.len()).map(|row| channel.whole(row)).collect();
        if channels.is_empty() {
            return None;
        }
        channels.sort_unstable();
        channels.dedup();
        for channel in &channels {
            let description = "simulated; each frame at its beginning; headers only, no frame check sequence";
            let name = format!("channel {channel}");
            pcapng::interface(out, &name, description, MOST_BEFORE_IP + LONGEST, RADIOTAP);
        }
        pcapng::names(out, packets.nodes.named());
        Some(Self {
            packets,
            time_s,
            channel,
            frame,
            transmitter,
            transmitter_radio,
            receiver,
            receiver_radio,
            rate_bps,
            reserves_s,
            sequence,
            retry,
            failed,
            message,
            octets,
            channels,
            next: 0,
        })
    }

    /// Adds the next frame; false: there is none.
    pub(super) fn add(&mut self, out: &mut Vec<u8>) -> bool {
        let row = self.next;
        if row >= self.time_s.len() {
            return false;
        }
        self.next += 1;
        let mut data = radiotap(self.rate_bps.number(row));
        self.mac(row, &mut data);
        let head = data.len();
        let content = self.content(row, &mut data);
        let mut comments = Vec::new();
        if !self.failed.text(row).is_empty() {
            comments.push(format!("the exchange failed: {}", self.failed.text(row)));
        }
        match self.packets.protocol(row) {
            "channel" => comments.push("announcement of a channel, content not included".to_owned()),
            "routing" if self.octets.text(row).is_empty() => {
                comments.push(format!("{} of routing, content not included", self.message.text(row)));
            }
            _ => {}
        }
        pcapng::packet(
            out,
            &WrittenPacket {
                interface: self.channels.partition_point(|known| *known < self.channel.whole(row)) as u32,
                time: nanoseconds(self.time_s.number(row)),
                data: &data,
                length: (head + content) as u32,
                outgoing: None,
                comments: &comments,
            },
        );
        true
    }

    /// Adds the header of a frame (7.2.1, 7.2.2).
    fn mac(&self, row: usize, out: &mut Vec<u8>) {
        // Nanoseconds first: the double may lie a hair above a whole microsecond, which would be rounded up.
        let duration = nanoseconds(self.reserves_s.number(row)).div_ceil(1000).min(LONGEST_DURATION);
        let kind = self.frame.text(row);
        // Type and subtype (7.1.3.1). To and from DS are 0, as in every ad hoc network.
        out.push(match kind {
            "rts" => 0xb4,
            "cts" => 0xc4,
            "ack" => 0xd4,
            _ => 0x08,
        });
        out.push(if self.retry.is(row) { RETRY } else { 0 });
        out.extend((duration as u16).to_le_bytes());
        out.extend(match self.receiver.text(row) {
            "" => EVERYBODY,
            node => self.mac_address(node, self.receiver_radio.whole(row)),
        });
        if matches!(kind, "cts" | "ack") {
            return;
        }
        out.extend(self.mac_address(self.transmitter.text(row), self.transmitter_radio.whole(row)));
        if kind != "rts" {
            out.extend(BSSID);
            // Sequence numbers have 12 bits; the 4 below are the number of the fragment (7.1.3.4).
            out.extend((((self.sequence.whole(row) % 4096) << 4) as u16).to_le_bytes());
        }
    }

    /// Returns the address of a radio: locally administered, its end as of the IP address.
    fn mac_address(&self, node: &str, radio: u64) -> [u8; 6] {
        let [a, b, c, d] = (self.packets.nodes.number(node).unwrap_or_default() as u32 + 1).to_be_bytes();
        [2, radio as u8, a, b, c, d]
    }

    /// Adds what is captured of a frame behind its MAC header, and returns its length.
    fn content(&self, row: usize, out: &mut Vec<u8>) -> usize {
        let protocol = self.packets.protocol(row);
        if protocol.is_empty() {
            return 0;
        }
        out.extend(LLC);
        if protocol == "arp" {
            let before = out.len();
            out.extend(TYPE_ARP);
            self.arp(row, out);
            return LLC.len() + out.len() - before;
        }
        out.extend(TYPE_IP);
        let head = LLC.len() + TYPE_IP.len();
        let whole = self.packets.wire_bytes(row) as usize;
        if matches!(protocol, "tcp" | "udp" | "icmp") {
            out.extend(self.packets.headers(row, ""));
            return head + whole;
        }
        let ip = IpEnds { ecn: 0, ..self.packets.ip(row) };
        let octets = octets(self.octets.text(row));
        let before = IPV4_HEADER + UDP_HEADER;
        if octets.is_empty() {
            // No RFC says how it looks: its length alone is known.
            out.extend(datagram(&ip, OTHERS, &[], whole.saturating_sub(before)));
            return head + whole;
        }
        // ns-2 takes a message for another length: no UDP header, and a time stamp.
        out.extend(datagram(&ip, AODV, &octets, octets.len()));
        head + before + octets.len()
    }

    /// Adds a message of RFC 826 for Ethernet and IPv4.
    fn arp(&self, row: usize, out: &mut Vec<u8>) {
        let [from, to] = self.packets.ends(row);
        let is_reply = self.message.text(row) == "reply";
        out.extend([0, 1]);
        out.extend(TYPE_IP);
        out.extend([6, 4, 0, if is_reply { 2 } else { 1 }]);
        out.extend(self.mac_address(from, self.transmitter_radio.whole(row)));
        out.extend(self.packets.nodes.address(from).octets());
        out.extend(if is_reply { self.mac_address(to, self.receiver_radio.whole(row)) } else { [0; 6] });
        out.extend(self.packets.nodes.address(to).octets());
    }
}

/// Returns a radiotap header; a rate is in it where its byte of 500 kbit/s can say it.
fn radiotap(rate_bps: f64) -> Vec<u8> {
    let units = rate_bps / RATE_UNIT;
    if units.fract() == 0.0 && (1.0..=255.0).contains(&units) {
        return vec![0, 0, 10, 0, FLAGS_AND_RATE, 0, 0, 0, 0, units as u8];
    }
    vec![0, 0, 9, 0, FLAGS, 0, 0, 0, 0]
}
