//! The engine of the lab's page, natively: the interface of `crates/web`.

use crate::control;
use crate::run::{Cancel, quiet_panics};
use cogtcp_web::{Engine, Hooks, Outside, answer};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Answers a request of the page; the interpreter's lock is free meanwhile, and `cancel` ends a run.
/// `controls` are the classes in Python (`module:Class`) that a scenario may name.
#[pyfunction]
#[pyo3(signature = (request, cancel, controls = BTreeSet::new()))]
pub(crate) fn ask<'py>(
    py: Python<'py>,
    request: &str,
    cancel: &Cancel,
    controls: BTreeSet<String>,
) -> Bound<'py, PyBytes> {
    let has_controls = !controls.is_empty();
    let outside = has_controls.then(|| Outside { names: controls, factory: Arc::new(control::build) });
    let hooks = Hooks { cancel: Some(cancel.flag()), outside, ..Hooks::default() };
    let ask = || {
        quiet_panics();
        // A defect that panics is an error of this request and of no other.
        catch_unwind(AssertUnwindSafe(|| Engine::default().ask(request, hooks)))
    };
    let answer = py.detach(|| {
        if has_controls {
            // The interpreter keeps its record of this thread from here on, so that hooks find it made.
            Python::attach(|py| py.detach(ask))
        } else {
            ask()
        }
    });
    let failed = |_| control::take_raised().map_or_else(answer::defect, |raised| answer::failed(&raised));
    PyBytes::new(py, &answer.unwrap_or_else(failed))
}
