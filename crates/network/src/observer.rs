//! Who is told what happens in the network.

use crate::payload::Payload;
use cogtcp_adhoc::AirEvent;
use cogtcp_crosslayer::{LinkEvent, Phase};
use cogtcp_link::{DropCause, Frame};
use cogtcp_records::EventKind;
use cogtcp_units::{Duration, Rate, Time};

/// A radio by its index in the layout, and its index among the radios of that entry.
pub type RadioIndex = (usize, usize);

/// Where a packet is in the network.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PacketLocation {
    /// The link direction that it is offered to, lies in, or has come through.
    pub direction: u32,
    /// The nodes that its stream leads from and to.
    pub ends: (u32, u32),
    /// Hops before the link direction.
    pub hops: u32,
}

/// What happens to a packet that is not lost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PacketStep {
    /// It is offered to a link direction, which may not take it.
    Offered,
    /// The link direction has taken it.
    Queued,
    /// It has come through the link direction.
    Received,
}

/// A packet that has reached its host.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival<P> {
    /// When.
    pub at: Time,
    /// The link direction by which it came; `None`: it came over the air, or needed no network.
    pub direction: Option<u32>,
    /// The packet, with the time that it has waited.
    pub frame: Frame<P>,
}

/// A packet on the air.
#[derive(Clone, Copy, Debug)]
pub struct Carried<P> {
    /// The packet.
    pub packet: P,
    /// How long it had waited in queues of links before.
    pub waited: Duration,
}

impl<P: Payload> Carried<P> {
    /// The packet of so many `bytes` with its wait.
    pub(crate) fn frame(&self, bytes: u32) -> Frame<P> {
        let mut frame = Frame::new(self.packet, bytes);
        frame.add_wait(self.waited);
        frame
    }
}

/// Who is told what happens in the network.
pub trait Observer<P: Payload> {
    /// Whether [`packet`](Self::packet) is to be called for [`PacketStep::Offered`], too.
    const FOLLOWS_OFFERS: bool = false;

    /// Whether [`packet`](Self::packet) is to be called.
    #[inline]
    fn follows_packets(&self) -> bool {
        false
    }

    /// Something happens to a packet.
    fn packet(&mut self, _at: Time, _step: PacketStep, _place: PacketLocation, _frame: &Frame<P>) {}

    /// A packet is lost on a link. `refused`: the link had not taken it.
    fn dropped(&mut self, at: Time, place: PacketLocation, frame: &Frame<P>, cause: DropCause, refused: bool);

    /// A packet is lost at this node of an ad hoc network.
    fn lost(&mut self, _at: Time, _node: u32, _frame: &Frame<P>, _cause: &'static str) {}

    /// Something happens to this radio. `own_rate` is the rate that "the link's own" stands for.
    fn radio(&mut self, _at: Time, _radio: RadioIndex, _event: LinkEvent, _own_rate: Rate) {}

    /// All events of a change have been told of the radio at this place of the layout, which gates links:
    /// this is what it does from now on.
    fn phase(&mut self, _radio: usize, _phase: Phase) {}

    /// A primary user destroys a frame of this name, which is about a packet of `direction`.
    fn interference(&mut self, _at: Time, _direction: u32, _frame: &'static str) {}

    /// Tells sources apart that are to hear if silence destroys this packet; `None`: nobody is.
    fn source(&self, _packet: &P) -> Option<u64> {
        None
    }

    /// Writes what the node `teller` tells the source of a packet that silence destroys: a packet, and its
    /// size. `teller` is `None` where the source itself is in front of the link.
    fn notice(&mut self, _at: Time, _teller: Option<u32>, _about: &P) -> Option<(P, u32)> {
        None
    }

    /// The number of the stream that the packet counts to in the tables of an ad hoc network.
    fn counts_to(&self, packet: &P) -> u32 {
        packet.transit().stream.0
    }

    /// Something happens to the radio of a node of an ad hoc network.
    fn node_radio(&mut self, _at: Time, _node: u32, _event: LinkEvent) {}

    /// Something happens at the first of these nodes of an ad hoc network, about the second.
    fn node_event(&mut self, _at: Time, _kind: EventKind, _nodes: [u32; 2], _value: f64) {}

    /// What goes over the air, where frames are recorded.
    fn air(&mut self, _event: &AirEvent<Carried<P>>) {}
}
