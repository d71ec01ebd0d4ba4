//! Measured occupancy as CSV: a header, then samples.
//!
//! - Long, `time,band,busy`: one sample per line. `time` in decimal seconds (Unix times are fine, read to the
//!   nanosecond), `band` a whole number (an index or a frequency), `busy` 1 or 0 (or `true`, `false`).
//! - Long, `time,band,dbm`: a power in place of the state; [`Reading::threshold`] makes it a state.
//! - Wide, `time` and a column for each band: a line has the state, or the power, of every band.
//!
//! A time may also be one of ISO 8601 (`2024-01-31T12:00:00.5Z`). Semicolons may stand for the commas, as in
//! exports of spreadsheets; numbers then may have a decimal comma.
//!
//! A band keeps the state of a sample until its next one; after the last sample of the file the measurement
//! is over.

mod moment;
mod reading;

pub use reading::Reading;

use reading::{Band, Spacing};

use super::{FileLine, LogError, LogReason};
use crate::propagation::Position;
use crate::{Intervals, OnInterval, PrimaryUser, PuActivity, Reach};
use cogtcp_units::{Duration, Time, write_seconds};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The header of the file.
pub const HEADER: &str = "time,band,busy";

/// The headers that are read.
const HEADERS: &str = "time,band,busy, or time,band,dbm, or time and a column for each band";

/// A measurement of several bands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Occupancy {
    /// First sample.
    pub start: Time,
    /// Last sample.
    pub end: Time,
    /// The busy times of each band, by its number in the file, in the file's time.
    pub bands: BTreeMap<u32, Intervals>,
    /// The distance of samples that come at regular times. What is shorter the file cannot show.
    pub spacing: Option<Duration>,
}

impl Occupancy {
    /// One primary user per band, in the order of the bands' numbers, heard everywhere, with time zero at the
    /// first sample. Band k of the activity is the k-th number of the file.
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

    /// The occupancy of the bands of `activity` in [0, end): a band is busy while any of its PUs is ON. What
    /// an ideal measurement at a place that hears all PUs would see.
    pub fn of(activity: &PuActivity, end: Time) -> Self {
        let mut bands: BTreeMap<u32, Vec<OnInterval>> = BTreeMap::new();
        for user in &activity.users {
            bands.entry(user.band).or_default().extend(user.activity.as_slice());
        }
        let bands = bands.into_iter().map(|(band, on)| (band, union(on, end))).collect();
        Self { start: Time::ZERO, end, bands, spacing: None }
    }

    /// Length of the measurement.
    pub fn duration(&self) -> Duration {
        self.end.saturating_since(self.start)
    }
}

/// Reads measured occupancy of 1 and 0. `file` names it in errors.
pub fn read(file: &str, text: &str) -> Result<Occupancy, LogError> {
    read_as(file, text, &Reading::default())
}

/// Reads a measurement. `file` names it in errors.
///
/// # Errors
///
/// The first line that is wrong: its fields, a time before an earlier sample of the band, a gap in samples at
/// regular times.
pub fn read_as(file: &str, text: &str, reading: &Reading) -> Result<Occupancy, LogError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (FileLine { file, line: index + 1 }, line.trim()))
        .filter(|(_, line)| !line.is_empty());
    let Some((place, header)) = lines.next() else {
        return Err(FileLine { file, line: 1 }.error(LogReason::Empty { expected: HEADER }));
    };
    let header = Line::of(header, header.contains(';'));
    let layout = Layout::of(place, &header.text, reading)?;
    let mut bands: BTreeMap<u32, Band> = match &layout {
        Layout::Long { .. } => BTreeMap::new(),
        Layout::Wide(ids) => ids.iter().map(|id| (*id, Band::default())).collect(),
    };
    let mut spacing = Spacing::default();
    let mut range: Option<(Time, Time)> = None;
    let mut last = place;
    for (place, line) in lines {
        last = place;
        let line = Line::of(line, header.has_semicolons);
        let fields: Vec<&str> = line.text.split(',').map(str::trim).collect();
        let (at, samples) = layout.samples(place, &fields)?;
        // In a long file bands may follow one after the other: the first line need not be the earliest.
        range = Some(range.map_or((at, at), |(start, end)| (start.min(at), end.max(at))));
        for (number, (id, value)) in samples.into_iter().enumerate() {
            let band = bands.entry(id).or_default();
            // Two samples of one time are read in their order: the later one holds.
            if band.last.is_some_and(|last| at < last) {
                return Err(place.error(LogReason::Unsorted { band: id, time: write_seconds(at) }));
            }
            // All columns of a line have its time.
            if number == 0 {
                spacing.record(band.last, at, place.line);
            }
            let is_busy = is_busy(place, value, band.is_busy(), reading)?;
            band.sample(at, is_busy).map_err(|error| place.error(LogReason::Timeline { id, error }))?;
        }
    }
    let Some((start, end)) = range else {
        return Err(last.error(LogReason::Truncated { expected: layout.example().to_string() }));
    };
    // A log of changes has no regular samples; powers and columns are samples.
    let is_sampled = reading.threshold.is_some() || matches!(layout, Layout::Wide(_));
    if let Some((gap, line, usual)) = spacing.gap().filter(|_| is_sampled) {
        return Err(FileLine { file, line }.error(LogReason::Gap { gap, usual }));
    }
    let finish = |(id, band): (u32, Band)| {
        let busy = band.finish(end, reading.minimum);
        busy.map(|busy| (id, busy)).map_err(|error| last.error(LogReason::Timeline { id, error }))
    };
    let bands = bands.into_iter().map(finish).collect::<Result<_, _>>()?;
    Ok(Occupancy { start, end, bands, spacing: spacing.regular() })
}

