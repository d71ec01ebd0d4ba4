//! The bounds of what a scenario may ask for: beyond them it is a slip of the pen, or a run that never ends.

use cogtcp_units::Duration;

/// The longest run, and the longest duration anywhere: 11.5 days.
pub(crate) const LONGEST: Duration = Duration::from_secs(1_000_000);
/// The longest propagation delay: Earth to Mars at its nearest is 190 s.
pub(crate) const LONGEST_DELAY: Duration = Duration::from_secs(1_000);
/// The most flows.
pub(crate) const MOST_FLOWS: u64 = 100_000;
/// The most pairs of a dumbbell.
pub(crate) const MOST_PAIRS: u32 = 100_000;
/// The most hops of a chain.
pub(crate) const MOST_HOPS: u32 = 1_000;
/// The most nodes of a graph.
pub(crate) const MOST_NODES: usize = 10_000;
/// The most points of a time series, and the most interruptions of a radio, in one run.
pub(crate) const MOST_POINTS: u64 = 10_000_000;
/// The most rows of all time series together that a run records: a row takes some 150 bytes of memory.
pub const MOST_SERIES_ROWS: u64 = 20_000_000;
/// The largest queue in bytes: 1 TB.
pub(crate) const LARGEST_QUEUE: u64 = 1_000_000_000_000;
/// The largest transfer: 1 PB.
pub(crate) const LARGEST_SIZE: u64 = 1_000_000_000_000_000;
/// The largest segment: 65535 bytes of IPv4 packet without the two headers.
pub(crate) const LARGEST_SEGMENT: u64 = 65_495;
/// The largest receive buffer: the largest window that RFC 7323 can advertise.
pub(crate) const LARGEST_BUFFER: u64 = 1 << 30;
/// The most channels of a spectrum.
pub(crate) const MOST_CHANNELS: u64 = 10_000;
/// The largest scenario, in bytes. A scenario is a page of text: what is a hundred times that is some other
/// file.
pub(crate) const LARGEST_SCENARIO: u64 = 4_000_000;
/// The largest file of primary users or channels, in bytes.
pub(crate) const LARGEST_LOG: u64 = 100_000_000;
/// The largest map of a line, in bytes.
pub(crate) const LARGEST_MAP: u64 = 10_000_000;
/// The most measurements of a radio on a journey, in one run.
pub(crate) const MOST_MEASUREMENTS: u64 = 2_000_000;
/// The most errors that are collected from one scenario.
pub(crate) const MOST_PROBLEMS: usize = 100;
