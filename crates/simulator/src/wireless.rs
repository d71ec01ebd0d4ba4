//! Wireless links: CR users that share a channel by CSMA/CA, among primary users.
//!
//! `timing` (how long frames and gaps last), `dcf` (one station's contention: backoff and retries), `interference`
//! (which frames primary users destroy), `cell` (the stations at the two ends of a link, their radios, and the exchange
//! on the air).

mod cell;
mod dcf;
mod interference;
mod timing;

pub(crate) use cell::{Cell, MacCounters, Noted, radio_names};
