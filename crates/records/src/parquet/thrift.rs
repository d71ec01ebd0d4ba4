//! Thrift's compact protocol, as far as Parquet's headers need it.

// thrift-compact-protocol.md: types of fields.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I8: u8 = 3;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A structure in the making. Fields are written in the order of their numbers.
pub(super) struct Struct {
    bytes: Vec<u8>,
    last: i16,
}

impl Struct {
    pub(super) fn new() -> Self {
        Struct { bytes: Vec::new(), last: 0 }
    }

    /// Returns the bytes, with the mark of the end.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    /// Begins a field. Its number is written as the distance from the last one, which Parquet keeps below 16.
    fn field(&mut self, number: i16, kind: u8) {
        let step = u8::try_from(number - self.last).expect("fields in order");
        debug_assert!((1..16).contains(&step));
        self.bytes.push(step << 4 | kind);
        self.last = number;
    }

    pub(super) fn bool(&mut self, number: i16, value: bool) {
        self.field(number, if value { TRUE } else { FALSE });
    }

    pub(super) fn i8(&mut self, number: i16, value: u8) {
        self.field(number, I8);
        self.bytes.push(value);
    }

    pub(super) fn i32(&mut self, number: i16, value: i32) {
        self.field(number, I32);
        zigzag(&mut self.bytes, value.into());
    }

    pub(super) fn i64(&mut self, number: i16, value: usize) {
        self.field(number, I64);
        zigzag(&mut self.bytes, i64::try_from(value).expect("a place in a file"));
    }

    pub(super) fn text(&mut self, number: i16, value: &str) {
        self.field(number, BINARY);
        text(&mut self.bytes, value);
    }

    pub(super) fn structure(&mut self, number: i16, value: Struct) {
        self.field(number, STRUCT);
        self.bytes.extend_from_slice(&value.finish());
    }

    pub(super) fn i32s(&mut self, number: i16, values: &[i32]) {
        self.list(number, I32, values.len());
        for value in values {
            zigzag(&mut self.bytes, (*value).into());
        }
    }

    pub(super) fn texts(&mut self, number: i16, values: &[&str]) {
        self.list(number, BINARY, values.len());
        for value in values {
            text(&mut self.bytes, value);
        }
    }

    pub(super) fn structures(&mut self, number: i16, values: Vec<Struct>) {
        self.list(number, STRUCT, values.len());
        for value in values {
            self.bytes.extend_from_slice(&value.finish());
        }
    }

    fn list(&mut self, number: i16, kind: u8, length: usize) {
        self.field(number, LIST);
        match u8::try_from(length) {
            Ok(short) if short < 15 => self.bytes.push(short << 4 | kind),
            _ => {
                self.bytes.push(0xf0 | kind);
                varint(&mut self.bytes, length as u64);
            }
        }
    }
}

fn text(bytes: &mut Vec<u8>, value: &str) {
    varint(bytes, value.len() as u64);
    bytes.extend_from_slice(value.as_bytes());
}

fn zigzag(bytes: &mut Vec<u8>, value: i64) {
    varint(bytes, (value << 1 ^ value >> 63).cast_unsigned());
}

/// Appends a number in groups of seven bits, least first.
pub(super) fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
