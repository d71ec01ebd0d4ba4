//! What the layers of one node tell each other about its links.
//!
//! There is one vocabulary, [`LinkEvent`]: a radio speaks it, and so does the queue above it. All that a node
//! can know of its links is published on its [`Board`]. Subscribers are transports and a train's router. Plain
//! TCP does not subscribe.
//!
//! The [`Repository`] of a node of an ad hoc network holds its transmit power, channel and neighbours (Di
//! Felice, Chowdhury and Bononi, MSWiM 2009, section 4). Its routing protocol subscribes.
//!
//! The crate is pure and knows none of those layers, so that they need not know each other.

mod board;
mod event;
mod repository;
mod stamp;

pub use board::{Board, BoardEntry, ReaderId};
pub use event::{ChannelId, LinkEvent, OutageCause, Phase, Verdict};
pub use repository::{Repository, SharedChange, SharedEntry};
pub use stamp::{Stamp, StampingHop};
