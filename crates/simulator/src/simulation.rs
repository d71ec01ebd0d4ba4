//! One run as a value: the event loop and what each event does.

use crate::boards::Boards;
use crate::flow::Flow;
use crate::forwarding::Nodes;
use crate::gated_links::GatedLinks;
use crate::network::Network;
use crate::options::{RunError, RunOptions, TraceLevel};
use crate::packet::{Packet, Pipe};
use crate::parts::{Parts, Plan, Tally, World};
use crate::queue::{Event, EventQueue};
use crate::receiver_host;
use crate::routes::Router;
use crate::trace::Trace;
use crate::wireless::StationPair;
use cogtcp_link::queue::{DropTail, Site};
use cogtcp_link::{Capacity, Frame, LinkConfig, LinkCounters};
use cogtcp_records::tables::{FlowSample, LinkSample};
use cogtcp_records::{Code, Run};
use cogtcp_scenario::{Experiment, FlowSpec, LinkSpec, PipeSpec, QueueSpec, Traffic};
use cogtcp_spectrum::air::Air;
use cogtcp_transport::{CongestionControl, Flags};
use cogtcp_units::{RandomStream, Time};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Events between two looks at cancellation and progress.
const CHECK_INTERVAL: u32 = 4096;

/// The state of one run.
#[derive(Debug)]
pub(crate) struct Simulation {
    pub(crate) experiment: Arc<Experiment>,
    pub(crate) seed: u64,
    pub(crate) end: Time,
    /// Up to when it is played.
    played: Time,
    warmup: Time,
    /// The warm-up is over: distributions are recorded.
    warm: bool,
    pub(crate) network: Network,
    pub(crate) flows: Vec<Flow>,
    pub(crate) radios: Vec<GatedLinks>,
    /// What few runs have.
    pub(crate) parts: Parts,
    /// The pipes at the end of the warm-up.
    pub(crate) pipe_baselines: Vec<PipeBaseline>,
    /// Delivered and carried bytes at the last sample, by flow and by pipe.
    sampled_flows: Vec<u64>,
    sampled_pipes: Vec<f64>,
    digest: Digest,
    pub(crate) events: u64,
}

/// A pipe at the end of the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PipeBaseline {
    pub(crate) counters: LinkCounters,
    pub(crate) carried: f64,
    pub(crate) capacity: Capacity,
    pub(crate) queue_integral: u64,
    pub(crate) marked: u64,
}

/// Hash of the stream of events, in the manner of FNV-1a with whole words.
#[derive(Clone, Copy, Debug)]
struct Digest(u64);

impl Digest {
    #[inline]
    fn add(&mut self, time: Time, event: Event) {
        self.0 = (self.0 ^ time.as_nanos()).wrapping_mul(0x100_0000_01b3).rotate_left(23);
        self.0 = (self.0 ^ u64::from(event.code())).wrapping_mul(0x100_0000_01b3).rotate_left(23);
    }
}

