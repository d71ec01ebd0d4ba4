//! A transport that is not TCP, as scenarios name it.

use crate::{Datagram, Endpoint};
use cogtcp_units::{Check, RandomStream};

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
    /// Returns the same for flow `number` of a run with `seed`.
    #[must_use]
    pub fn of_flow(self, seed: u64, number: u32) -> Self {
        Self { seed: RandomStream::new(seed, "transport", u64::from(number)).next_u64(), ..self }
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

/// The settings of a transport that is not TCP.
pub trait Protocol: Default {
    /// Name in scenarios.
    const NAME: &'static str;
    /// One line for lists of transports.
    const SUMMARY: &'static str;
    /// The RFC or paper that specifies the transport.
    const REFERENCE: &'static str;
    /// True if all data is delivered, once and in order. Applications that wait for a last byte need this.
    const RELIABLE: bool;

    /// Returns the settings that `name` stands for: the defaults for [`Self::NAME`]. A transport may have
    /// further names.
    fn of_name(name: &str) -> Option<Self> {
        (name == Self::NAME).then(Self::default)
    }

    /// Reports each setting that is wrong.
    fn check(&self, found: &mut dyn Check);

    /// Returns the two ends of a connection at rest.
    fn build(&self, connection: Connection) -> Pair;
}
