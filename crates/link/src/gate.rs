//! The gate of a link: what a radio's phase does to it.

/// What becomes of packets while a link's radio is silent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Silence {
    /// They wait; the frame on the air completes.
    Hold,
    /// The transmitter goes on, and what it sends is lost.
    Drop,
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
        }
    }

    /// The gate of a link that a MAC serves.
    pub const fn of_served(is_silent: bool) -> Self {
        if is_silent { Self::ServedSilent } else { Self::Served }
    }

    /// Whether the link's own transmitter runs.
    pub(crate) const fn transmits(self) -> bool {
        matches!(self, Self::Open | Self::Drop)
    }

    /// Whether a MAC takes the packets.
    pub(crate) const fn is_served(self) -> bool {
        matches!(self, Self::Served | Self::ServedSilent)
    }

    pub(crate) const fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Served)
    }
}