impl Simulation {
    /// The run of `experiment`, at time zero.
    pub(crate) fn new(shared: Arc<Experiment>, options: &RunOptions) -> Result<Self, RunError> {
        let experiment = &*shared;
        let seed = options.seed.unwrap_or(experiment.run.seed.get());
        // Event codes hold 20 bits of index; a flow takes two of them, and so does a link.
        check_size(experiment)?;
        let mut pipes = Vec::with_capacity(2 * experiment.links.len());
        for link in &experiment.links {
            pipes.push(pipe(link, &link.forward, "forward", seed));
            pipes.push(pipe(link, &link.reverse, "reverse", seed));
        }
        let mut network = Network::new(pipes, Boards::new(experiment), Trace::new(options.trace, experiment));
        if options.forward_by_tables {
            let ends = experiment.links.iter().flat_map(|link| [(link.from, link.to), (link.to, link.from)]);
            network.forward_by_tables(Nodes::new(experiment.nodes.len(), ends));
        }
        let air = add_station_pairs(&mut network, experiment, seed)?;
        let mut flows = Vec::with_capacity(experiment.flows.len());
        let mut router = Router::new(experiment);
        for (number, spec) in experiment.flows.iter().enumerate() {
            for (from, to) in [(spec.from, spec.to), (spec.to, spec.from)] {
                let path = router.path(from, to).filter(|path| !path.is_empty());
                network.add_stream(
                    from,
                    to,
                    &path.ok_or_else(|| RunError::NoRoute {
                        flow: spec.name.clone(),
                        from: experiment.nodes[from].clone(),
                        to: experiment.nodes[to].clone(),
                    })?,
                );
            }
            flows.push(Flow::new(number, spec, control(spec, options)?));
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
            air: air.as_ref(),
        })?;
        let mut simulation = Self {
            experiment: Arc::clone(&shared),
            seed,
            end: Time::ZERO + experiment.run.duration,
            played: Time::ZERO,
            warmup: Time::ZERO + experiment.run.warmup,
            warm: false,
            radios,
            parts,
            pipe_baselines: vec![PipeBaseline::default(); network.pipes.len()],
            sampled_flows: vec![0; flows.len()],
            sampled_pipes: vec![0.0; network.pipes.len()],
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
        }
    }

    /// Runs to the end and reports.
    pub(crate) fn run(mut self, options: &RunOptions) -> Result<Run, RunError> {
        self.play_until(self.end, options)?;
        self.check_conservation()?;
        self.check_capacity()?;
        let end = self.end;
        for flow in &mut self.flows {
            flow.end_measure(end, &mut self.network);
        }
        if cfg!(debug_assertions) {
            self.network.budget.check(&self.network.pipes).map_err(RunError::Conservation)?;
        }
        let digest = self.digest.0;
        Ok(self.report(digest))
    }

    /// The time up to which it is played.
    pub(crate) fn now(&self) -> Time {
        self.played
    }

    /// Plays all that happens up to `until`, or to the end if that comes first.
    pub(crate) fn play_until(&mut self, until: Time, options: &RunOptions) -> Result<(), RunError> {
        self.played = until.min(self.end).max(self.played);
        self.play(self.played, options)
    }

    /// The event loop.
    fn play(&mut self, until: Time, options: &RunOptions) -> Result<(), RunError> {
        let mut until_check = 1;
        let mut last = Time::ZERO;
        while let Some((now, event)) = self.network.queue.peek() {
            if now > until {
                break;
            }
            debug_assert!(now >= last, "time ran backwards from {last:?} to {now:?} with {event:?}");
            last = now;
            until_check -= 1;
            if until_check == 0 {
                until_check = CHECK_INTERVAL;
                self.check(now, options)?;
            }
            self.events += 1;
            if self.network.queue.is_deep() {
                self.look_ahead();
            }
            match event {
                Event::Arrival(pipe) => {
                    self.digest.add(now, event);
                    // `arrive` takes the event off the queue itself: as a rule the pipe's next arrival takes its place.
                    if let Some(frame) = self.network.arrive(now, pipe) {
                        self.deliver(now, &frame);
                    } else if self.network.has_destroyed() {
                        let mut world = World { network: &mut self.network, flows: &mut self.flows };
                        self.parts.handle_losses(now, &mut world);
                    }
                }
                Event::Timer(endpoint) => {
                    self.network.queue.pop(event);
                    // Stale entries stay out of the digest: how many there are is a matter of how timers are kept, not of the run.
                    let flow = &mut self.flows[endpoint as usize / 2];
                    if flow.timer(now, endpoint as usize % 2, &mut self.network) {
                        self.digest.add(now, event);
                    }
                }
                Event::StationPair(place) => {
                    self.digest.add(now, event);
                    self.network.queue.pop(event);
                    self.play_station_pair(now, place);
                }
                Event::Part(code) => {
                    self.network.queue.pop(event);
                    let mut world = World { network: &mut self.network, flows: &mut self.flows };
                    match self.parts.handle_event(now, code, &mut world) {
                        Tally::Event => self.digest.add(now, event),
                        Tally::Stale => {}
                        Tally::Observation => self.events -= 1,
                    }
                }
                Event::Sample => {
                    // Neither counted nor hashed: a run is the same with a trace and without.
                    self.events -= 1;
                    self.sample(now);
                    self.network.queue.replace(now + self.experiment.run.sample_interval, event);
                }
                other => {
                    self.digest.add(now, other);
                    self.network.queue.pop(other);
                    self.rare_event(now, other);
                }
            }
        }
        Ok(())
    }

    /// A packet has reached its host.
    #[expect(
        clippy::inline_always,
        reason = "two callers, of which the event loop makes all but a few calls"
    )]
    #[inline(always)]
    fn deliver(&mut self, now: Time, frame: &Frame<Packet>) {
        let stream = frame.packet.stream;
        let opened = self.network.open(&frame.packet);
        let Some(segment) = &opened else {
            let mut world = World { network: &mut self.network, flows: &mut self.flows };
            return self.parts.receive(now, frame, &mut world);
        };
        if segment.flags.contains(Flags::SYN) && stream.is_multiple_of(2) {
            receiver_host::answer_syn(stream as usize / 2, segment, &self.network, &mut self.flows);
        }
        let flow = &mut self.flows[stream as usize / 2];
        if stream.is_multiple_of(2) {
            flow.receive_data(now, segment, frame, self.warm, &mut self.network);
        } else {
            flow.receive_ack(now, segment, frame, self.warm, &mut self.network);
        }
    }

    fn rare_event(&mut self, now: Time, event: Event) {
        match event {
            Event::Radio(number) => {
                let radio = &mut self.radios[number as usize];
                // The links first, then who sends over them: a sender that hears of an open link finds it open.
                radio.change(now, &mut self.network);
                self.network.queue.push(radio.next_change(), event);
                self.tell_transports(now);
                let mut world = World { network: &mut self.network, flows: &mut self.flows };
                self.parts.read_boards(now, &mut world);
            }
            Event::FlowStart(number) => {
                let flow = &mut self.flows[number as usize];
                // Started before, a flow is measured from the end of the warm-up on (`end_warmup`).
                if self.warm {
                    flow.begin_measure(now, &mut self.network);
                }
                flow.start(now, &mut self.network);
            }
            Event::FlowStop(number) => self.flows[number as usize].stop(now, &mut self.network),
            Event::Write(number) => self.flows[number as usize].write(now, &mut self.network),
            Event::Transmission(pipe) => self.network.transmit(now, pipe),
            Event::WarmupEnd => self.end_warmup(now),
            Event::Arrival(_) | Event::Timer(_) | Event::Sample | Event::StationPair(_) | Event::Part(_) => {
                unreachable!("handled by the event loop")
            }
        }
    }

    /// A pair of wireless stations may have something to do.
    #[inline(never)]
    fn play_station_pair(&mut self, now: Time, place: u32) {
        if let Some(frame) = self.network.play_station_pair(now, place) {
            self.deliver(now, &frame);
        }
        self.tell_transports(now);
    }

    /// Transports read the boards of the nodes that their senders are on.
    fn tell_transports(&mut self, now: Time) {
        while let Some((notice, senders)) = self.network.boards.take_for_transports() {
            // A sender that hears may send at once, over the network that this list is borrowed from.
            let senders = senders.to_vec();
            for flow in senders {
                self.flows[flow].link_event(now, notice.event, &mut self.network);
            }
        }
    }

    fn end_warmup(&mut self, now: Time) {
        self.warm = true;
        for flow in &mut self.flows {
            // Counters run from time zero and are subtracted at the end. Only what cannot be subtracted begins anew:
            // distributions, the greatest queue.
            flow.end_warmup(now, &self.network);
            if flow.has_started() {
                flow.begin_measure(now, &mut self.network);
            }
        }
        for radio in &mut self.radios {
            radio.end_warmup(now);
        }
        self.parts.end_warmup(now, &self.network);
        for (_, pair) in &mut self.network.station_pairs {
            pair.end_warmup(now);
        }
        for (pipe, baseline) in self.network.pipes.iter_mut().zip(&mut self.pipe_baselines) {
            *baseline = PipeBaseline {
                carried: pipe.carried(now),
                queue_integral: pipe.queue_integral(now),
                capacity: pipe.capacity(now),
                counters: *pipe.counters(),
                marked: pipe.marked(),
            };
            // The greatest length is no difference of two readings; it begins with what lies there now.
            pipe.restart_maximum(now);
        }
    }

    /// One point of every series.
    fn sample(&mut self, now: Time) {
        let interval = self.experiment.run.sample_interval.as_secs_f64();
        let time_s = now.as_secs_f64();
        for (number, flow) in self.flows.iter().enumerate() {
            if !flow.is_active() {
                continue;
            }
            let state = flow.sender.state();
            let mss = state.mss.max(1) as f64;
            let delivered = flow.receiver.delivered();
            let gained = delivered - std::mem::replace(&mut self.sampled_flows[number], delivered);
            let row = FlowSample {
                time_s,
                flow: Code(number as u32),
                cwnd_segments: flow.cwnd_segments(),
                // Without a loss so far it is arbitrarily high (RFC 5681): no number.
                ssthresh_segments: if state.ssthresh == u64::MAX {
                    f64::NAN
                } else {
                    state.ssthresh as f64 / mss
                },
                srtt_s: if state.srtt.is_zero() { f64::NAN } else { state.srtt.as_secs_f64() },
                in_flight_segments: state.in_flight as f64 / mss,
                goodput_bps: gained as f64 * 8.0 / interval,
            };
            // Borrowed apart from `flow`, whose control hands its state to the closure.
            let (trace, code) = (&mut self.network.trace, row.flow);
            trace.flow_sample(row);
            let control = flow.sender.control();
            control.observe(state, &mut |name, value| trace.control_sample(time_s, code, name, value));
        }
        for (number, pipe) in self.network.pipes.iter_mut().enumerate() {
            let carried = pipe.carried(now);
            let gained = carried - std::mem::replace(&mut self.sampled_pipes[number], carried);
            self.network.trace.link_sample(LinkSample {
                time_s,
                link: Code(number as u32 / 2),
                direction: Code(number as u32 % 2),
                queue_packets: pipe.queue_length(now),
                rate_bps: pipe.rate_at(now).bits_per_second() as f64,
                throughput_bps: gained * 8.0 / interval,
            });
        }
    }

    fn check_conservation(&self) -> Result<(), RunError> {
        let streams = self.flows.iter().flat_map(|flow| flow.streams).chain(self.parts.streams());
        self.network.check_conservation(streams).map_err(RunError::Conservation)
    }

    /// No link direction carried more than its capacity, neither in the whole run nor since the end of the warm-up.
    fn check_capacity(&mut self) -> Result<(), RunError> {
        let whole = PipeBaseline::default();
        for (number, pipe) in self.network.pipes.iter_mut().enumerate() {
            for before in [&whole, &self.pipe_baselines[number]] {
                let available = pipe.capacity(self.end).available - before.capacity.available;
                let (carried, most) = (pipe.carried(self.end) - before.carried, Capacity::bytes(available));
                // Transmission times are whole nanoseconds: each packet may seem to carry a little more than its time held.
                if carried > most + pipe.rounding(pipe.counters().offered) {
                    return Err(RunError::Conservation(format!(
                        "link direction {number} carried {carried} bytes and could carry {most}"
                    )));
                }
            }
        }
        Ok(())
    }

    fn check(&self, now: Time, options: &RunOptions) -> Result<(), RunError> {
        if let Some(progress) = &options.progress {
            // Relaxed: the two flags order nothing else, and a look that comes a little late does no harm.
            progress.store(now.as_nanos(), Ordering::Relaxed);
        }
        if options.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(RunError::Cancelled { at_s: now.as_secs_f64() });
        }
        // Half of the numbers stay in reserve for what is scheduled until the next look.
        if self.network.queue.scheduled() > EventQueue::MAX_SEQUENCE / 2 {
            return Err(RunError::TooManyEvents);
        }
        if cfg!(debug_assertions) {
            self.check_conservation()?;
        }
        Ok(())
    }
}

