//! Files of movement: readers and writers over text, no file system.
//!
//! - [`setdest`]: what ns-2's `setdest` writes and ns-2 and ns-3 read; BonnMotion and SUMO export it.
//! - [`csv`]: `node,time,x,y`, the corners of every node's trajectory.
//!
//! Every reader returns a [`TraceError`] with file, line and reason; nothing is guessed and nothing half
//! read.

pub mod csv;
pub mod setdest;

use crate::TrajectoryError;
use cogtcp_units::{Time, parse_seconds};

impl TraceReason {
    /// The reason without a text of the file: it may be another's, and nobody's to see.
    pub fn unquoted(&self) -> String {
        match self {
            Self::Line { expected, .. } => format!("this line is not understood; expected {expected}"),
            Self::Field { field, rule, .. } => format!("{field} is wrong; expected {rule}"),
            _ => self.to_string(),
        }
    }
}

/// The most nodes of a file.
pub const MOST_NODES: usize = 100_000;
/// The most corners of all trajectories of a file.
pub const MOST_VERTICES: usize = 20_000_000;

/// What is wrong with a file of movement, and where.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{file}:{line}: {reason}")]
pub struct TraceError {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub reason: TraceReason,
}

/// The kinds of faults.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TraceReason {
    /// No node.
    #[error("the file describes no node; expected {0}")]
    Empty(&'static str),
    /// A line of no known kind.
    #[error("\"{text}\" is not understood; expected {expected}")]
    Line {
        /// The line.
        text: String,
        /// What would be right.
        expected: &'static str,
    },
    /// A field that is not what it should be.
    #[error("{field} is \"{text}\"; expected {rule}")]
    Field {
        /// Its name.
        field: &'static str,
        /// The text found.
        text: String,
        /// What would be right.
        rule: &'static str,
    },
    /// A node that nothing places.
    #[error("node {0} has no position; set its X_ and Y_ before it moves")]
    NoPlace(u32),
    /// A node with one known coordinate.
    #[error(
        "node {node} has {there} and no {missing}; add \"$node_({node}) set {missing} 10\" before it moves"
    )]
    HalfPlace {
        /// The node.
        node: u32,
        /// The coordinate that is set.
        there: &'static str,
        /// The other one.
        missing: &'static str,
    },
    /// Numbers with a gap.
    #[error("node {0} is missing; nodes are numbered from 0 or 1 without a gap")]
    MissingNode(u32),
    /// A coordinate set twice.
    #[error("node {0} is placed twice")]
    PlacedTwice(u32),
    /// A node's times go back.
    #[error("node {0}: this time is not after the one before; sort the lines of a node by time")]
    Unsorted(u32),
    /// A jump.
    #[error("node {0} is set to another place during the run; nodes cannot jump: use setdest")]
    Jump(u32),
    /// More than fits.
    #[error("more than {most} {what}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// A trajectory that is none.
    #[error("node {node}: {error}")]
    Trajectory {
        /// The node.
        node: u32,
        /// What is wrong.
        error: TrajectoryError,
    },
}

/// A line of a file.
#[derive(Clone, Copy)]
struct FileLine<'a> {
    file: &'a str,
    line: usize,
}

impl FileLine<'_> {
    fn error(self, reason: TraceReason) -> TraceError {
        TraceError { file: self.file.to_owned(), line: self.line, reason }
    }

    fn field<T>(
        self,
        field: &'static str,
        text: &str,
        rule: &'static str,
        value: Option<T>,
    ) -> Result<T, TraceError> {
        value.ok_or_else(|| self.error(TraceReason::Field { field, text: shorten(text), rule }))
    }

    fn seconds(self, field: &'static str, text: &str) -> Result<Time, TraceError> {
        let value = parse_seconds(text).filter(|at| *at < Time::from_millis(1_000_000_000_000));
        self.field(field, text, "seconds, as 12.5", value)
    }

    fn metres(self, field: &'static str, text: &str) -> Result<f64, TraceError> {
        // NaN, which parses, is not below anything.
        let value = text.parse().ok().filter(|value: &f64| value.abs() <= 1e9);
        self.field(field, text, "metres, as 250.5, at most 1e9", value)
    }

    fn node(self, text: &str) -> Result<u32, TraceError> {
        let node = self.field("the node", text, "a whole number from 0", text.parse().ok())?;
        if node as usize >= MOST_NODES {
            return Err(self.error(TraceReason::TooMany { what: "nodes", most: MOST_NODES }));
        }
        Ok(node)
    }
}

/// Returns a text of the file as an error quotes it.
fn shorten(text: &str) -> String {
    cogtcp_units::shorten(text, 60)
}
