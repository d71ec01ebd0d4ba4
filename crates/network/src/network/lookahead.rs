//! Packets that are played before or after their time, where no result depends on it.
//!
//! | file | what is played at another time |
//! |---|---|
//! | `early` | a link hands a packet on as its transmission begins: no event as it arrives |
//! | `inlets` | a bottleneck is played late, for many packets together |
//! | `batches` | a host takes its packets late, several together |
//! | `plan` | which links may |
//! | `prefetch` | nothing: memory of the next packets is asked for early |
//!
//! Results are the same, as nobody looks meanwhile. What a plain link does is known in advance, where no radio
//! or driver changes it. A host is noticed only when its packets have crossed its link. The driver says when it
//! looks next ([`Network::set_horizon`](super::Network::set_horizon)). Packets of one instant keep their order
//! ([`agenda`](crate::agenda)).

mod batches;
mod early;
mod inlets;
mod plan;
mod prefetch;

pub(super) use early::NO_PLACE;
pub(super) use inlets::Inlet;
pub use prefetch::Goal;

use super::{AIR, BY_ROUTE, HOST, Network};
