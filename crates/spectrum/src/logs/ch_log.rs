//! The CH-log of MSWiM 2009, section 4.2.
//!
//! One entry per CR channel, `<spectrum, id, bandwidth, noise>`: its band (1 to B), its number in the band (1
//! to n), its capacity (bit/s) and its mean noise power (W). Noise that varies is given "at regular time
//! intervals, for each CRU channel"; the paper does not print how. Here the entry goes on with one value per
//! interval, `<spectrum, id, bandwidth, noise, noise, ...>`, after a line `interval SECONDS`; the last value
//! holds on. Angle brackets and commas may be left out; `#` begins a comment.

use super::{FileLine, LogError, LogReason, data_lines};
use crate::{Channel, ChannelTable};
use cogtcp_units::{Duration, Power, Probability, Time, write_seconds};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Reads a CH-log. `file` names it in errors.
pub fn read(file: &str, text: &str) -> Result<ChannelTable, LogError> {
    // In the order of (band, id), which is that of [`ChannelId`](crate::ChannelId).
    let mut channels = BTreeMap::new();
    let mut interval = None;
    // Where errors are reported that only the whole file shows.
    let mut last = FileLine { file, line: 1 };
    for (place, fields) in data_lines(file, text) {
        last = place;
        match fields[..] {
            ["interval", span] => {
                let span = place.seconds("interval", span)?.saturating_since(Time::ZERO);
                let span = (!span.is_zero()).then_some(span);
                interval = Some(place.field("interval", "0", "seconds above zero", span)?);
            }
            [band, id, rate, first, ref more @ ..] => {
                let (band, id) = (place.integer("spectrum", band, 1)?, place.integer("id", id, 1)?);
                let mut noise = Vec::with_capacity(1 + more.len());
                for text in std::iter::once(first).chain(more.iter().copied()) {
                    noise.push(Power::from_watts(place.not_negative("noise", text)?));
                }
                let rate = place.rate("bandwidth", rate)?;
                let channel = Channel { rate, noise, error_rate: Probability::ZERO, reserved: false };
                if channels.insert((band, id), channel).is_some() {
                    return Err(place.error(LogReason::DuplicateChannel(format!("{id} of band {band}"))));
                }
            }
            _ => {
                let expected = "4 or more (spectrum, id, bandwidth, noise, ...), or \"interval SECONDS\"";
                return Err(place.error(LogReason::Fields { expected, found: fields.len() }));
            }
        }
    }
    table(channels, interval, last)
}

fn table(
    channels: BTreeMap<(u32, u32), Channel>,
    interval: Option<Duration>,
    last: FileLine<'_>,
) -> Result<ChannelTable, LogError> {
    let Some(bands) = channels.keys().map(|(band, _)| *band).max() else {
        return Err(last.error(LogReason::Empty { expected: "<spectrum, id, bandwidth, noise>" }));
    };
    let per_band = channels.keys().map(|(_, id)| *id).max().unwrap_or_default();
    // In the order of (band, id) the first gap is the first place where a channel is not the one expected.
    let (mut band, mut id) = (1, 1);
    for key in channels.keys() {
        if *key != (band, id) {
            return Err(last.error(LogReason::MissingChannel(format!("{id} of band {band}"))));
        }
        (band, id) = if id == per_band { (band + 1, 1) } else { (band, id + 1) };
    }
    // A whole last band leaves the count at the first channel of band B + 1.
    if band <= bands {
        return Err(last.error(LogReason::MissingChannel(format!("{id} of band {band}"))));
    }
    ChannelTable::new(bands, per_band, channels.into_values().collect(), interval)
        .map_err(|error| last.error(LogReason::Table(error)))
}

/// Writes a CH-log. Error rates and reserved channels have no place in it.
pub fn write(table: &ChannelTable) -> String {
    let mut text = String::from("# <spectrum, id, bandwidth, noise>: band, channel, bit/s, W\n");
    // Writing to a String cannot fail.
    if let Some(interval) = table.noise_interval() {
        let _ = writeln!(text, "interval {}", write_seconds(Time::ZERO + interval));
    }
    for (id, channel) in table.iter() {
        let within = id.0 % table.per_band() + 1;
        let _ = write!(text, "<{}, {within}, {}", table.band(id), channel.rate.bits_per_second());
        // An entry has at least one noise value.
        if channel.noise.is_empty() {
            text.push_str(", 0");
        }
        for noise in &channel.noise {
            let _ = write!(text, ", {}", noise.watts());
        }
        text.push_str(">\n");
    }
    text
}
