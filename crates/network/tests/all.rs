//! Every test of the crate in one program: linking dozens took longer than running them.

mod by_hand;
mod stations_alone;
