//! From an experiment to a run at time zero: links with their queues, stations, routes, connections, parts,
//! and the first events.

use super::lookahead::Batches;
use super::route_news::RouteNews;
use super::{Digest, Simulation};
use crate::event::{Event, MOST};
use crate::options::{ControlFactory, RunError, RunOptions, TraceLevel, make_control};
use crate::parts::{Parts, Plan, World};
use crate::plane::Plane;
use crate::recorder::Recorder;
use cogtcp_hosts::{DatagramEnds, Flow};
use cogtcp_network::{Network, Recording, Routes};
use cogtcp_scenario::{ControlMaker, Experiment, FlowSpec, Protocol, TcpSpec, Traffic};
use cogtcp_units::Time;
use std::borrow::Cow;
use std::sync::Arc;

impl<'e> Simulation<'e> {
    /// The run of `experiment`, at time zero.
    pub(crate) fn new(given: Cow<'e, Experiment>, options: &RunOptions) -> Result<Self, RunError> {
        let seed = options.seed.unwrap_or(given.run.seed.get());
        let given = cogtcp_hosts::drawn(given, seed);
        let experiment = &*given;
        // Event codes hold 20 bits of index; a flow takes two of them, and so does a link.
        check_size(experiment)?;
        let end = Time::ZERO + experiment.run.duration;
        let recording = Recording {
            frames: options.trace >= TraceLevel::Packets,
            places: options.trace >= TraceLevel::Series,
            interval: experiment.run.sample_interval,
            has_warmup: !experiment.run.warmup.is_zero(),
        };
        let network = Network::build(experiment, seed, end, recording)?;
        let mut plane = Plane { network, recorder: Recorder::new(options.trace, experiment) };
        let mut flows = Vec::with_capacity(experiment.flows.len());
        let mut route_news = RouteNews::default();
        let mut plan = Plan {
            experiment,
            seed,
            trace: options.trace,
            plane: &mut plane,
            flows: &mut [],
            routes: Routes::new(experiment),
            named: Vec::new(),
            controls: options.controls.clone(),
            own: Vec::new(),
        };
        for (number, spec) in experiment.flows.iter().enumerate() {
            let ids = if let Some(first) = spec.paths.first() {
                plan.add_path(spec, first)
            } else {
                let mut add =
                    |from, to, kind| plan.add_stream(from, to, kind, &spec.name, || spec.name.clone());
                [add(spec.from, spec.to, "data")?, add(spec.to, spec.from, "acknowledgements")?]
            };
            let number = number as u32;
            plan.plane.network.boards().listen(spec.from, number);
            let control = |tcp: &TcpSpec| make_control(&spec.name, &tcp.control, options.controls.as_deref());
            let mut flow = match foreign_ends(spec, seed, options.controls.as_ref())? {
                Some(ends) => Flow::over(number, spec, ids, ends),
                None => Flow::new(number, spec, ids, seed, control)?,
            };
            if options.trace == TraceLevel::Packets {
                flow.keep_logs();
            }
            // The first path has its streams already; TCP runs over one.
            for path in spec.paths.iter().skip(1).filter(|_| spec.tcp().is_none()) {
                flow.add_path(plan.add_path(spec, path));
            }
            if matches!(&spec.protocol, Protocol::Other(transport, _) if transport.kind().wants_stamps()) {
                plan.plane.network.stamp(ids[0]);
            }
            if matches!(&spec.protocol, Protocol::Other(transport, _) if transport.kind().hears_route()) {
                route_news.add(experiment, &mut plan.plane.network, (number, spec.from), ids[0]);
            }
            flow.enter(&mut plan.plane.recorder.streams);
            flows.push(flow);
        }
        // After all flows: they share one database of the primary users.
        if let Some(air) = plan.plane.network.spectrum() {
            let database = cogtcp_hosts::database(air);
            flows.iter_mut().for_each(|flow: &mut Flow| flow.use_database(&database));
        }
        plan.plane.network.watch_budget(flows.iter().flat_map(Flow::data_by_path), experiment);
        // The streams of flows are no part's.
        plan.own.clear();
        let parts = Parts::new(Plan { flows: &mut flows, ..plan })?;
        let mut simulation = Self {
            warmup: Time::ZERO + experiment.run.warmup,
            experiment: given,
            seed,
            end,
            played: Time::ZERO,
            warm: false,
            parts,
            sampled_flows: Vec::new(),
            sampled_directions: Vec::new(),
            plane,
            route_news,
            flows,
            digest: Digest::default(),
            batches: Batches::default(),
            events: 0,
        };
        simulation.plan_lookahead(options);
        simulation.schedule_beginning(options.trace);
        Ok(simulation)
    }

    fn schedule_beginning(&mut self, trace: TraceLevel) {
        // First of all that happens at that instant: a flow that starts with it is measured from its first
        // packet.
        self.plane.schedule_measurement(self.warmup, Event::WarmupEnd);
        self.plane.network.begin(&mut self.plane.recorder);
        self.parts.begin(&mut World { plane: &mut self.plane, flows: &mut self.flows });
        self.plane.network.begin_air(&mut self.plane.recorder);
        for (number, spec) in self.experiment.flows.iter().enumerate() {
            self.plane.schedule_flow(spec.start, Event::FlowStart(number as u32));
            if let Some(stop) = spec.stop {
                // Never before its start, which at the same instant was scheduled first.
                self.plane.schedule_flow(stop.max(spec.start), Event::FlowStop(number as u32));
            }
        }
        if trace >= TraceLevel::Series {
            let first = Time::ZERO + self.experiment.run.sample_interval;
            self.plane.schedule_measurement(first, Event::Sample);
            self.sampled_flows = vec![0; self.flows.len()];
            self.sampled_directions = vec![0.0; self.plane.network.directions().len()];
        }
    }
}

fn check_size(experiment: &Experiment) -> Result<(), RunError> {
    let most = MOST as usize / 2;
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

/// The ends of a flow whose transport is not TCP and runs a congestion control from outside; `None`:
/// any other flow.
fn foreign_ends(
    spec: &FlowSpec,
    seed: u64,
    factory: Option<&Arc<dyn ControlFactory>>,
) -> Result<Option<DatagramEnds>, RunError> {
    let (Protocol::Other(transport, connection), Some(control)) = (&spec.protocol, spec.external_control())
    else {
        return Ok(None);
    };
    // Once here, so that a control that cannot be built is an error of this run.
    make_control(&spec.name, &control, factory.map(Arc::as_ref))?;
    let (flow, factory) = (spec.name.clone(), factory.cloned());
    let make: ControlMaker = Arc::new(move || {
        let made = make_control(&flow, &control, factory.as_deref());
        made.expect("what is built for the first connection is built for all")
    });
    let pair = transport.build_around(connection.of_flow(seed, &spec.name), make);
    Ok(Some(DatagramEnds::new(pair)))
}
