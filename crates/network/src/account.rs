//! What is measured of an ad hoc network while it runs, and its tables.

mod tables;

pub(crate) use tables::AdHocEnding;

use cogtcp_adhoc::{AdHocDropCause, AdHocEvent, AdHocNetwork, NodeCounters, RouteRecord, SearchOutcome};
use cogtcp_records::Histogram;
use cogtcp_records::extensions::{PositionRow, PositionsBuilder, RouteRow, RoutesBuilder};
use cogtcp_routing::RoutingStats;
use cogtcp_spectrum::{Protection, Radio, RadioStats};
use cogtcp_units::{Duration, Time};
use cogtcp_wireless::{Counters, Surroundings};
use std::collections::BTreeMap;

/// From one recording of positions to the next, unless the run's samples are further apart.
pub(crate) const PLACES_EVERY: Duration = Duration::from_secs(1);

/// The packets that one host sends to another for one purpose.
#[derive(Clone, Debug)]
pub struct AirStream {
    /// The name of its flow or source.
    pub flow: String,
    /// What its packets are: `data`, `acknowledgements`, `datagrams`, `requests`.
    pub kind: &'static str,
    /// The nodes from and to which it leads.
    pub ends: (u32, u32),
}

/// What is measured of an ad hoc network.
#[derive(Debug)]
pub(crate) struct AdHocAccount {
    streams: Vec<Stream>,
    /// By number of stream: its place in `streams`; beyond all: none.
    numbers: Vec<usize>,
    names: Vec<String>,
    /// Searches that are under way, by seeker and sought.
    open: BTreeMap<(u32, u32), Time>,
    searches: Vec<Search>,
    /// Searches begun, by seeker and sought, since the end of the warm-up.
    begun: BTreeMap<(u32, u32), u64>,
    /// Place of the first search that ended after the warm-up.
    warm_searches: usize,
    discovery: Histogram,
    service: Histogram,
    node_service: Vec<(Duration, u64)>,
    route_changes: u64,
    route_losses: u64,
    positions: PositionsBuilder,
    routes: RoutesBuilder,
    records: bool,
    warm: bool,
    /// By node: what its radio counted before the end of the warm-up.
    warm_radios: Vec<(RadioStats, Protection)>,
    /// By node, at the end of the warm-up: what it counted, its MACs, its routing.
    baselines: Vec<(NodeCounters, Counters, RoutingStats)>,
}

/// What is measured of a stream.
#[derive(Debug)]
struct Stream {
    /// Its flow or source.
    name: String,
    kind: &'static str,
    ends: (u32, u32),
    delivered: u64,
    hops: u64,
    hops_min: u8,
    hops_max: u8,
    /// The route of the last packet.
    route: Option<u64>,
    rerouted: u64,
    drops: [u64; AdHocDropCause::ALL.len()],
}

/// A search for a route that has ended.
#[derive(Clone, Copy, Debug)]
struct Search {
    ends: (u32, u32),
    start: Time,
    outcome: SearchOutcome,
}

impl AdHocAccount {
    /// Nothing measured yet. `names`: the names of all hosts, the network's `nodes` first. `is_warm`: there
    /// is no warm-up. `records`: routes and positions are recorded, not only counted.
    pub(crate) fn new((names, nodes): (Vec<String>, usize), is_warm: bool, records: bool) -> Self {
        Self {
            streams: Vec::new(),
            numbers: Vec::new(),
            names,
            open: BTreeMap::new(),
            searches: Vec::new(),
            begun: BTreeMap::new(),
            warm_searches: 0,
            discovery: Histogram::new(),
            service: Histogram::new(),
            node_service: vec![(Duration::ZERO, 0); nodes],
            route_changes: 0,
            route_losses: 0,
            positions: PositionsBuilder::default(),
            routes: RoutesBuilder::default(),
            records,
            warm: is_warm,
            warm_radios: vec![Default::default(); nodes],
            baselines: vec![Default::default(); nodes],
        }
    }

    /// The streams by which packets are told apart, and their numbers; packets of others count to none.
    pub(crate) fn name_streams(&mut self, streams: &[(u32, AirStream)]) {
        let most = streams.iter().map(|(number, _)| *number as usize + 1).max().unwrap_or_default();
        self.numbers = vec![usize::MAX; most];
        self.streams.clear();
        for (number, name) in streams {
            self.numbers[*number as usize] = self.streams.len();
            self.streams.push(Stream::new(name.flow.clone(), name.kind, name.ends));
        }
    }

    /// The place of a stream; `None`: it has no name, and its packets count to none.
    fn place(&self, number: u32) -> Option<usize> {
        self.numbers.get(number as usize).copied().filter(|place| *place < self.streams.len())
    }

