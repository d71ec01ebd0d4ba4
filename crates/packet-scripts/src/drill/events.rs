//! Splits a script of packetdrill into events: comments, times, and what stands after a time.

use super::Fault;
use crate::script::{Span, When};
use cogtcp_units::Duration;

/// Most of what a step may wait, seconds.
const MOST_SECONDS: f64 = 3600.0;
/// Longest description that is taken from a script's first comment, characters.
const LONGEST_ABOUT: usize = 200;

/// An event.
#[derive(Debug)]
pub(super) struct DrillEvent {
    /// Line, from 1.
    pub(super) line: usize,
    /// The event as it stands there, in one line.
    pub(super) text: String,
    pub(super) when: When,
    /// When a blocking call returns, counted as the time is.
    pub(super) until: Option<Duration>,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    /// `--NAME=VALUE`, without the dashes.
    Option(String),
    /// Between backticks.
    Command(String),
    /// Between `%{` and `}%`.
    Code(String),
    /// After `<`.
    Inject(String),
    /// After `>`.
    Expect(String),
    /// `NAME(ARGUMENTS) = RESULT`.
    Call(String),
}

/// What a script is about, by its first comment, and its events; or the line of an error.
pub(super) fn read(text: &str) -> Result<(String, Vec<DrillEvent>), (usize, Fault)> {
    let mut cursor = Cursor { text, at: 0, about: String::new() };
    let mut events = Vec::new();
    loop {
        cursor.skip();
        if cursor.rest().is_empty() {
            break;
        }
        let line = cursor.line();
        events.push(cursor.event().map_err(|fault| (line, fault))?);
    }
    Ok((cursor.about, events))
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
    about: String,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The line that it is in, from 1.
    fn line(&self) -> usize {
        1 + self.text[..self.at].matches('\n').count()
    }

    /// Passes spaces and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("//") || trimmed.starts_with('#') {
                let comment = self.line_here();
                self.record(comment.trim_start_matches(['/', '#']));
                self.at += comment.len();
            } else if trimmed.starts_with("/*") {
                let length = trimmed.find("*/").map_or(trimmed.len(), |end| end + 2);
                let comment = trimmed[..length].trim_start_matches("/*").trim_end_matches("*/");
                let first =
                    comment.lines().map(|line| line.trim_matches([' ', '*'])).find(|line| !line.is_empty());
                self.record(first.unwrap_or_default());
                self.at += length;
            } else {
                return;
            }
        }
    }

    /// Takes the first comment that says anything for the description.
    fn record(&mut self, comment: &str) {
        let comment = comment.trim();
        // Scripts of the suites begin with a licence, which says nothing of the test.
        let is_licence = comment.starts_with("SPDX") || comment.starts_with("Copyright");
        if self.about.is_empty() && !is_licence {
            self.about = comment.chars().take(LONGEST_ABOUT).collect();
        }
    }

    fn line_here(&self) -> &'a str {
        self.rest().split('\n').next().unwrap_or_default()
    }

    /// Takes up to `end` and `end` itself.
    fn through(&mut self, end: &str) -> Result<&'a str, Fault> {
        let rest = self.rest();
        let length =
            rest.find(end).ok_or_else(|| Fault::wrong(format!("there is no {end} that ends this")))?;
        self.at += length + end.len();
        Ok(&rest[..length])
    }

    fn event(&mut self) -> Result<DrillEvent, Fault> {
        let (begin, line) = (self.at, self.line());
        // Options and commands take no time: the next step counts from the step before them.
        let immediate = When::After(Span { least: Duration::ZERO, most: Duration::ZERO });
        let (when, until, what) = if self.rest().starts_with("--") {
            let option = self.line_here();
            self.at += option.len();
            // packetdrill allows a comment behind an option.
            let option = option.split("//").next().unwrap_or_default().trim();
            (immediate, None, What::Option(option[2..].to_owned()))
        } else if self.rest().starts_with('`') {
            (immediate, None, self.command()?)
        } else {
            let (when, until) = self.time()?;
            self.skip();
            (when, until, self.what()?)
        };
        let shown: Vec<_> = self.text[begin..self.at].split_ascii_whitespace().collect();
        Ok(DrillEvent { line, text: shown.join(" "), when, until, what })
    }

    fn command(&mut self) -> Result<What, Fault> {
        self.at += 1;
        Ok(What::Command(self.through("`")?.to_owned()))
    }

    fn what(&mut self) -> Result<What, Fault> {
        let rest = self.rest();
        if rest.starts_with('`') {
            return self.command();
        }
        if rest.starts_with("%{") {
            self.at += 2;
            return Ok(What::Code(self.through("}%")?.to_owned()));
        }
        if rest.starts_with(['<', '>']) {
            let line = self.line_here();
            self.at += line.len();
            let packet = line[1..].split("//").next().unwrap_or_default().trim().to_owned();
            return Ok(if rest.starts_with('<') { What::Inject(packet) } else { What::Expect(packet) });
        }
        // A call may have several lines: up to the bracket that closes it, and then its result.
        let mut depth = 0;
        let close = rest.char_indices().find(|(_, letter)| {
            depth += i32::from(*letter == '(') - i32::from(*letter == ')');
            *letter == ')' && depth == 0
        });
        let (close, _) =
            close.ok_or_else(|| Fault::wrong("write a packet, a call or an assertion after the time"))?;
        let result = rest[close..].split('\n').next().unwrap_or_default();
        let length = close + result.len();
        self.at += length;
        let call = rest[..length].split("//").next().unwrap_or_default();
        Ok(What::Call(call.split_ascii_whitespace().collect::<Vec<_>>().join(" ")))
    }

    /// `N`, `+N`, `*`, ranges with `~`, and `...` before the end of a blocking call.
    fn time(&mut self) -> Result<(When, Option<Duration>), Fault> {
        if self.rest().starts_with('*') {
            self.at += 1;
            return Ok((When::Any, None));
        }
        let (is_relative, first) = self.instant()?;
        self.skip();
        // Before the range: `+0...0.3` must not be read as the number `0...`.
        let (until, last) = if self.rest().starts_with("...") {
            self.at += 3;
            self.skip();
            (Some(self.instant()?.1), first)
        } else if self.rest().starts_with('~') {
            self.at += 1;
            self.skip();
            (None, self.instant()?.1)
        } else {
            (None, first)
        };
        if last < first {
            return Err(Fault::wrong("write the smaller time of a range first"));
        }
        let span = Span { least: first, most: last };
        Ok((if is_relative { When::After(span) } else { When::At(span) }, until))
    }

    fn instant(&mut self) -> Result<(bool, Duration), Fault> {
        let rest = self.rest();
        let is_relative = rest.starts_with('+');
        let digits = &rest[usize::from(is_relative)..];
        let end = digits.char_indices().find(|(at, letter)| {
            // The dots of `0...0.3` are no decimal point.
            let is_dots = digits[*at..].starts_with("...");
            is_dots || !(letter.is_ascii_digit() || *letter == '.')
        });
        let number = &digits[..end.map_or(digits.len(), |(at, _)| at)];
        let word = rest.split_whitespace().next().unwrap_or_default();
        let seconds = number.parse::<f64>().ok().filter(|seconds| (0.0..=MOST_SECONDS).contains(seconds));
        let seconds = seconds.ok_or_else(|| {
            Fault::wrong(format!(
                "\"{word}\" is not a time; write seconds, as in 0.1, +.2, +.1~+.2, +0...0.3 or *"
            ))
        })?;
        self.at += usize::from(is_relative) + number.len();
        Ok((is_relative, Duration::from_nanos((seconds * 1e9).round() as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> DrillEvent {
        let (_, mut events) = read(text).unwrap_or_else(|(line, _)| panic!("line {line} of {text}"));
        assert_eq!(events.len(), 1, "{text}");
        events.remove(0)
    }

    fn span(least: u64, most: u64) -> Span {
        Span { least: Duration::from_millis(least), most: Duration::from_millis(most) }
    }

    #[test]
    fn times_are_read_in_each_of_their_forms() {
        for (time, when, until) in [
            ("0", When::At(span(0, 0)), None),
            ("1.5", When::At(span(1500, 1500)), None),
            ("+.2", When::After(span(200, 200)), None),
            ("+0~+.1", When::After(span(0, 100)), None),
            ("1 ~ 2", When::At(span(1000, 2000)), None),
            ("*", When::Any, None),
            ("0...0.3", When::At(span(0, 0)), Some(300)),
            ("+.1 ... .25", When::After(span(100, 100)), Some(250)),
            ("3600", When::At(span(3_600_000, 3_600_000)), None),
        ] {
            let event = one(&format!("{time} > . 1:1(0) ack 1"));
            assert_eq!((event.when, event.until), (when, until.map(Duration::from_millis)), "{time}");
            assert!(matches!(event.what, What::Expect(packet) if packet == ". 1:1(0) ack 1"));
        }
        // Rounded to the nanosecond.
        assert_eq!(
            one("0.0000000016 < .").when,
            When::At(Span { least: Duration::from_nanos(2), most: Duration::from_nanos(2) })
        );
        for text in [
            "3600.1 > .",
            "x > .",
            "+ > .",
            "2~1 > .",
            "1.2.3 > .",
            "0 nothing",
            "0 f((1) = 2",
            "0 %{ a",
            "0 `a",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn events_end_where_they_end() {
        let what = |text: &str| format!("{:?}", one(text).what);
        assert_eq!(what("--a=b // c"), "Option(\"a=b\")");
        assert_eq!(what("`x\ny`"), "Command(\"x\\ny\")");
        assert_eq!(what("+0 `x`"), "Command(\"x\")");
        assert_eq!(what("0 %{ a\nb }%"), "Code(\" a\\nb \")");
        assert_eq!(what("0 < S 0:0(0) // c"), "Inject(\"S 0:0(0)\")");
        assert_eq!(what("0 f(a,\n  g(1)) = 2 // c"), "Call(\"f(a, g(1)) = 2\")");
        let (about, events) =
            read("// SPDX-x\n# Copyright\n/* \n * First.\n * More. */ // Second.\n\n0 > .\n\n1 > .\n")
                .unwrap();
        assert_eq!((about.as_str(), events[0].line, events[1].line), ("First.", 7, 9));
        assert_eq!(events[1].text, "1 > .");
        let (about, events) = read(&format!("// {}\n", "x".repeat(300))).unwrap();
        assert_eq!((about.len(), events.len()), (200, 0));
        assert_eq!(read("0 > .\n\nx\n").unwrap_err().0, 3);
    }
}
