//! The record of earlier journeys: a line's outages lie where they lay before, give or take.

use super::{Outage, Prediction, Predictor};
use cogtcp_units::{Duration, Probability, RandomStream, Time};

/// How good the record is.
#[derive(Clone, Debug, PartialEq)]
pub struct ItineraryConfig {
    /// Standard deviation of the foretold beginning and, independently, of the foretold end (normal errors).
    pub error: Duration,
    /// Probability that an outage is not in the record.
    pub missed: Probability,
    /// Mean time between outages of the record that do not come (a Poisson process); `None`: there are none.
    pub false_interval: Option<Duration>,
}

/// Foretells from the record of earlier journeys.
#[derive(Clone, Debug)]
pub struct Itinerary {
    predictions: std::vec::IntoIter<Prediction>,
}

impl Itinerary {
    /// The record of a line whose true outages before `horizon` are `outages`. Random draws are from `stream`, one set
    /// per outage, whatever the config, so that two settings meet the same luck.
    pub fn new(
        outages: &[Outage],
        config: &ItineraryConfig,
        horizon: Time,
        mut stream: RandomStream,
    ) -> Self {
        let made = Time::ZERO;
        let mut predictions = Vec::new();
        let mut lengths = Duration::ZERO;
        for outage in outages {
            lengths += outage.end - outage.start;
            let (start, end) = (stream.standard_normal(), stream.standard_normal());
            let missed = stream.uniform() < config.missed.get();
            if missed {
                continue;
            }
            let start = shifted(outage.start, config.error, start);
            let end = shifted(outage.end, config.error, end).max(start);
            predictions.push(Prediction { made, start, end: Some(end), end_made: made });
        }
        if let (Some(mean), false) = (config.false_interval, outages.is_empty()) {
            // An outage that does not come looks like those that do.
            let length = Duration::from_nanos(lengths.as_nanos() / outages.len() as u64);
            let mut start = Time::ZERO + stream.exponential(mean);
            while start < horizon {
                predictions.push(Prediction { made, start, end: Some(start + length), end_made: made });
                start = start + length + stream.exponential(mean);
            }
        }
        predictions.sort_by_key(|prediction| prediction.start);
        Self { predictions: predictions.into_iter() }
    }
}

impl Predictor for Itinerary {
    fn next(&mut self) -> Option<Prediction> {
        self.predictions.next()
    }
}

/// `time` moved by `z` standard deviations, not before zero.
fn shifted(time: Time, deviation: Duration, z: f64) -> Time {
    let nanos = (deviation.as_nanos() as f64 * z.abs()) as u64;
    if z < 0.0 {
        Time::from_nanos(time.as_nanos().saturating_sub(nanos))
    } else {
        time + Duration::from_nanos(nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outages() -> Vec<Outage> {
        (1..=400)
            .map(|k| Outage {
                start: Time::from_millis(25_000 * k),
                end: Time::from_millis(25_000 * k + 5_000),
            })
            .collect()
    }

    fn record(error: u64, missed: f64, false_interval: Option<u64>) -> Vec<Prediction> {
        let config = ItineraryConfig {
            error: Duration::from_millis(error),
            missed: Probability::new(missed).unwrap(),
            false_interval: false_interval.map(Duration::from_secs),
        };
        let mut itinerary = Itinerary::new(
            &outages(),
            &config,
            Time::from_millis(10_025_000),
            RandomStream::new(7, "test", 0),
        );
        std::iter::from_fn(|| itinerary.next()).collect()
    }

    #[test]
    fn a_perfect_record_is_the_truth() {
        let exact: Vec<_> = record(0, 0.0, None).iter().map(|p| (p.start, p.end.unwrap())).collect();
        assert_eq!(exact, outages().iter().map(|o| (o.start, o.end)).collect::<Vec<_>>());
    }

    #[test]
    fn errors_misses_and_false_alarms_have_their_rates() {
        let predictions = record(200, 0.0, None);
        let errors: Vec<f64> = predictions
            .iter()
            .zip(outages())
            .map(|(p, o)| p.start.as_secs_f64() - o.start.as_secs_f64())
            .collect();
        let mean = errors.iter().sum::<f64>() / 400.0;
        let deviation = (errors.iter().map(|e| (e - mean) * (e - mean)).sum::<f64>() / 399.0).sqrt();
        // Standard errors of 400 draws: 0.010 and 0.007.
        assert!(mean.abs() < 0.04 && (deviation - 0.2).abs() < 0.03, "{mean} {deviation}");
        let kept = record(200, 0.25, None).len();
        assert!((260..=340).contains(&kept), "{kept}");
        // About 10000 s / (100 s + 5 s) false ones.
        let false_ones = record(0, 0.0, Some(100)).len() - 400;
        assert!((65..=130).contains(&false_ones), "{false_ones}");
    }

    /// Common random numbers: what is missed does not move what is not.
    #[test]
    fn settings_do_not_disturb_each_other() {
        let all = record(200, 0.0, None);
        assert!(record(200, 0.3, None).iter().all(|prediction| all.contains(prediction)));
    }
}
