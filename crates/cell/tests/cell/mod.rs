//! A cell under a clock made by hand.

mod drawn;
mod drx;
mod handover;
mod link_adaptation;
mod slots;
mod support;
