//! Ad hoc networks driven by hand, without a simulator.

mod addresses;
mod bench;
mod edges;
mod powers;
mod radios;
mod random;
mod routes;
