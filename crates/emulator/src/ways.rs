//! Which way packets take from host to host: the simulator's shortest paths, read off once.

use crate::network;
use cogtcp_scenario::{Experiment, Routes};
use std::collections::BTreeMap;

/// A direction of a link: `2 * link` is its forward direction, `2 * link + 1` its reverse.
pub type Pipe = usize;

/// Where a packet goes from where it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Step {
    /// On to this direction of a link.
    Pipe(Pipe),
    /// Over an ad hoc network, from node to node.
    Air([u32; 2]),
    /// It has reached this host.
    Host(usize),
}

/// The ways between the hosts of an experiment.
#[derive(Clone, Debug)]
pub struct Ways {
    /// The nodes that are hosts, ascending; a host's number is its place here.
    hosts: Vec<usize>,
    /// All ways, one after another; each ends with its host.
    steps: Vec<Step>,
    /// Where the way from host to host begins.
    starts: Vec<Vec<Option<u32>>>,
    /// Where the way of a message begins that a node which tells sources sends to a host.
    messages: BTreeMap<(usize, usize), u32>,
}

impl Ways {
    /// The ways in `experiment` between the hosts at these nodes.
    pub fn new(experiment: &Experiment, nodes: impl IntoIterator<Item = usize>) -> Self {
        let mut hosts: Vec<usize> = nodes.into_iter().collect();
        hosts.sort_unstable();
        hosts.dedup();
        let mut routes = Routes::new(experiment);
        let mut steps = Vec::new();
        let mut starts = Vec::new();
        for from in &hosts {
            let mut begins = Vec::new();
            for (number, to) in hosts.iter().enumerate() {
                if experiment.adhoc.is_some() {
                    // Which way it takes there is found while the run goes on.
                    begins.push((from != to).then_some(steps.len() as u32));
                    steps.extend([Step::Air([*from as u32, *to as u32]), Step::Host(number)]);
                    continue;
                }
                let path = routes.path(*from, *to).filter(|path| !path.is_empty());
                begins.push(path.map(|path| {
                    let begin = steps.len() as u32;
                    steps.extend(path.into_iter().map(|pipe| Step::Pipe(pipe as usize)));
                    steps.push(Step::Host(number));
                    begin
                }));
            }
            starts.push(begins);
        }
        let mut messages = BTreeMap::new();
        for (_, node) in network::fronts(experiment) {
            for (number, host) in hosts.iter().enumerate() {
                // None to itself: the host is told without a packet on a link.
                let Some(path) = routes.path(node, *host) else { continue };
                messages.insert((node, number), steps.len() as u32);
                steps.extend(path.into_iter().map(|pipe| Step::Pipe(pipe as usize)));
                steps.push(Step::Host(number));
            }
        }
        Self { hosts, steps, starts, messages }
    }

    /// The nodes that are hosts.
    pub fn hosts(&self) -> &[usize] {
        &self.hosts
    }

    /// The way from host to host, as a handle; `None`: there is none.
    pub fn way(&self, from: usize, to: usize) -> Option<u32> {
        *self.starts.get(from)?.get(to)?
    }

    /// The number of the host at `node`, if it is one.
    pub fn host(&self, node: usize) -> Option<usize> {
        self.hosts.binary_search(&node).ok()
    }

    /// The way of a message from a node that tells sources of losses to a host.
    pub(crate) fn message(&self, node: usize, host: usize) -> Option<u32> {
        self.messages.get(&(node, host)).copied()
    }

    /// What comes at this place of a way.
    pub fn step(&self, place: u32) -> Step {
        self.steps[place as usize]
    }

    /// The directions of links on the way from host to host.
    pub fn pipes(&self, from: usize, to: usize) -> Vec<Pipe> {
        let Some(begin) = self.way(from, to) else { return Vec::new() };
        let rest = self.steps[begin as usize..].iter();
        rest.map_while(|step| if let Step::Pipe(pipe) = step { Some(*pipe) } else { None }).collect()
    }
}
