//! Scenarios.

use crate::control;
use crate::errors::{input_error, scenario_error};
use cogtcp_scenario::{STARTERS, Scenario as Inner, ScenarioError, is_external};
use cogtcp_transport::Preset;
use pyo3::prelude::*;

/// A scenario as its author wrote it. Immutable: what changes it returns another.
#[pyclass(frozen, module = "cogtcp._core")]
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) inner: Inner,
}

fn wrap(py: Python<'_>, scenario: Result<Inner, ScenarioError>) -> PyResult<Scenario> {
    scenario.map(|inner| Scenario { inner }).map_err(|error| scenario_error(py, &error))
}

#[pymethods]
impl Scenario {
    /// Reads a TOML text; `file` is what errors call it.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, file: &str) -> PyResult<Self> {
        wrap(py, Inner::parse(text, file))
    }

    /// Reads the JSON form; `source` is what errors call it.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str, source: &str) -> PyResult<Self> {
        wrap(py, Inner::from_json(text, source))
    }

    /// The scenario as TOML, every default written out.
    fn to_toml(&self) -> String {
        self.inner.to_toml()
    }

    /// The scenario as JSON.
    fn to_json(&self) -> String {
        self.inner.to_json()
    }

    /// The same scenario with one field set to a value, written as in TOML; a text needs no quotes.
    fn set(&self, py: Python<'_>, path: &str, value: &str) -> PyResult<Self> {
        wrap(py, self.inner.set(path, value))
    }

    /// The same scenario under another transport.
    fn with_transport(&self, py: Python<'_>, name: &str) -> PyResult<Self> {
        wrap(py, self.inner.with_transport(name))
    }

    /// Raises unless the scenario can be simulated.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let experiment = self.inner.resolve().map_err(|error| scenario_error(py, &error))?;
        for flow in experiment.flows.iter().filter(|flow| is_external(&flow.control.name)) {
            control::build(flow)
                .map_err(|error| input_error(py, &format!("flow \"{}\": {error}", flow.name)))?;
        }
        Ok(())
    }

    /// The files that the scenario refers to.
    fn files(&self) -> Vec<std::path::PathBuf> {
        self.inner.files()
    }

    /// What looks unmeant in the scenario, one line each.
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings().iter().map(ToString::to_string).collect()
    }

    /// The scenario's name.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// What the scenario is about.
    #[getter]
    fn description(&self) -> &str {
        &self.inner.description
    }

    /// The seed that the scenario names.
    #[getter]
    fn seed(&self) -> u64 {
        self.inner.run.seed.get()
    }
}

/// The JSON Schema of scenario files.
#[pyfunction]
pub(crate) fn schema() -> String {
    Inner::json_schema().to_string()
}

/// The starter scenarios.
#[pyfunction]
pub(crate) fn starters() -> Vec<(&'static str, &'static str)> {
    STARTERS.to_vec()
}

/// A commented scenario to start from.
#[pyfunction]
pub(crate) fn starter(py: Python<'_>, kind: &str) -> PyResult<String> {
    cogtcp_scenario::starter(kind).map_err(|error| scenario_error(py, &error))
}

/// The transport presets: name and summary.
#[pyfunction]
pub(crate) fn transports() -> Vec<(&'static str, &'static str)> {
    Preset::all().iter().map(|preset| (preset.name, preset.summary)).collect()
}
