//! What the hooks of a congestion control are given, as Python sees it: bytes as whole numbers, times in
//! seconds, rates in bits per second.

use cogtcp_transport as transport;
use cogtcp_units::{Duration, Rate, Time};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Windows at and above this are mistakes: 4 EiB.
const TOO_LARGE: f64 = (1u64 << 62) as f64;

/// A number of bytes from Python: a whole number, or one with a fraction, which is cut off. Infinity, of a
/// threshold: none.
pub(crate) fn bytes(what: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(whole) = value.extract::<u64>()
        // The largest value stands for "none", and may be written back as it was read.
        && (whole == u64::MAX || (whole as f64) < TOO_LARGE)
    {
        return Ok(whole);
    }
    let number: f64 = value.extract().map_err(|_| {
        PyTypeError::new_err(format!("{what} must be a number of bytes, not {}", kind(value)))
    })?;
    if number == f64::INFINITY && what == "ssthresh" {
        return Ok(u64::MAX);
    }
    if !(0.0..TOO_LARGE).contains(&number) {
        return Err(PyValueError::new_err(format!(
            "{what} must be a number of bytes from 0 to 2^62, not {number}"
        )));
    }
    Ok(number as u64)
}

fn kind(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string())
}

fn seconds(duration: Duration) -> f64 {
    if duration == Duration::MAX { f64::INFINITY } else { duration.as_secs_f64() }
}

/// The name of a state of loss recovery.
pub(crate) fn state_name(state: transport::CaState) -> &'static str {
    match state {
        transport::CaState::Open => "open",
        transport::CaState::Disorder => "disorder",
        transport::CaState::Cwr => "cwr",
        transport::CaState::Recovery => "recovery",
        transport::CaState::Loss => "loss",
    }
}

/// The name of an event of the window.
pub(crate) fn event_name(event: transport::CaEvent) -> &'static str {
    match event {
        transport::CaEvent::TxStart => "tx_start",
        transport::CaEvent::CwndRestart => "cwnd_restart",
        transport::CaEvent::CompleteCwr => "complete_cwr",
        transport::CaEvent::Loss => "loss",
        transport::CaEvent::Frozen => "frozen",
        transport::CaEvent::Thawed => "thawed",
    }
}

/// The connection as its congestion control sees it. `cwnd`, `ssthresh` and `pacing_rate` can be set.
#[pyclass(module = "cogtcp._core")]
#[derive(Debug)]
pub(crate) struct TcpState {
    pub(crate) inner: transport::TcpState,
}

impl Default for TcpState {
    fn default() -> Self {
        let inner = transport::TcpState {
            ssthresh: 0,
            rto: Duration::ZERO,
            peer_window: 0,
            max_window: 0,
            ..transport::TcpState::new(0, 0)
        };
        Self { inner }
    }
}

#[pymethods]
impl TcpState {
    #[getter]
    fn cwnd(&self) -> u64 {
        self.inner.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.inner.cwnd = bytes("cwnd", value)?;
        Ok(())
    }

    #[getter]
    fn ssthresh(&self) -> u64 {
        self.inner.ssthresh
    }

    #[setter]
    fn set_ssthresh(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.inner.ssthresh = bytes("ssthresh", value)?;
        Ok(())
    }

    #[getter]
    fn pacing_rate(&self) -> Option<u64> {
        self.inner.pacing_rate.map(Rate::bits_per_second)
    }

    #[setter]
    fn set_pacing_rate(&mut self, value: Option<f64>) -> PyResult<()> {
        self.inner.pacing_rate = match value {
            None => None,
            Some(rate) if (1.0..1e18).contains(&rate) => Some(Rate::from_bits_per_second(rate as u64)),
            Some(rate) => {
                return Err(PyValueError::new_err(format!(
                    "pacing_rate must be None or 1 to 1e18 bits per second, not {rate}"
                )));
            }
        };
        Ok(())
    }

    #[getter]
    fn mss(&self) -> u64 {
        self.inner.mss
    }

    #[getter]
    fn srtt(&self) -> f64 {
        seconds(self.inner.srtt)
    }

    #[getter]
    fn rttvar(&self) -> f64 {
        seconds(self.inner.rttvar)
    }

    #[getter]
    fn min_rtt(&self) -> f64 {
        seconds(self.inner.min_rtt)
    }

    #[getter]
    fn latest_rtt(&self) -> f64 {
        seconds(self.inner.latest_rtt)
    }

    #[getter]
    fn rto(&self) -> f64 {
        seconds(self.inner.rto)
    }

    #[getter]
    fn snd_una(&self) -> u64 {
        self.inner.snd_una
    }

    #[getter]
    fn snd_nxt(&self) -> u64 {
        self.inner.snd_nxt
    }

    #[getter]
    fn in_flight(&self) -> u64 {
        self.inner.in_flight
    }

    #[getter]
    fn flight_size(&self) -> u64 {
        self.inner.flight_size
    }

    #[getter]
    fn delivered(&self) -> u64 {
        self.inner.delivered
    }

    #[getter]
    fn delivered_at(&self) -> f64 {
        self.inner.delivered_at.as_secs_f64()
    }

    #[getter]
    fn lost(&self) -> u64 {
        self.inner.lost
    }

    #[getter]
    fn app_limited(&self) -> bool {
        self.inner.app_limited
    }

    #[getter]
    fn cwnd_limited(&self) -> bool {
        self.inner.cwnd_limited
    }

