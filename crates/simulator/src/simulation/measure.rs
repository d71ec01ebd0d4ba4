//! What the event loop reads off links and flows: where metrics begin, the points of the time series, and whether no link carried more
//! than it can.

use super::Simulation;
use crate::options::RunError;
use crate::packet::Pipe;
use cogtcp_link::{Capacity, LinkCounters};
use cogtcp_records::Code;
use cogtcp_records::tables::{FlowSample, LinkSample};
use cogtcp_units::Time;

/// A pipe at the end of the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PipeBaseline {
    pub(crate) counters: LinkCounters,
    pub(crate) carried: f64,
    pub(crate) capacity: Capacity,
    pub(crate) queue_integral: u64,
    pub(crate) marked: u64,
}

impl Simulation {
    /// Metrics count from `now`.
    pub(super) fn end_warmup(&mut self, now: Time) {
        self.warm = true;
        for flow in &mut self.flows {
            // Counters run from time zero and are subtracted at the end. Only what cannot be subtracted begins anew:
            // distributions, the greatest queue.
            flow.end_warmup(now, &self.network);
            if flow.has_started() {
                flow.begin_measure(now, &mut self.network);
            }
        }
        for radio in &mut self.radios {
            radio.end_warmup(now);
        }
        self.parts.end_warmup(now, &self.network);
        for served in &mut self.network.station_pairs {
            served.pair.end_warmup(now);
        }
        // At time zero nothing has happened.
        if now == Time::ZERO {
            return;
        }
        let baseline = |pipe: &mut Pipe| {
            // The greatest length is no difference of two readings; it begins with what lies there now.
            pipe.restart_maximum(now);
            PipeBaseline {
                carried: pipe.carried(now),
                queue_integral: pipe.queue_integral(now),
                capacity: pipe.capacity(now),
                counters: *pipe.counters(),
                marked: pipe.marked(),
            }
        };
        self.pipe_baselines = self.network.pipes.iter_mut().map(baseline).collect();
    }

    /// One point of every series.
    pub(super) fn sample(&mut self, now: Time) {
        let interval = self.experiment.run.sample_interval.as_secs_f64();
        let time_s = now.as_secs_f64();
        for (number, flow) in self.flows.iter().enumerate() {
            if !flow.is_active() {
                continue;
            }
            let state = flow.sender.state();
            let mss = state.mss.max(1) as f64;
            let delivered = flow.receiver.delivered();
            let gained = delivered - std::mem::replace(&mut self.sampled_flows[number], delivered);
            let row = FlowSample {
                time_s,
                flow: Code(number as u32),
                cwnd_segments: flow.cwnd_segments(),
                // Without a loss so far it is arbitrarily high (RFC 5681): no number.
                ssthresh_segments: if state.ssthresh == u64::MAX {
                    f64::NAN
                } else {
                    state.ssthresh as f64 / mss
                },
                srtt_s: if state.srtt.is_zero() { f64::NAN } else { state.srtt.as_secs_f64() },
                in_flight_segments: state.in_flight as f64 / mss,
                goodput_bps: gained as f64 * 8.0 / interval,
            };
            // Borrowed apart from `flow`, whose control hands its state to the closure.
            let (trace, code) = (&mut self.network.trace, row.flow);
            trace.flow_sample(row);
            let control = flow.sender.control();
            control.observe(state, &mut |name, value| trace.control_sample(time_s, code, name, value));
        }
        for (number, pipe) in self.network.pipes.iter_mut().enumerate() {
            let carried = pipe.carried(now);
            let gained = carried - std::mem::replace(&mut self.sampled_pipes[number], carried);
            self.network.trace.link_sample(LinkSample {
                time_s,
                link: Code(number as u32 / 2),
                direction: Code(number as u32 % 2),
                queue_packets: pipe.queue_length(now),
                rate_bps: pipe.rate_at(now).bits_per_second() as f64,
                throughput_bps: gained * 8.0 / interval,
            });
        }
    }

    /// No link direction carried more than its capacity, neither in the whole run nor since the end of the warm-up.
    pub(super) fn check_capacity(&mut self) -> Result<(), RunError> {
        let whole = PipeBaseline::default();
        for (number, pipe) in self.network.pipes.iter_mut().enumerate() {
            for before in [Some(&whole), self.pipe_baselines.get(number)].into_iter().flatten() {
                let available = pipe.capacity(self.end).available - before.capacity.available;
                let (carried, most) = (pipe.carried(self.end) - before.carried, Capacity::bytes(available));
                // Transmission times are whole nanoseconds: each packet may seem to carry a little more than its time held.
                if carried > most + pipe.rounding(pipe.counters().offered) {
                    return Err(RunError::Conservation(format!(
                        "link direction {number} carried {carried} bytes and could carry {most}"
                    )));
                }
            }
        }
        Ok(())
    }
}
