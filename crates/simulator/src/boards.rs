//! The boards of the nodes with a radio, and who reads them.
//!
//! Radios, the links that they gate and the queues in front of them publish; a reader takes what it has not read. The
//! transports whose sender is on a node read its board, and so does a train's router.

use cogtcp_crosslayer::{Board, LinkEvent, Notice, ReaderId};
use cogtcp_scenario::Experiment;
use cogtcp_units::{Rate, Time};
use std::collections::VecDeque;

/// The boards of one run.
#[derive(Debug, Default)]
pub(crate) struct Boards {
    /// By node; `None`: it has no radio.
    nodes: Vec<Option<NodeBoard>>,
    /// Nodes in whose boards something may stand that transports have not read.
    fresh: VecDeque<usize>,
}

/// One node's board.
#[derive(Debug)]
struct NodeBoard {
    board: Board,
    /// Flows whose sender is on the node, and their common place on the board.
    senders: Vec<usize>,
    transports: Option<ReaderId>,
}

impl NodeBoard {
    fn new(experiment: &Experiment, node: usize) -> Self {
        let flows = experiment.flows.iter().enumerate();
        let senders: Vec<usize> =
            flows.filter(|(_, flow)| flow.from == node).map(|(number, _)| number).collect();
        let mut board = Board::new();
        // One reader for all senders of a node: they hear the same, and at the same instant.
        let transports = (!senders.is_empty()).then(|| board.subscribe());
        Self { board, senders, transports }
    }
}

impl Boards {
    /// A board for every node at an end of a link with a radio, and for every node of an ad hoc network that senses.
    pub(crate) fn new(experiment: &Experiment) -> Self {
        let mut nodes: Vec<Option<NodeBoard>> = experiment.nodes.iter().map(|_| None).collect();
        let gated = experiment.radios.iter().flat_map(|radio| &radio.links);
        let ends = gated.flat_map(|link| [experiment.links[*link].from, experiment.links[*link].to]);
        let senses = experiment.adhoc.as_ref().is_some_and(|spec| spec.config.cognitive.is_some());
        let all = if senses { 0..nodes.len() } else { 0..0 };
        for node in ends.chain(all) {
            nodes[node].get_or_insert_with(|| NodeBoard::new(experiment, node));
        }
        Self { nodes, fresh: VecDeque::new() }
    }

    /// Adds a reader to the board of `node`; `None`: the node has no radio.
    pub(crate) fn subscribe(&mut self, node: usize) -> Option<ReaderId> {
        self.nodes[node].as_mut().map(|node| node.board.subscribe())
    }

    /// The oldest notice at `node` that `reader` has not read.
    pub(crate) fn take(&mut self, node: usize, reader: ReaderId) -> Option<Notice> {
        self.nodes[node].as_mut()?.board.take(reader)
    }

    /// Publishes at `node` what its node can know of what happened to `link`, whose own rate is `own`.
    pub(crate) fn publish(&mut self, node: usize, at: Time, link: usize, event: LinkEvent, own: Rate) {
        let Some(there) = &mut self.nodes[node] else { return };
        // For the record a radio also reports what no node can know, such as when a primary user came; the board has none
        // of it.
        if let Some(event) = event.as_known(own) {
            there.board.publish(Notice { at, link: link as u32, event });
            if there.transports.is_some() {
                // Once for every notice, so that those of several nodes are read in the order of their publication.
                self.fresh.push_back(node);
            }
        }
    }

