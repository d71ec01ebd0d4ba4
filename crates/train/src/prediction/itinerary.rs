//! The record of earlier journeys: a line's outages lie where they lay before, give or take.

use super::{Forecast, Known, Outage, Predictor, PredictorKind};
use cogtcp_units::{Check, Duration, Probability, RandomStream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest error and interval.
const LONGEST: Duration = Duration::from_secs(1_000_000);
/// False predictions come no more often than this.
const LEAST_INTERVAL: Duration = Duration::from_millis(1);

/// How good the record of earlier journeys is.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "Itinerary")]
#[serde(deny_unknown_fields)]
pub struct ItineraryConfig {
    /// Standard deviation of the predicted beginning and, independently, of the predicted end (normal
    /// errors).
    #[serde(default)]
    pub error: Duration,
    /// Probability that an outage is not predicted.
    #[serde(default)]
    pub missed: Probability,
    /// Mean time between predicted outages that do not come (a Poisson process); without it there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub false_interval: Option<Duration>,
}

impl PredictorKind for ItineraryConfig {
    fn name(&self) -> &'static str {
        "itinerary"
    }

    fn check(&self, faults: &mut dyn Check) {
        faults.span("error", self.error, true, LONGEST);
        if let Some(interval) = self.false_interval {
            faults.span("false_interval", interval, false, LONGEST);
            if !interval.is_zero() && interval < LEAST_INTERVAL {
                let message = format!("\"{interval}\" is too short");
                faults.error("false_interval", message, format!("write at least \"{LEAST_INTERVAL}\""));
            }
        }
    }

    fn build(&self, known: &Known<'_>) -> Option<Box<dyn Predictor>> {
        let stream = RandomStream::new(known.seed, "train/itinerary", 0);
        Some(Box::new(Itinerary::new(known.outages, self, known.horizon, stream)))
    }
}

/// Predicts from the record of earlier journeys: all of it from the beginning.
#[derive(Clone, Debug)]
pub struct Itinerary {
    /// Beginnings and ends in the order of time.
    record: std::vec::IntoIter<(Time, Time)>,
}

impl Itinerary {
    /// The record of a line whose true outages before `horizon` are `outages`. Random draws are from
    /// `stream`, one set per outage, whatever the config, so that two settings meet the same luck.
    pub fn new(
        outages: &[Outage],
        config: &ItineraryConfig,
        horizon: Time,
        mut stream: RandomStream,
    ) -> Self {
        let mut record = Vec::new();
        let mut lengths = Duration::ZERO;
        for outage in outages {
            // Of the missed ones too: false outages look like all true ones.
            lengths += outage.end - outage.start;
            let (start, end) = (stream.standard_normal(), stream.standard_normal());
            let missed = stream.uniform() < config.missed.get();
            if missed {
                continue;
            }
            let start = shifted(outage.start, config.error, start);
            let end = shifted(outage.end, config.error, end).max(start);
            record.push((start, end));
        }
        if let (Some(mean), false) = (config.false_interval, outages.is_empty()) {
            // An outage that does not come looks like those that do.
            let length = Duration::from_nanos(lengths.as_nanos() / outages.len() as u64);
            let mut start = Time::ZERO + stream.exponential(mean);
            while start < horizon {
                record.push((start, start + length));
                // From the end on: false outages do not overlap.
                start = start + length + stream.exponential(mean);
            }
        }
        record.sort_by_key(|outage| outage.0);
        Self { record: record.into_iter() }
    }
}

impl Predictor for Itinerary {
    fn poll(&mut self, _: Time) -> Option<Forecast> {
        self.record.next().map(|(start, end)| Forecast::Outage { start, end: Some(end) })
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

    fn record(error: u64, missed: f64, false_interval: Option<u64>) -> Vec<(Time, Time)> {
        let config = ItineraryConfig {
            error: Duration::from_millis(error),
            missed: Probability::new(missed).unwrap(),
            false_interval: false_interval.map(Duration::from_secs),
        };
        let itinerary = Itinerary::new(
            &outages(),
            &config,
            Time::from_millis(10_025_000),
            RandomStream::new(7, "test", 0),
        );
        itinerary.record.collect()
    }

    #[test]
    fn a_perfect_record_is_the_truth() {
        let exact = record(0, 0.0, None);
        assert_eq!(exact, outages().iter().map(|o| (o.start, o.end)).collect::<Vec<_>>());
    }

    #[test]
    fn errors_misses_and_false_alarms_have_their_rates() {
        let predictions = record(200, 0.0, None);
        let errors: Vec<f64> = predictions
            .iter()
            .zip(outages())
            .map(|(p, o)| p.0.as_secs_f64() - o.start.as_secs_f64())
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

    /// One and a half deviations of 2 s are 3 s, either way; nothing lies before zero.
    #[test]
    fn a_time_is_shifted_both_ways() {
        let (time, two) = (Time::from_millis(10_000), Duration::from_secs(2));
        assert_eq!(shifted(time, two, 1.5), Time::from_millis(13_000));
        assert_eq!(shifted(time, two, -1.5), Time::from_millis(7_000));
        assert_eq!(shifted(time, two, -6.0), Time::ZERO);
        assert_eq!(shifted(time, Duration::ZERO, -6.0), time);
    }

    /// Whatever the errors: in the order of the beginnings, and none ends before it begins. False ones last
    /// as long as the true ones, 5 s, and do not begin beyond the horizon.
    #[test]
    fn a_record_is_in_order() {
        for predictions in [record(20_000, 0.0, None), record(0, 1.0, Some(20)), record(5_000, 0.5, Some(5))]
        {
            assert!(!predictions.is_empty());
            assert!(predictions.windows(2).all(|pair| pair[0].0 <= pair[1].0));
            assert!(predictions.iter().all(|(start, end)| start <= end));
        }
        let false_ones = record(0, 1.0, Some(20));
        assert!(false_ones.iter().all(|(start, end)| *end - *start == Duration::from_secs(5)));
        assert!(false_ones.last().is_some_and(|last| last.0 < Time::from_millis(10_025_000)));
        // They do not overlap: one begins after the end of the one before.
        assert!(false_ones.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    }
}
