//! What a flow asks of the two ends of its connection, whichever transport they are.

use super::shared::{PathStreams, Shared, Snapshot};
use crate::multipath::PathCounts;
use crate::{End, Plane};
use cogtcp_crosslayer::LinkEvent;
use cogtcp_endpoint::{LogEntry, PathId, SpectrumDatabase, Supply};
use cogtcp_network::{Awaited, Reached};
use cogtcp_records::tables::FlowSample;
use cogtcp_units::Time;
use std::sync::Arc;

/// Both ends of a connection. A verb that may send gets what the hosts share, and the plane to send on.
pub(super) trait BothEnds {
    /// The application offers data. Whether it opens the connection with them, and whether it has no more.
    fn offer(
        &mut self,
        now: Time,
        what: Supply,
        opens_and_ends: (bool, bool),
        hosts: &mut Shared,
        plane: &mut impl Plane,
    );

    /// The application has no more data.
    fn close(&mut self, now: Time, hosts: &mut Shared, plane: &mut impl Plane);

    /// Returns when the timer of `end` is due.
    fn due(&mut self, end: End) -> Time;

    /// The timer of `end` is due.
    fn expire(&mut self, now: Time, end: End, hosts: &mut Shared, plane: &mut impl Plane);

    /// The radio beside the sender reports.
    fn link_event(&mut self, now: Time, event: LinkEvent, hosts: &mut Shared, plane: &mut impl Plane);

    /// True once the connection is over.
    fn is_closed(&self) -> bool;

    /// Returns what the sender of an open connection waits for on a path.
    fn awaits(&self, path: PathId, hosts: &Shared, plane: &impl Plane) -> Awaited;

    /// Returns what the two ends count themselves; the rest of the snapshot is zero.
    fn counts(&self) -> Snapshot;

    /// Returns payload that has reached the receiver for the first time, and again or in vain.
    fn received(&self) -> (u64, u64);

    /// Payload handed to the receiving application so far.
    fn delivered(&self) -> u64;

    /// Most bytes of application data in a packet.
    fn segment_size(&self) -> u32;

    /// A point of the flow's series, without flow, time and goodput.
    fn sample(&self) -> FlowSample;

    /// Shows the variables of the congestion control, or of the transport.
    fn observe(&self, show: &mut dyn FnMut(&str, f64));

    /// Asks for the memory of `end`. Nothing where an end is behind a pointer.
    fn prefetch(&self, _end: End) {}

    /// Asks for what `end` points to, whose own memory is at hand.
    fn prefetch_depth(&self, _end: End) {}

    /// The paths beyond the first; TCP has none.
    fn further(&self) -> &[PathStreams] {
        &[]
    }

    /// The warm-up is over: counts by path begin.
    fn end_warmup(&mut self) {}

    /// The measured span has ended: the bottleneck of each of several paths, and what arrived over it.
    fn set_measured(&mut self, _by_path: Vec<(Option<u32>, Reached)>) {}

    /// Returns what [`set_measured`](Self::set_measured) was given; empty: there is one path.
    fn measured(&self) -> &[(Option<u32>, Reached)] {
        &[]
    }

    /// Returns the counts of the subflows since the end of the warm-up, by path; empty: there are none.
    fn subflows(&self) -> PathCounts {
        PathCounts::default()
    }

    /// Gives both ends a database of primary users, before they open. TCP asks none.
    fn use_database(&mut self, _database: &Arc<dyn SpectrumDatabase>) {}

    /// Keeps a log of each end from now on. TCP has none.
    fn keep_logs(&mut self) {}

    /// Takes what the sender and the receiver have logged.
    fn take_logs(&mut self) -> [Vec<LogEntry>; 2] {
        Default::default()
    }
}
