//! A transport that is not TCP, as scenarios name it.

use crate::{Datagram, Endpoint};
use cogtcp_units::RandomStream;
use std::fmt::Debug;

/// An end of a connection whose transport is chosen when a run begins.
pub type BoxedEndpoint = Box<dyn Endpoint<Packet = Datagram> + Send + Sync>;

/// Properties of a connection that a transport knows before it opens.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Connection {
    /// Segment size of the scenario in bytes, for a transport whose settings leave the size open: all
    /// transports of a comparison send packets of one size.
    pub segment_size: u32,
    /// Paths that the connection may use, at least 1. Most transports use the first alone.
    pub paths: u16,
    /// Seed of what the ends draw (connection IDs, skipped packet numbers); 0 until a run sets it.
    pub seed: u64,
}

impl Connection {
    /// Returns the connection of the flow called `name` in a run with `seed`.
    #[must_use]
    pub fn of_flow(self, seed: u64, name: &str) -> Self {
        // By name, not by number: other flows of the scenario must not change what the ends draw.
        Self { seed: RandomStream::new(seed, &format!("transport/{name}"), 0).next_u64(), ..self }
    }
}

/// The two ends of a connection.
#[derive(Debug)]
pub struct Pair {
    /// The end that sends the flow's data.
    pub sender: BoxedEndpoint,
    /// The end that receives the data.
    pub receiver: BoxedEndpoint,
    /// Most bytes of application data in a packet.
    pub segment_size: u32,
}

/// The settings of a transport that is not TCP: they build both ends. Names and checks are in
/// [`Named`](cogtcp_units::Named).
pub trait Protocol: Debug {
    /// True if all data is delivered, once and in order. Applications that wait for a last byte need this.
    fn is_reliable(&self) -> bool;

    /// True if nodes on the route write into packets: only the simulator has such nodes.
    fn wants_stamps(&self) -> bool {
        false
    }

    /// True if nodes on the route tell the sender what their radios do: only the simulator has such nodes.
    fn hears_route(&self) -> bool {
        false
    }

    /// Returns the two ends of a connection at rest.
    fn build(&self, connection: Connection) -> Pair;
}
