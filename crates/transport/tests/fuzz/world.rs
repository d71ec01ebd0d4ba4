//! One fuzzed connection.

use crate::fuzz::loss::Window;
use crate::fuzz::path::Path;
use crate::fuzz::settings;
use cogtcp_transport::*;
use cogtcp_units::{Duration, RandomStream, Time};
use std::collections::BTreeMap;

/// Virtual time in which every run ends: the calm path and time-outs of at most a minute leave ample room.
const LIMIT: Time = Time::from_millis(7_200_000);
/// Segments that one run may send per segment of data, and in addition.
const PATIENCE: (u64, u64) = (60, 4_000);

/// Events that one run may take; a timer that never moves on takes them all.
const STEPS: u64 = 3_000_000;

#[derive(Clone, Copy, Debug)]
enum WorldEvent {
    ToReceiver(Segment),
    ToSender(Segment),
    Write,
    Read,
    /// The sender's driver pulls again.
    Unblock,
    /// The network says that the receiver is unreachable, about this segment.
    Unreachable(SeqNumber),
}

/// Sender, receiver, path, application, and the stream they should carry.
#[derive(Debug)]
pub struct World {
    seed: u64,
    now: Time,
    random: RandomStream,
    sender: Sender,
    receiver: Receiver,
    forward: Path,
    backward: Path,
    events: BTreeMap<(Time, u64), WorldEvent>,
    numbered: u64,

    /// Bytes the application still has to write.
    unwritten: u64,
    total: u64,
    /// What the receiver has accepted, and whether.
    stream: Vec<u8>,
    held: Vec<bool>,
    /// Until when the sender's driver does not pull.
    blocked_until: Time,

    /// Highest right edge of the window that the receiver advertised, and that the sender has seen, in stream
    /// positions.
    advertised: u64,
    allowed: u64,
    /// Rcv.Wind.Shift in use.
    shift: u8,
    sent: u64,
    /// How far the stream was sent.
    first_sent: u64,
    smallest_mss: u64,
    delivered: u64,
    /// The sender's window after the step before.
    window: Window,
    digest: u64,
}

impl World {
    pub fn new(seed: u64) -> Self {
        let mut random = RandomStream::new(seed, "fuzz/settings", 0);
        let sender = settings::sender(&mut random);
        let receiver = settings::receiver(&mut random);
        let control = settings::control(&mut random);
        let total = match random.below(4) {
            0 => random.below(3),
            1 => random.below(5_000),
            _ => random.below(250_000),
        };
        // A buffer of a few bytes takes a round trip for each half of it.
        let total = total.min(receiver.buffer * 50);
        let smallest_mss = u64::from(sender.handshake.mss.min(receiver.handshake.mss));
        let mut world = Self {
            seed,
            now: Time::ZERO,
            random: RandomStream::new(seed, "fuzz/application", 0),
            sender: Sender::new(sender, control),
            receiver: Receiver::new(receiver),
            forward: Path::new(seed, 0),
            backward: Path::new(seed, 1),
            events: BTreeMap::new(),
            numbered: 0,
            unwritten: total,
            total,
            stream: vec![0; total as usize],
            held: vec![false; total as usize],
            blocked_until: Time::ZERO,
            advertised: 0,
            allowed: 0,
            shift: 0,
            sent: 0,
            first_sent: 0,
            smallest_mss,
            delivered: 0,
            window: Window::default(),
            digest: 0,
        };
        world.schedule(Time::ZERO, WorldEvent::Write);
        if world.receiver.config().manual_read {
            world.schedule(Time::ZERO, WorldEvent::Read);
        }
        world
    }

    /// Runs to the end and returns a digest of everything that was sent.
    pub fn run(mut self) -> u64 {
        self.sender.open(self.now);
        self.pull();
        let mut steps = 0u64;
        while !self.is_over() {
            let event = self.events.first_key_value().map_or(Time::MAX, |((time, _), _)| *time);
            let timers = self.sender.poll_timeout().min(self.receiver.poll_timeout());
            let next = event.min(timers);
            assert!(next < LIMIT, "{}: no end, the next thing happens at {next:?}\n{self:#?}", self.seed);
            self.now = self.now.max(next);
            if event <= timers {
                if let Some((_, event)) = self.events.pop_first() {
                    self.handle(event);
                }
            } else {
                self.sender.handle_timeout(self.now);
                self.receiver.handle_timeout(self.now);
            }
            self.pull();
            self.check();
            steps += 1;
            assert!(steps < STEPS, "no progress\n{self:#?}");
        }
        assert_eq!(self.receiver.delivered(), self.total, "everything is delivered");
        for (position, byte) in self.stream.iter().enumerate() {
            assert_eq!(*byte, oracle(self.seed, position as u64), "byte {position}");
        }
        self.digest
    }

