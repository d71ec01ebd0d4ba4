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

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_transport::{DelayedAck, EcnMode, SeqNumber};
    use std::collections::BTreeMap;

    /// A segment from byte `seq` on arrives on `path`. A SYN offers to scale windows.
    fn take(receiver: &mut MptcpReceiver, path: u16, seq: u32, len: u32, flags: Flags, mptcp: Mptcp) {
        let mut segment = Segment::new(SeqNumber::new(seq), SeqNumber::new(1), len, 65_535, flags);
        if flags.contains(Flags::SYN) {
            segment.set_window_scale(0);
        }
        let packet = encode(&segment, &mptcp);
        receiver.handle_packet(Time::ZERO, Received { packet: &packet, path: PathId(path), marked: false });
    }

    /// What the receiver sends: path, flags, window and MPTCP's part of each segment.
    fn answers(receiver: &mut MptcpReceiver) -> Vec<(u16, Flags, u16, Mptcp)> {
        let sent = std::iter::from_fn(|| receiver.poll_transmit(Time::ZERO));
        let read = |out: Outgoing<Datagram>| {
            let (segment, mptcp) = decode(&out.packet).unwrap();
            (out.path.0, segment.flags, segment.window, mptcp)
        };
        sent.map(read).collect()
    }

    fn map(data: u64) -> Mptcp {
        Mptcp { ack: Some(0), map: Some(data), ..Mptcp::default() }
    }

    fn capable(first: u64) -> Mptcp {
        Mptcp { capable: Some(first), ..Mptcp::default() }
    }

    /// A receiver on two paths with a buffer of 1 MiB, which acknowledges each segment.
    fn receiver() -> MptcpReceiver {
        let config =
            ReceiverConfig { buffer: 1 << 20, delayed_ack: DelayedAck::Off, ..ReceiverConfig::default() };
        MptcpReceiver::new(&Arc::new(config), 2)
    }

    /// RFC 8684 sections 3.1 to 3.3: the first subflow's SYN tells where the data begins, the second joins. Each
    /// subflow acknowledges the data of all; a window counts from the DATA_ACK and is not scaled in a SYN.
    #[test]
    fn subflows_acknowledge_the_data_of_the_connection() {
        let (syn, syn_ack) = (Flags::SYN, Flags::SYN | Flags::ACK);
        let mut receiver = receiver();
        // An ACK opens nothing, whatever it says.
        take(&mut receiver, 0, 1, 0, Flags::ACK, capable(99));
        answers(&mut receiver);
        take(&mut receiver, 0, 0, 0, syn, capable(700));
        assert_eq!(answers(&mut receiver), [(0, syn_ack, 65_535, capable(700))]);
        let join = Mptcp { join: true, ..Mptcp::default() };
        take(&mut receiver, 1, 0, 0, syn, join);
        assert_eq!(answers(&mut receiver), [(1, syn_ack, 65_535, join)]);
        // 1 MiB needs a shift of 5 to fit into 16 bits: 2^20 / 2^5 = 32,768.
        let acknowledged =
            |path, data| (path, Flags::ACK, 32_768, Mptcp { ack: Some(data), ..Mptcp::default() });
        take(&mut receiver, 0, 1, 1000, Flags::ACK, map(700));
        assert_eq!(answers(&mut receiver), [acknowledged(0, 1700)]);
        // Behind a gap; then what fills it, with 500 bytes that were there.
        take(&mut receiver, 1, 1, 1000, Flags::ACK, map(2200));
        assert_eq!((answers(&mut receiver), receiver.queued()), (vec![acknowledged(1, 1700)], 1000));
        take(&mut receiver, 0, 1001, 1000, Flags::ACK, map(1700));
        assert_eq!((answers(&mut receiver), receiver.queued()), (vec![acknowledged(0, 3200)], 0));
        let progress = receiver.progress();
        let bytes = (progress.delivered_bytes, progress.received_bytes, progress.duplicate_bytes);
        assert_eq!(bytes, (2500, 2500, 500));
        // A segment of the subflow that comes again, and a SYN that does: the data keeps its place.
        take(&mut receiver, 1, 1, 1000, Flags::ACK, map(2200));
        take(&mut receiver, 0, 0, 0, syn, capable(700));
        take(&mut receiver, 2, 1, 1000, Flags::ACK, map(3200));
        assert!(answers(&mut receiver).iter().all(|(.., mptcp)| mptcp.ack == Some(3200)));
        let mut counts = BTreeMap::new();
        receiver.count(&mut |name, value| {
            counts.insert(name, value);
        });
        let expected = [
            ("path0_duplicate_bytes", 500.0),
            ("path0_first_bytes", 1500.0),
            ("path1_duplicate_bytes", 1000.0),
            ("path1_first_bytes", 1000.0),
        ];
        assert_eq!(counts.into_iter().collect::<Vec<_>>(), expected);
        assert_eq!(receiver.poll_event(), None);
        // Opened again, it listens, and the data begins anew. This peer scales no windows.
        receiver.open(Time::ZERO);
        let mut answer = |seq, ack, len, flags, mptcp| {
            let segment = Segment::new(SeqNumber::new(seq), SeqNumber::new(ack), len, 65_535, flags);
            let packet = encode(&segment, &mptcp);
            receiver.handle_packet(Time::ZERO, Received { packet: &packet, path: PathId(0), marked: false });
            decode(&receiver.poll_transmit(Time::ZERO).unwrap().packet).unwrap()
        };
        let (opens, first) = answer(9000, 0, 0, syn, capable(5000));
        let (segment, second) = answer(9001, opens.seq.get() + 1, 9, Flags::ACK, map(5000));
        assert_eq!((first, second.ack, segment.window), (capable(5000), Some(5009), 65_535));
        assert_eq!(receiver.progress().delivered_bytes, 2509);
    }

    /// RFC 3168 section 6.1.3: a mark is echoed on the subflow whose packet bears it.
    #[test]
    fn a_mark_is_echoed() {
        let mut config = ReceiverConfig { delayed_ack: DelayedAck::Off, ..ReceiverConfig::default() };
        config.handshake.ecn = EcnMode::Classic;
        for marked in [false, true] {
            let mut receiver = MptcpReceiver::new(&Arc::new(config.clone()), 2);
            let asks = Flags::SYN | Flags::ECE | Flags::CWR;
            take(&mut receiver, 0, 0, 0, asks, capable(0));
            take(&mut receiver, 1, 0, 0, asks, Mptcp { join: true, ..Mptcp::default() });
            answers(&mut receiver);
            for (path, marked) in [(0, false), (1, marked)] {
                let segment = Segment::new(SeqNumber::new(1), SeqNumber::new(1), 10, 65_535, Flags::ACK);
                let packet = encode(&segment, &map(10 * u64::from(path)));
                receiver.handle_packet(Time::ZERO, Received { packet: &packet, path: PathId(path), marked });
            }
            let echoes = answers(&mut receiver).into_iter().map(|answer| answer.1.contains(Flags::ECE));
            assert_eq!(echoes.collect::<Vec<_>>(), [false, marked]);
        }
    }

    /// A window without scaling is 65,535 B at most, and a smaller buffer is told whole.
    #[test]
    fn windows_fit_into_their_field() {
        for (buffer, window) in [(65_535, 65_535), (40_001, 40_001)] {
            let config = ReceiverConfig { buffer, delayed_ack: DelayedAck::Off, ..ReceiverConfig::default() };
            let mut receiver = MptcpReceiver::new(&Arc::new(config), 1);
            take(&mut receiver, 0, 0, 0, Flags::SYN, capable(0));
            take(&mut receiver, 0, 1, 1000, Flags::ACK, map(0));
            assert!(answers(&mut receiver).iter().all(|answer| answer.2 == window));
        }
    }

    /// A delayed ACK is due on the subflow that waits with it, at its time and not before.
    #[test]
    fn a_delayed_ack_is_due_once() {
        let timeout = cogtcp_units::Duration::from_millis(200);
        let config = ReceiverConfig { delayed_ack: DelayedAck::On { timeout }, ..ReceiverConfig::default() };
        let mut receiver = MptcpReceiver::new(&Arc::new(config), 2);
        assert_eq!(receiver.poll_timeout(), Time::MAX);
        take(&mut receiver, 0, 0, 0, Flags::SYN, capable(0));
        take(&mut receiver, 1, 0, 0, Flags::SYN, Mptcp { join: true, ..Mptcp::default() });
        answers(&mut receiver);
        take(&mut receiver, 1, 1, 1000, Flags::ACK, map(0));
        assert_eq!((answers(&mut receiver), receiver.poll_timeout()), (vec![], Time::from_millis(200)));
        receiver.handle_timeout(Time::from_millis(199));
        assert_eq!(answers(&mut receiver), []);
        receiver.handle_timeout(Time::from_millis(200));
        assert_eq!(answers(&mut receiver)[0].3.ack, Some(1000));
        // The SYN-ACK of the first is not acknowledged yet (RFC 6298: a second).
        assert_eq!(receiver.poll_timeout(), Time::from_millis(1000));
    }
}
