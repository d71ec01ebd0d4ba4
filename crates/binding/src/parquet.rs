//! Tables as the bytes of Parquet files.

use cogtcp_records::parquet::{self, Column, FileValues};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

/// Name, kind, values, dictionary, unit and meaning, nulls: as in the stub.
type Given<'py> = (
    String,
    String,
    Bound<'py, PyAny>,
    Option<Vec<String>>,
    Vec<(String, String)>,
    Option<(Option<Bound<'py, PyAny>>,)>,
);

/// Returns the bytes of a Parquet file with one table.
#[pyfunction]
pub(crate) fn parquet_file<'py>(
    py: Python<'py>,
    rows: usize,
    columns: Vec<Given<'py>>,
    metadata: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut held = Vec::with_capacity(columns.len());
    for (name, kind, values, _, _, nulls) in &columns {
        let width = match kind.as_str() {
            "u64" | "i64" | "f64" => 8,
            "bool" => 1,
            "text" | "plain" => 4,
            _ => return Err(PyValueError::new_err(format!("column {name} is of unknown kind {kind}"))),
        };
        let there = match nulls.as_ref().and_then(|(there,)| there.as_ref()) {
            Some(there) => Some(bytes(there, rows)?),
            None => None,
        };
        held.push((bytes(values, width * rows)?, there));
    }
    let about: Vec<Vec<(&str, &str)>> = columns
        .iter()
        .map(|column| column.4.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect())
        .collect();
    let columns: Vec<Column<'_>> = columns
        .iter()
        .zip(&held)
        .zip(&about)
        .map(|(((name, kind, _, dictionary, _, nulls), (values, there)), about)| Column {
            name,
            about,
            values: match kind.as_str() {
                "u64" => FileValues::U64(values),
                "i64" => FileValues::I64(values),
                "f64" => FileValues::F64(values),
                "bool" => FileValues::Bool(values),
                _ => FileValues::Text {
                    codes: values,
                    dictionary: dictionary.as_deref().unwrap_or_default(),
                    plain: kind == "plain",
                },
            },
            nulls: nulls.as_ref().map(|_| there.as_deref()),
        })
        .collect();
    Ok(PyBytes::new(py, &parquet::write(rows, &columns, &metadata)))
}

/// Returns a copy of a buffer of this length.
fn bytes(buffer: &Bound<'_, PyAny>, length: usize) -> PyResult<Vec<u8>> {
    if length == 0 {
        return Ok(Vec::new()); // Python casts no empty view
    }
    let view = PyMemoryView::from(buffer)?.call_method1("cast", ("B",))?;
    let found = PyBuffer::<u8>::get(&view)?.to_vec(buffer.py())?;
    if found.len() == length {
        Ok(found)
    } else {
        Err(PyValueError::new_err(format!("a column of {length} bytes has {}", found.len())))
    }
}
