//! The ad hoc network: nodes that move, with their radios, MAC and routing. It takes the packets whose next
//! hop leads over the air.
//!
//! What hosts and links hand over waits for the change of that instant ([`Kind::Sending`]), so that nodes
//! send only when nothing else is under way.

use super::{AIR, BY_ROUTE, Network, Recording};
use crate::account::{AdHocAccount, AdHocEnding, AirStream, PLACES_EVERY};
use crate::agenda::Kind;
use crate::build;
use crate::impossible;
use crate::observer::{Arrival, Carried, Observer};
use crate::payload::{Payload, Transit};
use cogtcp_adhoc::{AdHocEvent, AdHocNetwork, SearchOutcome};
use cogtcp_layout::{AdHocSpec, NetworkSpec};
use cogtcp_link::Frame;
use cogtcp_mobility::Mobility;
use cogtcp_records::{EventKind, Table};
use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::{Protection, RadioStats};
use cogtcp_units::{Duration, Power, Rate, Time};
use cogtcp_wireless::{PrimaryUsers, Surroundings};
use std::collections::VecDeque;
use std::sync::Arc;

/// Hops that a packet may take: what Linux writes into its header (`ip_default_ttl`).
pub const TIME_TO_LIVE: u8 = 64;

/// An ad hoc network, by what else is in the air.
#[derive(Debug)]
pub(super) enum AdHoc<P> {
    /// Nothing.
    Alone(Nodes<P, ()>),
    /// Primary users.
    Shared(Nodes<P, PrimaryUsers>),
}

/// Does the same whatever else is in the air.
macro_rules! either {
    ($self:expr, $nodes:ident => $what:expr) => {
        match $self {
            AdHoc::Alone($nodes) => $what,
            AdHoc::Shared($nodes) => $what,
        }
    };
}

/// The nodes on their medium, and what is measured of them.
#[derive(Debug)]
pub(super) struct Nodes<P, S> {
    air: AdHocNetwork<Carried<P>, S>,
    mobility: Arc<Mobility>,
    account: AdHocAccount,
    sensitivity: Power,
    protocol: &'static str,
    /// When the pending change is due; [`Time::MAX`]: none is.
    armed: Time,
    recording: Recording,
    /// From one record of places to the next.
    every: Duration,
}

impl<P: Payload> AdHoc<P> {
    pub(super) fn new(
        spec: &AdHocSpec,
        layout: &NetworkSpec,
        spectrum: Option<&Arc<Air>>,
        seed: u64,
        until: Time,
        recording: Recording,
    ) -> Result<Self, String> {
        let mobility = build::mobility(spec, until.saturating_since(Time::ZERO), seed)?;
        let settings = (spec, layout, spectrum, seed, recording);
        Ok(match spectrum {
            None => Self::Alone(Nodes::new(settings, mobility, ())?),
            Some(air) => Self::Shared(Nodes::new(settings, mobility, build::primary_users(spec, air, seed))?),
        })
    }

    /// Nodes write into the packets that pass them.
    pub(super) fn stamp(&mut self) {
        either!(self, nodes => nodes.air.stamp(|carried, now, spent, hop| carried.packet.stamp(now, Some(spent), hop)));
    }

    pub(super) fn has_stamped(&self, node: u32, since: Time) -> bool {
        either!(self, nodes => nodes.air.has_stamped(node, since))
    }

    pub(super) fn end_warmup(&mut self, now: Time) {
        either!(self, nodes => nodes.account.end_warmup(now, &mut nodes.air));
    }

    /// Shows every packet that it holds.
    pub(super) fn visit(&self, show: &mut impl FnMut(&Frame<P>)) {
        either!(self, nodes => nodes.air.visit(|packet| show(&packet.payload.frame(packet.bytes))));
    }

    /// What the radios of the nodes did since the end of the warm-up, by name.
    pub(super) fn radios(&self, now: Time) -> Vec<(String, RadioStats, Protection)> {
        either!(self, nodes => nodes.account.radios(&nodes.air, now))
    }

    fn account(&mut self) -> &mut AdHocAccount {
        either!(self, nodes => &mut nodes.account)
    }

    fn armed(&self) -> Time {
        either!(self, nodes => nodes.armed)
    }

    fn tables(&self, spectrum: Option<&Air>, end: Time) -> Vec<Table> {
        either!(self, nodes => nodes.tables(spectrum, end))
    }
}

