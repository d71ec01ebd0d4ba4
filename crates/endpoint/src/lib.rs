//! One host's end of a connection, whatever the transport protocol.
//!
//! An [`Endpoint`] is sans-IO: the driver passes the time in, hands over packets that arrived, and pulls
//! packets to send. A simulator drives it by a virtual clock, the kernel plane by a real one with UDP
//! sockets.
//!
//! A transport that is not TCP implements [`Protocol`] for its settings, which build both ends.
//!
//! TCP's packet is a segment, which the driver keeps in a compact form. All other transports exchange a
//! [`Datagram`].

pub mod conformance;
mod datagram;
mod endpoint;
mod event;
mod log;
mod progress;
mod protocol;
mod spectrum_database;

pub use datagram::Datagram;
pub use endpoint::{Endpoint, Outgoing, Received, Supply};
pub use event::{EndpointEvent, PathEvent, PathId};
pub use log::LogEntry;
pub use progress::{Progress, Waiting};
pub use protocol::{BoxedEndpoint, Connection, Pair, Protocol};
pub use spectrum_database::SpectrumDatabase;
