//! AODV in dialogues: each names the section of RFC 3561 that it holds to, and states the messages by hand.

mod errors;
mod handoffs;
mod harness;
mod hellos;
mod peers;
mod replies;
mod requests;
mod search;
mod table;
