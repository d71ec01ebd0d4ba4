//! Random and listed losses of a link.

use cogtcp_units::{Probability, RandomStream};

/// What is lost of the frames that the transmitter sent.
#[derive(Debug)]
pub(crate) struct Losses {
    probability: Probability,
    stream: RandomStream,
    /// Frames seen so far, and the numbers of those still to be lost, the next one last.
    count: u64,
    drops: Vec<u64>,
}

impl Losses {
    /// Loses each frame with `probability`, and frames by number as in `drops`, ascending from 1.
    pub(crate) fn new(probability: Probability, drops: &[u64], stream: RandomStream) -> Self {
        Self { probability, stream, count: 0, drops: drops.iter().rev().copied().collect() }
    }

    /// Whether the next frame is lost. A listed frame draws as any other, so that a list moves no other loss.
    pub(crate) fn next(&mut self) -> bool {
        self.count += 1;
        let listed = self.drops.pop_if(|number| *number == self.count).is_some();
        self.stream.bernoulli(self.probability) || listed
    }
}
