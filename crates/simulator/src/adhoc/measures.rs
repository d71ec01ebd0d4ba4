//! What is measured of an ad hoc network while it runs.

use crate::network::Network;
use cogtcp_adhoc::{AdHocNetwork, DropCause, NodeCounters, SearchOutcome, Trip};
use cogtcp_crosslayer::ChannelId;
use cogtcp_records::Histogram;
use cogtcp_records::extensions::{PlaceRow, PlacesBuilder, RouteRow, RoutesBuilder};
use cogtcp_routing::RoutingStats;
use cogtcp_scenario::{Experiment, Traffic};
use cogtcp_units::{Duration, Position, Time};
use cogtcp_wireless::{Counters, Surroundings};
use std::collections::BTreeMap;

/// The streams of packets, and what is measured of each.
#[derive(Debug)]
pub(super) struct Measures {
    pub(super) streams: Vec<Stream>,
    names: Vec<String>,
    /// Searches that are under way, by seeker and sought.
    open: BTreeMap<(u32, u32), Time>,
    pub(super) searches: Vec<Search>,
    /// Searches begun, by seeker and sought, since the end of the warm-up.
    pub(super) begun: BTreeMap<(u32, u32), u64>,
    /// Place of the first search that ended after the warm-up.
    pub(super) warm_searches: usize,
    pub(super) discovery: Histogram,
    pub(super) service: Histogram,
    pub(super) node_service: Vec<(Duration, u64)>,
    pub(super) route_changes: u64,
    pub(super) route_losses: u64,
    pub(super) places: PlacesBuilder,
    pub(super) routes: RoutesBuilder,
    records: bool,
    warm: bool,
    /// By node, at the end of the warm-up: what it counted, its MACs, its routing.
    pub(super) baselines: Vec<(NodeCounters, Counters, RoutingStats)>,
}

/// The packets that one host sends to another for one purpose.
#[derive(Debug)]
pub(super) struct Stream {
    /// Its flow or source.
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) ends: (u32, u32),
    pub(super) delivered: u64,
    pub(super) hops: u64,
    pub(super) hops_min: u8,
    pub(super) hops_max: u8,
    /// The way of the last packet.
    path: Option<u64>,
    pub(super) path_changes: u64,
    pub(super) drops: [u64; DropCause::ALL.len()],
}

/// A search for a route that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    pub(super) ends: (u32, u32),
    pub(super) start: Time,
    pub(super) outcome: SearchOutcome,
}

impl Measures {
    pub(super) fn new(experiment: &Experiment, network: &Network, records: bool) -> Self {
        let streams = streams(experiment, network);
        let nodes = experiment.nodes.len();
        Self {
            streams,
            names: experiment.nodes.clone(),
            open: BTreeMap::new(),
            searches: Vec::new(),
            begun: BTreeMap::new(),
            warm_searches: 0,
            discovery: Histogram::new(),
            service: Histogram::new(),
            node_service: vec![(Duration::ZERO, 0); nodes],
            route_changes: 0,
            route_losses: 0,
            places: PlacesBuilder::default(),
            routes: RoutesBuilder::default(),
            records,
            warm: experiment.run.warmup.is_zero(),
            baselines: vec![Default::default(); nodes],
        }
    }

    pub(super) fn delivered<T: Clone, S: Surroundings>(
        &mut self,
        air: &AdHocNetwork<T, S>,
        now: Time,
        stream: u32,
        trip: &Trip,
    ) {
        let Some(stream) = self.streams.get_mut(stream as usize) else { return };
        stream.delivered += 1;
        stream.hops += u64::from(trip.hops);
        stream.hops_min = stream.hops_min.min(trip.hops);
        stream.hops_max = stream.hops_max.max(trip.hops);
        let before = stream.path.replace(trip.path);
        if before == Some(trip.path) {
            return;
        }
        stream.path_changes += u64::from(before.is_some());
        if self.records {
            let names: Vec<&str> =
                air.way(trip.path).into_iter().map(|node| &*self.names[node as usize]).collect();
            let row = RouteRow {
                time_s: now.as_secs_f64(),
                flow: self.routes.flow.intern(&stream.name),
                stream: self.routes.stream.intern(stream.kind),
                route: self.routes.route.intern(&names.join(" ")),
                hops: u64::from(trip.hops),
            };
            self.routes.push(row);
        }
    }

    pub(super) fn dropped(&mut self, stream: u32, cause: DropCause) {
        if let Some(stream) = self.streams.get_mut(stream as usize) {
            stream.drops[cause as usize] += 1;
        }
    }

