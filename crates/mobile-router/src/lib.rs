//! The mobile router of a train (Singh, Bonnin and Ros, ITST 2012): it predicts when its radio will fall silent and warns the
//! clients of its LAN, whose connection managers freeze their TCP sources meanwhile.
//!
//! [`MobileRouter`] is sans-IO: told the time, what the radio measures, what stands on the board of its node and what
//! clients reply, it says what to send to whom ([`MobileRouter::poll_message`]) and when to ask again
//! ([`MobileRouter::poll_timeout`]). It knows no network and no clock: a simulator drives it, and so can an emulator.

mod message;
mod router;
pub mod wire;

pub use message::{Message, Outgoing};
pub use router::{Counts, MobileRouter, Predicted, RouterConfig, Warning};
