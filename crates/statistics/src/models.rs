//! Closed-form models: what theory predicts before anything is simulated.
//!
//! Pure functions of floats in SI units, with the unit in every name (`rtt_s`, `bandwidth_bps`,
//! `segment_size_bytes`). Nothing here knows the simulator. The package `cogtcp.models` documents each model
//! and each departure from its paper.

pub mod loss;
pub mod sawtooth;
pub mod sensing;
