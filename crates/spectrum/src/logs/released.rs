//! The files of the released ns-2 code (CRAHN on ns-2.31), which differ from the paper's.
//!
//! `map.txt`: the number N of PUs; N lines `channel x_tx y_tx x_rx y_rx alpha beta range`; then for each PU
//! in turn a count K and K pairs of arrival and departure (s). Words are separated by any blanks and line
//! ends, as `fscanf` reads them. `channel.txt`: lines `channel bit_rate packet_error_rate`, channel 0 being
//! the control channel.
//!
//! Channel c of these files is channel c of band c + 1 of ours, one channel per band.

use super::{FileLine, LogError, LogReason, WriteError};
use crate::activity::{ActivityLaw, LawError, scatter};
use crate::propagation::Position;
use crate::{Channel, ChannelTable, Intervals, OnInterval, PrimaryUser, PuActivity, Reach};
use cogtcp_units::{Duration, Probability, RandomStream, write_seconds};
use std::collections::BTreeMap;
use std::fmt::Write;

/// One primary user of `map.txt`.
#[derive(Clone, Debug, PartialEq)]
pub struct MapUser {
    /// The PU; its number is its place in the file, from 1.
    pub user: PrimaryUser,
    /// Where its receiver is.
    pub receiver: Position,
    /// Death rate that generated the times, 1/s; for information: the times rule.
    pub alpha: f64,
    /// Birth rate that generated the times, 1/s; for information.
    pub beta: f64,
}

/// What `map.txt` holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// The primary users, in the order of the file.
    pub users: Vec<MapUser>,
}

impl Map {
    /// The activity alone.
    pub fn activity(&self) -> PuActivity {
        PuActivity { users: self.users.iter().map(|entry| entry.user.clone()).collect() }
    }
}

/// The generator of the released code (`pu_special.tcl`), with its defaults. PUs are uniform in a square,
/// receivers at a uniform distance, the channel any except the control channel. ON and OFF times are
/// exponential, OFF at time zero. The released script discards the first 25 draws and takes the receiver's
/// angle in the wrong unit; neither changes a law, and neither is done here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapGenerator {
    /// Number of PUs.
    pub users: u32,
    /// Death rate, 1/s: mean ON time 1/alpha.
    pub alpha: f64,
    /// Birth rate, 1/s: mean OFF time 1/beta.
    pub beta: f64,
    /// Side of the square, m.
    pub side: f64,
    /// Largest distance of a receiver from its transmitter, m.
    pub receiver_distance: f64,
    /// Channels with the control channel 0; at least 2.
    pub channels: u32,
    /// Range of each PU, m.
    pub range: f64,
    /// Length of the activity.
    pub horizon: Duration,
}

impl Default for MapGenerator {
    fn default() -> Self {
        Self {
            users: 10,
            alpha: 0.5,
            beta: 0.1,
            side: 1000.0,
            receiver_distance: 300.0,
            channels: 11,
            range: 500.0,
            horizon: Duration::from_secs(205),
        }
    }
}

impl MapGenerator {
    /// Draws a map. PU i has streams of its own, so that more PUs leave the first ones as they are.
    pub fn generate(&self, seed: u64) -> Result<Map, LawError> {
        let law = ActivityLaw::exponential(self.alpha, self.beta)?;
        let places = scatter(self.users, self.side, self.side, seed);
        let mut users = Vec::new();
        for (id, position) in (1..).zip(places) {
            let mut stream = RandomStream::new(seed, "pu/receiver", u64::from(id));
            let distance = stream.uniform_in(0.0, self.receiver_distance);
            let angle = stream.uniform_in(0.0, std::f64::consts::TAU);
            let receiver = Position::new(
                position.x + distance * libm::cos(angle),
                position.y + distance * libm::sin(angle),
            );
            // At least one, whatever the settings: no number lies below zero.
            let others = u64::from(self.channels.saturating_sub(1).max(1));
            // Channel 0 is for control.
            let channel = 1 + RandomStream::new(seed, "pu/channel", u64::from(id)).below(others) as u32;
            let activity = law.generate(self.horizon, seed, u64::from(id))?;
            let user =
                PrimaryUser { id, position, band: channel + 1, reach: Reach::Range(self.range), activity };
            users.push(MapUser { user, receiver, alpha: self.alpha, beta: self.beta });
        }
        Ok(Map { users })
    }
}

/// Reads `map.txt`. `file` names it in errors.
pub fn read_map(file: &str, text: &str) -> Result<Map, LogError> {
    let mut words = Words::new(file, text);
    let count = words.integer("the number of PUs", 0)?;
    let mut users = Vec::new();
    for number in 1..=count {
        let word = words.word("channel")?;
        // Bands count from 1, channels from 0.
        let band = words.place.integer("channel", word, 0)?.checked_add(1);
        let band = words.place.field("channel", word, "a channel number", band)?;
        let position = Position::new(words.finite("x_tx")?, words.finite("y_tx")?);
        let receiver = Position::new(words.finite("x_rx")?, words.finite("y_rx")?);
        let (alpha, beta) = (words.not_negative("alpha")?, words.not_negative("beta")?);
        let reach = Reach::Range(words.not_negative("range")?);
        let user = PrimaryUser { id: number, position, band, reach, activity: Intervals::default() };
        users.push(MapUser { user, receiver, alpha, beta });
    }
    for entry in &mut users {
        let id = entry.user.id;
        for _ in 0..words.integer("the number of ON periods", 0)? {
            let arrival = words.seconds("arrival")?;
            let departure = words.seconds("departure")?;
            let pushed = entry.user.activity.push(OnInterval { arrival, departure });
            pushed.map_err(|error| words.place.error(LogReason::Timeline { id, error }))?;
        }
    }
    words.finish()?;
    Ok(Map { users })
}

