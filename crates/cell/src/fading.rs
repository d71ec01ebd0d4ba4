//! Rayleigh fading in blocks: the gain of a user is exponential of mean 1, and constant for a coherence time.

use cogtcp_units::{Duration, RandomStream, Time};

/// The gain of one user over time.
#[derive(Clone, Debug)]
pub struct UserFading {
    stream: RandomStream,
    coherence: Duration,
    /// The block of the last draw.
    block: Option<u64>,
    /// The gain of that block, and of the one before.
    gains: [f64; 2],
}

impl UserFading {
    /// Returns the fading of the user whose draws are `stream`.
    pub fn new(coherence: Duration, stream: RandomStream) -> Self {
        Self { stream, coherence, block: None, gains: [1.0; 2] }
    }

    /// Returns the gain at `now`, and the gain in a report of age `age`, at most one block old. Time does not
    /// run backwards between calls.
    pub fn gains(&mut self, now: Time, age: Duration) -> (f64, f64) {
        let block = now.as_nanos() / self.coherence.as_nanos().max(1);
        // A draw for each block, whether somebody looks or not: what a user sends does not change its
        // channel.
        while self.block.is_none_or(|drawn| drawn < block) {
            self.gains = [self.stream.standard_exponential(), self.gains[0]];
            self.block = Some(self.block.map_or(0, |drawn| drawn + 1));
        }
        let since = now.as_nanos() % self.coherence.as_nanos().max(1);
        let is_old = block > 0 && age.as_nanos() > since;
        (self.gains[0], if is_old { self.gains[1] } else { self.gains[0] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of 10 ms: a report is of the block before while it is older than this one.
    #[test]
    fn a_report_is_at_most_a_block_old() {
        let mut fading = UserFading::new(Duration::from_millis(10), RandomStream::new(1, "fading", 0));
        let mut look =
            |micros: u64, age: u64| fading.gains(Time::from_nanos(micros * 1000), Duration::from_micros(age));
        let (first, report) = look(9_999, 20_000);
        assert_eq!(first, report, "there is none before the first block");
        let (second, report) = look(10_000, 0);
        assert!(second != first && report == second);
        assert_eq!(look(10_000, 1), (second, first));
        assert_eq!((look(14_000, 4_000), look(14_000, 4_001)), ((second, second), (second, first)));
        // Blocks that nobody looked at were drawn, too.
        let (fourth, third) = look(30_000, 1);
        let mut other = UserFading::new(Duration::from_millis(10), RandomStream::new(1, "fading", 0));
        assert_eq!(other.gains(Time::from_millis(20), Duration::ZERO).0, third);
        assert_eq!(other.gains(Time::from_millis(30), Duration::ZERO).0, fourth);
    }
}
