//! TP-CRAHN: a transport for cognitive radio ad hoc networks (Chowdhury, Di Felice and Akyildiz, INFOCOM
//! 2009; TCP CRAHN, IEEE TMC 12(4), 2013).
//!
//! The sender has NewReno's window. Nodes write free queue and rate into packets, and the receiver returns
//! both with each acknowledgement. A node that senses or leaves its channel says so to the sender.
//!
//! Only the abstracts were at hand. The states and their rules are **recalled**, so they are not certain. The
//! page `docs/transports/tp-crahn.md` marks each rule, and what is a guess. Left out: sensing schedules in
//! the handshake, as there is none here; the state *mobility predicted*; new connection state after a failure
//! of the route.

mod config;
mod receiver;
mod sender;
mod wire;

pub use config::TpCrahnSettings;
pub use receiver::TpCrahnReceiver;
pub use sender::{TpCrahnSender, TpCrahnState};
