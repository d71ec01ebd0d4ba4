//! An ad hoc network between the hosts: nodes that move, their radios, MAC and routing, which the simulator drives too. The kernels of
//! those nodes at which flows end are hosts; all others are here alone.

use super::{Network, Observer};
use crate::error::EmulationError;
use crate::packet::Packet;
use crate::ways::Step;
use cogtcp_adhoc::{AdHocNetwork, Event, SearchOutcome};
use cogtcp_link::Frame;
use cogtcp_mobility::Mobility;
use cogtcp_records::adhoc::{AdHocAccount, AdHocEnding, PLACES_EVERY, StreamName};
use cogtcp_records::{EventKind, Table};
use cogtcp_scenario::{AdHocSpec, Experiment};
use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::{Protection, RadioStats};
use cogtcp_units::{Duration, Power, Time};
use cogtcp_wireless::{Fate, PrimaryUsers, Reception, Surroundings};
use std::sync::Arc;

/// Hops that a packet may take: what Linux writes into its header (`ip_default_ttl`), and the simulator.
const TIME_TO_LIVE: u8 = 64;

/// What else is in the air.
#[derive(Debug)]
enum Around {
    Nothing,
    Users(PrimaryUsers),
}

impl Surroundings for Around {
    fn fate(&mut self, reception: &Reception) -> Fate {
        match self {
            Self::Nothing => ().fate(reception),
            Self::Users(users) => users.fate(reception),
        }
    }

    fn garbles_rts(&self) -> bool {
        match self {
            Self::Nothing => ().garbles_rts(),
            Self::Users(users) => users.garbles_rts(),
        }
    }
}

/// The nodes, and what is measured of them.
#[derive(Debug)]
pub(super) struct AdHoc {
    nodes: AdHocNetwork<Packet, Around>,
    mobility: Arc<Mobility>,
    account: AdHocAccount,
    sensitivity: Power,
    protocol: &'static str,
    /// How many flows there are; the numbers of UDP sources follow theirs.
    flows: u32,
    /// When places are recorded next, and how often.
    recorded: Time,
    recording: Duration,
}

impl AdHoc {
    pub(super) fn new(
        spec: &AdHocSpec,
        experiment: &Experiment,
        air: Option<&Arc<Air>>,
        seed: u64,
        end: Time,
    ) -> Result<Self, EmulationError> {
        let wrong = |why: String| EmulationError::AdHoc(why);
        let mobility = spec.mobility(end.saturating_since(Time::ZERO), seed).map_err(wrong)?;
        let around = air.map_or(Around::Nothing, |air| Around::Users(spec.primary_users(air, seed)));
        let nodes = AdHocNetwork::new(spec.config.clone(), Arc::clone(&mobility), air, around, seed);
        let mut nodes = nodes.map_err(wrong)?;
        nodes.record_ways();
        let streams = streams(experiment);
        Ok(Self {
            nodes,
            mobility,
            account: AdHocAccount::new(experiment.nodes.clone(), streams, false, true),
            sensitivity: spec.sensitivity,
            protocol: spec.config.routing.name(),
            flows: experiment.flows.len() as u32,
            recorded: Time::ZERO,
            recording: PLACES_EVERY.max(experiment.run.sample_interval),
        })
    }

    pub(super) fn due(&self) -> Time {
        self.nodes.next_change().min(self.recorded)
    }

    pub(super) fn end_warmup(&mut self, now: Time) {
        self.account.end_warmup(now, &mut self.nodes);
    }

    fn holds(&self) -> u64 {
        let mut held = 0;
        self.nodes.visit(|_| held += 1);
        held
    }
}

impl Network {
    /// A host sends a packet over the air.
    pub(super) fn send_on_air(
        &mut self,
        [source, destination]: [u32; 2],
        frame: &Frame<Packet>,
        observer: &mut impl Observer,
    ) {
        let Some(ad_hoc) = &mut self.ad_hoc else { return };
        let (bytes, payload) = (frame.size(), frame.packet);
        let time_to_live = TIME_TO_LIVE;
        let packet = cogtcp_adhoc::Packet { source, destination, bytes, time_to_live, payload };
        ad_hoc.nodes.offer(self.played, packet);
        self.on_air += 1;
        self.take_from_air(observer);
    }

    /// Something is due in the ad hoc network.
    pub(super) fn step_air(&mut self, at: Time, observer: &mut impl Observer) {
        let Some(ad_hoc) = &mut self.ad_hoc else { return };
        if ad_hoc.recorded <= at {
            ad_hoc.account.record_places(at, &ad_hoc.nodes);
            ad_hoc.recorded = at + ad_hoc.recording;
        }
        ad_hoc.nodes.advance(at);
        self.take_from_air(observer);
    }

