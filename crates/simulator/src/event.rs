//! What hosts wait for, as entries of the network's agenda.

use crate::parts::codes;
use cogtcp_hosts::{End, Wake};
use cogtcp_network::{MAX_INDEX, host_code, host_parts};
use std::ops::Range;

/// An entry of the simulator's own. The indices are flows'.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Event {
    /// The timer of a flow's connection end.
    Timer(u32, End),
    /// A flow opens its connection.
    FlowStart(u32),
    /// A flow's application stops.
    FlowStop(u32),
    /// A rate-limited application writes.
    Write(u32),
    /// The warm-up ends.
    WarmupEnd,
    /// The time series take a sample.
    Sample,
    /// An event of a part, by its code ([`crate::parts::codes`]).
    Part(u32),
}

impl Event {
    /// The codes of a part's events: of `kind`, with indices in `indices`.
    pub(crate) const fn codes(kind: u32, indices: Range<u32>) -> Range<u32> {
        let first = host_code(kind, indices.start);
        first..first + (indices.end - indices.start)
    }

    /// What flow `flow` asked for.
    #[inline]
    pub(crate) fn of(flow: u32, why: Wake) -> Self {
        match why {
            Wake::Timer(end) => Self::Timer(flow, end),
            Wake::Write => Self::Write(flow),
            Wake::Delivered => Self::Part(codes::application(flow, true)),
            Wake::Ask => Self::Part(codes::application(flow, false)),
        }
    }

    /// The event in 24 bits: four for the kind, the rest for the index.
    #[inline]
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::Timer(flow, end) => host_code(1, 2 * flow + end as u32),
            Self::FlowStart(flow) => host_code(3, flow),
            Self::FlowStop(flow) => host_code(4, flow),
            Self::Write(flow) => host_code(5, flow),
            Self::WarmupEnd => host_code(6, 0),
            Self::Sample => host_code(7, 0),
            Self::Part(code) => code,
        }
    }

    #[inline]
    pub(crate) fn from_code(code: u32) -> Self {
        match host_parts(code) {
            // Kinds 0, 2, 8, 10 and 13 to 15 are the network's: it keeps them in the same agenda.
            (1, index) => Self::Timer(index / 2, End::BOTH[index as usize % 2]),
            (3, index) => Self::FlowStart(index),
            (4, index) => Self::FlowStop(index),
            (5, index) => Self::Write(index),
            (6, 0) => Self::WarmupEnd,
            (7, _) => Self::Sample,
            _ => Self::Part(code),
        }
    }
}

/// Indices of events lie below this.
pub(crate) const MOST: u32 = MAX_INDEX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_their_code() {
        let last = MOST - 1;
        for event in [
            Event::Timer(7, End::Sender),
            Event::Timer(last / 2, End::Receiver),
            Event::FlowStart(last),
            Event::FlowStop(3),
            Event::Write(5),
            Event::WarmupEnd,
            Event::Sample,
            Event::Part(Event::codes(11, 0..MOST).end - 1),
            Event::Part(Event::codes(6, 1..3).start),
        ] {
            assert_eq!(Event::from_code(event.code()), event);
        }
    }
}
