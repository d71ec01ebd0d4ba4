//! Detectors without a theory: constant probabilities, or a measured table.

use super::{Detector, DetectorContext, DetectorKind, SensingWindow};
use cogtcp_units::{Duration, Probability, WrongSetting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fixed probabilities.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FixedErrors {
    /// Probability that a PU that is there is reported.
    pub detection: Probability,
    /// Probability that a PU is reported where there is none.
    #[serde(default)]
    pub false_alarm: Probability,
}

/// Points of a table: t_s, P_d', P_f'.
pub type TablePoints = Vec<(Duration, Probability, Probability)>;

impl DetectorKind for FixedErrors {
    fn build(&self, _: &DetectorContext) -> Result<Box<dyn Detector>, WrongSetting> {
        Ok(Box::new(FixedDetector::new(self.detection, self.false_alarm)))
    }
}

impl DetectorKind for FixedDetector {
    fn build(&self, _: &DetectorContext) -> Result<Box<dyn Detector>, WrongSetting> {
        Ok(Box::new(*self))
    }
}

impl DetectorKind for TablePoints {
    fn build(&self, _: &DetectorContext) -> Result<Box<dyn Detector>, WrongSetting> {
        let points = self.iter().map(|(span, d, f)| (span.as_secs_f64(), d.get(), f.get()));
        Ok(Box::new(TableDetector::new(points.collect())?))
    }
}

/// Constant P_d' and P_f'.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedDetector {
    name: &'static str,
    detection: f64,
    false_alarm: f64,
}

impl FixedDetector {
    /// Reports every PU, however short its part of the window, and nothing else.
    pub const PERFECT: Self = Self { name: "perfect", detection: 1.0, false_alarm: 0.0 };

    /// The released ns-2 code: misses 10 % whatever the sensing time, and has no false alarms.
    pub const AS_RELEASED: Self = Self { name: "as-released", detection: 0.9, false_alarm: 0.0 };

    /// Probabilities of one's own.
    pub const fn new(detection: Probability, false_alarm: Probability) -> Self {
        Self { name: "fixed", detection: detection.get(), false_alarm: false_alarm.get() }
    }
}

impl Detector for FixedDetector {
    fn name(&self) -> &'static str {
        self.name
    }

    fn report_probability(&self, window: &SensingWindow) -> f64 {
        if window.present { self.detection } else { self.false_alarm }
    }
}

/// P_d' and P_f' by sensing time, straight lines between the points, constant beyond the ends.
#[derive(Clone, Debug, PartialEq)]
pub struct TableDetector {
    points: Vec<(f64, f64, f64)>,
}

impl TableDetector {
    /// The table of points (t_s in seconds, P_d', P_f').
    pub fn new(points: Vec<(f64, f64, f64)>) -> Result<Self, WrongSetting> {
        let wrong = |message: String, remedy: &str| Err(WrongSetting::new("table", message, remedy));
        if points.is_empty() {
            return wrong("the table has no points".to_owned(), "write at least one point (t_s, P_d, P_f)");
        }
        for (i, (t_s, detection, false_alarm)) in points.iter().enumerate() {
            // The look-up is a binary search, and equal times would divide by zero.
            if !t_s.is_finite() || (i > 0 && *t_s <= points[i - 1].0) {
                let message = format!("the sensing time of point {} is not above the one before", i + 1);
                return wrong(message, "write the points in ascending order of t_s");
            }
            if !(0.0..=1.0).contains(detection) || !(0.0..=1.0).contains(false_alarm) {
                return wrong(
                    format!("point {} has no probabilities", i + 1),
                    "write P_d and P_f from 0 to 1",
                );
            }
        }
        Ok(Self { points })
    }
}

impl Detector for TableDetector {
    fn name(&self) -> &'static str {
        "table"
    }

    fn report_probability(&self, window: &SensingWindow) -> f64 {
        let t_s = window.duration.as_secs_f64();
        let value = |point: &(f64, f64, f64)| if window.present { point.1 } else { point.2 };
        let after = self.points.partition_point(|point| point.0 < t_s);
        match (after.checked_sub(1).map(|before| &self.points[before]), self.points.get(after)) {
            (Some(left), Some(right)) => {
                let share = (t_s - left.0) / (right.0 - left.0);
                value(left) + (value(right) - value(left)) * share
            }
            (Some(end), None) | (None, Some(end)) => value(end),
            // `new` refuses a table without points.
            (None, None) => 0.0,
        }
    }
}
