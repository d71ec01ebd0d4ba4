//! Writes pcapng (draft-ietf-opsawg-pcapng), little-endian: a section with its interfaces, the names of its
//! addresses, and a block for each packet.

/// Link type of packets that begin with their IP header (`LINKTYPE_RAW`).
pub const RAW_IP: u16 = 101;
/// Link type of IEEE 802.11 frames behind a radiotap header (`LINKTYPE_IEEE802_11_RADIOTAP`).
pub const RADIOTAP: u16 = 127;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const NAME_RESOLUTION: u32 = 4;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

// Codes of options: a comment in any block, the others in one kind of block.
const COMMENT: u16 = 1;
const SECTION_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_DESCRIPTION: u16 = 3;
const INTERFACE_RESOLUTION: u16 = 9;
const PACKET_FLAGS: u16 = 2;

/// Longest text of an option, bytes: the field holds 65,535.
const LONGEST_TEXT: usize = 65_000;

/// A packet to write.
#[derive(Clone, Debug)]
pub struct WrittenPacket<'a> {
    /// Number of the interface.
    pub interface: u32,
    /// Time since 1970, ns.
    pub time: u64,
    /// Captured bytes.
    pub data: &'a [u8],
    /// Length on the wire.
    pub length: u32,
    /// Sent (and not received) by the host that captures; `None`: the host is neither of its ends.
    pub outgoing: Option<bool>,
    /// Comments.
    pub comments: &'a [String],
}

/// Adds the block that begins a file: the program that wrote it, and what the file holds.
pub fn section_header(out: &mut Vec<u8>, application: &str, comment: &str) {
    block(out, SECTION_HEADER, |out| {
        out.extend(BYTE_ORDER_MAGIC.to_le_bytes());
        // Version 1.0, and a length that is not known.
        out.extend([1, 0, 0, 0]);
        out.extend(u64::MAX.to_le_bytes());
        option(out, COMMENT, text(comment).as_bytes());
        option(out, SECTION_APPLICATION, text(application).as_bytes());
        option(out, 0, &[]);
    });
}

/// Adds the block of an interface with times in nanoseconds; `longest` bytes of a packet are captured.
pub fn interface(out: &mut Vec<u8>, name: &str, description: &str, longest: u32, link_type: u16) {
    block(out, INTERFACE, |out| {
        out.extend(link_type.to_le_bytes());
        out.extend([0; 2]);
        out.extend(longest.to_le_bytes());
        option(out, INTERFACE_NAME, text(name).as_bytes());
        option(out, INTERFACE_DESCRIPTION, text(description).as_bytes());
        option(out, INTERFACE_RESOLUTION, &[9]);
        option(out, 0, &[]);
    });
}

/// Adds the block that names IPv4 addresses.
pub fn names<'a>(out: &mut Vec<u8>, names: impl Iterator<Item = ([u8; 4], &'a str)>) {
    block(out, NAME_RESOLUTION, |out| {
        for (address, name) in names {
            // A zero byte ends a name in this block.
            let name = text(name).replace('\0', "?");
            option(out, 1, &[&address[..], name.as_bytes(), &[0]].concat());
        }
        option(out, 0, &[]);
    });
}

/// Adds the block of a packet.
pub fn packet(out: &mut Vec<u8>, packet: &WrittenPacket<'_>) {
    block(out, ENHANCED_PACKET, |out| {
        let (high, low) = ((packet.time >> 32) as u32, packet.time as u32);
        for number in [packet.interface, high, low, packet.data.len() as u32, packet.length] {
            out.extend(number.to_le_bytes());
        }
        out.extend(packet.data);
        pad(out, packet.data.len());
        for comment in packet.comments {
            option(out, COMMENT, text(comment).as_bytes());
        }
        if let Some(outgoing) = packet.outgoing {
            option(out, PACKET_FLAGS, &[if outgoing { 2 } else { 1 }, 0, 0, 0]);
        }
        option(out, 0, &[]);
    });
}

/// Adds a block. Its length stands at both ends, so that a file can be read backwards.
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let begins = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    body(out);
    let length = ((out.len() - begins + 4) as u32).to_le_bytes();
    out[begins + 4..begins + 8].copy_from_slice(&length);
    out.extend(length);
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    out.extend(value);
    pad(out, value.len());
}

fn pad(out: &mut Vec<u8>, length: usize) {
    out.resize(out.len() + length.next_multiple_of(4) - length, 0);
}

/// Returns the part of a text that an option holds.
fn text(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_TEXT)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_a_block_by_hand() {
        let mut out = Vec::new();
        let comments = ["ab".to_owned()];
        let data = &[7; 5];
        let time = (1 << 32) + 2;
        packet(
            &mut out,
            &WrittenPacket { interface: 3, time, data, length: 9, outgoing: Some(true), comments: &comments },
        );
        let words: Vec<u32> =
            out.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        // Kind, length, interface, time, lengths, 5 bytes in two words, comment, flags, end, length.
        let expected = [6, 60, 3, 1, 2, 5, 9, 0x0707_0707, 7, 0x2_0001, 0x6261, 0x4_0002, 2, 0, 60];
        assert_eq!(words, expected);
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(text(&"é".repeat(40_000)).len(), 65_000);
        assert_eq!(text(&format!("a{}", "é".repeat(40_000))).len(), 64_999);
    }
}
