//! The engine of the lab's page, natively: the interface of `crates/web`.

use crate::run::{Cancel, quiet_panics};
use cogtcp_web::{Engine, Hooks};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Answers a request of the page; the interpreter's lock is free meanwhile, and `cancel` ends a run.
#[pyfunction]
pub(crate) fn ask<'py>(py: Python<'py>, request: &str, cancel: &Cancel) -> Bound<'py, PyBytes> {
    let hooks = Hooks { watch: None, cancel: Some(cancel.flag()) };
    let answer = py.detach(|| {
        quiet_panics();
        // A defect that panics is an error of this request and of no other.
        catch_unwind(AssertUnwindSafe(|| Engine::default().ask(request, hooks)))
    });
    PyBytes::new(py, &answer.unwrap_or_else(|_| cogtcp_web::answer::defect()))
}
