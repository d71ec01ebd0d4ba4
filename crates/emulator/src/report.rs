//! The tables of a run, as the simulator has them: a column says the same on either plane.

use crate::engine::Account;
use crate::event::{Entity, RecordedEvent};
use crate::flows::Played;
use crate::host_routes::LinkDirection;
use crate::network::EmulatedNetwork;
use crate::observer::{FlowWatch, Observer};
use crate::plan::Plan;
use cogtcp_hosts::applications::{self, ApplicationAccount};
use cogtcp_hosts::multipath::PathNames;
use cogtcp_hosts::quic;
use cogtcp_hosts::train::{FlowOnTrain, TrainAccount};
use cogtcp_link::Capacity;
use cogtcp_records::extensions::{SubflowRow, SubflowsBuilder, TcpFlowRow, TcpFlowsBuilder};
use cogtcp_records::tables::{
    BudgetBuilder, ControlSample, ControlSeriesBuilder, EventRow, EventsBuilder, FlowRow, FlowSample,
    FlowSeriesBuilder, FlowsBuilder, LinkSample, LinkSeriesBuilder, PacketsBuilder,
};
use cogtcp_records::{Code, EventKind, Table, ratio};
use cogtcp_scenario::FlowSpec;
use cogtcp_units::Time;

/// What a run leaves behind before it is tables.
#[derive(Debug)]
pub(crate) struct Outcome<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) network: EmulatedNetwork,
    pub(crate) observer: Observer,
    pub(crate) account: Account,
    pub(crate) played: Vec<Played>,
    pub(crate) events: Vec<RecordedEvent>,
}

const DIRECTIONS: [&str; 2] = ["forward", "reverse"];

