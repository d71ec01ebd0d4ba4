//! Link traces, without a network.

use crate::errors::located_error;
use cogtcp_link::schedule::{Schedule, text as files};
use pyo3::prelude::*;

/// Either the opportunities, in milliseconds, or the rates: nanoseconds and bits per second.
type Steps = (Option<Vec<u32>>, Option<Vec<(u64, u64)>>);

/// Reads a link trace; `file` is what errors call it.
#[pyfunction]
pub(crate) fn read_link_trace(py: Python<'_>, text: &str, file: &str) -> PyResult<Steps> {
    match py.detach(|| files::read(text)) {
        Ok(Schedule::Opportunities(times)) => Ok((Some(times), None)),
        Ok(Schedule::Rates(steps)) => Ok((None, Some(steps))),
        Err(error) => Err(located_error(py, file, error.line, &error.reason, text)),
    }
}
