//! Runs that an agent steers.

use crate::errors::run_error;
use crate::scenario::Scenario;
use cogtcp_scenario::Experiment;
use cogtcp_simulator as simulator;
use cogtcp_units::Duration;
use pyo3::prelude::*;
use std::sync::Arc;

/// What an agent that sets a window sees. Totals are since the beginning.
#[pyclass(frozen, get_all, module = "cogtcp._core")]
#[derive(Debug)]
pub(crate) struct CongestionView {
    time_s: f64,
    is_over: bool,
    delivered: u64,
    sent: u64,
    retransmitted: u64,
    timeouts: u64,
    srtt_s: f64,
    min_rtt_s: f64,
    in_flight: u64,
    mss: u64,
}

/// A run in which an agent sets the congestion window of one flow. One thread at a time may use it.
#[pyclass(unsendable, module = "cogtcp._core")]
#[derive(Debug)]
pub(crate) struct CongestionEpisode {
    run: simulator::CongestionEpisode,
}

#[pymethods]
impl CongestionEpisode {
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario, seed: u64, flow: usize) -> PyResult<Self> {
        let run = simulator::CongestionEpisode::new(experiment(py, scenario)?, Some(seed), flow);
        Ok(Self { run: run.map_err(|error| run_error(py, &error.to_string()))? })
    }

    /// Goes on for so many seconds with a window of so many bytes.
    fn go_on(&mut self, py: Python<'_>, window: u64, span: f64) -> PyResult<CongestionView> {
        let view = self.run.go_on(window, Duration::from_secs_f64(span));
        view.map(Into::into).map_err(|error| run_error(py, &error.to_string()))
    }

    fn view(&self) -> CongestionView {
        self.run.view().into()
    }
}

impl From<simulator::CongestionView> for CongestionView {
    fn from(view: simulator::CongestionView) -> Self {
        Self {
            time_s: view.time.as_secs_f64(),
            is_over: view.is_over,
            delivered: view.delivered,
            sent: view.sent,
            retransmitted: view.retransmitted,
            timeouts: view.timeouts,
            srtt_s: view.srtt.as_secs_f64(),
            min_rtt_s: view.min_rtt.as_secs_f64(),
            in_flight: view.in_flight,
            mss: view.mss,
        }
    }
}

/// What an agent that sets a cycle sees, and what it is rewarded by. Totals are since the beginning.
#[pyclass(frozen, get_all, module = "cogtcp._core")]
#[derive(Debug)]
pub(crate) struct SensingView {
    time_s: f64,
    is_over: bool,
    sensing_time_s: f64,
    transmission_time_s: f64,
    reported: bool,
    sensings: u64,
    reports: u64,
    handoffs: u64,
    transmitting_s: f64,
    busy_share: f64,
    rate_bps: u64,
    fastest_bps: u64,
    exchanges: u64,
    failed_exchanges: u64,
    acked: u64,
    timeouts: u64,
    delivered: u64,
    interfered_s: f64,
}

/// A run in which an agent sets the cycle of one CR user. One thread at a time may use it.
#[pyclass(unsendable, module = "cogtcp._core")]
#[derive(Debug)]
pub(crate) struct SensingEpisode {
    run: simulator::SensingEpisode,
}

#[pymethods]
impl SensingEpisode {
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario, seed: u64, radio: &str, flow: usize) -> PyResult<Self> {
        let run = simulator::SensingEpisode::new(experiment(py, scenario)?, Some(seed), radio, flow);
        Ok(Self { run: run.map_err(|error| run_error(py, &error.to_string()))? })
    }

    /// Goes on to the next sensing, with these seconds of sensing and transmission.
    fn go_on(&mut self, py: Python<'_>, sensing: f64, transmission: f64) -> PyResult<SensingView> {
        let view = self.run.go_on(Duration::from_secs_f64(sensing), Duration::from_secs_f64(transmission));
        view.map(Into::into).map_err(|error| run_error(py, &error.to_string()))
    }

    fn view(&self) -> SensingView {
        self.run.view().into()
    }
}

impl From<simulator::SensingView> for SensingView {
    fn from(view: simulator::SensingView) -> Self {
        Self {
            time_s: view.time.as_secs_f64(),
            is_over: view.is_over,
            sensing_time_s: view.times.0.as_secs_f64(),
            transmission_time_s: view.times.1.as_secs_f64(),
            reported: view.reported,
            sensings: view.radio.sensings,
            reports: view.reports,
            handoffs: view.radio.handoffs,
            transmitting_s: view.radio.transmitting.as_secs_f64(),
            busy_share: view.busy_share,
            rate_bps: view.rate.bits_per_second(),
            fastest_bps: view.fastest.bits_per_second(),
            exchanges: view.exchanges.0,
            failed_exchanges: view.exchanges.1,
            acked: view.acked,
            timeouts: view.timeouts,
            delivered: view.delivered,
            interfered_s: view.interfered.as_secs_f64(),
        }
    }
}

fn experiment(py: Python<'_>, scenario: &Scenario) -> PyResult<Arc<Experiment>> {
    Ok(Arc::new(scenario.resolve(py, &Arc::default())?))
}
