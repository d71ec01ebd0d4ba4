//! The radios that are a cycle alone: their phases become gates of pipes and events of those who listen.

use crate::flow::Flow;
use crate::network::Network;
use crate::options::RunError;
use crate::pipe::Gate;
use crate::queue::Event;
use cogtcp_scenario::{Experiment, Silence};
use cogtcp_spectrum::prediction::Outage;
use cogtcp_spectrum::{CognitiveCycle, Phase, RadioEvent, RadioStats};
use cogtcp_transport::LinkEvent;
use cogtcp_units::{Rate, Time};

/// A radio and the pipes it gates.
#[derive(Debug)]
pub(crate) struct Radio {
    /// Its place in the experiment.
    pub(crate) number: usize,
    cycle: CognitiveCycle,
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
                cycle: CognitiveCycle::new(&spec.cycle, seed, &spec.name),
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

    /// Every silence that begins before `end`: the radio's future, played on a copy of it.
    pub(crate) fn timetable(&self, end: Time) -> Vec<Outage> {
        let mut cycle = self.cycle.clone();
        let mut outages = Vec::new();
        let mut start = None;
        loop {
            let at = cycle.next_change();
            if at == Time::MAX || (at >= end && start.is_none()) {
                return outages;
            }
            let open = cycle.advance(at) == Phase::Transmitting;
            match start {
                None if !open => start = Some(at),
                Some(begun) if open => {
                    outages.push(Outage { start: begun, end: at });
                    start = None;
                }
                _ => {}
            }
        }
    }

    /// When the radio changes next.
    pub(crate) fn next_change(&self) -> Time {
        self.cycle.next_change()
    }

    /// The radio changes: gates and rates first, then listeners hear of it.
    pub(crate) fn change(&mut self, now: Time, network: &mut Network, flows: &mut [Flow]) {
        let phase = self.cycle.advance(now);
        let gate = if phase == Phase::Transmitting { Gate::Open } else { self.silent };
        for pipe in &self.pipes {
            let gate = if gate == Gate::Drop && self.holding == Some(*pipe) { Gate::Hold } else { gate };
            if let Some(time) = network.pipes[*pipe as usize].set_channel(now, gate, self.cycle.rate()) {
                network.queue.push(time, Event::Arrival(*pipe));
            }
        }
        while let Some((time, event)) = self.cycle.poll_event() {
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
            RadioEvent::PuArrival { .. } | RadioEvent::SwitchingEnd => None,
        }
    }

    /// Metrics count from `now`.
    pub(crate) fn end_warmup(&mut self, now: Time) {
        self.warm = self.cycle.stats(now);
    }

    /// What the radio did since the end of the warm-up.
    pub(crate) fn measured(&self, now: Time) -> RadioStats {
        self.cycle.stats(now).since(&self.warm)
    }
}
