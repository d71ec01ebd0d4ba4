//! Layout of an answer: the length of its JSON (32 bits, least byte first), the JSON, then the columns.
//! Columns begin at the next multiple of eight, each at a multiple of eight.
//!
//! The JSON names of each column the place (bytes from the first column on) and the kind. Kinds are `u64`,
//! `i64`, `f64` (8 bytes a value), `bool` (1 byte) and `text` (32-bit indices into `dictionary`). So a page
//! lays typed arrays over the bytes without parsing.

use cogtcp_records::{ColumnData, Table};
use serde_json::{Value, json};

/// An answer while it is made.
#[derive(Debug, Default)]
pub struct Columns {
    bytes: Vec<u8>,
}

impl Columns {
    /// Adds the columns of `table`, and returns what the JSON says of them.
    pub fn add(&mut self, table: &Table) -> Value {
        let columns: Vec<Value> = table
            .columns
            .iter()
            .map(|column| {
                let at = self.bytes.len();
                let mut said = json!({
                    "name": column.name, "unit": column.unit, "meaning": column.meaning,
                    "kind": column.data.kind().name(), "at": at,
                });
                match &column.data {
                    ColumnData::U64(values) => self.put(values, |value| value.to_le_bytes()),
                    ColumnData::I64(values) => self.put(values, |value| value.to_le_bytes()),
                    ColumnData::F64(values) => self.put(values, |value| value.to_le_bytes()),
                    ColumnData::Bool(values) => self.put(values, |value| [u8::from(value)]),
                    ColumnData::Text { codes, dictionary } => {
                        said["dictionary"] = json!(dictionary);
                        self.put(codes, |value| value.to_le_bytes());
                    }
                }
                said
            })
            .collect();
        json!({ "name": table.name, "meaning": table.meaning, "rows": table.len(), "columns": columns })
    }

    /// Adds bytes in pieces, and returns where they begin and how many they are.
    pub fn add_bytes(&mut self, pieces: impl Iterator<Item = Vec<u8>>) -> Value {
        let at = self.bytes.len();
        pieces.for_each(|piece| self.bytes.extend(piece));
        let length = self.bytes.len() - at;
        pad(&mut self.bytes);
        json!({ "at": at, "length": length })
    }

    fn put<T: Copy, const N: usize>(&mut self, values: &[T], bytes: impl Fn(T) -> [u8; N]) {
        self.bytes.extend(values.iter().flat_map(|value| bytes(*value)));
        pad(&mut self.bytes);
    }

    /// The answer, with `said` as its JSON.
    pub fn finish(self, said: &Value) -> Vec<u8> {
        let text = said.to_string();
        let length = u32::try_from(text.len()).unwrap_or_else(|_| unreachable!("4 GB of JSON"));
        let mut whole = Vec::with_capacity(text.len() + self.bytes.len() + 16);
        whole.extend_from_slice(&length.to_le_bytes());
        whole.extend_from_slice(text.as_bytes());
        pad(&mut whole);
        whole.extend_from_slice(&self.bytes);
        whole
    }
}

/// The answer of an engine that failed by a defect of its own.
pub fn defect() -> Vec<u8> {
    let text = "the simulator has a defect, please report it with this scenario";
    Columns::default().finish(&json!({ "error": { "kind": "defect", "message": text, "text": text } }))
}

/// The answer to a run that ended early: `message` says why.
pub fn failed(message: &str) -> Vec<u8> {
    Columns::default().finish(&json!({ "error": { "kind": "run", "message": message, "text": message } }))
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}
