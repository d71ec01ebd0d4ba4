//! Hosts: flows with the two ends of their connections, and what the hosts of both planes share.
//!
//! A [`Flow`] drives the ends of one connection: TCP without indirection, any other transport behind the
//! trait [`Endpoint`](cogtcp_endpoint::Endpoint). A flow knows no link and no clock. It sends on a [`Plane`],
//! which also wakes it. [`Streams`] tells whose packets a stream of the network carries. The kernel plane
//! drives [`DatagramEnds`] over UDP sockets.
//!
//! Here are also the draws of a seed for hosts ([`drawn()`]), a train's connection managers ([`freeze`]) and
//! router, and the tables of trains, UDP sources and applications. They mean the same on both planes.

pub mod applications;
mod asking;
mod database;
pub mod datagrams;
mod drawn;
mod ends;
mod flow;
pub mod freeze;
pub mod multipath;
mod plane;
pub mod quic;
mod router;
mod streams;
pub mod train;

pub use asking::Asking;
pub use database::database;
pub use drawn::drawn;
pub use ends::{DatagramEnds, EndEvent, UNKNOWN};
pub use flow::{Delivery, Flow, Measured, Snapshot, Tcp};
pub use plane::{Plane, Wake};
pub use router::{RouterHost, rtt_tcp};
pub use streams::{End, Owner, Streams};
