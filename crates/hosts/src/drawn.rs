//! What a seed decides before a run begins: when flows start, and how the timers of hosts tick.

use cogtcp_scenario::{Experiment, FlowSpec, Protocol, TcpSpec};
use cogtcp_units::{Duration, RandomStream};
use std::borrow::Cow;
use std::sync::Arc;

/// Ticks from which a wheel's phase is drawn: the span of its coarsest level, except for timers of minutes.
const PHASES: u64 = 1 << 15;

/// Returns `experiment` as it is with `seed`. Each flow has a stream of its own for its start, each host one
/// for its timers. An experiment that has been drawn has nothing left to draw, and stays the same if drawn
/// again. Only what draws is copied.
#[must_use]
pub fn drawn(experiment: Cow<'_, Experiment>, seed: u64) -> Cow<'_, Experiment> {
    if !experiment.flows.iter().any(draws) {
        return experiment;
    }
    let mut experiment = experiment.into_owned();
    for flow in &mut experiment.flows {
        // Taken, so that an experiment that is drawn again stays the same.
        let jitter = std::mem::take(&mut flow.start_jitter);
        if !jitter.is_zero() {
            let mut stream = RandomStream::new(seed, &format!("start/{}", flow.name), 0);
            flow.start += stream.uniform_duration(Duration::ZERO, jitter);
        }
        let Protocol::Tcp(tcp) = &mut flow.protocol else { continue };
        if draws_phase(tcp) {
            let phase = |node: usize| {
                let mut stream =
                    RandomStream::new(seed, &format!("timers/{}", experiment.network.nodes[node]), 0);
                stream.uniform_duration(Duration::ZERO, tcp.sender.timers.timer_tick * PHASES)
            };
            let (from, to) = (phase(flow.from), phase(flow.to));
            Arc::make_mut(&mut tcp.sender).timers.timer_phase = Some(from);
            Arc::make_mut(&mut tcp.receiver).wheel.phase = to;
        }
    }
    Cow::Owned(experiment)
}

/// Whether `flow` has a start or timers that a seed is to draw.
fn draws(flow: &FlowSpec) -> bool {
    let ticks = matches!(&flow.protocol, Protocol::Tcp(tcp) if draws_phase(tcp));
    ticks || !flow.start_jitter.is_zero()
}

/// Whether the timers of a flow's sender tick, and nothing says when.
fn draws_phase(tcp: &TcpSpec) -> bool {
    let timers = &tcp.sender.timers;
    !timers.timer_tick.is_zero() && timers.timer_phase.is_none()
}
