//! Every test of the crate in one program: linking dozens took longer than running them.

#[path = "../../units/tests/support/committed.rs"]
mod committed;
mod dialogue;
mod journey;
mod limits;
mod pinned;
