//! The receiver of TP-CRAHN: reassembly, and an acknowledgement for each packet with what nodes wrote into
//! it.

use super::wire::{Ack, Data, MOST_BLOCKS};
use crate::blocks::{blocks_with, enter};
use cogtcp_endpoint::{Datagram, Endpoint, EndpointEvent, Outgoing, PathId, Progress, Received};
use cogtcp_transport::Reassembly;
use cogtcp_units::{Duration, Time};
use std::collections::VecDeque;

/// The receiving end.
#[derive(Debug, Default)]
pub struct TpCrahnReceiver {
    data: Reassembly,
    acks: VecDeque<Ack>,
    was_open: bool,
    is_opening: bool,
    progress: Progress,
}

impl Endpoint for TpCrahnReceiver {
    type Packet = Datagram;

    fn handle_packet(&mut self, _now: Time, received: Received<'_, Datagram>) {
        let Some(data) = Data::decode(&received.packet.bytes) else { return };
        self.is_opening |= !std::mem::replace(&mut self.was_open, true);
        let len = u64::from(received.packet.payload_size().saturating_sub(Data::SIZE));
        let new = enter(&mut self.data, data.offset, data.offset.saturating_add(len));
        self.progress.received_bytes += new;
        self.progress.duplicate_bytes += len - new;
        self.progress.delivered_bytes = self.data.frontier();
        let stamp = received.packet.stamp;
        self.acks.push_back(Ack {
            cumulative: self.data.frontier(),
            number: data.number,
            answers: data.sent,
            delay: Duration::ZERO,
            room: stamp.room().unwrap_or(u64::MAX),
            rate: stamp.rate().map_or(0, |rate| rate.bits_per_second()),
            is_marked: received.marked,
            blocks: blocks_with(&self.data, data.offset, MOST_BLOCKS),
        });
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time) -> Option<Outgoing<Datagram>> {
        let packet = Datagram { bytes: self.acks.pop_front()?.encode(), ..Datagram::default() };
        self.progress.sent_packets += 1;
        Some(Outgoing { packet, path: PathId::default(), ecn_capable: false, data: 0 })
    }

    fn poll_timeout(&self) -> Time {
        Time::MAX
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        std::mem::take(&mut self.is_opening).then_some(EndpointEvent::Connected)
    }

    fn progress(&self) -> Progress {
        self.progress
    }
}
