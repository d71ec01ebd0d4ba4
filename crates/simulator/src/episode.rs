//! Runs that an agent steers: each goes on to the next decision and hands control back.
//!
//! Between two decisions the run is like any other. An episode is a value without a thread, so that one
//! thread can hold many. `congestion`: the congestion window of a flow. `sensing`: the times of a CR user's
//! cycle.

mod congestion;
mod sensing;

pub use congestion::{CongestionEpisode, CongestionView};
pub use sensing::{SensingEpisode, SensingView};

use crate::options::RunError;
use cogtcp_hosts::{Flow, Tcp};
use cogtcp_scenario::Experiment;

/// Refuses an agent's flow that is not TCP. A number that no flow has is for the caller to refuse.
fn check_tcp(experiment: &Experiment, flow: usize) -> Result<(), RunError> {
    match experiment.flows.get(flow) {
        Some(spec) if spec.tcp().is_none() => {
            Err(RunError::NotTcp { flow: spec.name.clone(), transport: spec.transport.clone() })
        }
        _ => Ok(()),
    }
}

/// TCP's ends of an agent's flow.
fn tcp(flow: &Flow) -> &Tcp {
    flow.tcp().unwrap_or_else(|| unreachable!("an agent's flow is TCP: checked when the episode began"))
}
