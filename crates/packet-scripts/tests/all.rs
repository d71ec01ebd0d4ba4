//! Packet scripts on the model.

mod pinned;
mod scripts;
