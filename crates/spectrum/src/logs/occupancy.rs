//! Measured occupancy as CSV: a header `time,band,busy`, then one sample per line.
//!
//! `time` in decimal seconds (Unix times are fine, read to the nanosecond), `band` a whole number (an index or a
//! frequency), `busy` 1 or 0 (or `true`, `false`). A band keeps the state of a sample until its next one; after the last
//! sample of the file the measurement is over.

use super::{LogError, LogReason, Place, seconds};
use crate::propagation::Position;
use crate::{Intervals, OnInterval, PrimaryUser, PuActivity, Reach};
use cogtcp_units::{Duration, Time};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The header of the file.
pub const HEADER: &str = "time,band,busy";

/// A measurement of several bands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Occupancy {
    /// First sample.
    pub start: Time,
    /// Last sample.
    pub end: Time,
    /// The busy times of each band, by its number in the file, in the file's time.
    pub bands: BTreeMap<u32, Intervals>,
}

impl Occupancy {
    /// One primary user per band, in the order of the bands' numbers, heard everywhere, with time zero at the first
    /// sample. Band k of the activity is the k-th number of the file.
    pub fn activity(&self) -> PuActivity {
        let users = (1..)
            .zip(&self.bands)
            .map(|(band, (id, busy))| PrimaryUser {
                id: *id,
                position: Position::default(),
                band,
                reach: Reach::Range(f64::INFINITY),
                activity: busy.since(self.start),
            })
            .collect();
        PuActivity { users }
    }

    /// The occupancy of the bands of `activity` in [0, end): a band is busy while any of its PUs is ON. What an ideal
    /// measurement at a place that hears all PUs would see.
    pub fn of(activity: &PuActivity, end: Time) -> Self {
        let mut bands: BTreeMap<u32, Vec<OnInterval>> = BTreeMap::new();
        for user in &activity.users {
            bands.entry(user.band).or_default().extend(user.activity.as_slice());
        }
        let bands = bands.into_iter().map(|(band, on)| (band, union(on, end))).collect();
        Self { start: Time::ZERO, end, bands }
    }

    /// Length of the measurement.
    pub fn duration(&self) -> Duration {
        self.end.saturating_since(self.start)
    }
}

/// Reads measured occupancy. `file` names it in errors.
pub fn read(file: &str, text: &str) -> Result<Occupancy, LogError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (Place { file, line: index + 1 }, line.trim()))
        .filter(|(_, line)| !line.is_empty());
    let first = lines.next();
    let Some((place, header)) = first else {
        return Err(Place { file, line: 1 }.error(LogReason::Empty { expected: HEADER }));
    };
    let names: Vec<String> = header.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
    if names != ["time", "band", "busy"] {
        let (field, text, rule) = ("the header", super::shorten(header), HEADER);
        return Err(place.error(LogReason::Field { field, text, rule }));
    }

    let mut states: BTreeMap<u32, Band> = BTreeMap::new();
    let mut range: Option<(Time, Time)> = None;
    let mut last = place;
    for (place, line) in lines {
        last = place;
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let [time, band, busy] = fields[..] else {
            let expected = "3 (time, band, busy)";
            return Err(place.error(LogReason::Fields { expected, found: fields.len() }));
        };
        let at = place.seconds("time", time)?;
        let band = place.integer("band", band, 0)?;
        let is_busy = match busy {
            "1" | "true" | "True" => Some(true),
            "0" | "false" | "False" => Some(false),
            _ => None,
        };
        let is_busy = place.field("busy", busy, "1 or 0", is_busy)?;
        range = Some(range.map_or((at, at), |(start, end)| (start.min(at), end.max(at))));
        let state = states.entry(band).or_default();
        if at < state.last {
            return Err(place.error(LogReason::Unsorted { band, time: seconds(at) }));
        }
        state.sample(at, is_busy).map_err(|error| place.error(LogReason::Timeline { id: band, error }))?;
    }
    let Some((start, end)) = range else {
        return Err(last.error(LogReason::Truncated { expected: "a sample: time,band,busy".to_string() }));
    };
    let mut bands = BTreeMap::new();
    for (id, mut state) in states {
        state.sample(end, false).map_err(|error| last.error(LogReason::Timeline { id, error }))?;
        bands.insert(id, state.busy);
    }
    Ok(Occupancy { start, end, bands })
}

/// Writes one sample per change of state of each band, and one for its first and its last state.
pub fn write(occupancy: &Occupancy) -> String {
    let mut samples = Vec::new();
    for (band, busy) in &occupancy.bands {
        let intervals = busy.as_slice();
        if intervals.first().is_none_or(|first| first.arrival > occupancy.start) {
            samples.push((occupancy.start, *band, false));
        }
        for on in intervals {
            samples.push((on.arrival, *band, true));
            samples.push((on.departure, *band, false));
        }
        if intervals.last().is_none_or(|last| last.departure < occupancy.end) {
            samples.push((occupancy.end, *band, false));
        }
    }
    // Stable: samples of one band keep their order where one interval touches the next.
    samples.sort_by_key(|(at, band, _)| (*at, *band));
    let mut text = format!("{HEADER}\n");
    for (at, band, busy) in samples {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{},{band},{}", seconds(at), u8::from(busy));
    }
    text
}

/// One timeline of many ON intervals: those that overlap or touch become one; what lies after `end` is cut off.
fn union(mut intervals: Vec<OnInterval>, end: Time) -> Intervals {
    intervals.sort_by_key(|on| on.arrival);
    let mut merged: Vec<OnInterval> = Vec::new();
    for OnInterval { arrival, departure } in intervals {
        let departure = departure.min(end);
        match merged.last_mut() {
            Some(last) if arrival <= last.departure => last.departure = last.departure.max(departure),
            _ if arrival < departure => merged.push(OnInterval { arrival, departure }),
            _ => {}
        }
    }
    let timeline = Intervals::new(merged);
    debug_assert!(timeline.is_ok(), "merged intervals are in order and apart: {timeline:?}");
    timeline.unwrap_or_default()
}

/// One band as its samples come in.
#[derive(Default)]
struct Band {
    last: Time,
    busy_since: Option<Time>,
    busy: Intervals,
}

impl Band {
    fn sample(&mut self, at: Time, is_busy: bool) -> Result<(), crate::IntervalsError> {
        self.last = at;
        match (self.busy_since, is_busy) {
            (None, true) => self.busy_since = Some(at),
            // Busy and idle in one sample's instant: never busy.
            (Some(since), false) if since == at => self.busy_since = None,
            (Some(arrival), false) => {
                self.busy_since = None;
                self.busy.push(OnInterval { arrival, departure: at })?;
            }
            _ => {}
        }
        Ok(())
    }
}
