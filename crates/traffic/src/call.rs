//! A telephone call: what its codec sends, and how the listener judges it (ITU-T G.107, the E-model).
//!
//! `R = 93.2 - Idd - Ie,eff`: all parameters of G.107 that this does not name have its default values, for
//! which the basic rating less the simultaneous impairments is 93.2. Departure: echo is cancelled (Idte =
//! Idle = 0).

use cogtcp_units::{Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A codec of ITU-T G.113, appendix I.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub enum Codec {
    /// 64 kbit/s with packet loss concealment, a packet each 20 ms.
    #[default]
    #[serde(rename = "g711")]
    G711,
    /// 64 kbit/s without concealment, a packet each 20 ms.
    #[serde(rename = "g711-plain")]
    G711Plain,
    /// 8 kbit/s, a packet each 20 ms.
    #[serde(rename = "g729a")]
    G729A,
    /// 6.3 kbit/s, a packet each 30 ms.
    #[serde(rename = "g723.1")]
    G7231,
    /// 12.2 kbit/s (GSM enhanced full rate), a packet each 20 ms.
    #[serde(rename = "gsm-efr")]
    GsmEfr,
}

/// RTP's header (RFC 3550 section 5.1), bytes.
const RTP: u32 = 12;

impl Codec {
    /// Returns the name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::G711 => "g711",
            Self::G711Plain => "g711-plain",
            Self::G729A => "g729a",
            Self::G7231 => "g723.1",
            Self::GsmEfr => "gsm-efr",
        }
    }

    /// Returns the payload of a packet in bytes, RTP's header included.
    pub const fn payload(self) -> u32 {
        RTP + match self {
            Self::G711 | Self::G711Plain => 160,
            Self::G729A => 20,
            Self::G7231 => 24,
            Self::GsmEfr => 31,
        }
    }

    /// Returns the time between two packets.
    pub const fn interval(self) -> Duration {
        match self {
            Self::G7231 => Duration::from_millis(30),
            _ => Duration::from_millis(20),
        }
    }

    /// Returns the rate of the payload.
    pub const fn rate(self) -> Rate {
        let bits = 8_000_000_000 * self.payload() as u64;
        Rate::from_bits_per_second(bits / self.interval().as_nanos())
    }

    /// Returns the delay of the codec: a packet's length and what it looks ahead (ITU-T G.114).
    pub const fn delay(self) -> Duration {
        let ahead = match self {
            Self::G729A => 5_000,
            Self::G7231 => 7_500,
            _ => 0,
        };
        Duration::from_nanos(self.interval().as_nanos() + Duration::from_micros(ahead).as_nanos())
    }

    /// Returns Ie and Bpl: impairment, and robustness against random loss (ITU-T G.113, appendix I).
    pub const fn impairment(self) -> (f64, f64) {
        match self {
            Self::G711 => (0.0, 25.1),
            Self::G711Plain => (0.0, 4.3),
            Self::G729A => (11.0, 19.0),
            Self::G7231 => (15.0, 16.1),
            Self::GsmEfr => (5.0, 10.0),
        }
    }

    /// Returns the transmission rating R, with this one-way delay from mouth to ear in seconds, and this
    /// share of the packets lost at random (BurstR = 1).
    pub fn rating(self, delay_s: f64, loss: f64) -> f64 {
        let (ie, bpl) = self.impairment();
        let percent = 100.0 * loss;
        // G.107, equation 7-29.
        let equipment = ie + (95.0 - ie) * percent / (percent + bpl);
        DEFAULT_RATING - delay_impairment(1000.0 * delay_s) - equipment
    }
}

/// Ro - Is with the default values of G.107.
const DEFAULT_RATING: f64 = 93.2;

/// Idd of a delay in ms (G.107, equations 7-27 and 7-28, with the default sT = 1 and mT = 100 ms).
fn delay_impairment(delay_ms: f64) -> f64 {
    if delay_ms <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(delay_ms / 100.0);
    let root = |x: f64| libm::pow(1.0 + libm::pow(x, 6.0), 1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

/// Returns the mean opinion score of a rating (G.107, annex B).
pub fn opinion_score(rating: f64) -> f64 {
    match rating {
        r if r <= 0.0 => 1.0,
        r if r >= 100.0 => 4.5,
        r => 1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G.107's defaults: R = 93.2 is a score of 4.41.
    #[test]
    fn nothing_but_defaults() {
        assert_eq!(Codec::G711.rating(0.1, 0.0), 93.2);
        assert!((opinion_score(93.2) - 4.41).abs() < 0.005);
        assert_eq!([-1.0, 0.0, 100.0, 110.0].map(opinion_score), [1.0, 1.0, 4.5, 4.5]);
        // 1 + 0.035 x 60 + 0.
        assert!((opinion_score(60.0) - 3.1).abs() < 1e-12);
    }

    /// At 200 ms X is 1: 25 (2^(1/6) - 3 (1 + 3^-6)^(1/6) + 2) = 25 (1.122462 - 3.000685 + 2) = 3.0444. At
    /// 400 ms X is 2: 25 (65^(1/6) - 3 (1 + (2/3)^6)^(1/6) + 2) = 25 (2.005175 - 3.042371 + 2) = 24.07.
    #[test]
    fn delay_impairs_from_100_ms_on() {
        assert_eq!(delay_impairment(100.0), 0.0);
        assert!((delay_impairment(200.0) - 3.0444).abs() < 1e-3, "{}", delay_impairment(200.0));
        assert!((delay_impairment(400.0) - 24.07).abs() < 1e-3, "{}", delay_impairment(400.0));
    }

    /// G.729A with 1 % of loss: 11 + 84 x 1 / (1 + 19) = 15.2. G.711 with 2 %: 95 x 2 / 27.1 = 7.0111.
    #[test]
    fn loss_impairs_by_the_codecs_robustness() {
        assert!((Codec::G729A.rating(0.0, 0.01) - (93.2 - 15.2)).abs() < 1e-9);
        assert!((Codec::G711.rating(0.0, 0.02) - (93.2 - 7.0111)).abs() < 1e-4);
        assert!((Codec::G711Plain.rating(0.0, 0.02) - (93.2 - 95.0 * 2.0 / 6.3)).abs() < 1e-9);
    }

    /// 160 B and 12 B of RTP each 20 ms: 68.8 kbit/s. 24 B and 12 B each 30 ms: 9.6 kbit/s.
    #[test]
    fn rates_count_the_header_of_rtp() {
        assert_eq!(Codec::G711.rate(), Rate::from_bits_per_second(68_800));
        assert_eq!(Codec::G7231.rate(), Rate::from_bits_per_second(9_600));
        assert_eq!(Codec::G7231.delay(), Duration::from_micros(37_500));
    }
}
