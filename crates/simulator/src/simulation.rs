//! One run as a value: the event loop and what each event does.

mod measure;
mod setup;

use crate::flow::Flow;
use crate::gated_links::GatedLinks;
use crate::network::Network;
use crate::options::{RunError, RunOptions};
use crate::packet::Packet;
use crate::parts::{Parts, Tally, World};
use crate::queue::{Event, EventQueue};
use crate::receiver_host;
use cogtcp_link::Frame;
use cogtcp_records::Run;
use cogtcp_scenario::Experiment;
use cogtcp_transport::Flags;
use cogtcp_units::Time;
use measure::PipeBaseline;
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
    /// The pipes at the end of the warm-up; none: there was no warm-up.
    pub(crate) pipe_baselines: Vec<PipeBaseline>,
    /// Delivered and carried bytes at the last sample, by flow and by pipe, where samples are taken.
    sampled_flows: Vec<u64>,
    sampled_pipes: Vec<f64>,
    digest: Digest,
    pub(crate) events: u64,
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
                    if self.network.has_arrived() {
                        self.deliver_from_air(now);
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
            // On the way, or as a host sent it.
            if self.network.has_destroyed() {
                let mut world = World { network: &mut self.network, flows: &mut self.flows };
                self.parts.handle_losses(now, &mut world);
            }
        }
        Ok(())
    }

    /// A packet has reached its host.
    #[expect(
        clippy::inline_always,
        reason = "three callers, of which the event loop makes all but a few calls"
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

    /// Packets of an ad hoc network have reached their hosts, or nodes have heard of their radios.
    #[inline(never)]
    fn deliver_from_air(&mut self, now: Time) {
        while let Some(frame) = self.network.take_arrived() {
            self.deliver(now, &frame);
        }
        self.tell_transports(now);
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

    fn check_conservation(&self) -> Result<(), RunError> {
        let streams = self.flows.iter().flat_map(|flow| flow.streams).chain(self.parts.streams());
        let visit = |show: &mut dyn FnMut(&Frame<Packet>)| self.parts.visit(show);
        self.network.check_conservation(streams, visit).map_err(RunError::Conservation)
    }

    fn check(&self, now: Time, options: &RunOptions) -> Result<(), RunError> {
        if let Some(watch) = &options.watch {
            watch(now);
        }
        // Relaxed: the flag orders nothing else, and a look that comes a little late does no harm.
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

#[cfg(test)]
mod tests;
