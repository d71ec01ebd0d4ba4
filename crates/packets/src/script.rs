//! A script as it was read.

use crate::packet::PacketPattern;
use cogtcp_scenario::TcpSpec;
use cogtcp_units::Duration;
use std::fmt;

/// What is wrong with a script, where, and what would be right.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct ScriptError {
    /// The file, as it was named.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// A packet script.
#[derive(Clone, Debug)]
pub struct Script {
    /// The file, as it was named by whoever opened it.
    pub file: String,
    /// What it is about, in a sentence.
    pub about: String,
    /// The end under test: its transport and settings.
    pub flow: TcpSpec,
    /// Name of its transport.
    pub transport: String,
    /// Settings of the kernel that no setting of a flow stands for: names below `net.` and values.
    pub kernel: Vec<(String, String)>,
    /// What happens, in order.
    pub steps: Vec<Step>,
    /// In what the two planes differ, in order: line and reason.
    pub differences: Vec<(usize, String)>,
}

/// Whose endpoints.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PlaneName {
    /// The model's: `Sender` and `Receiver`.
    Sim,
    /// Those of this machine's Linux.
    Kernel,
}

impl PlaneName {
    /// As scripts and the command line have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Kernel => "kernel",
        }
    }
}

/// A line of a script.
#[derive(Clone, Debug)]
pub struct Step {
    /// Line of the file, from 1.
    pub line: usize,
    /// The line as it stands there.
    pub text: String,
    /// Where it is valid; none: on both planes.
    pub plane: Option<PlaneName>,
    /// How long after the step before.
    pub after: Span,
    /// What happens.
    pub action: Action,
}

/// A span of time, from the least to the most.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Span {
    /// At least.
    pub least: Duration,
    /// At most.
    pub most: Duration,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Action {
    /// The application calls.
    Call(Call),
    /// The peer sends.
    Inject(PacketPattern),
    /// The end under test sends.
    Expect(PacketPattern),
    /// It sends nothing for so long.
    Nothing,
    /// What the end says of itself.
    Measure(Measure, u64),
}

/// A call of the application.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call {
    /// Begins to connect.
    Connect,
    /// Listens.
    Listen,
    /// Takes the connection, which must be established.
    Accept,
    /// Writes so many bytes.
    Write(u64),
    /// Reads exactly so many bytes, which must be there.
    Read(u64),
    /// Closes.
    Close,
    /// Leaves the mode in which Linux acknowledges every segment at the start of a connection (`TCP_QUICKACK`, 0). The model has
    /// none.
    LeaveQuickAck,
}

/// What an end says of itself (`tcp_info`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Measure {
    /// The congestion window, segments.
    Cwnd,
    /// The slow start threshold, segments.
    Ssthresh,
}

impl Measure {
    /// As scripts have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cwnd => "cwnd",
            Self::Ssthresh => "ssthresh",
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{}", seconds(self.least))?;
        if self.most > self.least { write!(f, "~{}", seconds(self.most)) } else { Ok(()) }
    }
}

/// Seconds, as short as they go.
pub(crate) fn seconds(span: Duration) -> String {
    let text = format!("{:.6}", span.as_nanos() as f64 / 1e9);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
