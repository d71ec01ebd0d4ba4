//! Tracking the signal strength: a link is going down when the foretold level says so.

use super::{LmsFilter, Prediction, Predictor};
use crate::journey::{Course, Line, Measurement};
use cogtcp_units::{Duration, RandomStream, Time};

/// How the level is foretold.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalConfig {
    /// Weights of the filter.
    pub order: u32,
    /// Step of its adaptation, above 0 and below 2.
    pub step: f64,
    /// How far ahead it looks.
    pub horizon: Duration,
    /// How far above the radio's own threshold the foretold level already counts as lost, dB.
    pub margin: f64,
    /// Standard deviation of each measurement about the level, dB.
    pub noise: f64,
}

/// Foretells from the levels that the radio measures, one adaptive filter for each base station.
///
/// - The link is going down when the level of the serving base station is foretold to fall below the threshold, or when
///   another is foretold to exceed it by the margin of a handover. Of a handover the length is known: its mean.
/// - The link is going up when, during the outage, some base station is foretold to exceed the threshold by the margin of
///   recovery. It is going up at once when the outage has not come and is no longer foretold.
#[derive(Clone, Debug)]
pub struct SignalStrength {
    predictions: std::vec::IntoIter<Prediction>,
}

impl SignalStrength {
    /// What the levels measured on `course` over `line` foretell. Errors of measurement draw from `stream`.
    pub fn new(line: &Line, course: &Course, config: &SignalConfig, stream: RandomStream) -> Self {
        let mut tracker = Tracker::new(line, config, stream);
        for measured in course.measurements() {
            tracker.take(measured);
        }
        let mut predictions = tracker.predictions;
        predictions.sort_by_key(|prediction| prediction.made);
        Self { predictions: predictions.into_iter() }
    }
}

impl Predictor for SignalStrength {
    fn next(&mut self) -> Option<Prediction> {
        self.predictions.next()
    }
}

/// The state between two measurements.
struct Tracker<'a> {
    line: &'a Line,
    config: &'a SignalConfig,
    stream: RandomStream,
    horizon: usize,
    /// One filter for each base station that is followed at present.
    filters: Vec<Option<LmsFilter>>,
    warned: Warned,
    predictions: Vec<Prediction>,
}

/// What was foretold and is not over.
#[derive(Clone, Copy, Debug)]
enum Warned {
    /// Nothing.
    No,
    /// An outage that has not come yet.
    Coming { start: Time, handover: bool },
    /// The outage came.
    Out { handover: bool },
    /// It came and its end was foretold too.
    Ending,
}

/// What is known of one base station at one instant.
#[derive(Clone, Copy, Debug)]
struct Track {
    station: u16,
    now: f64,
    ahead: f64,
}

impl<'a> Tracker<'a> {
    fn new(line: &'a Line, config: &'a SignalConfig, stream: RandomStream) -> Self {
        let horizon = config.horizon.as_nanos() / line.signal.interval.as_nanos().max(1);
        Self {
            line,
            config,
            stream,
            horizon: (horizon as usize).max(1),
            filters: vec![None; line.base_stations.len()],
            warned: Warned::No,
            predictions: Vec::new(),
        }
    }

    fn take(&mut self, measured: &Measurement) {
        let tracks = self.follow(measured);
        let serving = measured.serving.and_then(|number| tracks.iter().find(|track| track.station == number));
        match (self.warned, serving) {
            (Warned::No, Some(serving)) => self.look_down(measured.time, serving, &tracks),
            (Warned::No, None) => {}
            (Warned::Coming { handover, .. }, None) => self.warned = Warned::Out { handover },
            (Warned::Coming { start, handover: true }, Some(_)) => {
                // The foretold handover did not come.
                if measured.time > start + self.config.horizon {
                    self.warned = Warned::No;
                }
            }
            (Warned::Coming { handover: false, .. }, Some(serving)) => {
                if serving.ahead >= self.floor() + self.line.signal.recovery {
                    self.foretell_end(measured.time, measured.time);
                    self.warned = Warned::No;
                }
            }
            (Warned::Out { .. } | Warned::Ending, Some(_)) => self.warned = Warned::No,
            (Warned::Out { handover: false }, None) => self.look_up(measured.time, &tracks),
            (Warned::Out { handover: true } | Warned::Ending, None) => {}
        }
    }

    /// Feeds the filters. A base station that comes back begins anew.
    fn follow(&mut self, measured: &Measurement) -> Vec<Track> {
        let mut tracks = Vec::with_capacity(measured.levels.len());
        let mut levels = measured.levels.iter().peekable();
        for (number, slot) in self.filters.iter_mut().enumerate() {
            let Some((station, level)) = levels.next_if(|(station, _)| usize::from(*station) == number)
            else {
                *slot = None;
                continue;
            };
            let now = f64::from(*level) + self.config.noise * self.stream.standard_normal();
            let filter = slot.get_or_insert_with(|| {
                LmsFilter::new(self.config.order as usize, self.config.step, self.horizon)
            });
            tracks.push(Track { station: *station, now, ahead: filter.push(now) });
        }
        tracks
    }

    /// The level that counts as lost, dBm.
    fn floor(&self) -> f64 {
        self.line.signal.threshold + self.config.margin
    }

    fn look_down(&mut self, now: Time, serving: &Track, tracks: &[Track]) {
        let signal = &self.line.signal;
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
        self.predictions.push(Prediction { made: now, start, end, end_made: now });
        self.warned = Warned::Coming { start, handover };
    }

    fn look_up(&mut self, now: Time, tracks: &[Track]) {
        let level = self.line.signal.threshold + self.line.signal.recovery;
        let back = tracks.iter().filter_map(|track| crossing(level - track.now, level - track.ahead));
        if let Some(share) = back.min_by(f64::total_cmp) {
            self.foretell_end(now, now + self.ahead(share));
            self.warned = Warned::Ending;
        }
    }

    fn foretell_end(&mut self, now: Time, end: Time) {
        if let Some(last) = self.predictions.last_mut() {
            (last.end, last.end_made) = (Some(end), now);
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
        Some(now / (now - ahead))
    } else {
        None
    }
}
