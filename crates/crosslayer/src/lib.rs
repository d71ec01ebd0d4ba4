//! What the layers of one node tell each other about its links.
//!
//! There is one vocabulary, [`LinkEvent`]: a radio speaks it, and so does the queue above it. All that a node
//! can know of its links is published on its [`Board`]. This is the cross-layer repository of Di Felice,
//! Chowdhury and Bononi (MSWiM 2009), kept narrow: events, not shared variables. Subscribers are transports,
//! a train's router, routing protocols. Plain TCP does not subscribe.
//!
//! The crate is pure and knows none of those layers, so that they need not know each other.

mod board;
mod event;
mod stamp;

pub use board::{Board, BoardEntry, ReaderId};
pub use event::{ChannelId, LinkEvent, OutageCause, Phase, Verdict};
pub use stamp::{Stamp, StampingHop};
