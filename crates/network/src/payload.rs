//! What the network has to know of what it carries.

/// What a network carries: anything that keeps where it is, and says what few things the network asks of it.
pub trait Payload: cogtcp_link::Payload {
    /// Where it is.
    fn transit(&self) -> Transit;

    /// Sets where it is. [`enter`](cogtcp_link::Payload::enter) is to call [`Transit::enter`], nothing else changes it.
    fn set_transit(&mut self, transit: Transit);

    /// What its sender had waited for.
    fn awaited(&self) -> Awaited {
        Awaited::Nothing
    }
}

/// Where a payload is on its path.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Transit {
    /// The stream that it belongs to; [`Transit::NOWHERE`]: it is for the host that it comes from.
    pub stream: u32,
    /// The place of its next hop in the network's list of paths.
    pub next: u32,
}

impl Transit {
    /// The stream of what needs no network.
    pub const NOWHERE: u32 = u32::MAX;

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