    #[getter]
    fn ca_state(&self) -> &'static str {
        state_name(self.inner.ca_state)
    }

    #[getter]
    fn prior_cwnd(&self) -> u64 {
        self.inner.prior_cwnd
    }

    #[getter]
    fn prior_ssthresh(&self) -> u64 {
        self.inner.prior_ssthresh
    }

    #[getter]
    fn peer_window(&self) -> u64 {
        self.inner.peer_window
    }

    #[getter]
    fn initial_window(&self) -> u64 {
        self.inner.initial_window
    }

    #[getter]
    fn max_window(&self) -> u64 {
        self.inner.max_window
    }

    #[getter]
    fn in_slow_start(&self) -> bool {
        self.inner.in_slow_start()
    }

    fn __repr__(&self) -> String {
        let Self { inner } = self;
        format!("<TcpState cwnd={} ssthresh={} in_flight={}>", inner.cwnd, inner.ssthresh, inner.in_flight)
    }
}

/// What one ACK says.
#[pyclass(frozen, get_all, module = "cogtcp._core")]
#[derive(Clone, Debug)]
pub(crate) struct AckSample {
    acked: u64,
    sacked: u64,
    delivered: u64,
    lost: u64,
    duplicate: bool,
    rtt: Option<f64>,
    prior_in_flight: u64,
    rate: RateSample,
    ecn_echo: bool,
    marked: u64,
}

impl From<&transport::AckSample> for AckSample {
    fn from(ack: &transport::AckSample) -> Self {
        Self {
            acked: ack.acked,
            sacked: ack.sacked,
            delivered: ack.delivered,
            lost: ack.lost,
            duplicate: ack.duplicate,
            rtt: ack.rtt.map(seconds),
            prior_in_flight: ack.prior_in_flight,
            rate: RateSample { inner: ack.rate },
            ecn_echo: ack.ecn_echo,
            marked: ack.marked,
        }
    }
}

/// The delivery rate seen between the sending of a segment and the ACK that delivered it.
#[pyclass(frozen, module = "cogtcp._core", from_py_object)]
#[derive(Clone, Debug)]
pub(crate) struct RateSample {
    inner: transport::RateSample,
}

#[pymethods]
impl RateSample {
    #[getter]
    fn rate(&self) -> Option<u64> {
        self.inner.rate().map(Rate::bits_per_second)
    }

    #[getter]
    fn delivered(&self) -> u64 {
        self.inner.delivered
    }

    #[getter]
    fn interval(&self) -> f64 {
        seconds(self.inner.interval)
    }

    #[getter]
    fn prior_delivered(&self) -> u64 {
        self.inner.prior_delivered
    }

    #[getter]
    fn prior_time(&self) -> f64 {
        self.inner.prior_time.as_secs_f64()
    }

    #[getter]
    fn tx_in_flight(&self) -> u64 {
        self.inner.tx_in_flight
    }

    #[getter]
    fn lost(&self) -> u64 {
        self.inner.lost
    }

    #[getter]
    fn app_limited(&self) -> bool {
        self.inner.app_limited
    }
}

/// One transmission, at the moment it leaves.
#[pyclass(frozen, get_all, module = "cogtcp._core")]
#[derive(Clone, Debug)]
pub(crate) struct PacketInfo {
    offset: u64,
    bytes: u64,
    retransmission: bool,
    in_flight: u64,
}

impl From<&transport::PacketInfo> for PacketInfo {
    fn from(packet: &transport::PacketInfo) -> Self {
        let &transport::PacketInfo { offset, bytes, retransmission, in_flight } = packet;
        Self { offset, bytes, retransmission, in_flight }
    }
}

/// What the radio below tells.
#[pyclass(frozen, get_all, module = "cogtcp._core")]
#[derive(Clone, Debug)]
pub(crate) struct LinkEvent {
    kind: &'static str,
    until: Option<f64>,
    rate: Option<u64>,
    bytes: Option<u64>,
}

impl From<transport::LinkEvent> for LinkEvent {
    fn from(event: transport::LinkEvent) -> Self {
        use transport::LinkEvent as CrosslayerEvent;
        let plain = |kind| Self { kind, until: None, rate: None, bytes: None };
        let until = |kind, until: Time| Self {
            until: (until < Time::MAX).then(|| until.as_secs_f64()),
            ..plain(kind)
        };
        let rate = |kind, rate: Option<Rate>| Self { rate: rate.map(Rate::bits_per_second), ..plain(kind) };
        match event {
            CrosslayerEvent::SensingStart { until: end } => until("sensing_start", end),
            CrosslayerEvent::SensingEnd { .. } => plain("sensing_end"),
            CrosslayerEvent::PuArrival { .. } => plain("pu_arrival"),
            CrosslayerEvent::SwitchingStart { until: end } => until("switching_start", end),
            CrosslayerEvent::SwitchingEnd => plain("switching_end"),
            CrosslayerEvent::Handoff { rate: new, .. } => rate("handoff", new),
            CrosslayerEvent::RateChange { rate: new } => rate("rate_change", new),
            CrosslayerEvent::SignalLost { .. } => plain("signal_lost"),
            CrosslayerEvent::SignalBack => plain("signal_back"),
            CrosslayerEvent::LinkDown => plain("link_down"),
            CrosslayerEvent::LinkUp => plain("link_up"),
            CrosslayerEvent::QueueFree { bytes } => Self { bytes: Some(bytes), ..plain("queue_free") },
        }
    }
}
