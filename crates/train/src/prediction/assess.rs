//! What was predicted against what came.

use super::{Outage, Prediction};
use cogtcp_units::Time;

/// How a set of predictions compares with the outages that came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assessment {
    /// For each outage the number of the prediction that belongs to it.
    pub matches: Vec<Option<usize>>,
    /// Error of each predicted beginning that belongs to an outage, in seconds: positive when the outage came
    /// earlier than predicted (the warning is late).
    pub start_errors: Vec<f64>,
    /// Error of each predicted end, in seconds: positive when it was predicted too late.
    pub end_errors: Vec<f64>,
    /// Outages that no prediction belongs to.
    pub missed: u64,
    /// Predictions that belong to no outage.
    pub false_ones: u64,
}

/// Gives each outage the prediction whose beginning is nearest, if it is nearer than half of the gap to the
/// neighbouring outages. Each prediction belongs to one outage at most.
pub fn assess(outages: &[Outage], predictions: &[Prediction]) -> Assessment {
    let mut assessment = Assessment::default();
    let mut best: Vec<Option<(usize, f64)>> = vec![None; outages.len()];
    for (number, prediction) in predictions.iter().enumerate() {
        let nearest = outages
            .iter()
            .enumerate()
            .map(|(i, outage)| (i, prediction.start.as_secs_f64() - outage.start.as_secs_f64()))
            .min_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let Some((outage, error)) = nearest else { continue };
        if error.abs() <= reach(outages, outage)
            && best[outage].is_none_or(|(_, other)| error.abs() < other.abs())
        {
            best[outage] = Some((number, error));
        }
    }
    for (outage, matched) in outages.iter().zip(&best) {
        let Some((number, error)) = matched else {
            assessment.missed += 1;
            continue;
        };
        assessment.start_errors.push(*error);
        // An outage that never ends has no end to be wrong about.
        if let Some(end) = predictions[*number].end.filter(|_| outage.end < Time::MAX) {
            assessment.end_errors.push(end.as_secs_f64() - outage.end.as_secs_f64());
        }
    }
    assessment.matches = best.into_iter().map(|matched| matched.map(|(number, _)| number)).collect();
    assessment.false_ones = (predictions.len() - assessment.start_errors.len()) as u64;
    assessment
}

/// How far a prediction may lie from an outage's beginning and still be meant for it, in seconds.
fn reach(outages: &[Outage], number: usize) -> f64 {
    let outage = outages[number];
    let before = number.checked_sub(1).map_or(f64::MAX, |i| (outage.start - outages[i].start).as_secs_f64());
    let after = outages.get(number + 1).map_or(f64::MAX, |next| (next.start - outage.start).as_secs_f64());
    // An outage alone reaches as far as it is long, and 5 s at least.
    let own = (outage.end - outage.start).as_secs_f64().max(5.0);
    (before.min(after) / 2.0).min(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outage(start: u64, end: u64) -> Outage {
        Outage { start: Time::from_millis(start), end: Time::from_millis(end) }
    }

    fn predicted(start: u64, end: u64) -> Prediction {
        let (made, start, end) = (Time::ZERO, Time::from_millis(start), Some(Time::from_millis(end)));
        Prediction { made, start, end }
    }

    #[test]
    fn matches_misses_and_false_ones() {
        let outages = [outage(10_000, 15_000), outage(40_000, 45_000), outage(70_000, 75_000)];
        let found = assess(
            &outages,
            &[predicted(9_800, 15_100), predicted(41_000, 44_000), predicted(55_000, 60_000)],
        );
        assert_eq!((found.missed, found.false_ones), (1, 1));
        let rounded: Vec<i64> = found.start_errors.iter().map(|e| libm::round(e * 1000.0) as i64).collect();
        assert_eq!(rounded, [-200, 1000]);
        let rounded: Vec<i64> = found.end_errors.iter().map(|e| libm::round(e * 1000.0) as i64).collect();
        assert_eq!(rounded, [100, -1000]);
    }

    /// Outages from 30, 56 and 120 s: halfway to the nearest is 13 s for the first and the second. What is farther
    /// away is meant for neither, although both last longer.
    #[test]
    fn a_prediction_belongs_to_an_outage_up_to_halfway_to_the_next() {
        let outages = [outage(30_000, 50_000), outage(56_000, 80_000), outage(120_000, 140_000)];
        for (start, matched) in [
            (16_000, None),
            (17_000, Some(0)),
            (43_000, Some(0)),
            (43_100, Some(1)),
            (69_000, Some(1)),
            (69_500, None),
            (100_000, Some(2)),
            (99_900, None),
        ] {
            let found = assess(&outages, &[predicted(start, start + 1000)]);
            assert_eq!(found.matches.iter().position(Option::is_some), matched, "{start} ms");
            assert_eq!(found.false_ones, u64::from(matched.is_none()), "{start} ms");
        }
    }

    #[test]
    fn two_predictions_of_one_outage_are_one_and_a_false_one() {
        let found = assess(&[outage(10_000, 15_000)], &[predicted(9_000, 15_000), predicted(10_100, 15_000)]);
        assert_eq!((found.missed, found.false_ones, found.start_errors.len()), (0, 1, 1));
        assert!((found.start_errors[0] - 0.1).abs() < 1e-9);
    }

    /// Alone, it reaches as far as it is long, from 5 s on; an end that never comes has no error.
    #[test]
    fn an_outage_alone_reaches_as_far_as_it_is_long() {
        for (length, reach) in [(1_000, 5_000), (5_000, 5_000), (7_000, 7_000)] {
            let outages = [outage(60_000, 60_000 + length)];
            for (off, misses) in [(reach, 0), (reach + 1, 1)] {
                for start in [60_000 - off, 60_000 + off] {
                    let found = assess(&outages, &[predicted(start, start + 1)]);
                    assert_eq!((found.missed, found.false_ones), (misses, misses), "{length} {start}");
                }
            }
        }
        let forever = [Outage { start: Time::from_millis(60_000), end: Time::MAX }];
        let found = assess(&forever, &[predicted(60_000, 70_000)]);
        assert_eq!((found.matches, found.end_errors.len()), (vec![Some(0)], 0));
        let open = Prediction { end: None, ..predicted(10_000, 0) };
        let found = assess(&[outage(10_000, 15_000)], &[open]);
        assert_eq!((found.missed, found.end_errors.len()), (0, 0));
        // Of two that are equally far off the first is its own.
        let two = [predicted(9_000, 9_001), predicted(11_000, 11_001)];
        assert_eq!(assess(&[outage(10_000, 15_000)], &two).matches, [Some(0)]);
    }
}
