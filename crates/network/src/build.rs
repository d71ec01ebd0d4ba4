//! From a scenario to the parts of a network: links, radios, pairs of CR
//! users, the air. [`Network::build`](crate::Network::build) puts them together.

mod air;
mod links;
mod pairs;
mod radios;

pub(crate) use air::primary_users;
pub use air::{air, mobility};
pub use links::link;
pub use pairs::{PlacedPair, station_pairs};
pub use radios::{course, radio, timetable};
