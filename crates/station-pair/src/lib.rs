//! Two CR users at the ends of a link, pure: their radios, and the MAC between them.
//!
//! [`StationPair`] is a state machine without a clock or a queue of events. It serves two directions of a link
//! ([`cogtcp_link::Link`], gate [`Served`](cogtcp_link::Gate::Served)), which keep the packets and what is counted of them. Whoever drives it
//!
//! 1. puts the links under its service ([`begin`](StationPair::begin));
//! 2. calls [`feed`](StationPair::feed) whenever a link has a packet that it had not ([`Offer::Wake`](cogtcp_link::Offer::Wake));
//! 3. calls [`step`](StationPair::step) at [`next_change`](StationPair::next_change), ends the service of the packets that this
//!    [`Finished`] ([`Link::end_service`](cogtcp_link::Link::end_service)), and feeds it again.
//!
//! So the virtual clock of the simulator and the real one of the emulator drive the same radios and the same MAC.
//!
//! Reading order: `pair` (what is due, and what a radio's change does), `pair/events` (what the medium reports, and what follows),
//! `pair/results` (what was counted), `occupation` (what goes on at a direction, for an account of its time).

mod occupation;
mod pair;

pub use occupation::{Exchange, Occupation, Rest};
pub use pair::{Finished, MacCounters, Noted, PairConfig, PairMedium, PairRadio, StationPair};
