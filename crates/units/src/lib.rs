//! Quantities and random streams shared by every room of cogtcp.
//!
//! Time is an integer number of nanoseconds, rates are integer bits per second, sizes are integer bytes: no
//! floating point enters the order of events. Every quantity reads and writes itself with its unit (`"40
//! ms"`, `"10 Mbit/s"`, `"1000 B"`), and refuses a bare number.
//!
//! Start with [`Time`] and [`Duration`], then [`Rate`] and [`Bytes`]. [`Position`] is a place in the plane.
//! [`Check`] reports errors in the fields of a configuration. [`RandomStream`] is the only source of
//! randomness in the model.

mod bytes;
mod check;
mod counts;
mod heap;
mod measures;
mod overlay;
mod position;
mod power;
mod prefetch;
mod probability;
mod quantity;
mod random;
mod rate;
mod registry;
mod seed;
mod suggest;
#[cfg(test)]
mod tests;
mod text;
mod time;

pub use bytes::Bytes;
pub use check::Check;
pub use counts::Joined;
pub use heap::{Heap, HeapKey, HeapPlaces};
pub use measures::{Acceleration, Decibel, Frequency, Length, Speed};
pub use position::Position;
pub use power::Power;
pub use prefetch::prefetch;
pub use probability::Probability;
pub use quantity::QuantityError;
pub use random::RandomStream;
pub use rate::Rate;
pub use registry::{
    Entry, Named, Registry, WrongSetting, deserialize_named, deserialize_text_or_named, entry_schema,
};
pub use seed::Seed;
pub use suggest::{among, list, nearest};
pub use text::{
    In, Quantity, count_and_unit, deserialize_text, deserialize_text_or_table, parse_seconds, shorten,
    write_seconds,
};
pub use time::{Duration, Time};
