//! Transports that control a rate, not a window: TFRC (RFC 5348), TFRC-CR and ATP. TP-CRAHN has a window,
//! which nodes on the route correct.
//!
//! Both ends are [`cogtcp_endpoint::Endpoint`]s that exchange UDP datagrams. [`equation`] is the throughput
//! of TCP that a rate-controlled sender aims at.

pub mod atp;
mod blocks;
pub mod equation;
mod segments;
mod tfrc;
pub mod tfrc_cr;
pub mod tp_crahn;
mod unsent;
mod wire;

pub use atp::{AtpReceiver, AtpSender, AtpSettings};
pub use tfrc::{LossHistory, TfrcReceiver, TfrcSender, TfrcSettings};
pub use tfrc_cr::{TfrcCrSender, TfrcCrSettings};
pub use tp_crahn::{TpCrahnReceiver, TpCrahnSender, TpCrahnSettings, TpCrahnState};
