//! Columns of a table, found once by name.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

/// Values of a column.
#[derive(Clone, Copy, Debug)]
pub enum Data<'a> {
    /// Unsigned integers.
    U64(&'a [u64]),
    /// Signed integers.
    I64(&'a [i64]),
    /// Floating point; not-a-number means "no value".
    F64(&'a [f64]),
    /// Truth values.
    Bool(&'a [bool]),
    /// Text: indices into a dictionary.
    Text(&'a [u32], &'a [String]),
}

/// Owner of a column's values.
pub trait Values: Debug + Send + Sync {
    /// Returns the values.
    fn data(&self) -> Data<'_>;
}

/// Tables of a run: by name their columns, by name.
pub type Tables = BTreeMap<String, BTreeMap<String, Arc<dyn Values>>>;

/// A column of a run's table.
#[derive(Clone, Debug)]
pub(super) struct Cells(Arc<dyn Values>);

impl Cells {
    /// Returns a number; not-a-number for text.
    pub(super) fn number(&self, row: usize) -> f64 {
        match self.0.data() {
            Data::U64(values) => values[row] as f64,
            Data::I64(values) => values[row] as f64,
            Data::F64(values) => values[row],
            Data::Bool(values) => f64::from(u8::from(values[row])),
            Data::Text(..) => f64::NAN,
        }
    }

    /// Returns a whole number, of text its code.
    pub(super) fn whole(&self, row: usize) -> u64 {
        match self.0.data() {
            Data::U64(values) => values[row],
            Data::Text(codes, _) => u64::from(codes[row]),
            _ => self.number(row) as u64,
        }
    }

    /// Returns a truth value.
    pub(super) fn is(&self, row: usize) -> bool {
        self.number(row) != 0.0
    }

    /// Returns a text; empty for numbers.
    pub(super) fn text(&self, row: usize) -> &str {
        match self.0.data() {
            Data::Text(codes, dictionary) => &dictionary[codes[row] as usize],
            _ => "",
        }
    }

    /// Returns bits that are equal for equal values.
    pub(super) fn bits(&self, row: usize) -> u64 {
        match self.0.data() {
            Data::F64(values) if values[row].is_nan() => u64::MAX,
            Data::F64(values) => values[row].to_bits(),
            _ => self.whole(row),
        }
    }

    /// Returns all texts that the column may have.
    pub(super) fn dictionary(&self) -> &[String] {
        match self.0.data() {
            Data::Text(_, dictionary) => dictionary,
            _ => &[],
        }
    }

    /// Returns the row of a column in ascending order that has a number.
    pub(super) fn find(&self, number: u64) -> Option<usize> {
        match self.0.data() {
            Data::U64(values) => values.binary_search(&number).ok(),
            _ => None,
        }
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        match self.0.data() {
            Data::U64(values) => values.len(),
            Data::I64(values) => values.len(),
            Data::F64(values) => values.len(),
            Data::Bool(values) => values.len(),
            Data::Text(codes, _) => codes.len(),
        }
    }
}

/// Returns columns of a table, in the order of the names; `None`: the table or a column is missing.
pub(super) fn columns<const N: usize>(tables: &Tables, table: &str, names: [&str; N]) -> Option<[Cells; N]> {
    let table = tables.get(table)?;
    let found: Vec<Cells> = names.iter().filter_map(|name| table.get(*name).cloned().map(Cells)).collect();
    found.try_into().ok()
}
