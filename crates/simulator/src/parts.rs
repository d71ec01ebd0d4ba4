//! The parts of a simulation that few runs have: a train, ICMP, UDP sources. Each has events, packets and results of its own,
//! and the event loop knows none of them by name.
//!
//! Adding a part: a file with what implements [`Part`], its line in [`PARTS`], and where it has events, its codes in
//! [`codes`].

use crate::TraceLevel;
use crate::adhoc::AdHoc;
use crate::applications::Applications;
use crate::flow::Flow;
use crate::gated_links::GatedLinks;
use crate::network::{Network, StreamCounters};
use crate::options::{ControlFactory, RunError};
use crate::packet::Packet;
use crate::primary_users::PrimaryUsers;
use crate::routes::Router;
use crate::train::Train;
use crate::udp::UdpSources;
use crate::unreachable::Unreachable;
use cogtcp_link::Frame;
use cogtcp_records::Table;
use cogtcp_scenario::Experiment;
use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::{Protection, RadioStats};
use cogtcp_units::Time;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// Builds a part for an experiment that has it.
type Build = fn(&mut Plan<'_, '_>) -> Result<Option<Box<dyn Part>>, RunError>;

/// Every part. What happens at one instant in the beginning happens in this order, and so do the streams of packets.
const PARTS: &[Build] = &[
    Train::build,
    Unreachable::build,
    UdpSources::build,
    Applications::build,
    PrimaryUsers::build,
    AdHoc::build,
];

/// The codes of the parts' events in the queue: four bits of kind, twenty of index. They are hashed into a run's digest.
pub(crate) mod codes {
    use crate::queue::Event;
    use std::ops::Range;

    /// The timer of a train's router, and its radio's measurements.
    pub(crate) const TRAIN: Range<u32> = Event::codes(6, 1..3);
    /// Primary users, by number.
    pub(crate) const PRIMARY_USERS: Range<u32> = Event::codes(9, 0..Event::MAX_INDEX);
    /// UDP sources, by number.
    pub(crate) const UDP: Range<u32> = Event::codes(11, 0..Event::MAX_INDEX);
    /// Applications that ask, by flow: twice its number, plus 1 where a response has come.
    pub(crate) const APPLICATIONS: Range<u32> = Event::codes(12, 0..Event::MAX_INDEX);
    /// An ad hoc network: something is due, hosts have sent, places are recorded.
    pub(crate) const AD_HOC: Range<u32> = Event::codes(13, 0..3);
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

    /// A packet on one of its streams has reached its host.
    fn receive(&mut self, _now: Time, _frame: &Frame<Packet>, _world: &mut World<'_>) {}

    /// Silence destroyed packets on links that are watched ([`Network::take_destroyed`]).
    fn handle_losses(&mut self, _now: Time, _world: &mut World<'_>) {}

    /// Something happened to a radio: something may stand on the boards.
    fn read_boards(&mut self, _now: Time, _world: &mut World<'_>) {}

    /// Metrics count from `now`.
    fn end_warmup(&mut self, _now: Time, _network: &Network) {}

    /// What the hosts counted of its packets, by stream.
    fn streams(&self) -> Vec<StreamCounters> {
        Vec::new()
    }

    /// Shows the packets that it holds.
    fn visit(&self, _show: &mut dyn FnMut(&Frame<Packet>)) {}

    /// Its radios, since the end of the warm-up, by name.
    fn radios(&self, _now: Time) -> Vec<(String, RadioStats, Protection)> {
        Vec::new()
    }

    /// Its tables.
    fn report(&self, _ending: &Ending<'_>) -> Vec<Table> {
        Vec::new()
    }
}

/// What an event of a part is to the run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Tally {
    /// An event like others: counted and hashed.
    Event,
    /// A timer that had moved on meanwhile: counted alone, as how many there are is a matter of how timers are kept.
    Stale,
    /// Somebody looked: neither.
    Observation,
}

/// What a part is built from.
pub(crate) struct Plan<'a, 'e> {
    pub(crate) experiment: &'e Experiment,
    pub(crate) seed: u64,
    pub(crate) trace: TraceLevel,
    pub(crate) network: &'a mut Network,
    pub(crate) flows: &'a mut [Flow],
    pub(crate) radios: &'a mut [GatedLinks],
    pub(crate) router: Router<'e>,
    /// What makes congestion controls in place of the registry.
    pub(crate) controls: Option<Arc<dyn ControlFactory>>,
    /// Where there are CR users in full.
    pub(crate) air: Option<&'a Arc<Air>>,
}

/// What a part can act on.
#[derive(Debug)]
pub(crate) struct World<'a> {
    pub(crate) network: &'a mut Network,
    pub(crate) flows: &'a mut [Flow],
}

/// What a part reports from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) end: Time,
    pub(crate) network: &'a Network,
    pub(crate) flows: &'a [Flow],
}

