//! The radios that are a cycle alone or on a journey: their phases become gates of pipes and events of those who listen.

use crate::flow::Flow;
use crate::network::Network;
use crate::options::RunError;
use crate::pipe::Gate;
use crate::queue::Event;
use cogtcp_scenario::{Experiment, Silence};
use cogtcp_spectrum::journey::{self, Course, JourneyRadio};
use cogtcp_spectrum::prediction::Outage;
use cogtcp_spectrum::{CognitiveCycle, Phase, RadioEvent, RadioStats};
use cogtcp_transport::LinkEvent;
use cogtcp_units::{Rate, Time};
use std::sync::Arc;

/// A radio and the pipes it gates.
#[derive(Debug)]
pub(crate) struct Radio {
    /// Its place in the experiment.
    pub(crate) number: usize,
    state: State,
    pipes: Vec<u32>,
    /// A pipe that waits out every silence, whatever the others do.
    holding: Option<u32>,
    /// The gate in silence.
    silent: Gate,
    /// The rate of its first link, which stands for "the link's own" in what listeners are told.
    own_rate: Rate,
    /// Flows whose sender sits at an end of a gated link: they hear of the radio at once.
    listeners: Vec<usize>,
    warm: RadioStats,
}

/// What decides when a radio is silent.
#[derive(Clone, Debug)]
enum State {
    Cycle(Box<CognitiveCycle>),
    Journey(JourneyRadio),
}

/// Calls the same method on either kind.
macro_rules! either {
    ($state:expr, $it:ident => $call:expr) => {
        match $state {
            State::Cycle($it) => $call,
            State::Journey($it) => $call,
        }
    };
}

impl Radio {
    /// The radios of `experiment` in the run of seed `seed`.
    pub(crate) fn all(experiment: &Experiment, seed: u64) -> Result<Vec<Self>, RunError> {
        let mut owner: Vec<Option<usize>> = vec![None; experiment.links.len()];
        let mut radios = Vec::new();
        for (number, spec) in experiment.radios.iter().enumerate() {
            for &link in &spec.links {
                if let Some(first) = owner[link].replace(number) {
                    return Err(RunError::TwoRadios {
                        link: experiment.links[link].name.clone(),
                        first: experiment.radios[first].name.clone(),
                        second: spec.name.clone(),
                    });
                }
            }
            let hears = |node| {
                spec.links.iter().any(|link| {
                    let link = &experiment.links[*link];
                    link.from == node || link.to == node
                })
            };
            if spec.cognitive.is_some() {
                continue;
            }
            radios.push(Self {
                number,
                state: match &spec.journey {
                    Some(journey) => {
                        let end = Time::ZERO + experiment.run.duration;
                        let part = journey::streams_of(&spec.name);
                        let course = Course::new(&journey.line, journey.start, end, seed, &part);
                        State::Journey(JourneyRadio::new(Arc::new(course)))
                    }
                    None => State::Cycle(Box::new(CognitiveCycle::new(&spec.cycle, seed, &spec.name))),
                },
                pipes: spec.links.iter().flat_map(|link| [2 * *link as u32, 2 * *link as u32 + 1]).collect(),
                holding: None,
                silent: if spec.silence == Silence::Hold { Gate::Hold } else { Gate::Drop },
                own_rate: spec.links.first().map_or(Rate::ZERO, |link| experiment.links[*link].forward.rate),
                listeners: (0..experiment.flows.len())
                    .filter(|flow| hears(experiment.flows[*flow].from))
                    .collect(),
                warm: RadioStats::default(),
            });
        }
        Ok(radios)
    }

    /// What `pipe` is offered in silence waits, though it be lost elsewhere.
    pub(crate) fn hold(&mut self, pipe: u32) {
        self.holding = Some(pipe);
    }

    /// The journey, of a radio that is on one.
    pub(crate) fn course(&self) -> Option<Arc<Course>> {
        match &self.state {
            State::Cycle(_) => None,
            State::Journey(radio) => Some(Arc::clone(radio.course())),
        }
    }

