//! Many nodes over a simple model of connectivity with delays and losses: no loops at any moment, a partition
//! that heals, and messages that nobody would send.

mod air;
mod fuzz;
mod loops;
mod partition;
