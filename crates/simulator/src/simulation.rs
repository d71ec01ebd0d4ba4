//! One run as a value: the event loop and what each event does.

mod lookahead;
mod measure;
mod route_news;
mod setup;

use crate::event::Event;
use crate::options::{RunError, RunOptions};
use crate::packet::{Body, Packet};
use crate::parts::{Parts, World};
use crate::plane::Plane;
use crate::receiver_host;
use cogtcp_hosts::{Delivery, End, Flow, Owner};
use cogtcp_link::Frame;
use cogtcp_network::{Agenda, Arrival, Change, Due, Look, Tally, impossible};
use cogtcp_records::Run;
use cogtcp_scenario::Experiment;
use cogtcp_transport::Flags;
use cogtcp_units::Time;
use lookahead::Batches;
use route_news::RouteNews;
use std::borrow::Cow;
use std::sync::atomic::Ordering;

/// Events between two looks at cancellation and progress.
const CHECK_INTERVAL: u64 = 4096;

/// Numbers of entries of the agenda that are kept for what is scheduled between two looks.
const RESERVE: u64 = 1 << 32;

/// The state of one run.
#[derive(Debug)]
pub(crate) struct Simulation<'e> {
    pub(crate) experiment: Cow<'e, Experiment>,
    pub(crate) seed: u64,
    pub(crate) end: Time,
    /// Up to when it is played.
    played: Time,
    warmup: Time,
    /// The warm-up is over: distributions are recorded.
    warm: bool,
    pub(crate) plane: Plane,
    route_news: RouteNews,
    /// The hosts that take their packets in batches.
    batches: Batches,
    pub(crate) flows: Vec<Flow>,
    /// Rarely used state.
    pub(crate) parts: Parts,
    /// Delivered and carried bytes at the last sample, by flow and by link direction, where samples are
    /// taken.
    sampled_flows: Vec<u64>,
    sampled_directions: Vec<f64>,
    digest: Digest,
    pub(crate) events: u64,
}

/// Hash of what hosts see, and of all events but packets on their way: a sum, so that hosts that are played
/// late change nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Digest(u64);

impl Digest {
    #[inline]
    fn add(&mut self, time: Time, due: Due) {
        // Both halves of a product of 128 bits, as in wyhash: neither factor is zero in any run of less than
        // two centuries.
        let product = u128::from(time.as_nanos() ^ 0xa076_1d64_78bd_642f)
            * u128::from(u64::from(due.code()) ^ 0xe703_7ed1_a0b4_28db);
        self.0 = self.0.wrapping_add(product as u64 ^ (product >> 64) as u64);
    }
}

