//! Segment dialogues: the rules of the RFCs, one by one, in virtual time.
//!
//! # How to write a dialogue
//!
//! A dialogue plays one end of a connection against a script, in the manner of packetdrill. Time is in
//! milliseconds and moves only when the script moves it. Each test names the RFC section it checks.
//!
//! - [`SenderDialogue`](harness::SenderDialogue): the sender against scripted ACKs. `send` gives it a segment
//!   now, `expect` lists everything it sends now, `at` moves time and insists on silence until then,
//!   `expect_at` moves time and lists what comes at that moment (and that nothing comes before).
//! - [`ReceiverDialogue`](harness::ReceiverDialogue): the receiver against scripted data, with the same
//!   verbs.
//! - [`Pipe`](harness::Pipe): sender and receiver over a path of fixed delay that drops the transmissions it
//!   is told to; afterwards the log says when each segment was sent.
//!
//! Segments are written as text, several separated by `;`:
//!
//! ```text
//! #3                   data, the third segment of MSS (1000) bytes          #3-5   three of them
//! 1:501                data by offset: the SYN has offset 0, the first byte 1, the end is not included
//! @#4  @3001           no data, at this position
//! S  S.  F.  P.  R  E.  W.  A.  flags, tcpdump's letters, A for AE; without any: "."
//! ect  ect1  ce         the packet is ECN-capable, of an L4S sender; a queue has marked it
//! ack #4  ack 3001     acknowledges everything before the fourth segment
//! sack #6-7 #9         SACK blocks in order
//! win 5000  ts 10/5  mss 1000  sackOK  ws 7  custom 9        as they stand in the header
//! nosackOK  nows  nots  nocustom  noect                          expected to be absent
//! ```
//!
//! In an expectation, what is not mentioned is not checked, except flags (PSH apart), the data range and SACK
//! blocks, which must be exactly those given.

#![allow(unreachable_pub)]

mod accurate_ecn;
mod harness;
mod path_recovery;
mod receiver_ack;
mod receiver_ecn;
mod receiver_handshake;
mod receiver_linux;
mod receiver_sack;
mod receiver_window;
mod sender_ecn;
mod sender_handshake;
mod sender_linux;
mod sender_outage;
mod sender_rack;
mod sender_recovery;
mod sender_rto;
mod sender_window;
