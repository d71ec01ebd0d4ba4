//! A subflow at the sender: TCP, and which data its bytes carry.

use crate::mappings::{Mapping, Mappings};
use cogtcp_transport::{CaState, Flags, Segment, Sender};
use cogtcp_units::{Duration, Time};

/// Data to send: the first data sequence number, and how many bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Chunk {
    pub(crate) data: u64,
    pub(crate) len: u64,
    /// Another subflow has sent the data before.
    pub(crate) is_copy: bool,
}

/// A segment that leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) segment: Segment,
    /// Data sequence number of the payload.
    pub(crate) map: Option<u64>,
    /// Bytes of the offered chunk in it.
    pub(crate) taken: u64,
}

#[derive(Debug)]
pub(crate) struct Subflow {
    pub(crate) tcp: Sender,
    pub(crate) mappings: Mappings,
    /// Offset after all that was sent.
    sent_to: u64,
    /// The window scale that the peer announced.
    pub(crate) scale: u8,
    /// Redundant: the first data that this subflow has not sent.
    pub(crate) next_data: u64,
    /// The subflow is given up, or the connection that it belonged to is over.
    pub(crate) is_gone: bool,
    pub(crate) is_closing: bool,
    /// Bytes of data sent on this subflow after another subflow sent them.
    pub(crate) repeated_bytes: u64,
    /// Bytes of data of this subflow that were queued for others.
    pub(crate) reinjected_bytes: u64,
    /// Samples of the round-trip time, and their sum.
    pub(crate) round_trips: u64,
    pub(crate) round_trips_total: Duration,
    /// The count of delivered bytes with the latest round-trip time that was told.
    pub(crate) timed_at: u64,
}

impl Subflow {
    pub(crate) fn new(mut tcp: Sender) -> Self {
        tcp.set_fed();
        Self {
            tcp,
            mappings: Mappings::default(),
            sent_to: 1,
            scale: 0,
            next_data: 0,
            is_gone: false,
            is_closing: false,
            repeated_bytes: 0,
            reinjected_bytes: 0,
            round_trips: 0,
            round_trips_total: Duration::ZERO,
            timed_at: 0,
        }
    }

    /// An acknowledgement gave a sample of the round-trip time.
    pub(crate) fn record_round_trip(&mut self, sample: Duration) {
        self.round_trips += 1;
        self.round_trips_total += sample;
    }

    /// Forgets the connection before a new one; `tcp` has been renewed.
    pub(crate) fn renew(&mut self) {
        self.mappings.clear();
        (self.sent_to, self.scale, self.next_data) = (1, 0, 0);
        (self.is_gone, self.is_closing) = (false, false);
    }

    /// The subflow takes data.
    pub(crate) fn is_open(&self) -> bool {
        self.tcp.is_established() && !self.is_gone && !self.is_closing
    }

    /// The subflow timed out and has not recovered: what it sends may be lost.
    pub(crate) fn has_failed(&self) -> bool {
        self.tcp.state().ca_state == CaState::Loss
    }

    /// The subflow takes data that is likely to arrive.
    pub(crate) fn is_usable(&self) -> bool {
        self.is_open() && !self.has_failed()
    }

    pub(crate) fn mss(&self) -> u64 {
        self.tcp.state().mss
    }

    pub(crate) fn srtt(&self) -> Duration {
        self.tcp.state().srtt
    }

    /// Returns the next segment, `chunk` offered: TCP decides whether it sends that now, or something else.
    pub(crate) fn poll(&mut self, now: Time, chunk: Option<Chunk>) -> Option<Departure> {
        if self.is_gone {
            return None;
        }
        let offered = chunk.map_or(0, |chunk| chunk.len);
        if offered > 0 {
            self.tcp.write(offered);
        }
        let segment = self.tcp.poll_transmit(now);
        let offset = segment.map_or(0, |segment| self.offset(&segment));
        let is_data = segment.is_some_and(|segment| segment.len > 0);
        let mut taken = 0;
        if let (Some(segment), Some(chunk)) = (&segment, chunk)
            && is_data
            && offset == self.sent_to
        {
            taken = u64::from(segment.len);
            debug_assert!(taken <= offered, "more was sent than offered");
            let Chunk { data, is_copy, .. } = chunk;
            self.mappings.push(Mapping { at: offset, data, len: taken, is_copy, reinjected: false });
            self.sent_to += taken;
        }
        if taken < offered {
            self.tcp.take_back(offered - taken);
        }
        let segment = segment?;
        let map = if is_data { self.mappings.data_at(offset) } else { None };
        debug_assert!(!is_data || map.is_some(), "data without a mapping: {segment:?}");
        Some(Departure { segment, map, taken })
    }

    fn offset(&self, segment: &Segment) -> u64 {
        let una = self.tcp.state().snd_una;
        segment.seq.offset_near(self.tcp.config().handshake.initial_sequence, una).unwrap_or(0)
    }

    /// A segment has arrived, with the window taken out that belongs to the connection.
    pub(crate) fn handle(&mut self, now: Time, segment: &Segment) {
        if segment.flags.contains(Flags::SYN) {
            self.scale = segment.window_scale().unwrap_or(0);
        }
        // The window counts from the DATA_ACK (RFC 8684 section 3.3.4): it is the connection's, and limits no
        // subflow.
        let mut seen = *segment;
        seen.window = u16::MAX;
        self.tcp.handle_segment(now, &seen);
        self.mappings.acknowledge(self.tcp.state().snd_una);
    }
}
