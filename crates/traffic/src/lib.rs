//! What applications send, beside the bulk transfers of TCP flows: sources and clients without a clock or an
//! event loop.
//!
//! A [`Source`] says when its next packet is due ([`Source::next_packet`]); its driver then calls
//! [`Source::advance`] and sends one. [`Arrivals`] is the other end: arrived packets, their delay and jitter.
//!
//! A [`Client`] asks and is answered over a connection: [`Requests`] of any size, or the chunks of a
//! [`Video`]; an [`Application`] is either.

mod application;
mod arrivals;
mod pattern;
mod requests;
mod source;
mod video;
mod volume;

pub use application::{Application, Client, Exchange, Request};
pub use arrivals::Arrivals;
pub use pattern::{Pattern, Period};
pub use requests::{Connection, Pace, RequestConfig, Requests};
pub use source::Source;
pub use video::{Chunk, Video, VideoConfig};
pub use volume::Volume;
