//! What a flow's two hosts share, whatever the transport: streams, counters, timer entries.

use crate::quic::QuicCounts;
use crate::{End, Plane, Wake};
use cogtcp_network::{Reached, StreamCounters, StreamId};
use cogtcp_transport::SenderStats;
use cogtcp_units::Time;

/// What every packet needs of a flow besides its ends.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Shared {
    /// When each end's next timer entry in the event queue is due, and the one after it; `Time::MAX`: none.
    /// An entry due at another time is stale.
    armed: [Time; 2],
    armed_after: [Time; 2],
    /// What the two hosts counted of the data and of the acknowledgements, on the first path.
    pub(super) counters: [StreamCounters; 2],
    /// Bytes on the wire of the data packets that reached the receiver.
    pub(super) arrived_bytes: u64,
    /// The streams of the first path, which TCP alone uses: data, acknowledgements.
    pub(super) ids: [StreamId; 2],
    pub(super) number: u32,
    pub(super) started: bool,
    pub(super) stopped: bool,
    /// The application is told when the flow's goal is reached; else the flow is complete.
    pub(super) is_awaited: bool,
}

impl Shared {
    pub(super) fn at_rest(number: u32, ids: [StreamId; 2]) -> Self {
        Self {
            armed: [Time::MAX; 2],
            armed_after: [Time::MAX; 2],
            counters: [StreamCounters::default(); 2],
            arrived_bytes: 0,
            ids,
            number,
            started: false,
            stopped: false,
            is_awaited: false,
        }
    }

    /// Whether `end`'s timer needs another entry in the event queue, if it is due at `due`.
    #[inline]
    pub(super) fn needs_entry(&self, end: End, due: Time) -> bool {
        due < self.armed[end.index()]
    }

    /// Makes sure that an entry of `end`'s timer is due no later than `due`. An entry that comes too early
    /// moves itself.
    #[inline]
    pub(super) fn arm(&mut self, end: End, due: Time, plane: &mut impl Plane) {
        if self.needs_entry(end, due) {
            self.armed_after[end.index()] = std::mem::replace(&mut self.armed[end.index()], due);
            plane.wake(due, self.number, Wake::Timer(end));
        }
    }

    /// Takes the timer entry of `end` that is due at `now`. Returns false for a stale entry.
    pub(super) fn disarm(&mut self, now: Time, end: End) -> bool {
        let is_next = self.armed[end.index()] == now;
        if is_next {
            // Of the entries that earlier ones have overtaken the nearest is remembered: a timer that was put
            // off to that time or beyond needs no new one.
            self.armed[end.index()] = std::mem::replace(&mut self.armed_after[end.index()], Time::MAX);
        }
        is_next
    }
}

/// The streams of a path, of data and of acknowledgements, and what the hosts counted of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathStreams {
    pub(super) ids: [StreamId; 2],
    pub(super) counters: [StreamCounters; 2],
    /// Bytes on the wire of the data packets that arrived over it, in all and by the end of the warm-up.
    pub(super) arrived_bytes: u64,
    pub(super) warm_bytes: u64,
}

/// Counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Packets sent with data.
    pub sent: u64,
    /// Packets with data sent before.
    pub resent: u64,
    /// Counters of TCP's sender; zeros where the transport is another.
    pub tcp: SenderStats,
    /// QUIC's counts; zeros where the transport is another.
    pub quic: QuicCounts,
    /// Packets that arrived, of the data and of the acknowledgements.
    pub arrived: [u64; 2],
    /// Packets that were dropped, of the data and of the acknowledgements.
    pub dropped: [u64; 2],
    /// Payload delivered to the application.
    pub delivered: u64,
    /// What has reached the receiving host.
    pub arrivals: Reached,
}
