//! Every test of the crate in one program: linking dozens took longer than running them.

#[path = "../../units/tests/support/committed.rs"]
mod committed;
mod common;
mod exchange;
mod limits;
mod primary_users;
mod propagation;
mod random;
mod rendezvous;
mod saturation;
mod terminals;
mod whole;
