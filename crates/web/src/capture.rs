//! Captures of a run for the page: the run is made again with its packets recorded.

use crate::answer::Columns;
use crate::failure::Failure;
use crate::request::CapturePoint;
use cogtcp_captures::{About, Data, Point, TABLES, Tables, Values};
use cogtcp_records::{ColumnData, Run, Table};
use serde_json::{Value, json};
use std::sync::Arc;

/// A column of a table.
#[derive(Debug)]
struct Of(Arc<Table>, usize);

impl Values for Of {
    fn data(&self) -> Data<'_> {
        match &self.0.columns[self.1].data {
            ColumnData::U64(values) => Data::U64(values),
            ColumnData::I64(values) => Data::I64(values),
            ColumnData::F64(values) => Data::F64(values),
            ColumnData::Bool(values) => Data::Bool(values),
            ColumnData::Text { codes, dictionary } => Data::Text(codes, dictionary),
        }
    }
}

/// Adds the capture of a run to an answer, and returns what its JSON says.
pub(crate) fn answer(run: Run, point: CapturePoint, columns: &mut Columns) -> Result<Value, Failure> {
    let about = About {
        application: concat!("cogtcp ", env!("CARGO_PKG_VERSION")).to_owned(),
        comment: format!("scenario {}, seed {}, digest {:016x}", run.name, run.seed, run.digest),
    };
    let tables: Tables = run
        .into_tables()
        .filter(|table| TABLES.contains(&table.name))
        .map(|table| {
            let table = Arc::new(table);
            let of =
                |(at, name)| -> (String, Arc<dyn Values>) { (name, Arc::new(Of(Arc::clone(&table), at))) };
            let names = table.columns.iter().map(|column| column.name.to_owned());
            (table.name.to_owned(), names.enumerate().map(of).collect())
        })
        .collect();
    let CapturePoint { link, node, outgoing } = point;
    let pieces = cogtcp_captures::write(&tables, &about, &Point { link, node, outgoing })
        .ok_or_else(|| Failure::Request("this run has nothing to capture there".to_owned()))?;
    Ok(json!({ "capture": columns.add_bytes(pieces) }))
}
