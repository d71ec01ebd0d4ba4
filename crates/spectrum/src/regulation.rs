//! Protection of incumbents by regulation: who may transmit, until when, and how soon it has to stop.
//!
//! State machines of the devices that have to comply, without a radio: [`Cbsd`] asks a Spectrum Access System (CBRS), [`Dfs`] looks for radar
//! (5 GHz), [`WhiteSpaceDevice`] asks a database (TV white space). Each is told the time and what it hears; it says when it may be
//! on the air.
//!
//! No radio of a scenario is driven by them yet.

mod cbrs;
mod dfs;
mod white_space;

pub use cbrs::{Cbsd, CbsdTimers, GrantState, SasAnswer, SasRequest};
pub use dfs::{Dfs, DfsState, DfsTimers};
pub use white_space::{Availability, WhiteSpaceDevice, WhiteSpaceRequest, WhiteSpaceTimers};
