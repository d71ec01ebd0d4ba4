//! A cell under a clock made by hand.

mod drawn;
mod drx;
mod handover;
mod slots;
mod support;
