//! Radios that gate links without a MAC: cycles and journeys. Their phases become gates of the links' pipes, and what
//! happens to them stands on the boards of the nodes at the links' ends.

use crate::network::Network;
use crate::options::RunError;
use cogtcp_crosslayer::LinkEvent;
use cogtcp_link::Gate;
use cogtcp_scenario::Experiment;
use cogtcp_spectrum::journey::Course;
use cogtcp_spectrum::{Radio, RadioStats};
use cogtcp_units::{Rate, Time};
use std::sync::Arc;

/// A radio and the links it gates.
#[derive(Debug)]
pub(crate) struct GatedLinks {
    /// Its place in the experiment.
    pub(crate) number: usize,
    radio: Box<dyn Radio>,
    /// The journey, of a radio that is on one.
    course: Option<Arc<Course>>,
    pipes: Vec<u32>,
    /// A pipe that waits out every silence, whatever the others do.
    holding: Option<u32>,
    /// The gate in silence.
    silent: Gate,
    /// The nodes at the ends of its links, each with the first of the links there.
    nodes: Vec<(usize, usize)>,
    /// The rate of its first link, which stands for "the link's own" in what is told of it.
    own_rate: Rate,
    warm: RadioStats,
}

impl GatedLinks {
    /// The radios of `experiment` that have no MAC, in the run of seed `seed`.
    pub(crate) fn all(experiment: &Experiment, seed: u64) -> Result<Vec<Self>, RunError> {
        let mut owner: Vec<Option<usize>> = vec![None; experiment.links.len()];
        let mut all = Vec::new();
        for (number, spec) in experiment.radios.iter().enumerate() {
            for &link in &spec.links {
                // Of all radios, those with a MAC too: a link has one gate.
                if let Some(first) = owner[link].replace(number) {
                    return Err(RunError::TwoRadios {
                        link: experiment.links[link].name.clone(),
                        first: experiment.radios[first].name.clone(),
                        second: spec.name.clone(),
                    });
                }
            }
            let Some(gating) = spec.kind.gating() else { continue };
            let course = spec.course(Time::ZERO + experiment.run.duration, seed);
            let Some(radio) = spec.build(course.as_ref(), seed) else { continue };
            let mut nodes: Vec<(usize, usize)> = Vec::new();
            for (number, link) in spec.links.iter().map(|link| (*link, &experiment.links[*link])) {
                for node in [link.from, link.to] {
                    if nodes.iter().all(|(known, _)| *known != node) {
                        nodes.push((node, number));
                    }
                }
            }
            // Boards are told in the order of nodes, whatever the order in which a scenario lists links.
            nodes.sort_unstable();
            all.push(Self {
                number,
                radio,
                course,
                pipes: spec.links.iter().flat_map(|link| [2 * *link as u32, 2 * *link as u32 + 1]).collect(),
                holding: None,
                silent: gating.silent_gate(),
                nodes,
                own_rate: spec.links.first().map_or(Rate::ZERO, |link| experiment.links[*link].forward.rate),
                warm: RadioStats::default(),
            });
        }
        Ok(all)
    }

    /// What `pipe` is offered in silence waits, even where silence drops what other links are offered.
    pub(crate) fn hold(&mut self, pipe: u32) {
        self.holding = Some(pipe);
    }

    /// The journey, of a radio that is on one.
    pub(crate) fn course(&self) -> Option<&Arc<Course>> {
        self.course.as_ref()
    }

    /// When the radio changes next.
    pub(crate) fn next_change(&self) -> Time {
        self.radio.next_change()
    }

    /// The radio changes: gates and rates first, then the boards tell of it.
    pub(crate) fn change(&mut self, now: Time, network: &mut Network) {
        let before = self.radio.phase();
        let phase = self.radio.advance(now);
        // All links before any board: a sender that hears that the link is up sends at once, and must find it open.
        self.gate(now, network);
        while let Some((time, event)) = self.radio.poll_event() {
            network.trace.radio_event(time, (self.number, 0), event, self.own_rate);
            self.publish(time, event, network);
        }
        // From one silent phase to another (sensing, then switching) the link does not change.
        if let Some(event) = LinkEvent::of_change(!before.is_silent(), !phase.is_silent()) {
            self.publish(now, event, network);
        }
    }

    /// Sets gates and rates as the radio has them. To be called at time zero, too: the channel that a radio starts on may have
    /// another rate than the link.
    pub(crate) fn gate(&self, now: Time, network: &mut Network) {
        let gate = if self.radio.phase().is_silent() { self.silent } else { Gate::Open };
        for pipe in &self.pipes {
            let is_held = gate.destroys() && self.holding == Some(*pipe);
            network.set_channel(now, *pipe, if is_held { Gate::Hold } else { gate }, self.radio.rate());
        }
    }

    fn publish(&self, at: Time, event: LinkEvent, network: &mut Network) {
        for (node, link) in &self.nodes {
            network.boards.publish(*node, at, *link, event, self.own_rate);
        }
    }

    /// Metrics count from `now`.
    pub(crate) fn end_warmup(&mut self, now: Time) {
        self.warm = self.radio.stats(now);
    }

    /// What the radio did since the end of the warm-up.
    pub(crate) fn measured(&self, now: Time) -> RadioStats {
        self.radio.stats(now).since(&self.warm)
    }
}
