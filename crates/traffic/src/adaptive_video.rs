//! A player that adapts: it asks for each chunk at one of several bitrates, by a published rule.
//!
//! - BOLA (Spiteri, Urgaonkar and Sitaraman, INFOCOM 2016), the variant BOLA-BASIC: by the buffer alone.
//! - The rate-based rule: the highest bitrate within 85 % of the harmonic mean of the last 20 chunks' rates.
//!   Estimator and share come from FESTIVE (Jiang, Sekar and Zhang, CoNEXT 2012); its random scheduling
//!   and its gradual switching are left out.

use crate::video::{Player, Video, chunk, request_size, startup};
use crate::{Application, Bounds, TrafficKind};
use cogtcp_units::{Bytes, Check, Duration, Rate, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// Most bitrates of a ladder.
const MOST: usize = 16;
/// gamma p of BOLA in seconds: how much avoiding stalls counts. The paper's value.
const GAMMA_P: f64 = 5.0;
/// Chunks whose rates the rate-based rule averages, and the share of the mean that it uses.
const REMEMBERED: usize = 20;
const USED_SHARE: f64 = 0.85;

/// A player of recorded video that adapts its bitrate.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveVideoConfig {
    /// The bitrates, lowest first (1 to 16). Default: the bitrates of "Big Buck Bunny" in BOLA's
    /// paper.
    #[serde(default)]
    pub ladder: Ladder,
    /// How the bitrate of a chunk is chosen.
    #[serde(default)]
    pub rule: BitrateRule,
    /// How long a chunk plays.
    #[serde(default = "chunk")]
    pub chunk: Duration,
    /// How much must be buffered before the video plays, in the beginning and after a stall.
    #[serde(default = "startup")]
    pub startup: Duration,
    /// How much is buffered at most.
    #[serde(default = "buffer")]
    pub buffer: Duration,
    /// Payload of a request; one packet.
    #[serde(default = "request_size")]
    pub request: Bytes,
}

/// The largest buffer of BOLA's paper.
fn buffer() -> Duration {
    Duration::from_secs(25)
}

/// How an adaptive player chooses a bitrate.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BitrateRule {
    /// BOLA: by the buffer.
    #[default]
    Bola,
    /// By the rates of the last chunks.
    Rate,
}

/// The bitrates of a video, lowest first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ladder {
    rates: [Rate; MOST],
    count: usize,
}

impl Ladder {
    /// Returns the ladder of `rates`; `None`: there are none, or more than 16.
    pub fn new(rates: &[Rate]) -> Option<Self> {
        let mut ladder = Self { rates: [Rate::ZERO; MOST], count: rates.len() };
        let fits = (1..=MOST).contains(&rates.len());
        fits.then(|| ladder.rates[..rates.len()].copy_from_slice(rates)).map(|()| ladder)
    }

    /// Returns the bitrates.
    pub fn rates(&self) -> &[Rate] {
        &self.rates[..self.count]
    }
}

impl Default for Ladder {
    fn default() -> Self {
        // Table 1 of the paper, in kbit/s.
        let kilobits = [230, 331, 477, 688, 991, 1427, 2056, 2962, 5027, 6000];
        let rates = kilobits.map(|rate| Rate::from_bits_per_second(1000 * rate));
        Self::new(&rates).unwrap_or(Self { rates: [Rate::ZERO; MOST], count: 1 })
    }
}

impl Serialize for Ladder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.rates().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Ladder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rates = Vec::<Rate>::deserialize(deserializer)?;
        let error = || serde::de::Error::custom(format!("{} bitrates; write 1 to {MOST}", rates.len()));
        Self::new(&rates).ok_or_else(error)
    }
}

impl JsonSchema for Ladder {
    fn schema_name() -> Cow<'static, str> {
        Vec::<Rate>::schema_name()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<Rate>::json_schema(generator)
    }
}

