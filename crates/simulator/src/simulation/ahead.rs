//! Which networks hand packets on ahead of time, and when somebody looks at links.

use super::Simulation;
use crate::options::{RunOptions, TraceLevel};
use cogtcp_units::Time;

impl Simulation<'_> {
    /// Chooses the links that hand packets on ahead of time. The choice changes no result.
    pub(super) fn plan_ahead(&mut self, options: &RunOptions) {
        if options.trace >= TraceLevel::Full || !self.parts.is_empty() {
            return;
        }
        let mut is_gated = vec![false; self.experiment.links.len()];
        self.experiment.radios.iter().flat_map(|radio| &radio.links).for_each(|link| is_gated[*link] = true);
        self.plane.network.plan_ahead(|link| is_gated[link]);
    }

    /// Tells the network up to when nobody looks at links. Looks are starts and stops of flows, samples, the
    /// end of the warm-up, and `until`, where play ends.
    pub(super) fn set_horizon(&mut self, until: Time) {
        let warmup = if self.warm { Time::MAX } else { self.warmup };
        let flow = self.looks.last().copied().unwrap_or(Time::MAX);
        self.plane.network.set_horizon(until.min(self.next_sample).min(warmup).min(flow));
    }
}
