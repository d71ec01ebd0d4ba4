//! The interface as a page uses it, and what it answers.

mod ask;
#[path = "../../units/tests/support/committed.rs"]
mod committed;
mod pinned;
