//! How loud a frame is where it arrives: path loss by distance, shadowing by place, fading from frame to
//! frame.

use cogtcp_units::{Check, Decibel, Frequency, Length, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Speed of light, m/s.
const LIGHT: f64 = 299_792_458.0;

/// What distance does to a signal. Nearer than 1 m none of the formulas is followed further: they have a pole
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathLoss {
    /// `P_t / d^a` with this attenuation factor a (1 to 10): MSWiM 2009, equation 2. The paper does not print
    /// a.
    Paper(f64),
    /// Friis at this frequency: `P_t (c / (4 pi f d))^2`, antennas of unit gain.
    FreeSpace(Frequency),
    /// Two-ray ground reflection: Friis up to the crossover distance `4 pi h^2 f / c`, beyond it
    /// `P_t h^4 / d^4` (Rappaport, Wireless Communications, section 4.6). ns-2's usual model.
    TwoRay(TwoRay),
    /// Friis at the reference distance, beyond it `d^-exponent` (Rappaport, section 4.9.1).
    LogDistance(LogDistance),
}

/// Two-ray ground reflection. The defaults are ns-2's.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TwoRay {
    /// Frequency.
    pub frequency: Frequency,
    /// Height of both antennas above ground.
    pub height: Length,
}

impl Default for TwoRay {
    fn default() -> Self {
        Self { frequency: Frequency(914e6), height: Length(1.5) }
    }
}

/// Log-distance path loss.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogDistance {
    /// Frequency.
    pub frequency: Frequency,
    /// Path loss exponent: 2 in free space, 2.7 to 5 in towns (1 to 10).
    pub exponent: f64,
    /// Reference distance.
    pub reference: Length,
}

impl Default for LogDistance {
    fn default() -> Self {
        Self { frequency: Frequency(914e6), exponent: 3.0, reference: Length(1.0) }
    }
}

impl Default for PathLoss {
    fn default() -> Self {
        Self::NS2_TWO_RAY
    }
}

impl PathLoss {
    /// ns-2's defaults: 914 MHz, antennas at 1.5 m.
    pub const NS2_TWO_RAY: Self = Self::TwoRay(TwoRay { frequency: Frequency(914e6), height: Length(1.5) });

    /// Reports wrong settings to `check`.
    pub fn check(&self, check: &mut impl Check) {
        let frequency = match *self {
            Self::Paper(attenuation) => return check_exponent("paper", attenuation, check),
            Self::FreeSpace(frequency) => frequency,
            Self::TwoRay(model) => model.frequency,
            Self::LogDistance(model) => {
                check_exponent("log_distance.exponent", model.exponent, check);
                model.frequency
            }
        };
        if !(1e3..=1e12).contains(&frequency.0) {
            let remedy = "write \"1 kHz\" to \"1000 GHz\"".to_owned();
            check.error("", "the frequency is out of range".to_owned(), remedy);
        }
    }

    /// Share of the power that is left at `distance` metres.
    pub fn gain(&self, distance: f64) -> f64 {
        let distance = distance.max(1.0);
        match *self {
            // Free space is the usual case: no power function for every pair.
            Self::Paper(2.0) => 1.0 / (distance * distance),
            Self::Paper(attenuation) => 1.0 / libm::pow(distance, attenuation),
            Self::FreeSpace(frequency) => friis(frequency.0, distance),
            Self::TwoRay(TwoRay { frequency: Frequency(frequency), height: Length(height) }) => {
                if distance <= 4.0 * std::f64::consts::PI * height * height * frequency / LIGHT {
                    friis(frequency, distance)
                } else {
                    let (h, d) = (height * height, distance * distance);
                    h * h / (d * d)
                }
            }
            Self::LogDistance(LogDistance { frequency, exponent, reference }) => {
                let reference = reference.0.max(1.0);
                // Nearer than the reference Friis holds by itself.
                let near = friis(frequency.0, distance.min(reference));
                near * libm::pow(reference / distance.max(reference), exponent)
            }
        }
    }

    /// Distance in metres beyond which less than `gain` is left, by bisection to a millimetre.
    pub fn range(&self, gain: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        // A gain of zero is undercut nowhere: the search ends.
        while self.gain(high) >= gain && high < 1e9 {
            low = high;
            high *= 2.0;
        }
        while high - low > 1e-3 {
            let middle = 0.5 * (low + high);
            if self.gain(middle) >= gain { low = middle } else { high = middle }
        }
        high
    }
}

fn check_exponent(field: &str, value: f64, check: &mut impl Check) {
    if !(1.0..=10.0).contains(&value) {
        let message = format!("an exponent of {value} is out of range");
        check.error(field, message, "write 1 to 10".to_owned());
    }
}

fn friis(frequency: f64, distance: f64) -> f64 {
    let ratio = LIGHT / (4.0 * std::f64::consts::PI * frequency * distance);
    ratio * ratio
}

