//! Transports that control a rate, not a window: TFRC (RFC 5348).
//!
//! Both ends are [`cogtcp_endpoint::Endpoint`]s that exchange UDP datagrams. [`equation`] is the throughput
//! of TCP that a rate-controlled sender aims at.

pub mod equation;
mod tfrc;

pub use tfrc::{LossHistory, TfrcReceiver, TfrcSender, TfrcSettings};
