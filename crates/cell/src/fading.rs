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
