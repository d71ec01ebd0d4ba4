//! Ad hoc networks driven by hand, without a simulator.

mod addresses;
mod bench;
#[path = "../../../units/tests/support/committed.rs"]
mod committed;
mod edges;
mod frames;
mod powers;
mod radios;
mod random;
mod routes;
