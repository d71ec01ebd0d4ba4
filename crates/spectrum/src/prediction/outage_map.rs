//! An outage map built from earlier journeys, read by position and speed.

use super::{Prediction, Predictor};
use crate::journey::{Course, Line};
use cogtcp_units::{Duration, Probability, RandomStream, Time};

/// Distance of the places at which the record is kept, m.
const CELL: f64 = 10.0;
/// The recorded driving time is scaled by recorded over present speed within these bounds.
const SCALES: (f64, f64) = (0.5, 2.0);
/// Below this speed, m/s, the present speed says nothing of what comes.
const SLOW: f64 = 5.0;

/// How the map is made and read.
#[derive(Clone, Debug, PartialEq)]
pub struct OutageMapConfig {
    /// Earlier journeys that the record is of.
    pub journeys: u32,
    /// Standard deviation of every position that is recorded or read, m (normal errors).
    pub position_error: f64,
    /// Share of the earlier journeys that must have had an outage at a place for it to be on the map.
    pub share: Probability,
    /// Outages of different journeys whose places lie within this distance are the same one, m.
    pub spread: f64,
    /// How long before the expected beginning a prediction is made.
    pub ahead: Duration,
}

/// An outage of the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordedOutage {
    /// Where it begins, m: the median of the earlier journeys.
    pub from: f64,
    /// Where it ends, m, likewise.
    pub to: f64,
    /// On how many journeys it was met.
    pub journeys: u32,
}

/// Foretells from the record of earlier journeys, by where the train is and how fast it goes.
#[derive(Clone, Debug)]
pub struct OutageMap {
    zones: Vec<RecordedOutage>,
    predictions: std::vec::IntoIter<Prediction>,
}

impl OutageMap {
    /// What the map of the journeys `earlier` over `line` foretells on the journey `present`. Errors draw from `stream`.
    pub fn new(
        line: &Line,
        earlier: &[Course],
        present: &Course,
        config: &OutageMapConfig,
        mut stream: RandomStream,
    ) -> Self {
        let record = Record::new(line, earlier, config, &mut stream);
        let predictions = record.foretell(present, config, &mut stream);
        Self { zones: record.zones, predictions: predictions.into_iter() }
    }

    /// The outages on the map.
    pub fn zones(&self) -> &[RecordedOutage] {
        &self.zones
    }
}

impl Predictor for OutageMap {
    fn next(&mut self) -> Option<Prediction> {
        self.predictions.next()
    }
}

/// What the earlier journeys left.
struct Record {
    start: f64,
    /// Mean driving time from the first station to each cell, s.
    driving: Vec<f64>,
    /// Stations and the mean time spent there, s.
    stops: Vec<(f64, f64)>,
    zones: Vec<RecordedOutage>,
}

impl Record {
    fn new(line: &Line, earlier: &[Course], config: &OutageMapConfig, stream: &mut RandomStream) -> Self {
        let (start, end) = (line.start(), line.end());
        let cells = ((end - start) / CELL) as usize + 2;
        let journeys = earlier.len().max(1) as f64;
        let mean = |value: &dyn Fn(&Course) -> f64| earlier.iter().map(value).sum::<f64>() / journeys;
        let driving = (0..cells)
            .map(|cell| mean(&|course| course.motion().when(start + cell as f64 * CELL).1))
            .collect();
        let stops = line
            .stations
            .iter()
            .map(|station| (station.at, mean(&|course| course.motion().standing(station.at).as_secs_f64())))
            .collect();
        let mut record = Self { start, driving, stops, zones: Vec::new() };
        record.zones = record.zones(earlier, cells, config, stream);
        record
    }

