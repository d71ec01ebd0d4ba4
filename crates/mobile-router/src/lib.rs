//! The mobile router of a train (Singh, Bonnin and Ros, ITST 2012). It predicts when its radio will fall
//! silent and warns the clients of its LAN, whose connection managers then freeze their TCP sources.
//!
//! [`MobileRouter`] is sans-IO. Inputs are the time, the radio's measurements, the board of its node and the
//! clients' replies. Outputs are messages ([`MobileRouter::poll_message`]) and the time of the next call
//! ([`MobileRouter::poll_timeout`]). It knows no network and no clock: a simulator or an emulator drives it.

mod message;
mod router;
pub mod wire;

pub use message::{Message, Outgoing};
pub use router::{Counts, MobileRouter, Predicted, RouterConfig, Warning};
