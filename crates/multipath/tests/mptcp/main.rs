//! Multipath TCP over small networks: dialogues of each rule, and conformance under any pattern of loss and
//! silence.

#[path = "../../../units/tests/support/committed.rs"]
mod committed;
mod conformance;
mod dialogues;
mod net;
