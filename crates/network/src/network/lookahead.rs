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
//! All three hold because nobody looks meanwhile: a plain link that no radio or driver changes is known in
//! advance, and a host is noticed only when its packets have crossed its link. Whoever looks says so before
//! ([`Network::set_horizon`](super::Network::set_horizon)), and packets of one instant keep their order
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
