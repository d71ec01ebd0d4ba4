//! Captures with known content, damaged ones, and what is read of them.

mod files;
mod pinned;
