//! When packets are sent, as scenarios write it.

use crate::call::Codec;
use cogtcp_units::{Duration, RandomStream, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a source sends. Rates count the payload.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// At equal distances: this rate.
    Constant(Rate),
    /// At exponential distances: this rate on average (a Poisson process).
    Poisson(Rate),
    /// A telephone call: the packets of its codec at equal distances. `size` is the codec's.
    Call {
        /// The codec: its rate, and how it bears loss.
        #[serde(default)]
        codec: Codec,
    },
    /// At a constant rate while ON, nothing while OFF.
    OnOff {
        /// Rate while ON.
        rate: Rate,
        /// Duration of each ON period.
        on: Period,
        /// Duration of each OFF period.
        off: Period,
    },
}

/// The duration of an ON or OFF period; random ones are drawn again each time.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Period {
    /// Always this.
    Fixed(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
    /// Pareto with this mean: heavy-tailed, so that many sources together are self-similar (Willinger, Taqqu,
    /// Sherman and Wilson, 1997).
    Pareto {
        /// The mean.
        mean: Duration,
        /// The shape, above 1; between 1 and 2 the variance is infinite.
        shape: f64,
    },
}

impl Pattern {
    /// The rate while the source sends.
    pub const fn rate(&self) -> Rate {
        match self {
            Self::Constant(rate) | Self::Poisson(rate) | Self::OnOff { rate, .. } => *rate,
            Self::Call { codec } => codec.rate(),
        }
    }

    /// Returns the payload of a packet that the pattern itself decides, in bytes.
    pub const fn payload(&self) -> Option<u32> {
        match self {
            Self::Call { codec } => Some(codec.payload()),
            _ => None,
        }
    }

    /// The first parameter that makes no sense: its key, what is wrong, what would be right.
    pub fn wrong(&self) -> Option<(&'static str, &'static str, &'static str)> {
        if self.rate().bits_per_second() == 0 {
            return Some(("rate", "the rate is zero", "write a rate above zero, for example \"1 Mbit/s\""));
        }
        let Self::OnOff { on, off, .. } = self else { return None };
        for (key, period) in [("on", on), ("off", off)] {
            if let Some((message, remedy)) = period.wrong(false) {
                return Some((key, message, remedy));
            }
        }
        None
    }
}

impl Period {
    /// What makes no sense and what would be right; `zero`: whether it may be none at all.
    pub(crate) fn wrong(&self, zero: bool) -> Option<(&'static str, &'static str)> {
        let (Self::Fixed(mean) | Self::Exponential(mean) | Self::Pareto { mean, .. }) = self;
        if mean.is_zero() && !(zero && matches!(self, Self::Fixed(_))) {
            let remedy = "write a duration above zero, for example \"500 ms\"";
            return Some(("the period has no duration", remedy));
        }
        if matches!(self, Self::Pareto { shape, .. } if !(*shape > 1.0 && *shape <= 100.0)) {
            return Some(("the shape has no mean", "write a shape above 1 (to 100), for example 1.5"));
        }
        None
    }

    /// One duration.
    pub(crate) fn draw(&self, stream: &mut RandomStream) -> Duration {
        match *self {
            Self::Fixed(span) => span,
            Self::Exponential(mean) => stream.exponential(mean),
            Self::Pareto { mean, shape } => {
                // A Pareto variate has the mean least * shape / (shape - 1).
                let least = mean.as_secs_f64() * (shape - 1.0) / shape;
                Duration::from_secs_f64(stream.pareto(least, shape))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_of(period: Period, draws: u32) -> f64 {
        let mut stream = RandomStream::new(1, "period", 0);
        (0..draws).map(|_| period.draw(&mut stream).as_secs_f64()).sum::<f64>() / f64::from(draws)
    }

    /// 100,000 draws. The exponential's mean is within five standard errors (1.6 %). A Pareto of shape 3 has
    /// a standard deviation of 0.87 means and lies within five of its own.
    #[test]
    fn periods_have_their_mean() {
        let mean = Duration::from_millis(500);
        assert_eq!(mean_of(Period::Fixed(mean), 10), 0.5);
        assert!((mean_of(Period::Exponential(mean), 100_000) - 0.5).abs() < 0.5 * 0.016);
        assert!((mean_of(Period::Pareto { mean, shape: 3.0 }, 100_000) - 0.5).abs() < 0.5 * 0.014);
    }

    /// A Pareto of mean 0.5 s and shape 1.5 is never below 0.5 / 3 s, and above ten times that in 10^-1.5 of
    /// all draws.
    #[test]
    fn pareto_has_its_tail() {
        let period = Period::Pareto { mean: Duration::from_millis(500), shape: 1.5 };
        let mut stream = RandomStream::new(2, "period", 0);
        let draws: Vec<f64> = (0..100_000).map(|_| period.draw(&mut stream).as_secs_f64()).collect();
        assert!(draws.iter().all(|draw| *draw >= 0.1666));
        let far = draws.iter().filter(|draw| **draw > 5.0 / 3.0).count() as f64 / 1e5;
        assert!((far - 0.03162).abs() < 0.003, "{far}");
    }

    #[test]
    fn nonsense_is_named() {
        let rate = Rate::from_bits_per_second(1000);
        let good = Period::Fixed(Duration::from_millis(1));
        let on_off = |on, off| Pattern::OnOff { rate, on, off }.wrong().map(|(key, ..)| key);
        assert_eq!(Pattern::Poisson(Rate::ZERO).wrong().map(|(key, ..)| key), Some("rate"));
        assert_eq!(on_off(good, Period::Exponential(Duration::ZERO)), Some("off"));
        let endless = Period::Pareto { mean: Duration::from_millis(1), shape: 1.0 };
        assert_eq!((on_off(endless, good), on_off(good, good)), (Some("on"), None));
    }

    #[test]
    fn shapes_have_a_mean() {
        let mean = Duration::from_millis(1);
        for (shape, is_wrong) in [(1.0, true), (1.01, false), (100.0, false), (100.01, true)] {
            assert_eq!(Period::Pareto { mean, shape }.wrong(false).is_some(), is_wrong, "{shape}");
        }
        let (fixed, drawn) = (Period::Fixed(Duration::ZERO), Period::Exponential(Duration::ZERO));
        assert!(fixed.wrong(true).is_none() && fixed.wrong(false).is_some() && drawn.wrong(true).is_some());
    }
}
