//! Protection of incumbents by regulation: who may transmit, until when, and how soon it has to stop.
//!
//! State machines of devices that have to comply, without a radio. For CBRS [`Cbsd`] asks a Spectrum Access
//! System; at 5 GHz [`Dfs`] looks for radar. In TV white space [`WhiteSpaceDevice`] asks a database. Inputs
//! are the time and what the device hears; the output is whether it may transmit.
//!
//! No radio of a scenario is driven by them yet.

mod cbrs;
mod dfs;
mod white_space;

pub use cbrs::{Cbsd, CbsdTimers, GrantState, SasAnswer, SasRequest};
pub use dfs::{Dfs, DfsState, DfsTimers};
pub use white_space::{Availability, WhiteSpaceDevice, WhiteSpaceRequest, WhiteSpaceTimers};
