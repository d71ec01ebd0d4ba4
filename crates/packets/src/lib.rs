//! Packet scripts: what a TCP is given, packet by packet and call by call, and what it is to send, when.
//!
//! A script plays the peer of one end of a connection, in the manner of packetdrill. The same script runs against the model's
//! endpoints ([`model`], under a clock made by hand) and against the kernel of this machine (`cogtcp-emulator`, over a TUN device):
//! both are a [`Plane`]. The runner ([`run`]) stops at the first step that differs. The format is described in
//! `docs/packet-scripts.md`.

mod head;
pub mod model;
mod packet;
mod parse;
mod run;
mod script;

pub use packet::{Ecn, Packet, PacketPattern};
pub use run::{Heard, Line, Mismatch, Moment, Plane, Report, Tolerance, run};
pub use script::{Action, Call, Measure, PlaneName, Script, ScriptError, Span, Step};
