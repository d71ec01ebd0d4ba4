//! Tracking the signal strength: a link is going down when the predicted level says so.

use super::{Forecast, Known, LmsFilter, Predictor, PredictorKind};
use crate::journey::{Line, Measurement, Signal};
use cogtcp_units::{Check, Decibel, Duration, RandomStream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The most weights of a filter.
const MOST_WEIGHTS: u32 = 1000;
/// The furthest that a filter looks ahead.
const LONGEST_HORIZON: Duration = Duration::from_secs(60);

/// How the level is predicted: by a linear filter that adapts by least mean squares (LMS, normalised).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "SignalStrength")]
#[serde(deny_unknown_fields, default)]
pub struct SignalConfig {
    /// Weights of the filter (1 to 1000), one for each of the last differences of the level.
    pub order: u32,
    /// Step of the adaptation, above 0 and below 2.
    pub step: f64,
    /// How far ahead it looks; counted in measurements of the radio.
    pub horizon: Duration,
    /// How far above the radio's threshold the predicted level counts as lost already.
    pub margin: Decibel,
    /// Standard deviation of each measurement about the level (normal errors).
    pub noise: Decibel,
}

impl Default for SignalConfig {
    fn default() -> Self {
        Self {
            order: 8,
            step: 0.1,
            horizon: Duration::from_secs(1),
            margin: Decibel(0.0),
            noise: Decibel(1.0),
        }
    }
}

impl PredictorKind for SignalConfig {
    fn name(&self) -> &'static str {
        "signal_strength"
    }

    fn check(&self, faults: &mut dyn Check) {
        faults.count("order", self.order, MOST_WEIGHTS);
        if !(self.step > 0.0 && self.step < 2.0) {
            let message = format!("a step of {} is out of range", self.step);
            let remedy = "write a number above 0 and below 2, for example 0.1".to_owned();
            faults.error("step", message, remedy);
        }
        faults.span("horizon", self.horizon, false, LONGEST_HORIZON);
        faults.number("margin", self.margin.0, 100.0);
        faults.number("noise", self.noise.0, 100.0);
    }

    fn needs_journey(&self) -> bool {
        true
    }

    fn build(&self, known: &Known<'_>) -> Option<Box<dyn Predictor>> {
        let stream = RandomStream::new(known.seed, "train/level", 0);
        Some(Box::new(SignalStrength::new(known.journey?.0, self.clone(), stream)))
    }
}

/// Predicts from the levels that the radio measures, one adaptive filter for each base station.
///
/// - The link is going down when the level of the serving base station is predicted to fall below the
///   threshold. It is also going down when another base station is predicted to exceed it by the margin of a
///   handoff. A handoff's length is known: its mean.
/// - The link is going up when, during the outage, some base station is predicted to exceed the threshold by
///   the margin of recovery. It is going up at once when the outage has not come and is no longer predicted.
#[derive(Clone, Debug)]
pub struct SignalStrength {
    signal: Signal,
    config: SignalConfig,
    stream: RandomStream,
    /// How far ahead the filters look, in measurements.
    horizon: usize,
    /// One filter for each base station that is followed at present.
    filters: Vec<Option<LmsFilter>>,
    warned: Warned,
    forecasts: VecDeque<Forecast>,
}

/// What was predicted and is not over.
#[derive(Clone, Copy, Debug)]
enum Warned {
    /// Nothing.
    No,
    /// An outage that has not come yet.
    Coming { start: Time, handover: bool },
    /// The outage came.
    Out { handover: bool },
    /// It came and its end was predicted too.
    Ending,
}

/// What is known of one base station at one instant.
#[derive(Clone, Copy, Debug)]
struct Track {
    station: u16,
    now: f64,
    ahead: f64,
}

impl Predictor for SignalStrength {
    fn observes(&self) -> bool {
        true
    }