impl TrafficKind for AdaptiveVideoConfig {
    fn name(&self) -> &'static str {
        "adaptive_video"
    }

    fn check(&self, bounds: &Bounds, check: &mut dyn Check) {
        for rate in self.ladder.rates() {
            check.rate("ladder", *rate);
        }
        if self.ladder.rates().windows(2).any(|pair| pair[0] >= pair[1]) {
            check.error("ladder", "the bitrates do not rise".into(), "write the lowest first".into());
        }
        self.player().check(bounds, check);
    }

    fn client(&self, _: &str, start: Time, _: u64) -> Option<Application> {
        Some(Box::new(Video::adaptive(self.player(), self.ladder, self.rule, start)))
    }
}

impl AdaptiveVideoConfig {
    fn player(&self) -> Player {
        let most = self.ladder.rates().last().copied().unwrap_or(Rate::ZERO);
        let Self { chunk, startup, buffer, request, .. } = *self;
        Player { rate: most, chunk, startup, buffer, request }
    }
}

/// What a rule knows when a chunk is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    /// Media in the buffer, and what fits into it.
    pub(crate) buffered: Duration,
    pub(crate) buffer: Duration,
    pub(crate) chunk: Duration,
    /// Download rates of the chunks so far, bits per second, the latest last.
    pub(crate) downloads: &'a [f64],
}

impl BitrateRule {
    /// Returns the bitrate of the next chunk, of `ladder`.
    pub(crate) fn choose(self, ladder: &Ladder, moment: &Moment<'_>) -> Rate {
        match self {
            Self::Bola => bola(ladder.rates(), moment),
            Self::Rate => rate_based(ladder.rates(), moment.downloads),
        }
    }
}

/// BOLA-BASIC, section III: the bitrate with the greatest `(V v_m + V gamma p - Q) / S_m`, where
/// `v_m = ln(S_m / S_1)`, Q counts buffered chunks, and `V = (Q_max - 1) / (v_M + gamma p)`. The player asks
/// only if a chunk fits, and the buffer holds one at least: no value is negative then.
fn bola(rates: &[Rate], moment: &Moment<'_>) -> Rate {
    let chunk = moment.chunk.as_secs_f64();
    let (queue, most) = (moment.buffered.as_secs_f64() / chunk, moment.buffer.as_secs_f64() / chunk);
    let bits = |rate: Rate| rate.bits_per_second() as f64;
    let utility = |rate: Rate| libm::log(bits(rate) / bits(rates[0]));
    // gamma p is in chunks in the paper's V.
    let weight = (most - 1.0) / (utility(rates[rates.len() - 1]) + GAMMA_P);
    let score = |rate: Rate| (weight * (utility(rate) + GAMMA_P) - queue) / bits(rate);
    rates
        .iter()
        .copied()
        .reduce(|best, rate| if score(rate) > score(best) { rate } else { best })
        .unwrap_or(rates[0])
}