/// Adds the pairs of wireless stations of `experiment`. Returns the air that they share.
fn add_station_pairs(
    network: &mut Network,
    experiment: &Experiment,
    seed: u64,
) -> Result<Option<Arc<Air>>, RunError> {
    let mut shared = None;
    for (number, spec) in experiment.radios.iter().enumerate() {
        let Some(cognitive) = spec.kind.cognitive() else { continue };
        let wrong = |why: String| RunError::Radio { radio: spec.name.clone(), why };
        // One air for all pairs: they hear the same primary users.
        let air = match &shared {
            Some(air) => Arc::clone(air),
            None => {
                let spectrum = experiment.spectrum.as_ref();
                let spectrum = spectrum.ok_or_else(|| wrong("the experiment has no spectrum".to_owned()))?;
                let air = spectrum.air(experiment.run.duration, seed);
                Arc::new(air.map_err(|error| wrong(error.to_string()))?)
            }
        };
        shared = Some(Arc::clone(&air));
        network.add_station_pair(number, StationPair::new(experiment, spec, cognitive, air, seed)?);
    }
    Ok(shared)
}

fn pipe(link: &LinkSpec, spec: &PipeSpec, direction: &str, seed: u64) -> Pipe {
    // Keyed by the name of the link: a link more or less leaves the losses of the others as they were.
    let stream = |part: &str| RandomStream::new(seed, &format!("{part}/{}/{direction}", link.name), 0);
    let mut queue = DropTail::UNLIMITED;
    if let QueueSpec::DropTail(limit) = spec.queue {
        queue = DropTail::of(limit);
        queue.mark_at = spec.mark.map_or(u64::MAX, u64::from);
    }
    let config = LinkConfig {
        rate: spec.rate,
        delay: spec.delay,
        queue,
        loss: spec.loss,
        drops: spec.drops.clone(),
        schedule: spec.trace.clone(),
    };
    let discipline = spec.queue.build(|| Site { rate: spec.rate, stream: stream("queue") });
    Pipe::new(&config, discipline, || stream("loss"))
}

fn control(spec: &FlowSpec, options: &RunOptions) -> Result<Box<dyn CongestionControl>, RunError> {
    match &options.controls {
        Some(factory) => {
            factory.build(spec).map_err(|source| RunError::ControlFactory { flow: spec.name.clone(), source })
        }
        None => cogtcp_transport::make(&spec.control.name, &spec.control.parameters)
            .map_err(|error| RunError::Control { flow: spec.name.clone(), source: Box::new(error) }),
    }
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

#[cfg(test)]
mod tests;
