//! Errors of the crates as the exceptions of the Python package.

use cogtcp_scenario::{ScenarioError, line_excerpt};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// `cogtcp.ScenarioError` with its attributes.
pub(crate) fn scenario_error(py: Python<'_>, error: &ScenarioError) -> PyErr {
    build_scenario_error(py, error, &error.to_string()).unwrap_or_else(|failure| failure)
}

/// `cogtcp.ScenarioError` for what only the simulator notices.
pub(crate) fn input_error(py: Python<'_>, message: &str) -> PyErr {
    plain(py, "ScenarioError", message)
}

/// `cogtcp.ScenarioError` for a line of a file other than a scenario, whose text is `source`.
pub(crate) fn located_error(py: Python<'_>, file: &str, line: usize, message: &str, source: &str) -> PyErr {
    let build = || {
        let details = PyDict::new(py);
        details.set_item("file", file)?;
        details.set_item("line", line)?;
        details.set_item("text", format!("{file}:{line}: {message}"))?;
        // What a message quotes first is what was found.
        details.set_item("excerpt", line_excerpt(source, line, message.split('"').nth(1)))?;
        Ok(PyErr::from_value(exception(py, "ScenarioError")?.call((message,), Some(&details))?))
    };
    build().unwrap_or_else(|failure| failure)
}

/// Line, column, lines with carets, and what is wrong with a text that is no TOML.
type LocationTuple = (usize, usize, String, Option<String>);

/// Where the value at `path` of a TOML text stands, or the nearest place.
#[pyfunction]
pub(crate) fn toml_place(text: &str, path: &str) -> Option<LocationTuple> {
    let place = cogtcp_scenario::toml_place(text, path)?;
    Some((place.line, place.column, place.excerpt, place.fault))
}

/// `cogtcp.RunError`.
pub(crate) fn run_error(py: Python<'_>, message: &str) -> PyErr {
    plain(py, "RunError", message)
}

/// `cogtcp.NoKernelPlaneError`.
pub(crate) fn no_plane_error(py: Python<'_>, message: &str) -> PyErr {
    plain(py, "NoKernelPlaneError", message)
}

fn plain(py: Python<'_>, class: &str, message: &str) -> PyErr {
    exception(py, class)
        .and_then(|class| class.call1((message,)))
        .map_or_else(|failure| failure, PyErr::from_value)
}

fn build_scenario_error(py: Python<'_>, error: &ScenarioError, text: &str) -> PyResult<PyErr> {
    let more = PyList::empty(py);
    for other in &error.more {
        more.append(build_scenario_error(py, other, &other.to_string())?.value(py))?;
    }
    let details = PyDict::new(py);
    details.set_item("file", &*error.file)?;
    details.set_item("line", error.line)?;
    details.set_item("excerpt", &*error.excerpt)?;
    details.set_item("column", error.column)?;
    details.set_item("field", &error.field)?;
    details.set_item("remedy", &*error.remedy)?;
    details.set_item("text", text)?;
    details.set_item("more", more)?;
    Ok(PyErr::from_value(exception(py, "ScenarioError")?.call((&error.message,), Some(&details))?))
}

fn exception<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("cogtcp._errors")?.getattr(name)
}
