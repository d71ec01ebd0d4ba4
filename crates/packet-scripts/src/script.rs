//! A script as it was read.

use crate::drill::Statement;
use crate::packet::{Icmp, PacketPattern};
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
    /// The script is sound but asks for something that no plane has, which the message names.
    pub is_out_of_scope: bool,
}

impl ScriptError {
    /// An error of the script.
    pub fn wrong(file: &str, line: usize, message: String) -> Self {
        Self { file: file.to_owned(), line, message, is_out_of_scope: false }
    }
}

/// How far a packet or the end of a blocking call may be from its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slack {
    /// Never less than this.
    pub least: Duration,
    /// Share of the time since the step before.
    pub share: f64,
    /// Tick of the timestamps that the script names (`--tcp_ts_tick_usecs`); `None`: they are not compared.
    pub stamp_tick: Option<Duration>,
}

/// A packet script.
#[derive(Clone, Debug)]
pub struct Script {
    /// The file, as its reader named it.
    pub file: String,
    /// What it is about, in a sentence.
    pub about: String,
    /// The end under test: its transport and settings.
    pub flow: TcpSpec,
    /// Name of its transport.
    pub transport: String,
    /// Settings of the kernel: names below `net.` and values.
    pub kernel: Vec<(String, String)>,
    /// How far packets may be from their times.
    pub slack: Slack,
    /// Nothing but what the script names may be sent, in segments as it has them.
    pub is_exact: bool,
    /// What happens, in order.
    pub steps: Vec<Step>,
    /// In what the two planes differ, in order: line and reason.
    pub differences: Vec<(usize, String)>,
}

/// Where a script runs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PlaneName {
    /// The model.
    Sim,
    /// Settings of this machine's Linux.
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
    /// When.
    pub when: When,
    /// What happens.
    pub action: Action,
}

/// When a step happens.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum When {
    /// So long after the step before.
    After(Span),
    /// So long after the start of the script.
    At(Span),
    /// At any time.
    Any,
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
    /// The peer sends.
    Inject(PacketPattern),
    /// A router sends ICMP destination unreachable.
    InjectIcmp(Icmp),
    /// The end under test sends.
    Expect(PacketPattern),
    /// It sends nothing for so long.
    Nothing,
    /// The application calls.
    System(System),
    /// What the fields of `tcp_info` are like.
    Assert(Vec<Statement>),
}

/// A call with what it returns.
#[derive(Clone, Debug)]
pub struct System {
    /// The call.
    pub call: Call,
    /// What it returns.
    pub returns: Returns,
    /// When it returns, counted as the step's time; `None`: at once.
    pub until: Option<Duration>,
    /// The socket blocks: a call that cannot go on waits.
    pub blocks: bool,
}

/// What a call returns.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Returns {
    /// A number that does not matter (a descriptor, zero).
    Done,
    /// This number.
    Number(u64),
    /// An error, by its number.
    Error(Errno),
}

/// Errors of calls that scripts expect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Errno {
    /// The call would wait.
    WouldBlock,
    /// The connection is being opened.
    InProgress,
    /// The connection is closed for writing.
    BrokenPipe,
    /// The peer reset the connection.
    Reset,
    /// The peer refused the connection.
    Refused,
    /// The connection was given up.
    TimedOut,
    /// There is no connection.
    NotConnected,
    /// ICMP said that the host cannot be reached.
    Unreachable,
}

impl Errno {
    /// All, with their names in C and their numbers in Linux.
    pub const ALL: [(&'static str, Self, u64); 8] = [
        ("EAGAIN", Self::WouldBlock, 11),
        ("EINPROGRESS", Self::InProgress, 115),
        ("EPIPE", Self::BrokenPipe, 32),
        ("ECONNRESET", Self::Reset, 104),
        ("ECONNREFUSED", Self::Refused, 111),
        ("ETIMEDOUT", Self::TimedOut, 110),
        ("ENOTCONN", Self::NotConnected, 107),
        ("EHOSTUNREACH", Self::Unreachable, 113),
    ];

    /// Its name in C.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, errno, _)| *errno == self).map_or("", |(name, ..)| name)
    }

    /// Its number in Linux.
    pub fn number(self) -> u64 {
        Self::ALL.iter().find(|(_, errno, _)| *errno == self).map_or(0, |(.., number)| *number)
    }
}

/// Why a call failed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CallError {
    /// As a script may expect.
    Errno(Errno),
    /// Otherwise.
    Other(String),
}

impl From<String> for CallError {
    fn from(message: String) -> Self {
        Self::Other(message)
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Errno(errno) => write!(f, "the call failed: {}", errno.name()),
            Self::Other(message) => f.write_str(message),
        }
    }
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
    /// Reads so many bytes at most.
    Read(u64),
    /// Closes.
    Close,
    /// Whether the connection that `Connect` began is established.
    FinishConnect,
    /// Shuts down.
    ShutDown(Side),
    /// Sets an option of the socket.
    SetOption(SocketOption, i32),
    /// Asks for an option of the socket.
    GetOption(SocketOption),
    /// Asks how many bytes can be read (`SIOCINQ`).
    Readable,
}

/// Which direction `shutdown` ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// `SHUT_RD`.
    Read,
    /// `SHUT_WR`.
    Write,
    /// `SHUT_RDWR`.
    Both,
}

/// Options of a socket that matter here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SocketOption {
    /// `TCP_MAXSEG`, bytes.
    MaxSegment,
    /// `TCP_NODELAY`.
    NoDelay,
    /// `TCP_QUICKACK`.
    QuickAck,
    /// `TCP_USER_TIMEOUT`, milliseconds.
    UserTimeout,
    /// `SO_SNDBUF`, bytes.
    SendBuffer,
    /// `SO_RCVBUF`, bytes.
    ReceiveBuffer,
    /// `SO_ERROR`.
    Error,
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
