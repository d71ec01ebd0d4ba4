//! The real-kernel plane, where there is one: Linux.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

use crate::run::Run;
use crate::scenario::Scenario;

/// How to emulate, beside the scenario.
#[derive(Debug, FromPyObject)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "there is nothing to set"))]
pub(crate) struct Job {
    seed: Option<u64>,
    duration_s: Option<f64>,
    command: Vec<OsString>,
    peer: Vec<OsString>,
    journal: Option<PathBuf>,
    captures: bool,
    ipv6: bool,
    device: String,
    states: Option<i32>,
    links: Option<i32>,
    r#virtual: bool,
    parent: i32,
}

#[cfg(target_os = "linux")]
pub(crate) use plane::{device_kind, raised};

#[cfg(target_os = "linux")]
mod plane {
    use super::{Job, Run, Scenario};
    use crate::errors::{input_error, no_plane_error, run_error};
    use crate::run::to_python;
    use cogtcp_emulator::{DeviceKind, EmulationError, Family, Options, Plan};
    use cogtcp_scenario::Experiment;
    use cogtcp_units::Duration;
    use pyo3::prelude::*;
    use std::borrow::Cow;
    use std::sync::Arc;

    pub(crate) fn raised(py: Python<'_>, error: &EmulationError) -> PyErr {
        match error {
            EmulationError::Scenario { .. } => input_error(py, &error.to_string()),
            _ if error.lacks_plane() => no_plane_error(py, &error.to_string()),
            _ => run_error(py, &error.to_string()),
        }
    }

    /// The devices of this name.
    pub(crate) fn device_kind(name: &str) -> DeviceKind {
        match name {
            "tun" => DeviceKind::Tun,
            "veth" => DeviceKind::Veth,
            _ => DeviceKind::Any,
        }
    }

    fn plan(
        py: Python<'_>,
        experiment: Experiment,
        seed: Option<u64>,
        is_command: bool,
        is_ipv6: bool,
    ) -> PyResult<Plan> {
        let seed = seed.unwrap_or_else(|| experiment.run.seed.get());
        let family = if is_ipv6 { Family::V6 } else { Family::V4 };
        Plan::new(cogtcp_hosts::drawn(Cow::Owned(experiment), seed).into_owned(), is_command, family)
            .map_err(|error| raised(py, &error))
    }

    pub(super) fn check(
        py: Python<'_>,
        scenario: &Scenario,
        is_command: bool,
        is_ipv6: bool,
    ) -> PyResult<Vec<String>> {
        let experiment = scenario.resolve(py, &Arc::default())?;
        Ok(plan(py, experiment, None, is_command, is_ipv6)?.notes)
    }

    pub(super) fn emulate(py: Python<'_>, scenario: &Scenario, job: Job) -> PyResult<Run> {
        // On this thread: the emulation needs a process that has one.
        let experiment = scenario.resolve_here(py)?;
        let plan = plan(py, experiment, job.seed, !job.command.is_empty(), job.ipv6)?;
        let options = Options {
            seed: job.seed,
            duration: job.duration_s.map(Duration::from_secs_f64),
            command: job.command,
            peer: job.peer,
            journal: job.journal,
            captures: job.captures,
            device: device_kind(&job.device),
            states: job.states,
            links: job.links,
            is_virtual: job.r#virtual,
            parent: job.parent,
        };
        match py.detach(|| cogtcp_emulator::emulate(&plan, &options)) {
            Ok(run) => to_python(py, run),
            Err(error) => Err(raised(py, &error)),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod plane {
    use super::{Job, Run, Scenario};
    use crate::errors::no_plane_error;
    use pyo3::prelude::*;

    fn refusal(py: Python<'_>) -> PyErr {
        no_plane_error(py, "the kernel plane needs Linux; elsewhere a virtual machine with Linux runs it")
    }

    pub(super) fn check(py: Python<'_>, _: &Scenario, _: bool, _: bool) -> PyResult<Vec<String>> {
        Err(refusal(py))
    }

    pub(super) fn emulate(py: Python<'_>, _: &Scenario, _: Job) -> PyResult<Run> {
        Err(refusal(py))
    }
}

/// Checks that a scenario can be emulated, its own flows, over IPv4 or IPv6, or a command; returns what will
/// be unlike it.
#[pyfunction]
pub(crate) fn check_emulation(
    py: Python<'_>,
    scenario: &Scenario,
    is_command: bool,
    is_ipv6: bool,
) -> PyResult<Vec<String>> {
    plane::check(py, scenario, is_command, is_ipv6)
}

/// Emulates a scenario. It takes the process for itself, which must have one thread and end soon after: it
/// leaves the namespaces that it was in for good.
#[pyfunction]
pub(crate) fn emulate(py: Python<'_>, scenario: &Scenario, job: Job) -> PyResult<Run> {
    plane::emulate(py, scenario, job)
}
