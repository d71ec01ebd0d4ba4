//! Bytes of files, committed as text; tests of Python read files of this writer with Arrow.
//!
//! A new compressor may change them.

#[path = "../../../units/tests/support/committed.rs"]
mod committed;

use super::{Column, FileValues, write};
use committed::{compare, hash};
use std::fmt::Write as _;

fn column<'a>(name: &'a str, values: FileValues<'a>, nulls: Option<Option<&'a [u8]>>) -> Column<'a> {
    Column { name, about: &[("unit", "s"), ("meaning", "what it is")], values, nulls }
}

/// The file of a table with every type of column, with nulls, without, and with nulls that none is.
fn file(rows: usize, metadata: &[(String, String)]) -> Vec<u8> {
    let words = |of: fn(usize) -> u64| (0..rows).flat_map(|row| of(row).to_le_bytes()).collect::<Vec<u8>>();
    let counts = words(|row| row as u64 * 3);
    let signed = words(|row| (row as i64 - 5) as u64);
    let numbers = words(|row| (row as f64 / 7.0).to_bits());
    let truths: Vec<u8> = (0..rows).map(|row| u8::from(row % 3 == 0)).collect();
    let there: Vec<u8> = (0..rows).map(|row| u8::from(row % 5 != 2)).collect();
    let codes: Vec<u8> = (0..rows).flat_map(|row| (row as u32 * 7 / 4 % 5).to_le_bytes()).collect();
    let dictionary = ["", "one", "two", "a longer text", "\u{e9}"].map(str::to_owned);
    let text = |plain| FileValues::Text { codes: &codes, dictionary: &dictionary, plain };
    let mut columns = Vec::new();
    for nulls in [None, Some(None), Some(Some(&there[..]))] {
        columns.push(column("counts", FileValues::U64(&counts), nulls));
        columns.push(column("signed", FileValues::I64(&signed), nulls));
        columns.push(column("numbers", FileValues::F64(&numbers), nulls));
        columns.push(column("truths", FileValues::Bool(&truths), nulls));
        columns.push(column("words", text(false), nulls));
        columns.push(column("texts", text(true), nulls));
    }
    columns.push(Column { about: &[], ..columns[0] });
    write(rows, &columns, metadata)
}

#[test]
fn files_have_the_bytes_that_they_had() {
    let metadata = [("seed".to_owned(), "1".to_owned()), ("scenario".to_owned(), "a\nb".to_owned())];
    let mut now = String::new();
    for rows in [0, 1, 2, 7, 8, 9, 64, 65, 200, 20_000] {
        for metadata in [&metadata[..0], &metadata[..]] {
            let bytes = file(rows, metadata);
            let _ = writeln!(now, "{rows:>6} rows, {} B, {:016x}", bytes.len(), hash(&bytes));
        }
    }
    compare("parquet", &now);
}
