//! How much a response carries, as scenarios write it.

use cogtcp_units::{Bytes, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The size of a response; random ones are drawn again each time, and are at least one byte.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Volume {
    /// Always this.
    Fixed(Bytes),
    /// Exponential with this mean.
    Exponential(Bytes),
    /// Pareto with this mean: heavy-tailed, as files of the web are (Crovella and Bestavros, 1997).
    Pareto {
        /// The mean.
        mean: Bytes,
        /// The shape, above 1; between 1 and 2 the variance is infinite.
        shape: f64,
    },
}

impl Volume {
    /// The mean.
    pub const fn mean(&self) -> Bytes {
        match self {
            Self::Fixed(mean) | Self::Exponential(mean) | Self::Pareto { mean, .. } => *mean,
        }
    }

    /// Whether it is drawn.
    pub const fn is_random(&self) -> bool {
        !matches!(self, Self::Fixed(_))
    }

    /// One size, bytes.
    pub(crate) fn draw(&self, stream: &mut RandomStream) -> u64 {
        let mean = self.mean().get();
        match *self {
            Self::Fixed(_) => mean,
            Self::Exponential(_) => whole(mean as f64 * stream.exponential(UNIT).as_secs_f64()),
            Self::Pareto { shape, .. } => whole(stream.pareto(mean as f64 * (shape - 1.0) / shape, shape)),
        }
    }
}

/// The mean of a draw that is scaled afterwards: long enough that its nanoseconds do not show.
const UNIT: cogtcp_units::Duration = cogtcp_units::Duration::from_secs(1);

/// Whole bytes, at least one. What is above 2^53 is no size that a run could carry.
fn whole(bytes: f64) -> u64 {
    bytes.clamp(1.0, 9.007_199_254_740_992e15) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_of(volume: Volume) -> f64 {
        let mut stream = RandomStream::new(1, "volume", 0);
        (0..100_000).map(|_| volume.draw(&mut stream) as f64).sum::<f64>() / 1e5
    }

    /// 100,000 draws: five standard errors of the exponential are 1.6 %, of a Pareto of shape 3 1.4 %.
    #[test]
    fn volumes_have_their_mean() {
        let mean = Bytes::new(100_000);
        assert_eq!(mean_of(Volume::Fixed(mean)), 1e5);
        assert!((mean_of(Volume::Exponential(mean)) / 1e5 - 1.0).abs() < 0.016);
        assert!((mean_of(Volume::Pareto { mean, shape: 3.0 }) / 1e5 - 1.0).abs() < 0.014);
    }

    /// Two thirds of the draws of a mean of 1 B are below a byte: a response has one at least, or it would never
    /// come.
    #[test]
    fn nobody_asks_for_nothing() {
        let mut stream = RandomStream::new(1, "volume", 0);
        let mean = Bytes::new(1);
        for volume in [Volume::Exponential(mean), Volume::Pareto { mean, shape: 1.5 }] {
            let sizes: Vec<u64> = (0..1000).map(|_| volume.draw(&mut stream)).collect();
            assert!(sizes.iter().all(|size| *size >= 1) && sizes.iter().any(|size| *size > 1), "{volume:?}");
        }
    }

    /// Up to 2^53 a float counts bytes one by one.
    #[test]
    fn sizes_end_where_floats_do_not_count() {
        let most = 1 << 53;
        let sizes = [0.0, 0.99, 1.0, 1.99, most as f64, 1e17, f64::INFINITY].map(whole);
        assert_eq!(sizes, [1, 1, 1, 1, most, most, most]);
    }
}
