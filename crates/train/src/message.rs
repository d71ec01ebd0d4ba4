//! What router and clients say to each other.

use cogtcp_units::{Duration, Time};

/// A message of the router or a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RouterMessage {
    /// Router to client: the link is going down.
    GoingDown {
        /// Number of the prediction, from 0.
        prediction: u32,
        /// When the outage is expected to begin.
        start: Time,
        /// Until when the client is to believe in it: its expected end, or soon after its beginning where
        /// that is not known. A segment from the source that arrives later proves that there is no outage
        /// (any more).
        until: Time,
    },
    /// Router to client: the link is going up.
    GoingUp,
    /// Router to client: what is your RTT_TCP?
    Request,
    /// Client to router.
    Reply {
        /// RTT_TCP, the greatest of its connections; `None`: no connection knows one.
        rtt: Option<Duration>,
    },
}

/// A message that the router sends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OutgoingMessage {
    /// Number of the client, from 0.
    pub client: usize,
    /// The message.
    pub message: RouterMessage,
    /// Chance loses it on the LAN: it is sent, and does not arrive.
    pub lost: bool,
}
