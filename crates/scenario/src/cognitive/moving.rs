//! Handovers between base stations and DRX of a cell, as a scenario writes them.

use super::RlcMode;
use crate::tree::KeyPath;
use cogtcp_cell::{drx, handover};
use cogtcp_units::{Decibel, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most stations of a cell.
const MOST_STATIONS: usize = 100;

/// Handovers: base stations that are alike, each with the cell's `others`, and users that move between them.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Handover {
    /// Number of base stations, which are numbered from 0.
    pub stations: usize,
    /// What becomes of packets at the source station.
    pub kind: HandoverKind,
    /// For how long a user that moves has no station.
    pub interruption: Duration,
    /// Moves at stated times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Move>,
    /// SINR over time of users that move by event A3.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tracks: Vec<Track>,
    /// By how much another station is better before a user moves: A3-Offset and hysteresis together.
    pub offset: Decibel,
    /// For how long it is.
    pub time_to_trigger: Duration,
}

impl Default for Handover {
    fn default() -> Self {
        Self {
            stations: 2,
            kind: HandoverKind::Lossless,
            interruption: Duration::from_millis(50),
            moves: Vec::new(),
            tracks: Vec::new(),
            offset: Decibel(3.0),
            time_to_trigger: Duration::from_millis(160),
        }
    }
}

/// What becomes of packets at the source station.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HandoverKind {
    /// Packets that have not arrived are forwarded and retransmitted: none is lost, all are delayed (RLC AM).
    #[default]
    Lossless,
    /// Packets whose transmission has begun and that have not arrived are lost; the others are forwarded (RLC
    /// UM).
    Seamless,
    /// Seamless, and the source forwards nothing: the downlink's queue is lost.
    Unforwarded,
}

/// A user moves at a stated time.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Move {
    /// Its link of the radio.
    pub link: String,
    /// When it leaves its station.
    pub at: Duration,
    /// The station that it moves to.
    pub to: usize,
    /// Its mean SINR there, in both directions; without it: as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sinr: Option<Decibel>,
}

/// The mean SINR of a user at each station over time. It takes the place of `sinr`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Track {
    /// Its link of the radio.
    pub link: String,
    /// Points in time order; between them SINR in dB is linear, outside constant.
    pub points: Vec<TrackPoint>,
}

/// A point of a track.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TrackPoint {
    /// When.
    pub at: Duration,
    /// SINR at every station, in both directions.
    pub sinr: Vec<Decibel>,
}

/// Discontinuous reception: a user without data listens for a part of each cycle.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Drx {
    /// How long a user stays awake after a grant of new data (drx-InactivityTimer).
    pub inactivity: Duration,
    /// How long it listens at the beginning of a cycle (onDurationTimer).
    pub on: Duration,
    /// The cycle (longDRX-Cycle).
    pub cycle: Duration,
    /// A short cycle after the inactivity timer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short: Option<ShortCycle>,
}

impl Default for Drx {
    fn default() -> Self {
        Self {
            inactivity: Duration::from_millis(100),
            on: Duration::from_millis(10),
            cycle: Duration::from_millis(320),
            short: None,
        }
    }
}

/// A short cycle of DRX.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ShortCycle {
    /// The cycle (shortDRX-Cycle).
    pub cycle: Duration,
    /// For how long it is used (drxShortCycleTimer, as a time).
    pub timer: Duration,
}

type Report<'a> = &'a mut dyn FnMut(&KeyPath, String, String);

/// The longest time of both.
const LONGEST: Duration = Duration::from_secs(10);

fn check_sinr(sinr: Decibel, path: &KeyPath, report: Report) {
    if !(-30.0..=100.0).contains(&sinr.0) {
        let message = format!("an SINR of \"{sinr}\" is out of range");
        report(path, message, "write \"-30 dB\" to \"100 dB\"".to_owned());
    }
}

