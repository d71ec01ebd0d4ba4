//! Ad hoc networks driven by hand, without a simulator.

mod bench;
mod edges;
mod radios;
mod random;
mod ways;