impl Simulation<'_> {
    /// Runs to the end and reports.
    pub(crate) fn run(mut self, options: &RunOptions) -> Result<Run, RunError> {
        self.play_until(self.end, options)?;
        self.check_conservation()?;
        let end = self.end;
        self.plane.network.check_capacity(end).map_err(RunError::Conservation)?;
        for flow in &mut self.flows {
            flow.end_measure(end, &mut self.plane);
        }
        if cfg!(debug_assertions) {
            self.plane.network.check_budget().map_err(RunError::Conservation)?;
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
        let mut arrival = Arrival::default();
        self.plane.network.play_to(until);
        loop {
            while self.play_some(until, options, &mut arrival)? {}
            if !cogtcp_network::finish(self, until) {
                return Ok(());
            }
        }
    }

    /// Looks at cancellation and progress, then plays events until the next look. False: none is left until
    /// then.
    ///
    /// A function that returns now and then, never inlined into its caller. Node 20 compiles WebAssembly
    /// quickly first, and enters the optimised code of a function only at its next call. A loop that never
    /// returned would stay slow for a whole run. Chromium 156 was as fast without.
    #[inline(never)]
    fn play_some(
        &mut self,
        until: Time,
        options: &RunOptions,
        arrival: &mut Arrival<Packet>,
    ) -> Result<bool, RunError> {
        let Some((now, _)) = self.plane.network.peek().filter(|(now, _)| *now <= until) else {
            return Ok(false);
        };
        self.check(now, options)?;
        let mut last = now;
        let pause = self.events + CHECK_INTERVAL;
        // Of entries that are no events a run may have any number between two packets.
        let mut others = 0;
        while self.events < pause && others < CHECK_INTERVAL {
            // Nearly every event is the arrival of a packet.
            let first = self.plane.network.first_arrival();
            let now = match first {
                Some((now, _)) => now,
                None => match self.plane.network.peek() {
                    Some((now, _)) => now,
                    None => return Ok(false),
                },
            };
            if now > until {
                return Ok(false);
            }
            debug_assert!(now >= last, "time ran backwards from {last:?} to {now:?}");
            last = now;
            if self.plane.network.is_crowded() {
                self.prefetch_next();
            }
            match first {
                Some((now, direction)) => self.arrive(now, direction, arrival),
                None => {
                    others += 1;
                    self.play_next(arrival);
                }
            }
            if self.plane.network.has_news() {
                self.take_news(now);
            }
        }
        Ok(true)
    }

    /// A packet arrives from `direction`.
    #[expect(clippy::inline_always, reason = "one caller, the event loop")]
    #[inline(always)]
    fn arrive(&mut self, now: Time, direction: u32, arrival: &mut Arrival<Packet>) {
        self.events += 1;
        let Plane { network, recorder } = &mut self.plane;
        if network.arrive(now, direction, recorder, arrival) {
            self.digest.add(now, Due::arrival(direction));
            self.deliver(now, &arrival.frame);
        }
    }

    /// Plays what is due next, whatever it is.
    #[inline(never)]
    fn play_next(&mut self, arrival: &mut Arrival<Packet>) {
        let Some((now, due)) = self.plane.network.peek() else { return impossible("nothing is due") };
        match due {
            Due::Network(change) => self.step(now, due, change, arrival),
            Due::Batch(direction) => self.play_batch(now, direction, arrival),
            Due::Host(code) => self.play_host(now, due, Event::from_code(code)),
        }
    }

    /// The network changes.
    fn step(&mut self, now: Time, due: Due, change: Change, arrival: &mut Arrival<Packet>) {
        let is_arrival = change.arrival().is_some();
        let tally = self.plane.network.tally(now, change);
        // An arrival enters the digest if it reaches a host.
        self.count(now, due, tally, !is_arrival);
        let Plane { network, recorder } = &mut self.plane;
        if network.step_into(now, change, recorder, arrival) {
            if is_arrival {
                self.digest.add(now, due);
            }
            self.deliver(now, &arrival.frame);
        }
    }

    /// Counts an event that is played, and adds it to the digest. Stale entries stay out of the digest: how
    /// many there are is a matter of how timers are kept. Observations are no events: a run is the same with a
    /// trace and without.
    fn count(&mut self, now: Time, due: Due, tally: Tally, enters_digest: bool) {
        self.events += u64::from(tally != Tally::Observation);
        if tally == Tally::Event && enters_digest {
            self.digest.add(now, due);
        }
    }

    /// What a host waited for is due.
    fn play_host(&mut self, now: Time, due: Due, event: Event) {
        match event {
            Event::Timer(flow, end) => {
                self.catch_up(now, flow, end);
                self.plane.network.agenda().pop(due);
                let is_due = self.flows[flow as usize].timer(now, end, &mut self.plane);
                self.count(now, due, if is_due { Tally::Event } else { Tally::Stale }, true);
            }
            Event::Part(code) => {
                self.plane.network.agenda().pop(due);
                let tally = self.call_part(now, code);
                self.count(now, due, tally, true);
            }
            Event::Sample => cogtcp_network::look(self, now, Look::All, |simulation| {
                simulation.plane.network.agenda().pop(due);
                simulation.sample(now);
                let next = now + simulation.experiment.run.sample_interval;
                simulation.plane.schedule_measurement(next, event);
            }),
            other => cogtcp_network::look(self, now, self.look_of(other), |simulation| {
                simulation.count(now, due, Tally::Event, true);
                simulation.plane.network.agenda().pop(due);
                simulation.rare_event(now, other);
            }),
        }
    }

    fn call_part(&mut self, now: Time, code: u32) -> Tally {
        let mut world = World { plane: &mut self.plane, flows: &mut self.flows };
        self.parts.handle_event(now, code, &mut world)
    }

    /// A packet has reached its host.
    #[expect(
        clippy::inline_always,
        reason = "arrivals in the event loop and in batches make all but a few calls"
    )]
    #[inline(always)]
    fn deliver(&mut self, now: Time, frame: &Frame<Packet>) {
        let opened = self.plane.recorder.open(&frame.packet);
        let Some(segment) = &opened else { return self.deliver_other(now, frame) };
        let Owner::Flow { flow, from, .. } = self.owner(frame) else {
            return impossible("a TCP segment of no flow");
        };
        let delivery = self.delivery(frame);
        // Before the segment is taken: the SYN-ACK is built while it is.
        if segment.flags.contains(Flags::SYN) && from == End::Sender {
            receiver_host::answer_syn(flow as usize, segment, &self.plane.network, &mut self.flows);
        }
        let flow = &mut self.flows[flow as usize];
        match from {
            End::Sender => flow.receive_data(now, segment, delivery, &mut self.plane),
            End::Receiver => flow.receive_ack(now, segment, delivery, &mut self.plane),
        }
    }

    /// A packet that is no TCP segment has reached its host.
    #[cold]
    fn deliver_other(&mut self, now: Time, frame: &Frame<Packet>) {
        if let Body::Unreachable { seq, flow } = frame.packet.body {
            return self.flows[flow as usize].unreachable(now, seq, &mut self.plane);
        }
        let delivery = self.delivery(frame);
        match self.owner(frame) {
            Owner::Flow { flow, from, path } => {
                let Some(datagram) = self.plane.recorder.datagrams.unpack(&frame.packet) else {
                    return impossible("a packet of a flow that carries no datagram");
                };
                let (flow, is_marked) = (&mut self.flows[flow as usize], frame.packet.is_marked());
                let at = (from.other(), path);
                flow.receive_datagram(now, at, &datagram, is_marked, delivery, &mut self.plane);
            }
            Owner::Part { part, place } => {
                let mut world = World { plane: &mut self.plane, flows: &mut self.flows };
                self.parts.receive(now, (part, place), frame, &mut world);
            }
            Owner::Network => impossible("a packet of the network itself that is no message to a source"),
        }
    }

    #[inline]
    fn owner(&self, frame: &Frame<Packet>) -> Owner {
        self.plane.recorder.streams.owner(frame.packet.transit.stream)
    }

    #[inline]
    fn delivery(&self, frame: &Frame<Packet>) -> Delivery {
        Delivery {
            sent_at: frame.packet.sent_at,
            size: frame.size(),
            waited: frame.waited(),
            is_measured: self.warm,
        }
    }

    /// Packets have reached their hosts by themselves, nodes have heard of their radios, or silence has
    /// destroyed packets whose sources are to be told.
    #[inline(never)]
    fn take_news(&mut self, now: Time) {
        while let Some(arrival) = self.plane.network.take_arrival() {
            self.deliver(now, &arrival.frame);
        }
        while let Some((node, notice, flows)) = self.plane.network.boards().take_heard_at() {
            // A sender that hears may send at once, over the network that this list is borrowed from.
            let flows = flows.to_vec();
            for flow in flows {
                self.catch_up(now, flow, End::Sender);
                let about = (flow, node, notice.link);
                // A sender hears its own node at once, whatever that tells. Other nodes tell it by messages,
                // and only of the link of its route.
                match self.route_news.arrival(now, &self.plane.network, about) {
                    Some((_, true)) => {
                        self.flows[flow as usize].link_event(now, notice.event, &mut self.plane);
                    }
                    Some((arrives, false)) => {
                        self.flows[flow as usize].route_event(now, arrives, notice.event, &mut self.plane);
                    }
                    None => {}
                }
            }
        }
        while let Some(code) = self.plane.network.boards().take_call() {
            self.call_part(now, code);
        }
        while let Some(arrival) = self.plane.network.tell_source(now, &mut self.plane.recorder) {
            self.deliver(now, &arrival.frame);
        }
    }

    fn rare_event(&mut self, now: Time, event: Event) {
        match event {
            Event::FlowStart(number) => {
                let flow = &mut self.flows[number as usize];
                // Started before, a flow is measured from the end of the warm-up on (`end_warmup`).
                if self.warm {
                    flow.begin_measure(now, &mut self.plane);
                }
                flow.start(now, &mut self.plane);
            }
            Event::FlowStop(number) => self.flows[number as usize].stop(now, &mut self.plane),
            Event::Write(number) => self.flows[number as usize].write(now, &mut self.plane),
            Event::WarmupEnd => self.end_warmup(now),
            Event::Timer(..) | Event::Sample | Event::Part(_) => unreachable!("handled by the event loop"),
        }
    }

    fn check_conservation(&self) -> Result<(), RunError> {
        let flows = self.flows.iter().flat_map(|flow| End::BOTH.map(|from| flow.counted(from))).flatten();
        let (mut with_options, mut datagrams) = (0, 0);
        let see = |packet: &Packet| {
            with_options += usize::from(packet.is_stored());
            datagrams += usize::from(packet.is_datagram());
        };
        let checked = self.plane.network.check_conservation(flows.chain(self.parts.streams()), see);
        checked.map_err(RunError::Conservation)?;
        // Exactly what is under way with options has them stored.
        let stored = self.plane.recorder.options.len();
        if stored != with_options {
            return Err(RunError::Conservation(format!(
                "{stored} segments with options are stored and {with_options} under way"
            )));
        }
        let stored = self.plane.recorder.datagrams.len();
        if stored != datagrams {
            return Err(RunError::Conservation(format!(
                "{stored} datagrams are stored and {datagrams} under way"
            )));
        }
        Ok(())
    }

    fn check(&self, now: Time, options: &RunOptions) -> Result<(), RunError> {
        if let Some(watch) = &options.watch {
            watch(now);
        }
        // Relaxed: the flag orders nothing else, and a look that comes a little late does no harm.
        if options.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(RunError::Cancelled { at_s: now.as_secs_f64() });
        }
        // The numbers in reserve suffice for what is scheduled until the next look.
        if self.plane.network.scheduled() > Agenda::MAX_SEQUENCE - RESERVE {
            return Err(RunError::TooManyEvents);
        }
        if cfg!(debug_assertions) {
            self.check_conservation()?;
        }
        Ok(())
    }
}