/// The highest bitrate within the share of the harmonic mean; the lowest before the first chunk has come.
fn rate_based(rates: &[Rate], downloads: &[f64]) -> Rate {
    let last = &downloads[downloads.len().saturating_sub(REMEMBERED)..];
    let inverse: f64 = last.iter().map(|rate| 1.0 / rate).sum();
    let allowed = if last.is_empty() { 0.0 } else { USED_SHARE * last.len() as f64 / inverse };
    let fits = |rate: &&Rate| rate.bits_per_second() as f64 <= allowed;
    rates.iter().rev().find(fits).copied().unwrap_or(rates[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Client;
    use crate::kind::testing::wrong;

    fn kbit(rate: u64) -> Rate {
        Rate::from_bits_per_second(1000 * rate)
    }

    fn at(buffered_ms: u64) -> Moment<'static> {
        let (buffer, chunk) = (Duration::from_secs(25), Duration::from_secs(3));
        Moment { buffered: Duration::from_millis(buffered_ms), buffer, chunk, downloads: &[] }
    }

    /// The utilities of the paper's table 1: ln(331 / 230) = 0.364 to ln(6000 / 230) = 3.261.
    #[test]
    fn utilities_are_those_of_the_paper() {
        let rates = Ladder::default();
        let utilities: Vec<f64> = rates
            .rates()
            .iter()
            .map(|rate| (libm::log(rate.bits_per_second() as f64 / 230e3) * 1000.0).round() / 1000.0)
            .collect();
        assert_eq!(utilities, [0.0, 0.364, 0.729, 1.096, 1.461, 1.825, 2.19, 2.556, 3.084, 3.261]);
    }

    /// Two bitrates are worth the same where Q = V (gamma p + (S_m v_n - S_n v_m) / (S_m - S_n)). With 1 and
    /// 2 Mbit/s: v = 0 and ln 2, V = (25/3 - 1) / (ln 2 + 5) = 1.28807. Q = V (5 - ln 2 x 1 / (1 - 2) x ...):
    /// (1 x ln 2 - 2 x 0) / (1 - 2) = -0.693147, so Q = 1.28807 x 4.306853 = 5.54752 chunks, 16.6426 s.
    #[test]
    fn bola_changes_at_its_threshold() {
        let ladder = Ladder::new(&[kbit(1000), kbit(2000)]).unwrap();
        let choose = |ms| BitrateRule::Bola.choose(&ladder, &at(ms));
        assert_eq!(
            [choose(0), choose(16_642), choose(16_643), choose(22_000)],
            [kbit(1000), kbit(1000), kbit(2000), kbit(2000)]
        );
    }

    /// A constant path: chunk by chunk. Returns bitrates and the number of stalls.
    fn play(rule: BitrateRule, path: f64, chunks: usize) -> (Vec<Rate>, usize) {
        let config = AdaptiveVideoConfig {
            ladder: Ladder::default(),
            rule,
            chunk: Duration::from_secs(3),
            startup: Duration::from_secs(3),
            buffer: buffer(),
            request: Bytes::new(300),
        };
        let mut video = Video::adaptive(config.player(), config.ladder, rule, Time::ZERO);
        for _ in 0..chunks {
            let due = video.next_request();
            let request = video.send(due);
            let took = Duration::from_secs_f64(8.0 * request.response as f64 / path);
            video.handle_response(due + took, request.number);
        }
        let stalls = video.chunks().iter().filter(|chunk| chunk.stall_began).count();
        (video.chunks().iter().map(|chunk| chunk.rate).collect(), stalls)
    }

    /// 2.5 Mbit/s lie between 2.056 and 2.962: BOLA comes to these two, uses what the path carries, and does
    /// not stall. Its mean utility is near the best: at most ln(2.5 / 0.23) = 2.386, as a logarithm of the
    /// mean exceeds the mean of logarithms. The paper proves an additive term O(1 / V).
    #[test]
    fn bola_uses_what_a_constant_path_carries() {
        let (rates, stalls) = play(BitrateRule::Bola, 2.5e6, 400);
        let last = &rates[200..];
        assert_eq!(stalls, 0);
        assert!(last.iter().all(|rate| [kbit(2056), kbit(2962)].contains(rate)), "{last:?}");
        let mean = last.iter().map(|rate| rate.bits_per_second() as f64).sum::<f64>() / 200.0;
        assert!((mean / 2.5e6 - 1.0).abs() < 0.03, "{mean}");
        let utility = last.iter().map(|r| libm::log(r.bits_per_second() as f64 / 230e3)).sum::<f64>() / 200.0;
        assert!(utility > 2.386 - 0.1 && utility < 2.386 + 0.01, "{utility}");
    }

    /// 85 % of 2.5 Mbit/s are 2.125: the bitrate of 2.056 from the second chunk on.
    #[test]
    fn the_rate_based_rule_uses_its_share_of_the_mean() {
        let (rates, stalls) = play(BitrateRule::Rate, 2.5e6, 30);
        assert_eq!((rates[0], stalls), (kbit(230), 0));
        assert!(rates[1..].iter().all(|rate| *rate == kbit(2056)), "{rates:?}");
        // The harmonic mean of 1 and 4 Mbit/s is 1.6, of which 85 % are 1.36; 20 chunks count.
        assert_eq!(rate_based(Ladder::default().rates(), &[1e6, 4e6]), kbit(991));
        let mut downloads = vec![1e3];
        downloads.extend([1e6; 20]);
        assert_eq!(rate_based(Ladder::default().rates(), &downloads), kbit(688));
    }

    #[test]
    fn a_ladder_has_one_to_sixteen_bitrates() {
        assert!(Ladder::new(&[]).is_none() && Ladder::new(&[kbit(1); 17]).is_none());
        assert_eq!(Ladder::new(&[kbit(1); 16]).unwrap().rates().len(), 16);
        assert_eq!(Ladder::new(&[kbit(700)]).unwrap().rates(), [kbit(700)]);
    }

    /// Where the buffer holds one chunk, V is 0: no bitrate is better than another, and the lowest is taken.
    #[test]
    fn bola_takes_the_lowest_of_equals() {
        let ladder = Ladder::new(&[kbit(1000), kbit(2000)]).unwrap();
        let chunk = Duration::from_secs(3);
        let moment = Moment { buffered: Duration::ZERO, buffer: chunk, chunk, downloads: &[] };
        assert_eq!(BitrateRule::Bola.choose(&ladder, &moment), kbit(1000));
    }

    /// 85 % of 1000 kbit/s are 850, which a bitrate of 850 just fits; none fits 100, and the lowest remains.
    #[test]
    fn a_bitrate_may_use_all_of_its_share() {
        let rates = [kbit(700), kbit(850), kbit(900)];
        assert_eq!(rate_based(&rates, &[1e6]), kbit(850));
        assert_eq!(rate_based(&rates, &[0.99e6]), kbit(700));
        assert_eq!((rate_based(&rates, &[1e5]), rate_based(&rates, &[])), (kbit(700), kbit(700)));
    }

    #[test]
    fn a_ladder_rises() {
        let with = |rates: &[Rate]| AdaptiveVideoConfig {
            ladder: Ladder::new(rates).unwrap(),
            rule: BitrateRule::default(),
            chunk: Duration::from_secs(2),
            startup: Duration::from_secs(4),
            buffer: buffer(),
            request: Bytes::new(300),
        };
        let rate = Rate::from_bits_per_second;
        let none: [&str; 0] = [];
        assert_eq!(wrong(&with(&[rate(8), rate(9)])), none);
        assert_eq!(wrong(&with(&[rate(8), rate(8)])), ["ladder"]);
        assert_eq!(wrong(&with(&[rate(9), rate(8)])), ["ladder"]);
        assert_eq!(wrong(&with(&[rate(0), rate(8)])), ["ladder"]);
        // The largest chunk is one of the highest bitrate: of 2 s at 4 kbit/s, 1000 B.
        assert_eq!(wrong(&with(&[rate(8), rate(4000)])), none);
        assert_eq!(wrong(&with(&[rate(8), rate(4008)])), ["chunk"]);
        assert_eq!((BitrateRule::default(), buffer()), (BitrateRule::Bola, Duration::from_secs(25)));
    }

    /// A rate is measured from the request to the end of the response: 1000 B in 2 s are 4 kbit/s.
    #[test]
    fn downloads_are_timed_from_their_requests() {
        let ladder = Ladder::new(&[kbit(8)]).unwrap();
        let second = Duration::from_secs(1);
        let request = Bytes::new(300);
        let player = Player { rate: kbit(8), chunk: second, startup: second, buffer: second, request };
        let mut video = Video::adaptive(player, ladder, BitrateRule::Rate, Time::from_millis(1000));
        let request = video.send(Time::from_millis(5000));
        video.handle_response(Time::from_millis(7000), request.number);
        assert_eq!((request.response, video.downloads.as_slice()), (1000, [4000.0].as_slice()));
    }
}
