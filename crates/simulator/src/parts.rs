//! The parts of a simulation that few runs have: a train, ICMP, UDP sources. Each has events, packets and
//! results of its own, and the event loop knows none of them by name.
//!
//! Adding a part: a file with what implements [`Part`], its line in [`PARTS`], and where it has events, its
//! codes in [`codes`].

use crate::TraceLevel;
use crate::applications::Applications;
use crate::options::{ControlFactory, RunError};
use crate::packet::Packet;
use crate::plane::Plane;
use crate::primary_users::PrimaryUsers;
use crate::train::Train;
use crate::udp::UdpSources;
use cogtcp_hosts::{Flow, Owner};
use cogtcp_link::Frame;
use cogtcp_network::{AirStream, Hop, NoRoute, Routes, StreamCounters, StreamId, Tally};
use cogtcp_records::Table;
use cogtcp_scenario::{Experiment, FlowSpec, PathSpec};
use cogtcp_units::Time;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// Builds a part for an experiment that has it.
type Build = fn(&mut Plan<'_, '_>) -> Result<Option<Box<dyn Part>>, RunError>;

/// Every part. What happens at one instant in the beginning happens in this order, and so do the streams of
/// packets.
const PARTS: &[Build] =
    &[Train::build, tell_sources, UdpSources::build, Applications::build, PrimaryUsers::build];

/// The network's own: the sources of the flows' data are told what silence destroyed, where a radio asks for
/// it.
fn tell_sources(plan: &mut Plan<'_, '_>) -> Result<Option<Box<dyn Part>>, RunError> {
    let streams: Vec<StreamId> = plan.flows.iter().map(Flow::data).collect();
    let told = plan.plane.network.tell_sources(plan.experiment, &mut plan.routes, &streams);
    let nodes = &plan.experiment.nodes;
    told.map_err(|route| no_route(nodes, route, format!("ICMP of {}", nodes[route.from])))?;
    // Not a part of its own: the network sends, counts and delivers these packets.
    Ok(None)
}

fn no_route(nodes: &[String], NoRoute { from, to }: NoRoute, flow: String) -> RunError {
    RunError::NoRoute { flow, from: nodes[from].clone(), to: nodes[to].clone() }
}

/// The codes of the parts' events in the queue: four bits of kind, twenty of index. They are hashed into a
/// run's digest.
pub(crate) mod codes {
    use crate::event::{Event, MOST};
    use std::ops::Range;

    /// The timer of a train's router, its radio's measurements, its board.
    // Index 0 of this kind is the end of the warm-up.
    pub(crate) const TRAIN: Range<u32> = Event::codes(6, 1..4);
    /// Primary users, by number.
    pub(crate) const PRIMARY_USERS: Range<u32> = Event::codes(9, 0..MOST);
    /// UDP sources, by number.
    pub(crate) const UDP: Range<u32> = Event::codes(11, 0..MOST);
    /// Applications that ask, by flow: twice its number, plus 1 where a response has come.
    pub(crate) const APPLICATIONS: Range<u32> = Event::codes(12, 0..MOST);

    /// The event of the application of flow `flow`: its timer, or that data has been delivered that it waits
    /// for.
    pub(crate) fn application(flow: u32, is_delivery: bool) -> u32 {
        APPLICATIONS.start + 2 * flow + u32::from(is_delivery)
    }

    /// The flow of such an event, and whether it is a delivery.
    pub(crate) fn of_application(index: u32) -> (u32, bool) {
        (index / 2, index % 2 == 1)
    }
}

/// A part. It sends packets on streams of its own and puts events of its own into the queue.
pub(crate) trait Part: Debug {
    /// The codes of its events.
    fn events(&self) -> Range<u32> {
        0..0
    }

