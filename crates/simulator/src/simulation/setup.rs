//! From an experiment to a run at time zero: links with their queues, stations, ways, connections, parts, and the first events.

use super::{Digest, Simulation};
use crate::adhoc;
use crate::boards::Boards;
use crate::flow::Flow;
use crate::forwarding::Nodes;
use crate::gated_links::GatedLinks;
use crate::network::Network;
use crate::options::{RunError, RunOptions, TraceLevel, make_control};
use crate::packet::Packet;
use crate::parts::{Parts, Plan, World};
use crate::queue::Event;
use crate::routes::Router;
use crate::trace::Trace;
use cogtcp_scenario::{Experiment, LinkSpec, RadioError, Traffic};
use cogtcp_spectrum::air::Air;
use cogtcp_units::Time;
use std::sync::Arc;

impl Simulation {
    /// The run of `experiment`, at time zero.
    pub(crate) fn new(shared: Arc<Experiment>, options: &RunOptions) -> Result<Self, RunError> {
        let seed = options.seed.unwrap_or(shared.run.seed.get());
        let shared = Arc::new(Arc::unwrap_or_clone(shared).drawn(seed));
        let experiment = &*shared;
        // Event codes hold 20 bits of index; a flow takes two of them, and so does a link.
        check_size(experiment)?;
        let mut pipes = Vec::with_capacity(2 * experiment.links.len());
        for link in &experiment.links {
            pipes.extend(link.build::<Packet>(seed));
        }
        let mut network = Network::new(pipes, Boards::new(experiment), Trace::new(options.trace, experiment));
        if options.forward_by_tables && experiment.adhoc.is_none() {
            let ends = experiment.links.iter().flat_map(|link| [(link.from, link.to), (link.to, link.from)]);
            network.forward_by_tables(Nodes::new(experiment.nodes.len(), ends));
        }
        let air = match &experiment.adhoc {
            None => add_station_pairs(&mut network, experiment, seed)?,
            Some(_) => adhoc::air(experiment, seed)?,
        };
        let mut flows = Vec::with_capacity(experiment.flows.len());
        let mut router = Router::new(experiment);
        for (number, spec) in experiment.flows.iter().enumerate() {
            for (from, to) in [(spec.from, spec.to), (spec.to, spec.from)] {
                let path = router.path_for(from, to, || spec.name.clone())?;
                network.add_stream(from, to, &path);
            }
            flows.push(Flow::new(number, spec, make_control(spec, options.controls.as_deref())?));
        }
        let mut is_gated = vec![false; experiment.links.len()];
        experiment.radios.iter().flat_map(|radio| &radio.links).for_each(|link| is_gated[*link] = true);
        let traced = |link: &LinkSpec| link.forward.trace.is_some() || link.reverse.trace.is_some();
        experiment.links.iter().zip(&mut is_gated).for_each(|(link, gated)| *gated |= traced(link));
        for number in 0..flows.len() {
            network.watch_budget(2 * number, |pipe| is_gated[pipe as usize / 2]);
        }
        let mut radios = GatedLinks::all(experiment, seed)?;
        let parts = Parts::new(Plan {
            experiment,
            seed,
            trace: options.trace,
            network: &mut network,
            flows: &mut flows,
            radios: &mut radios,
            router,
            controls: options.controls.clone(),
            air: air.as_ref(),
        })?;
        // After the parts, which may hold a pipe open to what it is offered.
        radios.iter().for_each(|radio| radio.gate(Time::ZERO, &mut network));
        let mut simulation = Self {
            experiment: Arc::clone(&shared),
            seed,
            end: Time::ZERO + experiment.run.duration,
            played: Time::ZERO,
            warmup: Time::ZERO + experiment.run.warmup,
            warm: false,
            radios,
            parts,
            pipe_baselines: Vec::new(),
            sampled_flows: Vec::new(),
            sampled_pipes: Vec::new(),
            network,
            flows,
            digest: Digest(0xcbf2_9ce4_8422_2325),
            events: 0,
        };
        simulation.schedule_beginning(options.trace);
        Ok(simulation)
    }

    fn schedule_beginning(&mut self, trace: TraceLevel) {
        // Scheduled before all else, so that of what happens at that instant the end of the warm-up comes first: a flow that
        // starts with it is measured from its first packet.
        self.network.queue.push(self.warmup, Event::WarmupEnd);
        self.network.begin_station_pairs();
        let queue = &mut self.network.queue;
        for (number, radio) in self.radios.iter().enumerate() {
            queue.push(radio.next_change(), Event::Radio(number as u32));
        }
        self.parts.begin(&mut World { network: &mut self.network, flows: &mut self.flows });
        let queue = &mut self.network.queue;
        for (number, spec) in self.experiment.flows.iter().enumerate() {
            queue.push(spec.start, Event::FlowStart(number as u32));
            if let Some(stop) = spec.stop {
                // Never before its start, which at the same instant was scheduled first.
                queue.push(stop.max(spec.start), Event::FlowStop(number as u32));
            }
        }
        if trace >= TraceLevel::Series {
            queue.push(Time::ZERO + self.experiment.run.sample_interval, Event::Sample);
            self.sampled_flows = vec![0; self.flows.len()];
            self.sampled_pipes = vec![0.0; self.network.pipes.len()];
        }
    }
}

/// Adds the pairs of wireless stations of `experiment`. Returns the air that they share.
fn add_station_pairs(
    network: &mut Network,
    experiment: &Experiment,
    seed: u64,
) -> Result<Option<Arc<Air>>, RunError> {
    let (pairs, air) = experiment
        .station_pairs(experiment.run.duration, seed)
        .map_err(|RadioError { radio, why }| RunError::Radio { radio, why })?;
    pairs.into_iter().for_each(|placed| network.add_station_pair(placed));
    Ok(air)
}

fn check_size(experiment: &Experiment) -> Result<(), RunError> {
    let most = Event::MAX_INDEX as usize / 2;
    for (what, count) in [
        ("flows", experiment.flows.len()),
        ("links", experiment.links.len()),
        ("radios", experiment.radios.len()),
        ("UDP sources", experiment.udp.len()),
    ] {
        if count > most {
            return Err(RunError::TooLarge { what, count, most });
        }
    }
    if experiment.run.duration.is_zero() {
        return Err(RunError::Time("the run has a duration of zero; give it a duration above zero"));
    }
    if experiment.run.warmup >= experiment.run.duration {
        return Err(RunError::Time(
            "the warm-up is not shorter than the run; shorten it or lengthen the run",
        ));
    }
    if experiment.run.sample_interval.is_zero() {
        return Err(RunError::Time("the sampling interval is zero; give it a duration above zero"));
    }
    let silent = |traffic: &Traffic| matches!(traffic, Traffic::Rate(rate) if rate.bits_per_second() == 0);
    if experiment.flows.iter().any(|flow| silent(&flow.traffic)) {
        return Err(RunError::Time("a flow's traffic has a rate of zero; give it a rate above zero"));
    }
    Ok(())
}
