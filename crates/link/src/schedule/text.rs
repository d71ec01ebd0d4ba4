//! Trace files: mahimahi's, and rates over time as CSV.

use super::Schedule;
use std::fmt::Write;

/// The first line of a file of rates.
pub const HEADER: &str = "time_s,rate_bps";

/// The longest period: 11.5 days, as the longest run.
const LONGEST_S: f64 = 1e6;
/// The highest rate: 10 Tbit/s.
const HIGHEST: f64 = 1e13;

/// What is wrong with a trace file, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LinkTraceError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub reason: String,
    /// The reason without text of the file.
    pub unquoted: String,
}

impl std::fmt::Display for LinkTraceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

/// Reads a trace: one that begins with [`HEADER`] has rates, any other is mahimahi's. Empty lines and lines
/// that begin with `#` are left out.
pub fn read(text: &str) -> Result<Schedule, LinkTraceError> {
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .peekable();
    match lines.peek() {
        Some((_, HEADER)) => read_rates(lines.skip(1)),
        Some(_) => read_opportunities(lines),
        None => wrong(1, "the trace is empty; write a line for each packet that may leave, its millisecond"),
    }
}

fn read_opportunities<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Schedule, LinkTraceError> {
    let mut times: Vec<u32> = Vec::new();
    let mut last_line = 1;
    for (line, text) in lines {
        let Some(time) = text.parse::<u32>().ok().filter(|time| f64::from(*time) <= LONGEST_S * 1e3) else {
            return not_a_time(line, text);
        };
        if times.last().is_some_and(|last| *last > time) {
            return wrong(
                line,
                format!("{time} ms comes after a later time; write the times in ascending order"),
            );
        }
        times.push(time);
        last_line = line;
    }
    if times.last() == Some(&0) {
        return wrong(
            last_line,
            "the trace ends at 0 ms; it repeats after its last time, which must be later",
        );
    }
    Ok(Schedule::Opportunities(times))
}

/// Says what a line is that is no millisecond; other formats of rates and powers by their names.
fn not_a_time<T>(line: usize, text: &str) -> Result<T, LinkTraceError> {
    let columns: Vec<&str> = text.split_whitespace().collect();
    if columns.len() == 2 && columns.iter().all(|column| column.parse::<f64>().is_ok()) {
        let rule = format!(
            "has two columns, as the traces of Pensieve have (seconds, Mbit/s); begin with \"{HEADER}\" and write seconds, a comma and bit/s"
        );
        return wrong_text(line, &columns.join(" "), &rule);
    }
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    if fields.len() > 6
        && fields[0].len() == 10
        && fields[2..].iter().all(|field| field.parse::<f64>().is_ok())
    {
        return wrong(
            line,
            "this is a sweep of rtl_power or hackrf_sweep, which has powers and no rates; \
             give it to cogtcp fit with --threshold",
        );
    }
    let rule = format!("is not a time; write whole milliseconds, or begin a file of rates with \"{HEADER}\"");
    wrong_text(line, text, &rule)
}

fn read_rates<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Schedule, LinkTraceError> {
    let mut steps: Vec<(u64, u64)> = Vec::new();
    let mut last_line = 1;
    for (line, text) in lines {
        last_line = line;
        let fields =
            text.split_once(',').map(|(time, rate)| (number(time, LONGEST_S), number(rate, HIGHEST)));
        let Some((Some(time), Some(rate))) = fields else {
            let rule =
                "is not a time and rate; write, for example, \"0.5,4000000\": seconds and bits per second";
            return wrong_text(line, text, rule);
        };
        // The nearest nanosecond: 0.1 s has no exact binary form, and truncation would lose one.
        let time = (time * 1e9).round() as u64;
        match steps.last() {
            None if time > 0 => {
                return wrong(line, "the first rate begins after 0 s; write the rate at 0 first");
            }
            Some(last) if last.0 >= time => {
                return wrong(
                    line,
                    "the time is not later than the one before; write the times in ascending order",
                );
            }
            _ => steps.push((time, rate.round() as u64)),
        }
    }
    if steps.len() < 2 {
        return wrong(
            last_line,
            "the trace has no end; write at least two times: it repeats after the last one",
        );
    }
    if steps[..steps.len() - 1].iter().all(|step| step.1 == 0) {
        return wrong(last_line, "the trace has no capacity; write a rate above 0 before its end");
    }
    Ok(Schedule::Rates(steps))
}

/// Writes a trace in its own format.
pub fn write(schedule: &Schedule) -> String {
    let mut text = String::new();
    match schedule {
        Schedule::Opportunities(times) => {
            for time in times {
                let _ = writeln!(text, "{time}");
            }
        }
        Schedule::Rates(steps) => {
            let _ = writeln!(text, "{HEADER}");
            for (time, rate) in steps {
                let _ = writeln!(text, "{}.{:09},{rate}", time / 1_000_000_000, time % 1_000_000_000);
            }
        }
    }
    text
}

