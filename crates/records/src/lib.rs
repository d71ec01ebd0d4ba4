//! What a run leaves behind: the one place where a result is defined.
//!
//! A [`Run`] is a list of [`Table`]s of typed columns. Each column carries its unit and its meaning;
//! [`schema`] lists all of them, for the documentation and for readers. The simulator fills the tables
//! through the builders of [`tables`] (start there to see what a run reports) and [`extensions`] (tables of
//! some runs only). [`parquet`] writes tables as files. The Python package lays Arrow tables over the buffers without
//! copying them.

mod column;
mod events;
pub mod extensions;
mod histogram;
pub mod parquet;
mod run;
pub mod tables;

pub use column::{
    Code, Column, ColumnData, ColumnKind, ColumnSchema, Table, TableCell, TableSchema, TextColumn,
};
pub use events::{EventKind, of_link_event};
pub use histogram::Histogram;
pub use run::{Run, jain_fairness, ratio};

/// Returns every table that a run can have: tables of every run, then the extensions.
pub fn schema() -> Vec<TableSchema> {
    let mut all = tables::schema();
    all.extend(extensions::schema());
    all
}
