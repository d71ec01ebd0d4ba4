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
//! Results are the same, as nobody looks meanwhile:
//!
//! - A plain link (`cogtcp_link`'s `Link::is_plain`) is known in advance, where no radio or driver changes it. It
//!   tells when its first packet arrives as that packet's transmission begins, and takes later packets behind it.
//! - A host is noticed only when its packets have crossed its link.
//! - Each part that looks declares the look ([`looks`]). A driver whose parts look at other times, or that records
//!   events in their order, plans nothing: the simulator's `plan_lookahead` says when.
//! - A host takes its packets in batches only where nothing but a timer of its own can fall between them: an
//!   endless flow of TCP without hooks.
//! - Packets of one instant keep their order ([`agenda`](crate::agenda)).
//! - The digest of a run is a sum over its events: it does not depend on the order in which hosts are played.

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
