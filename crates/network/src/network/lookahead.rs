//! Packets that are played before or after their time, where no result depends on it.
//!
//! | file | what is played at another time |
//! |---|---|
//! | `early` | a link hands a packet on as its transmission begins: no event as it arrives |
//! | `inlets` | a bottleneck is played late, for many packets together |
//! | `batches` | a host takes its packets late, several together |
//! | `plan` | which links may |
//! | `looks` | what must be played before somebody looks |
//! | `prefetch` | nothing: memory of the next packets is asked for early |
//!
//! Results are the same, as nobody looks meanwhile. What a plain link does is known in advance, where no radio
//! or driver changes it. A host is noticed only when its packets have crossed its link. Each part that looks declares the look
//! ([`looks`]). Packets of one instant keep their order ([`agenda`](crate::agenda)).

mod batches;
mod early;
mod inlets;
mod looks;
mod plan;
mod prefetch;

pub(super) use inlets::Inlet;
pub(super) use looks::Looks;
pub use looks::{LateHosts, Look, finish, look};
pub use prefetch::Goal;

use super::{AIR, HOST, Network};
