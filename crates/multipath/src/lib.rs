//! Multipath TCP (RFC 8684 in its mechanisms): one connection over several paths.
//!
//! Each subflow is a TCP connection of [`cogtcp_transport`]: its own sequence numbers, timers and congestion
//! window. Above the subflows are the data sequence mapping, the DATA_ACK, one receive window, reassembly,
//! and reinjection of what a subflow does not deliver. A [`Scheduler`] chooses the subflow of each segment; a
//! [`Coupling`] joins the windows.
//!
//! Departures from RFC 8684: no keys, tokens or HMACs, but their bytes are counted; no checksum; no ADD_ADDR,
//! MP_PRIO or MP_FASTCLOSE. The DATA_FIN travels on the FINs of the subflows, once all data is acknowledged.
//! RFC 8684 takes the first data sequence number from the hash of a key; here it stands in the place of the
//! key of the SYN.

mod counts;
mod coupled;
mod mappings;
mod receiver;
mod reinjection;
mod scheduler;
mod sender;
mod settings;
mod subflow;
mod wire;

pub use counts::{Count, Counts};
pub use coupled::{Coupled, Shared};
pub use receiver::MptcpReceiver;
pub use scheduler::{Scheduler, SubflowState, Turn};
pub use sender::MptcpSender;
pub use settings::{Coupling, MptcpSettings, Subflows};
pub use wire::{Mptcp, decode, encode};

/// Most paths of a connection.
pub const MOST_PATHS: usize = 8;
