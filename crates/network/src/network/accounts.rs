//! Which link directions an account of time is kept of, and when: the budget of the flows that cross them.

use super::Network;
use crate::budget::FlowSpan;
use crate::payload::{Awaited, Payload, StreamId};
use cogtcp_layout::NetworkSpec;
use cogtcp_records::Table;
use cogtcp_units::Time;

impl<P: Payload> Network<P> {
    /// Tracks links that may be the bottleneck of each of `streams`. These are link directions whose radio may
    /// fall silent or change its rate, link directions whose rate follows a trace, and the slowest of the
    /// others.
    pub fn watch_budget(&mut self, streams: impl IntoIterator<Item = StreamId>, layout: &NetworkSpec) {
        let mut is_gated = layout.gated_links();
        for (link, gated) in layout.links.iter().zip(&mut is_gated) {
            *gated |= link.forward.trace.is_some() || link.reverse.trace.is_some();
        }
        for stream in streams {
            self.watch_route(self.route(stream).collect(), |direction| is_gated[direction as usize / 2]);
        }
    }

    fn watch_route(&mut self, route: Vec<u32>, is_gated: impl Fn(u32) -> bool) {
        let steady = route.iter().copied().filter(|direction| !is_gated(*direction));
        // By number among equals, as the bottleneck of a flow is found at its end.
        let slowest =
            steady.min_by_key(|direction| (self.directions[*direction as usize].channel_rate(), *direction));
        for direction in route.into_iter().filter(|direction| is_gated(*direction)).chain(slowest) {
            self.budget.watch(direction, &mut self.directions[direction as usize]);
        }
    }

    /// The measured span of a flow begins, whose data is `stream` and which waits for `awaited`.
    pub fn begin_budget(&mut self, now: Time, stream: StreamId, awaited: Awaited) {
        for direction in self.route(stream).collect::<Vec<_>>() {
            self.budget.begin(now, direction, &mut self.directions[direction as usize], awaited);
        }
    }

    /// It ends.
    pub fn end_budget(&mut self, now: Time, stream: StreamId, awaited: Awaited) {
        for direction in self.route(stream).collect::<Vec<_>>() {
            self.budget.end(now, direction, &mut self.directions[direction as usize], awaited);
        }
    }

    /// The table of budgets: a row for each link direction that is the bottleneck of a flow.
    pub fn budget_table(&self, layout: &NetworkSpec, flows: &[FlowSpan]) -> Table {
        let routes = |flow: &FlowSpan| self.route(flow.stream).collect();
        self.budget.report(layout, flows, routes)
    }

    /// Checks that the states of each watched link sum to its span, and what transmitting is left is the time
    /// that the carried bytes take.
    ///
    /// # Errors
    ///
    /// The first link direction that breaks the rule.
    pub fn check_budget(&self) -> Result<(), String> {
        self.budget.check(&self.directions)
    }
}
