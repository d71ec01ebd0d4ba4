//! What a run leaves behind: the one place where a result is defined.
//!
//! A [`Run`] is a handful of [`Table`]s of typed columns; each column carries its unit and its meaning, and
//! [`schema`] lists them all, for the documentation and for readers. The simulator fills the tables through the
//! builders of [`tables`] (start there to see what a run reports); the Python package lays Arrow tables over the
//! buffers without copying them.

mod column;
mod run;
pub mod tables;

pub use column::{Cell, Code, Column, ColumnData, ColumnKind, ColumnSchema, Table, TableSchema, TextColumn};
pub use run::{Run, jain_fairness};
pub use tables::{EventKind, schema};
