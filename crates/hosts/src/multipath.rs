//! What the paths of MPTCP's flows have: a table with a row for each subflow.

use crate::DatagramEnds;
use cogtcp_multipath::{Counts, MOST_PATHS};
use cogtcp_network::Reached;
use cogtcp_records::Table;
use cogtcp_records::extensions::{SubflowRow, SubflowsBuilder};
use cogtcp_records::ratio;
use cogtcp_scenario::{Experiment, FlowSpec};

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

    /// Returns what reached the receiving host over each path, whose bytes on the wire are `wires`.
    pub fn reached(&self, wires: impl Iterator<Item = u64>) -> Vec<Reached> {
        let counts = self.0.iter().zip(wires);
        counts
            .map(|(counts, wire)| Reached {
                wire,
                new: counts.first_bytes as u64,
                repeated: counts.duplicate_bytes as u64,
            })
            .collect()
    }

    /// Returns the bytes of data that each path brought first.
    pub fn first_bytes(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|counts| counts.first_bytes as u64)
    }
}

/// What the table says of a path beside its counts.
#[derive(Clone, Debug, Default)]
pub struct PathNames {
    /// The link that names it.
    pub link: String,
    /// The radios on the route of its data, with blanks between them.
    pub radios: String,
}

impl PathNames {
    /// The names of path `path` of `flow`, whose data takes the links `route`.
    pub fn new(experiment: &Experiment, flow: &FlowSpec, path: usize, route: &[usize]) -> Self {
        let link = flow.paths.get(path).map(|path| experiment.links[path.link].name.clone());
        let on_route =
            experiment.radios.iter().filter(|radio| radio.links.iter().any(|link| route.contains(link)));
        let radios: Vec<String> = on_route.flat_map(|radio| experiment.radio_names(radio)).collect();
        Self { link: link.unwrap_or_default(), radios: radios.join(" ") }
    }
}

/// Returns the table of all subflows: of each flow its name, its paths, its counts and its measured span in
/// seconds. `None`: no flow has subflows.
pub fn table<'a>(flows: impl Iterator<Item = (&'a str, Vec<PathNames>, PathCounts, f64)>) -> Option<Table> {
    let mut table = SubflowsBuilder::default();
    for (flow, paths, counts, span) in flows {
        let total: f64 = counts.0.iter().map(|counts| counts.first_bytes).sum();
        for ((number, counts), names) in (0..).zip(&counts.0).zip(&paths) {
            let row = SubflowRow {
                flow: table.flow.intern(flow),
                path: number,
                link: table.link.intern(&names.link),
                goodput_bps: ratio(counts.first_bytes * 8.0, span),
                share: ratio(counts.first_bytes, total),
                sent_segments: counts.sent_segments as u64,
                retransmitted_segments: counts.retransmitted_segments as u64,
                rtos: counts.rtos as u64,
                repeated_bytes: counts.repeated_bytes as u64,
                reinjected_bytes: counts.reinjected_bytes as u64,
                rtt_mean_s: ratio(counts.round_trips_s, counts.round_trips),
                radios: table.radios.intern(&names.radios),
            };
            table.push(row);
        }
    }
    Some(table.finish()).filter(|table| !table.is_empty())
}
