//! From the state at the end of a run to its tables.

use crate::frames::Frames;
use crate::parts::Ending;
use crate::simulation::Simulation;
use cogtcp_hosts::multipath::PathNames;
use cogtcp_hosts::{Flow, Measured};
use cogtcp_hosts::{multipath, quic};
use cogtcp_network::FlowSpan;
use cogtcp_records::extensions::{TcpFlowRow, TcpFlowsBuilder};
use cogtcp_records::tables::{FlowRow, FlowsBuilder};
use cogtcp_records::{Run, Table, jain_fairness, ratio};
use cogtcp_scenario::FlowSpec;
use cogtcp_units::Time;

impl Simulation<'_> {
    /// The run's result. Every flow's measured span has ended.
    pub(crate) fn report(mut self, digest: u64) -> Run {
        let flows = self.flow_table();
        let payload = self.payload_by_direction();
        let (experiment, end) = (&*self.experiment, self.end);
        let links = self.plane.network.link_table(experiment, end, &payload);
        let radios = self.plane.network.radio_table(experiment, end);
        let ending = Ending { experiment, end, plane: &self.plane, flows: &self.flows };
        let mut extensions: Vec<Table> = self.tcp_flow_table().into_iter().collect();
        extensions.extend(self.quic_flow_table());
        extensions.extend(self.subflow_table());
        extensions.extend(self.parts.report(&ending));
        extensions.extend(self.plane.network.air_tables(end));
        extensions.extend(self.plane.recorder.frames.as_deref().map(Frames::table));
        let spans: Vec<FlowSpan> = self.flows.iter().flat_map(Flow::spans).collect();
        let budget = self.plane.network.budget_table(experiment, &spans);
        // Flows without a measured span say nothing of fairness.
        let goodputs: Vec<f64> =
            self.flows.iter().map(|flow| goodput(flow.measured())).filter(|g| !g.is_nan()).collect();
        // Last: it takes the record apart, and parts report from it.
        let ([flow_series, control_series, link_series, events, packets], contents) =
            self.plane.recorder.trace.finish();
        extensions.extend(contents);
        let logs = self.flows.iter_mut().zip(&self.experiment.flows);
        extensions.extend(quic::log(logs.map(|(flow, spec)| (spec.name.as_str(), flow.take_logs()))));
        Run {
            name: self.experiment.name.clone(),
            seed: self.seed,
            duration_s: self.experiment.run.duration.as_secs_f64(),
            warmup_s: self.experiment.run.warmup.as_secs_f64(),
            flows,
            links,
            radios,
            budget,
            extensions,
            flow_series,
            control_series,
            link_series,
            events,
            packets,
            fairness: jain_fairness(&goodputs),
            digest,
            engine_events: self.plane.network.events_in_turn(self.events),
            packet_hops: self.plane.network.hops(),
        }
    }

    fn flow_table(&self) -> Table {
        let mut table = FlowsBuilder::default();
        for (flow, spec) in self.flows.iter().zip(&self.experiment.flows) {
            let row = self.flow_row(flow, spec, &mut table);
            table.push(row);
        }
        table.finish()
    }

    /// What TCP's flows have beside the columns of all flows; `None`: no flow is TCP.
    fn tcp_flow_table(&self) -> Option<Table> {
        let mut table = TcpFlowsBuilder::default();
        for (flow, spec) in self.flows.iter().zip(&self.experiment.flows) {
            let Some(tcp) = spec.tcp() else { continue };
            let (end, warm) = (flow.snapshot(&self.plane).tcp, flow.warm().tcp);
            let row = TcpFlowRow {
                flow: table.flow.intern(&spec.name),
                congestion: table.congestion.intern(&tcp.control.name),
                rtos: end.timeouts - warm.timeouts,
                spurious_rtos: end.spurious_timeouts - warm.spurious_timeouts,
                fast_retransmits: end.fast_retransmits - warm.fast_retransmits,
            };
            table.push(row);
        }
        Some(table.finish()).filter(|table| !table.is_empty())
    }

    /// What QUIC's flows have beside the columns of all flows; `None`: no flow is QUIC.
    fn quic_flow_table(&self) -> Option<Table> {
        let flows = self.flows.iter().zip(&self.experiment.flows).filter(|(flow, _)| flow.is_quic());
        quic::table(
            flows.map(|(flow, spec)| (spec.name.as_str(), flow.snapshot(&self.plane).quic, flow.warm().quic)),
        )
    }

    /// The subflows of MPTCP's flows; `None`: no flow is MPTCP.
    fn subflow_table(&self) -> Option<Table> {
        multipath::table(self.flows.iter().zip(&self.experiment.flows).map(|(flow, spec)| {
            let span = flow.measured().map_or(f64::NAN, |measured| measured.span.as_secs_f64());
            let paths = flow.data_by_path().enumerate().map(|(path, data)| {
                let route: Vec<usize> =
                    self.plane.network.route(data).map(|direction| direction as usize / 2).collect();
                PathNames::new(&self.experiment, spec, path, &route)
            });
            (spec.name.as_str(), paths.collect(), flow.subflows(), span)
        }))
    }

    fn flow_row(&self, flow: &Flow, spec: &FlowSpec, table: &mut FlowsBuilder) -> FlowRow {
        let (end, warm) = (flow.snapshot(&self.plane), flow.warm());
        let arrived = end.arrived[0] - warm.arrived[0];
        let [drops, ack_drops] = [0, 1].map(|stream| end.dropped[stream] - warm.dropped[stream]);
        let measured = flow.measured();
        let direction = measured.and_then(|m| m.bottleneck);
        let bottleneck =
            direction.map_or("", |direction| &self.experiment.links[direction as usize / 2].name);
        FlowRow {
            flow: table.flow.intern(&spec.name),
            transport: table.transport.intern(&spec.transport),
            from: table.from.intern(&self.experiment.nodes[spec.from]),
            to: table.to.intern(&self.experiment.nodes[spec.to]),
            start_s: spec.start.as_secs_f64(),
            stop_s: spec.stop.map_or(f64::NAN, Time::as_secs_f64),
            measured_s: measured.map_or(0.0, |m| m.span.as_secs_f64()),
            goodput_bps: goodput(measured),
            delivered_bytes: end.delivered - warm.delivered,
            sent_segments: end.sent - warm.sent,
            retransmitted_segments: end.resent - warm.resent,
            efficiency: measured.map_or(f64::NAN, |m| m.share(m.delivered)),
            bottleneck: table.bottleneck.intern(bottleneck),
            bottleneck_direction: table.bottleneck_direction.intern(match direction {
                Some(direction) if direction % 2 == 1 => "reverse",
                Some(_) => "forward",
                None => "",
            }),
            medium: table
                .medium
                .intern(direction.map_or("", |direction| self.experiment.medium(direction as usize / 2))),
            // Of packets whose fate is known: what is under way at the end is neither delivered nor lost.
            delivery_ratio: ratio(arrived as f64, (arrived + drops) as f64),
            rtt_min_s: flow.rtt.least(),
            rtt_mean_s: flow.rtt.mean(),
            rtt_p50_s: flow.rtt.quantile(0.50),
            rtt_p95_s: flow.rtt.quantile(0.95),
            rtt_p99_s: flow.rtt.quantile(0.99),
            rtt_max_s: flow.rtt.greatest(),
            queuing_delay_mean_s: flow.queuing.mean(),
            queuing_delay_p50_s: flow.queuing.quantile(0.50),
            queuing_delay_p95_s: flow.queuing.quantile(0.95),
            queuing_delay_p99_s: flow.queuing.quantile(0.99),
            drops,
            ack_drops,
            completion_s: flow.completed.map_or(f64::NAN, |at| (at - spec.start).as_secs_f64()),
        }
    }

    /// Payload delivered since the end of the warm-up by the flows whose data crosses each link direction.
    fn payload_by_direction(&self) -> Vec<u64> {
        let mut payload = vec![0; self.plane.network.directions().len()];
        for flow in &self.flows {
            let subflows = flow.subflows();
            // Of MPTCP each subflow's links count what came by that subflow first.
            for (data, bytes) in flow.data_by_path().zip(subflows.first_bytes()) {
                for direction in self.plane.network.route(data) {
                    payload[direction as usize] += bytes;
                }
            }
            if !subflows.is_empty() {
                continue;
            }
            let delivered = flow.delivered() - flow.warm().delivered;
            for direction in self.plane.network.route(flow.data()) {
                payload[direction as usize] += delivered;
            }
        }
        payload
    }
}

fn goodput(measured: Option<Measured>) -> f64 {
    measured.map_or(f64::NAN, |m| ratio(m.delivered as f64 * 8.0, m.span.as_secs_f64()))
}
