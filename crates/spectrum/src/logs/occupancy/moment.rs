//! Times of samples: decimal seconds, or date and time of day by ISO 8601.

use super::super::{FileLine, LogError};
use cogtcp_units::{Duration, Time, parse_seconds};

/// Reads a time; dates count from 1970.
pub(super) fn read(place: FileLine<'_>, text: &str) -> Result<Time, LogError> {
    let rule = "seconds, as 12.5, or a date and time, as 2024-01-31T12:00:00.5Z";
    place.field("time", text, rule, parse_seconds(text).or_else(|| parse_date(text)))
}

/// Reads `2024-01-31T12:00:00.5+01:00`. A space may stand for the T; without an offset it is UTC.
fn parse_date(text: &str) -> Option<Time> {
    let (date, clock) = text.split_once(['T', 't', ' '])?;
    let mut numbers = date.split('-').map(|part| digits(part, part.len()));
    let (year, month, day) = (numbers.next()??, numbers.next()??, numbers.next()??);
    if numbers.next().is_some() || date.len() != 10 || year < 1970 {
        return None;
    }
    let clock = clock.trim_end_matches(['Z', 'z']).trim_end();
    let (clock, east) = match clock.rfind(['+', '-']) {
        Some(at) => (&clock[..at], offset(&clock[at..])?),
        None => (clock, 0),
    };
    let mut parts = clock.splitn(3, ':');
    let (hour, minute) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let second = parse_seconds(parts.next().unwrap_or("0"))?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 24 || minute > 59 {
        return None;
    }
    let of_day = i64::from(hour) * 3600 + i64::from(minute) * 60 - east;
    let whole = u64::try_from(days(year, month, day) * 86_400 + of_day).ok()?;
    Some(Time::ZERO + Duration::from_secs(whole) + second.saturating_since(Time::ZERO))
}

fn digits(text: &str, count: usize) -> Option<u32> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Reads `+01:00` or `+0100` as seconds.
fn offset(text: &str) -> Option<i64> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let rest = text[1..].replace(':', "");
    let (hours, minutes) = rest.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { digits(minutes, 2)? };
    Some(sign * (i64::from(digits(hours, 2)?) * 3600 + i64::from(minutes) * 60))
}

/// Returns the days from 1970-01-01 to a date of the Gregorian calendar.
fn days(year: u32, month: u32, day: u32) -> i64 {
    let (year, month, day) = (i64::from(year), i64::from(month), i64::from(day));
    // Years that begin in March have their leap day at the end.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let of_years = year * 365 + year / 4 - year / 100 + year / 400;
    // 719468 days from March 1 of year 0 to 1970.
    of_years + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_count_from_1970() {
        // Seconds by `date -u -d ... +%s`, in ms.
        for (text, millis) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29 12:00:00", 951_825_600_000),
            ("2023-11-14T22:13:20.25Z", 1_700_000_000_250),
            ("2024-03-01T00:00:00+01:00", 1_709_247_600_000),
            ("2024-03-01T00:00:00-0530", 1_709_271_000_000),
            ("2024-07-01T00:00", 1_719_792_000_000),
            ("2024-08-01T00:00", 1_722_470_400_000),
            ("2024-12-01T00:00", 1_733_011_200_000),
            ("2024-12-31T23:59", 1_735_689_540_000),
        ] {
            assert_eq!(parse_date(text), Some(Time::from_nanos(millis * 1_000_000)), "{text}");
        }
        for text in [
            "2024-13-01T00:00:00",
            "2024-00-01T00:00:00",
            "2024-01-32T00:00:00",
            "2024-01-00T00:00:00",
            "2024-01-01T25:00:00",
            "2024-01-01T00:60:00",
            "1969-12-31T00:00:00",
            "24-01-01T00:00:00",
            "2024-01-01",
            "2024-01-01T1:2:3",
            "xT00:00:00",
            "2024-01-01T00:00:00+x",
        ] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }
}
