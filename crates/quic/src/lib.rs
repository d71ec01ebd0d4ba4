//! QUIC (RFC 9000) with its loss detection and recovery (RFC 9002), as two [`cogtcp_endpoint::Endpoint`]s
//! over quinn-proto.
//!
//! quinn-proto is the protocol. This crate gives it a clock made of simulated time, a null cipher of true
//! sizes, and seeded random numbers. Congestion controls are quinn's own or from `cogtcp-transport`. [`wire`]
//! reads packets, which are all in the clear.

mod adapter;
mod clock;
mod control;
mod crypto;
mod qlog;
mod quinn_endpoint;
mod random;
mod receiver;
mod sender;
mod sent;
mod settings;
pub mod wire;

pub use receiver::{QuicReceiver, kinds};
pub use sender::{QuicSender, QuicStats};
pub use settings::QuicSettings;
