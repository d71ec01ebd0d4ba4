//! Of which pipes an account is kept, and when: the budget of the flows that cross them.

use super::Network;
use crate::budget::Awaited;
use cogtcp_units::Time;

impl Network {
    /// Watches where the time of those pipes goes of which one may turn out to be the bottleneck of `stream`: those whose
    /// radio may fall silent or change its rate, and the slowest of the others.
    pub(crate) fn watch_budget(&mut self, stream: usize, is_gated: impl Fn(u32) -> bool) {
        let path = self.path(stream).to_vec();
        let steady = path.iter().copied().filter(|pipe| !is_gated(*pipe));
        let slowest = steady.min_by_key(|pipe| (self.pipes[*pipe as usize].channel_rate(), *pipe));
        for pipe in path.into_iter().filter(|pipe| is_gated(*pipe)).chain(slowest) {
            self.budget.watch(pipe, &mut self.pipes[pipe as usize]);
        }
    }

    /// The measured span of a flow begins, whose data is `stream` and which waits for `awaited`.
    pub(crate) fn begin_budget(&mut self, now: Time, stream: usize, awaited: Awaited) {
        for pipe in self.path(stream).to_vec() {
            self.budget.begin(now, pipe, &mut self.pipes[pipe as usize], awaited);
        }
    }

    /// It ends.
    pub(crate) fn end_budget(&mut self, now: Time, stream: usize, awaited: Awaited) {
        for pipe in self.path(stream).to_vec() {
            self.budget.end(now, pipe, &mut self.pipes[pipe as usize], awaited);
        }
    }
}
