//! The interface as a page uses it, and what it answers.

mod ask;
mod pinned;
