//! Detectors: how probable it is that a sensing reports a primary user, given what is on the air.
//!
//! A simulator knows whether the PU is there, so every probability here is *conditional* on that: P_d' = P(reported |
//! present), P_f' = P(reported | absent). The P_d and P_f of Lee and Akyildiz (2008) are joint with the PU's state
//! (P_d = P_on P_d', P_f = P_off P_f') and must not be drawn with.

mod config;
mod cooperative;
mod energy;
mod plain;

pub use config::{DetectorConfig, DetectorError};
pub use cooperative::{Cooperative, FusionRule, fused_probability};
pub use energy::{MapEnergyDetector, NeymanPearson, SimplifiedDetector};
pub use plain::{FixedDetector, TableDetector, TableError};

use cogtcp_units::Duration;

/// What is on the air during one sensing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensingWindow {
    /// The sensing time t_s.
    pub duration: Duration,
    /// Whether any PU that is heard is ON at any moment of it.
    pub present: bool,
    /// Share of the window in which PUs are ON, at most 1 (the sum over PUs).
    pub overlap: f64,
    /// Mean signal-to-noise ratio over the window: the sum over PUs of gamma f, f the share of the window it is ON.
    pub signal: f64,
    /// Mean excess of the squared energy per sample, the sum over PUs of f ((1 + gamma)^2 - 1): the spread that the signal
    /// adds to the energy. Exact while PUs do not coincide.
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

/// P_d' and P_f' of a detector for a PU of signal-to-noise ratio `gamma` that is ON, or OFF, during the whole of
/// `duration`.
pub fn detection_and_false_alarm(detector: &dyn Detector, duration: Duration, gamma: f64) -> (f64, f64) {
    let quiet = SensingWindow::empty(duration);
    let mut busy = quiet;
    busy.add(gamma, 1.0);
    (detector.report_probability(&busy), detector.report_probability(&quiet))
}
