//! Laws of ON and OFF times, and the timelines drawn from them.

use crate::{Intervals, OnInterval};
use cogtcp_units::{Duration, RandomStream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The law of one kind of span of a primary user.
///
/// Measured idle times are seldom exponential (log-normal and gamma fit better, Cheema and Salous 2019), so
/// that the paper's law is one of several.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SpanLaw {
    /// Exponential with this mean.
    Exponential(Duration),
    /// Log-normal, exp(N(ln median, sigma^2)): the mean is median x exp(sigma^2 / 2).
    LogNormal {
        /// Median.
        median: Duration,
        /// Standard deviation of the logarithm, above 0.
        sigma: f64,
    },
    /// Gamma: the mean is shape x scale.
    Gamma {
        /// Shape, above 0.
        shape: f64,
        /// Scale.
        scale: Duration,
    },
    /// Pareto: the mean is minimum x shape / (shape - 1).
    Pareto {
        /// Smallest value.
        minimum: Duration,
        /// Tail index, above 1 (below, the mean is infinite).
        shape: f64,
    },
    /// Always this span.
    Deterministic(Duration),
    /// One of these measured spans, uniformly (a bootstrap of a trace). Not written in scenarios.
    #[serde(skip)]
    Empirical(Vec<Duration>),
}

/// A law that has no meaning.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LawError {
    /// A scale of zero.
    #[error("{0} is zero; give a time above zero")]
    Zero(&'static str),
    /// A shape out of its range.
    #[error("{name} is {value}; it must be {rule}")]
    Shape {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What would be right.
        rule: &'static str,
    },
    /// An empirical law without spans.
    #[error("the trace has no whole ON or OFF time to draw from")]
    NoSpans,
    /// Rates of the exponential model that are not positive.
    #[error("alpha and beta are rates per second and must be above zero")]
    Rate,
}

impl SpanLaw {
    /// Refuses parameters without meaning.
    pub fn validate(&self) -> Result<(), LawError> {
        let positive = |span: &Duration, name| {
            if span.is_zero() { Err(LawError::Zero(name)) } else { Ok(()) }
        };
        let above = |value: f64, limit: f64, name, rule| {
            // NaN fails the comparison too.
            if value > limit && value.is_finite() {
                Ok(())
            } else {
                Err(LawError::Shape { name, value, rule })
            }
        };
        match self {
            Self::Exponential(mean) => positive(mean, "the mean of an exponential law"),
            Self::LogNormal { median, sigma } => {
                positive(median, "the median of a log-normal law")?;
                // Beyond, the mean is 5e21 medians: no time in seconds, and no draw that comes near it.
                let (name, rule) = ("sigma of a log-normal law", "above 0, at most 10");
                above(*sigma, 0.0, name, rule)?;
                if *sigma > 10.0 { Err(LawError::Shape { name, value: *sigma, rule }) } else { Ok(()) }
            }
            Self::Gamma { shape, scale } => {
                positive(scale, "the scale of a gamma law")?;
                above(*shape, 0.0, "the shape of a gamma law", "above 0")
            }
            Self::Pareto { minimum, shape } => {
                positive(minimum, "the minimum of a Pareto law")?;
                above(
                    *shape,
                    1.0,
                    "the shape of a Pareto law",
                    "above 1 (the mean is infinite at 1 and below)",
                )
            }
            Self::Deterministic(span) => positive(span, "a deterministic span"),
            Self::Empirical(spans) if spans.is_empty() => Err(LawError::NoSpans),
            Self::Empirical(_) => Ok(()),
        }
    }

    /// One span, at least 1 ns.
    pub fn draw(&self, stream: &mut RandomStream) -> Duration {
        let span = match self {
            Self::Exponential(mean) => stream.exponential(*mean),
            Self::LogNormal { median, sigma } => {
                Duration::from_secs_f64(stream.log_normal(libm::log(median.as_secs_f64()), *sigma))
            }
            Self::Gamma { shape, scale } => {
                Duration::from_secs_f64(stream.gamma(*shape, scale.as_secs_f64()))
            }
            Self::Pareto { minimum, shape } => {
                Duration::from_secs_f64(stream.pareto(minimum.as_secs_f64(), *shape))
            }
            Self::Deterministic(span) => *span,
            // `validate` refuses this. Without the arm a caller that skips it would panic in `below`.
            Self::Empirical(spans) if spans.is_empty() => Duration::ZERO,
            Self::Empirical(spans) => spans[stream.below(spans.len() as u64) as usize],
        };
        // `Intervals::push` refuses an empty interval, and `generate` moves on by these spans alone.
        span.max(Duration::from_nanos(1))
    }

    /// Returns a span in seconds that is short enough to bound the number of spans in a time. It is the mean,
    /// or the median if a heavy tail takes the mean far beyond usual draws.
    pub fn typical(&self) -> f64 {
        match self {
            Self::LogNormal { median, .. } => median.as_secs_f64(),
            // The value with (minimum / x)^shape = 1/2.
            Self::Pareto { minimum, shape } => minimum.as_secs_f64() * libm::pow(2.0, 1.0 / shape),
            _ => self.mean(),
        }
    }

    /// The mean in seconds.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Exponential(mean) | Self::Deterministic(mean) => mean.as_secs_f64(),
            Self::LogNormal { median, sigma } => median.as_secs_f64() * libm::exp(sigma * sigma / 2.0),
            Self::Gamma { shape, scale } => shape * scale.as_secs_f64(),
            Self::Pareto { minimum, shape } => minimum.as_secs_f64() * shape / (shape - 1.0),
            Self::Empirical(spans) => {
                spans.iter().map(|span| span.as_secs_f64()).sum::<f64>() / spans.len() as f64
            }
        }
    }
}

