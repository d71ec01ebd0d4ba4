//! Simulations, without the interpreter's lock and stoppable, and what they leave behind.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use cogtcp_records::{self as records, ColumnData, Table};
use cogtcp_scenario::Experiment;
use cogtcp_simulator::{ControlFactory, RunError, RunOptions, TraceLevel};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::buffer::Buffer;
use crate::control;
use crate::errors::{input_error, run_error};
use crate::scenario::Scenario;
use crate::wait::watched;

/// A switch that stops the runs that were given it.
#[pyclass(frozen, module = "cogtcp._core")]
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    flag: Arc<AtomicBool>,
}

impl Cancel {
    /// What runs look at.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Stops the runs, for good.
    fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether it was switched.
    #[getter]
    fn cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

/// What one run left behind.
#[pyclass(frozen, get_all, module = "cogtcp._core")]
#[derive(Debug)]
pub(crate) struct Run {
    seed: u64,
    duration_s: f64,
    warmup_s: f64,
    fairness: f64,
    digest: u64,
    engine_events: u64,
    packet_hops: u64,
    tables: Py<PyList>,
}

impl Run {
    /// Returns the tables.
    pub(crate) fn tables<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        self.tables.bind(py).clone()
    }
}

/// Simulates a scenario. The interpreter's lock is free meanwhile; with no `cancel` to stop it by, signals
/// are looked for, so that Ctrl-C does.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Scenario,
    seed: Option<u64>,
    trace: &str,
    cancel: Option<&Cancel>,
) -> PyResult<Run> {
    let trace = trace_level(trace)?;
    let flag = cancel.map_or_else(Arc::default, |cancel| Arc::clone(&cancel.flag));
    let experiment = scenario.resolve(py, &flag)?;
    let needs_python = control::needs_python(&experiment);
    let controls = needs_python.then(|| Arc::new(control::build) as Arc<dyn ControlFactory>);
    let cancelled = Some(Arc::clone(&flag));
    let options = RunOptions { seed, trace, cancel: cancelled, controls, ..RunOptions::default() };
    let simulate = || {
        if needs_python {
            // The interpreter keeps its record of this thread from here on, so that hooks find it made.
            Python::attach(|py| py.detach(|| simulate(&experiment, &options)))
        } else {
            simulate(&experiment, &options)
        }
    };
    let outcome = if cancel.is_some() { py.detach(simulate) } else { watched(py, &flag, simulate)? };
    match outcome {
        Ok(run) => to_python(py, run),
        Err(Failure::Input(message)) => Err(input_error(py, &message)),
        Err(Failure::Run(message)) => Err(run_error(py, &message)),
    }
}

/// Why there is no result.
enum Failure {
    /// The experiment makes no sense.
    Input(String),
    /// It does, but the run did not come to its end.
    Run(String),
}

/// Runs the simulation. A defect in it that panics is an error of this run and of no other.
fn simulate(experiment: &Experiment, options: &RunOptions) -> Result<records::Run, Failure> {
    quiet_panics();
    match catch_unwind(AssertUnwindSafe(|| cogtcp_simulator::run(experiment, options))) {
        Ok(Ok(run)) => Ok(run),
        Ok(Err(
            error @ (RunError::Cancelled { .. } | RunError::TooManyEvents | RunError::Conservation(_)),
        )) => Err(Failure::Run(error.to_string())),
        Ok(Err(error)) => Err(Failure::Input(error.to_string())),
        // A hook that raised unwinds by the same way as a defect.
        Err(_) if let Some(raised) = control::take_raised() => Err(Failure::Run(raised)),
        Err(_) => {
            Err(Failure::Run(format!("the simulator has a defect, please report it: {}", PANIC.take())))
        }
    }
}

thread_local! {
    /// What the last panic of this thread said, and where.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps panics from writing to standard error: they are caught, and their message becomes the run's error.
pub(crate) fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let place = info.location().map(|place| format!(" ({place})")).unwrap_or_default();
            let reason = info.payload_as_str().unwrap_or("it gave no reason");
            PANIC.set(format!("{reason}{place}"));
        }));
    });
}

fn trace_level(name: &str) -> PyResult<TraceLevel> {
    match name {
        "summary" => Ok(TraceLevel::None),
        "series" => Ok(TraceLevel::Series),
        "full" => Ok(TraceLevel::Full),
        "packets" => Ok(TraceLevel::Packets),
        _ => Err(PyValueError::new_err(format!(
            "trace {name:?} is unknown; take \"summary\", \"series\", \"full\" or \"packets\""
        ))),
    }
}

pub(crate) fn to_python(py: Python<'_>, run: records::Run) -> PyResult<Run> {
    let tables = PyList::empty(py);
    let made = Run {
        seed: run.seed,
        duration_s: run.duration_s,
        warmup_s: run.warmup_s,
        fairness: run.fairness,
        digest: run.digest,
        engine_events: run.engine_events,
        packet_hops: run.packet_hops,
        tables: tables.clone().unbind(),
    };
    // By value: the columns' memory moves to Python without a copy.
    for table in run.into_tables() {
        tables.append(table_to_python(py, table)?)?;
    }
    Ok(made)
}

/// `(name, meaning, rows, columns)`, each column `(name, unit, meaning, kind, values, dictionary or None)`.
fn table_to_python(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyTuple>> {
    let rows = table.len();
    let columns = PyList::empty(py);
    for column in table.columns {
        let kind = column.data.kind().name();
        let (values, dictionary) = match column.data {
            ColumnData::U64(values) => (Buffer::from(values), None),
            ColumnData::I64(values) => (Buffer::from(values), None),
            ColumnData::F64(values) => (Buffer::from(values), None),
            ColumnData::Bool(values) => (Buffer::from(values), None),
            ColumnData::Text { codes, dictionary } => (Buffer::from(codes), Some(dictionary)),
        };
        columns.append((column.name, column.unit, column.meaning, kind, values, dictionary))?;
    }
    (table.name, table.meaning, rows, columns).into_pyobject(py)
}

/// Jain's fairness index of shares; NaN where there is none or all are zero.
#[pyfunction]
pub(crate) fn jain_fairness(shares: Vec<f64>) -> f64 {
    records::jain_fairness(&shares)
}

/// The tables that runs have: name, meaning, and of each column name, type, unit, meaning.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub(crate) fn columns()
-> Vec<(&'static str, &'static str, Vec<(&'static str, &'static str, &'static str, &'static str)>)> {
    records::schema()
        .into_iter()
        .map(|table| {
            let columns = table.columns.iter().map(|c| (c.name, c.kind.name(), c.unit, c.meaning)).collect();
            (table.name, table.meaning, columns)
        })
        .collect()
}