impl Outcome<'_> {
    pub(crate) fn flows(&self) -> (Table, Vec<f64>) {
        let mut table = FlowsBuilder::default();
        let mut goodputs = Vec::new();
        for (number, played) in self.played.iter().enumerate() {
            let row = self.flow(number, played, &mut table);
            goodputs.push(row.goodput_bps);
            table.push(row);
        }
        (table.finish(), goodputs)
    }

    /// What TCP's flows have beside the columns of all flows; `None`: no flow is TCP.
    pub(crate) fn tcp_flows(&self) -> Option<Table> {
        let mut table = TcpFlowsBuilder::default();
        for (number, (played, sockets)) in self.played.iter().zip(&self.plan.sockets).enumerate() {
            let Some(sockets) = sockets else { continue };
            let (end, warm) = (&played.end, &played.warm);
            let row = TcpFlowRow {
                flow: table.flow.intern(&self.plan.experiment.flows[number].name),
                congestion: table.congestion.intern(sockets.congestion.name),
                rtos: end.timeouts - warm.timeouts,
                spurious_rtos: end.spurious - warm.spurious,
                fast_retransmits: end.recoveries - warm.recoveries,
            };
            table.push(row);
        }
        Some(table.finish()).filter(|table| !table.is_empty())
    }

    /// What QUIC's flows have beside the columns of all flows; `None`: no flow is QUIC.
    pub(crate) fn quic_flows(&self) -> Option<Table> {
        let flows = self.played.iter().zip(&self.plan.experiment.flows);
        quic::table(flows.filter_map(|(played, spec)| {
            let [warm, end] = played.quic?;
            Some((spec.name.as_str(), end, warm))
        }))
    }

    /// The subflows of flows of Multipath TCP; `None`: no flow is one. What the kernel does not tell by
    /// subflow is zero or not-a-number.
    pub(crate) fn subflows(&self) -> Option<Table> {
        let mut table = SubflowsBuilder::default();
        for (number, (played, spec)) in self.played.iter().zip(&self.plan.experiment.flows).enumerate() {
            if !self.plan.sockets[number].as_ref().is_some_and(|sockets| sockets.is_multipath) {
                continue;
            }
            let paths = &self.observer.flows[number].paths;
            let total: u64 = paths.iter().map(|(_, bytes)| bytes).sum();
            let goodput = played.goodput();
            let directions: Vec<_> = self.plan.directions_by_path(number).collect();
            for (path, ((_, bytes), directions)) in paths.iter().zip(&directions).enumerate() {
                let route: Vec<usize> = directions.iter().map(|direction| direction / 2).collect();
                let names = PathNames::new(&self.plan.experiment, spec, path, &route);
                // Payload that arrived, retransmissions included: a kernel does not tell which came first.
                let share = ratio(*bytes as f64, total as f64);
                let row = SubflowRow {
                    flow: table.flow.intern(&spec.name),
                    path: path as u64,
                    link: table.link.intern(&names.link),
                    goodput_bps: goodput * share,
                    share,
                    sent_segments: 0,
                    retransmitted_segments: 0,
                    rtos: 0,
                    repeated_bytes: 0,
                    reinjected_bytes: 0,
                    rtt_mean_s: f64::NAN,
                    radios: table.radios.intern(&names.radios),
                };
                table.push(row);
            }
        }
        Some(table.finish()).filter(|table| !table.is_empty())
    }

    fn flow(&self, number: usize, played: &Played, table: &mut FlowsBuilder) -> FlowRow {
        let plan = self.plan;
        let (spec, seen) = (&plan.experiment.flows[number], &self.observer.flows[number]);
        let (end, warm) = (&played.end, &played.warm);
        let rtt = played.round_trips.as_ref().unwrap_or(&seen.rtt);
        let (span, delivered) = match played.span {
            Some([begin, end]) => (end.0.saturating_since(begin.0).as_secs_f64(), end.1 - begin.1),
            None => (0.0, 0),
        };
        let bottleneck = self.bottleneck(number);
        let [link, direction] = bottleneck.map_or([""; 2], |direction| {
            [&plan.experiment.links[direction / 2].name, DIRECTIONS[direction % 2]]
        });
        FlowRow {
            flow: table.flow.intern(&spec.name),
            transport: table.transport.intern(&spec.transport),
            from: table.from.intern(&plan.experiment.nodes[spec.from]),
            to: table.to.intern(&plan.experiment.nodes[spec.to]),
            start_s: played.start.as_secs_f64(),
            stop_s: spec.stop.map_or(f64::NAN, Time::as_secs_f64),
            measured_s: span,
            goodput_bps: ratio(delivered as f64 * 8.0, span),
            delivered_bytes: end.delivered - warm.delivered,
            sent_segments: end.sent - warm.sent,
            retransmitted_segments: end.retransmitted - warm.retransmitted,
            efficiency: ratio(delivered as f64, self.available_to(number, played)),
            bottleneck: table.bottleneck.intern(link),
            bottleneck_direction: table.bottleneck_direction.intern(direction),
            medium: table
                .medium
                .intern(bottleneck.map_or("", |direction| plan.experiment.medium(direction / 2))),
            delivery_ratio: ratio(seen.arrived as f64, (seen.arrived + seen.dropped[0]) as f64),
            rtt_min_s: rtt.least(),
            rtt_mean_s: rtt.mean(),
            rtt_p50_s: rtt.quantile(0.50),
            rtt_p95_s: rtt.quantile(0.95),
            rtt_p99_s: rtt.quantile(0.99),
            rtt_max_s: rtt.greatest(),
            queuing_delay_mean_s: seen.queuing.mean(),
            queuing_delay_p50_s: seen.queuing.quantile(0.50),
            queuing_delay_p95_s: seen.queuing.quantile(0.95),
            queuing_delay_p99_s: seen.queuing.quantile(0.99),
            drops: seen.dropped[0],
            ack_drops: seen.dropped[1],
            completion_s: played
                .completed
                .map_or(f64::NAN, |at| at.saturating_since(played.start).as_secs_f64()),
        }
    }

    /// The direction of a link that could carry least of those that a flow's data take, as in the simulator.
    fn bottleneck(&self, flow: usize) -> Option<LinkDirection> {
        let [from, to] = self.plan.flow_ends[flow];
        // What an ad hoc network can carry no link tells.
        let directions =
            if self.plan.routes.crosses_air(from, to) { Vec::new() } else { self.plan.directions_of(flow) };
        directions.into_iter().min_by_key(|direction| (self.available(*direction), *direction))
    }

    /// Bytes that a flow's bottleneck, and the bottlenecks of its further paths, could carry in the flow's
    /// measured span.
    fn available_to(&self, flow: usize, played: &Played) -> f64 {
        let further = self.plan.directions_by_path(flow).skip(1);
        let least = |directions: Vec<LinkDirection>| {
            directions.into_iter().map(|direction| self.capacity(direction)).reduce(f64::min)
        };
        let further: f64 = further.filter_map(least).sum();
        let available = self.bottleneck(flow).map_or(0.0, |direction| self.capacity(direction)) + further;
        let span = played.span.map_or(0.0, |[begin, end]| end.0.saturating_since(begin.0).as_secs_f64());
        let measured = self.account.ended_at.saturating_since(self.account.warm_at).as_secs_f64();
        // What a link could carry is known for the whole measured time: a shorter span has its share of it.
        if measured > 0.0 { available * (span / measured).min(1.0) } else { 0.0 }
    }

    /// What a direction of a link could carry, as its counters have it.
    fn available(&self, direction: LinkDirection) -> u128 {
        self.account.available[direction]
    }

    /// In bytes.
    fn capacity(&self, direction: LinkDirection) -> f64 {
        Capacity::bytes(self.available(direction))
    }

    pub(crate) fn links(&mut self) -> Table {
        let mut payload = vec![0; self.account.available.len()];
        for (flow, played) in self.played.iter().enumerate() {
            for direction in self.plan.directions_of(flow) {
                payload[direction] += played.end.delivered - played.warm.delivered;
            }
        }
        let (experiment, end) = (&self.plan.experiment, self.account.ended_at);
        self.network.network.link_table(experiment, end, &payload)
    }

    pub(crate) fn radios(&self) -> Table {
        self.network.network.radio_table(&self.plan.experiment, self.account.ended_at)
    }

    /// Where the time of the bottleneck went is not known: only a kernel's sender knows what it waits for.
    pub(crate) fn budget() -> Table {
        BudgetBuilder::default().finish()
    }

    /// The tables of applications that ask and are answered, if there are any.
    pub(crate) fn applications(&self) -> Vec<Table> {
        let (flows, end) = (&self.plan.experiment.flows, self.account.ended_at);
        let accounts = flows.iter().zip(&self.played).filter_map(|(spec, played)| {
            let (client, repeats) = played.client.as_ref()?;
            let until = spec.stop.map_or(end, |stop| stop.min(end));
            Some(ApplicationAccount { flow: &spec.name, client, repeats: repeats.clone(), until })
        });
        applications::tables(&accounts.collect::<Vec<_>>(), self.account.warm_at)
    }

    /// The tables of a train, its flows and its predictions, if there is one.
    pub(crate) fn train(&self) -> Vec<Table> {
        let Some(train) = &self.observer.train else { return Vec::new() };
        let (experiment, end) = (&self.plan.experiment, self.account.ended_at);
        let flows = self.played.iter().zip(&self.observer.flows).zip(&experiment.flows).enumerate();
        let flow = |(number, ((played, seen), spec))| -> FlowOnTrain<'_> {
            let (played, seen, spec): (&Played, &FlowWatch, &FlowSpec) = (played, seen, spec);
            FlowOnTrain {
                name: &spec.name,
                efficiency: ratio(seen.arrived_bytes as f64, self.available_to(number, played)),
                frozen: train.frozen(number, end),
                window_probes: played.end.probes - played.warm.probes,
            }
        };
        let account = TrainAccount {
            host: &train.router,
            node: &experiment.nodes[train.router.spec.router],
            clients: train.clients.len(),
            end,
            flows: flows.map(flow).collect(),
        };
        account.tables().into()
    }

    pub(crate) fn packets() -> Table {
        PacketsBuilder::default().finish()
    }

    /// Flows over time, and what their transports show beside that: the kernel of its TCP, endpoints of
    /// themselves.
    pub(crate) fn flow_series(&self) -> [Table; 2] {
        let mut flows = FlowSeriesBuilder::default();
        let mut control = ControlSeriesBuilder::default();
        for (spec, played) in self.plan.experiment.flows.iter().zip(&self.played) {
            let (flow, of_control) = (flows.flow.intern(&spec.name), control.flow.intern(&spec.name));
            for point in &played.series {
                let time_s = point.at.as_secs_f64();
                flows.push(FlowSample { time_s, flow, ..point.row });
                for (variable, value) in &point.shown {
                    let variable = control.variable.intern(variable);
                    control.push(ControlSample { time_s, flow: of_control, variable, value: *value });
                }
            }
            for state in &played.states {
                for (variable, value) in state.values {
                    let (time_s, variable) = (state.at.as_secs_f64(), control.variable.intern(variable));
                    control.push(ControlSample { time_s, flow: of_control, variable, value });
                }
            }
        }
        [flows.finish(), control.finish()]
    }

    pub(crate) fn link_series(&self) -> Table {
        let mut table = LinkSeriesBuilder::default();
        let links: Vec<Code> =
            self.plan.experiment.links.iter().map(|link| table.link.intern(&link.name)).collect();
        let directions = DIRECTIONS.map(|name| table.direction.intern(name));
        let samples = self.account.series.iter().map(Vec::len).min().unwrap_or(0);
        for sample in 0..samples {
            for (direction, series) in self.account.series.iter().enumerate() {
                let point = series[sample];
                table.push(LinkSample {
                    time_s: point.at.as_secs_f64(),
                    link: links[direction / 2],
                    direction: directions[direction % 2],
                    queue_packets: point.queue,
                    rate_bps: point.rate_bps,
                    throughput_bps: point.throughput_bps,
                });
            }
        }
        table.finish()
    }

    /// When primary users began and ended to be ON: what nobody in the run hears of.
    fn primary_users(&self) -> Vec<RecordedEvent> {
        let mut events = Vec::new();
        for user in self.network.network.spectrum().iter().flat_map(|air| &air.activity.users) {
            let (activity, entity) = (&user.activity, Entity::User(user.id));
            let mut at = activity.next_arrival(Time::ZERO);
            while at <= self.account.ended_at {
                let is_on = activity.is_on(at);
                let kind = if is_on { EventKind::PuOn } else { EventKind::PuOff };
                let value = f64::from(user.band);
                events.push(RecordedEvent { at, kind, entity, flow: None, detail: "", value });
                at = if is_on { activity.next_departure(at) } else { activity.next_arrival(at) };
            }
        }
        events
    }

    /// What happened, in the order of time.
    pub(crate) fn events(&self) -> Table {
        let mut table = EventsBuilder::default();
        // An event names its kind by its place among all.
        for kind in EventKind::ALL {
            table.kind.intern(kind.name());
        }
        let users = self.primary_users();
        let of_train = self.observer.train.iter().flat_map(|train| &train.events);
        let mut all: Vec<&RecordedEvent> =
            self.observer.events.iter().chain(&self.events).chain(of_train).chain(&users).collect();
        all.sort_by_key(|event| event.at);
        let experiment = &self.plan.experiment;
        let flows = experiment.flows.iter().map(|flow| flow.name.as_str());
        let names: Vec<&str> =
            flows.chain(experiment.udp.iter().map(|source| source.name.as_str())).collect();
        let links = &self.plan.experiment.links;
        let directions: Vec<String> =
            links.iter().flat_map(|link| [link.name.clone(), format!("{}/reverse", link.name)]).collect();
        let radios: Vec<Vec<String>> =
            experiment.radios.iter().map(|spec| experiment.radio_names(spec)).collect();
        // It outlives the match that lends it to `intern`.
        let mut user_name;
        for event in all {
            let entity: Code = table.entity.intern(match event.entity {
                Entity::Flow(number) => names[number],
                Entity::Radio((number, unit)) => &radios[number][unit],
                Entity::LinkDirection(direction) => &directions[direction],
                Entity::Node(node) | Entity::Nodes([node, _]) => &self.plan.experiment.nodes[node],
                Entity::User(user) => {
                    user_name = format!("pu{user}");
                    &user_name
                }
            });
            let row = EventRow {
                time_s: event.at.as_secs_f64(),
                kind: event.kind.code(),
                entity,
                flow: table.flow.intern(event.flow.map_or("", |number| names[number])),
                detail: table.detail.intern(match event.entity {
                    Entity::Nodes([_, other]) => &experiment.nodes[other],
                    _ => event.detail,
                }),
                value: event.value,
            };
            table.push(row);
        }
        table.finish()
    }
}
