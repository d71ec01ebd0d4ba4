//! Every test of the crate in one program: linking dozens took longer than running them.

mod cell;
mod closed_forms;
#[path = "../../units/tests/support/committed.rs"]
mod committed;