    /// Every silence that begins before `end`, and why: the radio's future, played on a copy of it. One that never ends
    /// ends at [`Time::MAX`].
    pub(crate) fn timetable(&self, end: Time) -> Vec<(Outage, &'static str)> {
        let mut state = self.state.clone();
        let mut outages = Vec::new();
        let mut open: Option<(Time, &'static str)> = None;
        loop {
            let at = either!(&state, it => it.next_change());
            if at == Time::MAX || (at >= end && open.is_none()) {
                let last = open.map(|(start, cause)| (Outage { start, end: Time::MAX }, cause));
                outages.extend(last);
                return outages;
            }
            let phase = either!(&mut state, it => it.advance(at));
            match open {
                None if phase.is_silent() => open = Some((at, self.cause(at, phase))),
                Some((start, cause)) if !phase.is_silent() => {
                    outages.push((Outage { start, end: at }, cause));
                    open = None;
                }
                _ => {}
            }
        }
    }

    /// Why the silence that begins at `at` with `phase` does.
    fn cause(&self, at: Time, phase: Phase) -> &'static str {
        match &self.state {
            State::Journey(radio) => {
                radio.course().outages().find(|outage| outage.0 == at).map_or("", |outage| outage.2.name())
            }
            State::Cycle(_) => phase_name(phase),
        }
    }

    /// When the radio changes next.
    pub(crate) fn next_change(&self) -> Time {
        either!(&self.state, it => it.next_change())
    }

    /// The radio changes: gates and rates first, then listeners hear of it.
    pub(crate) fn change(&mut self, now: Time, network: &mut Network, flows: &mut [Flow]) {
        let (phase, rate) = either!(&mut self.state, it => (it.advance(now), it.rate()));
        let gate = if phase == Phase::Transmitting { Gate::Open } else { self.silent };
        for pipe in &self.pipes {
            let gate = if gate == Gate::Drop && self.holding == Some(*pipe) { Gate::Hold } else { gate };
            if let Some(time) = network.pipes[*pipe as usize].set_channel(now, gate, rate) {
                network.queue.push(time, Event::Arrival(*pipe));
            }
        }
        while let Some((time, event)) = either!(&mut self.state, it => it.poll_event()) {
            network.trace.radio_event(time, (self.number, 0), event, self.own_rate);
            let Some(event) = self.link_event(event) else { continue };
            for flow in &self.listeners {
                flows[*flow].link_event(now, event, network);
            }
        }
    }

    /// What a transport beside the radio hears of `event`.
    fn link_event(&self, event: RadioEvent) -> Option<LinkEvent> {
        match event {
            RadioEvent::SensingStart { until } => Some(LinkEvent::SensingStart { until }),
            RadioEvent::SensingEnd { .. } => Some(LinkEvent::SensingEnd),
            RadioEvent::SwitchingStart { until } => Some(LinkEvent::SwitchingStart { until }),
            RadioEvent::Handoff { rate, .. } => {
                Some(LinkEvent::Handoff { rate: rate.unwrap_or(self.own_rate) })
            }
            // What TCP would be told of a lost signal it can read off its packets.
            RadioEvent::SignalLost { .. } | RadioEvent::SignalBack => None,
            RadioEvent::PuArrival { .. } | RadioEvent::SwitchingEnd => None,
        }
    }

    /// Metrics count from `now`.
    pub(crate) fn end_warmup(&mut self, now: Time) {
        self.warm = either!(&self.state, it => it.stats(now));
    }

    /// What the radio did since the end of the warm-up.
    pub(crate) fn measured(&self, now: Time) -> RadioStats {
        either!(&self.state, it => it.stats(now)).since(&self.warm)
    }
}

/// The name of a phase in tables.
pub(crate) const fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Transmitting => "transmitting",
        Phase::Sensing => "sensing",
        Phase::Switching => "switching",
        Phase::Lost => "lost",
    }
}