    /// The next notice that transports have not read, and the flows whose senders are to hear it.
    #[inline]
    pub(crate) fn take_for_transports(&mut self) -> Option<(Notice, &[usize])> {
        let node = self.fresh.pop_front()?;
        let there = self.nodes[node].as_mut()?;
        let notice = there.board.take(there.transports?)?;
        Some((notice, &there.senders))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_crosslayer::{ChannelId, OutageCause, Phase, Verdict};
    use cogtcp_scenario::Scenario;
    use cogtcp_units::Duration;

    /// Only nodes at the ends of a radio's link have a board; only where a sender is are transports told, and not of what
    /// no radio notices.
    #[test]
    fn transports_hear_at_their_own_node() {
        let text = r#"
            name = "two"
            run = { duration = "1 s" }
            [topology.graph]
            nodes = ["a", "b", "c"]
            links = [
              { name = "ab", from = "a", to = "b", rate = "1 Mbit/s", delay = "1 ms", queue = "9 packets" },
              { name = "bc", from = "b", to = "c", rate = "1 Mbit/s", delay = "1 ms", queue = "9 packets" },
            ]
            [[radio]]
            name = "r"
            links = ["ab"]
            sensing = { off = "1 ms", on = "10 ms" }
            [[flow]]
            from = "a"
            to = "c"
            transport = "reno"
            [[flow]]
            from = "c"
            to = "a"
            transport = "reno"
        "#;
        let experiment = Scenario::parse(text, "two").unwrap().resolve().unwrap();
        let mut boards = Boards::new(&experiment);
        assert_eq!(boards.nodes.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, false]);
        let own = Rate::from_bits_per_second(5);
        for node in 0..3 {
            boards.publish(node, Time::ZERO, 0, LinkEvent::PuArrival { during: Phase::Sensing }, own);
            boards.publish(node, Time::ZERO, 0, LinkEvent::RateChange { rate: None }, own);
        }
        let (notice, senders) = boards.take_for_transports().unwrap();
        assert_eq!((notice.link, notice.event), (0, LinkEvent::RateChange { rate: Some(own) }));
        assert_eq!(senders, [0]);
        assert!(boards.take_for_transports().is_none());
    }

    /// The table of `docs/wireless.md` has a row for every event, which says who publishes it.
    #[test]
    fn the_documented_table_is_that_of_the_code() {
        let page = include_str!("../../../docs/wireless.md");
        let until = Time::ZERO + Duration::from_secs(1);
        let (from, to, rate) = (ChannelId(0), ChannelId(1), None);
        let events = [
            LinkEvent::SensingStart { until },
            LinkEvent::SensingEnd { verdict: Verdict::Clear },
            LinkEvent::PuArrival { during: Phase::Sensing },
            LinkEvent::SwitchingStart { until },
            LinkEvent::SwitchingEnd,
            LinkEvent::Handoff { from, to, rate },
            LinkEvent::RateChange { rate },
            LinkEvent::SignalLost { cause: OutageCause::Tunnel },
            LinkEvent::SignalBack,
            LinkEvent::LinkDown,
            LinkEvent::LinkUp,
            LinkEvent::QueueFree { bytes: 1 },
        ];
        for event in events {
            // A new event does not compile until it has a row here.
            let row = match event {
                LinkEvent::SensingStart { .. } => "| `SensingStart { until }` | the node's radio |",
                LinkEvent::SensingEnd { .. } => "| `SensingEnd { verdict }` | the node's radio |",
                LinkEvent::PuArrival { .. } => "| `PuArrival { during }` | nobody |",
                LinkEvent::SwitchingStart { .. } => "| `SwitchingStart { until }` | the node's radio |",
                LinkEvent::SwitchingEnd => "| `SwitchingEnd` | the node's radio |",
                LinkEvent::Handoff { .. } => "| `Handoff { from, to, rate }` | the node's radio |",
                LinkEvent::RateChange { .. } => "| `RateChange { rate }` | the node's radio |",
                LinkEvent::SignalLost { .. } => "| `SignalLost { cause }` | the node's radio |",
                LinkEvent::SignalBack => "| `SignalBack` | the node's radio |",
                LinkEvent::LinkDown => "| `LinkDown` | the link |",
                LinkEvent::LinkUp => "| `LinkUp` | the link |",
                LinkEvent::QueueFree { .. } => "| `QueueFree { bytes }` | the node's interface queue |",
            };
            assert!(page.lines().any(|line| line.starts_with(row)), "no row {row}");
            let published = event.as_known(Rate::ZERO).is_some();
            assert_eq!(published, !row.ends_with("| nobody |"), "{row}");
        }
        let rows = page.split("| event |").nth(1).map(|table| table.lines().skip(2));
        let rows = rows.into_iter().flatten().take_while(|line| line.starts_with('|')).count();
        assert_eq!(rows, events.len(), "no row for what is no event");
    }
}
