//! The cross-layer boards of a cell's two nodes, and what the transports there read of them.

use cogtcp_spectrum::board::{Board, Fact, ReaderId};
use cogtcp_transport::LinkEvent;
use cogtcp_units::{Rate, Time};

/// What a transport at end `end` of a link reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HostFact {
    pub(crate) end: usize,
    pub(crate) event: LinkEvent,
}

/// The board of one node and its transports' place in it.
#[derive(Debug)]
pub(super) struct NodeBoard {
    pub(super) board: Board,
    transports: Option<ReaderId>,
}

impl NodeBoard {
    /// A board that transports read, or one that nobody reads.
    pub(super) fn new(is_read: bool) -> Self {
        let mut board = Board::new();
        let transports = is_read.then(|| board.subscribe());
        Self { board, transports }
    }

    /// The oldest fact that the transports have not read. `rate`: the present channel's; `room`: bytes free in the queue.
    pub(super) fn take(&mut self, end: usize, rate: Rate, room: u64) -> Option<HostFact> {
        let (_, fact): (Time, Fact) = self.board.take(self.transports?)?;
        let event = match fact {
            Fact::Sensing { until } => LinkEvent::SensingStart { until },
            Fact::Handoff { rate: new, .. } => LinkEvent::Handoff { rate: new.unwrap_or(rate) },
            Fact::LinkDown => LinkEvent::LinkDown,
            Fact::LinkUp => LinkEvent::LinkUp,
            Fact::QueueFree => LinkEvent::QueueFree { bytes: room },
        };
        Some(HostFact { end, event })
    }
}
