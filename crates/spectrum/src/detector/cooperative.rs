//! Cooperative sensing: several sensors sense at once and one decision is made of their reports.

use super::{Detector, SensingWindow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the reports of several sensors become one.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "Fusion")]
#[serde(rename_all = "snake_case")]
pub enum FusionRule {
    /// One report suffices: fewest misses, most false alarms.
    #[default]
    Or,
    /// All must report: fewest false alarms, most misses.
    And,
    /// More than half must report.
    Majority,
}

impl FusionRule {
    /// Reports needed among `sensors`.
    pub const fn needed(self, sensors: usize) -> usize {
        match self {
            Self::Or => 1,
            Self::And => sensors,
            Self::Majority => sensors / 2 + 1,
        }
    }
}

/// Returns the probability of a positive decision when sensor i reports with probability `reports[i]`,
/// independently of the others. Noise is independent from place to place; the PU is not, so the probabilities
/// are conditional on it. Exact, by the distribution of the number of reports. No sensors: never.
pub fn fused_probability(rule: FusionRule, reports: &[f64]) -> f64 {
    if reports.is_empty() {
        return 0.0;
    }
    // counts[k]: probability of k reports among the sensors so far.
    let mut counts = vec![0.0; reports.len() + 1];
    counts[0] = 1.0;
    for (seen, p) in reports.iter().enumerate() {
        // Downwards, so that counts[k] is still the value before this sensor.
        for k in (0..=seen).rev() {
            counts[k + 1] += counts[k] * p;
            counts[k] *= 1.0 - p;
        }
    }
    // The rounding of the sum may pass 1.
    counts[rule.needed(reports.len())..].iter().sum::<f64>().min(1.0)
}

/// `sensors` alike, at one place, each with the detector `inner`, fused by `rule`.
#[derive(Debug)]
pub struct Cooperative<D> {
    /// The detector of each.
    pub inner: D,
    /// How many sense.
    pub sensors: usize,
    /// How the reports are fused.
    pub rule: FusionRule,
}

impl<D: Detector> Detector for Cooperative<D> {
    fn name(&self) -> &'static str {
        "cooperative"
    }

    fn report_probability(&self, window: &SensingWindow) -> f64 {
        let one = self.inner.report_probability(window);
        fused_probability(self.rule, &vec![one; self.sensors])
    }
}