    pub(super) fn served(&mut self, node: u32, service: Duration) {
        if self.warm {
            self.service.record(service);
            let (sum, count) = &mut self.node_service[node as usize];
            (*sum, *count) = (*sum + service, *count + 1);
        }
    }

    pub(super) fn search_started(&mut self, now: Time, ends: (u32, u32)) {
        self.open.insert(ends, now);
        *self.begun.entry(ends).or_default() += 1;
    }

    pub(super) fn search_ended(&mut self, now: Time, ends: (u32, u32), outcome: SearchOutcome) {
        let start = self.open.remove(&ends);
        let start = start.unwrap_or(match outcome {
            SearchOutcome::Found { took, .. } => Time::from_nanos((now - took).as_nanos()),
            SearchOutcome::Failed => now,
        });
        if let (true, SearchOutcome::Found { took, .. }) = (self.warm, outcome) {
            self.discovery.record(took);
        }
        self.searches.push(Search { ends, start, outcome });
    }

    pub(super) fn place(&mut self, now: Time, node: &str, at: Position, channel: ChannelId, silent: bool) {
        let row = PlaceRow {
            time_s: now.as_secs_f64(),
            node: self.places.node.intern(node),
            x_m: at.x,
            y_m: at.y,
            channel: u64::from(channel.0),
            silent,
        };
        self.places.push(row);
    }

    /// Metrics count from now on.
    pub(super) fn end_warmup<T: Clone, S: Surroundings>(
        &mut self,
        _now: Time,
        air: &AdHocNetwork<T, S>,
        _network: &Network,
    ) {
        self.warm = true;
        self.warm_searches = self.searches.len();
        self.begun.clear();
        (self.route_changes, self.route_losses) = (0, 0);
        for stream in &mut self.streams {
            stream.begin();
        }
        for (node, baseline) in self.baselines.iter_mut().enumerate() {
            *baseline = counted(air, node as u32);
        }
    }

    /// What a node counted since the end of the warm-up.
    pub(super) fn measured<T: Clone, S: Surroundings>(
        &self,
        air: &AdHocNetwork<T, S>,
        node: u32,
    ) -> (NodeCounters, Counters, RoutingStats) {
        let (counters, mac, routing) = counted(air, node);
        let (before, mac_before, routing_before) = &self.baselines[node as usize];
        (counters.since(before), mac.since(mac_before), routing.since(routing_before))
    }
}

impl Stream {
    fn new(name: String, kind: &'static str, ends: (u32, u32)) -> Self {
        Self {
            name,
            kind,
            ends,
            delivered: 0,
            hops: 0,
            hops_min: u8::MAX,
            hops_max: 0,
            path: None,
            path_changes: 0,
            drops: [0; DropCause::ALL.len()],
        }
    }

    /// Counts from zero; the way stays.
    fn begin(&mut self) {
        let path = self.path;
        *self = Self::new(std::mem::take(&mut self.name), self.kind, self.ends);
        self.path = path;
    }

    pub(super) fn mean_hops(&self) -> f64 {
        if self.delivered == 0 { f64::NAN } else { self.hops as f64 / self.delivered as f64 }
    }
}

/// The streams in their order: data and acknowledgements of the flows, UDP sources, requests.
fn streams(experiment: &Experiment, network: &Network) -> Vec<Stream> {
    let flows = experiment.flows.iter();
    let mut named: Vec<(String, &'static str)> = flows
        .flat_map(|flow| [(flow.name.clone(), "data"), (flow.name.clone(), "acknowledgements")])
        .collect();
    named.extend(experiment.udp.iter().map(|source| (source.name.clone(), "datagrams")));
    let asks = |traffic: &Traffic| matches!(traffic, Traffic::Requests(_) | Traffic::Video(_));
    let asking = experiment.flows.iter().filter(|flow| asks(&flow.traffic));
    named.extend(asking.map(|flow| (flow.name.clone(), "requests")));
    debug_assert_eq!(named.len() as u32, network.streams());
    let streams = named.into_iter().enumerate();
    streams.map(|(number, (name, kind))| Stream::new(name, kind, network.addresses(number as u32))).collect()
}

fn counted<T: Clone, S: Surroundings>(
    air: &AdHocNetwork<T, S>,
    node: u32,
) -> (NodeCounters, Counters, RoutingStats) {
    let mut mac = Counters::default();
    for counters in air.mac_counters(node) {
        mac.add(&counters);
    }
    (air.counters(node), mac, *air.routing(node).stats())
}
