//! The tables of an ad hoc network.

use super::{AdHocAccount, Stream};
use cogtcp_adhoc::{AdHocDropCause, AdHocNetwork, Layer, NodeCounters, SearchOutcome};
use cogtcp_mobility::Mobility;
use cogtcp_records::extensions::{
    DropRow, DropsBuilder, NodeRow, NodesBuilder, PrimaryUserRow, PrimaryUsersBuilder, RoutingBuilder,
    RoutingRow, SearchRow, SearchesBuilder, StreamRow, StreamsBuilder,
};
use cogtcp_records::{Histogram, Table, ratio};
use cogtcp_routing::{MessageKind, RoutingStats};
use cogtcp_spectrum::air::Air;
use cogtcp_units::{Power, Time};
use cogtcp_wireless::Surroundings;

/// What the tables need besides the account and the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdHocEnding<'a> {
    /// Where nodes were.
    pub(crate) mobility: &'a Mobility,
    /// The primary users, if there is a spectrum.
    pub(crate) spectrum: Option<&'a Air>,
    /// A PU is heard when at least this power of it arrives.
    pub(crate) sensitivity: Power,
    /// The name of the routing protocol.
    pub(crate) protocol: &'a str,
    /// When the run ended.
    pub(crate) end: Time,
}

impl AdHocAccount {
    /// The tables of an ad hoc network: routing, streams, drops, nodes, searches, positions, routes, and primary
    /// users if there are any.
    pub(crate) fn tables<T: Clone, S: Surroundings>(
        &self,
        air: &AdHocNetwork<T, S>,
        ending: &AdHocEnding<'_>,
    ) -> Vec<Table> {
        debug_assert!(air.is_conserved(), "every packet of the medium is accounted for");
        let mut tables = vec![
            routing(self, air, ending),
            streams(self),
            drops(self),
            nodes(self, air, ending),
            searches(self),
            self.positions.clone().finish(),
            self.routes.clone().finish(),
        ];
        let spectrum = ending.spectrum.filter(|air| !air.activity.users.is_empty());
        tables.extend(spectrum.map(|air| primary_users(air, ending)));
        tables
    }
}

fn primary_users(air: &Air, ending: &AdHocEnding<'_>) -> Table {
    let mut table = PrimaryUsersBuilder::default();
    for user in &air.activity.users {
        table.push(PrimaryUserRow {
            user: u64::from(user.id),
            band: u64::from(user.band),
            x_m: user.position.x,
            y_m: user.position.y,
            range_m: user.reach.as_range(&air.propagation, ending.sensitivity),
            on_s: user.activity.busy_in(Time::ZERO, ending.end).as_secs_f64(),
        });
    }
    table.finish()
}

fn routing<T: Clone, S: Surroundings>(
    account: &AdHocAccount,
    air: &AdHocNetwork<T, S>,
    ending: &AdHocEnding<'_>,
) -> Table {
    let mut table = RoutingBuilder::default();
    let (mut sum, mut messages) = (NodeCounters::default(), RoutingStats::default());
    for node in 0..air.len() as u32 {
        let (counters, _, stats) = account.measured(air, node);
        sum.add(&counters);
        messages.add(&stats);
    }
    let delivered: u64 = account.streams.iter().map(|stream| stream.delivered).sum();
    let Quantiles { mean, p50, p95, max } = Quantiles::of(&account.discovery);
    let service = Quantiles::of(&account.service);
    let row = RoutingRow {
        protocol: table.protocol.intern(ending.protocol),
        searches: messages.discoveries,
        routes_found: messages.found,
        searches_failed: messages.failed,
        discovery_mean_s: mean,
        discovery_p50_s: p50,
        discovery_p95_s: p95,
        discovery_max_s: max,
        route_changes: account.route_changes,
        route_losses: account.route_losses,
        link_failures: sum.link_failures,
        overhead_packets: sum.routing_sent,
        overhead_bytes: sum.routing_bytes,
        overhead_ratio: ratio(sum.routing_sent as f64, delivered as f64),
        requests: messages.of(MessageKind::Request),
        replies: messages.of(MessageKind::Reply),
        errors: messages.of(MessageKind::Error),
        hellos: messages.of(MessageKind::Hello),
        announcements: sum.announcements,
        arp: sum.arp,
        service_mean_s: service.mean,
        service_p50_s: service.p50,
        service_p95_s: service.p95,
        service_max_s: service.max,
    };
    table.push(row);
    table.finish()
}

