//! Protection of incumbents by regulation: who may transmit, until when, and how soon it has to stop.
//!
//! State machines of devices that have to comply. For CBRS [`Cbsd`] asks a Spectrum Access
//! System; at 5 GHz [`Dfs`] looks for radar. In TV white space [`WhiteSpaceDevice`] asks a database. Inputs
//! are the time and what the device hears; the output is whether it may transmit.
//!
//! A [`Regulator`] is a device among the [`Incumbents`] of a scenario, together with the system that it asks.
//! It drives a [`CognitiveRadio`](crate::CognitiveRadio) in place of sensing. [`RegulationConfig`] names the
//! regulations.
//!
//! **The property of all of them.** An incumbent arrives on a channel at time a. From a +
//! [`allowed`](RegulationKind::allowed) until it departs, the radio transmits nothing on the channel. (At
//! reduced power, nothing that the incumbent has to bear.) [`Protection::overdue`](crate::Protection) counts
//! violations. A debug build stops at the first, quiet periods apart, whose detector may err. A frame under
//! way when the radio falls silent completes; [`margin`](RegulationKind::margin) is the time for it.

mod cbrs;
mod database;
mod dfs;
mod incumbents;
mod master;
mod rules;
mod sas;
mod white_space;

pub use cbrs::{Cbsd, CbsdTimers, GrantState, Operation, SasAnswer, SasRequest};
pub use dfs::{Dfs, DfsState, DfsTimers};
pub use incumbents::Incumbents;
pub use rules::{
    CbrsRules, DfsRules, DpaAnswer, Permit, QuietPeriods, ReducedPower, RegulationConfig, RegulationKind,
    Regulator, TvwsRules,
};
pub use white_space::{Availability, WhiteSpaceDevice, WhiteSpaceRequest, WhiteSpaceTimers};
