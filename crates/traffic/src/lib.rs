//! What applications send, beside the bulk transfers of TCP flows: sources and clients without a clock or an
//! event loop.
//!
//! A [`Source`] says when its next packet is due ([`Source::next_packet`]); its driver then calls
//! [`Source::advance`] and sends one. [`Arrivals`] is the other end: arrived packets, their delay and jitter.
//!
//! A [`Client`] asks and is answered over a connection: [`Requests`] of any size, or the chunks of a
//! [`Video`]; an [`Application`] is any of them. [`Traffic`] is the registry of what a flow's application
//! sends.

mod adaptive_video;
mod application;
mod arrivals;
mod call;
mod kind;
mod pattern;
mod requests;
mod source;
mod video;
mod volume;

pub use adaptive_video::{AdaptiveVideoConfig, BitrateRule, Ladder};
pub use application::{Application, Client, Request, RequestRecord};
pub use arrivals::Arrivals;
pub use call::{Codec, opinion_score};
pub use kind::{Bounds, Saturated, TrafficKind};
pub use pattern::{Pattern, Period};
pub use requests::{Connection, Pace, RequestConfig, Requests};
pub use source::Source;
pub use video::{Chunk, Video, VideoConfig};
pub use volume::Volume;

use cogtcp_units::{Bytes, Rate, registry};

registry! {
    /// What the application sends.
    #[derive(Copy, Default)]
    pub enum Traffic: TrafficKind {
        /// There is always data to send (FTP).
        #[default]
        Saturated = Saturated,
        /// This much, then the connection closes.
        Size(Bytes),
        /// Data comes at this constant rate.
        Rate(Rate),
        /// Responses to requests that the flow's receiver sends to its sender.
        Requests(RequestConfig),
        /// A recorded video that the flow's receiver plays, chunk by chunk.
        Video(VideoConfig),
        /// A recorded video whose player adapts the bitrate.
        AdaptiveVideo(AdaptiveVideoConfig),
    }
}
