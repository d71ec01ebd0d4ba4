//! The receiving end: a TCP receiver for each subflow, and one reassembly of the data.

use crate::counts::Count;
use crate::wire::{Mptcp, decode, encode};
use cogtcp_endpoint::{Datagram, Endpoint, EndpointEvent, Outgoing, PathId, Progress, Received, Waiting};
use cogtcp_transport::{Flags, Reassembly, Receiver, ReceiverConfig, ReceiverState, Segment};
use cogtcp_units::Time;
use std::sync::Arc;

/// The receiving end of a connection.
// Departure: data counts as received when it reaches its subflow, in the subflow's order or not. Linux passes
// it on in the subflow's order.
#[derive(Debug)]
pub struct MptcpReceiver {
    subflows: Vec<Incoming>,
    buffer: u64,
    data: Reassembly,
    delivered: u64,
    received: u64,
}

#[derive(Debug)]
struct Incoming {
    tcp: Receiver,
    /// The window scale that this end announced.
    scale: u8,
    /// The peer joins with this subflow; else the subflow opens the connection.
    join: bool,
    /// Bytes of data that this subflow brought first.
    first_bytes: u64,
    /// Bytes of data that other subflows had brought.
    second_bytes: u64,
}

impl Incoming {
    /// Bytes of payload that brought nothing new.
    fn duplicate_bytes(&self) -> u64 {
        let stats = self.tcp.stats();
        self.second_bytes + stats.duplicate_bytes + stats.out_of_window_bytes
    }
}

impl MptcpReceiver {
    /// A receiver at rest, with a subflow on each of `paths` paths. The buffer of `config` is the
    /// connection's.
    pub fn new(config: &Arc<ReceiverConfig>, paths: usize) -> Self {
        let subflow = |index: usize| Incoming {
            tcp: Receiver::new(Arc::clone(config)),
            scale: 0,
            join: index > 0,
            first_bytes: 0,
            second_bytes: 0,
        };
        Self {
            subflows: (0..paths).map(subflow).collect(),
            buffer: config.buffer,
            data: Reassembly::new(0),
            delivered: 0,
            received: 0,
        }
    }

    /// Bytes that wait for earlier data: at most the buffer.
    pub fn queued(&self) -> u64 {
        self.data.queued()
    }
}

impl Endpoint for MptcpReceiver {
    type Packet = Datagram;

    fn open(&mut self, _now: Time) {
        for subflow in &mut self.subflows {
            if subflow.tcp.state() != ReceiverState::Listen {
                subflow.tcp.renew();
                subflow.scale = 0;
            }
        }
    }

    fn handle_packet(&mut self, now: Time, received: Received<'_, Datagram>) {
        let Some((mut segment, mptcp)) = decode(received.packet) else { return };
        let Some(subflow) = self.subflows.get_mut(usize::from(received.path.0)) else { return };
        if received.marked {
            segment.mark();
        }
        let was_listening = subflow.tcp.state() == ReceiverState::Listen;
        subflow.tcp.handle_segment(now, &segment);
        if was_listening
            && subflow.tcp.state() != ReceiverState::Listen
            && let Some(first) = mptcp.capable
        {
            self.data = Reassembly::new(first);
        }
        let Some(map) = mptcp.map else { return };
        for run in subflow.tcp.accepted() {
            let start = map + u64::from(run.skip);
            let range = start..start + u64::from(run.len);
            debug_assert!(range.end <= self.data.frontier() + self.buffer, "beyond the window: {range:?}");
            let insertion = self.data.insert(range, |_| {});
            self.delivered += insertion.advanced;
            self.received += insertion.new_bytes;
            subflow.first_bytes += insertion.new_bytes;
            subflow.second_bytes += u64::from(run.len) - insertion.new_bytes;
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        for subflow in &mut self.subflows {
            if subflow.tcp.poll_timeout() <= now {
                subflow.tcp.handle_timeout(now);
            }
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<Datagram>> {
        for (path, subflow) in (0..).zip(&mut self.subflows) {
            let Some(mut segment) = subflow.tcp.poll_transmit(now) else { continue };
            if let Some(scale) = segment.window_scale() {
                subflow.scale = scale;
            }
            let is_syn = segment.flags.contains(Flags::SYN);
            // The application reads at once: the window reaches a buffer beyond the DATA_ACK. That of a SYN
            // is not scaled.
            let shift = if is_syn { 0 } else { subflow.scale };
            segment.window = u16::try_from(self.buffer >> shift).unwrap_or(u16::MAX);
            let frontier = self.data.frontier();
            let mptcp = Mptcp {
                capable: (is_syn && !subflow.join).then_some(frontier),
                join: subflow.join,
                ack: Some(frontier),
                ..Mptcp::default()
            };
            return Some(outgoing(path, &segment, &mptcp));
        }
        None
    }

    fn poll_timeout(&self) -> Time {
        self.subflows.iter().map(|subflow| subflow.tcp.poll_timeout()).min().unwrap_or(Time::MAX)
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        for subflow in &mut self.subflows {
            while subflow.tcp.poll_event().is_some() {}
        }
        None
    }

    fn progress(&self) -> Progress {
        Progress {
            delivered_bytes: self.delivered,
            received_bytes: self.received,
            duplicate_bytes: self.subflows.iter().map(Incoming::duplicate_bytes).sum(),
            waiting: Waiting::Nothing,
            ..Progress::default()
        }
    }

    fn count(&self, show: &mut dyn FnMut(&'static str, f64)) {
        for (path, subflow) in self.subflows.iter().enumerate() {
            show(Count::first_bytes.name(path), subflow.first_bytes as f64);
            show(Count::duplicate_bytes.name(path), subflow.duplicate_bytes() as f64);
        }
    }
}

/// The packet of `segment` on `path`.
pub(crate) fn outgoing(path: u16, segment: &Segment, mptcp: &Mptcp) -> Outgoing<Datagram> {
    Outgoing {
        packet: encode(segment, mptcp),
        path: PathId(path),
        ecn_capable: segment.is_ecn_capable(),
        data: segment.len,
    }
}
