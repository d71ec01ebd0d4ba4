//! A log that an end keeps of itself.

use cogtcp_units::Time;

/// One event of an end's own log, in the format that the transport's field uses: QUIC's is qlog.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogEntry {
    /// When the event happened.
    pub at: Time,
    /// The connection of the event, by a name that both ends use.
    pub connection: String,
    /// Name of the event.
    pub name: &'static str,
    /// The event's data, as JSON.
    pub data: String,
}
