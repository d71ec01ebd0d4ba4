//! Energy detectors: compare the energy of n samples with a threshold.

use super::{Detector, DetectorContext, DetectorKind, SensingWindow, in_range, positive, ratio};
use crate::math::{q, q_inverse};
use cogtcp_units::{Decibel, Frequency, Probability, WrongSetting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum a posteriori energy detector.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MapDetector {
    /// Signal-to-noise ratio of every PU that is heard, which the threshold is set for too. The paper states
    /// none, and it decides how much the sensing time matters.
    pub snr: Decibel,
    /// Bandwidth W of a channel.
    #[serde(default = "bandwidth")]
    pub bandwidth: Frequency,
    /// Long-run probability that a PU is ON, for which the threshold is set. Without it: from the PUs' laws,
    /// mean over PUs; 0.5 for PUs from a log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_on: Option<Probability>,
}

/// Energy detector set for a target of false alarms.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NeymanPearson {
    /// Signal-to-noise ratio of every PU that is heard.
    pub snr: Decibel,
    /// Sampling rate f_s.
    pub sampling_rate: Frequency,
    /// The target for the probability of a false alarm.
    pub false_alarm: Probability,
}

/// Errors as a function of the sensing time alone.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Simplified {
    /// Signal-to-noise ratio of every PU.
    pub snr: Decibel,
    /// Bandwidth W of a channel.
    #[serde(default = "bandwidth")]
    pub bandwidth: Frequency,
}

fn bandwidth() -> Frequency {
    Frequency(1e6)
}

impl DetectorKind for MapDetector {
    fn build(&self, surroundings: &DetectorContext) -> Result<Box<dyn Detector>, WrongSetting> {
        let bandwidth = positive("bandwidth", self.bandwidth.0)?;
        let p_on = self.p_on.map_or(surroundings.duty_cycle, Probability::get);
        Ok(Box::new(MapEnergyDetector { bandwidth, gamma: ratio(self.snr)?, p_on }))
    }

    fn snr(&self) -> Option<Decibel> {
        Some(self.snr)
    }

    fn hears_loudness(&self) -> bool {
        true
    }
}

impl DetectorKind for NeymanPearson {
    fn build(&self, _: &DetectorContext) -> Result<Box<dyn Detector>, WrongSetting> {
        let (false_alarm, rule) = (self.false_alarm.get(), "between 0 and 1, neither included");
        Ok(Box::new(NeymanPearsonDetector {
            sampling_rate: positive("sampling_rate", self.sampling_rate.0)?,
            false_alarm: in_range("false_alarm", false_alarm, rule, false_alarm > 0.0 && false_alarm < 1.0)?,
        }))
    }

    fn snr(&self) -> Option<Decibel> {
        Some(self.snr)
    }

    fn hears_loudness(&self) -> bool {
        true
    }
}

impl DetectorKind for Simplified {
    fn build(&self, _: &DetectorContext) -> Result<Box<dyn Detector>, WrongSetting> {
        let bandwidth = positive("bandwidth", self.bandwidth.0)?;
        Ok(Box::new(SimplifiedDetector::new(bandwidth, ratio(self.snr)?)))
    }

    fn snr(&self) -> Option<Decibel> {
        Some(self.snr)
    }
}

/// The maximum a posteriori energy detector of Lee and Akyildiz (IEEE Trans. Wireless Commun. 7(10), 2008),
/// which MSWiM 2009 builds on.
///
/// There are n = 2 W t_s samples. By the central limit theorem the energy in units of the noise variance is
/// N(n, 2n) without a PU. With a PU it is N(n (1 + gamma), 2n (1 + gamma)^2). The threshold is where P_on f_1
/// = P_off f_0. The paper assumes that the PU keeps its state during t_s. Our extension: if it is ON for a
/// share f of the window, each sample keeps its own law. The mean is then n (1 + gamma f), the variance 2n
/// (1 - f + f (1 + gamma)^2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapEnergyDetector {
    /// Bandwidth W of the channel, Hz.
    pub bandwidth: f64,
    /// The signal-to-noise ratio (linear) that the threshold is set for.
    pub gamma: f64,
    /// Long-run probability that the PU is ON, P_on = beta / (alpha + beta).
    pub p_on: f64,
}

impl MapEnergyDetector {
    /// Number of samples in `t_s` seconds: 2 W t_s.
    pub fn samples(&self, t_s: f64) -> f64 {
        2.0 * self.bandwidth * t_s
    }

