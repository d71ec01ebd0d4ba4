//! Bit errors of DSSS and HR/DSSS (IEEE 802.11-2007, clauses 15 and 18) in white noise, and which frames
//! survive them.
//!
//! A frame is cut into chunks wherever another one begins or ends at its receiver. Within a chunk signal,
//! noise and interference are constant, and every bit fails by itself; interference counts as noise. So an
//! overlap of a few bits need not destroy a frame.

use crate::medium::Frame;
use cogtcp_units::{Duration, RandomStream, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How frames are lost to noise and to other frames.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Errors {
    /// A frame survives if its signal stays `capture` above noise and all other frames, at its worst moment.
    #[default]
    Threshold,
    /// By the bit errors of DSSS and CCK, chunk by chunk, over thermal noise with a noise figure of 7 dB
    /// (ns-3).
    Dsss,
}

/// Bandwidth of a DSSS channel, Hz.
const BANDWIDTH: f64 = 22e6;

/// Thermal noise of 290 K in the bandwidth, with a noise figure of 7 dB, W: -93.55 dBm (ns-3's
/// `RxNoiseFigure`).
const NOISE: f64 = 1.380_649e-23 * 290.0 * BANDWIDTH * 5.011_872_336_272_722;

/// Beyond this ratio no rate of DSSS has an error in 10^15 bits.
const PERFECT: f64 = 20.0;

/// The PLCP header: 48 bits at 1 Mbit/s at the end of the long preamble (15.2.2). The bits before it only
/// train the receiver.
const HEADER: Duration = Duration::from_micros(48);
const HEADER_RATE: Rate = Rate::from_bits_per_second(1_000_000);

impl Errors {
    /// Power of the noise beside which frames are received, W.
    pub(crate) fn noise(self) -> f64 {
        match self {
            // Noise beside thresholds is the surroundings' (`Surroundings::fate`).
            Self::Threshold => 0.0,
            Self::Dsss => NOISE,
        }
    }
}

/// The natural logarithm of the probability that a bit at `rate` is right. `ratio`: signal to noise in the
/// bandwidth of the channel.
///
/// 1 Mbit/s is DBPSK, 2 Mbit/s DQPSK. 5.5 Mbit/s and 11 Mbit/s are CCK with 4 and 8 bits a symbol. A rate in
/// between has the modulation of the next faster.
fn ln_right(rate: Rate, ratio: f64) -> f64 {
    if ratio >= PERFECT {
        return 0.0;
    }
    // A rate of zero would divide by zero.
    let bits = rate.bits_per_second().max(1);
    // E_b / N_0.
    let energy = ratio * BANDWIDTH / bits as f64;
    match bits {
        // Proakis, Digital Communications (2001), equation 5.2-69.
        0..=1_000_000 => libm::log1p(-0.5 * libm::exp(-energy)),
        // Ferrari and Corazza, Electronics Letters 40(20), 2004, equation 8.
        1_000_001..=2_000_000 => {
            let root = std::f64::consts::SQRT_2;
            let factor = (root + 1.0) / libm::sqrt(8.0 * std::f64::consts::PI * root);
            let wrong = factor / libm::sqrt(energy) * libm::exp(-(2.0 - root) * energy);
            // No bit is worse than a guess.
            libm::log1p(-wrong.min(0.5))
        }
        // Pursley and Royster, IEEE Transactions on Communications 57(2), 2009, equations 18 and 17.
        // Symbols are right or wrong as a whole: each bit bears its share of their logarithm.
        2_000_001..=5_500_000 => ln_symbol_right(4.0 * energy) / 4.0,
        _ => 2.0 * ln_symbol_right(4.0 * energy) / 8.0,
    }
}

/// Returns the logarithm of the probability that one of 16 biorthogonal signals of `energy` (E_s / N_0) is
/// received right; two make a symbol of 11 Mbit/s. This is the integral of (2 Phi(x + b) - 1)^7 phi(x) from
/// -b on, b = sqrt(energy), by Simpson's rule, to 1e-12.
fn ln_symbol_right(energy: f64) -> f64 {
    const STEPS: u32 = 100;
    let shift = libm::sqrt(energy);
    // Beyond 9 standard deviations the density is below 1e-17.
    let (low, high) = ((-shift).max(-9.0), 9.0);
    let step = (high - low) / f64::from(STEPS);
    let integrand = |x: f64| {
        let inner = libm::erf((x + shift) * std::f64::consts::FRAC_1_SQRT_2);
        libm::pow(inner, 7.0) * libm::exp(-0.5 * x * x)
    };
    let weight = |k: u32| match k {
        0 | STEPS => 1.0,
        k if k % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=STEPS).map(|k| weight(k) * integrand(low + f64::from(k) * step)).sum();
    libm::log((sum * step / 3.0 / libm::sqrt(2.0 * std::f64::consts::PI)).clamp(f64::MIN_POSITIVE, 1.0))
}

/// What a radio has heard so far of the frame that it is set on.
#[derive(Debug)]
pub(crate) struct Decoder {
    /// The end of the last chunk.
    since: Time,
    /// The logarithm of the probability that all bits until then are right.
    ln_right: f64,
    stream: RandomStream,
}

impl Decoder {
    pub(crate) fn new(stream: RandomStream) -> Self {
        Self { since: Time::ZERO, ln_right: 0.0, stream }
    }

    /// The radio is set on a frame that begins at `now`.
    pub(crate) fn begin(&mut self, now: Time) {
        (self.since, self.ln_right) = (now, 0.0);
    }

    /// A chunk of `frame` ends at `now`, in which it had `power` watts, and other frames `others`.
    /// `preamble`: how long the frame's preamble with its header is.
    pub(crate) fn hear(&mut self, frame: &Frame, preamble: Duration, power: f64, others: f64, now: Time) {
        let (from, until) = (self.since, now);
        self.since = now;
        let ratio = power / (NOISE + others);
        if ratio >= PERFECT {
            return;
        }
        let data = frame.from + preamble;
        let header = frame.from + preamble.saturating_sub(HEADER);
        for (rate, begins, ends) in [(HEADER_RATE, header, data), (frame.rate, data, frame.until)] {
            let span = until.min(ends).saturating_since(from.max(begins));
            if !span.is_zero() {
                let bits = rate.bits_per_second() as f64 * span.as_nanos() as f64 * 1e-9;
                self.ln_right += bits * ln_right(rate, ratio);
            }
        }
    }

    /// Draws whether the frame is right.
    pub(crate) fn is_right(&mut self) -> bool {
        // Without a bad chunk there is nothing to draw.
        self.ln_right == 0.0 || self.stream.uniform() < libm::exp(self.ln_right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of G. Pei and T. Henderson, "Validation of ns-3 802.11b PHY model" (2009), with which ns-3
    /// tests its own model (`wifi-error-rate-models-test.cc`). Frames of 1024 + 54 bytes, by received power
    /// in dBm with noise of -93.552 dBm.
    #[test]
    fn frames_survive_as_often_as_in_the_validation_of_ns3() {
        let cases = [
            (1_000_000, [(-100.0, 1.5e-13), (-99.0, 0.0003), (-98.0, 0.202), (-97.0, 0.813), (-96.0, 0.984)]),
            (2_000_000, [(-95.0, 4.5e-6), (-94.0, 0.036), (-93.0, 0.519), (-92.0, 0.915), (-91.0, 0.993)]),
            (5_500_000, [(-92.0, 0.0001), (-91.0, 0.132), (-90.0, 0.744), (-89.0, 0.974), (-88.0, 0.999)]),
            (11_000_000, [(-89.0, 8.85e-5), (-88.0, 0.128), (-87.0, 0.739), (-86.0, 0.973), (-85.0, 0.999)]),
        ];
        for (rate, powers) in cases {
            for (power, expected) in powers {
                let ratio = libm::pow(10.0, (power - 30.0) / 10.0) / NOISE;
                let right = libm::exp(1078.0 * 8.0 * ln_right(Rate::from_bits_per_second(rate), ratio));
                let tolerance = if expected < 0.01 { 0.1 * expected } else { 0.001 };
                assert!(
                    (right - expected).abs() <= tolerance,
                    "{rate} at {power} dBm: {right}, not {expected}"
                );
            }
        }
        assert_eq!(ln_right(Rate::from_bits_per_second(11_000_000), PERFECT), 0.0);
        assert!(ln_right(Rate::from_bits_per_second(11_000_000), 0.99 * PERFECT) > -1e-15);
    }

    /// Without a signal every bit is a guess. A rate has the modulation of the next faster of the standard.
    #[test]
    fn no_bit_is_worse_than_a_guess() {
        let at = |bits, ratio| ln_right(Rate::from_bits_per_second(bits), ratio);
        let half = libm::log(0.5);
        assert!((at(1_000_000, 1e-9) - half).abs() < 1e-6 && (at(2_000_000, 1e-9) - half).abs() < 1e-12);
        for (rate, other) in [(1_000_001, 2_000_000), (2_000_001, 5_500_000)] {
            let (bits, faster) = (rate as f64, other as f64);
            // The same energy for each bit.
            let [here, there] = [bits, faster].map(|it| 0.3 * it / 1e6);
            assert!((at(rate, here) / at(other, there) - 1.0).abs() < 1e-9, "{rate}");
            let below = at(rate - 1, 0.3 * (bits - 1.0) / 1e6);
            assert!((at(rate, here) / below - 1.0).abs() > 1e-3, "{rate}");
        }
        assert!(at(0, 1.0).is_finite());
    }
}
