//! What a run records.

use crate::host_routes::LinkDirection;
use cogtcp_network::RadioIndex;
use cogtcp_records::EventKind;
use cogtcp_units::Time;

/// To what something happened.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Entity {
    Flow(usize),
    Radio(RadioIndex),
    LinkDirection(LinkDirection),
    Node(usize),
    /// A primary user, by its number in the log.
    User(u32),
    /// A node, about another.
    Nodes([usize; 2]),
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordedEvent {
    pub(crate) at: Time,
    pub(crate) kind: EventKind,
    pub(crate) entity: Entity,
    pub(crate) flow: Option<usize>,
    pub(crate) detail: &'static str,
    pub(crate) value: f64,
}