/// Obstacles: a normal variate in decibels on top of the path loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shadowing {
    /// Standard deviation (at most 20 dB).
    pub deviation: Decibel,
    /// Drawn once for each pair of nodes, the same both ways; else for every frame, as in ns-2.
    #[serde(default = "yes")]
    pub per_pair: bool,
}

fn yes() -> bool {
    true
}

/// Multipath: the power of each frame varies about its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fading {
    /// None.
    #[default]
    None,
    /// No line of sight: the power is exponential.
    Rayleigh,
    /// The power is gamma of shape m.
    Nakagami(Nakagami),
}

/// Nakagami-m fading.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Nakagami {
    /// Shape (0.5 to 100): 1 is Rayleigh's, larger is milder.
    pub m: f64,
}

/// Shadowing and fading raise a signal at most by this factor, or the neighbourhood of a frame would be the
/// plane. A Rayleigh signal is cut in one frame of 2 million, shadowing at three standard deviations.
const MOST_FADING: f64 = 14.5;
const MOST_DEVIATIONS: f64 = 3.0;

/// All of it together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Propagation {
    /// What distance does.
    pub path_loss: PathLoss,
    /// What obstacles do.
    pub shadowing: Option<Shadowing>,
    /// What multipath does.
    pub fading: Fading,
}

impl Propagation {
    /// Path loss alone.
    pub const fn new(path_loss: PathLoss) -> Self {
        Self { path_loss, shadowing: None, fading: Fading::None }
    }

    /// Reports wrong settings to `check`.
    pub fn check(&self, check: &mut impl Check) {
        self.path_loss.check(&mut check.within("path_loss"));
        if let Some(Shadowing { deviation, .. }) = self.shadowing
            && !(0.0..=20.0).contains(&deviation.0)
        {
            let remedy = "write \"0 dB\" to \"20 dB\"".to_owned();
            check.error("shadowing.deviation", format!("\"{deviation}\" is out of range"), remedy);
        }
        if let Fading::Nakagami(Nakagami { m }) = self.fading
            && !(0.5..=100.0).contains(&m)
        {
            let message = format!("a shape of {m} is out of range");
            check.error("fading.nakagami.m", message, "write 0.5 to 100".to_owned());
        }
    }

    /// The part of the gain that every frame of a pair of nodes shares. `seed` keys the shadowing of the run.
    pub(crate) fn lasting_gain(&self, distance: f64, seed: u64, pair: (u32, u32)) -> f64 {
        let gain = self.path_loss.gain(distance);
        match self.shadowing {
            Some(Shadowing { deviation, per_pair: true }) => {
                // One key for both directions.
                let (low, high) = (pair.0.min(pair.1), pair.0.max(pair.1));
                let index = (u64::from(high) << 32) | u64::from(low);
                let mut stream = RandomStream::new(seed, "shadowing", index);
                gain * shadow(deviation, &mut stream)
            }
            _ => gain,
        }
    }

    /// The factor of one frame at one receiver.
    pub(crate) fn frame_gain(&self, stream: &mut RandomStream) -> f64 {
        let mut gain = match self.fading {
            Fading::None => 1.0,
            Fading::Rayleigh => stream.standard_exponential().min(MOST_FADING),
            Fading::Nakagami(Nakagami { m }) => stream.gamma(m, 1.0 / m).min(MOST_FADING),
        };
        if let Some(Shadowing { deviation, per_pair: false }) = self.shadowing {
            gain *= shadow(deviation, stream);
        }
        gain
    }

    /// Whether frames of a pair differ.
    pub(crate) fn varies(&self) -> bool {
        self.fading != Fading::None || matches!(self.shadowing, Some(Shadowing { per_pair: false, .. }))
    }

    /// No signal is louder than its path loss times this.
    pub(crate) fn most(&self) -> f64 {
        let fading = if self.fading == Fading::None { 1.0 } else { MOST_FADING };
        let shadow = |s: Shadowing| libm::pow(10.0, MOST_DEVIATIONS * s.deviation.0 / 10.0);
        fading * self.shadowing.map_or(1.0, shadow)
    }
}