/// The parts that a run has.
#[derive(Debug)]
pub(crate) struct Parts {
    parts: Vec<Box<dyn Part>>,
    /// The codes of each one's events.
    events: Vec<Range<u32>>,
    /// The streams of each.
    streams: Vec<Range<u32>>,
}

impl Parts {
    /// The parts that `plan` asks for.
    pub(crate) fn new(mut plan: Plan<'_, '_>) -> Result<Self, RunError> {
        let mut made = Self { parts: Vec::new(), events: Vec::new(), streams: Vec::new() };
        for build in PARTS {
            let first = plan.network.streams();
            if let Some(part) = build(&mut plan)? {
                made.events.push(part.events());
                made.streams.push(first..plan.network.streams());
                made.parts.push(part);
            }
        }
        Ok(made)
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

    /// A packet that is no TCP segment has reached its host.
    #[cold]
    pub(crate) fn receive(&mut self, now: Time, frame: &Frame<Packet>, world: &mut World<'_>) {
        let stream = frame.packet.stream;
        if let Some(owner) = self.streams.iter().position(|streams| streams.contains(&stream)) {
            self.parts[owner].receive(now, frame, world);
        }
    }

    /// Silence destroyed packets on links that are watched.
    #[cold]
    pub(crate) fn handle_losses(&mut self, now: Time, world: &mut World<'_>) {
        self.parts.iter_mut().for_each(|part| part.handle_losses(now, world));
    }

    /// Something happened to a radio.
    pub(crate) fn read_boards(&mut self, now: Time, world: &mut World<'_>) {
        self.parts.iter_mut().for_each(|part| part.read_boards(now, world));
    }

    /// Metrics count from `now`.
    pub(crate) fn end_warmup(&mut self, now: Time, network: &Network) {
        self.parts.iter_mut().for_each(|part| part.end_warmup(now, network));
    }

    /// What the hosts counted of the parts' packets, in the order of their streams.
    pub(crate) fn streams(&self) -> impl Iterator<Item = StreamCounters> {
        self.parts.iter().flat_map(|part| part.streams())
    }

    /// Shows the packets that the parts hold.
    pub(crate) fn visit(&self, show: &mut dyn FnMut(&Frame<Packet>)) {
        self.parts.iter().for_each(|part| part.visit(show));
    }

    /// The radios of the parts.
    pub(crate) fn radios(&self, now: Time) -> Vec<(String, RadioStats, Protection)> {
        self.parts.iter().flat_map(|part| part.radios(now)).collect()
    }

    /// The tables of all.
    pub(crate) fn report(&self, ending: &Ending<'_>) -> Vec<Table> {
        self.parts.iter().flat_map(|part| part.report(ending)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Event;

    /// An event belongs to one part, and to no event of the loop's own.
    #[test]
    fn codes_do_not_overlap() {
        let all = [codes::TRAIN, codes::PRIMARY_USERS, codes::UDP, codes::APPLICATIONS, codes::AD_HOC];
        for (number, codes) in all.iter().enumerate() {
            assert!(all[..number].iter().all(|other| codes.end <= other.start || other.end <= codes.start));
            for code in [codes.start, codes.end - 1] {
                assert_eq!(Event::from_code(code), Event::Part(code));
            }
        }
    }
}
