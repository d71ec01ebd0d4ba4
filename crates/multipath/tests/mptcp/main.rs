//! Multipath TCP over small networks: dialogues of each rule, and conformance under any pattern of loss and
//! silence.

mod conformance;
mod dialogues;
mod net;
