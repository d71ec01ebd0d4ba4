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

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_spectrum::ChannelId;
    use cogtcp_units::Duration;

    /// The table of `docs/wireless.md` has a row for every fact, which says what transports read of it.
    #[test]
    fn the_documented_table_is_that_of_the_code() {
        let page = include_str!("../../../../docs/wireless.md");
        let until = Time::ZERO + Duration::from_secs(1);
        let rate = Rate::from_bits_per_second(1_000_000);
        let mut node = NodeBoard::new(true);
        let facts = [
            Fact::Sensing { until },
            Fact::Handoff { from: ChannelId(0), to: ChannelId(1), rate: Some(rate) },
            Fact::LinkDown,
            Fact::LinkUp,
            Fact::QueueFree,
        ];
        for fact in facts {
            node.board.publish(Time::ZERO, fact);
            let event = node.take(0, rate, 500).map(|read| read.event);
            // A new fact does not compile until it has a row here.
            let row = match fact {
                Fact::Sensing { .. } => "| `Sensing { until }` | the node's radio |",
                Fact::Handoff { .. } => "| `Handoff { from, to, rate }` | the node's radio |",
                Fact::LinkDown => "| `LinkDown` | the link |",
                Fact::LinkUp => "| `LinkUp` | the link |",
                Fact::QueueFree => "| `QueueFree` | the node's interface queue |",
            };
            let read = match event {
                Some(LinkEvent::SensingStart { until: end }) if end == until => {
                    "| `SensingStart { until }` |"
                }
                Some(LinkEvent::Handoff { rate: new }) if new == rate => "| `Handoff { rate }` |",
                Some(LinkEvent::LinkDown) => "| `LinkDown` |",
                Some(LinkEvent::LinkUp) => "| `LinkUp` |",
                Some(LinkEvent::QueueFree { bytes: 500 }) => "| `QueueFree { bytes }` |",
                other => panic!("{fact:?} is read as {other:?}"),
            };
            let line = page.lines().find(|line| line.starts_with(row));
            assert!(line.is_some_and(|line| line.ends_with(read)), "{fact:?}: {line:?}");
        }
        let rows = page.split("| fact |").nth(1).map(|table| table.lines().skip(2));
        let rows = rows.into_iter().flatten().take_while(|line| line.starts_with('|')).count();
        assert_eq!(rows, facts.len(), "no row for what is not a fact");
    }
}
