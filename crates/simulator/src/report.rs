//! From the state at the end of a run to its tables.

use crate::flow::{Flow, Measured};
use crate::parts::Ending;
use crate::simulation::Simulation;
use cogtcp_link::{Capacity, DropCause};
use cogtcp_records::tables::{FlowRow, FlowsBuilder, LinkRow, LinksBuilder, RadioRow, RadiosBuilder};
use cogtcp_records::{Run, Table, jain_fairness};
use cogtcp_scenario::FlowSpec;
use cogtcp_station_pair::MacCounters;
use cogtcp_units::Time;

impl Simulation {
    /// The run's result. Every flow's measured span has ended.
    pub(crate) fn report(mut self, digest: u64) -> Run {
        let flows = self.flow_table();
        let links = self.link_table();
        let radios = self.radio_table();
        let extensions = self.parts.report(&Ending {
            experiment: &self.experiment,
            end: self.end,
            network: &self.network,
            flows: &self.flows,
        });
        let budget = self.network.budget.report(&self.experiment, &self.flows, &self.network);
        // Flows without a measured span say nothing of fairness.
        let goodputs: Vec<f64> =
            self.flows.iter().map(|flow| goodput(flow.measured)).filter(|g| !g.is_nan()).collect();
        let [flow_series, control_series, link_series, events, packets] = self.network.trace.finish();
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
            engine_events: self.events,
            packet_hops: self.network.hops,
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

    fn flow_row(&self, flow: &Flow, spec: &FlowSpec, table: &mut FlowsBuilder) -> FlowRow {
        let (end, warm) = (flow.snapshot(&self.network), flow.warm());
        let arrived = end.arrived[0] - warm.arrived[0];
        let [drops, ack_drops] = [0, 1].map(|stream| end.dropped[stream] - warm.dropped[stream]);
        let measured = flow.measured;
        let pipe = measured.and_then(|m| m.bottleneck);
        let bottleneck = pipe.map_or("", |pipe| &self.experiment.links[pipe as usize / 2].name);
        FlowRow {
            flow: table.flow.intern(&spec.name),
            transport: table.transport.intern(&spec.transport),
            congestion: table.congestion.intern(&spec.control.name),
            from: table.from.intern(&self.experiment.nodes[spec.from]),
            to: table.to.intern(&self.experiment.nodes[spec.to]),
            start_s: spec.start.as_secs_f64(),
            stop_s: spec.stop.map_or(f64::NAN, Time::as_secs_f64),
            measured_s: measured.map_or(0.0, |m| m.span.as_secs_f64()),
            goodput_bps: goodput(measured),
            delivered_bytes: end.delivered - warm.delivered,
            sent_segments: end.stats.segments_sent - warm.stats.segments_sent,
            retransmitted_segments: end.stats.segments_retransmitted - warm.stats.segments_retransmitted,
            efficiency: measured.map_or(f64::NAN, |m| m.share(m.delivered)),
            bottleneck: table.bottleneck.intern(bottleneck),
            bottleneck_direction: table.bottleneck_direction.intern(match pipe {
                Some(pipe) if pipe % 2 == 1 => "reverse",
                Some(_) => "forward",
                None => "",
            }),
            delivery_ratio: ratio(arrived as f64, (arrived + drops) as f64),
            rtos: end.stats.timeouts - warm.stats.timeouts,
            spurious_rtos: end.stats.spurious_timeouts - warm.stats.spurious_timeouts,
            fast_retransmits: end.stats.fast_retransmits - warm.stats.fast_retransmits,
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

    fn link_table(&mut self) -> Table {
        let (end, span) = (self.end, self.measured_nanos());
        let payload = self.payload_by_pipe();
        let mut table = LinksBuilder::default();
        for (number, pipe) in self.network.pipes.iter_mut().enumerate() {
            let link = &self.experiment.links[number / 2];
            let (direction, from, to) = if number % 2 == 0 {
                ("forward", link.from, link.to)
            } else {
                ("reverse", link.to, link.from)
            };
            let before = self.pipe_baselines.get(number).copied().unwrap_or_default();
            let mut pairs = self.network.station_pairs.iter();
            let pair = pairs.find(|served| served.pair.pipes().contains(&(number as u32)));
            // Links without a MAC count no attempts.
            let mac = pair.map_or_else(MacCounters::default, |served| served.pair.measured(number % 2));
            let capacity = pipe.capacity(end);
            let available = Capacity::bytes(capacity.available - before.capacity.available);
            let carried = pipe.carried(end) - before.carried;
            let counters = *pipe.counters();
            let drops =
                |cause: DropCause| counters.drops[cause as usize] - before.counters.drops[cause as usize];
            let row = LinkRow {
                link: table.link.intern(&link.name),
                direction: table.direction.intern(direction),
                from: table.from.intern(&self.experiment.nodes[from]),
                to: table.to.intern(&self.experiment.nodes[to]),
                capacity_bytes: available,
                channel_bytes: Capacity::bytes(capacity.channel - before.capacity.channel),
                carried_bytes: carried,
                utilisation: ratio(carried, available),
                efficiency: ratio(payload[number] as f64, available),
                offered_packets: counters.offered - before.counters.offered,
                delivered_packets: counters.delivered - before.counters.delivered,
                drops_queue: drops(DropCause::Queue),
                drops_loss: drops(DropCause::Loss),
                drops_silence: drops(DropCause::Silence),
                drops_retry: drops(DropCause::Retry),
                drops_interference: drops(DropCause::Interference),
                drops_early: drops(DropCause::Early),
                marked_packets: pipe.marked() - before.marked,
                attempts: mac.attempts,
                attempts_interfered: mac.interfered,
                attempts_unanswered: mac.unanswered,
                attempts_collided: mac.collided,
                attempts_garbled: mac.garbled,
                queue_mean_packets: (pipe.queue_integral(end) - before.queue_integral) as f64 / span,
                queue_max_packets: pipe.queue_max(),
                silence_s: (capacity.silence - before.capacity.silence) as f64 / 1e9,
            };
            table.push(row);
        }
        table.finish()
    }

    fn radio_table(&self) -> Table {
        let mut table = RadiosBuilder::default();
        for (number, spec) in self.experiment.radios.iter().enumerate() {
            let cycle = self.radios.iter().find(|radio| radio.number == number);
            let pair = self.network.station_pairs.iter().find(|served| served.radio == number);
            if let Some(radio) = cycle {
                let row = RadioRow::new(table.radio.intern(&spec.name), &radio.measured(self.end), None);
                table.push(row);
            } else if let Some(served) = pair {
                for (unit, name) in served.pair.radios().iter().zip(self.experiment.radio_names(spec)) {
                    let (stats, protection) = unit.measured(self.end);
                    let row = RadioRow::new(table.radio.intern(&name), &stats, Some(&protection));
                    table.push(row);
                }
            }
        }
        for (name, stats, protection) in self.parts.radios(self.end) {
            let row = RadioRow::new(table.radio.intern(&name), &stats, Some(&protection));
            table.push(row);
        }
        table.finish()
    }

    /// Payload delivered since the end of the warm-up by the flows whose data crosses each pipe.
    fn payload_by_pipe(&self) -> Vec<u64> {
        let mut payload = vec![0; self.network.pipes.len()];
        for (number, flow) in self.flows.iter().enumerate() {
            let delivered = flow.receiver.delivered() - flow.warm().delivered;
            for pipe in self.network.path(2 * number) {
                payload[*pipe as usize] += delivered;
            }
        }
        payload
    }

    fn measured_nanos(&self) -> f64 {
        (self.experiment.run.duration - self.experiment.run.warmup).as_nanos() as f64
    }
}

fn goodput(measured: Option<Measured>) -> f64 {
    measured.map_or(f64::NAN, |m| ratio(m.delivered as f64 * 8.0, m.span.as_secs_f64()))
}

/// `part / whole`; not-a-number when the whole is zero.
pub(crate) fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { f64::NAN }
}
