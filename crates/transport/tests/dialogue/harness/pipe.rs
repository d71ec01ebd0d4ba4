//! Sender and receiver over a path of fixed delay that drops what it is told to.

use super::script::segment_start;
use super::{MSS, RTT, aimd, at, ms};
use cogtcp_transport::*;
use cogtcp_units::{Duration, Time};
use std::collections::BTreeMap;

/// A data segment (or FIN) as the sender let it go.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When, in ms.
    pub at: u64,
    /// Segment number, counted from 1.
    pub number: u64,
    /// 1 for the first transmission of its first byte, 2 for the first retransmission, ...
    pub transmission: u32,
}

/// The whole connection. Each direction takes half of [`RTT`]; the path has no rate limit, so that a window's
/// worth of segments sent together arrives together and everything happens in rounds, unless
/// [`Pipe::spacing`] is set.
#[derive(Debug)]
pub struct Pipe {
    pub sender: Sender,
    pub receiver: Receiver,
    pub now: Time,
    /// Every transmission of data.
    pub log: Vec<Sent>,
    /// Time that each data segment occupies the path's entrance.
    pub spacing: Duration,
    entrance_free: Time,
    /// In flight, by arrival and order of departure.
    flight: BTreeMap<(Time, u64), (bool, Segment)>,
    departures: u64,
    transmissions: BTreeMap<u64, u32>,
    drops: Vec<(u64, u32)>,
    delays: Vec<(u64, u32, Duration)>,
    ack_drops: Vec<u64>,
    /// From when to when nothing enters the path; it waits.
    pause: Option<(Time, Time)>,
    acks: u64,
    isn: SeqNumber,
}

impl Pipe {
    pub fn new(sender: SenderConfig, receiver: ReceiverConfig) -> Self {
        let isn = sender.handshake.initial_sequence;
        Self {
            sender: Sender::new(sender, aimd()),
            receiver: Receiver::new(receiver),
            now: Time::ZERO,
            log: Vec::new(),
            spacing: Duration::ZERO,
            entrance_free: Time::ZERO,
            flight: BTreeMap::new(),
            departures: 0,
            transmissions: BTreeMap::new(),
            drops: Vec::new(),
            delays: Vec::new(),
            ack_drops: Vec::new(),
            pause: None,
            acks: 0,
            isn,
        }
    }

    /// Drops the given transmissions: (segment number, 1 for the original).
    pub fn drop(mut self, transmissions: &[(u64, u32)]) -> Self {
        self.drops.extend_from_slice(transmissions);
        self
    }

    /// Drops the first transmission of these segments.
    pub fn drop_first(self, numbers: &[u64]) -> Self {
        let transmissions: Vec<_> = numbers.iter().map(|number| (*number, 1)).collect();
        self.drop(&transmissions)
    }

    /// Delays a transmission by so many ms more.
    pub fn delay(mut self, number: u64, transmission: u32, extra: u64) -> Self {
        self.delays.push((number, transmission, ms(extra)));
        self
    }

    /// Drops the receiver's ACKs with these numbers, counted from 1 after the SYN-ACK.
    pub fn drop_acks(mut self, numbers: impl IntoIterator<Item = u64>) -> Self {
        self.ack_drops.extend(numbers);
        self
    }

    /// From `from` to `to` ms what is sent waits at the entrance.
    pub fn pause(mut self, from: u64, to: u64) -> Self {
        self.pause = Some((at(from), at(to)));
        self
    }

    /// Every data segment occupies the path's entrance so many ms.
    pub fn spaced(mut self, spacing: u64) -> Self {
        self.spacing = ms(spacing);
        self
    }

    /// Opens the connection, writes so many segments and closes.
    pub fn transfer(mut self, segments: u64) -> Self {
        self.sender.open(self.now);
        self.sender.write(segments * u64::from(MSS));
        self.sender.close();
        self.drain();
        self
    }

