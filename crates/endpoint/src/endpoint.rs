//! The trait that every end of a connection implements.

use crate::{EndpointEvent, LogEntry, PathId, Progress, SpectrumDatabase, Waiting};
use cogtcp_crosslayer::LinkEvent;
use cogtcp_units::Time;
use std::fmt::Debug;
use std::sync::Arc;

/// What the application offers to the transport.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Supply {
    /// The application always has data to send, or no longer has.
    Saturated(bool),
    /// The application writes this many bytes.
    Bytes(u64),
    /// The application writes a message of this many bytes, as the response to a request. A transport with
    /// several streams gives each message a stream.
    Message(u64),
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a, P> {
    /// The packet.
    pub packet: &'a P,
    /// The path on which the packet arrived.
    pub path: PathId,
    /// A queue on the path marked the packet: congestion experienced (RFC 3168).
    pub marked: bool,
}

/// A packet to send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Outgoing<P> {
    /// The packet.
    pub packet: P,
    /// The path to send the packet on.
    pub path: PathId,
    /// The sender reacts to marks: ECN-capable transport (RFC 3168).
    pub ecn_capable: bool,
    /// Bytes of application data in the packet.
    pub data: u32,
}

/// One host's end of a connection.
///
/// Every call gets the present time; time never runs backwards. After each call that changes the state the
/// driver pulls packets with [`Self::poll_transmit`] and events with [`Self::poll_event`] until both return
/// `None`, then reads [`Self::poll_timeout`].
pub trait Endpoint: Debug {
    /// What the two ends exchange: a TCP segment, or a [`crate::Datagram`].
    type Packet;

    /// Opens the connection (sender), or starts to listen (most receivers always do).
    fn open(&mut self, _now: Time) {}

    /// The application has data. Receivers send none.
    fn supply(&mut self, _now: Time, _what: Supply) {}

    /// The application has no further data. What was supplied before is still sent.
    fn close(&mut self, _now: Time) {}

    /// A packet has arrived.
    fn handle_packet(&mut self, now: Time, received: Received<'_, Self::Packet>);

    /// The time of [`Self::poll_timeout`] has come.
    fn handle_timeout(&mut self, now: Time);

    /// A radio of the sender's node reports. Most transports ignore it.
    fn handle_link_event(&mut self, _now: Time, _event: LinkEvent) {}

    /// A radio of another node on the route reports, and its message reaches the sender at `arrives`. Most
    /// transports hear nothing.
    fn handle_route_event(&mut self, _now: Time, _arrives: Time, _event: LinkEvent) {}

    /// Gives the end a database of primary users, before it opens. Most transports ask none.
    fn use_database(&mut self, _database: &Arc<dyn SpectrumDatabase>) {}

    /// Returns the next packet to send at `now`; `None`: nothing to send yet.
    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<Self::Packet>>;

    /// Returns when [`Self::handle_timeout`] is due; [`Time::MAX`]: never.
    fn poll_timeout(&self) -> Time;

    /// Returns the oldest event that was not taken.
    fn poll_event(&mut self) -> Option<EndpointEvent>;

    /// Returns the counters and the state that every transport has.
    fn progress(&self) -> Progress;

    /// Returns what a sender waits for on one of several paths.
    fn waiting_on(&self, _path: PathId) -> Waiting {
        self.progress().waiting
    }

    /// Shows the transport's own counts by name, each since the first connection opened: the columns of its
    /// table, in their order. The same names at every call; not-a-number where there is no value.
    fn count(&self, _show: &mut dyn FnMut(&'static str, f64)) {}

    /// Shows the transport's own quantities by name, in the unit that the name ends with.
    fn observe(&self, _show: &mut dyn FnMut(&'static str, f64)) {}

    /// Keeps a log of itself from now on. Most transports have none.
    fn keep_log(&mut self) {}

    /// Returns what the log has, in order of time, and empties it.
    fn take_log(&mut self) -> Vec<LogEntry> {
        Vec::new()
    }
}
