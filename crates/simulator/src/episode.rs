//! Runs that an agent steers: each goes on to the next decision and hands control back.
//!
//! Between two decisions the run is like any other. An episode is a value without a thread, so that one thread can hold many.
//! `congestion`: the congestion window of a flow. `sensing`: the times of a CR user's cycle.

mod congestion;
mod sensing;

pub use congestion::{CongestionEpisode, CongestionView};
pub use sensing::{SensingEpisode, SensingView};
