//! An ad hoc network: drives `cogtcp_adhoc`, which finds the ways of packets, and brings what arrives to the hosts.
//!
//! Packets whose way has no links wait in the network until this part's event of that instant; what arrives goes back to the event
//! loop by [`Network::bring`](crate::network::Network::bring).

use crate::frames::Frames;
use crate::network::Network;
use crate::options::{RunError, TraceLevel};
use crate::packet::{Packet, TIME_TO_LIVE};
use crate::parts::{Ending, Part, Plan, Tally, World, codes};
use crate::queue::Event;
use cogtcp_adhoc::{AdHocNetwork, Event as AirEvent, SearchOutcome};
use cogtcp_link::Frame;
use cogtcp_mobility::Mobility;
use cogtcp_records::adhoc::{AdHocAccount, AdHocEnding, PLACES_EVERY, StreamName};
use cogtcp_records::{EventKind, Table};
use cogtcp_scenario::{AdHocSpec, Experiment, Traffic};
use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::{Protection, RadioStats};
use cogtcp_units::{Duration, Power, Rate, Time};
use cogtcp_wireless::Surroundings;
use std::ops::Range;
use std::sync::Arc;

/// The codes of its events, by their place.
const DUE: u32 = 0;
const SENDING: u32 = 1;
const PLACES: u32 = 2;

/// What is the same whatever is in the air.
#[derive(Debug)]
pub(crate) struct AdHoc;

impl AdHoc {
    /// The event at which hosts' packets are taken from the network.
    pub(crate) fn sending() -> Event {
        Event::Part(codes::AD_HOC.start + SENDING)
    }

    /// The ad hoc network of an experiment that is one.
    pub(crate) fn build(plan: &mut Plan<'_, '_>) -> Result<Option<Box<dyn Part>>, RunError> {
        let Some(spec) = &plan.experiment.adhoc else { return Ok(None) };
        let part: Box<dyn Part> = match plan.air {
            None => Box::new(Nodes::new(plan, spec, ())?),
            Some(air) => Box::new(Nodes::new(plan, spec, spec.primary_users(air, plan.seed))?),
        };
        Ok(Some(part))
    }
}

/// The air of an ad hoc network with a spectrum.
pub(crate) fn air(experiment: &Experiment, seed: u64) -> Result<Option<Arc<Air>>, RunError> {
    experiment.air(experiment.run.duration, seed).map_err(|error| RunError::AdHoc(error.to_string()))
}

/// The nodes on their medium.
#[derive(Debug)]
struct Nodes<S> {
    air: AdHocNetwork<Packet, S>,
    mobility: Arc<Mobility>,
    spectrum: Option<Arc<Air>>,
    names: Vec<String>,
    account: AdHocAccount,
    /// When the pending event is due; [`Time::MAX`]: none is.
    armed: Time,
    records: bool,
    recording: Duration,
    /// What goes over the air, where packets are recorded.
    frames: Option<Box<Frames>>,
}

impl<S: Surroundings + std::fmt::Debug> Nodes<S> {
    fn new(plan: &Plan<'_, '_>, spec: &AdHocSpec, surroundings: S) -> Result<Self, RunError> {
        let Plan { experiment, seed, trace, network, .. } = plan;
        let mobility = spec.mobility(experiment.run.duration, *seed).map_err(RunError::AdHoc)?;
        let mut config = spec.config.clone();
        config.medium.reports_frames = network.trace.records_packets();
        let air = AdHocNetwork::new(config, Arc::clone(&mobility), plan.air, surroundings, *seed);
        let mut air = air.map_err(RunError::AdHoc)?;
        let records = *trace >= TraceLevel::Series;
        if records {
            air.record_ways();
        }
        let flows = experiment.flows.iter().map(|flow| flow.name.as_str());
        let frames = || Box::new(Frames::new(&experiment.nodes, flows));
        Ok(Self {
            frames: network.trace.records_packets().then(frames),
            account: AdHocAccount::new(
                experiment.nodes.clone(),
                streams(experiment, network),
                experiment.run.warmup.is_zero(),
                records,
            ),
            air,
            mobility,
            spectrum: plan.air.cloned(),
            names: experiment.nodes.clone(),
            armed: Time::MAX,
            records,
            recording: PLACES_EVERY.max(experiment.run.sample_interval),
        })
    }

    /// Makes sure that an event is due no later than the air has something to do.
    fn arm(&mut self, network: &mut Network) {
        let due = self.air.next_change();
        if due < self.armed {
            self.armed = due;
            network.queue.push(due, Event::Part(codes::AD_HOC.start + DUE));
        }
    }

