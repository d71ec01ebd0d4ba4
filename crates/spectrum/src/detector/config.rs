//! Detectors by name and parameters, for whoever reads a scenario.

use super::{
    Cooperative, Detector, FixedDetector, FusionRule, MapEnergyDetector, NeymanPearson, SensingWindow,
    SimplifiedDetector, TableDetector, TableError,
};
use cogtcp_units::Probability;

/// Which detector, with what parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum DetectorConfig {
    /// [`MapEnergyDetector`].
    Map {
        /// Bandwidth W of a channel, Hz.
        bandwidth: f64,
        /// The signal-to-noise ratio that its threshold is set for, dB.
        snr_db: f64,
        /// Long-run probability that a PU is ON.
        p_on: f64,
    },
    /// [`NeymanPearson`].
    NeymanPearson {
        /// Sampling rate f_s, Hz.
        sampling_rate: f64,
        /// The target for P_f'.
        false_alarm: f64,
    },
    /// [`SimplifiedDetector`].
    Simplified {
        /// Bandwidth W of a channel, Hz.
        bandwidth: f64,
        /// Signal-to-noise ratio, dB.
        snr_db: f64,
    },
    /// [`TableDetector`]: points (t_s in s, P_d', P_f').
    Table(Vec<(f64, f64, f64)>),
    /// [`FixedDetector`] with probabilities of one's own.
    Fixed {
        /// P_d'.
        detection: Probability,
        /// P_f'.
        false_alarm: Probability,
    },
    /// [`FixedDetector::PERFECT`].
    Perfect,
    /// [`FixedDetector::AS_RELEASED`].
    AsReleased,
    /// [`Cooperative`]: several alike at one place.
    Cooperative {
        /// The detector of each.
        inner: Box<DetectorConfig>,
        /// How many sense.
        sensors: usize,
        /// How the reports are fused.
        rule: FusionRule,
    },
}

/// A detector that makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DetectorError {
    /// A parameter out of its range.
    #[error("detector: {name} is {value}; it must be {rule}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What would be right.
        rule: &'static str,
    },
    /// A table that cannot be read off.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Nobody senses.
    #[error("a cooperative detector needs at least one sensor")]
    NoSensors,
}

impl DetectorConfig {
    /// The detector, or what is wrong with its parameters.
    pub fn build(&self) -> Result<Box<dyn Detector>, DetectorError> {
        Ok(match self {
            Self::Map { bandwidth, snr_db, p_on } => {
                let bandwidth = positive("bandwidth", *bandwidth)?;
                let p_on = check("p_on", *p_on, "a probability, 0 to 1", (0.0..=1.0).contains(p_on))?;
                Box::new(MapEnergyDetector { bandwidth, gamma: gamma(*snr_db)?, p_on })
            }
            Self::NeymanPearson { sampling_rate, false_alarm } => {
                let is_open = *false_alarm > 0.0 && *false_alarm < 1.0;
                Box::new(NeymanPearson {
                    sampling_rate: positive("sampling_rate", *sampling_rate)?,
                    false_alarm: check(
                        "false_alarm",
                        *false_alarm,
                        "between 0 and 1, neither included",
                        is_open,
                    )?,
                })
            }
            Self::Simplified { bandwidth, snr_db } => {
                Box::new(SimplifiedDetector::new(positive("bandwidth", *bandwidth)?, gamma(*snr_db)?))
            }
            Self::Table(points) => Box::new(TableDetector::new(points.clone())?),
            Self::Fixed { detection, false_alarm } => Box::new(FixedDetector::new(*detection, *false_alarm)),
            Self::Perfect => Box::new(FixedDetector::PERFECT),
            Self::AsReleased => Box::new(FixedDetector::AS_RELEASED),
            Self::Cooperative { sensors: 0, .. } => return Err(DetectorError::NoSensors),
            Self::Cooperative { inner, sensors, rule } => {
                Box::new(Cooperative { inner: inner.build()?, sensors: *sensors, rule: *rule })
            }
        })
    }
}

impl Detector for Box<dyn Detector> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn report_probability(&self, window: &SensingWindow) -> f64 {
        (**self).report_probability(window)
    }
}

fn check(name: &'static str, value: f64, rule: &'static str, holds: bool) -> Result<f64, DetectorError> {
    if holds { Ok(value) } else { Err(DetectorError::Parameter { name, value, rule }) }
}

fn positive(name: &'static str, value: f64) -> Result<f64, DetectorError> {
    check(name, value, "above zero", value > 0.0 && value.is_finite())
}

fn gamma(snr_db: f64) -> Result<f64, DetectorError> {
    check("snr_db", snr_db, "between -100 and 100 dB", (-100.0..=100.0).contains(&snr_db))?;
    Ok(libm::pow(10.0, snr_db / 10.0))
}
