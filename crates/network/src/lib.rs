//! The network between hosts, pure: links with their queues, radios with and without a MAC, ad hoc networks,
//! and the routes of packets.
//!
//! [`Network`] knows no transport and no clock, and carries anything that is a [`Payload`]. Its driver
//!
//! 1. builds it of a layout ([`Network::build`]), adds streams on the routes that [`Routes`] finds
//!    ([`Network::add_stream`]), and lets it begin ([`Network::begin`]);
//! 2. hands over what hosts send ([`Network::offer`]), when all changes are played that were due before;
//! 3. plays each change when it is due ([`Network::peek`], [`Network::step`]), and gives what arrives to the
//!    hosts, with the rest of the news ([`Network::has_news`]).
//!
//! An [`Observer`] is told what happens on the way. A virtual clock (the simulator), a real one (the
//! emulator) and one made by hand (the tests) so drive the same network to the same arrivals.
//!
//! Reading order: `payload` and `observer` (what the network asks of its driver), `agenda` (events in order),
//! `network` (links and the packets on them). In `network/` are radios, pairs of CR users (`station_pair`),
//! the ad hoc network, ICMP, conservation, results. Then `routes` (shortest routes), `build` (from
//! specifications to links, radios and the air), `boards` (subscribers of radios), `budget` (time of
//! bottlenecks).

mod account;
mod agenda;
mod boards;
mod budget;
pub mod build;
mod hop;
mod network;
mod observer;
mod payload;
mod radio_row;
mod routes;
mod station_pair;

/// Stops a debug build in a case that no run reaches; a release build skips the case and continues.
#[inline]
#[track_caller]
pub fn impossible(case: &str) {
    debug_assert!(false, "{case}");
}

pub use account::AirStream;
pub use agenda::{Agenda, Change, Due, MAX_INDEX, host_code, host_parts};
pub use boards::Boards;
pub use budget::{FlowSpan, Reached};
pub use hop::LinkHop;
pub use network::{
    BuildError, Goal, LateHosts, Look, Network, Recording, StreamCounters, TIME_TO_LIVE, Tally, finish,
    fronts, look, tells,
};
pub use observer::{Arrival, Carried, Observer, PacketLocation, PacketStep, RadioIndex};
pub use payload::{Awaited, Payload, StreamId, Transit};
pub use routes::{Hop, NoRoute, Routes};
pub use station_pair::{
    CellSlot, Exchange, Finished, MacCounters, Occupation, PairConfig, PairEvent, PairMedium, PairRadio,
    Rest, StationPair,
};
