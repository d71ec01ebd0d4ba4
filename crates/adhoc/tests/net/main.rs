//! Ad hoc networks driven by hand, without a simulator.

mod addresses;
mod bench;
mod edges;
mod radios;
mod random;
mod routes;