    /// The run begins: its first events.
    fn begin(&mut self, _world: &mut World<'_>) {}

    /// An event of its own is due, by its place among its codes. It is off the queue.
    fn handle_event(&mut self, _now: Time, _index: u32, _world: &mut World<'_>) -> Tally {
        Tally::Event
    }

    /// A packet has reached its host, on the stream at `_place` among its own.
    fn receive(&mut self, _now: Time, _place: u32, _frame: &Frame<Packet>, _world: &mut World<'_>) {}

    /// Metrics count from `now`.
    fn end_warmup(&mut self, _now: Time, _plane: &Plane) {}

    /// What the hosts counted of its packets, by stream.
    fn streams(&self) -> Vec<StreamCounters> {
        Vec::new()
    }

    /// Its tables.
    fn report(&self, _ending: &Ending<'_>) -> Vec<Table> {
        Vec::new()
    }
}

/// What a part is built from.
pub(crate) struct Plan<'a, 'e> {
    pub(crate) experiment: &'e Experiment,
    pub(crate) seed: u64,
    pub(crate) trace: TraceLevel,
    pub(crate) plane: &'a mut Plane,
    pub(crate) flows: &'a mut [Flow],
    pub(crate) routes: Routes<'e>,
    /// What the tables of an ad hoc network call streams.
    pub(crate) named: Vec<(u32, AirStream)>,
    /// What makes congestion controls in place of the registry.
    pub(crate) controls: Option<Arc<dyn ControlFactory>>,
    /// The streams of the part that is being built.
    pub(crate) own: Vec<StreamId>,
}

impl Plan<'_, '_> {
    /// Adds the next stream, on the shortest path from one node to another. `flow` and `kind` are what an ad
    /// hoc network's tables call it; `what` needs it.
    pub(crate) fn add_stream(
        &mut self,
        from: usize,
        to: usize,
        kind: &'static str,
        flow: &str,
        what: impl FnOnce() -> String,
    ) -> Result<StreamId, RunError> {
        // A node reaches itself over no hops, which would be no network at all.
        let path = self.routes.find(from, to).filter(|path| !path.is_empty());
        let wrong = || no_route(&self.experiment.nodes, NoRoute { from, to }, what());
        Ok(self.add_stream_over(from, to, &path.ok_or_else(wrong)?, kind, flow))
    }

    /// Adds the next stream, over these hops.
    fn add_stream_over(
        &mut self,
        from: usize,
        to: usize,
        hops: &[Hop],
        kind: &'static str,
        flow: &str,
    ) -> StreamId {
        let stream = self.plane.network.add_stream(from, to, hops);
        self.own.push(stream);
        self.named
            .push((stream.0, AirStream { flow: flow.to_owned(), kind, ends: (from as u32, to as u32) }));
        stream
    }

    /// Adds the streams of a flow on `path`: data, acknowledgements. They take the same links.
    pub(crate) fn add_path(&mut self, spec: &FlowSpec, path: &PathSpec) -> [StreamId; 2] {
        let hops =
            |directions: &[u32]| directions.iter().map(|direction| Hop::Link(*direction)).collect::<Vec<_>>();
        let (there, back) = (hops(&path.directions), hops(&path.reversed()));
        let data = self.add_stream_over(spec.from, spec.to, &there, "data", &spec.name);
        [data, self.add_stream_over(spec.to, spec.from, &back, "acknowledgements", &spec.name)]
    }

    /// Adds a stream from a node to itself, which needs no network.
    pub(crate) fn add_local_stream(&mut self, node: usize) -> StreamId {
        // Without a name: it never enters the air, whose tables names are for.
        let stream = self.plane.network.add_stream(node, node, &[]);
        self.own.push(stream);
        stream
    }
}

/// What a part can act on.
#[derive(Debug)]
pub(crate) struct World<'a> {
    pub(crate) plane: &'a mut Plane,
    pub(crate) flows: &'a mut [Flow],
}

/// What a part reports from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) end: Time,
    pub(crate) plane: &'a Plane,
    pub(crate) flows: &'a [Flow],
}

/// The parts that a run has.
#[derive(Debug)]
pub(crate) struct Parts {
    parts: Vec<Box<dyn Part>>,
    /// The codes of each one's events.
    events: Vec<Range<u32>>,
    /// The streams of each.
    streams: Vec<Vec<StreamId>>,
}

impl Parts {
    /// The parts that `plan` asks for.
    pub(crate) fn new(mut plan: Plan<'_, '_>) -> Result<Self, RunError> {
        let mut made = Self { parts: Vec::new(), events: Vec::new(), streams: Vec::new() };
        for build in PARTS {
            if let Some(it) = build(&mut plan)? {
                let streams = std::mem::take(&mut plan.own);
                let part = made.parts.len() as u16;
                for (place, stream) in (0..).zip(&streams) {
                    plan.plane.recorder.streams.enter(*stream, Owner::Part { part, place });
                }
                made.events.push(it.events());
                made.streams.push(streams);
                made.parts.push(it);
            }
        }
        plan.plane.network.name_streams(&plan.named);
        Ok(made)
    }

    /// Whether the run has none.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The run begins.
    pub(crate) fn begin(&mut self, world: &mut World<'_>) {
        self.parts.iter_mut().for_each(|part| part.begin(world));
    }

    /// The event `code` of a part is due.
    pub(crate) fn handle_event(&mut self, now: Time, code: u32, world: &mut World<'_>) -> Tally {
        let owner = self.events.iter().position(|codes| codes.contains(&code));
        owner.map_or(Tally::Stale, |owner| {
            self.parts[owner].handle_event(now, code - self.events[owner].start, world)
        })
    }

    /// A packet has reached its host, on the stream at `place` in `part`.
    pub(crate) fn receive(
        &mut self,
        now: Time,
        (part, place): (u16, u32),
        frame: &Frame<Packet>,
        world: &mut World<'_>,
    ) {
        self.parts[usize::from(part)].receive(now, place, frame, world);
    }

    /// Metrics count from `now`.
    pub(crate) fn end_warmup(&mut self, now: Time, plane: &Plane) {
        self.parts.iter_mut().for_each(|part| part.end_warmup(now, plane));
    }

    /// What the hosts counted of the parts' packets, by stream.
    pub(crate) fn streams(&self) -> impl Iterator<Item = (StreamId, StreamCounters)> {
        let each = self.parts.iter().zip(&self.streams);
        each.flat_map(|(part, streams)| streams.iter().copied().zip(part.streams()))
    }

    /// The tables of all.
    pub(crate) fn report(&self, ending: &Ending<'_>) -> Vec<Table> {
        self.parts.iter().flat_map(|part| part.report(ending)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;

    /// An event belongs to one part, and to no event of the loop's own.
    #[test]
    fn codes_do_not_overlap() {
        let all = [codes::TRAIN, codes::PRIMARY_USERS, codes::UDP, codes::APPLICATIONS];
        for (number, codes) in all.iter().enumerate() {
            assert!(all[..number].iter().all(|other| codes.end <= other.start || other.end <= codes.start));
            for code in [codes.start, codes.end - 1] {
                assert_eq!(Event::from_code(code), Event::Part(code));
            }
        }
    }
}