/// State of a PU at time zero.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PuStart")]
pub enum StartState {
    /// OFF, with a whole OFF time ahead: the generator of the released ns-2 code.
    #[default]
    Off,
    /// ON, with a whole ON time ahead.
    On,
    /// In the middle of its life: ON with the long-run probability, the first span a residual one. Exact for
    /// two exponential laws; the others run in for 100 mean cycles before time zero, but no more than 10,000
    /// typical ones.
    Stationary,
}

/// ON and OFF times that alternate.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityLaw {
    /// Law of the ON times.
    pub on: SpanLaw,
    /// Law of the OFF times.
    pub off: SpanLaw,
    /// State at time zero.
    pub start: StartState,
}

impl ActivityLaw {
    /// The paper's model: death rate `alpha` (mean ON time 1/alpha), birth rate `beta` (mean OFF time
    /// 1/beta), both per second (MSWiM 2009, section 3). Starts OFF.
    pub fn exponential(alpha: f64, beta: f64) -> Result<Self, LawError> {
        let law = |rate: f64| {
            // Negated, so that NaN is refused too.
            if !(rate > 0.0 && rate.is_finite()) {
                return Err(LawError::Rate);
            }
            let law = SpanLaw::Exponential(Duration::from_secs_f64(1.0 / rate));
            // The mean of a very high rate rounds to 0 ns.
            law.validate().map(|()| law)
        };
        Ok(Self { on: law(alpha)?, off: law(beta)?, start: StartState::Off })
    }

    /// A two-state model of a measured timeline: ON and OFF times drawn from its whole ON and OFF times in
    /// [from, until). The measurement cuts an ON time that touches one of its edges.
    pub fn from_trace(trace: &Intervals, from: Time, until: Time) -> Result<Self, LawError> {
        let law = |spans| {
            let law = SpanLaw::Empirical(spans);
            law.validate().map(|()| law)
        };
        let is_whole = |on: &&OnInterval| on.arrival > from && on.departure < until;
        let on_times = trace.as_slice().iter().filter(is_whole).map(|on| on.departure - on.arrival).collect();
        Ok(Self {
            on: law(on_times)?,
            off: law(trace.off_times(from, until))?,
            // A measurement begins at an arbitrary moment of the PU's life.
            start: StartState::Stationary,
        })
    }

    /// The two-state Markov model fitted to a measured timeline: exponential laws with its mean times, the
    /// maximum-likelihood estimates of 1/alpha and 1/beta.
    pub fn markov_from_trace(trace: &Intervals, from: Time, until: Time) -> Result<Self, LawError> {
        let empirical = Self::from_trace(trace, from, until)?;
        let mut law = Self::exponential(1.0 / empirical.on.mean(), 1.0 / empirical.off.mean())?;
        law.start = StartState::Stationary;
        Ok(law)
    }

    /// Long-run share of the time ON: mean ON / (mean ON + mean OFF); beta / (alpha + beta) for the paper's
    /// model.
    pub fn duty_cycle(&self) -> f64 {
        let (on, off) = (self.on.mean(), self.off.mean());
        on / (on + off)
    }

    /// The timeline of user number `index` in [0, horizon), from streams `pu/on`, `pu/off` and `pu/start` of
    /// that number. An ON interval that is open at the horizon is cut there.
    pub fn generate(&self, horizon: Duration, seed: u64, index: u64) -> Result<Intervals, LawError> {
        self.on.validate()?;
        self.off.validate()?;
        let mut on_stream = RandomStream::new(seed, "pu/on", index);
        let mut off_stream = RandomStream::new(seed, "pu/off", index);
        let (mut is_on, run_in) = self.start_state(seed, index);
        let origin = Time::ZERO + run_in;
        let end = origin + horizon;
        let mut intervals = Intervals::default();
        let mut at = Time::ZERO;
        while at < end {
            if !is_on {
                at += self.off.draw(&mut off_stream);
                is_on = true;
                continue;
            }
            // An ON time under way at time zero is cut there.
            let arrival = at.max(origin);
            at += self.on.draw(&mut on_stream);
            is_on = false;
            let departure = at.min(end);
            // An ON time that ends in the run-in is dropped.
            if departure > arrival {
                let on = OnInterval {
                    arrival: Time::ZERO + (arrival - origin),
                    departure: Time::ZERO + (departure - origin),
                };
                let pushed = intervals.push(on);
                debug_assert!(pushed.is_ok(), "spans are positive, so the timeline moves on: {pushed:?}");
            }
        }
        Ok(intervals)
    }

    /// Whether the timeline starts ON, and how long it runs before time zero.
    fn start_state(&self, seed: u64, index: u64) -> (bool, Duration) {
        // The rest of an exponential span has the law of a whole one.
        let memoryless = matches!((&self.on, &self.off), (SpanLaw::Exponential(_), SpanLaw::Exponential(_)));
        let mut stream = RandomStream::new(seed, "pu/start", index);
        match self.start {
            StartState::Off => (false, Duration::ZERO),
            StartState::On => (true, Duration::ZERO),
            StartState::Stationary if memoryless => (stream.uniform() < self.duty_cycle(), Duration::ZERO),
            StartState::Stationary => {
                // The part beyond the 100th cycle gives a deterministic law its uniform phase.
                let cycle = self.on.mean() + self.off.mean();
                let usual = self.on.typical() + self.off.typical();
                // A heavy tail puts the mean far beyond usual spans: 100 such cycles would take millions of
                // draws.
                let run_in = if cycle <= 100.0 * usual { cycle } else { 100.0 * usual };
                // From OFF, as any start is forgotten after 100 cycles.
                (false, Duration::from_secs_f64((100.0 + stream.uniform()) * run_in))
            }
        }
    }
}
