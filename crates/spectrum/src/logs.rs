//! Files of primary users and channels: readers and writers over text, no file system.
//!
//! - [`pu_log`], [`ch_log`]: the PU-log and the CH-log of MSWiM 2009, sections 4.1 and 4.2.
//! - [`released`]: `map.txt` and `channel.txt` of the released ns-2 code.
//! - [`occupancy`]: measured occupancy as CSV, as states or as powers.
//!
//! Every reader returns a [`LogError`] with file, line and reason; nothing is guessed and nothing half read.

pub mod ch_log;
pub mod occupancy;
pub mod pu_log;
pub mod released;

use crate::{ChannelTableError, IntervalsError};
use cogtcp_units::{Duration, Time, parse_seconds};

/// What is wrong with a log file, and where.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{file}:{line}: {reason}")]
pub struct LogError {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub reason: LogReason,
}

/// The kinds of faults of a log file.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum LogReason {
    /// The file holds nothing.
    #[error("the file is empty; expected {expected}")]
    Empty {
        /// What the file should begin with.
        expected: &'static str,
    },
    /// The file ends too early.
    #[error("the file ends here; expected {expected}")]
    Truncated {
        /// What should follow.
        expected: String,
    },
    /// Text after the end.
    #[error("\"{found}\" after the end of the data; delete it, or correct the counts above")]
    Trailing {
        /// The first word too many.
        found: String,
    },
    /// A line with another number of fields than its kind has.
    #[error("{found} fields; expected {expected}")]
    Fields {
        /// The fields of such a line.
        expected: &'static str,
        /// How many there are.
        found: usize,
    },
    /// A field that is not what it should be.
    #[error("{field} is \"{text}\"; expected {rule}")]
    Field {
        /// The field's name.
        field: &'static str,
        /// The text found.
        text: String,
        /// What would be right.
        rule: &'static str,
    },
    /// A PU described twice.
    #[error("PU {0} is described twice; give each its own number")]
    DuplicatePu(u32),
    /// Activity of a PU that is not described above.
    #[error("PU {0} is not described in the first part of the file")]
    UnknownPu(u32),
    /// The description of a PU among the activity.
    #[error("a description of a PU comes after the first ON period; write all descriptions first")]
    DescriptionTooLate,
    /// A PU's intervals are no timeline.
    #[error("PU {id}: {error}")]
    Timeline {
        /// The PU.
        id: u32,
        /// What is wrong.
        error: IntervalsError,
    },
    /// A channel described twice.
    #[error("channel {0} is described twice")]
    DuplicateChannel(String),
    /// A channel left out.
    #[error("channel {0} is missing; every channel up to the highest number needs a line")]
    MissingChannel(String),
    /// The channels do not make a table.
    #[error("{0}")]
    Table(ChannelTableError),
    /// Samples of a band out of order.
    #[error(
        "band {band}: the sample at {time} s comes after a later one; sort the samples of a band by time"
    )]
    Unsorted {
        /// The band.
        band: u32,
        /// The sample's time in seconds.
        time: String,
    },
    /// Samples are missing.
    #[error(
        "no sample for \"{gap}\" before this one, and samples come every \"{usual}\"; fill the gap, or cut the file there"
    )]
    Gap {
        /// How long there is none.
        gap: Duration,
        /// The usual distance of samples.
        usual: Duration,
    },
}

impl LogReason {
    /// The reason without a text of the file: it may be another's, and nobody's to see.
    pub fn unquoted(&self) -> String {
        match self {
            Self::Trailing { .. } => {
                "there is text after the end of the data; delete it, or correct the counts above".to_owned()
            }
            Self::Field { field, rule, .. } => format!("{field} is wrong; expected {rule}"),
            _ => self.to_string(),
        }
    }
}

/// A primary user that a format cannot express.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WriteError {
    /// The PU-log has powers only.
    #[error("PU {0} reaches by range, and a PU-log holds powers; convert the range to a power first")]
    RangeInPuLog(u32),
    /// A range without end.
    #[error("PU {0} is heard everywhere, which no range in map.txt can express")]
    Everywhere(u32),
    /// `map.txt` has ranges only.
    #[error("PU {0} reaches by power, and map.txt holds ranges; convert the power to a range first")]
    PowerInMap(u32),
}

/// One line or word of a file, with where it is.
#[derive(Clone, Copy)]
struct FileLine<'a> {
    file: &'a str,
    line: usize,
}

impl FileLine<'_> {
    fn error(self, reason: LogReason) -> LogError {
        LogError { file: self.file.to_string(), line: self.line, reason }
    }

    fn field<T>(
        self,
        field: &'static str,
        text: &str,
        rule: &'static str,
        value: Option<T>,
    ) -> Result<T, LogError> {
        value.ok_or_else(|| self.error(LogReason::Field { field, text: shorten(text), rule }))
    }

    fn seconds(self, field: &'static str, text: &str) -> Result<Time, LogError> {
        self.field(field, text, "seconds, as 12.5", parse_seconds(text))
    }

    fn integer(self, field: &'static str, text: &str, least: u32) -> Result<u32, LogError> {
        let value = text.parse().ok().filter(|value| *value >= least);
        let rule = if least == 0 { "a whole number from 0" } else { "a whole number from 1" };
        self.field(field, text, rule, value)
    }

    fn finite(self, field: &'static str, text: &str) -> Result<f64, LogError> {
        let value = text.parse().ok().filter(|value: &f64| value.is_finite());
        self.field(field, text, "a number", value)
    }

    fn not_negative(self, field: &'static str, text: &str) -> Result<f64, LogError> {
        let value = text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
        self.field(field, text, "a number from 0", value)
    }

    /// A capacity in bit/s, above zero.
    fn rate(self, field: &'static str, text: &str) -> Result<cogtcp_units::Rate, LogError> {
        let value = text.parse().ok().filter(|value: &f64| *value >= 1.0 && *value < 9.2e18);
        let bits = self.field(field, text, "a rate in bit/s, from 1", value)?;
        // The cast truncates; 0.5 rounds to the nearest.
        Ok(cogtcp_units::Rate::from_bits_per_second((bits + 0.5) as u64))
    }
}

/// Returns a field as an error quotes it.
fn shorten(text: &str) -> String {
    cogtcp_units::shorten(text, 40)
}

/// The lines that carry data, without comments (`#` to the end of the line) and angle brackets, split in
/// fields at commas and blanks.
fn data_lines<'a>(file: &'a str, text: &'a str) -> impl Iterator<Item = (FileLine<'a>, Vec<&'a str>)> {
    // Some editors put a byte-order mark before the first line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().enumerate().filter_map(move |(index, line)| {
        let line = line.split('#').next().unwrap_or_default().trim();
        let line = line.strip_prefix('<').and_then(|inner| inner.strip_suffix('>')).unwrap_or(line);
        let line = line.trim();
        let fields: Vec<&str> = if line.contains(',') {
            line.split(',').map(str::trim).collect()
        } else {
            line.split_whitespace().collect()
        };
        (!line.is_empty()).then_some((FileLine { file, line: index + 1 }, fields))
    })
}