    /// A sender that closes before it is connected, with nothing written, leaves the receiver where it is.
    fn is_over(&self) -> bool {
        let never_connected = self.total == 0 && !self.sender.is_finished();
        self.sender.is_closed() && (never_connected || self.receiver.state() == ReceiverState::Closed)
    }

    fn schedule(&mut self, time: Time, event: WorldEvent) {
        self.numbered += 1;
        self.events.insert((time, self.numbered), event);
    }

    fn handle(&mut self, event: WorldEvent) {
        match event {
            WorldEvent::ToReceiver(segment) => {
                self.receiver.handle_segment(self.now, &segment);
                self.copy_accepted(&segment);
            }
            WorldEvent::ToSender(segment) => {
                self.sender.handle_segment(self.now, &segment);
                let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.shift };
                let ack = self.position(segment.ack);
                self.allowed = self.allowed.max(ack + (u64::from(segment.window) << shift));
            }
            WorldEvent::Write => {
                let chunk = (1 + self.random.below(60_000)).min(self.unwritten);
                self.unwritten -= chunk;
                self.sender.write(chunk);
                if self.unwritten == 0 {
                    self.sender.close();
                } else {
                    let pause = Duration::from_millis(self.random.below(4_000));
                    self.schedule(self.now + pause, WorldEvent::Write);
                }
            }
            WorldEvent::Read => {
                let bytes = 1 + self.random.below(20_000);
                self.receiver.read(self.now, bytes);
                let long = if self.random.below(20) == 0 { 15_000 } else { 500 };
                let pause = Duration::from_millis(1 + self.random.below(long));
                self.schedule(self.now + pause, WorldEvent::Read);
            }
            WorldEvent::Unblock => {}
            WorldEvent::Unreachable(seq) => self.sender.handle_unreachable(self.now, seq),
        }
    }

    /// Copies the bytes that the receiver accepted out of the segment's payload.
    fn copy_accepted(&mut self, segment: &Segment) {
        let payload = self.position(segment.seq);
        for accepted in self.receiver.accepted() {
            assert!(accepted.skip + accepted.len <= segment.len, "{accepted:?} of {segment:?}");
            for k in 0..u64::from(accepted.len) {
                let position = (accepted.position + k) as usize;
                assert!(!self.held[position], "byte {position} is accepted twice");
                self.held[position] = true;
                self.stream[position] = oracle(self.seed, payload + u64::from(accepted.skip) + k);
            }
        }
    }

    fn pull(&mut self) {
        if self.now >= self.blocked_until {
            while let Some(segment) = self.sender.poll_transmit(self.now) {
                self.check_data(&segment);
                self.send(segment, true);
                if self.random.below(300) == 0 {
                    let pause = Duration::from_millis(self.random.below(400));
                    self.schedule(self.now + pause, WorldEvent::Unreachable(segment.seq));
                }
                if self.random.below(200) == 0 {
                    // The link below takes no more for a while.
                    self.blocked_until = self.now + Duration::from_millis(self.random.below(3_000));
                    self.schedule(self.blocked_until, WorldEvent::Unblock);
                    break;
                }
            }
        }
        while let Some(segment) = self.receiver.poll_transmit(self.now) {
            self.check_ack(&segment);
            self.send(segment, false);
        }
    }

    fn send(&mut self, segment: Segment, forward: bool) {
        self.sent += 1;
        let segments = self.total / self.smallest_mss.min(self.receiver.config().buffer.div_ceil(2)) + 1;
        assert!(self.sent < PATIENCE.0 * segments + PATIENCE.1, "{} segments sent\n{self:#?}", self.sent);
        for value in [
            self.now.as_nanos(),
            u64::from(segment.seq.get()),
            u64::from(segment.ack.get()),
            u64::from(segment.len),
            u64::from(segment.window),
            u64::from(segment.flags.bits()),
        ] {
            self.digest = (self.digest ^ value).wrapping_mul(0x100_0000_01b3).rotate_left(17);
        }
        let path = if forward { &mut self.forward } else { &mut self.backward };
        let mut segment = segment;
        if self.random.below(20) == 0 {
            segment.mark();
        }
        for arrival in path.carry(self.now, segment.wire_size()).into_iter().flatten() {
            self.schedule(
                arrival,
                if forward { WorldEvent::ToReceiver(segment) } else { WorldEvent::ToSender(segment) },
            );
        }
    }

    /// What the sender sends lies in the window it was told of, but for the byte of a probe and the FIN. Only
    /// data that leaves for the first time is ECN-capable, and says CWR (RFC 3168 sections 6.1.2, 6.1.4 to
    /// 6.1.6).
    fn check_data(&mut self, segment: &Segment) {
        if segment.is_ecn_capable() {
            let start = self.position(segment.seq);
            // The byte of a window probe that was taken back goes again with what follows it.
            let first_time = start + 1 >= self.first_sent;
            let again = segment.is_l4s() && self.sender.control().uses_l4s();
            assert!(self.sender.uses_ecn() && segment.len > 0 && (first_time || again), "{segment:?}");
        } else if self.sender.ecn_mode() != EcnMode::Accurate {
            let syn = segment.flags.contains(Flags::SYN);
            assert!(syn || !segment.flags.contains(Flags::CWR), "{segment:?}");
        }
        if segment.sequence_len() > 0 && !segment.flags.contains(Flags::SYN) {
            self.first_sent = self.first_sent.max(self.position(segment.seq) + u64::from(segment.len));
        }
        if segment.flags.contains(Flags::SYN) || segment.sequence_len() == 0 {
            return;
        }
        let end = self.position(segment.seq) + u64::from(segment.len);
        assert!(end <= self.total - self.unwritten, "{segment:?} goes beyond what was written");
        assert!(end <= self.allowed + 1, "{segment:?} goes beyond the window's edge at {}", self.allowed);
        assert!(
            u64::from(segment.len) <= self.smallest_mss,
            "{segment:?} is over {} bytes",
            self.smallest_mss
        );
    }

    /// What the receiver says is true.
    fn check_ack(&mut self, segment: &Segment) {
        let acked = self.position(segment.ack);
        if segment.flags.contains(Flags::SYN) {
            self.shift = segment.window_scale().unwrap_or(0);
            self.advertised = u64::from(segment.window);
            return;
        }
        // The FIN has the number after the last byte.
        let in_order = self.receiver.in_order();
        assert!(acked == in_order || (acked == self.total + 1 && in_order == self.total), "{segment:?}");
        for block in segment.sack() {
            let (start, end) = (self.position(block.start), self.position(block.end));
            assert!(start < end && end <= self.total + 1, "{segment:?}");
            assert!(
                (start..end.min(self.total)).all(|k| self.held[k as usize]),
                "{segment:?}: not all is held"
            );
        }
        let edge = acked + (u64::from(segment.window) << self.shift);
        let rounding = (1 << self.shift) - 1;
        assert!(edge + rounding >= self.advertised, "the window shrinks from {} to {edge}", self.advertised);
        self.advertised = self.advertised.max(edge);
    }

    /// Invariants between events.
    fn check(&mut self) {
        let delivered = self.receiver.delivered();
        assert!(delivered >= self.delivered && delivered <= self.receiver.in_order());
        self.delivered = delivered;
        let buffered = self.receiver.in_order() + self.receiver.queued() - delivered;
        // A FIN counts as one byte and takes no room.
        assert!(buffered <= self.receiver.config().buffer + 1, "{buffered} bytes in the buffer");
        let tcp = self.sender.state();
        assert!(tcp.cwnd >= tcp.mss, "{tcp:?}");
        // RFC 6675's pipe counts a segment twice that was retransmitted without being known as lost.
        assert!(tcp.snd_una <= tcp.snd_nxt && tcp.in_flight <= 2 * (tcp.snd_nxt - tcp.snd_una), "{tcp:?}");
        self.window.check(&mut self.sender);
        self.window = Window::of(&self.sender);
    }

    /// Stream position of a number of the sender's direction; the stream is shorter than 2^31.
    fn position(&self, number: SeqNumber) -> u64 {
        let isn = self.sender.config().handshake.initial_sequence;
        u64::from(number.get().wrapping_sub(isn.get()).wrapping_sub(1))
    }
}

/// The stream's byte at a position.
fn oracle(seed: u64, position: u64) -> u8 {
    let mixed = (seed ^ position.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 56) as u8
}
