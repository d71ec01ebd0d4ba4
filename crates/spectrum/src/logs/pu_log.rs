//! The PU-log of MSWiM 2009, section 4.1.
//!
//! First one entry per primary user, `<i, x, y, spectrum, tpower>`: its number, its place (m), its band (1 to
//! B) and its transmitting power (W). Then the activity, one entry per ON period,
//! `<i, arrival_time, departure_time>` (s), each PU's in the order of time. The paper prints the entries as
//! tuples and not as text: angle brackets and commas are written, and may be left out; `#` begins a comment.

use super::{FileLine, LogError, LogReason, WriteError, data_lines};
use crate::propagation::Position;
use crate::{Intervals, OnInterval, PrimaryUser, PuActivity, Reach};
use cogtcp_units::{Power, write_seconds};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Reads a PU-log. `file` names it in errors.
pub fn read(file: &str, text: &str) -> Result<PuActivity, LogError> {
    let mut users: Vec<PrimaryUser> = Vec::new();
    let mut by_id = BTreeMap::new();
    let mut activity_began = false;
    for (place, fields) in data_lines(file, text) {
        match fields[..] {
            [id, x, y, band, power] => {
                if activity_began {
                    return Err(place.error(LogReason::DescriptionTooLate));
                }
                let user = PrimaryUser {
                    id: place.integer("i", id, 0)?,
                    position: Position::new(place.finite("x", x)?, place.finite("y", y)?),
                    band: place.integer("spectrum", band, 1)?,
                    reach: Reach::Power(Power::from_watts(place.not_negative("tpower", power)?)),
                    activity: Intervals::default(),
                };
                if by_id.insert(user.id, users.len()).is_some() {
                    return Err(place.error(LogReason::DuplicatePu(user.id)));
                }
                users.push(user);
            }
            [id, arrival, departure] => {
                activity_began = true;
                let id = place.integer("i", id, 0)?;
                let on = OnInterval {
                    arrival: place.seconds("arrival_time", arrival)?,
                    departure: place.seconds("departure_time", departure)?,
                };
                let Some(user) = by_id.get(&id).and_then(|index| users.get_mut(*index)) else {
                    return Err(place.error(LogReason::UnknownPu(id)));
                };
                user.activity.push(on).map_err(|error| place.error(LogReason::Timeline { id, error }))?;
            }
            _ => {
                let expected = "5 (i, x, y, spectrum, tpower) or 3 (i, arrival_time, departure_time)";
                return Err(place.error(LogReason::Fields { expected, found: fields.len() }));
            }
        }
    }
    if users.is_empty() {
        let expected = "<i, x, y, spectrum, tpower>";
        return Err(FileLine { file, line: 1 }.error(LogReason::Empty { expected }));
    }
    Ok(PuActivity { users })
}

/// Writes a PU-log.
pub fn write(activity: &PuActivity) -> Result<String, WriteError> {
    let mut text = String::from("# <i, x, y, spectrum, tpower>: number, place in m, band, power in W\n");
    // Writing to a String cannot fail.
    for user in &activity.users {
        let power = match user.reach {
            Reach::Power(power) => power.watts(),
            Reach::Range(_) => return Err(WriteError::RangeInPuLog(user.id)),
        };
        let Position { x, y } = user.position;
        let _ = writeln!(text, "<{}, {x}, {y}, {}, {power}>", user.id, user.band);
    }
    text.push_str("# <i, arrival_time, departure_time>: seconds\n");
    for user in &activity.users {
        for on in user.activity.as_slice() {
            let _ = writeln!(
                text,
                "<{}, {}, {}>",
                user.id,
                write_seconds(on.arrival),
                write_seconds(on.departure)
            );
        }
    }
    Ok(text)
}
