//! The real-kernel plane: a scenario on the TCP of this machine's Linux kernel, under a real clock.
//!
//! Each node at which a flow ends is a network namespace with a TUN device. Between them stand the
//! simulator's state machines, [`Link`](cogtcp_link::Link) and [`Radio`](cogtcp_spectrum::Radio). A packet
//! that a kernel sends leaves its TUN device, crosses the links of its route, and enters another device when
//! the last link delivers it. The link alone decides this time, not the wake-up of the process: a late clock
//! delays packets by its lateness, which is measured, and does not slow the link.
//!
//! Start with [`network`], which has no clock: links with their radios, and the [`host_routes`] of packets.
//! Then [`engine`](self) drives it. `plan` says which scenarios can be emulated; `namespaces`, `device` and
//! `privileges` prepare the hosts. `flows` puts the scenario's flows on real sockets, `udp` its UDP sources;
//! `command` runs other programs. `lateness` judges the timing; `report` makes the tables.
//!
//! Nothing is left behind by construction. Namespaces have no name and devices are not persistent: they end
//! with the process, whatever ends it. [`emulate`] changes the namespaces of its process for good. Call it
//! once, in a process made for it, before that process has a second thread.
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
mod event;
mod flows;
pub mod host_routes;
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
mod unanswered;
mod wire;

pub use device::DeviceKind;
pub use emulate::{Options, emulate};
pub use error::EmulationError;
pub use lateness::{Lateness, Timing};
pub use packet::{Family, IpPacket, Packets};
pub use plan::Plan;
pub use scripts::{Played, play_scripts};