impl<P: Payload, S: Surroundings + std::fmt::Debug> Nodes<P, S> {
    fn new(
        (spec, layout, spectrum, seed, recording): (
            &AdHocSpec,
            &NetworkSpec,
            Option<&Arc<Air>>,
            u64,
            Recording,
        ),
        mobility: Arc<Mobility>,
        surroundings: S,
    ) -> Result<Self, String> {
        let mut config = spec.config.clone();
        config.medium.reports_frames = recording.frames;
        let mut air = AdHocNetwork::new(config, Arc::clone(&mobility), spectrum, surroundings, seed)?;
        if recording.places {
            air.record_routes();
        }
        let is_warm = !recording.has_warmup;
        Ok(Self {
            air,
            mobility,
            account: AdHocAccount::new((layout.nodes.clone(), spec.nodes), is_warm, recording.places),
            sensitivity: spec.sensitivity,
            protocol: spec.config.routing.name(),
            armed: Time::MAX,
            recording,
            // No finer than the other samples: there is a row for each node.
            every: PLACES_EVERY.max(recording.interval),
        })
    }

    fn tables(&self, spectrum: Option<&Air>, end: Time) -> Vec<Table> {
        let ending = AdHocEnding {
            mobility: &self.mobility,
            spectrum,
            sensitivity: self.sensitivity,
            protocol: self.protocol,
            end,
        };
        self.account.tables(&self.air, &ending)
    }

    /// Tells what has happened at the nodes; packets that have crossed the air, or are lost there, go to
    /// `crossed`.
    fn take_events(&mut self, observer: &mut impl Observer<P>, mut crossed: impl FnMut(Crossed<P>)) {
        // Before packets that have arrived are taken apart.
        if self.recording.frames {
            while let Some(event) = self.air.poll_air() {
                observer.air(&event);
            }
        }
        while let Some(event) = self.air.poll_event() {
            self.account.record(&self.air, &event, |carried| observer.counts_to(&carried.packet));
            match event {
                AdHocEvent::Delivered { time, packet, route } => {
                    let mut frame = packet.payload.frame(packet.bytes);
                    // Waiting at nodes counts as waiting in queues of links does.
                    frame.add_wait(route.waited);
                    crossed(Crossed::Arrived(time, frame, u64::from(route.hops)));
                }
                AdHocEvent::Dropped { time, node, packet, cause } => {
                    let frame = packet.payload.frame(packet.bytes);
                    observer.lost(time, node, &frame, cause.name());
                    crossed(Crossed::Lost(frame));
                }
                AdHocEvent::SearchStarted { time, node, destination } => {
                    observer.node_event(time, EventKind::SearchStart, [node, destination], f64::NAN);
                }
                AdHocEvent::SearchEnded { time, node, destination, outcome } => {
                    let (kind, value) = match outcome {
                        SearchOutcome::Found { hops, .. } => (EventKind::RouteFound, f64::from(hops)),
                        SearchOutcome::Failed => (EventKind::SearchFailed, f64::NAN),
                    };
                    observer.node_event(time, kind, [node, destination], value);
                }
                AdHocEvent::RouteChanged { time, node, destination, .. } => {
                    observer.node_event(time, EventKind::RouteChanged, [node, destination], f64::NAN);
                }
                AdHocEvent::RouteLost { time, node, destination, .. } => {
                    observer.node_event(time, EventKind::RouteLost, [node, destination], f64::NAN);
                }
                AdHocEvent::Radio { time, node, event } => {
                    observer.node_radio(time, node, event);
                    crossed(Crossed::Radio(time, node, event));
                }
                AdHocEvent::Forwarded { .. } | AdHocEvent::Served { .. } | AdHocEvent::Tuned { .. } => {}
            }
        }
    }
}

/// Events of the air.
#[derive(Debug)]
enum Crossed<P> {
    Arrived(Time, Frame<P>, u64),
    Lost(Frame<P>),
    Radio(Time, u32, cogtcp_crosslayer::LinkEvent),
}

impl<P: Payload> Network<P> {
    /// What the tables of an ad hoc network call the streams of these numbers ([`Observer::counts_to`]). To
    /// be called before the network begins.
    pub fn name_streams(&mut self, streams: &[(u32, AirStream)]) {
        if let Some(air) = &mut self.air {
            air.account().name_streams(streams);
        }
    }

    /// The tables of an ad hoc network, if there is one.
    pub fn air_tables(&self, end: Time) -> Vec<Table> {
        self.air.as_ref().map_or_else(Vec::new, |air| air.tables(self.spectrum.as_deref(), end))
    }

