//! Detectors: how probable it is that a sensing reports a primary user, given what is on the air.
//!
//! A simulator knows whether the PU is there, so every probability here is *conditional* on that: P_d' =
//! P(reported | present), P_f' = P(reported | absent). The P_d and P_f of Lee and Akyildiz (2008) are joint
//! with the PU's state (P_d = P_on P_d', P_f = P_off P_f') and must not be drawn with.

mod cooperative;
mod energy;
mod plain;

pub use cooperative::{Cooperative, FusionRule, fused_probability};
pub use energy::{
    MapDetector, MapEnergyDetector, NeymanPearson, NeymanPearsonDetector, Simplified, SimplifiedDetector,
};
pub use plain::{FixedDetector, FixedErrors, TableDetector, TablePoints};

use cogtcp_units::{Decibel, Duration, WrongSetting, registry};

registry! {
    /// How a radio tells whether a PU is there. Every probability is conditional on that.
    #[schemars(rename = "Detector")]
    pub enum DetectorConfig: DetectorKind {
        /// Maximum a posteriori energy detector (Lee and Akyildiz 2008).
        Map(MapDetector),
        /// Energy detector set for a target of false alarms (Liang et al. 2008).
        NeymanPearson(NeymanPearson),
        /// Errors as a function of the sensing time alone: what `map` tends to for a PU that is ON half of
        /// the time.
        Simplified(Simplified),
        /// Sensing times in ascending order, each with P_d' and P_f'; values in between are interpolated.
        Table(TablePoints),
        /// Probabilities that do not depend on the sensing time.
        Fixed(FixedErrors),
        /// No errors.
        Perfect = FixedDetector::PERFECT,
        /// The released ns-2 code: 10 % missed, no false alarms.
        AsReleased = FixedDetector::AS_RELEASED,
    }
}

/// A detector as the registry knows it: its parameters, which build it.
pub trait DetectorKind: std::fmt::Debug {
    /// The detector, or what is wrong with its parameters.
    fn build(&self, surroundings: &DetectorContext) -> Result<Box<dyn Detector>, WrongSetting>;

    /// The signal-to-noise ratio of every PU that is heard, where the scenario states it with the detector.
    fn snr(&self) -> Option<Decibel> {
        None
    }

    /// Whether it matters to the detector how loud a PU is, and not only that it is there.
    fn hears_loudness(&self) -> bool {
        false
    }
}

/// What a detector may take from around it where its parameters do not say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetectorContext {
    /// Long-run share of the time that PUs are ON.
    pub duty_cycle: f64,
}

impl Default for DetectorContext {
    /// PUs that are ON half of the time.
    fn default() -> Self {
        Self { duty_cycle: 0.5 }
    }
}

/// Returns `value`, or that it is out of range and what would be `right` of the parameter `name`.
pub fn in_range(name: &str, value: f64, right: &str, holds: bool) -> Result<f64, WrongSetting> {
    let wrong =
        || WrongSetting::new(name, format!("{value} is out of range"), format!("write a number {right}"));
    holds.then_some(value).ok_or_else(wrong)
}

/// Returns `value`, or that it is not above zero.
pub fn positive(name: &str, value: f64) -> Result<f64, WrongSetting> {
    in_range(name, value, "above zero", value > 0.0 && value.is_finite())
}

/// Returns the linear ratio of `snr`, or that it is none that occurs.
pub fn ratio(snr: Decibel) -> Result<f64, WrongSetting> {
    in_range("snr", snr.0, "from -100 to 100 dB", (-100.0..=100.0).contains(&snr.0))?;
    Ok(snr.linear())
}

/// What is on the air during one sensing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensingWindow {
    /// The sensing time t_s.
    pub duration: Duration,
    /// Whether any PU that is heard is ON at any moment of it.
    pub present: bool,
    /// Share of the window in which PUs are ON, at most 1 (the sum over PUs).
    pub overlap: f64,
    /// Mean signal-to-noise ratio over the window: the sum over PUs of gamma f, f the share of the window it
    /// is ON.
    pub signal: f64,
    /// Mean excess of the squared energy per sample, the sum over PUs of f ((1 + gamma)^2 - 1): the spread
    /// that the signal adds to the energy. Exact while PUs do not coincide.
    pub spread: f64,
}

impl SensingWindow {
    /// A window with nobody on the air.
    pub const fn empty(duration: Duration) -> Self {
        Self { duration, present: false, overlap: 0.0, signal: 0.0, spread: 0.0 }
    }

    /// Adds a PU with signal-to-noise ratio `gamma` that is ON for the share `f` of the window.
    pub fn add(&mut self, gamma: f64, f: f64) {
        self.present = true;
        self.overlap = (self.overlap + f).min(1.0);
        self.signal += gamma * f;
        // (1 + gamma)^2 - 1, without the cancellation at small gamma.
        self.spread += f * (gamma * (2.0 + gamma));
    }
}

/// A way to sense.
pub trait Detector: std::fmt::Debug + Send + Sync {
    /// The name in scenarios and tables.
    fn name(&self) -> &'static str;

    /// Probability that a sensing of this window reports a PU: P_d' when one is there, P_f' when none is.
    fn report_probability(&self, window: &SensingWindow) -> f64;
}

impl Detector for Box<dyn Detector> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn report_probability(&self, window: &SensingWindow) -> f64 {
        (**self).report_probability(window)
    }
}

/// P_d' and P_f' of a detector for a PU of signal-to-noise ratio `gamma` that is ON, or OFF, during the whole
/// of `duration`.
pub fn detection_and_false_alarm(detector: &dyn Detector, duration: Duration, gamma: f64) -> (f64, f64) {
    let quiet = SensingWindow::empty(duration);
    let mut busy = quiet;
    busy.add(gamma, 1.0);
    (detector.report_probability(&busy), detector.report_probability(&quiet))
}
