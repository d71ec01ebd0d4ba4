//! Every test of the crate in one program: linking dozens took longer than running them.

mod adhoc;
mod cognitive;
mod edit;
mod errors;
mod external;
mod format;
mod fuzz;
mod journey;
mod limits;
mod links;
mod outages;
mod refused;
mod shipped;
mod tcp;
mod traffic;
mod train;
mod transports;
