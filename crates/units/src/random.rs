//! Random streams: one per stochastic part of the model.
//!
//! A stream is keyed by (seed, name of the part, index), never by the order of creation. Adding a flow or
//! changing a TCP variant changes no draw of any other part: comparisons use common random numbers.
//!
//! The generator is ChaCha with 8 rounds (2^64 independent streams). The samplers are our own, over `libm`,
//! because the results of a seed must be the same on every platform and after every upgrade of a dependency.

use crate::{Duration, Probability};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// An independent stream of random numbers.
#[derive(Clone, Debug)]
pub struct RandomStream {
    generator: ChaCha8Rng,
    /// The second value of the last pair of normal variates.
    spare_normal: Option<f64>,
}

impl RandomStream {
    /// The stream of part `part` number `index` in the run of seed `seed`.
    pub fn new(seed: u64, part: &str, index: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        // Index and sum are both mixed: similar names or neighbouring indices share no bits of their streams.
        generator.set_stream(mix(fnv1a(part.as_bytes()) ^ mix(index)));
        Self { generator, spare_normal: None }
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Uniform in [0, 1), with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high).
    pub fn uniform_in(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Uniform integer in 0..bound without bias (Lemire's multiplication with rejection). `bound` must not be
    /// 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0, "no integer lies below 0");
        // 2^64 modulo `bound`: without this many products, each result has equally many.
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }

    /// True with probability `p`. Draws nothing when `p` is 0 or 1.
    pub fn bernoulli(&mut self, p: Probability) -> bool {
        match p.get() {
            p if p <= 0.0 => false,
            p if p >= 1.0 => true,
            p => self.uniform() < p,
        }
    }

    /// Exponential variate of mean 1 (inverse transform, so one draw each).
    pub fn standard_exponential(&mut self) -> f64 {
        // Finite: a uniform draw is below 1.
        -libm::log1p(-self.uniform())
    }

    /// Exponential span of mean `mean`, at least 1 ns.
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        let nanos = self.standard_exponential() * mean.as_nanos() as f64;
        // A process whose spans are zero would never leave its instant.
        Duration::from_nanos((nanos + 0.5) as u64).max(Duration::from_nanos(1))
    }

    /// Uniform span in [low, high].
    pub fn uniform_duration(&mut self, low: Duration, high: Duration) -> Duration {
        low + Duration::from_nanos(self.below((high - low).as_nanos().saturating_add(1)))
    }

    /// Standard normal variate (Marsaglia's polar method; the second of each pair is kept).
    pub fn standard_normal(&mut self) -> f64 {
        if let Some(value) = self.spare_normal.take() {
            return value;
        }
        loop {
            let x = self.uniform_in(-1.0, 1.0);
            let y = self.uniform_in(-1.0, 1.0);
            let square = x * x + y * y;
            // Zero has no logarithm.
            if square < 1.0 && square > 0.0 {
                let scale = libm::sqrt(-2.0 * libm::log(square) / square);
                self.spare_normal = Some(y * scale);
                return x * scale;
            }
        }
    }

    /// Log-normal variate exp(mu + sigma Z).
    pub fn log_normal(&mut self, mu: f64, sigma: f64) -> f64 {
        libm::exp(mu + sigma * self.standard_normal())
    }

    /// Gamma variate with the given shape and scale, mean shape * scale (Marsaglia and Tsang 2000; for shape
    /// < 1 the boost by U^(1/shape)).
    pub fn gamma(&mut self, shape: f64, scale: f64) -> f64 {
        if shape < 1.0 {
            let boost = libm::pow(1.0 - self.uniform(), 1.0 / shape);
            return self.gamma(shape + 1.0, scale) * boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let x = self.standard_normal();
            let v = 1.0 + c * x;
            if v <= 0.0 {
                continue;
            }
            let v = v * v * v;
            let u = 1.0 - self.uniform();
            if libm::log(u) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return d * v * scale;
            }
        }
    }

    /// Pareto variate with minimum `minimum` and shape `shape`, mean minimum * shape / (shape - 1) for shape
    /// > 1.
    pub fn pareto(&mut self, minimum: f64, shape: f64) -> f64 {
        // From 1: a draw may be 0 but never 1, so the divisor is above zero.
        minimum / libm::pow(1.0 - self.uniform(), 1.0 / shape)
    }
}

