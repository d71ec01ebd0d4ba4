//! A train's journey: its map file, and numbers that make sense.

use super::Findings;
use super::radios::check_bounds;
use crate::files::{beside, read_named};
use crate::limits::{LARGEST_MAP, LONGEST, MOST_MEASUREMENTS, MOST_STATIONS};
use crate::source::Source;
use crate::tree::Path;
use crate::{Journey, JourneyMap, JourneyRate, JourneySpec, MapSignal, RunSpec, ScenarioError};
use cogtcp_spectrum::journey::{
    BaseStation, Border, Line, RateStep, Shadowing, Signal, SpeedLimit, Station, TrainDynamics, Tunnel,
};
use cogtcp_units::{Duration, Length, Power};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The longest line, m.
const LONGEST_LINE: f64 = 5_000_000.0;
/// The least distance of two stations, m.
const BETWEEN_STATIONS: f64 = 100.0;
/// The strongest base station, dBm.
const STRONGEST: f64 = 90.0;

/// The journey of a radio, its map read from where `source` is.
pub(super) fn journey(
    journey: &Journey,
    source: &Source,
    path: &Path,
    run: &RunSpec,
    findings: &mut Findings,
) -> Option<JourneySpec> {
    findings.check_span(&path.key("start"), journey.start, true, LONGEST);
    let path = path.key("map");
    let place = beside(source, &journey.map);
    let name = place.display().to_string();
    let line = read(&place, &name).and_then(|text| {
        JourneyMap::parse(&text, &name).and_then(|map| map.line()).map_err(|error| {
            let more = match error.more.len() {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            (format!("the map has an error: {error}{more}"), String::new())
        })
    });
    let mut line = match line {
        Ok(line) => line,
        Err((message, remedy)) => {
            findings.error(&path, message, remedy);
            return None;
        }
    };
    if journey.rate == JourneyRate::Own {
        line.signal.rates.clear();
    }
    let measurements = run.duration.as_nanos() / line.signal.interval.as_nanos().max(1);
    if measurements > MOST_MEASUREMENTS {
        let message = format!(
            "the map's radio would measure {measurements} times in the run; at most {MOST_MEASUREMENTS} are allowed"
        );
        findings.error(
            &path,
            message,
            "write a longer signal.interval in the map, or a shorter run.duration",
        );
    }
    Some(JourneySpec { line: Arc::new(line), start: journey.start })
}

fn read(place: &std::path::Path, name: &str) -> Result<String, (String, String)> {
    read_named(place, LARGEST_MAP).map_err(|why| {
        let remedy = match why.remedy {
            "" => "check the path: it is relative to the scenario file",
            remedy => remedy,
        };
        (format!("\"{name}\": {}", why.message), remedy.to_owned())
    })
}

impl JourneyMap {
    /// The line that the map describes, or everything that was found wrong with it.
    pub fn line(&self) -> Result<Line, ScenarioError> {
        let mut findings = Findings::default();
        self.check(&mut findings);
        match ScenarioError::from_all(Findings::place(findings.errors, &self.source)) {
            Some(error) => Err(error),
            None => Ok(self.build()),
        }
    }

    fn check(&self, findings: &mut Findings) {
        findings.check_name(&Path::of("name"), &self.name);
        let path = Path::of("train");
        check_number(&path.key("top_speed"), self.train.top_speed.0, (0.1, 500.0), " m/s", findings);
        check_number(&path.key("acceleration"), self.train.acceleration.0, (0.01, 10.0), " m/s^2", findings);
        check_number(&path.key("braking"), self.train.braking.0, (0.01, 10.0), " m/s^2", findings);
        check_number(&path.key("slack"), self.train.slack.get(), (0.0, 0.9), "", findings);
        self.check_stations(findings);
        let ranges =
            self.limit.iter().enumerate().map(|(i, it)| (Path::of("limit").index(i), it.from, it.to));
        let tunnels =
            self.tunnel.iter().enumerate().map(|(i, it)| (Path::of("tunnel").index(i), it.from, it.to));
        for (path, from, to) in ranges.chain(tunnels) {
            check_place(&path.key("from"), from, findings);
            check_place(&path.key("to"), to, findings);
            if from.0 >= to.0 {
                let message = format!("it ends at \"{to}\", not beyond its beginning at \"{from}\"");
                findings.error(
                    &path.key("to"),
                    message,
                    "write places along the line, the smaller one first",
                );
            }
        }
        for (i, limit) in self.limit.iter().enumerate() {
            check_number(
                &Path::of("limit").index(i).key("speed"),
                limit.speed.0,
                (0.1, 500.0),
                " m/s",
                findings,
            );
        }
        for (i, tunnel) in self.tunnel.iter().enumerate() {
            let path = Path::of("tunnel").index(i);
            check_number(&path.key("loss"), tunnel.loss.0, (0.0, 300.0), " dB", findings);
            check_number(&path.key("portal"), tunnel.portal.0, (0.0, LONGEST_LINE), " m", findings);
        }
        for (i, border) in self.border.iter().enumerate() {
            let path = Path::of("border").index(i);
            check_place(&path.key("at"), border.at, findings);
            check_bounds(border.outage, &path.key("outage"), findings);
        }
        self.check_base_stations(findings);
        check_signal(&self.signal, findings);
    }

    fn check_stations(&self, findings: &mut Findings) {
        let path = Path::of("station");
        if !(2..=MOST_STATIONS).contains(&self.station.len()) {
            let message = format!("the line has {} stations", self.station.len());
            findings.error(&path, message, format!("write 2 to {MOST_STATIONS}"));
        }
        for (i, station) in self.station.iter().enumerate() {
            let path = path.index(i);
            findings.check_name(&path.key("name"), &station.name);
            check_place(&path.key("at"), station.at, findings);
            if let Some(before) = i.checked_sub(1).map(|i| &self.station[i])
                && (station.at.0 - before.at.0 < BETWEEN_STATIONS)
            {
                let message = format!(
                    "\"{}\" at \"{}\" is not {BETWEEN_STATIONS} m beyond \"{}\" at \"{}\"",
                    station.name, station.at, before.name, before.at
                );
                findings.error(&path.key("at"), message, "write the stations in the order of the journey");
            }
            if let Some(stop) = station.stop {
                check_bounds(stop, &path.key("stop"), findings);
            }
        }
    }

    fn check_base_stations(&self, findings: &mut Findings) {
        let path = Path::of("base_station");
        if !(1..=MOST_STATIONS).contains(&self.base_station.len()) {
            let message = format!("the line has {} base stations", self.base_station.len());
            findings.error(&path, message, format!("write 1 to {MOST_STATIONS}"));
        }
        let mut names = BTreeSet::new();
        for (i, station) in self.base_station.iter().enumerate() {
            let path = path.index(i);
            findings.check_name(&path.key("name"), &station.name);
            if !names.insert(&station.name) {
                let message = format!("there is another base station \"{}\"", station.name);
                findings.error(&path.key("name"), message, "give each base station a name of its own");
            }
            check_place(&path.key("at"), station.at, findings);
            check_number(&path.key("offset"), station.offset.0, (0.0, LONGEST_LINE), " m", findings);
            check_level(&path.key("power"), station.power, findings);
        }
    }

    fn build(&self) -> Line {
        let signal = &self.signal;
        Line {
            name: self.name.clone(),
            train: TrainDynamics {
                top_speed: self.train.top_speed.0,
                acceleration: self.train.acceleration.0,
                braking: self.train.braking.0,
                slack: self.train.slack.get(),
            },
            stations: self
                .station
                .iter()
                .map(|it| Station { name: it.name.clone(), at: it.at.0, stop: it.stop })
                .collect(),
            limits: self
                .limit
                .iter()
                .map(|it| SpeedLimit { from: it.from.0, to: it.to.0, speed: it.speed.0 })
                .collect(),
            base_stations: self
                .base_station
                .iter()
                .map(|it| BaseStation {
                    name: it.name.clone(),
                    at: it.at.0,
                    offset: it.offset.0,
                    power: it.power.dbm(),
                })
                .collect(),
            tunnels: self
                .tunnel
                .iter()
                .map(|it| Tunnel {
                    name: it.name.clone(),
                    from: it.from.0,
                    to: it.to.0,
                    loss: it.loss.0,
                    portal: it.portal.0,
                })
                .collect(),
            borders: self.border.iter().map(|it| Border { at: it.at.0, outage: it.outage }).collect(),
            signal: Signal {
                loss_at_1km: signal.path_loss.0,
                exponent: signal.exponent,
                shadowing: Shadowing {
                    deviation: signal.shadowing.0,
                    correlation: signal.correlation.0,
                    terrain: signal.terrain,
                    terrain_seed: signal.terrain_seed.get(),
                },
                threshold: signal.threshold.dbm(),
                recovery: signal.recovery.0,
                handover_margin: signal.handover_margin.0,
                handover: signal.handover,
                interval: signal.interval,
                rates: signal
                    .rates
                    .iter()
                    .map(|it| RateStep { above: it.above.dbm(), rate: it.rate })
                    .collect(),
            },
        }
    }
}

fn check_signal(signal: &MapSignal, findings: &mut Findings) {
    let path = Path::of("signal");
    check_number(&path.key("path_loss"), signal.path_loss.0, (0.0, 300.0), " dB", findings);
    check_number(&path.key("exponent"), signal.exponent, (1.0, 10.0), "", findings);
    check_number(&path.key("shadowing"), signal.shadowing.0, (0.0, 30.0), " dB", findings);
    check_number(&path.key("correlation"), signal.correlation.0, (1.0, 100_000.0), " m", findings);
    check_number(&path.key("recovery"), signal.recovery.0, (0.0, 100.0), " dB", findings);
    check_number(&path.key("handover_margin"), signal.handover_margin.0, (0.1, 100.0), " dB", findings);
    check_level(&path.key("threshold"), signal.threshold, findings);
    check_bounds(signal.handover, &path.key("handover"), findings);
    let (least, most) = (Duration::from_millis(1), Duration::from_secs(10));
    if !(least..=most).contains(&signal.interval) {
        let message = format!("\"{}\" is out of range", signal.interval);
        findings.error(&path.key("interval"), message, format!("write \"{least}\" to \"{most}\""));
    }
    let mut before = f64::NEG_INFINITY;
    for (i, step) in signal.rates.iter().enumerate() {
        let path = path.key("rates").index(i);
        check_level(&path.key("above"), step.above, findings);
        if step.above.dbm() <= before {
            let message = "the level is not above that of the rate before";
            findings.error(&path.key("above"), message, "write the rates from the lowest level up");
        }
        before = step.above.dbm();
        findings.check_rate(&path.key("rate"), step.rate);
    }
}

fn check_place(path: &Path, place: Length, findings: &mut Findings) {
    check_number(path, place.0, (-LONGEST_LINE, LONGEST_LINE), " m", findings);
}

fn check_level(path: &Path, level: Power, findings: &mut Findings) {
    check_number(path, level.dbm(), (-200.0, STRONGEST), " dBm", findings);
}

fn check_number(path: &Path, value: f64, (low, high): (f64, f64), unit: &str, findings: &mut Findings) {
    if !(low..=high).contains(&value) {
        let message = format!("{value}{unit} is out of range");
        findings.error(path, message, format!("write {low}{unit} to {high}{unit}"));
    }
}
