//! Packet scripts on the model.

#[path = "../../units/tests/support/committed.rs"]
mod committed;
mod pinned;
mod scripts;