/// A line with commas between its fields.
struct Line<'a> {
    text: Cow<'a, str>,
    has_semicolons: bool,
}

impl<'a> Line<'a> {
    fn of(line: &'a str, has_semicolons: bool) -> Self {
        // Where semicolons separate, a comma is a decimal one.
        let text = if has_semicolons {
            Cow::Owned(line.replace(',', ".").replace(';', ","))
        } else {
            Cow::Borrowed(line)
        };
        Self { text, has_semicolons }
    }
}

/// A line's time, and the state or power of each of its bands as it is written.
type Samples<'a> = (Time, Vec<(u32, &'a str)>);

/// What the columns of a file are.
enum Layout {
    /// A line has one band. `value`: the name of its state.
    Long { value: &'static str },
    /// A line has all bands, in columns with these numbers.
    Wide(Vec<u32>),
}

impl Layout {
    fn of(place: FileLine<'_>, header: &str, reading: &Reading) -> Result<Self, LogError> {
        let names: Vec<String> = header.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
        let wrong = |rule| {
            let (field, text) = ("the header", super::shorten(header));
            Err(place.error(LogReason::Field { field, text, rule }))
        };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match names[..] {
            ["time", "band", "busy"] if reading.threshold.is_some() => {
                wrong("powers where a threshold is given: time,band,dbm, or time and a column for each band")
            }
            ["time", "band", "dbm"] if reading.threshold.is_none() => {
                wrong("time,band,busy; powers need a threshold")
            }
            ["time", "band", value] if matches!(value, "busy" | "dbm") => {
                Ok(Self::Long { value: if value == "dbm" { "dbm" } else { "busy" } })
            }
            // A mistyped long header, not a wide one with a column named band.
            ["time", "band", ..] | ["time"] => wrong(HEADERS),
            ["time", ref bands @ ..] => {
                // Columns with names count from 1; columns with numbers keep them.
                let numbers: Option<Vec<u32>> = bands.iter().map(|name| name.parse().ok()).collect();
                // By number where all have one: 1 and 01 are one band.
                let is_taken = |at: usize| match &numbers {
                    Some(numbers) => numbers[..at].contains(&numbers[at]),
                    None => bands[..at].contains(&bands[at]),
                };
                if bands.iter().enumerate().any(|(at, name)| name.is_empty() || is_taken(at)) {
                    return wrong("a name of its own for each column");
                }
                Ok(Self::Wide(numbers.unwrap_or_else(|| (1..=bands.len() as u32).collect())))
            }
            _ => wrong(HEADERS),
        }
    }

    fn example(&self) -> &'static str {
        match self {
            Self::Long { value: "dbm" } => "a sample: time,band,dbm",
            Self::Long { .. } => "a sample: time,band,busy",
            Self::Wide(_) => "samples: time and a value for each band",
        }
    }

    /// Splits a line into its time and the samples of its bands.
    fn samples<'a>(&self, place: FileLine<'_>, fields: &[&'a str]) -> Result<Samples<'a>, LogError> {
        match self {
            Self::Long { value } => {
                let [time, band, state] = fields[..] else {
                    let expected =
                        if *value == "dbm" { "3 (time, band, dbm)" } else { "3 (time, band, busy)" };
                    return Err(place.error(LogReason::Fields { expected, found: fields.len() }));
                };
                Ok((moment::read(place, time)?, vec![(place.integer("band", band, 0)?, state)]))
            }
            Self::Wide(ids) => {
                if fields.len() != ids.len() + 1 {
                    let expected = "as many as the header has";
                    return Err(place.error(LogReason::Fields { expected, found: fields.len() }));
                }
                let at = moment::read(place, fields[0])?;
                Ok((at, ids.iter().copied().zip(fields[1..].iter().copied()).collect()))
            }
        }
    }
}

/// Whether a band is busy by this sample. `was_busy`: by the sample before.
fn is_busy(place: FileLine<'_>, value: &str, was_busy: bool, reading: &Reading) -> Result<bool, LogError> {
    let Some(threshold) = reading.threshold else {
        let state = match value {
            "1" | "true" | "True" => Some(true),
            "0" | "false" | "False" => Some(false),
            _ => None,
        };
        // Powers of received signals in dBm are negative; states never are.
        let is_power = value.parse::<f64>().is_ok_and(|value| value < 0.0);
        let rule = if is_power { "1 or 0; powers need a threshold" } else { "1 or 0" };
        return place.field("busy", value, rule, state);
    };
    let power = value.parse().ok().filter(|power: &f64| (-400.0..=200.0).contains(power));
    let power = place.field("the power", value, "dBm, as -87.5", power)?;
    let level = threshold.dbm() - if was_busy { reading.hysteresis.0 } else { 0.0 };
    Ok(power >= level)
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
        // The end of the measurement: without it a reader would end the file at the last change.
        if intervals.last().is_none_or(|last| last.departure < occupancy.end) {
            samples.push((occupancy.end, *band, false));
        }
    }
    // Stable: samples of one band keep their order where one interval touches the next.
    samples.sort_by_key(|(at, band, _)| (*at, *band));
    let mut text = format!("{HEADER}\n");
    for (at, band, busy) in samples {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{},{band},{}", write_seconds(at), u8::from(busy));
    }
    text
}

/// One timeline of many ON intervals: those that overlap or touch become one; what lies after `end` is cut
/// off.
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
