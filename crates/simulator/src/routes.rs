//! The ways of streams: shortest paths, and what it means that there is none.

use crate::options::RunError;
use cogtcp_scenario::{Experiment, Routes};

/// Finds paths in an experiment's graph.
#[derive(Debug)]
pub(crate) struct Router<'a> {
    experiment: &'a Experiment,
    routes: Routes<'a>,
}

impl<'a> Router<'a> {
    pub(crate) fn new(experiment: &'a Experiment) -> Self {
        Self { experiment, routes: Routes::new(experiment) }
    }

    /// The pipes from node `from` to node `to`, another one; `what` needs them.
    pub(crate) fn path_for(
        &mut self,
        from: usize,
        to: usize,
        what: impl FnOnce() -> String,
    ) -> Result<Vec<u32>, RunError> {
        let on_air = self.experiment.adhoc.is_some();
        let path = self.routes.path(from, to).filter(|path| on_air || !path.is_empty());
        path.ok_or_else(|| RunError::NoRoute {
            flow: what(),
            from: self.experiment.nodes[from].clone(),
            to: self.experiment.nodes[to].clone(),
        })
    }
}
