//! The routes of packets from host to host: the shortest routes of the network, found once.

use crate::error::EmulationError;
use crate::packet::{IpPacket, SHORTEST};
use cogtcp_network::{Hop, Network, NoRoute, Routes, StreamId};
use cogtcp_scenario::{Experiment, PathSpec};
use std::collections::BTreeMap;

/// A direction of a link: `2 * link` is its forward direction, `2 * link + 1` its reverse.
pub type LinkDirection = usize;

/// The routes between the hosts of an experiment.
#[derive(Clone, Debug)]
pub struct HostRoutes {
    /// The nodes that are hosts, ascending; a host's number is its place here.
    hosts: Vec<usize>,
    /// By stream of the network: the hosts from and to which it leads, and its route.
    streams: Vec<([usize; 2], Vec<Hop>)>,
    /// The stream from host to host.
    ids: Vec<Vec<Option<StreamId>>>,
    /// The streams of paths that flows name: by network, from host to host.
    paths: BTreeMap<(u8, usize, usize), StreamId>,
}

impl HostRoutes {
    /// The routes in `experiment` between the hosts at these nodes.
    pub fn new(experiment: &Experiment, nodes: impl IntoIterator<Item = usize>) -> Self {
        let mut hosts: Vec<usize> = nodes.into_iter().collect();
        hosts.sort_unstable();
        hosts.dedup();
        let mut routes = Routes::new(experiment);
        let mut streams = Vec::new();
        let mut ids = vec![vec![None; hosts.len()]; hosts.len()];
        for (from, node) in hosts.iter().enumerate() {
            for (to, other) in hosts.iter().enumerate().filter(|(to, _)| *to != from) {
                if let Some(route) = routes.find(*node, *other) {
                    // The first streams of its network (`enter`).
                    ids[from][to] = Some(StreamId(streams.len() as u32));
                    streams.push(([from, to], route));
                }
            }
        }
        Self { hosts, streams, ids, paths: BTreeMap::new() }
    }

    /// Adds a path between two hosts, there and back, on which the network of this number lies.
    pub(crate) fn add_path(&mut self, network: u8, [from, to]: [usize; 2], path: &PathSpec) {
        for (ends, directions) in [([from, to], path.directions.clone()), ([to, from], path.reversed())] {
            self.paths.insert((network, ends[0], ends[1]), StreamId(self.streams.len() as u32));
            self.streams.push((ends, directions.into_iter().map(Hop::Link).collect()));
        }
    }

    /// Adds the streams to the network of `experiment`, and the streams of notices to sources.
    pub(crate) fn enter(
        &self,
        network: &mut Network<IpPacket>,
        experiment: &Experiment,
    ) -> Result<(), EmulationError> {
        let add = |([from, to], route): &([usize; 2], Vec<Hop>)| {
            network.add_stream(self.hosts[*from], self.hosts[*to], route)
        };
        let all: Vec<StreamId> = self.streams.iter().map(add).collect();
        debug_assert!((0..).zip(&all).all(|(number, stream)| stream.0 == number), "the first streams");
        let told = network.tell_sources(experiment, &mut Routes::new(experiment), &all);
        told.map_err(|NoRoute { from, to }| {
            let [from, to] = [from, to].map(|node| &experiment.nodes[node]);
            EmulationError::Scenario {
                what: format!(
                    "no links lead from node \"{from}\" to node \"{to}\", whose packets it may lose"
                ),
                known: "nodes that links join both ways",
            }
        })
    }

    /// The nodes that are hosts.
    pub fn hosts(&self) -> &[usize] {
        &self.hosts
    }

    /// The number of the host at `node`, if it is one.
    pub fn host(&self, node: usize) -> Option<usize> {
        self.hosts.binary_search(&node).ok()
    }

    /// The route from host to host, as a stream of the network; `None`: there is none.
    pub fn stream(&self, from: usize, to: usize) -> Option<StreamId> {
        *self.ids.get(from)?.get(to)?
    }

    /// The route within a network: `SHORTEST`, or the network of a path.
    pub(crate) fn stream_in(&self, network: u8, from: usize, to: usize) -> Option<StreamId> {
        match network {
            SHORTEST => self.stream(from, to),
            _ => self.paths.get(&(network, from, to)).copied(),
        }
    }

    /// Whether the route from host to host crosses an ad hoc network.
    pub(crate) fn crosses_air(&self, from: usize, to: usize) -> bool {
        let route = self.stream(from, to).map_or(&[][..], |stream| &self.streams[stream.index()].1);
        route.iter().any(|hop| matches!(hop, Hop::Air(_)))
    }

    /// The link directions of the route from host to host.
    pub fn directions(&self, from: usize, to: usize) -> Vec<LinkDirection> {
        self.directions_in(SHORTEST, from, to)
    }

    /// The link directions of the route within a network.
    pub(crate) fn directions_in(&self, network: u8, from: usize, to: usize) -> Vec<LinkDirection> {
        let Some(stream) = self.stream_in(network, from, to) else { return Vec::new() };
        let direction =
            |hop: &Hop| if let Hop::Link(direction) = hop { Some(*direction as LinkDirection) } else { None };
        self.streams[stream.index()].1.iter().filter_map(direction).collect()
    }
}
