//! Every test of the crate in one program: linking dozens took longer than running them.

mod activity;
mod cognitive;
#[path = "../../units/tests/support/committed.rs"]
mod committed;
mod cycle;
mod leo;
mod limits;
mod logs;
mod pinned;
mod policy;
mod regulated;
mod regulation;
mod rules;
mod sensing_theory;
