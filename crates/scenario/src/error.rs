//! What is wrong with a scenario, where, and what would be right.

use std::fmt;
use std::num::NonZeroU32;

/// The most errors of one scenario that are written out.
const MOST_SHOWN: usize = 10;

/// The first thing that is wrong with a scenario, and in `more` what else was found.
///
/// It reads
/// `sensed.toml:12:8: topology.dumbbell.bottleneck.rate: "-3 Mbit/s" is not a rate: it is negative; ...`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ScenarioError {
    /// The file, as its reader named it.
    pub file: Box<str>,
    /// Line, from 1; none where the scenario did not come from a text.
    pub line: Option<NonZeroU32>,
    /// Column in characters, from 1.
    pub column: Option<NonZeroU32>,
    /// Path of the field, as `"topology.dumbbell.bottleneck.rate"` or `"flow.0.to"`; empty for the whole
    /// file.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// What would be right; empty where the message says it.
    pub remedy: Box<str>,
    /// The line of the source with carets under the error, in three lines; empty if the place is unknown.
    pub excerpt: Box<str>,
    /// Further errors of the same scenario.
    pub more: Box<[ScenarioError]>,
}

impl std::error::Error for ScenarioError {}

impl ScenarioError {
    /// An error about the file as a whole.
    pub(crate) fn of_file(file: &str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: None,
            column: None,
            field: String::new(),
            message: message.into(),
            remedy: remedy.into().into(),
            excerpt: Box::default(),
            more: Box::default(),
        }
    }

    /// The same error at `line` and `column`, from 1.
    pub(crate) fn at(mut self, (line, column): (usize, usize)) -> Self {
        let number = |number| u32::try_from(number).ok().and_then(NonZeroU32::new);
        (self.line, self.column) = (number(line), number(column));
        self
    }

    /// This error and then `more`, as one; `None` for no errors.
    pub(crate) fn from_all(errors: Vec<Self>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let mut first = errors.next()?;
        first.more = errors.collect();
        Some(first)
    }

    /// This error and then each of `more`.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.more)
    }

    fn write_one(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": {}", self.message)?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_one(f)?;
        for error in self.more.iter().take(MOST_SHOWN - 1) {
            f.write_str("\n")?;
            error.write_one(f)?;
        }
        match self.more.len().saturating_sub(MOST_SHOWN - 1) {
            0 => Ok(()),
            left => write!(f, "\n... and {left} more"),
        }
    }
}