    fn observe(&mut self, now: Time, measured: &Measurement) {
        let tracks = self.follow(measured);
        let serving = measured.serving.and_then(|number| tracks.iter().find(|track| track.station == number));
        match (self.warned, serving) {
            (Warned::No, Some(serving)) => self.look_down(now, serving, &tracks),
            (Warned::No, None) => {}
            (Warned::Coming { handover, .. }, None) => self.warned = Warned::Out { handover },
            (Warned::Coming { start, handover: true }, Some(_)) => {
                // The predicted handover did not come.
                if now > start + self.config.horizon {
                    self.warned = Warned::No;
                }
            }
            (Warned::Coming { handover: false, .. }, Some(serving)) => {
                // Above the threshold by the margin of recovery, or noise would call it off and on.
                if serving.ahead >= self.floor() + self.signal.recovery {
                    self.forecasts.push_back(Forecast::End { end: now });
                    self.warned = Warned::No;
                }
            }
            (Warned::Out { .. } | Warned::Ending, Some(_)) => self.warned = Warned::No,
            (Warned::Out { handover: false }, None) => self.look_up(now, &tracks),
            (Warned::Out { handover: true } | Warned::Ending, None) => {}
        }
    }

    fn poll(&mut self, _: Time) -> Option<Forecast> {
        self.forecasts.pop_front()
    }
}

impl SignalStrength {
    /// A predictor at the beginning of a journey over `line`. Errors of measurement draw from `stream`.
    pub fn new(line: &Line, config: SignalConfig, stream: RandomStream) -> Self {
        let horizon = config.horizon.as_nanos() / line.signal.interval.as_nanos().max(1);
        Self {
            signal: line.signal.clone(),
            config,
            stream,
            horizon: (horizon as usize).max(1),
            filters: vec![None; line.base_stations.len()],
            warned: Warned::No,
            forecasts: VecDeque::new(),
        }
    }

    /// Feeds the filters. The filters of a base station that comes back start again.
    fn follow(&mut self, measured: &Measurement) -> Vec<Track> {
        let mut tracks = Vec::with_capacity(measured.levels.len());
        let mut levels = measured.levels.iter().peekable();
        for (number, slot) in self.filters.iter_mut().enumerate() {
            let Some((station, level)) = levels.next_if(|(station, _)| usize::from(*station) == number)
            else {
                // Differences across the gap would teach the filter a jump.
                *slot = None;
                continue;
            };
            let now = f64::from(*level) + self.config.noise.0 * self.stream.standard_normal();
            let filter = slot.get_or_insert_with(|| {
                LmsFilter::new(self.config.order as usize, self.config.step, self.horizon)
            });
            tracks.push(Track { station: *station, now, ahead: filter.push(now) });
        }
        tracks
    }

    /// The level that counts as lost, dBm.
    fn floor(&self) -> f64 {
        self.signal.threshold + self.config.margin.0
    }

    fn look_down(&mut self, now: Time, serving: &Track, tracks: &[Track]) {
        let signal = &self.signal;
        let sinking = crossing(serving.now - self.floor(), serving.ahead - self.floor());
        let others = tracks.iter().filter(|track| track.station != serving.station);
        let overtaken = others
            .filter(|other| other.ahead >= signal.threshold)
            .filter_map(|other| {
                let lead = |level: f64, own: f64| own + signal.handover_margin - level;
                crossing(lead(other.now, serving.now), lead(other.ahead, serving.ahead))
            })
            .min_by(f64::total_cmp);
        // A handover that comes before the level is too low saves the link from that.
        let handover = overtaken.is_some_and(|share| sinking.is_none_or(|sinking| share <= sinking));
        let Some(share) = (if handover { overtaken } else { sinking }) else { return };
        let start = now + self.ahead(share);
        let end = handover.then(|| start + signal.handover.mean());
        self.forecasts.push_back(Forecast::Outage { start, end });
        self.warned = Warned::Coming { start, handover };
    }

    fn look_up(&mut self, now: Time, tracks: &[Track]) {
        let level = self.signal.threshold + self.signal.recovery;
        let back = tracks.iter().filter_map(|track| crossing(level - track.now, level - track.ahead));
        if let Some(share) = back.min_by(f64::total_cmp) {
            self.forecasts.push_back(Forecast::End { end: now + self.ahead(share) });
            self.warned = Warned::Ending;
        }
    }

    /// A share of the horizon.
    fn ahead(&self, share: f64) -> Duration {
        Duration::from_secs_f64(self.config.horizon.as_secs_f64() * share)
    }
}

/// Which share of the way from `now` to `ahead` lies before the first value below zero; `None`: none is.
fn crossing(now: f64, ahead: f64) -> Option<f64> {
    if now < 0.0 {
        Some(0.0)
    } else if ahead < 0.0 {
        // `ahead` < 0 <= `now`: no division by zero.
        Some(now / (now - ahead))
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
