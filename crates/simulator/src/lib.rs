//! The simulator: a virtual clock that drives radios, links and connection ends through one experiment.
//!
//! [`run`] takes an [`Experiment`] (a scenario with every name resolved) and returns a [`Run`]: tables of
//! what the flows delivered, what the links carried and what the radios did. A run is a value: any number of
//! them can go on in one process, and the same experiment and seed give the same bytes everywhere. The model,
//! its definitions and its limits are described in `docs/simulator.md`.
//!
//! The network between the hosts is [`cogtcp_network`], the hosts are [`cogtcp_hosts`]; here are the clock
//! and the record of the run. Reading order of the source: `event` (timers of hosts), `packet`, `plane` and
//! `recorder` (the network with this simulator's packets, and its observer). Then `parts` (rarely used:
//! `train`, a mobile router's warnings, `udp`, `applications`), `simulation` (the event loop), `report` (the
//! tables).

mod applications;
mod episode;
mod event;
mod frames;
mod options;
mod packet;
mod parts;
mod plane;
mod prefetch;
mod primary_users;
mod receiver_host;
mod recorder;
mod report;
mod simulation;
mod trace;
mod train;
mod udp;

pub use episode::{CongestionEpisode, CongestionView, SensingEpisode, SensingView};
pub use options::{ControlFactory, ControlFailure, RunError, RunOptions, TraceLevel};

use cogtcp_records::Run;
use cogtcp_scenario::{Experiment, MOST_SERIES_ROWS};
use simulation::Simulation;
use std::borrow::Cow;

/// Runs `experiment`.
pub fn run(experiment: &Experiment, options: &RunOptions) -> Result<Run, RunError> {
    let rows = experiment.series_rows();
    if options.trace >= TraceLevel::Series && rows > MOST_SERIES_ROWS {
        return Err(RunError::SeriesTooLong { rows });
    }
    Simulation::new(Cow::Borrowed(experiment), options)?.run(options)
}