/// Writes `map.txt`.
pub fn write_map(map: &Map) -> Result<String, WriteError> {
    // Writing to a String cannot fail.
    let mut text = format!("{}\n", map.users.len());
    for MapUser { user, receiver, alpha, beta } in &map.users {
        let range = match user.reach {
            Reach::Range(range) if range.is_finite() => range,
            Reach::Range(_) => return Err(WriteError::Everywhere(user.id)),
            Reach::Power(_) => return Err(WriteError::PowerInMap(user.id)),
        };
        let (tx, rx) = (user.position, receiver);
        let channel = user.band.saturating_sub(1);
        let _ = writeln!(text, "{channel} {} {} {} {} {alpha} {beta} {range}", tx.x, tx.y, rx.x, rx.y);
    }
    for MapUser { user, .. } in &map.users {
        let _ = writeln!(text, "{}", user.activity.len());
        for on in user.activity.as_slice() {
            let _ = writeln!(text, "{}\n{}", write_seconds(on.arrival), write_seconds(on.departure));
        }
    }
    Ok(text)
}

/// Reads `channel.txt`: any number of channels from 0, channel 0 reserved for control. `file` names it in
/// errors.
pub fn read_channels(file: &str, text: &str) -> Result<ChannelTable, LogError> {
    let mut words = Words::new(file, text);
    let mut channels = BTreeMap::new();
    while words.more() {
        let id = words.integer("channel", 0)?;
        // The entry begins here: its later words may be on other lines.
        let place = words.place;
        let rate = words.word("bit_rate")?;
        let rate = words.place.rate("bit_rate", rate)?;
        let text = words.word("packet_error_rate")?;
        let error_rate = text.parse().ok().and_then(|value| Probability::new(value).ok());
        let error_rate = words.place.field("packet_error_rate", text, "a probability, 0 to 1", error_rate)?;
        let channel = Channel { rate, noise: Vec::new(), error_rate, reserved: id == 0 };
        if channels.insert(id, channel).is_some() {
            return Err(place.error(LogReason::DuplicateChannel(id.to_string())));
        }
    }
    let place = words.place;
    if channels.is_empty() {
        return Err(place.error(LogReason::Empty { expected: "channel bit_rate packet_error_rate" }));
    }
    // The keys ascend, so the first that is not its own place shows the one that is missing.
    if let Some((missing, _)) = (0..).zip(channels.keys()).find(|(expected, id)| expected != *id) {
        return Err(place.error(LogReason::MissingChannel(u32::to_string(&missing))));
    }
    ChannelTable::new(channels.len() as u32, 1, channels.into_values().collect(), None)
        .map_err(|error| place.error(LogReason::Table(error)))
}

/// Writes `channel.txt`.
pub fn write_channels(table: &ChannelTable) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for (id, channel) in table.iter() {
        let _ = writeln!(text, "{} {} {}", id.0, channel.rate.bits_per_second(), channel.error_rate.get());
    }
    text
}

/// The words of a file, with the line each is on.
struct Words<'a> {
    // Boxed, as the type of a closure cannot be written.
    words: std::iter::Peekable<Box<dyn Iterator<Item = (usize, &'a str)> + 'a>>,
    /// Where the last word was.
    place: FileLine<'a>,
}

impl<'a> Words<'a> {
    fn new(file: &'a str, text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let words = text
            .lines()
            .enumerate()
            .flat_map(|(index, line)| line.split_whitespace().map(move |word| (index + 1, word)));
        let words: Box<dyn Iterator<Item = _>> = Box::new(words);
        Self { words: words.peekable(), place: FileLine { file, line: 1 } }
    }

    fn more(&mut self) -> bool {
        self.words.peek().is_some()
    }

    fn word(&mut self, expected: &str) -> Result<&'a str, LogError> {
        match self.words.next() {
            Some((line, word)) => {
                self.place.line = line;
                Ok(word)
            }
            None => Err(self.place.error(LogReason::Truncated { expected: expected.to_string() })),
        }
    }

    fn integer(&mut self, field: &'static str, least: u32) -> Result<u32, LogError> {
        let word = self.word(field)?;
        self.place.integer(field, word, least)
    }

    fn finite(&mut self, field: &'static str) -> Result<f64, LogError> {
        let word = self.word(field)?;
        self.place.finite(field, word)
    }

    fn not_negative(&mut self, field: &'static str) -> Result<f64, LogError> {
        let word = self.word(field)?;
        self.place.not_negative(field, word)
    }

    fn seconds(&mut self, field: &'static str) -> Result<cogtcp_units::Time, LogError> {
        let word = self.word(field)?;
        self.place.seconds(field, word)
    }

    fn finish(mut self) -> Result<(), LogError> {
        match self.words.next() {
            Some((line, word)) => {
                self.place.line = line;
                Err(self.place.error(LogReason::Trailing { found: super::shorten(word) }))
            }
            None => Ok(()),
        }
    }
}
