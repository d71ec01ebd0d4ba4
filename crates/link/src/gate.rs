//! The gate of a link: the effect of a radio's phase.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens to packets during silence.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Silence {
    /// Packets wait in the queue; the frame in the air completes.
    #[default]
    Hold,
    /// What is sent into the silence is lost.
    Drop,
    /// What comes to the link in silence is lost; what was queued before is sent.
    Refuse,
    /// The link goes down: what waits and what is under way is destroyed at once, what comes in silence is
    /// lost. So does ns-2's link-down, and so does Linux when an interface loses its carrier.
    Down,
}

/// What a link that goes down destroys at that instant.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Flush {
    /// What waits. The frame on the air completes, and what is under way arrives.
    Queue,
    /// What is under way: the frame on the air, and all that has left the transmitter and not arrived. What
    /// waits is kept for when the link is up.
    Wire,
    /// Both, as ns-2 (`SimpleLink instproc down`: every connector is reset, the queue and the delay).
    #[default]
    Both,
}

impl Flush {
    pub(crate) const fn empties_queue(self) -> bool {
        matches!(self, Self::Queue | Self::Both)
    }

    pub(crate) const fn empties_wire(self) -> bool {
        matches!(self, Self::Wire | Self::Both)
    }
}

/// State of the gate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Gate {
    /// Traffic flows.
    Open,
    /// Silence: packets wait; the frame on the air completes.
    Hold,
    /// Silence: the transmitter goes on, and what it sends is lost.
    Drop,
    /// Silence: nothing is let in; what was in the queue before it is sent and arrives.
    Refuse,
    /// Silence: nothing is let in and nothing leaves; so much was destroyed when it began.
    Down(Flush),
    /// A MAC takes the packets, over an open channel.
    Served,
    /// A MAC takes the packets; its radios are silent.
    ServedSilent,
}

impl Gate {
    /// The gate of a link whose radio is silent or not. `flush`: what is destroyed if silence takes it down.
    pub const fn of(is_silent: bool, silence: Silence, flush: Flush) -> Self {
        match (is_silent, silence) {
            // The policy for silence matters only while there is a silence.
            (false, _) => Self::Open,
            (true, Silence::Hold) => Self::Hold,
            (true, Silence::Drop) => Self::Drop,
            (true, Silence::Refuse) => Self::Refuse,
            (true, Silence::Down) => Self::Down(flush),
        }
    }

    /// The gate of a link that a MAC serves.
    pub const fn of_served(is_silent: bool) -> Self {
        if is_silent { Self::ServedSilent } else { Self::Served }
    }

    /// Whether the link's own transmitter runs.
    pub(crate) const fn transmits(self) -> bool {
        // A silence that drops or refuses does not stop the transmitter: it goes on and wastes time, or
        // empties its queue.
        matches!(self, Self::Open | Self::Drop | Self::Refuse)
    }

    /// Whether nothing is let in.
    pub(crate) const fn refuses(self) -> bool {
        matches!(self, Self::Refuse | Self::Down(_))
    }

    /// Whether waiting packets wait for another gate.
    pub(crate) const fn holds(self) -> bool {
        matches!(self, Self::Hold | Self::Down(_))
    }

    /// Whether a silence destroys packets.
    pub const fn destroys(self) -> bool {
        matches!(self, Self::Drop | Self::Refuse | Self::Down(_))
    }

    /// Whether a MAC takes the packets.
    pub const fn is_served(self) -> bool {
        matches!(self, Self::Served | Self::ServedSilent)
    }

    pub(crate) const fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Served)
    }
}