    /// Takes in what has happened in the air.
    fn take_from_air(&mut self, observer: &mut impl Observer) {
        let Some(ad_hoc) = &mut self.ad_hoc else { return };
        let flows = ad_hoc.flows;
        while let Some(event) = ad_hoc.nodes.poll_event() {
            ad_hoc.account.note(&ad_hoc.nodes, &event, |packet| stream(packet, flows));
            match event {
                Event::Delivered { time, packet, trip } => {
                    self.on_air -= 1;
                    let mut frame = Frame::new(packet.payload, packet.bytes);
                    frame.add_wait(trip.waited);
                    if let Step::Host(host) = self.ways.step(frame.packet.place) {
                        observer.arrived(time, host, None, &frame);
                    }
                }
                Event::Dropped { time, node, packet, cause } => {
                    self.on_air -= 1;
                    let frame = Frame::new(packet.payload, packet.bytes);
                    observer.lost(time, node, &frame, cause.name());
                }
                Event::SearchStarted { time, node, destination } => {
                    observer.noted(time, EventKind::SearchStart, [node, destination], f64::NAN);
                }
                Event::SearchEnded { time, node, destination, outcome } => {
                    let (kind, value) = match outcome {
                        SearchOutcome::Found { hops, .. } => (EventKind::RouteFound, f64::from(hops)),
                        SearchOutcome::Failed => (EventKind::SearchFailed, f64::NAN),
                    };
                    observer.noted(time, kind, [node, destination], value);
                }
                Event::RouteChanged { time, node, destination, .. } => {
                    observer.noted(time, EventKind::RouteChanged, [node, destination], f64::NAN);
                }
                Event::RouteLost { time, node, destination, .. } => {
                    observer.noted(time, EventKind::RouteLost, [node, destination], f64::NAN);
                }
                Event::Radio { time, node, event } => observer.node_radio(time, node, event),
                Event::Forwarded { .. } | Event::Served { .. } | Event::Tuned { .. } => {}
            }
        }
    }

    /// What the radios of the nodes of an ad hoc network did since the end of the warm-up, by name.
    pub fn node_radios(&self, now: Time) -> Vec<(String, RadioStats, Protection)> {
        self.ad_hoc.as_ref().map_or_else(Vec::new, |ad_hoc| ad_hoc.account.radios(&ad_hoc.nodes, now))
    }

    /// The tables of an ad hoc network, if there is one.
    pub fn ad_hoc_tables(&self, end: Time) -> Vec<Table> {
        let Some(ad_hoc) = &self.ad_hoc else { return Vec::new() };
        let ending = AdHocEnding {
            mobility: &ad_hoc.mobility,
            spectrum: self.air.as_deref(),
            sensitivity: ad_hoc.sensitivity,
            protocol: ad_hoc.protocol,
            end,
        };
        ad_hoc.account.tables(&ad_hoc.nodes, &ending)
    }

    /// Every packet that the air has taken and not given back is in it.
    pub(super) fn check_air(&self) -> Result<(), String> {
        let held = self.ad_hoc.as_ref().map_or(0, |ad_hoc| ad_hoc.holds());
        if held == self.on_air {
            return Ok(());
        }
        Err(format!("the air holds {held} packets, and {} have not come out of it", self.on_air))
    }
}

/// The streams: data and acknowledgements of the flows, UDP sources. Requests are data that go the other way here.
fn streams(experiment: &Experiment) -> Vec<StreamName> {
    let flows = experiment.flows.iter().flat_map(|flow| {
        let name = |kind, from: usize, to: usize| StreamName {
            flow: flow.name.clone(),
            kind,
            ends: (from as u32, to as u32),
        };
        [name("data", flow.from, flow.to), name("acknowledgements", flow.to, flow.from)]
    });
    let sources = experiment.udp.iter().map(|source| StreamName {
        flow: source.name.clone(),
        kind: "datagrams",
        ends: (source.from as u32, source.to as u32),
    });
    flows.chain(sources).collect()
}

/// The stream of a packet, of `flows` flows; beyond all for one of a program.
fn stream(packet: &Packet, flows: u32) -> u32 {
    match packet.flow.checked_sub(flows) {
        None => 2 * packet.flow + u32::from(!packet.is_forward),
        Some(source) => (2 * flows).saturating_add(source),
    }
}
