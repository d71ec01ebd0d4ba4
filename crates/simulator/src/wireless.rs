//! Wireless links: CR users that share a channel by CSMA/CA, among primary users.
//!
//! `timing` (how long frames and gaps last), `dcf` (one station's contention: backoff and retries), `interference`
//! (which frames primary users destroy), `station_pair` (the stations at the two ends of a link, their radios, and the exchange
//! on the air).

mod dcf;
mod interference;
mod station_pair;
mod timing;

pub(crate) use station_pair::{MacCounters, Noted, StationPair, radio_names};