    fn zones(
        &self,
        earlier: &[Course],
        cells: usize,
        config: &OutageMapConfig,
        stream: &mut RandomStream,
    ) -> Vec<RecordedOutage> {
        let mut error = || config.position_error * stream.standard_normal();
        // Where each outage of each journey began and ended, as recorded.
        let spans: Vec<Vec<(f64, f64)>> = earlier
            .iter()
            .map(|course| {
                let place = |time: Time| course.motion().at(time).0;
                // What never ended, or began with the journey, has no beginning or end to be met again.
                let whole =
                    course.silences().into_iter().filter(|span| span.0 > Time::ZERO && span.1 < Time::MAX);
                let recorded = whole.map(|(from, to)| (place(from) + error(), place(to) + error()));
                recorded.map(|(from, to)| (from, to.max(from))).collect()
            })
            .collect();
        // On how many journeys each cell lies in or near an outage.
        let cell = |position: f64| ((position - self.start) / CELL).clamp(0.0, (cells - 1) as f64) as usize;
        let mut met = vec![0u32; cells];
        for spans in &spans {
            let mut here = vec![false; cells];
            for (from, to) in spans {
                here[cell(from - config.spread / 2.0)..=cell(to + config.spread / 2.0)].fill(true);
            }
            for (count, here) in met.iter_mut().zip(here) {
                *count += u32::from(here);
            }
        }
        let least = (config.share.get() * earlier.len() as f64).max(1.0);
        let mut zones = Vec::new();
        let mut at = 0;
        while at < cells {
            if f64::from(met[at]) < least {
                at += 1;
                continue;
            }
            let begin = at;
            while at < cells && f64::from(met[at]) >= least {
                at += 1;
            }
            let (low, high) = (self.start + begin as f64 * CELL, self.start + at as f64 * CELL);
            let (low, high) = (low - config.spread / 2.0, high + config.spread / 2.0);
            // The first beginning and the last end of each journey there.
            let ends: Vec<(f64, f64)> = spans
                .iter()
                .filter_map(|spans| {
                    let mut there = spans.iter().filter(|(from, to)| *to >= low && *from <= high);
                    let first = there.next()?;
                    Some((first.0, there.next_back().unwrap_or(first).1))
                })
                .collect();
            let from = median(ends.iter().map(|end| end.0).collect());
            let to = median(ends.iter().map(|end| end.1).collect()).max(from);
            zones.push(RecordedOutage { from, to, journeys: ends.len() as u32 });
        }
        zones
    }

    /// One prediction for each zone, as soon as it is near enough in time and the train moves.
    fn foretell(
        &self,
        present: &Course,
        config: &OutageMapConfig,
        stream: &mut RandomStream,
    ) -> Vec<Prediction> {
        let mut predictions = Vec::new();
        let mut zones = self.zones.iter().peekable();
        // Where the train stood last: that stop is not ahead, whatever the position reads.
        let mut stood = self.start;
        // One error for each approach: it hardly changes within seconds.
        let mut error = || config.position_error * stream.standard_normal();
        let mut off = error();
        for measured in present.measurements() {
            let Some(zone) = zones.peek() else { break };
            if measured.speed <= 0.0 {
                stood = measured.position;
                continue;
            }
            let position = measured.position + off;
            let after = self.seconds(position, zone.from, measured.speed, stood);
            if after > config.ahead.as_secs_f64() {
                continue;
            }
            let start = measured.time + Duration::from_secs_f64(after);
            let end = measured.time
                + Duration::from_secs_f64(self.seconds(position, zone.to, measured.speed, stood));
            zones.next();
            off = error();
            let made = measured.time;
            predictions.push(Prediction { made, start, end: Some(end.max(start)), end_made: made });
        }
        predictions
    }

    /// How long the train takes from `from` to `to` by the record, at its present speed, with the stops on the way that lie
    /// beyond `stood`, s.
    fn seconds(&self, from: f64, to: f64, speed: f64, stood: f64) -> f64 {
        if to <= from {
            return 0.0;
        }
        let driving = self.driving_at(to) - self.driving_at(from);
        let recorded = self.speed_at(from);
        let scale =
            if speed > SLOW && recorded > SLOW { (recorded / speed).clamp(SCALES.0, SCALES.1) } else { 1.0 };
        let ahead = self.stops.iter().filter(|(at, _)| *at > stood + 1.0 && *at < to);
        driving * scale + ahead.map(|(_, standing)| standing).sum::<f64>()
    }

    /// Recorded driving time to `position`, s.
    fn driving_at(&self, position: f64) -> f64 {
        let place = ((position - self.start) / CELL).clamp(0.0, (self.driving.len() - 1) as f64);
        let cell = (place as usize).min(self.driving.len() - 2);
        self.driving[cell] + (self.driving[cell + 1] - self.driving[cell]) * (place - cell as f64)
    }

    /// Recorded speed at `position`, m/s.
    fn speed_at(&self, position: f64) -> f64 {
        let seconds = self.driving_at(position + CELL / 2.0) - self.driving_at(position - CELL / 2.0);
        if seconds > 0.0 { CELL / seconds } else { 0.0 }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}
