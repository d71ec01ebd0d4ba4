//! The gate of a link: what a radio's phase does to it.

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
    /// What comes to the link in silence is lost; what was queued before is sent. So does ns-2's link-down, which
    /// stands in front of the queue (`dynalink.cc`).
    Refuse,
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
    /// A MAC takes the packets, over an open channel.
    Served,
    /// A MAC takes the packets; its radios are silent.
    ServedSilent,
}

impl Gate {
    /// The gate of a link whose radio is silent or not.
    pub const fn of(is_silent: bool, silence: Silence) -> Self {
        match (is_silent, silence) {
            (false, _) => Self::Open,
            (true, Silence::Hold) => Self::Hold,
            (true, Silence::Drop) => Self::Drop,
            (true, Silence::Refuse) => Self::Refuse,
        }
    }

    /// The gate of a link that a MAC serves.
    pub const fn of_served(is_silent: bool) -> Self {
        if is_silent { Self::ServedSilent } else { Self::Served }
    }

    /// Whether the link's own transmitter runs.
    pub(crate) const fn transmits(self) -> bool {
        matches!(self, Self::Open | Self::Drop | Self::Refuse)
    }

    /// Whether a MAC takes the packets.
    pub const fn is_served(self) -> bool {
        matches!(self, Self::Served | Self::ServedSilent)
    }

    pub(crate) const fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Served)
    }
}
