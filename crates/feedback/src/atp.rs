//! ATP: a reliable transport for ad hoc networks whose rate the nodes on the route tell (Sundaresan,
//! Anantharaman, Hsieh and Sivakumar, MobiHoc 2003; IEEE TMC 4(6), 2005).
//!
//! Each node keeps a mean of Q + T, the time that packets wait in its queue and are first in line. A packet
//! carries the greatest mean of its route. The receiver averages what packets tell, and reports once an
//! epoch. The rate that the route allows is the inverse. There is no window, and no retransmission timer that
//! backs off.
//!
//! Only the abstracts were at hand. All rules and constants are **recalled** from general knowledge of the
//! paper, so they are not certain. `docs/transports/atp.md` marks each rule. Three things are guesses: phi,
//! how late a report may be, and when a hop is idle. One rule is derived: which segment is lost. A report
//! says which packet it answers. What was sent before that packet and has not arrived is lost.
//!
//! A node samples packets that ask for stamps, and no others.

mod config;
mod receiver;
mod sender;
mod wire;

pub use config::AtpSettings;
pub use receiver::AtpReceiver;
pub use sender::AtpSender;
