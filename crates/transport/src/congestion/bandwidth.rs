//! The bandwidth that ACKs tell, and the window that it leaves after a loss event.
//!
//! Two filters estimate the bandwidth EBW from the bytes that ACKs report:
//!
//! ```text
//! linux:   b_k = bytes / window, the window: max(RTT, 50 ms);   n = 7/8 n + 1/8 b_k,   EBW = 7/8 EBW + 1/8 n
//! tustin:  b_k = bytes / RTT, once per RTT;                     EBW = 0.9 EBW + 0.1 (b_k + b_(k-1)) / 2
//! ```

use super::{AckSample, ParameterSpec, Parameters, TcpState};
use cogtcp_units::{Duration, Time};

pub(super) const FILTER: ParameterSpec = ParameterSpec::choice("filter", "linux", &["linux", "tustin"])
    .described(
        "bandwidth filter: Linux's two cascaded 7/8 filters, or the Tustin filter of the paper and ns-3",
    );

pub(super) const FILTER_WINDOW: ParameterSpec =
    ParameterSpec::number("filter_window", "s", [0.05, 0.0, 60.0])
        .described("Linux's filter: least length of a sample (the RTT if longer)");

pub(super) const TUSTIN_GAIN: ParameterSpec = ParameterSpec::number("tustin_gain", "", [0.9, 0.0, 1.0])
    .described("Tustin filter: weight of the old estimate");

pub(super) const RESET_RTT_MIN: ParameterSpec = ParameterSpec::flag("reset_rtt_min", true)
    .described("measure RTTmin again after a timeout, as Linux; false: the least of the connection");

pub(super) const AT_LEAST_HALF: ParameterSpec =
    ParameterSpec::flag("at_least_half", false).described("ssthresh is no less than half of cwnd");

/// Bandwidth and least RTT, and the window that follows from them.
#[derive(Clone, Debug)]
pub(super) struct BandwidthEstimator {
    pub(super) filter: Filter,
    count: AckedCount,
    /// Bytes acknowledged in the sample in progress.
    bytes: u64,
    /// The latest RTT; Linux's 20 s before the first.
    rtt: Duration,
    rtt_min: Duration,
    reset_rtt_min: bool,
    reset_pending: bool,
    at_least_half: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Filter {
    Linux {
        window: Duration,
        start: Time,
        /// Bytes per second after the first and after the second stage.
        first: f64,
        second: f64,
    },
    Tustin {
        gain: f64,
        /// When the sample in progress ends, and its length.
        until: Option<(Time, Duration)>,
        last_sample: f64,
        estimate: f64,
    },
}

impl BandwidthEstimator {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            filter: match parameters.text("filter") {
                "tustin" => Filter::Tustin {
                    gain: parameters.number("tustin_gain"),
                    until: None,
                    last_sample: 0.0,
                    estimate: 0.0,
                },
                _ => Filter::Linux {
                    window: Duration::from_secs_f64(parameters.number("filter_window")),
                    start: Time::ZERO,
                    first: 0.0,
                    second: 0.0,
                },
            },
            count: AckedCount::default(),
            bytes: 0,
            rtt: Duration::from_secs(20),
            rtt_min: Duration::MAX,
            reset_rtt_min: parameters.flag("reset_rtt_min"),
            reset_pending: false,
            at_least_half: parameters.flag("at_least_half"),
        }
    }

    pub(super) fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        let (Filter::Linux { second: rate, .. } | Filter::Tustin { estimate: rate, .. }) = self.filter;
        show("bandwidth_bps", 8.0 * rate);
        show("rtt_min_s", super::seconds(self.rtt_min));
    }

    /// The connection is established.
    pub(super) fn start(&mut self, now: Time) {
        if let Filter::Linux { start, .. } = &mut self.filter {
            *start = now;
        }
    }

    /// Every ACK.
    pub(super) fn on_ack(&mut self, now: Time, tcp: &TcpState, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            let reset = std::mem::take(&mut self.reset_pending);
            self.rtt_min = if reset { rtt } else { self.rtt_min.min(rtt) };
        }
        // This ACK belongs to the sample that begins now, if one ends.
        self.close_sample(now);
        self.bytes += self.count.bytes(ack.acked, ack.duplicate, tcp.mss);
        if let Filter::Tustin { until: until @ None, .. } = &mut self.filter
            && self.rtt_min != Duration::MAX
            && !self.rtt.is_zero()
        {
            *until = Some((now + self.rtt, self.rtt));
        }
    }

    /// A timeout: the path may be another one.
    pub(super) fn on_timeout(&mut self) {
        self.reset_pending = self.reset_rtt_min;
    }

    /// EBW * RTTmin in bytes, at least two segments.
    pub(super) fn ssthresh(&mut self, now: Time, tcp: &TcpState) -> u64 {
        self.close_sample(now);
        let rate = match self.filter {
            Filter::Linux { second, .. } => second,
            Filter::Tustin { estimate, .. } => estimate,
        };
        let carried = if self.rtt_min == Duration::MAX { 0.0 } else { rate * self.rtt_min.as_secs_f64() };
        let least = if self.at_least_half { tcp.cwnd / 2 } else { 0 };
        (carried as u64).max(least).max(2 * tcp.mss)
    }

    fn close_sample(&mut self, now: Time) {
        match &mut self.filter {
            Filter::Linux { window, start, first, second } => {
                let length = now.saturating_since(*start);
                if length <= self.rtt.max(*window) {
                    return;
                }
                let sample = self.bytes as f64 / length.as_secs_f64();
                if *first == 0.0 && *second == 0.0 {
                    (*first, *second) = (sample, sample);
                } else {
                    *first = (7.0 * *first + sample) / 8.0;
                    *second = (7.0 * *second + *first) / 8.0;
                }
                *start = now;
            }
            Filter::Tustin { gain, until, last_sample, estimate } => {
                let Some((end, length)) = *until else { return };
                if now < end {
                    return;
                }
                let sample = self.bytes as f64 / length.as_secs_f64();
                *estimate = *gain * *estimate + (1.0 - *gain) * (sample + *last_sample) / 2.0;
                *last_sample = sample;
                *until = None;
            }
        }
        self.bytes = 0;
    }
}

/// Bytes that an ACK reports as delivered (the paper's procedure AckedCount): a duplicate ACK stands for a
/// segment, which the cumulative ACK that follows must not count again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckedCount {
    /// Bytes that duplicate ACKs have reported.
    accounted: u64,
}

impl AckedCount {
    /// Of an ACK that acknowledges `acked` bytes; `duplicate`: with none it stands for a segment.
    pub(super) fn bytes(&mut self, acked: u64, duplicate: bool, mss: u64) -> u64 {
        if acked == 0 {
            let bytes = if duplicate { mss } else { 0 };
            self.accounted += bytes;
            return bytes;
        }
        if acked <= mss {
            return acked;
        }
        if self.accounted >= acked {
            self.accounted -= acked;
            return mss;
        }
        acked - std::mem::take(&mut self.accounted)
    }
}