    /// Whether the pending change of the air is due at `now`.
    #[inline]
    pub(super) fn is_armed(&self, now: Time) -> bool {
        self.air.as_ref().is_some_and(|air| air.armed() == now)
    }

    /// The first changes of an ad hoc network, if there is one.
    pub fn begin_air(&mut self, observer: &mut impl Observer<P>) {
        let Some(air) = &self.air else { return };
        if either!(&**air, nodes => nodes.recording.places) {
            self.record_positions(Time::ZERO);
        }
        self.take_from_air(Time::ZERO, observer);
    }

    /// A packet is to go over the air: its nodes take it at this instant.
    #[inline(never)]
    pub(super) fn enter_air(&mut self, now: Time, frame: Frame<P>) {
        // One entry is enough for all packets of an instant.
        if self.outgoing.is_empty() {
            self.agenda.push(now, Kind::Sending);
        }
        self.outgoing.push_back(frame);
    }

    /// Something is due in the air.
    pub(super) fn advance_air(&mut self, now: Time, observer: &mut impl Observer<P>) {
        let Some(air) = &mut self.air else { return impossible("no ad hoc network") };
        // An entry that an earlier one has overtaken is stale.
        if air.armed() != now {
            return;
        }
        either!(&mut **air, nodes => {
            nodes.armed = Time::MAX;
            nodes.air.advance(now);
        });
        self.take_from_air(now, observer);
    }

    /// Nodes take what hosts and links have handed over.
    pub(super) fn send_on_air(&mut self, now: Time, observer: &mut impl Observer<P>) {
        while let Some(mut frame) = self.outgoing.pop_front() {
            let mut transit = frame.packet.transit();
            let hop = self.routes[transit.next as usize] - AIR;
            let (source, destination) = self.air_hops[hop as usize];
            transit.enter();
            frame.packet.set_transit(transit);
            let packet = cogtcp_adhoc::HostPacket {
                source,
                destination,
                bytes: frame.size(),
                time_to_live: TIME_TO_LIVE,
                payload: Carried { packet: frame.packet, waited: frame.waited() },
            };
            let Some(air) = &mut self.air else { return impossible("no ad hoc network") };
            either!(&mut **air, nodes => nodes.air.offer(now, packet));
        }
        self.take_from_air(now, observer);
    }

    pub(super) fn record_positions(&mut self, now: Time) {
        let Some(air) = &mut self.air else { return impossible("no ad hoc network") };
        let next = either!(&mut **air, nodes => {
            nodes.account.record_positions(now, &nodes.air);
            now + nodes.every
        });
        self.agenda.push(next, Kind::Positions);
    }

    /// Takes in what has happened in the air, and makes sure that a change is due no later than it has
    /// something to do.
    fn take_from_air(&mut self, now: Time, observer: &mut impl Observer<P>) {
        // Taken out, so that its events may change the rest of the network.
        let Some(mut air) = self.air.take() else { return impossible("no ad hoc network") };
        let mut left = VecDeque::new();
        either!(&mut *air, nodes => {
            nodes.take_events(observer, |crossed| match crossed {
                Crossed::Arrived(at, frame, hops) => {
                    self.hops += hops;
                    left.push_back((at, frame));
                }
                Crossed::Lost(frame) => {
                    let Transit { stream, next } = frame.packet.transit();
                    self.dropped[stream.index()] += 1;
                    // The hop over the air is behind it.
                    let carried = self.route_starts[stream.index()] as usize..next as usize - 1;
                    self.budget.lost(&self.routes[carried], &frame);
                }
                Crossed::Radio(at, node, event) => {
                    // There is no link whose number or rate the node could state.
                    self.boards.publish(node as usize, at, 0, event, Rate::ZERO);
                    self.has_news |= self.boards.has_news();
                }
            });
            let due = nodes.air.next_change();
            if due < nodes.armed {
                nodes.armed = due;
                self.agenda.push(due, Kind::Air);
            }
        });
        self.air = Some(air);
        // Packets that have crossed the air go on by a gateway's link, or have reached their host.
        for (at, frame) in left {
            let mut arrival = Arrival { at, direction: None, frame };
            if self.forward(BY_ROUTE, &mut arrival, observer) {
                self.has_news = true;
                self.arrived.push_back(arrival);
            }
        }
        debug_assert!(now < Time::MAX);
    }
}