impl Handover {
    /// Reports wrong settings by their place below `path`.
    pub(super) fn check(&self, links: &[String], rlc: RlcMode, path: &KeyPath, report: Report) {
        if !(2..=MOST_STATIONS).contains(&self.stations) {
            let message = format!("{} stations are out of range", self.stations);
            report(&path.key("stations"), message, format!("write 2 to {MOST_STATIONS}"));
            return;
        }
        if self.kind == HandoverKind::Lossless && rlc == RlcMode::Unacknowledged {
            let message = "\"lossless\" needs acknowledged mode, which knows what has arrived";
            let remedy = "write kind = \"seamless\", or rlc = \"acknowledged\"";
            report(&path.key("kind"), message.to_owned(), remedy.to_owned());
        }
        for (key, span) in [("interruption", self.interruption), ("time_to_trigger", self.time_to_trigger)] {
            if span > LONGEST {
                let message = format!("\"{span}\" is out of range");
                report(&path.key(key), message, format!("write at most \"{LONGEST}\""));
            }
        }
        if !(0.0..=30.0).contains(&self.offset.0) {
            let message = format!("an offset of \"{}\" is out of range", self.offset);
            report(&path.key("offset"), message, "write \"0 dB\" to \"30 dB\"".to_owned());
        }
        let check_link = |link: &String, path: &KeyPath, report: Report| {
            if !links.contains(link) {
                let message = format!("the radio has no link \"{link}\"");
                report(&path.key("link"), message, format!("write one of {}", links.join(", ")));
            }
        };
        for (number, it) in self.moves.iter().enumerate() {
            let path = path.key("moves").index(number);
            check_link(&it.link, &path, report);
            if it.to >= self.stations {
                let message = format!("there is no station {}", it.to);
                report(&path.key("to"), message, format!("write 0 to {}", self.stations - 1));
            }
            if let Some(sinr) = it.sinr {
                check_sinr(sinr, &path.key("sinr"), report);
            }
            if self.tracks.iter().any(|track| track.link == it.link) {
                let message = format!("\"{}\" has a track, which says when it moves", it.link);
                report(&path, message, "take the track or the move out".to_owned());
            }
        }
        for (number, track) in self.tracks.iter().enumerate() {
            let path = path.key("tracks").index(number);
            check_link(&track.link, &path, report);
            if self.tracks[..number].iter().any(|other| other.link == track.link) {
                let message = format!("a second track of \"{}\"", track.link);
                report(&path.key("link"), message, "put its points into the first".to_owned());
            }
            if track.points.is_empty() {
                let remedy = "write points = [{ at = \"0 s\", sinr = [\"20 dB\", \"5 dB\"] }]";
                report(&path.key("points"), "a track without points".to_owned(), remedy.to_owned());
            }
            for (place, point) in track.points.iter().enumerate() {
                let path = path.key("points").index(place);
                if place > 0 && point.at <= track.points[place - 1].at {
                    let message = format!("\"{}\" is not after the point before", point.at);
                    report(&path.key("at"), message, "write times in ascending order".to_owned());
                }
                if point.sinr.len() != self.stations {
                    let message = format!("{} values for {} stations", point.sinr.len(), self.stations);
                    report(&path.key("sinr"), message, "write one for each station".to_owned());
                }
                for sinr in &point.sinr {
                    check_sinr(*sinr, &path.key("sinr"), report);
                }
            }
        }
    }

    /// Returns the handovers of a cell with these links. They have been checked.
    pub(super) fn config(&self, links: &[&str]) -> handover::Handover {
        let user = |link: &str| links.iter().position(|name| *name == link);
        let moves = self.moves.iter().filter_map(|it| {
            let at = Time::ZERO + it.at;
            Some(handover::Move { at, user: user(&it.link)?, to: it.to, sinr: it.sinr })
        });
        let tracks = self.tracks.iter().filter_map(|track| {
            let points = track.points.iter().map(|it| (Time::ZERO + it.at, it.sinr.clone()));
            Some(handover::Track { user: user(&track.link)?, points: points.collect() })
        });
        handover::Handover {
            stations: self.stations,
            kind: match self.kind {
                HandoverKind::Lossless => handover::Kind::Lossless,
                HandoverKind::Seamless => handover::Kind::Seamless,
                HandoverKind::Unforwarded => handover::Kind::Unforwarded,
            },
            interruption: self.interruption,
            moves: moves.collect(),
            tracks: tracks.collect(),
            offset: self.offset,
            time_to_trigger: self.time_to_trigger,
        }
    }
}

impl Drx {
    /// Reports wrong settings by their place below `path`; `slot`: the cell's.
    pub(super) fn check(&self, slot: Duration, path: &KeyPath, report: Report) {
        let spans =
            [("inactivity", self.inactivity, slot), ("on", self.on, slot), ("cycle", self.cycle, slot)];
        let short = self.short.map(|it| [("short.cycle", it.cycle, slot), ("short.timer", it.timer, slot)]);
        for (key, span, least) in spans.into_iter().chain(short.into_iter().flatten()) {
            if span < least || span > LONGEST {
                let path = key.split('.').fold(path.clone(), |path, key| path.key(key));
                report(
                    &path,
                    format!("\"{span}\" is out of range"),
                    format!("write \"{least}\" to \"{LONGEST}\""),
                );
            }
        }
        if self.on >= self.cycle {
            let message = format!("a user listens for \"{}\" of a cycle of \"{}\"", self.on, self.cycle);
            report(&path.key("on"), message, "write less than the cycle, or take drx out".to_owned());
        }
        if let Some(short) = self.short
            && (short.cycle.is_zero() || !self.cycle.as_nanos().is_multiple_of(short.cycle.as_nanos()))
        {
            let message = format!("\"{}\" does not divide the cycle of \"{}\"", short.cycle, self.cycle);
            let remedy = "write a short cycle that divides the cycle";
            report(&path.key("short").key("cycle"), message, remedy.to_owned());
        }
    }

    /// Returns the timers.
    pub(super) fn config(self) -> drx::DrxTimers {
        drx::DrxTimers {
            inactivity: self.inactivity,
            on: self.on,
            cycle: self.cycle,
            short: self.short.map(|it| (it.cycle, it.timer)),
        }
    }
}
