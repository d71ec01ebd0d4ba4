//! What the event loop reads off links and flows: where metrics begin, and the points of the time series.

use super::Simulation;
use cogtcp_records::Code;
use cogtcp_records::tables::{FlowSample, LinkSample};
use cogtcp_units::Time;

impl Simulation<'_> {
    /// Metrics count from `now`.
    pub(super) fn end_warmup(&mut self, now: Time) {
        self.warm = true;
        for flow in &mut self.flows {
            // Counters run from time zero and are subtracted at the end. Only what cannot be subtracted
            // begins again: distributions, the greatest queue.
            flow.end_warmup(now, &self.plane);
            if flow.has_started() {
                flow.begin_measure(now, &mut self.plane);
            }
        }
        self.parts.end_warmup(now, &self.plane);
        self.plane.network.end_warmup(now);
    }

    /// One point of every series.
    pub(super) fn sample(&mut self, now: Time) {
        let interval = self.experiment.run.sample_interval.as_secs_f64();
        let time_s = now.as_secs_f64();
        for (number, flow) in self.flows.iter().enumerate() {
            if !flow.is_active() {
                continue;
            }
            let delivered = flow.delivered();
            let gained = delivered - std::mem::replace(&mut self.sampled_flows[number], delivered);
            let code = Code(number as u32);
            let trace = &mut self.plane.recorder.trace;
            trace.flow_sample(FlowSample {
                time_s,
                flow: code,
                goodput_bps: gained as f64 * 8.0 / interval,
                ..flow.sample()
            });
            flow.observe(&mut |name, value| trace.control_sample(time_s, code, name, value));
        }
        for number in 0..self.plane.network.directions().len() {
            let direction = self.plane.network.direction(number as u32);
            let carried = direction.carried(now);
            let gained = carried - std::mem::replace(&mut self.sampled_directions[number], carried);
            let row = LinkSample {
                time_s,
                link: Code(number as u32 / 2),
                direction: Code(number as u32 % 2),
                queue_packets: direction.queue_length(now),
                rate_bps: direction.rate_at(now).bits_per_second() as f64,
                throughput_bps: gained * 8.0 / interval,
            };
            self.plane.recorder.trace.link_sample(row);
        }
    }
}
