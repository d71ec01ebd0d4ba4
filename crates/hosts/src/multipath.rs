//! What the paths of MPTCP's flows have: a table with a row for each subflow.

use crate::DatagramEnds;
use cogtcp_multipath::{Counts, MOST_PATHS};
use cogtcp_records::Table;
use cogtcp_records::extensions::{SubflowRow, SubflowsBuilder};
use cogtcp_records::ratio;

/// Counts of a connection's subflows at one moment, by path; empty: the transport has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathCounts(Vec<Counts>);

impl PathCounts {
    /// Reads the counts that both ends show.
    pub fn of(ends: &DatagramEnds) -> Self {
        let mut counts = [Counts::default(); MOST_PATHS];
        let mut paths = 0;
        for end in [&ends.sender, &ends.receiver] {
            end.count(&mut |name, value| {
                if let Some((path, count)) = Counts::find(name) {
                    *counts[path].get_mut(count) = value;
                    paths = paths.max(path + 1);
                }
            });
        }
        Self(counts[..paths].to_vec())
    }

    /// Returns the counts of each path since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let none = Counts::default();
        let before = before.0.iter().chain(std::iter::repeat(&none));
        Self(self.0.iter().zip(before).map(|(now, before)| now.since(before)).collect())
    }

    /// True if the flow has no subflows.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the bytes of data that each path brought first.
    pub fn first_bytes(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|counts| counts.first_bytes as u64)
    }
}

/// Returns the table of all subflows: of each flow its name, the links that name its paths, its counts and
/// its measured span in seconds. `None`: no flow has subflows.
pub fn table<'a>(flows: impl Iterator<Item = (&'a str, Vec<&'a str>, PathCounts, f64)>) -> Option<Table> {
    let mut table = SubflowsBuilder::default();
    for (flow, links, counts, span) in flows {
        let total: f64 = counts.0.iter().map(|counts| counts.first_bytes).sum();
        let links = links.into_iter().chain(std::iter::repeat(""));
        for ((number, counts), link) in (0..).zip(&counts.0).zip(links) {
            let row = SubflowRow {
                flow: table.flow.intern(flow),
                path: number,
                link: table.link.intern(link),
                goodput_bps: ratio(counts.first_bytes * 8.0, span),
                share: ratio(counts.first_bytes, total),
                sent_segments: counts.sent_segments as u64,
                retransmitted_segments: counts.retransmitted_segments as u64,
                rtos: counts.rtos as u64,
                repeated_bytes: counts.repeated_bytes as u64,
            };
            table.push(row);
        }
    }
    Some(table.finish()).filter(|table| !table.is_empty())
}
