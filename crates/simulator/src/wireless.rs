//! Wireless links: CR users that share a channel by CSMA/CA, among primary users.
//!
//! `station_pair` drives the medium of `cogtcp_wireless` with a station at each end of a link, and the radios of both.

mod station_pair;

pub(crate) use station_pair::{MacCounters, Noted, StationPair, radio_names};
