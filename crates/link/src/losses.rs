//! Random and listed losses of a link.

use cogtcp_units::{Probability, RandomStream};

/// What is lost of the frames that the transmitter sent.
#[derive(Debug)]
pub(crate) struct Losses {
    law: Law,
    stream: RandomStream,
    /// Frames seen so far, and the numbers of those still to be lost, the next one last.
    count: u64,
    drops: Vec<u64>,
}

/// How losses follow each other.
#[derive(Debug)]
enum Law {
    /// Each frame is lost on its own.
    Independent(Probability),
    /// Gilbert's model: a Markov chain of two states that steps at each frame. The good state loses no frame,
    /// the bad one each frame (Gilbert 1960 with h = 0; Elliott 1963 has a chance of loss in both states).
    Runs {
        /// Chance of a loss after a frame that arrived.
        into: Probability,
        /// Chance of a loss after a lost frame.
        stays: Probability,
        /// Whether the last frame was lost.
        bad: bool,
    },
}

impl Law {
    /// The chain of this share of losses and mean run. Of the time that it spends in the bad state, p/(p + r)
    /// with p from good to bad and r = 1/run back, p follows.
    fn new(share: Probability, run: Option<f64>, stream: &mut RandomStream) -> Self {
        let Some(run) = run else { return Self::Independent(share) };
        // Shares and runs that no chain can have (p above 1) end at the nearest chain, not in an error.
        let clamped = |value: f64| Probability::new(value.clamp(0.0, 1.0)).unwrap_or(Probability::ZERO);
        let back = 1.0 / run;
        // A share of 1 gives infinity, which is clamped to 1.
        let into = clamped(back * share.get() / (1.0 - share.get()));
        // The first frame meets the chain as it is after a long time.
        let bad = stream.bernoulli(share);
        Self::Runs { into, stays: clamped(1.0 - back), bad }
    }
}

impl Losses {
    /// Loses the share `probability` of all frames, in runs of the mean length `run` or each on its own, and
    /// frames by number as in `drops`, ascending from 1.
    pub(crate) fn new(
        probability: Probability,
        run: Option<f64>,
        drops: &[u64],
        mut stream: RandomStream,
    ) -> Self {
        let law = Law::new(probability, run, &mut stream);
        // Reversed, so that the next number is taken from the end.
        Self { law, stream, count: 0, drops: drops.iter().rev().copied().collect() }
    }

    /// Whether the next frame is lost. A listed frame draws as any other, so that a list moves no other loss.
    pub(crate) fn next(&mut self) -> bool {
        self.count += 1;
        let listed = self.drops.pop_if(|number| *number == self.count).is_some();
        let lost = match &mut self.law {
            Law::Independent(probability) => self.stream.bernoulli(*probability),
            Law::Runs { into, stays, bad } => {
                *bad = self.stream.bernoulli(if *bad { *stays } else { *into });
                *bad
            }
        };
        lost || listed
    }
}