fn streams(account: &AdHocAccount) -> Table {
    let names = &account.names;
    let mut table = StreamsBuilder::default();
    for stream in &account.streams {
        let found = account.searches[account.warm_searches..].iter().filter(|it| it.ends == stream.ends);
        let times: Vec<f64> = found
            .filter_map(|search| match search.outcome {
                SearchOutcome::Found { took, .. } => Some(took.as_secs_f64()),
                SearchOutcome::Failed => None,
            })
            .collect();
        let some = stream.delivered > 0;
        let row = StreamRow {
            flow: table.flow.intern(&stream.name),
            stream: table.stream.intern(stream.kind),
            from: table.from.intern(&names[stream.ends.0 as usize]),
            to: table.to.intern(&names[stream.ends.1 as usize]),
            delivered_packets: stream.delivered,
            hops_mean: stream.mean_hops(),
            // Without a packet these are the values that they begin with, not hops.
            hops_min: if some { f64::from(stream.hops_min) } else { f64::NAN },
            hops_max: if some { f64::from(stream.hops_max) } else { f64::NAN },
            rerouted_packets: stream.rerouted,
            searches: account.begun.get(&stream.ends).copied().unwrap_or(0),
            discovery_mean_s: ratio(times.iter().sum(), times.len() as f64),
            // `f64::max` ignores a NaN: without a search that found a route the column stays NaN.
            discovery_max_s: times.iter().copied().fold(f64::NAN, f64::max),
            drops_routing: dropped(stream, Layer::Routing),
            drops_queue: dropped(stream, Layer::Queue),
            drops_mac: dropped(stream, Layer::Mac),
        };
        table.push(row);
    }
    table.finish()
}

fn dropped(stream: &Stream, layer: Layer) -> u64 {
    let causes = AdHocDropCause::ALL.iter().filter(|cause| cause.layer() == layer);
    causes.map(|cause| stream.drops[*cause as usize]).sum()
}

fn drops(account: &AdHocAccount) -> Table {
    let mut table = DropsBuilder::default();
    for stream in &account.streams {
        for cause in AdHocDropCause::ALL {
            let packets = stream.drops[cause as usize];
            if packets > 0 {
                let row = DropRow {
                    flow: table.flow.intern(&stream.name),
                    stream: table.stream.intern(stream.kind),
                    layer: table.layer.intern(cause.layer().name()),
                    cause: table.cause.intern(cause.name()),
                    packets,
                };
                table.push(row);
            }
        }
    }
    table.finish()
}

fn nodes<T: Clone, S: Surroundings>(
    account: &AdHocAccount,
    air: &AdHocNetwork<T, S>,
    ending: &AdHocEnding<'_>,
) -> Table {
    let mut table = NodesBuilder::default();
    for (number, name) in account.names.iter().take(account.warm_radios.len()).enumerate() {
        let node = number as u32;
        let (counters, mac, routing) = account.measured(air, node);
        let start = ending.mobility.position(number, Time::ZERO);
        let (service, served) = account.node_service[number];
        let shared = air.repository(node);
        let row = NodeRow {
            node: table.node.intern(name),
            start_x_m: start.x,
            start_y_m: start.y,
            travelled_m: ending.mobility.trajectories()[number].travelled(ending.end),
            originated: counters.originated,
            relayed: counters.relayed,
            delivered: counters.delivered,
            dropped: counters.dropped,
            routing_sent: counters.routing_sent,
            routing_bytes: counters.routing_bytes,
            routing_received: counters.routing_received,
            frames: mac.frames,
            air_time_s: mac.air_time.as_secs_f64(),
            attempts: mac.attempts,
            attempts_interfered: mac.interfered,
            attempts_unanswered: mac.unanswered,
            attempts_collided: mac.collided,
            attempts_garbled: mac.garbled,
            attempts_out_of_reach: mac.out_of_reach,
            attempts_refused: mac.refused,
            link_failures: counters.link_failures,
            service_mean_s: ratio(service.as_secs_f64(), served as f64),
            handoffs: counters.handoffs,
            searches: routing.discoveries,
            power_w: shared.power().watts(),
            channel: u64::from(shared.channel().0),
            neighbors: shared.neighbors().len() as u64,
        };
        table.push(row);
    }
    table.finish()
}

fn searches(account: &AdHocAccount) -> Table {
    let names = &account.names;
    let mut table = SearchesBuilder::default();
    for search in &account.searches {
        let (took_s, hops) = match search.outcome {
            SearchOutcome::Found { hops, took } => (took.as_secs_f64(), f64::from(hops)),
            SearchOutcome::Failed => (f64::NAN, f64::NAN),
        };
        let row = SearchRow {
            node: table.node.intern(&names[search.ends.0 as usize]),
            destination: table.destination.intern(&names[search.ends.1 as usize]),
            start_s: search.start.as_secs_f64(),
            took_s,
            hops,
        };
        table.push(row);
    }
    table.finish()
}

/// What is reported of a distribution.
struct Quantiles {
    mean: f64,
    p50: f64,
    p95: f64,
    max: f64,
}

impl Quantiles {
    fn of(times: &Histogram) -> Self {
        Self {
            mean: times.mean(),
            p50: times.quantile(0.50),
            p95: times.quantile(0.95),
            max: times.greatest(),
        }
    }
}
