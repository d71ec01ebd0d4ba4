//! What goes on at a direction of a link, for an account of its time.

use cogtcp_units::Time;

/// What goes on at a link that a MAC serves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Occupation {
    /// Nothing is to be sent.
    Idle,
    /// Its radios are silent.
    Silent,
    /// A packet waits for the medium.
    Contends,
    /// The other direction has the medium.
    Other,
    /// An exchange of its own.
    Exchange(Exchange),
    /// An exchange of its own with an outcome that is still unknown.
    Undecided,
    /// A packet waits for a slot or a grant of a cell.
    Granted,
    /// A slot of a cell.
    Slot(CellSlot),
}

/// What a slot of a cell is to a link, in resource blocks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CellSlot {
    /// All that may carry data; none: the slot belongs to the other direction.
    pub all: u32,
    /// With its data, which is received.
    pub received: u32,
    /// With its data, which is lost: HARQ repeats it.
    pub lost: u32,
    /// Whether primary users destroyed what is lost.
    pub is_struck: bool,
    /// Of other users.
    pub others: u32,
    /// Whether it has more to send than the slot takes.
    pub waits: bool,
    /// Whether its user moves to another base station, and has none.
    pub is_moving: bool,
}

/// An exchange of frames on the air.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Exchange {
    /// When it ends.
    pub end: Time,
    /// From when to when the packet itself is on the air, where it gets through for the first time; else
    /// nothing.
    pub data: (Time, Time),
    /// What the rest of its time is.
    pub rest: Rest,
}

/// What the time of an exchange is in which its packet is not on the air, or does not get through for the
/// first time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rest {
    /// What a MAC takes: other frames, headers, pauses between frames.
    Mac,
    /// A frame was lost, or had arrived before.
    Retry,
    /// A primary user destroyed a frame.
    Interference,
}
