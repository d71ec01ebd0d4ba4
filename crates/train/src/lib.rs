//! A train (Singh, Bonnin and Ros, ITST 2012). Its mobile router predicts when its radio will fall silent and
//! warns the clients of its LAN, whose connection managers then freeze their TCP sources.
//!
//! - [`journey`]: the journey along a line, as a radio.
//! - [`prediction`]: predicting outages.
//! - [`MobileRouter`], [`wire`]: the router and its messages.
//!
//! [`MobileRouter`] is sans-IO. Inputs are the time, the radio's measurements, the board of its node and the
//! clients' replies. Outputs are messages ([`MobileRouter::poll_message`]) and the time of the next call
//! ([`MobileRouter::poll_timeout`]). It knows no network and no clock: a simulator or an emulator drives it.

pub mod journey;
mod message;
pub mod prediction;
mod router;
pub mod wire;

pub use message::{OutgoingMessage, RouterMessage};
pub use router::{MobileRouter, Predicted, RouterConfig, RouterCounts, Warning};
