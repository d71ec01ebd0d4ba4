//! Laws of durations.

use cogtcp_units::{Check, Duration, QuantityError, RandomStream, deserialize_text_or_table};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// a fixed duration ("100 ms"), an exponential one with a mean ({ exponential = "5 s" }), or a uniform one ({
/// uniform = ["1 s", "2 s"] }); random durations are drawn again each time
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Law")]
pub enum DurationLaw {
    /// exponential with this mean
    Exponential(Duration),
    /// uniform between these two bounds, both included
    #[schemars(with = "[Duration; 2]")]
    Uniform(Duration, Duration),
    /// always this
    #[serde(untagged)]
    Fixed(Duration),
}

/// The laws that are written as a table.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum RandomLaw {
    Exponential(Duration),
    Uniform([Duration; 2]),
}

impl From<RandomLaw> for DurationLaw {
    fn from(law: RandomLaw) -> Self {
        match law {
            RandomLaw::Exponential(mean) => Self::Exponential(mean),
            RandomLaw::Uniform([low, high]) => Self::Uniform(low, high),
        }
    }
}

impl std::str::FromStr for DurationLaw {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        text.parse().map(Self::Fixed)
    }
}

impl<'de> Deserialize<'de> for DurationLaw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a duration as \"100 ms\", or a law of durations as { exponential = \"5 s\" } or \
                        { uniform = [\"1 s\", \"2 s\"] }";
        let alone = "a duration has one law; keep either exponential or uniform";
        deserialize_text_or_table::<D, Self, RandomLaw>(deserializer, &expected, alone)
    }
}

impl DurationLaw {
    /// Refuses bounds out of order, a law without a span above zero, and spans beyond `longest`; a fixed one
    /// may be zero.
    pub fn check(&self, field: &str, longest: Duration, check: &mut impl Check) {
        match self {
            Self::Fixed(span) => check.span(field, *span, true, longest),
            Self::Exponential(mean) => check.span(&format!("{field}.exponential"), *mean, false, longest),
            Self::Uniform(low, high) => {
                let field = format!("{field}.uniform");
                check.span(&format!("{field}.0"), *low, true, longest);
                check.span(&format!("{field}.1"), *high, false, longest);
                check.order(&field, low, high);
            }
        }
    }

    /// One span. A fixed law draws nothing from the stream; the others draw once.
    pub fn draw(&self, stream: &mut RandomStream) -> Duration {
        match *self {
            Self::Fixed(span) => span,
            Self::Exponential(mean) => stream.exponential(mean),
            // A law that `check` has not seen may have its bounds reversed.
            Self::Uniform(low, high) => stream.uniform_duration(low.min(high), high.max(low)),
        }
    }

    /// The mean of the law.
    pub fn mean(&self) -> Duration {
        match *self {
            Self::Fixed(span) => span,
            Self::Exponential(mean) => mean,
            // The sum of two spans may overflow.
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
