//! Hosts: flows with the two ends of their connections, whoever carries their packets, and what the hosts of both planes share.
//!
//! A [`Flow`] drives the ends of one connection: TCP's without indirection, those of any other transport behind the trait
//! [`Endpoint`](cogtcp_endpoint::Endpoint). It knows no link and no clock, but a [`Plane`] to send on and to be woken by. [`Streams`] tells whose packets a
//! stream of the network carries. [`DatagramEnds`] is what the kernel plane drives over UDP sockets.
//!
//! What a seed draws for hosts ([`drawn()`]), the router of a train, and the tables of trains, UDP sources and applications are here too, so that they
//! mean the same on both planes.

pub mod applications;
pub mod datagrams;
mod drawn;
mod ends;
mod flow;
mod plane;
mod router;
mod streams;
pub mod train;

pub use drawn::drawn;
pub use ends::{DatagramEnds, Told, UNKNOWN};
pub use flow::{Delivery, Flow, Measured, Snapshot, Tcp};
pub use plane::{Plane, Wake};
pub use router::{router, rtt_tcp};
pub use streams::{End, Owner, Streams};
