//! What the hosts of both planes share: what a seed draws for them, the router of a train, and the tables of trains, UDP sources and applications.
//!
//! The simulator's hosts and the emulator's are driven differently, but what they decide and what their results mean is one.

pub mod applications;
pub mod datagrams;
mod drawn;
mod router;
pub mod train;

pub use drawn::drawn;
pub use router::{router, rtt_tcp};
