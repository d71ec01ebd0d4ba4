//! Distributions of spans in bounded memory.

use cogtcp_units::{Duration, prefetch};

/// Buckets per octave: a bucket is at most 1/32 of its values wide, so its middle is off by less than 1.6 %.
const SUB_BITS: u32 = 5;
const SUB: usize = 1 << SUB_BITS;
/// Values are counted in units of 2^10 ns, about a microsecond.
const UNIT_BITS: u32 = 10;
/// Octave 0 holds 0 to 31 units, octave k the 32 buckets from 2^(k+4) units on; the last reaches 2^28 units,
/// 4.6 min.
const OCTAVES: usize = 24;

/// A log-linear histogram of durations with exact mean, least and greatest. An octave is allocated when it is
/// first hit: a distribution over a factor of 16 takes about half a kilobyte.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// A row for each octave that was hit, ascending.
    counts: Box<[[u32; SUB]]>,
    sum: u64,
    least: u64,
    greatest: u64,
    /// The octaves that were hit, a bit each.
    octaves: u32,
    /// The octave of the latest value, and its bucket, row by row: the next one is often near.
    latest_octave: u8,
    latest: u16,
}

const NONE: u8 = u8::MAX;

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// Without a sample.
    pub fn new() -> Self {
        Self {
            counts: Box::default(),
            sum: 0,
            least: u64::MAX,
            greatest: 0,
            octaves: 0,
            latest_octave: NONE,
            latest: 0,
        }
    }

    /// Counts `span`.
    #[inline]
    pub fn record(&mut self, span: Duration) {
        let nanos = span.as_nanos();
        self.sum += nanos;
        self.least = self.least.min(nanos);
        self.greatest = self.greatest.max(nanos);
        let (octave, bucket) = place(nanos >> UNIT_BITS);
        let row = if octave == usize::from(self.latest_octave) {
            usize::from(self.latest >> SUB_BITS)
        } else {
            self.row(octave)
        };
        self.latest_octave = octave as u8;
        self.latest = (row << SUB_BITS | bucket) as u16;
        let count = &mut self.counts[row][bucket];
        // 32 bits halve the memory; a bucket of 4 billion samples stays full.
        *count = count.saturating_add(1);
    }

    /// The row of an octave, which is added if need be.
    fn row(&mut self, octave: usize) -> usize {
        // Rows exist for octaves that were hit: as many lie before this one as there are lower bits.
        let row = (self.octaves & ((1 << octave) - 1)).count_ones() as usize;
        if self.octaves & 1 << octave == 0 {
            self.add_octave(octave, row);
        }
        row
    }

    /// Asks for the memory where the latest value was counted.
    #[inline]
    pub fn prefetch_latest(&self) {
        if let Some(count) = self.counts.as_flattened().get(usize::from(self.latest)) {
            prefetch(count, 1);
        }
    }

    #[cold]
    fn add_octave(&mut self, octave: usize, row: usize) {
        self.octaves |= 1 << octave;
        let mut counts = std::mem::take(&mut self.counts).into_vec();
        // No room to spare: a run may have thousands of histograms.
        counts.reserve_exact(1);
        counts.insert(row, [0; SUB]);
        self.counts = counts.into_boxed_slice();
    }

    /// How many samples.
    pub fn samples(&self) -> u64 {
        self.counts.iter().flatten().map(|count| u64::from(*count)).sum()
    }

    /// Mean in seconds; not-a-number without a sample.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / 1e9 / self.samples() as f64
    }

    /// Least value in seconds; not-a-number without a sample.
    pub fn least(&self) -> f64 {
        if self.counts.is_empty() { f64::NAN } else { self.least as f64 / 1e9 }
    }

    /// Greatest value in seconds; not-a-number without a sample.
    pub fn greatest(&self) -> f64 {
        if self.counts.is_empty() { f64::NAN } else { self.greatest as f64 / 1e9 }
    }

    /// The value in seconds that a share `q` of the samples does not exceed, interpolated within its bucket;
    /// not-a-number without a sample.
    pub fn quantile(&self, q: f64) -> f64 {
        if self.counts.is_empty() {
            return f64::NAN;
        }
        let rank = q * self.samples() as f64;
        let mut below = 0.0;
        let octaves = (0..OCTAVES).filter(|octave| self.octaves & 1 << octave != 0);
        for (octave, row) in octaves.zip(&self.counts) {
            for (bucket, count) in row.iter().enumerate() {
                let count = f64::from(*count);
                if count > 0.0 && below + count >= rank {
                    let (low, width) = bounds(octave, bucket);
                    let nanos = low + width * ((rank - below) / count).clamp(0.0, 1.0);
                    // The bounds are known exactly: no quantile lies outside.
                    return nanos.clamp(self.least as f64, self.greatest as f64) / 1e9;
                }
                below += count;
            }
        }
        // Only a rank that rounding put above the number of samples comes here.
        self.greatest()
    }

    /// Bytes allocated.
    #[cfg(test)]
    fn allocated(&self) -> usize {
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
    // Longer spans share the last bucket; mean and greatest stay exact.
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
        assert!(histogram.greatest().is_nan());
        histogram.record(Duration::from_micros(102_345));
        for value in
            [histogram.quantile(0.01), histogram.quantile(0.99), histogram.mean(), histogram.greatest()]
        {
            assert_eq!(value, 0.102345);
        }
    }

    /// Units are 1024 ns. Octave 0 has a bucket for each unit below 32, octave 1 for each of 32 to 63. Octave
    /// 2 holds 64 to 127 in buckets of two units, octave 3 holds 128 to 255 in buckets of four, and so on.
    #[test]
    fn edges_of_buckets_by_hand() {
        for (units, octave, bucket, low, width) in [
            (0, 0, 0, 0, 1),
            (1, 0, 1, 1, 1),
            (31, 0, 31, 31, 1),
            (32, 1, 0, 32, 1),
            (63, 1, 31, 63, 1),
            (64, 2, 0, 64, 2),
            (65, 2, 0, 64, 2),
            (66, 2, 1, 66, 2),
            (127, 2, 31, 126, 2),
            (128, 3, 0, 128, 4),
            (131, 3, 0, 128, 4),
            (132, 3, 1, 132, 4),
            // The last octave: 2^27 to 2^28 in 32 buckets of 2^22 units.
            ((1 << 27) - 1, 22, 31, (1 << 27) - (1 << 21), 1 << 21),
            (1 << 27, 23, 0, 1 << 27, 1 << 22),
            ((1 << 28) - 1, 23, 31, (1 << 28) - (1 << 22), 1 << 22),
            // Beyond the range: the last bucket.
            (1 << 28, 23, 31, (1 << 28) - (1 << 22), 1 << 22),
            (u64::MAX >> UNIT_BITS, 23, 31, (1 << 28) - (1 << 22), 1 << 22),
        ] {
            assert_eq!(place(units), (octave, bucket), "{units}");
            let expected = (f64::from(low) * 1024.0, f64::from(width) * 1024.0);
            assert_eq!(bounds(octave, bucket), expected, "{units}");
        }
    }

    /// Ten spans of 2 units, thirty of 4 and ten of 8; each lies on the lower edge of a bucket one unit wide.
    #[test]
    fn quantiles_by_hand() {
        let mut histogram = Histogram::new();
        for (units, count) in [(8, 10), (2, 10), (4, 30)] {
            for _ in 0..count {
                histogram.record(Duration::from_nanos(units * 1024));
            }
        }
        let units = |q: f64| histogram.quantile(q) * 1e9 / 1024.0;
        for (q, expected) in [
            // Rank 5 of the 10 in the bucket from 2 to 3.
            (0.1, 2.5),
            // Rank 10: the upper edge of it.
            (0.2, 3.0),
            // Rank 25, that is 15 of the 30 in the bucket from 4 to 5.
            (0.5, 4.5),
            // Rank 34: 24 of 30.
            (0.68, 4.8),
            (0.8, 5.0),
            // Rank 45: 5 of the 10 in the bucket from 8 to 9, but none was greater than 8.
            (0.9, 8.0),
            (1.0, 8.0),
            (0.0, 2.0),
        ] {
            assert!((units(q) - expected).abs() < 1e-9, "{q}: {} and not {expected}", units(q));
        }
        // (10 * 2 + 30 * 4 + 10 * 8) / 50 = 4.4 units.
        assert!((histogram.mean() * 1e9 / 1024.0 - 4.4).abs() < 1e-9);
        assert_eq!((histogram.least(), histogram.greatest()), (2048e-9, 8192e-9));
    }

    /// Rows of counts are kept by octave, in whatever order these were hit: 1000 units lie in
    /// [992, 1008) of octave 5, 100 units in [100, 102) of octave 2.
    #[test]
    fn octaves_are_read_in_their_order() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.allocated(), 0);
        for units in [1000, 1000, 100, 100] {
            histogram.record(Duration::from_nanos(units * 1024));
        }
        // Rank 1 of 2 in [100, 102), and rank 1 of 2 in [992, 1008).
        for (q, expected) in [(0.25, 101.0), (0.75, 1000.0)] {
            let units = histogram.quantile(q) * 1e9 / 1024.0;
            assert!((units - expected).abs() < 1e-9, "{q}: {units} and not {expected}");
        }
        // Two rows of 32 counts of 4 bytes.
        assert_eq!(histogram.allocated(), 256);
    }

    #[test]
    fn spans_of_nothing_are_counted() {
        let mut histogram = Histogram::new();
        histogram.record(Duration::from_nanos(0));
        assert_eq!((histogram.least(), histogram.quantile(0.5), histogram.greatest()), (0.0, 0.0, 0.0));
    }

    /// The last bucket begins at 2^28 - 2^22 units and holds all above; the greatest bounds what is told.
    #[test]
    fn spans_beyond_the_range_keep_their_maximum() {
        let mut histogram = Histogram::new();
        histogram.record(Duration::from_secs(100_000));
        assert_eq!(histogram.greatest(), 100_000.0);
        assert_eq!(histogram.least(), 100_000.0);
        assert_eq!(histogram.quantile(0.5), 100_000.0);
    }
}