/// FNV-1a, 64 bits: a stable hash of a part's name.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// The finaliser of SplitMix64: spreads every input bit over the whole word.
fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of `n` draws.
    fn moments(n: usize, mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let draws: Vec<f64> = (0..n).map(|_| draw()).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        (mean, draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64)
    }

    #[test]
    fn streams_are_keyed_by_name_and_index_and_seed() {
        let first = |seed, part, index| RandomStream::new(seed, part, index).next_u64();
        assert_eq!(first(1, "pu", 0), first(1, "pu", 0));
        assert_ne!(first(1, "pu", 0), first(1, "pu", 1));
        assert_ne!(first(1, "pu", 0), first(1, "loss", 0));
        assert_ne!(first(1, "pu", 0), first(2, "pu", 0));
    }

    /// 200,000 draws: the tolerance is about five standard errors of each moment.
    #[test]
    fn laws_have_their_moments() {
        const N: usize = 200_000;
        let mut stream = RandomStream::new(7, "test", 0);
        let close = |(mean, variance): (f64, f64), m: f64, v: f64, tolerance: f64| {
            assert!((mean - m).abs() < tolerance * m.abs().max(1.0), "mean {mean}, theory {m}");
            assert!((variance - v).abs() < 5.0 * tolerance * v.max(1.0), "variance {variance}, theory {v}");
        };
        close(moments(N, || stream.uniform()), 0.5, 1.0 / 12.0, 0.01);
        close(moments(N, || stream.standard_exponential()), 1.0, 1.0, 0.012);
        close(moments(N, || stream.standard_normal()), 0.0, 1.0, 0.012);
        close(moments(N, || stream.gamma(2.5, 2.0)), 5.0, 10.0, 0.012);
        close(moments(N, || stream.gamma(0.5, 1.0)), 0.5, 0.5, 0.012);
        close(moments(N, || stream.pareto(1.0, 5.0)), 1.25, 5.0 / 48.0, 0.012);
        let (m, s2) = (0.3f64, 0.25f64);
        let mean = libm::exp(m + s2 / 2.0);
        close(moments(N, || stream.log_normal(m, 0.5)), mean, (libm::exp(s2) - 1.0) * mean * mean, 0.012);
    }

    #[test]
    fn below_is_in_range_and_even() {
        let mut stream = RandomStream::new(3, "test", 1);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        // Five standard deviations of a binomial(70000, 1/7) are 463.
        assert!(counts.iter().all(|c| c.abs_diff(10_000) < 463), "{counts:?}");
    }

    /// Golden values: a change here changes every result of every seed and belongs in CHANGELOG "Changed
    /// results".
    #[test]
    fn golden_draws() {
        let mut stream = RandomStream::new(1, "golden", 0);
        let draws: Vec<u64> = (0..3).map(|_| stream.next_u64()).collect();
        let exponential = stream.exponential(Duration::from_secs(1)).as_nanos();
        let golden = [12_159_805_440_134_477_873, 7_490_243_347_125_345_210, 14_536_644_330_900_288_300];
        assert_eq!((draws, exponential), (golden.to_vec(), 214_762_815));
    }

    /// The same for every sampler: each draws from a stream of its own.
    #[test]
    fn golden_samplers() {
        let stream = |index| RandomStream::new(1, "golden/samplers", index);
        let three = |mut draw: Box<dyn FnMut() -> f64>| [draw(), draw(), draw()];
        let (mut a, mut b, mut c, mut d, mut e) = (stream(0), stream(1), stream(2), stream(3), stream(4));
        let (mut f, mut g, mut h, mut i, mut j, mut k) =
            (stream(5), stream(6), stream(7), stream(8), stream(9), stream(10));
        let (low, high) = (Duration::from_millis(100), Duration::from_millis(300));
        let third = Probability::new(1.0 / 3.0).unwrap();
        let drawn = [
            ("uniform", three(Box::new(move || a.uniform()))),
            ("uniform_in", three(Box::new(move || b.uniform_in(-2.0, 6.0)))),
            ("below", three(Box::new(move || c.below(1_000_003) as f64))),
            ("bernoulli", three(Box::new(move || f64::from(u8::from(d.bernoulli(third)))))),
            ("standard_exponential", three(Box::new(move || e.standard_exponential()))),
            ("exponential", three(Box::new(move || f.exponential(high).as_nanos() as f64))),
            ("uniform_duration", three(Box::new(move || g.uniform_duration(low, high).as_nanos() as f64))),
            ("standard_normal", three(Box::new(move || h.standard_normal()))),
            ("log_normal", three(Box::new(move || i.log_normal(0.5, 0.25)))),
            ("gamma, shape 2.5 and 0.5", three(Box::new(move || j.gamma(2.5, 2.0) + j.gamma(0.5, 1.0)))),
            ("pareto", three(Box::new(move || k.pareto(1.5, 2.5)))),
        ];
        let golden = [
            ("uniform", [0.3418463769934853, 0.3395891004442996, 0.7536450302119364]),
            ("uniform_in", [2.5307888580162077, 4.520141330804759, 2.576937148239777]),
            ("below", [800747.0, 181049.0, 979063.0]),
            ("bernoulli", [0.0, 1.0, 0.0]),
            ("standard_exponential", [2.7783951175663892, 2.2406730659049634, 2.185669240830426]),
            ("exponential", [225437783.0, 85484775.0, 149233001.0]),
            ("uniform_duration", [297713181.0, 274844748.0, 209951580.0]),
            ("standard_normal", [-0.07807913191157222, 0.6762945670103588, -0.09348512081428394]),
            ("log_normal", [1.423573836844518, 1.4796199358248492, 1.4811654821261184]),
            ("gamma, shape 2.5 and 0.5", [6.278042863247151, 10.532749734565583, 2.0735934574308623]),
            ("pareto", [3.5004058360832118, 1.9066571031429187, 2.9912951239405667]),
        ];
        assert_eq!(drawn, golden);
    }
}
