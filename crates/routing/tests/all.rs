//! Every test of the crate in one program: linking dozens took longer than running them.

mod aodv;
mod cr_aodv;
mod search;
mod static_routing;
mod world;