    /// Runs up to and including `until` ms.
    pub fn run_until(&mut self, until: u64) {
        let until = at(until);
        let mut steps = 0u64;
        loop {
            let arrival = self.flight.first_key_value().map_or(Time::MAX, |((time, _), _)| *time);
            let timer = self.sender.poll_timeout().min(self.receiver.poll_timeout());
            let next = arrival.min(timer);
            if next > until || next == Time::MAX {
                break;
            }
            self.now = self.now.max(next);
            if arrival <= timer {
                let Some((_, (to_receiver, segment))) = self.flight.pop_first() else { break };
                if to_receiver {
                    self.receiver.handle_segment(self.now, &segment);
                } else {
                    self.sender.handle_segment(self.now, &segment);
                }
            } else {
                self.sender.handle_timeout(self.now);
                self.receiver.handle_timeout(self.now);
            }
            self.drain();
            steps += 1;
            assert!(steps < 10_000_000, "no progress at {:?}", self.now);
        }
        self.now = self.now.max(until.min(at(u64::MAX / 2_000_000)));
    }

    /// Runs until the application has everything (in at most an hour) and returns that moment in ms.
    #[track_caller]
    pub fn run_to_delivery(&mut self, segments: u64) -> u64 {
        let bytes = segments * u64::from(MSS);
        while self.receiver.delivered() < bytes {
            let arrival = self.flight.first_key_value().map_or(Time::MAX, |((time, _), _)| *time);
            let next = arrival.min(self.sender.poll_timeout()).min(self.receiver.poll_timeout());
            assert!(next < at(3_600_000), "{} of {bytes} bytes delivered", self.receiver.delivered());
            self.run_until(next.as_nanos().div_ceil(1_000_000));
        }
        self.now.as_nanos() / 1_000_000
    }

    /// The receiving application reads so many bytes, now.
    pub fn read(&mut self, bytes: u64) {
        self.receiver.read(self.now, bytes);
        self.drain();
    }

    /// When each transmission of segment `number` left, ms.
    pub fn sent_at(&self, number: u64) -> Vec<u64> {
        self.log.iter().filter(|sent| sent.number == number).map(|sent| sent.at).collect()
    }

    /// Retransmissions in order: (ms, segment number).
    pub fn retransmissions(&self) -> Vec<(u64, u64)> {
        self.log.iter().filter(|sent| sent.transmission > 1).map(|sent| (sent.at, sent.number)).collect()
    }

    /// cwnd in segments, rounded down.
    pub fn cwnd(&self) -> u64 {
        self.sender.state().cwnd / u64::from(MSS)
    }

    fn drain(&mut self) {
        let mut sent = 0;
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            self.forward(segment);
            sent += 1;
            assert!(sent < 100_000, "the sender never stops");
        }
        while let Some(segment) = self.receiver.poll_transmit(self.now) {
            if !segment.flags.contains(Flags::SYN) {
                self.acks += 1;
                if self.ack_drops.contains(&self.acks) {
                    continue;
                }
            }
            self.depart(self.now + ms(RTT / 2), false, segment);
        }
    }

    fn forward(&mut self, segment: Segment) {
        let mut arrival = self.now + ms(RTT / 2);
        if segment.len > 0 {
            let offset = u64::from(segment.seq.get().wrapping_sub(self.isn.get()));
            let number = (offset - 1) / u64::from(MSS) + 1;
            debug_assert!(offset >= segment_start(number));
            let transmission = self.transmissions.entry(offset).or_default();
            *transmission += 1;
            let transmission = *transmission;
            self.log.push(Sent { at: self.now.as_nanos() / 1_000_000, number, transmission });
            if self.drops.contains(&(number, transmission)) {
                return;
            }
            self.entrance_free = self.entrance_free.max(self.now) + self.spacing;
            arrival = self.entrance_free + ms(RTT / 2);
            if let Some((.., extra)) = self.delays.iter().find(|(n, t, _)| (*n, *t) == (number, transmission))
            {
                arrival += *extra;
            }
        }
        self.depart(arrival, true, segment);
    }

    fn depart(&mut self, mut arrival: Time, to_receiver: bool, segment: Segment) {
        if let Some((_, to)) = self.pause.filter(|(from, to)| (*from..*to).contains(&self.now)) {
            arrival += to - self.now;
        }
        self.departures += 1;
        self.flight.insert((arrival, self.departures), (to_receiver, segment));
    }
}
