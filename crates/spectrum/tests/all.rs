//! Every test of the crate in one program: linking dozens took longer than running them.

mod activity;
mod cognitive;
mod cycle;
mod leo;
mod logs;
mod policy;
mod regulated;
mod regulation;
mod sensing_theory;
