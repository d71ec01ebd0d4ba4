//! Radios that gate links without a MAC: cycles and journeys. Their phases become gates of the links' pipes, and what
//! happens to them stands on the boards of the nodes at the links' ends.

use super::{BuildError, Network};
use crate::agenda::Kind;
use crate::build;
use crate::observer::Observer;
use crate::payload::Payload;
use cogtcp_crosslayer::{LinkEvent, Phase};
use cogtcp_link::Gate;
use cogtcp_scenario::Experiment;
use cogtcp_spectrum::journey::Course;
use cogtcp_spectrum::{Radio, RadioStats};
use cogtcp_units::{Rate, Time};
use std::sync::Arc;

/// A radio and the links it gates.
#[derive(Debug)]
pub(super) struct GatedLinks {
    /// Its place in the experiment.
    pub(super) number: usize,
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
    /// The radios of `experiment` that have no MAC, in the run of seed `seed` that ends at `end`.
    pub(super) fn all(experiment: &Experiment, seed: u64, end: Time) -> Result<Vec<Self>, BuildError> {
        let mut owner: Vec<Option<usize>> = vec![None; experiment.links.len()];
        let mut all = Vec::new();
        for (number, spec) in experiment.radios.iter().enumerate() {
            for &link in &spec.links {
                // Of all radios, those with a MAC too: a link has one gate.
                if let Some(first) = owner[link].replace(number) {
                    return Err(BuildError::TwoRadios {
                        link: experiment.links[link].name.clone(),
                        first: experiment.radios[first].name.clone(),
                        second: spec.name.clone(),
                    });
                }
            }
            let Some(gating) = spec.kind.gating() else { continue };
            let course = build::course(spec, end, seed);
            let Some(radio) = build::radio(spec, course.as_ref(), seed) else { continue };
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

    /// The gate of one of its pipes now.
    fn gate(&self, pipe: u32) -> Gate {
        let gate = if self.radio.phase().is_silent() { self.silent } else { Gate::Open };
        let is_held = gate.destroys() && self.holding == Some(pipe);
        if is_held { Gate::Hold } else { gate }
    }

    /// Metrics count from `now`.
    pub(super) fn end_warmup(&mut self, now: Time) {
        self.warm = self.radio.stats(now);
    }

    /// What the radio did since the end of the warm-up.
    pub(super) fn measured(&self, now: Time) -> RadioStats {
        self.radio.stats(now).since(&self.warm)
    }
}

impl<P: Payload> Network<P> {
    /// What `pipe` is offered in a silence of its radio waits, even where silence drops what other links are offered. To be called
    /// before the network begins.
    pub fn hold(&mut self, pipe: u32) {
        for radio in self.radios.iter_mut().filter(|radio| radio.pipes.contains(&pipe)) {
            radio.holding = Some(pipe);
        }
    }

    /// The journey of the radio at this place of the experiment, if it is on one.
    pub fn course(&self, radio: usize) -> Option<&Arc<Course>> {
        self.radios.iter().find(|it| it.number == radio)?.course.as_ref()
    }

    /// What each radio does that gates links, with its place in the experiment.
    pub fn phases(&self) -> Vec<(usize, Phase)> {
        self.radios.iter().map(|it| (it.number, it.radio.phase())).collect()
    }

    /// Gates and rates as the radios have them in the beginning, and the first change of each.
    pub(super) fn begin_radios(&mut self, observer: &mut impl Observer<P>) {
        for number in 0..self.radios.len() {
            self.set_gates(Time::ZERO, number, observer);
            let next = self.radios[number].radio.next_change();
            self.agenda.push(next, Kind::Radio(number as u32));
        }
    }

    /// A radio changes: gates and rates first, then the boards tell of it.
    pub(super) fn change_radio(&mut self, now: Time, number: usize, observer: &mut impl Observer<P>) {
        let radio = &mut self.radios[number].radio;
        let was_open = !radio.phase().is_silent();
        let is_open = !radio.advance(now).is_silent();
        // All links before any board: a sender that hears that the link is up sends at once, and must find it open.
        self.set_gates(now, number, observer);
        let it = &mut self.radios[number];
        let publish = |boards: &mut crate::boards::Boards, time, event| {
            for (node, link) in &it.nodes {
                boards.publish(*node, time, *link, event, it.own_rate);
            }
        };
        while let Some((time, event)) = it.radio.poll_event() {
            observer.radio(time, (it.number, 0), event, it.own_rate);
            publish(&mut self.boards, time, event);
        }
        // From one silent phase to another (sensing, then switching) the link does not change.
        if let Some(event) = LinkEvent::of_change(was_open, is_open) {
            publish(&mut self.boards, now, event);
        }
        observer.phase(it.number, it.radio.phase());
        self.agenda.push(it.radio.next_change(), Kind::Radio(number as u32));
        self.has_news |= self.boards.has_news();
    }

    fn set_gates(&mut self, now: Time, number: usize, observer: &mut impl Observer<P>) {
        for place in 0..self.radios[number].pipes.len() {
            let it = &self.radios[number];
            let (pipe, rate) = (it.pipes[place], it.radio.rate());
            self.set_channel(now, pipe, it.gate(pipe), rate, observer);
        }
    }
}
