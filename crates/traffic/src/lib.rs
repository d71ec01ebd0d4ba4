//! What applications send, beside the bulk transfers of TCP flows: sources without a clock or an event loop.
//!
//! A [`Source`] says when its next packet is due ([`Source::next_packet`]); whoever drives it calls
//! [`Source::advance`] then and sends one. [`Arrivals`] is the other end: what came, how late, how unevenly.

mod arrivals;
mod pattern;
mod source;

pub use arrivals::Arrivals;
pub use pattern::{Pattern, Period};
pub use source::Source;