    fn stream(&mut self, number: u32) -> Option<&mut Stream> {
        self.place(number).map(|place| &mut self.streams[place])
    }

    /// Takes in what happened. `stream`: the number of the stream of what a packet carries.
    pub(crate) fn record<T: Clone, S: Surroundings>(
        &mut self,
        air: &AdHocNetwork<T, S>,
        event: &AdHocEvent<T>,
        stream: impl Fn(&T) -> u32,
    ) {
        match event {
            AdHocEvent::Delivered { time, packet, route } => {
                self.delivered(air, *time, stream(&packet.payload), route)
            }
            AdHocEvent::Dropped { packet, cause, .. } => self.dropped(stream(&packet.payload), *cause),
            AdHocEvent::Served { node, service, .. } => self.served(*node, *service),
            AdHocEvent::SearchStarted { time, node, destination } => {
                self.search_started(*time, (*node, *destination));
            }
            AdHocEvent::SearchEnded { time, node, destination, outcome } => {
                self.search_ended(*time, (*node, *destination), *outcome);
            }
            AdHocEvent::RouteChanged { .. } => self.route_changes += 1,
            AdHocEvent::RouteLost { .. } => self.route_losses += 1,
            AdHocEvent::Forwarded { .. } | AdHocEvent::Radio { .. } | AdHocEvent::Tuned { .. } => {}
        }
    }

    fn delivered<T: Clone, S: Surroundings>(
        &mut self,
        air: &AdHocNetwork<T, S>,
        now: Time,
        stream: u32,
        route: &RouteRecord,
    ) {
        let Some(place) = self.place(stream) else {
            // A stream without a name.
            return;
        };
        let stream = &mut self.streams[place];
        stream.delivered += 1;
        stream.hops += u64::from(route.hops);
        stream.hops_min = stream.hops_min.min(route.hops);
        stream.hops_max = stream.hops_max.max(route.hops);
        let before = stream.route.replace(route.hash);
        // A row of the table stands for a change: packets that follow the same nodes add none.
        if before == Some(route.hash) {
            return;
        }
        stream.rerouted += u64::from(before.is_some());
        if self.records {
            let names: Vec<&str> =
                air.recorded_route(route.hash).into_iter().map(|node| &*self.names[node as usize]).collect();
            let row = RouteRow {
                time_s: now.as_secs_f64(),
                flow: self.routes.flow.intern(&stream.name),
                stream: self.routes.stream.intern(stream.kind),
                route: self.routes.route.intern(&names.join(" ")),
                hops: u64::from(route.hops),
            };
            self.routes.push(row);
        }
    }

    fn dropped(&mut self, stream: u32, cause: AdHocDropCause) {
        if let Some(stream) = self.stream(stream) {
            stream.drops[cause as usize] += 1;
        }
    }

    fn served(&mut self, node: u32, service: Duration) {
        // Distributions cannot be subtracted at the end, as counters are: only what counts enters.
        if self.warm {
            self.service.record(service);
            let (sum, count) = &mut self.node_service[node as usize];
            (*sum, *count) = (*sum + service, *count + 1);
        }
    }

    fn search_started(&mut self, now: Time, ends: (u32, u32)) {
        self.open.insert(ends, now);
        *self.begun.entry(ends).or_default() += 1;
    }