fn shadow(deviation: Decibel, stream: &mut RandomStream) -> f64 {
    let deviations = stream.standard_normal().min(MOST_DEVIATIONS);
    libm::pow(10.0, deviation.0 * deviations / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where nothing varies no signal is louder than its path loss: how far a station is heard follows from
    /// it.
    #[test]
    fn nothing_is_louder_than_the_path_loss_where_nothing_varies() {
        let plain = Propagation::new(PathLoss::NS2_TWO_RAY);
        assert_eq!(plain.most(), 1.0);
        assert!(Propagation { fading: Fading::Nakagami(Nakagami { m: 1.0 }), ..plain }.most() > 1.0);
    }

    /// The well-known numbers of ns-2: 0.28183815 W reach 3.652e-10 W at 250 m and 1.559e-11 W at 550 m over
    /// two rays. The crossover of 914 MHz and 1.5 m lies at 86.2 m, where both formulas agree.
    #[test]
    fn two_rays_give_the_ranges_that_everybody_uses() {
        let model = PathLoss::NS2_TWO_RAY;
        let at = |distance| 0.281_838_15 * model.gain(distance);
        assert!((at(250.0) / 3.652e-10 - 1.0).abs() < 1e-3);
        assert!((at(550.0) / 1.559e-11 - 1.0).abs() < 1e-3);
        assert!((at(86.0) / at(86.4) - 1.0).abs() < 0.02);
        // Below the crossover of 86.1 m it is free space.
        assert_eq!(model.gain(50.0), PathLoss::FreeSpace(Frequency(914e6)).gain(50.0));
        assert!((model.range(3.652e-10 / 0.281_838_15) - 250.0).abs() < 0.1);
    }

    /// 914 MHz: a wavelength of 0.328 m, 0.0261^2 = 6.813e-4 left at 1 m. A hundredth of it at 10 m in free
    /// space, a thousandth with exponent 3. Below 1 m nothing grows.
    #[test]
    fn distance_by_hand() {
        let free = PathLoss::FreeSpace(Frequency(914e6));
        assert!((free.gain(1.0) / 6.813e-4 - 1.0).abs() < 1e-3);
        assert!((free.gain(10.0) / free.gain(1.0) - 0.01).abs() < 1e-12);
        assert_eq!(free.gain(0.0), free.gain(1.0));
        let log = PathLoss::LogDistance(LogDistance::default());
        assert!((log.gain(10.0) / log.gain(1.0) - 0.001).abs() < 1e-12);
        let paper = PathLoss::Paper(2.0);
        assert_eq!(paper.gain(500.0), 1.0 / 250_000.0);
    }

    /// Means of 100,000 draws within five standard errors. Fading keeps the mean power (a gamma of mean 1).
    /// Below a tenth of the mean lie 1 - exp(-0.1) = 9.5 % of a Rayleigh signal, and 0.36 % with Nakagami's m
    /// = 3.
    #[test]
    fn fading_has_its_laws() {
        for (fading, below) in [(Fading::Rayleigh, 0.0952), (Fading::Nakagami(Nakagami { m: 3.0 }), 0.0036)] {
            let model = Propagation { fading, ..Propagation::new(PathLoss::NS2_TWO_RAY) };
            let mut stream = RandomStream::new(1, "fading", 0);
            let draws: Vec<f64> = (0..100_000).map(|_| model.frame_gain(&mut stream)).collect();
            let mean = draws.iter().sum::<f64>() / 1e5;
            assert!((mean - 1.0).abs() < 0.016, "mean {mean}");
            let share = draws.iter().filter(|gain| **gain < 0.1).count() as f64 / 1e5;
            assert!((share - below).abs() < 5.0 * (below / 1e5f64).sqrt(), "share {share} of {fading:?}");
        }
    }

    /// The most that a signal may gain: one draw in 130,000 of Nakagami's m = 0.5 is cut, and one in 740 of the
    /// shadowing. Where nothing varies it gains nothing.
    #[test]
    fn no_draw_is_above_the_most() {
        let plain = Propagation::new(PathLoss::NS2_TWO_RAY);
        let shadowing = |per_pair| Some(Shadowing { deviation: Decibel(10.0), per_pair });
        let nakagami = Fading::Nakagami(Nakagami { m: 0.5 });
        for (model, most) in [
            (Propagation { fading: nakagami, ..plain }, 14.5),
            (Propagation { shadowing: shadowing(false), ..plain }, 1000.0),
        ] {
            assert!((model.most() / most - 1.0).abs() < 1e-12 && model.varies());
            let mut stream = RandomStream::new(1, "most", 0);
            let greatest = (0..60_000).map(|_| model.frame_gain(&mut stream)).fold(0.0, f64::max);
            assert!((greatest / most - 1.0).abs() < 1e-12, "{greatest}");
        }
        let lasting = Propagation { shadowing: shadowing(true), ..plain };
        assert!(!lasting.varies() && !plain.varies());
        assert_eq!(lasting.frame_gain(&mut RandomStream::new(1, "most", 0)), 1.0);
    }

    /// Shadowing of a pair is the same both ways and lasts; pairs differ, with the deviation asked for.
    #[test]
    fn shadowing_belongs_to_the_pair() {
        let shadowing = Some(Shadowing { deviation: Decibel(6.0), per_pair: true });
        let model = Propagation { shadowing, ..Propagation::new(PathLoss::NS2_TWO_RAY) };
        let db = |pair| 10.0 * libm::log10(model.lasting_gain(100.0, 7, pair) / model.path_loss.gain(100.0));
        assert_eq!(db((1, 2)), db((2, 1)));
        let draws: Vec<f64> = (0..10_000).map(|n| db((n, 20_000))).collect();
        let square = draws.iter().map(|x| x * x).sum::<f64>() / 1e4;
        assert!((libm::sqrt(square) - 6.0).abs() < 0.25, "{}", libm::sqrt(square));
    }
}
