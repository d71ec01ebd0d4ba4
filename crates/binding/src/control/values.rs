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

/// Methods of a class for Python: properties that read `inner`, and others.
macro_rules! getters {
    ($class:ident { $($name:ident: $kind:ty = |$inner:ident| $value:expr;)* } $($others:tt)*) => {
        #[pymethods]
        impl $class {
            $(#[getter]
            fn $name(&self) -> $kind {
                let $inner = &self.inner;
                $value
            })*

            $($others)*
        }
    };
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

getters! {
    TcpState {
        cwnd: u64 = |it| it.cwnd;
        ssthresh: u64 = |it| it.ssthresh;
        pacing_rate: Option<u64> = |it| it.pacing_rate.map(Rate::bits_per_second);
        mss: u64 = |it| it.mss;
        srtt: f64 = |it| seconds(it.srtt);
        rttvar: f64 = |it| seconds(it.rttvar);
        min_rtt: f64 = |it| seconds(it.min_rtt);
        latest_rtt: f64 = |it| seconds(it.latest_rtt);
        rto: f64 = |it| seconds(it.rto);
        snd_una: u64 = |it| it.snd_una;
        snd_nxt: u64 = |it| it.snd_nxt;
        in_flight: u64 = |it| it.in_flight;
        flight_size: u64 = |it| it.flight_size;
        delivered: u64 = |it| it.delivered;
        delivered_at: f64 = |it| it.delivered_at.as_secs_f64();
        lost: u64 = |it| it.lost;
        app_limited: bool = |it| it.app_limited;
        cwnd_limited: bool = |it| it.cwnd_limited;
        ca_state: &'static str = |it| state_name(it.ca_state);
        prior_cwnd: u64 = |it| it.prior_cwnd;
        prior_ssthresh: u64 = |it| it.prior_ssthresh;
        peer_window: u64 = |it| it.peer_window;
        initial_window: u64 = |it| it.initial_window;
        max_window: u64 = |it| it.max_window;
        in_slow_start: bool = |it| it.in_slow_start();
    }

    #[setter]
    fn set_cwnd(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.inner.cwnd = bytes("cwnd", value)?;
        Ok(())
    }

    #[setter]
    fn set_ssthresh(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.inner.ssthresh = bytes("ssthresh", value)?;
        Ok(())
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

getters! {
    RateSample {
        rate: Option<u64> = |it| it.rate().map(Rate::bits_per_second);
        delivered: u64 = |it| it.delivered;
        interval: f64 = |it| seconds(it.interval);
        prior_delivered: u64 = |it| it.prior_delivered;
        prior_time: f64 = |it| it.prior_time.as_secs_f64();
        tx_in_flight: u64 = |it| it.tx_in_flight;
        lost: u64 = |it| it.lost;
        app_limited: bool = |it| it.app_limited;
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
