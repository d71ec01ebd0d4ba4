//! Every test of the crate in one program: linking dozens took longer than running them.

mod dialogue;
mod journey;
