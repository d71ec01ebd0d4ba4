//! Every test of the crate in one program: linking dozens took longer than running them.

mod aodv;
#[path = "../../units/tests/support/committed.rs"]
mod committed;
mod cr_aodv;
mod search;
mod static_routing;
mod world;
