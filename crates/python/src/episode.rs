//! Runs that an agent steers.

use crate::errors::run_error;
use crate::scenario::Scenario;
use cogtcp_simulator::{Episode as Run, View};
use cogtcp_units::Duration;
use pyo3::prelude::*;
use std::sync::Arc;

/// A run of which an agent sets the congestion window of one flow. One thread at a time may use it.
#[pyclass(unsendable, module = "cogtcp._core")]
#[derive(Debug)]
pub(crate) struct Episode {
    run: Run,
}

/// Time in s, whether the run is over, bytes delivered, segments sent and sent again, timeouts, smoothed and least RTT in s,
/// bytes in flight, segment size.
type Seen = (f64, bool, u64, u64, u64, u64, f64, f64, u64, u64);

#[pymethods]
impl Episode {
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario, seed: u64, flow: usize) -> PyResult<Self> {
        let experiment = scenario.resolve(py, &Arc::default())?;
        let run = Run::new(Arc::new(experiment), Some(seed), flow)
            .map_err(|error| run_error(py, &error.to_string()))?;
        Ok(Self { run })
    }

    /// Goes on for so many seconds with a window of so many bytes.
    fn go_on(&mut self, py: Python<'_>, window: u64, span: f64) -> PyResult<Seen> {
        let view = self.run.go_on(window, Duration::from_secs_f64(span));
        view.map(seen).map_err(|error| run_error(py, &error.to_string()))
    }

    fn view(&self) -> Seen {
        seen(self.run.view())
    }
}

fn seen(view: View) -> Seen {
    (
        view.time.as_secs_f64(),
        view.is_over,
        view.delivered,
        view.sent,
        view.retransmitted,
        view.timeouts,
        view.srtt.as_secs_f64(),
        view.min_rtt.as_secs_f64(),
        view.in_flight,
        view.mss,
    )
}