    fn search_ended(&mut self, now: Time, ends: (u32, u32), outcome: SearchOutcome) {
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

    /// Records where every node is at `now`.
    pub(crate) fn record_positions<T: Clone, S: Surroundings>(
        &mut self,
        now: Time,
        air: &AdHocNetwork<T, S>,
    ) {
        // Hosts on links have names here too, and no place: there is one entry of `warm_radios` for each
        // node.
        for (number, name) in self.names.iter().take(self.warm_radios.len()).enumerate() {
            let (node, at) = (number as u32, air.position(number as u32, now));
            let row = PositionRow {
                time_s: now.as_secs_f64(),
                node: self.positions.node.intern(name),
                x_m: at.x,
                y_m: at.y,
                channel: u64::from(air.channel(node).0),
                silent: air.is_silent(node),
            };
            self.positions.push(row);
        }
    }

    /// Metrics count from `now` on.
    pub(crate) fn end_warmup<T: Clone, S: Surroundings>(&mut self, now: Time, air: &mut AdHocNetwork<T, S>) {
        self.warm = true;
        self.warm_searches = self.searches.len();
        // Searches under way stay open: their entry is needed for the time at which they began.
        self.begun.clear();
        (self.route_changes, self.route_losses) = (0, 0);
        for stream in &mut self.streams {
            stream.begin();
        }
        for (node, baseline) in self.baselines.iter_mut().enumerate() {
            *baseline = counted(air, node as u32);
        }
        for (node, warm) in self.warm_radios.iter_mut().enumerate() {
            if let Some(radio) = air.radio_mut(node as u32) {
                *warm = (radio.stats(now), radio.protection(now));
                // A greatest value is no difference of two readings.
                radio.restart_maximum();
            }
        }
    }

    /// What the radios of the nodes did that have one, and how primary users fared, since the end of the
    /// warm-up.
    pub(crate) fn radios<T: Clone, S: Surroundings>(
        &self,
        air: &AdHocNetwork<T, S>,
        now: Time,
    ) -> Vec<(String, RadioStats, Protection)> {
        let radios = self.names.iter().zip(&self.warm_radios).enumerate();
        let rows = radios.filter_map(|(node, (name, warm))| {
            let radio = air.radio(node as u32)?;
            let stats = radio.stats(now).since(&warm.0);
            Some((name.clone(), stats, radio.protection(now).since(&warm.1)))
        });
        rows.collect()
    }

    /// What a node counted since the end of the warm-up.
    fn measured<T: Clone, S: Surroundings>(
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
            // Above every route, so that the first packet sets it.
            hops_min: u8::MAX,
            hops_max: 0,
            route: None,
            rerouted: 0,
            drops: [0; AdHocDropCause::ALL.len()],
        }
    }

    /// Counts from zero; the route stays.
    fn begin(&mut self) {
        // So the first packet that counts is a change of route only if it took another than the packet
        // before.
        let route = self.route;
        *self = Self::new(std::mem::take(&mut self.name), self.kind, self.ends);
        self.route = route;
    }

    fn mean_hops(&self) -> f64 {
        if self.delivered == 0 { f64::NAN } else { self.hops as f64 / self.delivered as f64 }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_streams_without_a_name_count_to_none() {
        let mut account = AdHocAccount::new((Vec::new(), 0), true, false);
        let named = AirStream { flow: "f".to_owned(), kind: "data", ends: (0, 1) };
        account.name_streams(&[(3, named)]);
        assert_eq!([2, 3, 4].map(|number| account.place(number)), [None, Some(0), None]);
        account.dropped(2, AdHocDropCause::ALL[0]);
        account.dropped(3, AdHocDropCause::ALL[0]);
        assert_eq!(account.streams[0].drops.iter().sum::<u64>(), 1);
    }

    /// A search is told from its start on, also if it began before the account. Before the end of the warm-up nothing
    /// enters a distribution.
    #[test]
    fn searches_and_services_count_when_warm() {
        let (s, ms) = (Time::from_millis, Duration::from_millis);
        for warm in [false, true] {
            let mut account = AdHocAccount::new((Vec::new(), 2), warm, false);
            account.search_started(s(10), (0, 1));
            account.search_ended(s(40), (0, 1), SearchOutcome::Found { hops: 2, took: ms(30) });
            account.search_ended(s(90), (0, 1), SearchOutcome::Found { hops: 2, took: ms(20) });
            account.search_ended(s(95), (1, 0), SearchOutcome::Failed);
            let starts: Vec<Time> = account.searches.iter().map(|search| search.start).collect();
            assert_eq!((starts, account.begun[&(0, 1)]), (vec![s(10), s(70), s(95)], 1));
            account.served(1, ms(5));
            account.served(1, ms(7));
            let counted = (account.discovery.samples(), account.service.samples(), account.node_service[1]);
            assert_eq!(counted, if warm { (2, 2, (ms(12), 2)) } else { (0, 0, (ms(0), 0)) });
        }
    }

    /// After the warm-up a stream counts from zero; its route stays.
    #[test]
    fn a_stream_begins_anew_with_its_route() {
        let mut stream = Stream::new("f".to_owned(), "data", (0, 1));
        assert!(stream.mean_hops().is_nan());
        (stream.delivered, stream.hops, stream.rerouted, stream.route) = (4, 10, 3, Some(7));
        (stream.hops_min, stream.hops_max, stream.drops[0]) = (1, 5, 9);
        assert_eq!(stream.mean_hops(), 2.5);
        stream.begin();
        assert_eq!((stream.delivered, stream.hops, stream.rerouted, stream.route), (0, 0, 0, Some(7)));
        assert_eq!((stream.hops_min, stream.hops_max, stream.drops[0]), (u8::MAX, 0, 0));
        assert_eq!((&*stream.name, stream.kind, stream.ends), ("f", "data", (0, 1)));
    }
}
