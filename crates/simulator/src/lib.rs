//! The simulator: a virtual clock that drives radios, links and connection ends through one experiment.
//!
//! [`run`] takes an [`Experiment`] (a scenario with every name resolved) and returns a [`Run`]: tables of what the flows
//! delivered, what the links carried and what the radios did. A run is a value: any number of them can go on in one
//! process, and the same experiment and seed give the same bytes everywhere. The model, its definitions and its limits
//! are described in `docs/simulator.md`.
//!
//! Reading order of the source: `queue` (pending events), `packet`, `network` (links, the ways of
//! packets), `forwarding` (nodes and tables), `flow` (two connection ends and their measurements), `gated_links` and `boards` (radios, and who hears of them), `network/stations` (CR users in full and their
//! MAC), `parts` (what few runs have: `train`, a mobile router's warnings, `unreachable`, ICMP, `udp`), `simulation` (the event loop),
//! `budget` (where the bottlenecks' time went), `report` (the tables).

mod adhoc;
mod applications;
mod boards;
mod budget;
mod episode;
mod flow;
mod forwarding;
mod frames;
mod gated_links;
mod look_ahead;
mod network;
mod options;
mod packet;
mod parts;
mod primary_users;
mod queue;
mod receiver_host;
mod report;
mod routes;
mod simulation;
mod trace;
mod train;
mod udp;
mod unreachable;

pub use episode::{CongestionEpisode, CongestionView, SensingEpisode, SensingView};
pub use options::{ControlFactory, ControlFailure, RunError, RunOptions, TraceLevel};

use cogtcp_records::Run;
use cogtcp_scenario::{Experiment, MOST_SERIES_ROWS};
use simulation::Simulation;

/// Runs `experiment`.
pub fn run(experiment: &Experiment, options: &RunOptions) -> Result<Run, RunError> {
    let rows = experiment.series_rows();
    if options.trace >= TraceLevel::Series && rows > MOST_SERIES_ROWS {
        return Err(RunError::SeriesTooLong { rows });
    }
    Simulation::new(std::sync::Arc::new(experiment.clone()), options)?.run(options)
}