    /// The MAP threshold on the energy of `n` samples, in units of the noise variance. Positive infinity:
    /// never report; negative infinity: always report.
    ///
    /// P_on f_1(lambda) = P_off f_0(lambda) is a quadratic equation; its discriminant is negative when a PU
    /// is more probable than not at every energy.
    pub fn threshold(&self, n: f64) -> f64 {
        // The logarithm of P_on f_1 / (P_off f_0) is a x^2 - h x + c: the terms in n alone cancel.
        let gain = 1.0 + self.gamma;
        let p_off = 1.0 - self.p_on;
        let a = (1.0 - 1.0 / (gain * gain)) / (4.0 * n);
        let c = libm::log(self.p_on / (p_off * gain));
        let h = self.gamma / (2.0 * gain);
        // No signal to tell apart, or no doubt: the more probable state, whatever is heard.
        if self.gamma <= 0.0 || c.is_infinite() || n <= 0.0 {
            return if self.p_on > p_off { f64::NEG_INFINITY } else { f64::INFINITY };
        }
        let discriminant = h * h - 4.0 * a * c;
        if discriminant < 0.0 {
            return f64::NEG_INFINITY;
        }
        // The greater root. Below the smaller one f_1 wins again by its wider spread, far from any usual
        // energy.
        (h + libm::sqrt(discriminant)) / (2.0 * a)
    }
}

impl Detector for MapEnergyDetector {
    fn name(&self) -> &'static str {
        "map"
    }

    fn report_probability(&self, window: &SensingWindow) -> f64 {
        let n = self.samples(window.duration.as_secs_f64());
        let threshold = self.threshold(n);
        if threshold.is_infinite() {
            return if threshold > 0.0 { 0.0 } else { 1.0 };
        }
        // A PU that reaches by range. Below, infinity over infinity would be NaN.
        if window.signal.is_infinite() {
            return 1.0;
        }
        q((threshold - n * (1.0 + window.signal)) / libm::sqrt(2.0 * n * (1.0 + window.spread)))
    }
}

/// The Neyman-Pearson energy detector of Liang et al. (2008): the threshold keeps P_f' at its target,
/// whatever the PU's habits. Complex PSK signal in circular Gaussian noise, N = t_s f_s samples: P_d' =
/// Q((eps / sigma^2 - gamma - 1) sqrt(N / (2 gamma + 1))).
///
/// A PU that is ON for a share f adds f to both terms (mean 1 + gamma f, variance 1 + 2 gamma f): our
/// extension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeymanPearsonDetector {
    /// Sampling rate f_s, Hz.
    pub sampling_rate: f64,
    /// The target for P_f'.
    pub false_alarm: f64,
}

impl Detector for NeymanPearsonDetector {
    fn name(&self) -> &'static str {
        "neyman-pearson"
    }

    fn report_probability(&self, window: &SensingWindow) -> f64 {
        let n = self.sampling_rate * window.duration.as_secs_f64();
        // The threshold is set for this probability: no formula needed.
        if n <= 0.0 || !window.present {
            return self.false_alarm;
        }
        // Below, infinity times zero would be NaN.
        if window.signal.is_infinite() {
            return 1.0;
        }
        // eps / sigma^2 = 1 + Qinv(P_f) / sqrt(N), so the ones cancel.
        let excess = q_inverse(self.false_alarm) / libm::sqrt(n) - window.signal;
        q(excess * libm::sqrt(n / (2.0 * window.signal + 1.0)))
    }
}

/// P_d' and P_f' as functions of t_s alone: 1 - Q(sqrt(t_s / tau)) and Q(sqrt(t_s / tau)).
///
/// MSWiM 2009 uses "a simplified version of equations for P_d and P_f, as a function of sensing time interval
/// (t_s) only" and does not print it. This form is derived here, for a PU that is ON half of the time and
/// many samples. The threshold of [`MapEnergyDetector`] then tends to 2n (1 + gamma) / (2 + gamma). Both
/// errors tend to Q(sqrt(n / 2) gamma / (2 + gamma)) = Q(sqrt(t_s / tau)) with tau = (2 + gamma)^2 / (W
/// gamma^2). A window that a PU overlaps at all counts as a window with a PU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimplifiedDetector {
    /// Time constant tau, s: after t_s = tau both errors are 15.9 %, after 5.4 tau 1 %.
    pub tau: f64,
}

impl SimplifiedDetector {
    /// The detector of a channel of `bandwidth` Hz and signal-to-noise ratio `gamma` (linear).
    pub fn new(bandwidth: f64, gamma: f64) -> Self {
        let ratio = (2.0 + gamma) / gamma;
        Self { tau: ratio * ratio / bandwidth }
    }
}

impl Detector for SimplifiedDetector {
    fn name(&self) -> &'static str {
        "simplified"
    }

    fn report_probability(&self, window: &SensingWindow) -> f64 {
        let error = q(libm::sqrt(window.duration.as_secs_f64() / self.tau));
        if window.present { 1.0 - error } else { error }
    }
}
