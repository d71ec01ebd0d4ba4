//! The same table of several runs as one Parquet file: the runs are made again.

use crate::answer::Columns;
use crate::failure::Failure;
use cogtcp_records::parquet::{self, FileValues};
use cogtcp_records::{Code, Column, ColumnData, Run, Table, TableCell, TextColumn};
use serde_json::{Value, json};

/// Adds the file to an answer, and returns what its JSON says.
///
/// Its first column, `run`, has the name of each row's run. Runs without rows of the table do not stand in it.
pub(crate) fn answer(
    runs: Vec<(String, Run)>,
    table: &str,
    metadata: &[(String, String)],
    columns: &mut Columns,
) -> Result<Value, Failure> {
    let of = |run: Run| run.into_tables().find(|found| found.name == table && !found.is_empty());
    let tables: Vec<(String, Table)> =
        runs.into_iter().filter_map(|(name, run)| Some((name, of(run)?))).collect();
    let (_, first) = tables.first().ok_or_else(|| Failure::Request(format!("no run has rows of {table}")))?;
    let rows = tables.iter().map(|(_, table)| table.len()).sum();
    let run = ColumnData::Text {
        codes: tables.iter().zip(0..).flat_map(|((_, table), code)| vec![code; table.len()]).collect(),
        dictionary: tables.iter().map(|(name, _)| name.clone()).collect(),
    };
    let mut stacked = vec![Column { name: "run", unit: "", meaning: "Name of the run.", data: run }];
    for column in &first.columns {
        let parts = tables.iter().filter_map(|(_, table)| Some(&table.column(column.name)?.data));
        stacked.push(Column { data: joined(parts), ..column.clone() });
    }
    let bytes: Vec<Vec<u8>> = stacked.iter().map(|column| bytes(&column.data)).collect();
    let about: Vec<[(&str, &str); 2]> =
        stacked.iter().map(|column| [("unit", column.unit), ("meaning", column.meaning)]).collect();
    let file: Vec<parquet::Column<'_>> = stacked
        .iter()
        .zip(&bytes)
        .zip(&about)
        .map(|((column, bytes), about)| parquet::Column {
            name: column.name,
            about,
            values: match &column.data {
                ColumnData::U64(_) => FileValues::U64(bytes),
                ColumnData::I64(_) => FileValues::I64(bytes),
                ColumnData::F64(_) => FileValues::F64(bytes),
                ColumnData::Bool(_) => FileValues::Bool(bytes),
                ColumnData::Text { dictionary, .. } => {
                    FileValues::Text { codes: bytes, dictionary, plain: false }
                }
            },
            nulls: None,
        })
        .collect();
    Ok(json!({ "file": columns.add_bytes(std::iter::once(parquet::write(rows, &file, metadata))) }))
}

/// Returns columns of one kind as one, texts with one dictionary.
fn joined<'a>(parts: impl Iterator<Item = &'a ColumnData>) -> ColumnData {
    let mut all = None;
    let mut texts = TextColumn::default();
    for part in parts {
        match (&mut all, part) {
            (_, ColumnData::Text { codes, dictionary }) => {
                let known: Vec<Code> = dictionary.iter().map(|text| texts.intern(text)).collect();
                codes.iter().for_each(|code| known[*code as usize].push(&mut texts));
            }
            (None, part) => all = Some(part.clone()),
            (Some(ColumnData::U64(all)), ColumnData::U64(part)) => all.extend(part),
            (Some(ColumnData::I64(all)), ColumnData::I64(part)) => all.extend(part),
            (Some(ColumnData::F64(all)), ColumnData::F64(part)) => all.extend(part),
            (Some(ColumnData::Bool(all)), ColumnData::Bool(part)) => all.extend(part),
            _ => unreachable!("a column has one kind in every run"),
        }
    }
    all.unwrap_or_else(|| Code::finish(texts))
}

/// Returns the values as this machine keeps them in memory.
fn bytes(data: &ColumnData) -> Vec<u8> {
    match data {
        ColumnData::U64(values) => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
        ColumnData::I64(values) => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
        ColumnData::F64(values) => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
        ColumnData::Bool(values) => values.iter().map(|value| u8::from(*value)).collect(),
        ColumnData::Text { codes, .. } => codes.iter().flat_map(|value| value.to_ne_bytes()).collect(),
    }
}
