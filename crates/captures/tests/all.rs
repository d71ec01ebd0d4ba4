//! Captures with known content, damaged ones, and what is read of them.

#[path = "../../units/tests/support/committed.rs"]
mod committed;
mod files;
mod formats;
mod pinned;
mod written;
