//! A bottleneck between the two ends, and a clock made by hand.

use cogtcp_endpoint::{BoxedEndpoint, Connection, Datagram, EndpointEvent, PathId, Protocol as _, Received};
use cogtcp_quic::QuicSettings;
use cogtcp_quic::wire::{QuicFrame, frames, packets};
use cogtcp_units::{Duration, RandomStream, Rate, Time};
use std::collections::{BTreeMap, BTreeSet};

/// The bottleneck from sender to receiver; the way back has the delay alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) rate: Rate,
    pub(crate) delay: Duration,
    /// Packets that the queue holds.
    pub(crate) queue: usize,
}

pub(crate) struct Net {
    pub(crate) sender: BoxedEndpoint,
    pub(crate) receiver: BoxedEndpoint,
    pub(crate) now: Time,
    path: Path,
    /// Packets on their way, by arrival: to the receiver or not, marked or not.
    flying: BTreeMap<(Time, u64), (bool, bool, Datagram)>,
    numbered: u64,
    free_at: Time,
    random: RandomStream,
    /// Data packets of a hundred that are lost, and acknowledgements of a thousand.
    pub(crate) loss: Option<(u64, u64)>,
    /// Nothing arrives that is sent in between, either way.
    pub(crate) silent: Option<(Time, Time)>,
    /// The next data packet is late by this much.
    pub(crate) late: Option<Duration>,
    pub(crate) dropped: u64,
    pub(crate) sent: Vec<(Time, bool, Datagram)>,
    pub(crate) events: Vec<(Time, EndpointEvent)>,
    /// Events of the receiver.
    pub(crate) told: Vec<(Time, EndpointEvent)>,
    /// The next ECN-capable data packet is marked.
    pub(crate) marks: bool,
    /// Data packets that were ECN-capable.
    pub(crate) capable: u64,
    pub(crate) keeps: bool,
    pub(crate) on_link: u64,
}

impl Net {
    pub(crate) fn new(settings: &QuicSettings, seed: u64, path: Path) -> Self {
        let pair = settings.build(Connection { segment_size: 1460, paths: 1, seed });
        Self {
            sender: pair.sender,
            receiver: pair.receiver,
            now: Time::ZERO,
            path,
            flying: BTreeMap::new(),
            numbered: 0,
            free_at: Time::ZERO,
            random: RandomStream::new(seed, "net", 0),
            loss: None,
            silent: None,
            late: None,
            dropped: 0,
            sent: Vec::new(),
            events: Vec::new(),
            told: Vec::new(),
            marks: false,
            capable: 0,
            keeps: true,
            on_link: 0,
        }
    }

    pub(crate) fn open(&mut self) {
        self.receiver.open(self.now);
        self.sender.open(self.now);
    }

    pub(crate) fn event(&self, kind: EndpointEvent) -> Option<Time> {
        self.events.iter().find(|(_, event)| *event == kind).map(|(at, _)| *at)
    }

    pub(crate) fn counts(&self) -> BTreeMap<&'static str, f64> {
        let mut counts = BTreeMap::new();
        self.sender.count(&mut |name, value| {
            counts.insert(name, value);
        });
        counts
    }

    /// IDs of all streams that carried data.
    pub(crate) fn streams(&self) -> BTreeSet<u64> {
        let mut found = BTreeSet::new();
        for (_, _, datagram) in &self.sent {
            let mut whole = datagram.bytes.clone();
            whole.resize(datagram.payload_size() as usize, 0);
            for frame in packets(&whole).flat_map(|packet| frames(packet.payload).collect::<Vec<_>>()) {
                if let QuicFrame::Stream { stream, .. } = frame {
                    found.insert(stream);
                }
            }
        }
        found
    }

    /// How long the link still transmits what was put on it.
    pub(crate) fn backlog(&self) -> Duration {
        self.free_at.saturating_since(self.now)
    }

    fn put(&mut self, to_receiver: bool, is_capable: bool, datagram: Datagram) {
        let now = self.now;
        if self.keeps {
            self.sent.push((now, to_receiver, datagram.clone()));
        }
        let is_silent = self.silent.is_some_and(|(from, to)| now >= from && now < to);
        let lost = match self.loss {
            Some((data, _)) if to_receiver => self.random.below(100) < data,
            Some((_, back)) => self.random.below(1000) < back,
            None => false,
        };
        let mut arrival = now + self.path.delay;
        if to_receiver {
            let wire = u64::from(datagram.wire_size());
            let waiting = self.free_at.saturating_since(now).as_nanos();
            let packet = self.path.rate.transmission_time(1500).as_nanos();
            if waiting > self.path.queue as u64 * packet {
                self.dropped += 1;
                return;
            }
            self.free_at = self.free_at.max(now) + self.path.rate.transmission_time(wire);
            self.on_link += wire;
            arrival = self.free_at + self.path.delay;
            if let Some(late) = self.late.take() {
                arrival += late;
            }
        }
        if is_silent || lost {
            self.dropped += 1;
            return;
        }
        self.numbered += 1;
        self.capable += u64::from(is_capable);
        let is_marked = is_capable && std::mem::take(&mut self.marks);
        self.flying.insert((arrival, self.numbered), (to_receiver, is_marked, datagram));
    }

    fn pump(&mut self) {
        loop {
            let mut idle = true;
            while let Some(out) = self.sender.poll_transmit(self.now) {
                idle = false;
                self.put(true, out.ecn_capable, out.packet);
            }
            while let Some(out) = self.receiver.poll_transmit(self.now) {
                idle = false;
                self.put(false, false, out.packet);
            }
            while let Some(event) = self.sender.poll_event() {
                if !matches!(event, EndpointEvent::RoundTrip(_)) {
                    self.events.push((self.now, event));
                }
            }
            while let Some(event) = self.receiver.poll_event() {
                self.told.push((self.now, event));
            }
            if idle {
                return;
            }
        }
    }

    /// Plays until `until`.
    pub(crate) fn run(&mut self, until: Time) {
        self.pump();
        let mut idle = 0;
        loop {
            let arrival = self.flying.first_key_value().map_or(Time::MAX, |((at, _), _)| *at);
            let next = arrival.min(self.sender.poll_timeout()).min(self.receiver.poll_timeout());
            if next > until {
                self.now = until;
                return;
            }
            idle = if next <= self.now { idle + 1 } else { 0 };
            assert!(idle < 10_000, "an end asks for the same time again and again at {:?}", self.now);
            self.now = self.now.max(next);
            if arrival <= self.now {
                let (_, (to_receiver, marked, datagram)) = self.flying.pop_first().unwrap();
                let received = Received { packet: &datagram, path: PathId::default(), marked };
                let end = if to_receiver { &mut self.receiver } else { &mut self.sender };
                end.handle_packet(self.now, received);
            } else {
                for end in [&mut self.sender, &mut self.receiver] {
                    if end.poll_timeout() <= self.now {
                        end.handle_timeout(self.now);
                    }
                }
            }
            self.pump();
        }
    }
}
