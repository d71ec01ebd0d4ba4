//! Intervals, tests and closed forms.

use cogtcp_statistics::models::{loss, sawtooth, sensing};
use cogtcp_statistics::{OutOfRange, binomial, interval, ratio, significance, student_t, warmup};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Estimate, low and high end, number of values.
type Ends = (f64, f64, f64, usize);

fn ends(found: Result<interval::Interval, OutOfRange>) -> PyResult<Ends> {
    let found = number(found)?;
    Ok((found.estimate, found.low, found.high, found.n))
}

fn number<T>(found: Result<T, OutOfRange>) -> PyResult<T> {
    found.map_err(|error| PyValueError::new_err(error.to_string()))
}

#[pyfunction]
pub(crate) fn mean_interval(values: Vec<f64>, confidence: f64) -> PyResult<Ends> {
    ends(interval::mean(&values, confidence))
}

#[pyfunction]
pub(crate) fn quantile_interval(values: Vec<f64>, q: f64, confidence: f64) -> PyResult<Ends> {
    ends(interval::quantile(&values, q, confidence))
}

#[pyfunction]
pub(crate) fn paired_difference(values: Vec<f64>, baseline: Vec<f64>, confidence: f64) -> PyResult<Ends> {
    ends(interval::paired_difference(&values, &baseline, confidence))
}

#[pyfunction]
pub(crate) fn ratio_interval(values: Vec<f64>, baseline: Vec<f64>, confidence: f64) -> PyResult<Ends> {
    ends(ratio::ratio(&values, &baseline, confidence))
}

#[pyfunction]
pub(crate) fn t_quantile(p: f64, degrees: u64) -> PyResult<f64> {
    number(student_t::quantile(p, degrees))
}

#[pyfunction]
pub(crate) fn t_distribution(t: f64, degrees: u64) -> f64 {
    student_t::distribution(t, degrees)
}

#[pyfunction]
pub(crate) fn binomial_distribution(k: u64, n: u64, p: f64) -> f64 {
    binomial::distribution(k, n, p)
}

#[pyfunction]
pub(crate) fn p_value(differences: Vec<f64>) -> f64 {
    significance::p_value(&differences)
}

#[pyfunction]
pub(crate) fn holm(p_values: Vec<f64>, confidence: f64) -> Vec<bool> {
    significance::holm(&p_values, confidence)
}

#[pyfunction]
pub(crate) fn mser5(series: Vec<f64>) -> usize {
    warmup::mser5(&series)
}

/// Number, mean and variance of values that arrive one by one (Welford 1962); NaN is left out.
#[pyclass(module = "cogtcp._core")]
#[derive(Debug, Default)]
pub(crate) struct Spread {
    inner: significance::Spread,
}

#[pymethods]
impl Spread {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Takes a value in.
    fn add(&mut self, value: f64) {
        self.inner.add(value);
    }

    /// Number of values.
    #[getter]
    fn n(&self) -> u64 {
        self.inner.n()
    }

    /// Mean of the values; 0 of none.
    #[getter]
    fn mean(&self) -> f64 {
        self.inner.mean()
    }

    /// The p-value of the values as differences.
    fn p_value(&self) -> f64 {
        self.inner.p_value()
    }
}

#[pyfunction]
pub(crate) fn mathis_throughput_bps(size: f64, rtt_s: f64, p: f64, b: f64) -> PyResult<f64> {
    number(loss::mathis_throughput_bps(size, rtt_s, p, b))
}

#[pyfunction]
pub(crate) fn pftk_throughput_bps(
    segment_size_bytes: f64,
    rtt_s: f64,
    rto_s: f64,
    loss_probability: f64,
    segments_per_ack: f64,
    max_window_packets: f64,
) -> PyResult<f64> {
    number(loss::pftk_throughput_bps(&loss::Pftk {
        segment_size_bytes,
        rtt_s,
        rto_s,
        loss_probability,
        segments_per_ack,
        max_window_packets,
    }))
}

#[pyfunction]
pub(crate) fn usable_airtime(
    sensing_time_s: f64,
    transmission_time_s: f64,
    detection: f64,
    false_alarm: f64,
    alpha: f64,
    beta: f64,
    switching_delay_s: f64,
) -> PyResult<f64> {
    number(sensing::usable_airtime(&sensing::Cycle {
        sensing_time_s,
        transmission_time_s,
        detection,
        false_alarm,
        alpha,
        beta,
        switching_delay_s,
    }))
}

#[pyfunction]
pub(crate) fn cwnd_after_cycles(cycles: u32, initial_cwnd: f64, delta_w: f64) -> f64 {
    sawtooth::cwnd_after_cycles(cycles, initial_cwnd, delta_w)
}

#[pyfunction]
pub(crate) fn next_cwnd(cwnd: f64, rounds: f64) -> f64 {
    sawtooth::next_cwnd(cwnd, rounds)
}

#[pyfunction]
pub(crate) fn available_rounds(t_cc_s: f64, t_rto_s: f64, rtt_s: f64) -> PyResult<f64> {
    number(sawtooth::available_rounds(t_cc_s, t_rto_s, rtt_s))
}

#[pyfunction]
pub(crate) fn delta_w(rounds: f64, exact: bool) -> PyResult<f64> {
    number(if exact { sawtooth::delta_w_exact(rounds) } else { sawtooth::delta_w_approximate(rounds) })
}

#[pyfunction]
pub(crate) fn bdp_packets(bandwidth_bps: f64, rtt_s: f64, size: f64, header: f64) -> PyResult<f64> {
    number(sawtooth::bdp_packets(bandwidth_bps, rtt_s, size, header))
}

/// The number of the case that holds: 1, 2 or 3.
#[pyfunction]
pub(crate) fn regime(delta_w: f64, bdp: f64) -> u8 {
    case(sawtooth::regime(delta_w, bdp))
}

const fn case(regime: sawtooth::Regime) -> u8 {
    match regime {
        sawtooth::Regime::SlowStart => 1,
        sawtooth::Regime::CongestionAvoidance => 2,
        sawtooth::Regime::Unsaturated => 3,
    }
}

#[pyfunction]
pub(crate) fn packets_per_cycle(delta_w: f64, bdp: f64, rounds: f64, integral: bool) -> PyResult<f64> {
    number(sawtooth::packets_per_cycle(delta_w, bdp, rounds, integral))
}

#[pyfunction]
pub(crate) fn rto_outage_s(silence_s: f64, rto_s: f64, max_rto_s: f64) -> PyResult<f64> {
    number(sawtooth::rto_outage_s(silence_s, rto_s, max_rto_s))
}

/// R, dW, BDP, case, packets, packets per second and bits per second of a converged cycle.
#[pyfunction]
#[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)]
pub(crate) fn aimd_cycle(
    bandwidth_bps: f64,
    rtt_s: f64,
    t_cc_s: f64,
    t_rto_s: f64,
    segment_size_bytes: f64,
    header_bytes: f64,
    exact: bool,
    integral: bool,
    lost_last_round: bool,
) -> PyResult<(f64, f64, f64, u8, f64, f64, f64)> {
    let found = number(sawtooth::cycle(&sawtooth::SawtoothSetting {
        bandwidth_bps,
        rtt_s,
        t_cc_s,
        t_rto_s,
        segment_size_bytes,
        header_bytes,
        exact,
        integral,
        lost_last_round,
    }))?;
    let case = case(found.regime);
    Ok((
        found.rounds,
        found.delta_w,
        found.bdp,
        case,
        found.packets,
        found.throughput_pps,
        found.throughput_bps,
    ))
}
