//! What the network has to know of what it carries.

use cogtcp_crosslayer::StampingHop;
use cogtcp_units::{Duration, Time};

/// Content of a network: any value that keeps its own position and answers the network's few questions.
pub trait Payload: cogtcp_link::LinkPayload {
    /// Where it is.
    fn transit(&self) -> Transit;

    /// Sets where it is. [`enter`](cogtcp_link::LinkPayload::enter) is to call [`Transit::enter`], nothing else
    /// changes it.
    fn set_transit(&mut self, transit: Transit);

    /// What its sender had waited for.
    fn awaited(&self) -> Awaited {
        Awaited::Nothing
    }

    /// The payload has passed `hop`, of a stream that [`Network::stamp`](crate::Network::stamp) names; it
    /// spent `spent` there (`None`: since the last hop). A transport whose packets nodes write into reads it
    /// at the other end.
    fn stamp(&mut self, _now: Time, _spent: Option<Duration>, _hop: &mut StampingHop) {}
}

/// A stream: the packets that one host sends to another on one route. A network gives streams out, counting
/// from 0 ([`Network::add_stream`](crate::Network::add_stream)); whose packets a stream carries, the driver
/// keeps.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct StreamId(pub u32);

impl StreamId {
    /// The stream of what needs no network: a packet for the host that it comes from.
    pub const NOWHERE: Self = Self(u32::MAX);

    /// Returns the place of the stream in a list of all streams.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a payload is on its route.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Transit {
    /// The stream that it belongs to.
    pub stream: StreamId,
    /// The place of its next hop in the network's list of routes.
    pub next: u32,
}

impl Transit {
    /// A link has taken it: the hop after that one is next.
    #[inline]
    pub fn enter(&mut self) {
        self.next += 1;
    }
}

/// What the sender of a packet had waited for when it sent it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[repr(u8)]
pub enum Awaited {
    /// It is no data of a flow.
    #[default]
    Nothing,
    /// A timer that stands for a loss: retransmission, tail loss probe, reordering.
    Timeout,
    /// That the congestion control allows more: an acknowledgement, the pacer.
    Window,
    /// That the receiver's window allows more, or the cap on the window.
    Receiver,
    /// That the application has something to send.
    Application,
}