fn number(text: &str, most: f64) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|value| (0.0..=most).contains(value))
}

fn short(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().chars().take(40).collect()
}

fn wrong<T>(line: usize, reason: impl Into<String>) -> Result<T, LinkTraceError> {
    let reason = reason.into();
    Err(LinkTraceError { line, unquoted: reason.clone(), reason })
}

fn wrong_text<T>(line: usize, text: &str, rule: &str) -> Result<T, LinkTraceError> {
    let reason = format!("\"{}\" {rule}", short(text));
    Err(LinkTraceError { line, reason, unquoted: format!("this line {rule}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::RandomStream;

    #[test]
    fn traces_come_back_as_they_were() {
        for text in
            ["1\n", "0\n3\n3\n17\n", "time_s,rate_bps\n0.000000000,8000000\n0.500000000,0\n1.000000001,5\n"]
        {
            assert_eq!(write(&read(text).unwrap()), text);
        }
        assert_eq!(read("# a\n\n 1 \r\n2").unwrap(), Schedule::Opportunities(vec![1, 2]));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, line, says) in [
            ("", 1, "empty"),
            ("# nothing\n", 1, "empty"),
            ("1\nx\n", 2, "\"x\" is not a time"),
            ("1\n-1\n", 2, "is not a time"),
            ("1\n1.5\n", 2, "is not a time"),
            ("0.0\t1.50\n0.5\t2.20\n", 1, "Pensieve have (seconds, Mbit/s); begin with \"time_s,rate_bps\""),
            ("2024-01-01, 00:00:00, 24000000, 25000000, 500000.00, 1, -54.10\n", 1, "sweep of rtl_power"),
            ("2024-01-01, 00:00:00, x, 25000000, 500000.00, 1, -54.10\n", 1, "is not a time"),
            ("2024-01-01, 00:00:00, 24000000, 25000000, 500000.00, 1\n", 1, "is not a time"),
            ("2024-1-1, 00:00:00, 24000000, 25000000, 500000.00, 1, -54.10\n", 1, "is not a time"),
            ("0.0 1.5 3.0\n", 1, "is not a time"),
            ("0.0 x\n", 1, "is not a time"),
            ("4294967296\n", 1, "is not a time"),
            ("5\n4\n", 2, "ascending"),
            ("0\n0\n", 2, "ends at 0 ms"),
            ("time_s,rate_bps\n", 1, "no end"),
            ("time_s,rate_bps\n0,5\n", 2, "no end"),
            ("time_s,rate_bps\n1,5\n2,5\n", 2, "after 0 s"),
            ("time_s,rate_bps\n0,5\n0,5\n", 3, "ascending"),
            ("time_s,rate_bps\n0,0\n1,7\n", 3, "no capacity"),
            ("time_s,rate_bps\n0,nan\n1,7\n", 2, "is not a time and rate"),
            ("time_s,rate_bps\n0,1e30\n1,7\n", 2, "is not a time and rate"),
            ("time_s,rate_bps\n0;5\n", 2, "is not a time and rate"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.line == line && error.reason.contains(says), "{text:?}: {error}");
        }
    }

    /// Any text gives a trace or an error, and a trace comes back as it was.
    #[test]
    fn no_text_does_harm() {
        let pieces = [
            "1",
            "0",
            "\n",
            "\n",
            ",",
            "time_s,rate_bps\n",
            "-",
            "9999999999",
            "e",
            ".",
            " ",
            "#",
            "\u{e9}",
            "4",
            "nan",
        ];
        let mut read_well = 0;
        for seed in 0..20_000 {
            let mut random = RandomStream::new(seed, "trace-text", 0);
            let count = random.below(24);
            let text: String =
                (0..count).map(|_| pieces[random.below(pieces.len() as u64) as usize]).collect();
            if let Ok(schedule) = read(&text) {
                read_well += 1;
                assert_eq!(read(&write(&schedule)).unwrap(), schedule, "{text:?}");
                assert!(schedule.period() > 0 && schedule.capacity(3 * schedule.period()) > 0, "{text:?}");
            }
        }
        assert!(read_well > 200, "{read_well}");
    }

    /// A period of 10^6 s and a rate of 10 Tbit/s are the last that are read.
    #[test]
    fn periods_and_rates_have_bounds() {
        for (text, is_right) in [
            ("1000000000", true),
            ("1000000001", false),
            ("time_s,rate_bps\n0,10000000000000\n1000000,0\n", true),
            ("time_s,rate_bps\n0,10000000000001\n1000000,0\n", false),
            ("time_s,rate_bps\n0,1\n1000000.1,0\n", false),
            ("time_s,rate_bps\n0,-1\n1,0\n", false),
            ("time_s,rate_bps\n0,1\n0,1\n1,0\n", false),
            ("time_s,rate_bps\n0.1,1\n1,0\n", false),
            ("time_s,rate_bps\n0,0\n1,5\n", false),
        ] {
            assert_eq!(read(text).is_ok(), is_right, "{text}");
        }
    }
}
