//! Which streams of a network belong to which connections.

use cogtcp_endpoint::PathId;
use cogtcp_network::StreamId;

/// An end of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum End {
    /// Sends the data of the flow.
    Sender,
    /// Receives the data, and sends acknowledgements or feedback.
    Receiver,
}

impl End {
    /// Both ends.
    pub const BOTH: [Self; 2] = [Self::Sender, Self::Receiver];

    /// Returns the other end.
    #[inline]
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }

    /// Returns the place of the end in a pair: 0 is the sender.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Who sends the packets of a stream.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Owner {
    /// The network itself: ICMP.
    #[default]
    Network,
    /// An end of a flow's connection, on one of the connection's paths.
    Flow {
        /// Number of the flow.
        flow: u32,
        /// The end that sends.
        from: End,
        /// The path.
        path: PathId,
    },
    /// Another part of the run, such as the UDP sources.
    Part {
        /// Number of the part.
        part: u16,
        /// Place of the stream among the streams of the part.
        place: u32,
    },
}

impl Owner {
    /// Returns the flow, if an end of a flow owns the stream.
    #[inline]
    pub const fn flow(self) -> Option<u32> {
        if let Self::Flow { flow, .. } = self { Some(flow) } else { None }
    }
}

/// The owners of all streams, found by the stream in constant time.
#[derive(Clone, Debug, Default)]
pub struct Streams {
    owners: Vec<Owner>,
}

impl Streams {
    /// Enters the owner of `stream`. Streams that were left out belong to the network.
    pub fn enter(&mut self, stream: StreamId, owner: Owner) {
        if self.owners.len() <= stream.index() {
            self.owners.resize(stream.index() + 1, Owner::Network);
        }
        self.owners[stream.index()] = owner;
    }

    /// Returns the owner of `stream`.
    #[inline]
    pub fn owner(&self, stream: StreamId) -> Owner {
        self.owners.get(stream.index()).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_found_by_their_streams() {
        let mut streams = Streams::default();
        let owner = |from, path| Owner::Flow { flow: 7, from, path: PathId(path) };
        streams.enter(StreamId(0), owner(End::Sender, 0));
        streams.enter(StreamId(1), owner(End::Receiver, 0));
        // Of a connection with a second path; the network took 2 for itself.
        streams.enter(StreamId(3), owner(End::Sender, 1));
        streams.enter(StreamId(4), Owner::Part { part: 2, place: 5 });
        assert_eq!(streams.owner(StreamId(1)), owner(End::Receiver, 0));
        assert_eq!(streams.owner(StreamId(3)), owner(End::Sender, 1));
        assert_eq!(streams.owner(StreamId(3)).flow(), Some(7));
        assert_eq!(streams.owner(StreamId(4)).flow(), None);
        for unknown in [StreamId(2), StreamId(5), StreamId::NOWHERE] {
            assert_eq!(streams.owner(unknown), Owner::Network);
        }
    }

    /// The event loop looks an owner up for each packet that reaches its host: eight owners fit into a cache
    /// line.
    #[test]
    fn an_owner_is_eight_bytes() {
        assert_eq!(size_of::<Owner>(), 8);
    }
}
