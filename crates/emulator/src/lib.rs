//! The real-kernel plane: a scenario on the TCP of this machine's Linux kernel, under a real clock.
//!
//! Network namespaces, one for each node at which a flow ends, have a TUN device each; between them stand the same
//! state machines that the simulator drives, [`Link`](cogtcp_link::Link) and [`Radio`](cogtcp_spectrum::Radio). A packet
//! that a kernel sends comes out of its TUN device, goes over the links on its way, and is put into another device when the last
//! of them says that it arrives. When that is follows from what the link was told, not from when somebody looked: a clock that is
//! late delays packets by its lateness, which is measured, and does not make the link slower.
//!
//! Start with [`network`], which has no clock: links with their radios, and the [`ways`] of packets. [`engine`](self) drives it; `plan` says which scenarios can be
//! emulated; `namespaces`, `device` and `privileges` set the stage; `flows` plays the scenario's own flows on real sockets, `udp` its UDP sources, `command` runs
//! somebody else's program; `lateness` says how true the timing was; `report` makes the tables.
//!
//! Nothing is left behind by construction. The namespaces have no name, the devices are not persistent: they end with the process,
//! whatever ends it. [`emulate`] changes the namespaces of the process that calls it for good, so it is to be called once, by a process
//! made for it, before that has a second thread.
#![cfg(target_os = "linux")]

mod announcer;
mod clock;
mod command;
mod controls;
mod device;
mod emulate;
mod endings;
mod engine;
mod error;
mod flows;
mod headers;
mod journal;
mod lateness;
mod namespaces;
pub mod network;
mod observer;
mod orphans;
mod packet;
mod plan;
mod privileges;
mod receive_memory;
mod report;
mod scripts;
mod segments;
mod sockets;
mod states;
mod sys;
mod train;
mod udp;
pub mod ways;
mod wire;

pub use device::DeviceKind;
pub use emulate::{Options, emulate};
pub use error::EmulationError;
pub use lateness::{Lateness, Timing};
pub use packet::{Family, Packet, Packets};
pub use plan::Plan;
pub use scripts::{Played, play_scripts};
