//! Laws of durations.

use cogtcp_units::{Duration, RandomStream};

/// The law that a span of the cognitive cycle follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DurationLaw {
    /// Always this span.
    Fixed(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
    /// Uniform between the two spans, both included.
    Uniform(Duration, Duration),
}

impl DurationLaw {
    /// One span. A fixed law draws nothing from the stream; the others draw once.
    pub fn draw(&self, stream: &mut RandomStream) -> Duration {
        match *self {
            Self::Fixed(span) => span,
            Self::Exponential(mean) => stream.exponential(mean),
            Self::Uniform(low, high) => stream.uniform_duration(low.min(high), high.max(low)),
        }
    }

    /// The mean of the law.
    pub fn mean(&self) -> Duration {
        match *self {
            Self::Fixed(span) => span,
            Self::Exponential(mean) => mean,
            Self::Uniform(low, high) => Duration::from_nanos(low.as_nanos().midpoint(high.as_nanos())),
        }
    }

    /// The longest span that the law can draw; `None` when it has no bound.
    pub fn longest(&self) -> Option<Duration> {
        match *self {
            Self::Fixed(span) => Some(span),
            Self::Exponential(_) => None,
            Self::Uniform(low, high) => Some(low.max(high)),
        }
    }
}
