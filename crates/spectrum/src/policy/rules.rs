//! The policies.

use super::{Decision, DecisionPolicy, DecisionView};
use crate::ChannelId;
use cogtcp_units::{Duration, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// The next channel by number: (current + 1) % (B n), passing over reserved ones (MSWiM 2009, equation 3).
/// With a single channel it "switches" to that one, delay and all, as the paper's pseudocode does.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundRobin;

impl DecisionPolicy for RoundRobin {
    fn name(&self) -> &'static str {
        "round_robin"
    }

    fn decide(&mut self, view: &DecisionView<'_>, _: &mut RandomStream) -> Decision {
        Decision::Switch(view.others().next().unwrap_or(view.current))
    }
}

/// Any other channel, uniformly.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomChannel;

impl DecisionPolicy for RandomChannel {
    fn name(&self) -> &'static str {
        "random"
    }

    fn decide(&mut self, view: &DecisionView<'_>, stream: &mut RandomStream) -> Decision {
        let count = view.others().count() as u64;
        // Without another channel nothing is drawn.
        let chosen = if count == 0 { None } else { view.others().nth(stream.below(count) as usize) };
        chosen.map_or(Decision::Stay, Decision::Switch)
    }
}

/// Never leaves: waits on its channel until the PU has gone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sticky;

impl DecisionPolicy for Sticky {
    fn name(&self) -> &'static str {
        "sticky"
    }

    fn decide(&mut self, _: &DecisionView<'_>, _: &mut RandomStream) -> Decision {
        Decision::Stay
    }
}

/// The other channel on which the fewest sensings reported a PU so far; the first in round-robin order among
/// equals.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeastBusy;

impl DecisionPolicy for LeastBusy {
    fn name(&self) -> &'static str {
        "least_busy"
    }

    fn decide(&mut self, view: &DecisionView<'_>, _: &mut RandomStream) -> Decision {
        let share = |id: &ChannelId| view.history.busy_share(*id);
        // `min_by` takes the first of equals.
        let best = view.others().min_by(|a, b| share(a).partial_cmp(&share(b)).unwrap_or(Ordering::Equal));
        best.map_or(Decision::Stay, Decision::Switch)
    }
}

/// The fastest other channel on which no PU was reported within `memory`; the first in round-robin order
/// among equals. When a PU was reported on all of them, the next in round-robin order.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BestRate {
    /// How long a report of a PU keeps the radio off a channel.
    pub memory: Duration,
}

impl Default for BestRate {
    /// One second, the mean ON time of the paper's scenarios.
    fn default() -> Self {
        Self { memory: Duration::from_secs(1) }
    }
}

impl DecisionPolicy for BestRate {
    fn name(&self) -> &'static str {
        "best_rate"
    }

    fn decide(&mut self, view: &DecisionView<'_>, _: &mut RandomStream) -> Decision {
        let rate = |id: &ChannelId| view.channels.get(*id).map(|channel| channel.rate);
        // `max_by_key` takes the last of equals: backwards, that is the first.
        let order: Vec<ChannelId> = view.others().collect();
        let free = order.iter().rev().filter(|id| !view.history.was_busy(**id, view.now, self.memory));
        let best = free.max_by_key(|id| rate(id)).or(order.first());
        best.map_or(Decision::Stay, |id| Decision::Switch(*id))
    }
}
