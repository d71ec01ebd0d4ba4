//! Writes a table of results as a Parquet file.
//!
//! To load Arrow takes a quarter of the processor time of a short run, and the crate `parquet` 180 s to compile. This
//! writer knows what tables of results need: one row group, one page a column, five types, gzip. Sources: the Parquet
//! format 2.11 (parquet.thrift, Encodings.md) and, for the types that Arrow restores, Arrow's `Schema.fbs`.

mod arrow;
#[cfg(test)]
mod tests;
mod thrift;

use std::io::Write as _;

use flate2::write::GzEncoder;
use flate2::{Compression, Crc};
use thrift::Struct;

/// Values of a column, as the machine keeps them in memory.
#[derive(Clone, Copy, Debug)]
pub enum FileValues<'a> {
    /// Counts.
    U64(&'a [u8]),
    /// Whole numbers.
    I64(&'a [u8]),
    /// Numbers.
    F64(&'a [u8]),
    /// Truth values, one byte each.
    Bool(&'a [u8]),
    /// Codes of 32 bits into a dictionary of texts. Arrow reads a dictionary, or with `plain` texts.
    Text {
        /// A code for each row.
        codes: &'a [u8],
        /// What the codes stand for.
        dictionary: &'a [String],
        /// Whether readers see texts and no dictionary.
        plain: bool,
    },
}

/// One column.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// Its name.
    pub name: &'a str,
    /// Unit and meaning, for Arrow's metadata of the field; of a column without them empty.
    pub about: &'a [(&'a str, &'a str)],
    /// Its values, placeholders for nulls among them.
    pub values: FileValues<'a>,
    /// Whether the column may hold nulls, and the rows without one, one byte each: `None` if no row is null.
    pub nulls: Option<Option<&'a [u8]>>,
}

const MAGIC: &[u8] = b"PAR1";
// parquet.thrift: Type, Encoding, CompressionCodec.
const BOOLEAN: i32 = 0;
const INT64: i32 = 2;
const DOUBLE: i32 = 5;
const BYTE_ARRAY: i32 = 6;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const RLE_DICTIONARY: i32 = 8;
/// GZIP, or in a page UNCOMPRESSED: the compressor would make the page larger.
const CODEC: i32 = if cfg!(target_family = "wasm") { 0 } else { 2 };

/// Where a written column is, and how long.
struct Chunk {
    dictionary: Option<usize>,
    data: usize,
    compressed: usize,
    uncompressed: usize,
}

/// Returns the bytes of a Parquet file with one table: the same bytes for the same content.
///
/// `rows` is the length of every column. `metadata` are keys and values of the file.
#[must_use]
pub fn write(rows: usize, columns: &[Column<'_>], metadata: &[(String, String)]) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    let chunks: Vec<Chunk> = columns.iter().map(|column| write_column(&mut file, rows, column)).collect();
    let foot = footer(rows, columns, &chunks, metadata);
    file.extend_from_slice(&foot);
    file.extend_from_slice(&length(foot.len()).to_le_bytes());
    file.extend_from_slice(MAGIC);
    file
}

fn write_column(file: &mut Vec<u8>, rows: usize, column: &Column<'_>) -> Chunk {
    let start = file.len();
    let mut uncompressed = 0;
    let mut dictionary = None;
    if let FileValues::Text { dictionary: texts, .. } = column.values {
        dictionary = Some(start);
        let mut page = Vec::new();
        for text in texts {
            page.extend_from_slice(&length(text.len()).to_le_bytes());
            page.extend_from_slice(text.as_bytes());
        }
        let mut head = Struct::new();
        head.i32(1, length(texts.len()));
        head.i32(2, PLAIN);
        uncompressed += write_page(file, &page, 2, 7, head);
    }
    let data = file.len();
    let mut page = Vec::new();
    let is_there = column.nulls.flatten();
    if column.nulls.is_some() {
        let levels = hybrid(rows, 1, |row| is_there.is_none_or(|there| there[row] != 0).into());
        page.extend_from_slice(&length(levels.len()).to_le_bytes());
        page.extend_from_slice(&levels);
    }
    let there = || (0..rows).filter(|row| is_there.is_none_or(|there| there[*row] != 0));
    let encoding = match column.values {
        FileValues::U64(bytes) | FileValues::I64(bytes) | FileValues::F64(bytes) if is_there.is_none() => {
            plain_numbers(&mut page, bytes);
            PLAIN
        }
        FileValues::U64(bytes) | FileValues::I64(bytes) | FileValues::F64(bytes) => {
            for row in there() {
                plain_numbers(&mut page, &bytes[8 * row..8 * row + 8]);
            }
            PLAIN
        }
        FileValues::Bool(bytes) => {
            for eight in there().collect::<Vec<_>>().chunks(8) {
                let bits = eight.iter().enumerate().map(|(bit, row)| u8::from(bytes[*row] != 0) << bit);
                page.push(bits.sum());
            }
            PLAIN
        }
        FileValues::Text { codes, dictionary, .. } => {
            let bits = bits_for(dictionary.len());
            page.push(bits);
            let there: Vec<usize> = there().collect();
            page.extend_from_slice(&hybrid(there.len(), bits, |index| code(codes, there[index])));
            RLE_DICTIONARY
        }
    };
    let mut head = Struct::new();
    head.i32(1, length(rows));
    head.i32(2, encoding);
    head.i32(3, RLE);
    head.i32(4, RLE);
    uncompressed += write_page(file, &page, 0, 5, head);
    Chunk { dictionary, data, compressed: file.len() - start, uncompressed }
}

/// Writes a page of this type, whose own header is `field` of the page's. Returns its length, uncompressed, with header.
fn write_page(file: &mut Vec<u8>, page: &[u8], kind: i32, field: i16, own: Struct) -> usize {
    let packed = if CODEC == 0 {
        page.to_vec()
    } else {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(page).and_then(|()| encoder.finish()).expect("memory takes all bytes")
    };
    let mut checksum = Crc::new();
    checksum.update(&packed);
    let mut head = Struct::new();
    head.i32(1, kind);
    head.i32(2, length(page.len()));
    head.i32(3, length(packed.len()));
    head.i32(4, checksum.sum().cast_signed());
    head.structure(field, own);
    let head = head.finish();
    file.extend_from_slice(&head);
    file.extend_from_slice(&packed);
    head.len() + page.len()
}

/// Appends numbers of 8 bytes, least byte first.
fn plain_numbers(page: &mut Vec<u8>, bytes: &[u8]) {
    if cfg!(target_endian = "little") {
        page.extend_from_slice(bytes);
    } else {
        page.extend(bytes.chunks_exact(8).flat_map(|number| number.iter().rev().copied()));
    }
}

fn code(codes: &[u8], row: usize) -> u32 {
    u32::from_ne_bytes(codes[4 * row..4 * row + 4].try_into().expect("four bytes"))
}

/// Returns how many bits hold the codes of so many texts.
fn bits_for(texts: usize) -> u8 {
    texts.saturating_sub(1).checked_ilog2().map_or(0, |log| log as u8 + 1)
}

/// Returns values in the hybrid of runs and packed bits (Encodings.md, RLE): one run if all are equal, else bits.
fn hybrid(count: usize, bits: u8, value: impl Fn(usize) -> u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let first = if count == 0 { 0 } else { value(0) };
    if (1..count).all(|index| value(index) == first) {
        thrift::varint(&mut bytes, (count as u64) << 1);
        bytes.extend_from_slice(&first.to_le_bytes()[..usize::from(bits).div_ceil(8)]);
        return bytes;
    }
    let groups = count.div_ceil(8);
    thrift::varint(&mut bytes, (groups as u64) << 1 | 1);
    let (mut waiting, mut filled) = (0_u64, 0);
    for index in 0..8 * groups {
        waiting |= u64::from(if index < count { value(index) } else { 0 }) << filled;
        filled += bits;
        while filled >= 8 {
            bytes.push(waiting as u8);
            waiting >>= 8;
            filled -= 8;
        }
    }
    bytes
}

/// Returns the file's metadata.
fn footer(rows: usize, columns: &[Column<'_>], chunks: &[Chunk], metadata: &[(String, String)]) -> Vec<u8> {
    let mut schema = vec![root(columns.len())];
    schema.extend(columns.iter().map(element));
    let mut group = Struct::new();
    group.structures(
        1,
        columns.iter().zip(chunks).map(|(column, chunk)| chunk_metadata(rows, column, chunk)).collect(),
    );
    group.i64(2, chunks.iter().map(|chunk| chunk.uncompressed).sum());
    group.i64(3, rows);
    let groups = if rows == 0 { vec![] } else { vec![group] };
    let arrow = ("ARROW:schema".to_owned(), arrow::schema(columns, metadata));
    let mut keys: Vec<&(String, String)> = metadata.iter().collect();
    keys.push(&arrow);
    let pairs = keys.iter().map(|(key, value)| {
        let mut pair = Struct::new();
        pair.text(1, key);
        pair.text(2, value);
        pair
    });
    let mut file = Struct::new();
    file.i32(1, 2);
    file.structures(2, schema);
    file.i64(3, rows);
    file.structures(4, groups);
    file.structures(5, pairs.collect());
    file.text(6, concat!("cogtcp version ", env!("CARGO_PKG_VERSION")));
    file.finish()
}

fn root(children: usize) -> Struct {
    let mut root = Struct::new();
    root.text(4, "schema");
    root.i32(5, length(children));
    root
}

/// Returns the element of the schema that describes a column.
fn element(column: &Column<'_>) -> Struct {
    const UTF8: i32 = 0;
    const UINT_64: i32 = 14;
    let mut element = Struct::new();
    element.i32(1, physical(column.values));
    element.i32(3, i32::from(column.nulls.is_some()));
    element.text(4, column.name);
    let mut logical = Struct::new();
    match column.values {
        FileValues::Text { .. } => {
            element.i32(6, UTF8);
            logical.structure(1, Struct::new());
        }
        FileValues::U64(_) => {
            element.i32(6, UINT_64);
            let mut integer = Struct::new();
            integer.i8(1, 64);
            integer.bool(2, false);
            logical.structure(10, integer);
        }
        _ => return element,
    }
    element.structure(10, logical);
    element
}

fn physical(values: FileValues<'_>) -> i32 {
    match values {
        FileValues::U64(_) | FileValues::I64(_) => INT64,
        FileValues::F64(_) => DOUBLE,
        FileValues::Bool(_) => BOOLEAN,
        FileValues::Text { .. } => BYTE_ARRAY,
    }
}

fn chunk_metadata(rows: usize, column: &Column<'_>, chunk: &Chunk) -> Struct {
    let encodings = match column.values {
        FileValues::Text { .. } => vec![PLAIN, RLE, RLE_DICTIONARY],
        _ => vec![PLAIN, RLE],
    };
    let mut about = Struct::new();
    about.i32(1, physical(column.values));
    about.i32s(2, &encodings);
    about.texts(3, &[column.name]);
    about.i32(4, CODEC);
    about.i64(5, rows);
    about.i64(6, chunk.uncompressed);
    about.i64(7, chunk.compressed);
    about.i64(9, chunk.data);
    if let Some(place) = chunk.dictionary {
        about.i64(11, place);
    }
    let mut written = Struct::new();
    written.i64(2, chunk.dictionary.unwrap_or(chunk.data));
    written.structure(3, about);
    written
}

/// Returns a length as the format keeps it. A table that is longer goes through Arrow, in many pages.
fn length(value: usize) -> i32 {
    i32::try_from(value).expect("a page has less than 2 GB")
}
