//! Arrow's schema of a table, which Parquet files keep in the key `ARROW:schema`: which texts are dictionaries, and unit
//! and meaning of each column. A FlatBuffers message (`Message.fbs`, `Schema.fbs`), in base64.

use super::{Column, FileValues};

// Schema.fbs: union Type. Message.fbs: MessageHeader, MetadataVersion.
const INT: u8 = 2;
const FLOATING_POINT: u8 = 3;
const UTF8: u8 = 5;
const BOOL: u8 = 6;
const SCHEMA: u8 = 1;
const V5: i16 = 4;
const DOUBLE: i16 = 2;

/// A field of a FlatBuffers table.
#[derive(Clone, Copy)]
enum Slot {
    /// Left at its default.
    Unset,
    Byte(u8),
    Short(i16),
    Int(i32),
    Long(i64),
    /// Something that follows in the buffer.
    Offset,
}

impl Slot {
    fn size(self) -> usize {
        match self {
            Slot::Unset => 0,
            Slot::Byte(_) => 1,
            Slot::Short(_) => 2,
            Slot::Int(_) | Slot::Offset => 4,
            Slot::Long(_) => 8,
        }
    }
}

/// A buffer that is written from its start: whatever a table points to comes after it.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
}

impl Buffer {
    fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }

    /// Lets the offset at `place` point to what is written next, which begins at a multiple of four.
    fn point(&mut self, place: usize) {
        self.align(4);
        let offset = (self.bytes.len() - place) as u32;
        self.bytes[place..place + 4].copy_from_slice(&offset.to_le_bytes());
    }

    /// Writes a table that the offset at `place` points to. Returns where each of its own offsets is.
    fn table(&mut self, place: usize, slots: &[Slot]) -> Vec<usize> {
        // The list of places comes first; the table begins at a multiple of eight behind it.
        self.align(2);
        let list = self.bytes.len();
        let start = (list + 4 + 2 * slots.len()).next_multiple_of(8);
        let mut end = start + 4;
        let mut places = Vec::new();
        for slot in slots {
            let at = end.next_multiple_of(slot.size().max(1));
            places.push(if slot.size() == 0 { 0 } else { at });
            end = if slot.size() == 0 { end } else { at + slot.size() };
        }
        self.bytes.extend_from_slice(&((4 + 2 * slots.len()) as u16).to_le_bytes());
        self.bytes.extend_from_slice(&((end - start) as u16).to_le_bytes());
        for at in &places {
            self.bytes.extend_from_slice(&(at.saturating_sub(start) as u16).to_le_bytes());
        }
        self.bytes.resize(end, 0);
        self.bytes[start..start + 4].copy_from_slice(&((start - list) as u32).to_le_bytes());
        self.bytes[place..place + 4].copy_from_slice(&((start - place) as u32).to_le_bytes());
        let mut offsets = Vec::new();
        for (slot, at) in slots.iter().zip(places) {
            match *slot {
                Slot::Unset => {}
                Slot::Byte(value) => self.bytes[at] = value,
                Slot::Short(value) => self.bytes[at..at + 2].copy_from_slice(&value.to_le_bytes()),
                Slot::Int(value) => self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes()),
                Slot::Long(value) => self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes()),
                Slot::Offset => offsets.push(at),
            }
        }
        offsets
    }

    /// Writes a text that the offset at `place` points to.
    fn text(&mut self, place: usize, value: &str) {
        self.point(place);
        self.bytes.extend_from_slice(&(value.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(value.as_bytes());
        self.bytes.push(0);
    }

    /// Writes a list of offsets that the offset at `place` points to. Returns where they are.
    fn list(&mut self, place: usize, length: usize) -> Vec<usize> {
        self.point(place);
        self.bytes.extend_from_slice(&(length as u32).to_le_bytes());
        let first = self.bytes.len();
        self.bytes.resize(first + 4 * length, 0);
        (0..length).map(|index| first + 4 * index).collect()
    }

    /// Writes keys and values that the offset at `place` points to.
    fn pairs(&mut self, place: usize, pairs: &[(&str, &str)]) {
        for (at, (key, value)) in self.list(place, pairs.len()).into_iter().zip(pairs) {
            let pair = self.table(at, &[Slot::Offset, Slot::Offset]);
            self.text(pair[0], key);
            self.text(pair[1], value);
        }
    }
}

/// Returns the schema of these columns, as the value of `ARROW:schema`. Arrow takes the file's metadata from here, too.
pub(super) fn schema(columns: &[Column<'_>], metadata: &[(String, String)]) -> String {
    let mut buffer = Buffer::default();
    buffer.bytes.resize(4, 0);
    let header = buffer.table(0, &[Slot::Short(V5), Slot::Byte(SCHEMA), Slot::Offset, Slot::Long(0)]);
    let parts = buffer.table(header[0], &[Slot::Short(0), Slot::Offset, Slot::Offset]);
    let places = buffer.list(parts[0], columns.len());
    for (number, (column, place)) in columns.iter().zip(places).enumerate() {
        write_field(&mut buffer, place, column, number);
    }
    let pairs: Vec<(&str, &str)> =
        metadata.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    buffer.pairs(parts[1], &pairs);
    buffer.align(8);
    // Encapsulated as Arrow's streams are: a mark, and the length.
    let mut message = u32::MAX.to_le_bytes().to_vec();
    message.extend_from_slice(&(buffer.bytes.len() as u32).to_le_bytes());
    message.extend_from_slice(&buffer.bytes);
    base64(&message)
}

fn write_field(buffer: &mut Buffer, place: usize, column: &Column<'_>, number: usize) {
    let (kind, slots): (u8, &[Slot]) = match column.values {
        FileValues::U64(_) => (INT, &[Slot::Int(64), Slot::Byte(0)]),
        FileValues::I64(_) => (INT, &[Slot::Int(64), Slot::Byte(1)]),
        FileValues::F64(_) => (FLOATING_POINT, &[Slot::Short(DOUBLE)]),
        FileValues::Bool(_) => (BOOL, &[]),
        FileValues::Text { .. } => (UTF8, &[]),
    };
    let is_dictionary = matches!(column.values, FileValues::Text { plain: false, .. });
    let offsets = buffer.table(
        place,
        &[
            Slot::Offset,
            Slot::Byte(column.nulls.is_some().into()),
            Slot::Byte(kind),
            Slot::Offset,
            if is_dictionary { Slot::Offset } else { Slot::Unset },
            Slot::Offset,
            if column.about.is_empty() { Slot::Unset } else { Slot::Offset },
        ],
    );
    let mut offsets = offsets.into_iter();
    let mut next = || offsets.next().expect("an offset for each part");
    buffer.text(next(), column.name);
    buffer.table(next(), slots);
    if is_dictionary {
        let index = buffer.table(next(), &[Slot::Long(number as i64), Slot::Offset, Slot::Byte(0)]);
        buffer.table(index[0], &[Slot::Int(32), Slot::Byte(1)]);
    }
    buffer.list(next(), 0);
    if !column.about.is_empty() {
        buffer.pairs(next(), column.about);
    }
}

/// Returns bytes in base64 (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let number =
            three.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for digit in 0..4 {
            let is_padding = digit > three.len();
            text.push(if is_padding {
                '='
            } else {
                DIGITS[(number >> (18 - 6 * digit) & 63) as usize].into()
            });
        }
    }
    text
}
