//! How samples of a measurement become busy times.

use crate::{Intervals, IntervalsError, OnInterval};
use cogtcp_units::{Check, Decibel, Duration, Power, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How samples of a measurement become busy times.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reading {
    /// A band becomes busy when a sample reaches this power. The samples are dBm then; without it they are 1
    /// and 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Power>,
    /// A busy band becomes idle when a sample falls by more than this below the threshold.
    pub hysteresis: Decibel,
    /// Idle times shorter than this are filled, then busy times shorter than this are left out.
    pub minimum: Duration,
}

impl Reading {
    /// The longest `minimum`.
    const LONGEST: Duration = Duration::from_secs(3600);

    /// Says what is wrong with the settings.
    pub fn check(&self, check: &mut impl Check) {
        if self.threshold.is_none() && self.hysteresis != Decibel::default() {
            let message = "hysteresis has no effect without threshold".to_owned();
            check.error("hysteresis", message, "write threshold too, as \"-95 dBm\"".to_owned());
        }
        check.range("hysteresis", self.hysteresis.0, (0.0, 100.0), " dB");
        check.span("minimum", self.minimum, true, Self::LONGEST);
    }
}

/// One band as its samples come in.
#[derive(Debug, Default)]
pub(super) struct Band {
    /// The last sample.
    pub(super) last: Option<Time>,
    busy_since: Option<Time>,
    busy: Intervals,
}

impl Band {
    /// True if the last sample was busy.
    pub(super) fn is_busy(&self) -> bool {
        self.busy_since.is_some()
    }

    pub(super) fn sample(&mut self, at: Time, is_busy: bool) -> Result<(), IntervalsError> {
        self.last = Some(at);
        match (self.busy_since, is_busy) {
            (None, true) => self.busy_since = Some(at),
            // Busy and idle in one sample's instant: never busy.
            (Some(since), false) if since == at => self.busy_since = None,
            (Some(arrival), false) => {
                self.busy_since = None;
                self.busy.push(OnInterval { arrival, departure: at })?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the busy times, the measurement ending at `end`.
    pub(super) fn finish(mut self, end: Time, minimum: Duration) -> Result<Intervals, IntervalsError> {
        // What is busy at the last sample is busy up to it: nobody measured later.
        self.sample(end, false)?;
        if minimum.is_zero() {
            return Ok(self.busy);
        }
        // Filled before short ones are dropped, or a signal with many short gaps would vanish piece by piece.
        let mut joined: Vec<OnInterval> = Vec::new();
        for on in self.busy.as_slice() {
            match joined.last_mut() {
                Some(last) if on.arrival - last.departure < minimum => last.departure = on.departure,
                _ => joined.push(*on),
            }
        }
        joined.retain(|on| on.departure - on.arrival >= minimum);
        Intervals::new(joined)
    }
}

/// The distances in time of a file's samples.
#[derive(Debug, Default)]
pub(super) struct Spacing {
    /// Distance of a sample from the one before it, and the line of the later one.
    steps: Vec<(Duration, usize)>,
}

impl Spacing {
    /// So many distances tell a spacing.
    const ENOUGH: usize = 8;
    /// A gap is longer than so many usual distances.
    const GAP: u64 = 10;

    pub(super) fn record(&mut self, last: Option<Time>, at: Time, line: usize) {
        // Two samples of one time tell nothing about the spacing.
        let step = last.map(|last| at.saturating_since(last)).filter(|step| !step.is_zero());
        self.steps.extend(step.map(|step| (step, line)));
    }

    /// Returns the median distance, if there are enough.
    fn median(&self) -> Option<Duration> {
        let mut steps: Vec<Duration> = self.steps.iter().map(|(step, _)| *step).collect();
        let middle = steps.len() / 2;
        // The median: long gaps, which `gap` looks for, would move a mean.
        (steps.len() >= Self::ENOUGH).then(|| *steps.select_nth_unstable(middle).1)
    }

    /// Returns the spacing of a file that was sampled: all distances are alike, but for a factor of two.
    pub(super) fn regular(&self) -> Option<Duration> {
        let median = self.median()?;
        self.steps.iter().all(|(step, _)| *step <= median * 2 && *step * 2 >= median).then_some(median)
    }

    /// Returns the first gap, its line, and the usual distance.
    pub(super) fn gap(&self) -> Option<(Duration, usize, Duration)> {
        let median = self.median()?;
        let (step, line) = self.steps.iter().find(|(step, _)| *step > median * Self::GAP)?;
        Some((*step, *line, median))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spacing(steps: &[u64]) -> Spacing {
        let mut spacing = Spacing::default();
        let mut at = Time::from_millis(1000);
        spacing.record(None, at, 1);
        for (number, step) in steps.iter().enumerate() {
            let next = at + Duration::from_millis(*step);
            spacing.record(Some(at), next, number + 2);
            at = next;
        }
        spacing
    }

    /// Eight distances tell a spacing; it is regular within a factor of two; a gap is longer than ten of them.
    #[test]
    fn distances_tell_spacing_and_gaps() {
        let ten = Duration::from_millis(10);
        assert_eq!((spacing(&[10; 7]).regular(), spacing(&[10; 8]).regular()), (None, Some(ten)));
        // Two samples of one time are no distance.
        assert_eq!(spacing(&[10, 10, 10, 10, 0, 10, 10, 10]).regular(), None);
        let with = |step| spacing(&[10, 10, 10, 10, step, 10, 10, 10]);
        for (step, regular, gap) in [
            (20, true, false),
            (21, false, false),
            (5, true, false),
            (4, false, false),
            (100, false, false),
            (101, false, true),
        ] {
            assert_eq!(with(step).regular(), regular.then_some(ten), "{step}");
            let expected = gap.then_some((Duration::from_millis(101), 6, ten));
            assert_eq!(with(step).gap(), expected, "{step}");
        }
    }
}
