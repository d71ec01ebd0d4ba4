//! Every test of the crate in one program: linking dozens took longer than running them.

mod ad_hoc_by_hand;
mod capacities;
mod cells_by_hand;
mod network_by_hand;
mod notices_by_hand;
