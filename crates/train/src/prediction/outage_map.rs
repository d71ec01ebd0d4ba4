//! An outage map built from earlier journeys, read by position and speed.

use super::{Forecast, Known, Predictor, PredictorKind};
use crate::journey::{Course, Line, Measurement};
use cogtcp_units::{Check, Duration, Length, Probability, RandomStream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Distance of the places at which the record is kept, m.
const CELL: f64 = 10.0;
/// The recorded driving time is scaled by recorded over present speed within these bounds.
const SCALES: (f64, f64) = (0.5, 2.0);
/// Below this speed, m/s, the present speed says nothing of what comes.
const SLOW: f64 = 5.0;

/// The most earlier journeys.
const MOST_JOURNEYS: u32 = 1000;
/// The largest error of a position, and the largest spread, m.
const MOST_METRES: f64 = 100_000.0;
/// The longest time that a prediction is made ahead.
const LONGEST: Duration = Duration::from_secs(1_000_000);

/// How the outage map is made and read. Earlier journeys are simulated over the same line with seeds of their
/// own.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "OutageMap")]
#[serde(deny_unknown_fields, default)]
pub struct OutageMapConfig {
    /// How many earlier journeys the record is of (1 to 1000).
    pub journeys: u32,
    /// Standard deviation of every position, recorded or present (normal errors).
    pub position_error: Length,
    /// Share of the earlier journeys that had an outage at a place that is on the map.
    pub share: Probability,
    /// Outages of different journeys within this distance are the same one.
    pub spread: Length,
    /// How long before the expected beginning a prediction is made.
    pub ahead: Duration,
}

impl Default for OutageMapConfig {
    fn default() -> Self {
        Self {
            journeys: 20,
            position_error: Length(10.0),
            share: Probability::new(0.5).unwrap_or_default(),
            spread: Length(100.0),
            ahead: Duration::from_secs(10),
        }
    }
}

impl PredictorKind for OutageMapConfig {
    fn name(&self) -> &'static str {
        "outage_map"
    }

    fn check(&self, faults: &mut dyn Check) {
        faults.count("journeys", self.journeys, MOST_JOURNEYS);
        faults.number("position_error", self.position_error.0, MOST_METRES);
        faults.number("spread", self.spread.0, MOST_METRES);
        faults.span("ahead", self.ahead, false, LONGEST);
    }

    fn needs_journey(&self) -> bool {
        true
    }

    fn earlier_journeys(&self) -> u32 {
        self.journeys
    }

    fn build(&self, known: &Known<'_>) -> Option<Box<dyn Predictor>> {
        let (line, part) = known.journey?;
        // As far as this journey leads, whoever drives and however long the stops.
        let far = Time::ZERO + (known.horizon - Time::ZERO) * 2;
        let earlier: Vec<Course> = (1..=u64::from(self.journeys))
            .map(|number| {
                // A seed of its own, or an earlier journey would be this one.
                let seed = RandomStream::new(known.seed, "train/earlier", number).next_u64();
                Course::new(line, Duration::ZERO, far, seed, part).without_measurements()
            })
            .collect();
        let stream = RandomStream::new(known.seed, "train/position", 0);
        Some(Box::new(OutageMap::new(line, &earlier, self.clone(), stream)))
    }
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

/// Predicts from the record of earlier journeys, by where the train is and how fast it goes.
#[derive(Clone, Debug)]
pub struct OutageMap {
    config: OutageMapConfig,
    record: Record,
    stream: RandomStream,
    /// The outage of the map that comes next.
    next: usize,
    /// Where the train stood last: that stop is not ahead, whatever the position reads.
    stood: f64,
    /// Error of the positions read, m: one for each approach, for it hardly changes within seconds.
    off: f64,
    forecasts: VecDeque<Forecast>,
}

impl OutageMap {
    /// The map of the journeys `earlier` over `line`, at the beginning of another. Errors draw from `stream`.
    pub fn new(line: &Line, earlier: &[Course], config: OutageMapConfig, mut stream: RandomStream) -> Self {
        let record = Record::new(line, earlier, &config, &mut stream);
        let off = config.position_error.0 * stream.standard_normal();
        Self { stood: record.start, config, record, stream, next: 0, off, forecasts: VecDeque::new() }
    }

    /// The outages on the map.
    pub fn zones(&self) -> &[RecordedOutage] {
        &self.record.zones
    }
}

impl Predictor for OutageMap {
    fn observes(&self) -> bool {
        true
    }

    /// One prediction for each outage of the map, as soon as it is near enough in time and the train moves.
    fn observe(&mut self, now: Time, measured: &Measurement) {
        let Some(zone) = self.record.zones.get(self.next) else { return };
        if measured.speed <= 0.0 {
            self.stood = measured.position;
            return;
        }
        let position = measured.position + self.off;
        let after = |place| self.record.seconds(position, place, measured.speed, self.stood);
        let (from, to) = (after(zone.from), after(zone.to));
        if from > self.config.ahead.as_secs_f64() {
            return;
        }
        let start = now + Duration::from_secs_f64(from);
        let end = (now + Duration::from_secs_f64(to)).max(start);
        self.next += 1;
        self.off = self.config.position_error.0 * self.stream.standard_normal();
        self.forecasts.push_back(Forecast::Outage { start, end: Some(end) });
    }

    fn poll(&mut self, _: Time) -> Option<Forecast> {
        self.forecasts.pop_front()
    }
}

/// What the earlier journeys left.
#[derive(Clone, Debug)]
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
        // One more for the rest of the division, one more to interpolate to.
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
        let mut error = || config.position_error.0 * stream.standard_normal();
        // Where each outage of each journey began and ended, as recorded.
        let spans: Vec<Vec<(f64, f64)>> = earlier
            .iter()
            .map(|course| {
                let place = |time: Time| course.motion().at(time).0;
                // What never ended, or began with the journey, has no beginning or end to be met again.
                let whole =
                    course.silences().into_iter().filter(|span| span.0 > Time::ZERO && span.1 < Time::MAX);
                let recorded = whole.map(|(from, to)| (place(from) + error(), place(to) + error()));
                // Errors of position may have turned it round.
                recorded.map(|(from, to)| (from, to.max(from))).collect()
            })
            .collect();
        // On how many journeys each cell lies in or near an outage.
        let cell = |position: f64| ((position - self.start) / CELL).clamp(0.0, (cells - 1) as f64) as usize;
        let mut met = vec![0u32; cells];
        for spans in &spans {
            let mut here = vec![false; cells];
            for (from, to) in spans {
                here[cell(from - config.spread.0 / 2.0)..=cell(to + config.spread.0 / 2.0)].fill(true);
            }
            for (count, here) in met.iter_mut().zip(here) {
                *count += u32::from(here);
            }
        }
        // Met on one journey at least, whatever the share.
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
            let (low, high) = (low - config.spread.0 / 2.0, high + config.spread.0 / 2.0);
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

    /// How long the train takes from `from` to `to` by the record, at its present speed, with the stops on
    /// the way that lie beyond `stood`, s.
    fn seconds(&self, from: f64, to: f64, speed: f64, stood: f64) -> f64 {
        if to <= from {
            return 0.0;
        }
        let driving = self.driving_at(to) - self.driving_at(from);
        let recorded = self.speed_at(from);
        let scale =
            if speed > SLOW && recorded > SLOW { (recorded / speed).clamp(SCALES.0, SCALES.1) } else { 1.0 };
        // A metre of tolerance: the stop that the train has left is not ahead.
        let ahead = self.stops.iter().filter(|(at, _)| *at > stood + 1.0 && *at < to);
        driving * scale + ahead.map(|(_, standing)| standing).sum::<f64>()
    }

    /// Recorded driving time to `position`, s.
    fn driving_at(&self, position: f64) -> f64 {
        let place = ((position - self.start) / CELL).clamp(0.0, (self.driving.len() - 1) as f64);
        // The last cell has no next one to interpolate to.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Places 10 m apart: 10 m/s over the first 20 m, then 5 m/s; a stop of 30 s at 15 m.
    fn record() -> Record {
        Record {
            start: 0.0,
            driving: vec![0.0, 1.0, 2.0, 4.0, 6.0],
            stops: vec![(15.0, 30.0)],
            zones: Vec::new(),
        }
    }

    #[test]
    fn driving_time_is_interpolated() {
        let record = record();
        assert_eq!(record.driving_at(5.0), 0.5);
        assert_eq!(record.driving_at(20.0), 2.0);
        // 2 s + half of 2 s.
        assert_eq!(record.driving_at(25.0), 3.0);
        // Off the record: its ends.
        assert_eq!((record.driving_at(-10.0), record.driving_at(1000.0)), (0.0, 6.0));
        let moved = Record { start: 100.0, ..record };
        assert_eq!(moved.driving_at(125.0), 3.0);
    }

    /// 10 m about 10 m take 1.5 - 0.5 = 1 s; about 30 m 5 - 3 = 2 s; about 20 m 3 - 1.5 = 1.5 s; before it
    /// begins none.
    #[test]
    fn speed_is_that_over_ten_metres() {
        let record = record();
        assert_eq!((record.speed_at(10.0), record.speed_at(30.0)), (10.0, 5.0));
        assert!((record.speed_at(20.0) - 10.0 / 1.5).abs() < 1e-12);
        assert_eq!(record.speed_at(-20.0), 0.0);
    }

    /// From 10 m to 25 m: 3 - 1 = 2 s of driving, recorded at 10 m/s.
    #[test]
    fn recorded_time_is_scaled_by_speed() {
        let without = Record { stops: Vec::new(), ..record() };
        let seconds = |speed| without.seconds(10.0, 25.0, speed, 0.0);
        // As fast, 10/12.5 of the time, and no less than half.
        assert_eq!((seconds(10.0), seconds(12.5), seconds(40.0)), (2.0, 1.6, 1.0));
        // At 8 m/s 10/8 of the time; at 5 m/s and less the speed says nothing.
        assert_eq!((seconds(8.0), seconds(5.0), seconds(1.0)), (2.5, 2.0, 2.0));
        // Recorded at 20 m/s (10 m in 0.5 s), now 8 m/s: 2.5 times, held at twice the 0.5 s.
        let fast = Record { driving: vec![0.0, 0.5, 1.0, 1.5, 2.0], ..without.clone() };
        assert_eq!(fast.seconds(10.0, 20.0, 8.0, 0.0), 1.0);
        // Recorded at 5 m/s: that says nothing either. From 30 m to 40 m: 2 s.
        assert_eq!(without.seconds(30.0, 40.0, 20.0, 0.0), 2.0);
        // There already.
        assert_eq!(
            (without.seconds(25.0, 25.0, 10.0, 0.0), without.seconds(30.0, 25.0, 10.0, 0.0)),
            (0.0, 0.0)
        );
    }

    /// The stop at 15 m counts (30 s) while it lies ahead of where the train stood, by more than 1 m, and
    /// before the place.
    #[test]
    fn stops_on_the_way_count() {
        let seconds = |to, stood| record().seconds(10.0, to, 10.0, stood);
        assert_eq!((seconds(25.0, 0.0), seconds(25.0, 13.9)), (32.0, 32.0));
        assert_eq!((seconds(25.0, 14.0), seconds(25.0, 15.0)), (2.0, 2.0));
        // Just to the stop: 1.5 - 1 s.
        assert_eq!((seconds(15.0, 0.0), seconds(15.1, 0.0) > 30.0), (0.5, true));
        // The stop is not scaled: at 40 m/s half of 2 s, and 30 s.
        assert_eq!(record().seconds(10.0, 25.0, 40.0, 0.0), 31.0);
    }

    #[test]
    fn medians_by_hand() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!((median(vec![7.0]), median(Vec::new())), (7.0, 0.0));
        assert_eq!(median(vec![5.0, 4.0, 3.0, 2.0, 9.0]), 4.0);
        assert_eq!(median(vec![6.0, 5.0, 4.0, 3.0, 2.0, 9.0, 8.0, 7.0]), 5.5);
    }

    /// From 10 m to 25 m: 3 - 1 = 2 s at the recorded speed, and 4 s to 35 m. It is told from 2 s ahead on, once.
    #[test]
    fn an_outage_is_told_as_soon_as_it_is_near_enough() {
        for (millis, told) in [(2000, true), (1999, false)] {
            let ahead = Duration::from_millis(millis);
            let config = OutageMapConfig { ahead, position_error: Length(0.0), ..OutageMapConfig::default() };
            let zones = vec![RecordedOutage { from: 25.0, to: 35.0, journeys: 1 }];
            let mut map = OutageMap {
                config,
                record: Record { stops: Vec::new(), zones, ..record() },
                stream: RandomStream::new(1, "map", 0),
                next: 0,
                stood: 0.0,
                off: 0.0,
                forecasts: VecDeque::new(),
            };
            let time = Time::from_millis(5000);
            let measured =
                Measurement { time, position: 10.0, speed: 10.0, levels: Vec::new(), serving: None };
            assert!(map.observes());
            map.observe(time, &Measurement { speed: 0.0, ..measured.clone() });
            assert_eq!((map.poll(time), map.stood), (None, 10.0), "a train that stands");
            map.observe(time, &measured);
            let start = Time::from_millis(7000);
            let expected = Forecast::Outage { start, end: Some(Time::from_millis(9000)) };
            assert_eq!(map.poll(time), told.then_some(expected));
            map.observe(time, &measured);
            assert_eq!(map.poll(time), None);
        }
    }
}