    /// Takes in what happened in the air.
    fn take_events(&mut self, network: &mut Network) {
        // Before packets that have arrived are taken apart.
        if let Some(frames) = &mut self.frames {
            while let Some(note) = self.air.poll_air() {
                frames.note(&note, network);
            }
        }
        while let Some(event) = self.air.poll_event() {
            self.account.note(&self.air, &event, |packet| packet.stream);
            match event {
                AirEvent::Delivered { packet, trip, .. } => {
                    let mut frame = Frame::new(packet.payload, packet.bytes);
                    frame.add_wait(trip.waited);
                    network.bring(frame, u64::from(trip.hops));
                }
                AirEvent::Dropped { time, node, packet, cause } => {
                    let frame = Frame::new(packet.payload, packet.bytes);
                    network.lose(time, &frame, &self.names[node as usize], cause.name());
                }
                AirEvent::SearchStarted { time, node, destination } => {
                    self.note(network, time, EventKind::SearchStart, (node, destination), f64::NAN);
                }
                AirEvent::SearchEnded { time, node, destination, outcome } => {
                    let (kind, value) = match outcome {
                        SearchOutcome::Found { hops, .. } => (EventKind::RouteFound, f64::from(hops)),
                        SearchOutcome::Failed => (EventKind::SearchFailed, f64::NAN),
                    };
                    self.note(network, time, kind, (node, destination), value);
                }
                AirEvent::RouteChanged { time, node, destination, .. } => {
                    self.note(network, time, EventKind::RouteChanged, (node, destination), f64::NAN);
                }
                AirEvent::RouteLost { time, node, destination, .. } => {
                    self.note(network, time, EventKind::RouteLost, (node, destination), f64::NAN);
                }
                AirEvent::Radio { time, node, event } => {
                    network.trace.named_radio_event(time, &self.names[node as usize], event);
                    network.boards.publish(node as usize, time, 0, event, Rate::ZERO);
                    network.note_news();
                }
                AirEvent::Forwarded { .. } | AirEvent::Served { .. } | AirEvent::Tuned { .. } => {}
            }
        }
    }

    fn note(&self, network: &mut Network, time: Time, kind: EventKind, ends: (u32, u32), value: f64) {
        if network.trace.records_events() {
            let [node, to] = [ends.0, ends.1].map(|node| &self.names[node as usize]);
            network.trace.node_note(time, kind, node, to, value);
        }
    }

    /// Gives the air what hosts have sent.
    fn send(&mut self, now: Time, network: &mut Network) {
        while let Some(frame) = network.take_on_air() {
            debug_assert!(frame.waited().is_zero(), "it has been on no link");
            let (source, destination) = network.addresses(frame.packet.stream);
            self.air.offer(
                now,
                cogtcp_adhoc::Packet {
                    source,
                    destination,
                    bytes: frame.size(),
                    time_to_live: TIME_TO_LIVE,
                    payload: frame.packet,
                },
            );
        }
    }

    fn record_places(&mut self, now: Time, network: &mut Network) {
        self.account.record_places(now, &self.air);
        network.queue.push(now + self.recording, Event::Part(codes::AD_HOC.start + PLACES));
    }
}

impl<S: Surroundings + std::fmt::Debug> Part for Nodes<S> {
    fn events(&self) -> Range<u32> {
        codes::AD_HOC
    }

    fn begin(&mut self, world: &mut World<'_>) {
        if self.records {
            self.record_places(Time::ZERO, world.network);
        }
        self.take_events(world.network);
        self.arm(world.network);
    }

    fn handle_event(&mut self, now: Time, index: u32, world: &mut World<'_>) -> Tally {
        match index {
            DUE if self.armed != now => return Tally::Stale,
            DUE => {
                self.armed = Time::MAX;
                self.air.advance(now);
            }
            SENDING => self.send(now, world.network),
            _ => {
                self.record_places(now, world.network);
                return Tally::Observation;
            }
        }
        self.take_events(world.network);
        self.arm(world.network);
        Tally::Event
    }

    fn end_warmup(&mut self, now: Time, _: &Network) {
        self.account.end_warmup(now, &mut self.air);
    }

    fn visit(&self, show: &mut dyn FnMut(&Frame<Packet>)) {
        self.air.visit(|packet| show(&Frame::new(packet.payload, packet.bytes)));
    }

    fn radios(&self, now: Time) -> Vec<(String, RadioStats, Protection)> {
        self.account.radios(&self.air, now)
    }

    fn report(&self, ending: &Ending<'_>) -> Vec<Table> {
        let spec = ending.experiment.adhoc.as_deref();
        let mut tables = self.account.tables(
            &self.air,
            &AdHocEnding {
                mobility: &self.mobility,
                spectrum: self.spectrum.as_deref(),
                sensitivity: spec.map_or(Power::default(), |spec| spec.sensitivity),
                protocol: spec.map_or("", |spec| spec.config.routing.name()),
                end: ending.end,
            },
        );
        tables.extend(self.frames.as_deref().map(Frames::table));
        tables
    }
}

/// The streams in their order: data and acknowledgements of the flows, UDP sources, requests.
fn streams(experiment: &Experiment, network: &Network) -> Vec<StreamName> {
    let flows = experiment.flows.iter();
    let mut named: Vec<(&str, &'static str)> = flows
        .flat_map(|flow| [(flow.name.as_str(), "data"), (flow.name.as_str(), "acknowledgements")])
        .collect();
    named.extend(experiment.udp.iter().map(|source| (source.name.as_str(), "datagrams")));
    let asks = |traffic: &Traffic| matches!(traffic, Traffic::Requests(_) | Traffic::Video(_));
    let asking = experiment.flows.iter().filter(|flow| asks(&flow.traffic));
    named.extend(asking.map(|flow| (flow.name.as_str(), "requests")));
    debug_assert_eq!(named.len() as u32, network.streams());
    let streams = named.into_iter().zip(0..);
    streams
        .map(|((flow, kind), number)| StreamName {
            flow: flow.to_owned(),
            kind,
            ends: network.addresses(number),
        })
        .collect()
}
