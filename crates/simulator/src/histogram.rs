//! Distributions of spans in bounded memory.

use cogtcp_units::Duration;

/// Buckets per octave: a bucket is at most 1/32 of its values wide, so its middle is off by less than 1.6 %.
const SUB_BITS: u32 = 5;
const SUB: usize = 1 << SUB_BITS;
/// Values are counted in units of 2^10 ns, about a microsecond.
const UNIT_BITS: u32 = 10;
/// Octave 0 holds 0 to 31 units, octave k the 32 buckets from 2^(k+4) units on; the last reaches 2^28 units, 4.6 min.
const OCTAVES: usize = 24;

/// A log-linear histogram of durations with exact mean, least and greatest. An octave is allocated when it is first
/// hit: a distribution over a factor of 16 takes about half a kilobyte.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    /// The row of `counts` of each octave.
    octaves: [u8; OCTAVES],
    counts: Box<[[u32; SUB]]>,
    sum: u64,
    least: u64,
    greatest: u64,
}

const NONE: u8 = u8::MAX;

impl Histogram {
    pub(crate) fn new() -> Self {
        Self { octaves: [NONE; OCTAVES], counts: Box::default(), sum: 0, least: u64::MAX, greatest: 0 }
    }

    /// Counts `span`.
    #[inline]
    pub(crate) fn record(&mut self, span: Duration) {
        let nanos = span.as_nanos();
        self.sum += nanos;
        self.least = self.least.min(nanos);
        self.greatest = self.greatest.max(nanos);
        let (octave, bucket) = place(nanos >> UNIT_BITS);
        if self.octaves[octave] == NONE {
            self.add_octave(octave);
        }
        let count = &mut self.counts[self.octaves[octave] as usize][bucket];
        *count = count.saturating_add(1);
    }

    #[cold]
    fn add_octave(&mut self, octave: usize) {
        self.octaves[octave] = self.counts.len() as u8;
        let mut counts = std::mem::take(&mut self.counts).into_vec();
        counts.reserve_exact(1);
        counts.push([0; SUB]);
        self.counts = counts.into_boxed_slice();
    }

    fn samples(&self) -> u64 {
        self.counts.iter().flatten().map(|count| u64::from(*count)).sum()
    }

    /// Mean in seconds; not-a-number without a sample.
    pub(crate) fn mean(&self) -> f64 {
        self.sum as f64 / 1e9 / self.samples() as f64
    }

    /// Least value in seconds; not-a-number without a sample.
    pub(crate) fn least(&self) -> f64 {
        if self.counts.is_empty() { f64::NAN } else { self.least as f64 / 1e9 }
    }

    /// Greatest value in seconds; not-a-number without a sample.
    pub(crate) fn greatest(&self) -> f64 {
        if self.counts.is_empty() { f64::NAN } else { self.greatest as f64 / 1e9 }
    }

    /// The value in seconds that a share `q` of the samples does not exceed, interpolated within its bucket;
    /// not-a-number without a sample.
    pub(crate) fn quantile(&self, q: f64) -> f64 {
        if self.counts.is_empty() {
            return f64::NAN;
        }
        let rank = q * self.samples() as f64;
        let mut below = 0.0;
        for (octave, row) in self.octaves.iter().enumerate() {
            let Some(row) = self.counts.get(*row as usize) else { continue };
            for (bucket, count) in row.iter().enumerate() {
                let count = f64::from(*count);
                if count > 0.0 && below + count >= rank {
                    let (low, width) = bounds(octave, bucket);
                    let nanos = low + width * ((rank - below) / count).clamp(0.0, 1.0);
                    return nanos.clamp(self.least as f64, self.greatest as f64) / 1e9;
                }
                below += count;
            }
        }
        self.greatest()
    }

    /// Bytes allocated.
    #[cfg(test)]
    pub(crate) fn allocated(&self) -> usize {
        std::mem::size_of_val::<[[u32; SUB]]>(&self.counts)
    }
}

/// Octave and bucket of a value in units.
#[inline]
fn place(units: u64) -> (usize, usize) {
    if units < SUB as u64 {
        return (0, units as usize);
    }
    let top = 63 - units.leading_zeros();
    let octave = (top - SUB_BITS + 1) as usize;
    if octave >= OCTAVES {
        return (OCTAVES - 1, SUB - 1);
    }
    (octave, (units >> (top - SUB_BITS)) as usize & (SUB - 1))
}

/// Lower bound and width of a bucket in nanoseconds.
fn bounds(octave: usize, bucket: usize) -> (f64, f64) {
    let unit = (1u64 << UNIT_BITS) as f64;
    if octave == 0 {
        return (bucket as f64 * unit, unit);
    }
    let width = (1u64 << (octave - 1)) as f64 * unit;
    ((SUB + bucket) as f64 * width, width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::RandomStream;

    #[test]
    fn every_value_lies_in_its_bucket() {
        for shift in 0..37 {
            for offset in [0, 1, 3, 17] {
                let nanos = (1u64 << shift) + offset * (1 << shift) / 19;
                let (octave, bucket) = place(nanos >> UNIT_BITS);
                let (low, width) = bounds(octave, bucket);
                let value = nanos as f64;
                assert!(low <= value && value < low + width, "{nanos} not in [{low}, {low} + {width})");
            }
        }
    }

    /// Quantiles of 100,000 exponential spans of mean 50 ms against theory, within bucket and sampling error.
    #[test]
    fn quantiles_of_a_known_law() {
        let mut stream = RandomStream::new(5, "histogram", 0);
        let mut histogram = Histogram::new();
        for _ in 0..100_000 {
            histogram.record(stream.exponential(Duration::from_millis(50)));
        }
        for (q, tolerance) in [(0.5, 0.02), (0.95, 0.02), (0.99, 0.03)] {
            let theory = -0.05 * libm::log(1.0 - q);
            let measured = histogram.quantile(q);
            assert!((measured / theory - 1.0).abs() < tolerance, "{q}: {measured}, theory {theory}");
        }
        assert!((histogram.mean() / 0.05 - 1.0).abs() < 0.02);
        // An exponential law spans many octaves: still under 2 KiB.
        assert!(histogram.allocated() < 2048, "{}", histogram.allocated());
    }

    #[test]
    fn a_single_value_is_exact() {
        let mut histogram = Histogram::new();
        assert!(histogram.quantile(0.5).is_nan() && histogram.mean().is_nan() && histogram.least().is_nan());
        histogram.record(Duration::from_micros(102_345));
        for value in
            [histogram.quantile(0.01), histogram.quantile(0.99), histogram.mean(), histogram.greatest()]
        {
            assert_eq!(value, 0.102345);
        }
    }

    #[test]
    fn spans_beyond_the_range_keep_their_maximum() {
        let mut histogram = Histogram::new();
        histogram.record(Duration::from_secs(100_000));
        assert_eq!(histogram.greatest(), 100_000.0);
    }
}
