//! Scenarios.

use crate::control;
use crate::errors::{input_error, scenario_error};
use crate::wait::interruptible;
use cogtcp_scenario::{
    Experiment, LinkSpec, NetworkSpec, STARTERS, Scenario as Inner, ScenarioError, all_transports,
};
use pyo3::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A scenario as its author wrote it. Immutable: a change returns another scenario.
#[pyclass(frozen, module = "cogtcp._core")]
#[derive(Debug)]
pub(crate) struct Scenario {
    inner: Arc<Inner>,
    allowed: Allowed,
}

/// The controls written in Python that may be looked for, which runs their modules. A name is not enough,
/// wherever it comes from: it takes somebody who trusts the text, or who allows the name (`allowing`).
#[derive(Clone, Debug)]
enum Allowed {
    /// All: the text is trusted.
    All,
    /// Those that were allowed by name.
    These(BTreeSet<String>),
}

impl Allowed {
    fn new(names: Option<BTreeSet<String>>) -> Self {
        names.map_or(Self::All, Self::These)
    }

    fn with(&self, more: BTreeSet<String>) -> Self {
        match self {
            Self::All => Self::All,
            Self::These(names) => Self::These(names | &more),
        }
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(names) => names.contains(name),
        }
    }
}

impl Scenario {
    fn wrap(py: Python<'_>, scenario: Result<Inner, ScenarioError>, allowed: Allowed) -> PyResult<Self> {
        let inner = scenario.map_err(|error| scenario_error(py, &error))?;
        Ok(Self { inner: Arc::new(inner), allowed })
    }

    /// The experiment that the scenario describes. Ctrl-C and `cancel` stop the reading of the files that it
    /// names.
    pub(crate) fn resolve(&self, py: Python<'_>, cancel: &Arc<AtomicBool>) -> PyResult<Experiment> {
        self.check_external(py)?;
        // Without files nothing can block, and no thread is needed.
        let resolved = if self.inner.files().is_empty() {
            self.inner.resolve()
        } else {
            let inner = Arc::clone(&self.inner);
            interruptible(py, cancel, move || inner.resolve())?
        };
        resolved.map_err(|error| scenario_error(py, &error))
    }

    /// Resolves without a thread of its own, for a process that may have one thread only. A thread that reads
    /// a file still exists for a while after its answer. Signals act here as without Python.
    #[cfg(target_os = "linux")]
    pub(crate) fn resolve_here(&self, py: Python<'_>) -> PyResult<Experiment> {
        self.check_external(py)?;
        py.detach(|| self.inner.resolve()).map_err(|error| scenario_error(py, &error))
    }

    fn check_external(&self, py: Python<'_>) -> PyResult<()> {
        let allowed = self.inner.check_external(|name| self.allowed.has(name));
        allowed.map_err(|error| scenario_error(py, &error))
    }
}

#[pymethods]
impl Scenario {
    /// Reads a TOML text; `file` is what errors call it, and where the files lie that it names. `allowed` are
    /// the controls in Python that it may name; None: any.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, file: &str, allowed: Option<BTreeSet<String>>) -> PyResult<Self> {
        Self::wrap(py, Inner::parse(text, file), Allowed::new(allowed))
    }

    /// Reads a TOML file.
    #[staticmethod]
    fn read(py: Python<'_>, file: PathBuf, allowed: Option<BTreeSet<String>>) -> PyResult<Self> {
        let read = interruptible(py, &Arc::default(), move || Inner::read(&file))?;
        Self::wrap(py, read, Allowed::new(allowed))
    }

    /// Reads the JSON form; `source` is what errors call it.
    #[staticmethod]
    fn from_json(
        py: Python<'_>,
        text: &str,
        source: &str,
        allowed: Option<BTreeSet<String>>,
    ) -> PyResult<Self> {
        Self::wrap(py, Inner::from_json(text, source), Allowed::new(allowed))
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
        Self::wrap(py, self.inner.set(path, value), self.allowed.clone())
    }

    /// The same scenario under another transport.
    fn with_transport(&self, py: Python<'_>, name: &str) -> PyResult<Self> {
        Self::wrap(py, self.inner.with_transport(name), self.allowed.clone())
    }

    /// The same scenario, which may also name these controls in Python.
    fn allowing(&self, names: BTreeSet<String>) -> Self {
        Self { inner: Arc::clone(&self.inner), allowed: self.allowed.with(names) }
    }

    /// The controls in Python that the scenario names.
    fn external_controls(&self) -> BTreeSet<String> {
        self.inner.external_controls()
    }

    /// Those that it may name; None: any.
    #[getter]
    fn allowed(&self) -> Option<BTreeSet<String>> {
        match &self.allowed {
            Allowed::All => None,
            Allowed::These(names) => Some(names.clone()),
        }
    }

    /// What errors call it, and where the files lie that it names.
    #[getter]
    fn source(&self) -> &str {
        self.inner.source_name()
    }

    /// Raises if the scenario names a control in Python that it may not name. Imports nothing.
    fn check_controls(&self, py: Python<'_>) -> PyResult<()> {
        self.check_external(py)
    }

    /// Raises unless the scenario can be simulated.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let experiment = self.resolve(py, &Arc::default())?;
        // Only its constructor knows whether a class in Python takes these parameters.
        for flow in &experiment.flows {
            let Some(foreign) = flow.external_control() else { continue };
            control::build(&flow.name, &foreign)
                .map_err(|error| input_error(py, &format!("flow \"{}\": {error}", flow.name)))?;
        }
        Ok(())
    }

    /// Whether two seeds may give different runs.
    fn is_random(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.resolve(py, &Arc::default())?.is_random())
    }

    /// The links: name, node from which "forward" leads, node to which it leads.
    fn links(&self, py: Python<'_>) -> PyResult<Vec<(String, String, String)>> {
        let NetworkSpec { nodes, links, .. } = self.resolve(py, &Arc::default())?.network;
        let named = |link: LinkSpec| (link.name, nodes[link.from].clone(), nodes[link.to].clone());
        Ok(links.into_iter().map(named).collect())
    }

    /// The files that the scenario refers to.
    fn files(&self) -> Vec<PathBuf> {
        self.inner.files()
    }

    /// What looks unmeant in the scenario, one line each.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let inner = Arc::clone(&self.inner);
        let warnings = interruptible(py, &Arc::default(), move || inner.warnings())?;
        Ok(warnings.iter().map(ToString::to_string).collect())
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

/// A scenario's text brought to the present version of the format. `file` is what errors call it.
#[pyfunction]
pub(crate) fn migrate(py: Python<'_>, text: &str, file: &str) -> PyResult<String> {
    Inner::migrate(text, file).map_err(|error| scenario_error(py, &error))
}

/// All transports: name and summary.
#[pyfunction]
pub(crate) fn transports() -> Vec<(&'static str, &'static str)> {
    all_transports()
}

/// Whether `name` is a transport: one of the list, or a name that a transport of the list makes, as
/// `quic-newreno`.
#[pyfunction]
pub(crate) fn is_transport(name: &str) -> bool {
    cogtcp_scenario::is_known_transport(name)
}
