//! The boards of the nodes with a radio, and who hears of them.
//!
//! Radios, the links that they gate and the queues in front of them publish. A listener receives every entry
//! in the order of publication. A reader is called by a code of its own and takes the entries that it has not
//! read.

use crate::impossible;
use cogtcp_crosslayer::{Board, BoardEntry, LinkEvent, ReaderId};
use cogtcp_layout::NetworkSpec;
use cogtcp_units::{Rate, Time};
use std::collections::VecDeque;

/// The boards of one run.
#[derive(Debug, Default)]
pub struct Boards {
    /// By node; `None`: it has no radio.
    nodes: Vec<Option<NodeBoard>>,
    /// Nodes on whose boards something may stand that listeners have not heard.
    fresh: VecDeque<usize>,
    /// Readers to be called.
    calls: VecDeque<u32>,
}

/// One node's board.
#[derive(Debug, Default)]
struct NodeBoard {
    board: Board,
    /// Listeners, and their common place on the board: they hear the same, and at the same instant.
    listeners: Vec<u32>,
    listening: Option<ReaderId>,
    /// The codes of readers.
    readers: Vec<u32>,
}

impl Boards {
    /// A board for every node at an end of a link with a radio, and for every node of an ad hoc network that
    /// senses.
    pub fn new(layout: &NetworkSpec) -> Self {
        let mut nodes: Vec<Option<NodeBoard>> = layout.nodes.iter().map(|_| None).collect();
        let gated = layout.radios.iter().flat_map(|radio| &radio.links);
        let ends = gated.flat_map(|link| [layout.links[*link].from, layout.links[*link].to]);
        let spec = layout.adhoc.as_ref();
        let senses = spec.filter(|spec| spec.config.cognitive.is_some());
        let all = 0..senses.map_or(0, |spec| spec.nodes);
        for node in ends.chain(all) {
            nodes[node].get_or_insert_with(NodeBoard::default);
        }
        Self { nodes, ..Self::default() }
    }

    /// Adds `listener` at `node`: [`take_heard`](Self::take_heard) names it. A node without a radio has
    /// nothing to hear.
    pub fn listen(&mut self, node: usize, listener: u32) {
        let Some(there) = &mut self.nodes[node] else { return };
        there.listeners.push(listener);
        there.listening.get_or_insert_with(|| there.board.subscribe());
    }

    /// Adds a reader to the board of `node`, to be called by `code`; `None`: the node has no radio.
    pub fn subscribe(&mut self, node: usize, code: u32) -> Option<ReaderId> {
        let there = self.nodes[node].as_mut()?;
        there.readers.push(code);
        Some(there.board.subscribe())
    }

    /// The oldest entry at `node` that `reader` has not read.
    pub fn take(&mut self, node: usize, reader: ReaderId) -> Option<BoardEntry> {
        self.nodes[node].as_mut()?.board.take(reader)
    }

    /// Publishes at `node` what its node can know of what happened to `link`, whose own rate is `own`.
    pub(crate) fn publish(&mut self, node: usize, at: Time, link: usize, event: LinkEvent, own: Rate) {
        let Some(there) = &mut self.nodes[node] else {
            return impossible("a radio at a node without a board");
        };
        // For the record a radio also reports what no node can know, such as when a primary user came; the
        // board has none of it.
        if let Some(event) = event.as_known(own) {
            there.board.publish(BoardEntry { at, link: link as u32, event });
            if there.listening.is_some() {
                // Once for every entry, so that those of several nodes are heard in the order of their
                // publication.
                self.fresh.push_back(node);
            }
            for code in &there.readers {
                // One call is enough: a reader takes all that it has not read.
                if !self.calls.contains(code) {
                    self.calls.push_back(*code);
                }
            }
        }
    }

    /// Whether somebody has something to hear or read.
    pub fn has_news(&self) -> bool {
        !self.fresh.is_empty() || !self.calls.is_empty()
    }

    /// The next entry that listeners have not heard, and its recipients.
    #[inline]
    pub fn take_heard(&mut self) -> Option<(BoardEntry, &[u32])> {
        self.take_heard_at().map(|(_, entry, listeners)| (entry, listeners))
    }

    /// The next entry that listeners have not heard, its node, and its recipients.
    #[inline]
    pub fn take_heard_at(&mut self) -> Option<(usize, BoardEntry, &[u32])> {
        let node = self.fresh.pop_front()?;
        let there = self.nodes[node].as_mut()?;
        let entry = there.board.take(there.listening?)?;
        Some((node, entry, &there.listeners))
    }

    /// The next reader to be called: it has something to read.
    pub fn take_call(&mut self) -> Option<u32> {
        self.calls.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_crosslayer::{ChannelId, OutageCause, Phase, Verdict};
    use cogtcp_scenario::Scenario;
    use cogtcp_units::Duration;

    /// Only nodes at the ends of a radio's link have a board; listeners hear what their own node knows, and
    /// not what no radio notices. A reader is called once for all that it has not read.
    #[test]
    fn listeners_hear_at_their_own_node() {
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
        boards.listen(0, 7);
        boards.listen(2, 8);
        assert_eq!((boards.subscribe(2, 9), boards.has_news()), (None, false));
        let reader = boards.subscribe(1, 9).unwrap();
        let own = Rate::from_bits_per_second(5);
        for node in 0..2 {
            boards.publish(node, Time::ZERO, 0, LinkEvent::PuArrival { during: Phase::Sensing }, own);
            boards.publish(node, Time::ZERO, 0, LinkEvent::RateChange { rate: None }, own);
        }
        boards.publish(1, Time::ZERO, 0, LinkEvent::LinkUp, own);
        let (entry, listeners) = boards.take_heard().unwrap();
        assert_eq!((entry.link, entry.event), (0, LinkEvent::RateChange { rate: Some(own) }));
        assert_eq!(listeners, [7]);
        assert!(boards.take_heard().is_none() && boards.has_news());
        assert_eq!([boards.take_call(), boards.take_call()], [Some(9), None]);
        assert_eq!(boards.take(1, reader).unwrap().event, entry.event);
        assert_eq!(boards.take(1, reader).unwrap().event, LinkEvent::LinkUp);
        assert!(boards.take(1, reader).is_none() && !boards.has_news());
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
