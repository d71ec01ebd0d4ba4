//! What a map must say for its line to be one.

use super::{Line, Signal};
use cogtcp_units::{Check, Duration, Length};
use std::collections::BTreeSet;

/// The longest line, m.
const LONGEST_LINE: f64 = 5_000_000.0;
/// The least distance of two stations, m.
const BETWEEN_STATIONS: f64 = 100.0;
/// The weakest and the strongest level, dBm.
const LEVELS: (f64, f64) = (-200.0, 90.0);
/// The most stations, and the most base stations.
const MOST_STATIONS: usize = 10_000;
/// How often a radio may measure.
const INTERVALS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_secs(10));

impl Line {
    /// Refuses what is no line: stations out of order or nearer than 100 m, speeds, levels and ranges that do
    /// not occur, spans beyond `longest`. A field is named by its way from the root, as `station.2.at`.
    pub fn check(&self, longest: Duration, check: &mut impl Check) {
        check.name("name", &self.name);
        check.range("train.top_speed", self.train.top_speed, (0.1, 500.0), " m/s");
        check.range("train.acceleration", self.train.acceleration, (0.01, 10.0), " m/s^2");
        check.range("train.braking", self.train.braking, (0.01, 10.0), " m/s^2");
        check.range("train.slack", self.train.slack, (0.0, 0.9), "");
        self.check_stations(longest, check);
        for (i, limit) in self.limits.iter().enumerate() {
            stretch(&format!("limit.{i}"), limit.from, limit.to, check);
            check.range(&format!("limit.{i}.speed"), limit.speed, (0.1, 500.0), " m/s");
        }
        for (i, tunnel) in self.tunnels.iter().enumerate() {
            stretch(&format!("tunnel.{i}"), tunnel.from, tunnel.to, check);
            check.range(&format!("tunnel.{i}.loss"), tunnel.loss, (0.0, 300.0), " dB");
            check.range(&format!("tunnel.{i}.portal"), tunnel.portal, (0.0, LONGEST_LINE), " m");
        }
        for (i, border) in self.borders.iter().enumerate() {
            place(&format!("border.{i}.at"), border.at, check);
            border.outage.check(&format!("border.{i}.outage"), longest, check);
        }
        self.check_base_stations(check);
        self.signal.check(longest, check);
    }

    fn check_stations(&self, longest: Duration, check: &mut impl Check) {
        if !(2..=MOST_STATIONS).contains(&self.stations.len()) {
            let message = format!("the line has {} stations", self.stations.len());
            check.error("station", message, format!("write 2 to {MOST_STATIONS}"));
        }
        for (i, station) in self.stations.iter().enumerate() {
            check.name(&format!("station.{i}.name"), &station.name);
            place(&format!("station.{i}.at"), station.at, check);
            if let Some(before) = i.checked_sub(1).map(|i| &self.stations[i])
                && (station.at - before.at < BETWEEN_STATIONS)
            {
                let message = format!(
                    "\"{}\" at \"{}\" is not {BETWEEN_STATIONS} m beyond \"{}\" at \"{}\"",
                    station.name,
                    Length(station.at),
                    before.name,
                    Length(before.at)
                );
                let remedy = "write the stations in the order of the journey".to_owned();
                check.error(&format!("station.{i}.at"), message, remedy);
            }
            if let Some(stop) = station.stop {
                stop.check(&format!("station.{i}.stop"), longest, check);
            }
        }
    }

    fn check_base_stations(&self, check: &mut impl Check) {
        if !(1..=MOST_STATIONS).contains(&self.base_stations.len()) {
            let message = format!("the line has {} base stations", self.base_stations.len());
            check.error("base_station", message, format!("write 1 to {MOST_STATIONS}"));
        }
        let mut names = BTreeSet::new();
        for (i, station) in self.base_stations.iter().enumerate() {
            let name = format!("base_station.{i}.name");
            check.name(&name, &station.name);
            if !names.insert(&station.name) {
                let message = format!("there is another base station \"{}\"", station.name);
                check.error(&name, message, "give each base station a name of its own".to_owned());
            }
            place(&format!("base_station.{i}.at"), station.at, check);
            check.range(&format!("base_station.{i}.offset"), station.offset, (0.0, LONGEST_LINE), " m");
            check.range(&format!("base_station.{i}.power"), station.power, LEVELS, " dBm");
        }
    }
}

impl Signal {
    fn check(&self, longest: Duration, check: &mut impl Check) {
        check.range("signal.path_loss", self.path_loss, (0.0, 300.0), " dB");
        check.range("signal.exponent", self.exponent, (1.0, 10.0), "");
        check.range("signal.shadowing", self.shadowing, (0.0, 30.0), " dB");
        check.range("signal.correlation", self.correlation, (1.0, 100_000.0), " m");
        check.range("signal.recovery", self.recovery, (0.0, 100.0), " dB");
        check.range("signal.handover_margin", self.handover_margin, (0.1, 100.0), " dB");
        check.range("signal.threshold", self.threshold, LEVELS, " dBm");
        self.handover.check("signal.handover", longest, check);
        let (least, most) = INTERVALS;
        if !(least..=most).contains(&self.interval) {
            let message = format!("\"{}\" is out of range", self.interval);
            check.error("signal.interval", message, format!("write \"{least}\" to \"{most}\""));
        }
        let mut before = f64::NEG_INFINITY;
        for (i, step) in self.rates.iter().enumerate() {
            let above = format!("signal.rates.{i}.above");
            check.range(&above, step.above, LEVELS, " dBm");
            if step.above <= before {
                let message = "the level is not above the previous rate's level".to_owned();
                check.error(&above, message, "write the rates from the lowest level up".to_owned());
            }
            before = step.above;
            check.rate(&format!("signal.rates.{i}.rate"), step.rate);
        }
    }
}

fn place(field: &str, place: f64, check: &mut impl Check) {
    check.range(field, place, (-LONGEST_LINE, LONGEST_LINE), " m");
}

fn stretch(field: &str, from: f64, to: f64, check: &mut impl Check) {
    place(&format!("{field}.from"), from, check);
    place(&format!("{field}.to"), to, check);
    if from >= to {
        let (from, to) = (Length(from), Length(to));
        let message = format!("it ends at \"{to}\", not beyond its beginning at \"{from}\"");
        let remedy = "write places along the line, the smaller one first".to_owned();
        check.error(&format!("{field}.to"), message, remedy);
    }
}
