//! Packet scripts: what a TCP is given, packet by packet and call by call, and what it is to send, when.
//!
//! A script plays the peer of one end of a connection, in the manner of packetdrill. The same script runs
//! against the model's endpoints ([`model`], under a clock made by hand) and against the kernel of this
//! machine (`cogtcp-emulator`, over a TUN device). Both are a [`ScriptPlane`]. The runner ([`run`]) stops at the
//! first step that differs. Scripts are in packetdrill's language (Cardwell et al., USENIX ATC 2013), read by
//! `drill`; `docs/packet-scripts.md` describes it.

mod drill;
mod head;
pub mod model;
mod packet;
mod run;
mod script;

pub use drill::{Fields, Statement};
pub use packet::{EcnCodepoint, Icmp, PacketPattern, ScriptPacket};
pub use run::{Heard, LogLine, Mismatch, Moment, Report, ScriptPlane, Tolerance, run};
pub use script::{
    Action, Call, CallError, Errno, PlaneName, Returns, Script, ScriptError, Side, Slack, SocketOption, Span,
    Step, System, When,
};
