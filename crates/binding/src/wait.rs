//! Work on a thread of its own, while this one lets Python handle its signals.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors::run_error;

/// How often Python may look for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Calls `simulate` on a thread of its own while this one lets Python handle its signals. A signal whose
/// handler raises stops the simulation.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    flag: &AtomicBool,
    simulate: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    thread::scope(|scope| {
        let (done, mut finished) = channel();
        scope.spawn(move || done.send(simulate()));
        loop {
            let ending = &mut finished; // a shared one could not leave this thread
            match py.detach(move || ending.recv_timeout(SIGNAL_INTERVAL)) {
                Ok(outcome) => return Ok(outcome),
                Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| {
                    flag.store(true, Ordering::Relaxed);
                    // A hook in Python may wait for the lock that this thread would hold while it waits for
                    // the end.
                    let ending = &mut finished;
                    py.detach(move || ending.recv().is_ok());
                })?,
                // The simulation catches its panics, so it always sends.
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(run_error(py, "the simulation ended without a result"));
                }
            }
        }
    })
}

/// Runs work that cannot be stopped: what a signal or `cancel` interrupts is left to itself, and its
/// result is dropped.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    cancel: &Arc<AtomicBool>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, finished) = channel();
    thread::spawn(move || done.send(work()));
    let finished = std::sync::Mutex::new(finished); // a bare one could not leave this thread
    let wait = || match finished.lock() {
        Ok(finished) => Receiver::recv_timeout(&finished, SIGNAL_INTERVAL),
        Err(_) => Err(RecvTimeoutError::Disconnected),
    };
    loop {
        match py.detach(wait) {
            Ok(outcome) => return Ok(outcome),
            Err(RecvTimeoutError::Timeout) if cancel.load(Ordering::Relaxed) => {
                return Err(run_error(py, "the run was cancelled before it began"));
            }
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(run_error(py, "the scenario reader has a defect, please report it"));
            }
        }
    }
}
