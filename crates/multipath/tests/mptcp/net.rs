//! A network of several paths for one connection: rate, delay, queue, loss and silence of each.

use cogtcp_endpoint::{
    BoxedEndpoint, Connection, Datagram, EndpointEvent, Outgoing, Pair, PathEvent, PathId, Protocol,
    Received, Supply,
};
use cogtcp_multipath::{MptcpSettings, decode};
use cogtcp_units::{Duration, RandomStream, Time};
use std::collections::BTreeMap;

/// A path. The way back has the same delay, loss and silences, and no queue.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// Time that a data packet of 1000 bytes takes to be put on the link.
    pub(crate) spacing: Duration,
    pub(crate) delay: Duration,
    pub(crate) queue: u64,
    pub(crate) loss: f64,
    /// Spans in which all packets are lost, from and to.
    pub(crate) silences: Vec<(Time, Time)>,
}

impl Path {
    /// A path of `mbps` Mbit/s with `delay` ms one way.
    pub(crate) fn new(mbps: u64, delay: u64) -> Self {
        Self {
            spacing: Duration::from_nanos(8_000_000 / mbps),
            delay: Duration::from_millis(delay),
            queue: 50,
            loss: 0.0,
            silences: Vec::new(),
        }
    }

    fn is_silent(&self, now: Time) -> bool {
        self.silences.iter().any(|(from, to)| (*from..*to).contains(&now))
    }
}

/// What a path has carried.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Carried {
    pub(crate) sent: u64,
    pub(crate) arrived: u64,
    pub(crate) lost: u64,
    pub(crate) data_bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Net {
    pub(crate) sender: BoxedEndpoint,
    pub(crate) receiver: BoxedEndpoint,
    pub(crate) now: Time,
    paths: Vec<Path>,
    free_at: Vec<Time>,
    flight: BTreeMap<(Time, u64), (bool, usize, Datagram)>,
    departures: u64,
    random: RandomStream,
    pub(crate) carried: Vec<[Carried; 2]>,
    pub(crate) events: Vec<(Time, EndpointEvent)>,
    /// What arrived, by time, as bytes: for comparisons of whole runs.
    pub(crate) digest: u64,
    /// First data sequence number of every data packet in the order of sending, with its path.
    pub(crate) sent: Vec<(usize, u64)>,
}

impl Net {
    pub(crate) fn new(settings: &MptcpSettings, paths: Vec<Path>, seed: u64) -> Self {
        let connection = Connection { segment_size: 1000, paths: paths.len() as u16, seed };
        let Pair { sender, receiver, .. } = settings.build(connection);
        Self {
            sender,
            receiver,
            now: Time::ZERO,
            free_at: vec![Time::ZERO; paths.len()],
            flight: BTreeMap::new(),
            departures: 0,
            random: RandomStream::new(seed, "multipath/net", 0),
            carried: vec![[Carried::default(); 2]; paths.len()],
            events: Vec::new(),
            digest: 0,
            sent: Vec::new(),
            paths,
        }
    }

    /// What happened to the subflow on a path.
    pub(crate) fn on_path(&self, path: PathId) -> Vec<PathEvent> {
        let events = self.events.iter().filter_map(|(_, event)| match event {
            EndpointEvent::OnPath(at, event, _) if *at == path => Some(*event),
            _ => None,
        });
        events.collect()
    }

    /// Opens the connection and writes `bytes`, after which the connection closes.
    pub(crate) fn transfer(&mut self, bytes: u64) {
        self.sender.supply(self.now, Supply::Bytes(bytes));
        self.open();
        self.sender.close(self.now);
        self.pump();
    }

    pub(crate) fn saturate(&mut self) {
        self.sender.supply(self.now, Supply::Saturated(true));
        self.open();
        self.pump();
    }

    pub(crate) fn open(&mut self) {
        self.receiver.open(self.now);
        self.sender.open(self.now);
        self.pump();
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        self.sender.supply(self.now, Supply::Bytes(bytes));
        self.pump();
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.receiver.progress().delivered_bytes
    }

    pub(crate) fn closed_at(&self) -> Option<Time> {
        self.events.iter().find(|(_, event)| *event == EndpointEvent::Closed).map(|(at, _)| *at)
    }

    /// Plays until `until`, or until nothing is left to happen.
    pub(crate) fn run_until(&mut self, until: Time) {
        loop {
            let arrival = self.flight.first_key_value().map_or(Time::MAX, |((at, _), _)| *at);
            let timer = self.sender.poll_timeout().min(self.receiver.poll_timeout());
            let next = arrival.min(timer);
            if next > until || next == Time::MAX {
                self.now = until;
                return;
            }
            assert!(next >= self.now, "time runs backwards");
            self.now = next;
            if arrival <= timer {
                let ((_, number), (forward, path, packet)) = self.flight.pop_first().expect("it is there");
                self.digest = (self.digest ^ next.as_nanos() ^ number << 40).wrapping_mul(0x100_0000_01b3);
                self.carried[path][usize::from(!forward)].arrived += 1;
                let received =
                    Received { packet: &packet, path: cogtcp_endpoint::PathId(path as u16), marked: false };
                if forward {
                    self.receiver.handle_packet(self.now, received);
                } else {
                    self.sender.handle_packet(self.now, received);
                }
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

    fn pump(&mut self) {
        while let Some(out) = self.sender.poll_transmit(self.now) {
            if out.data > 0
                && let Some((_, mptcp)) = decode(&out.packet)
            {
                self.sent.push((usize::from(out.path.0), mptcp.map.expect("data has a mapping")));
            }
            self.send(true, out);
        }
        while let Some(out) = self.receiver.poll_transmit(self.now) {
            self.send(false, out);
        }
        while let Some(event) = self.sender.poll_event() {
            if !matches!(event, EndpointEvent::RoundTrip(_)) {
                self.events.push((self.now, event));
            }
        }
        assert_eq!(self.receiver.poll_event(), None);
    }

    fn send(&mut self, forward: bool, out: Outgoing<Datagram>) {
        let number = usize::from(out.path.0);
        let path = &self.paths[number];
        let carried = &mut self.carried[number][usize::from(!forward)];
        carried.sent += 1;
        carried.data_bytes += u64::from(out.data);
        let mut leaves = self.now;
        let mut lost = path.is_silent(self.now) || self.random.uniform() < path.loss;
        if forward {
            let start = self.free_at[number].max(self.now);
            lost |= start.saturating_since(self.now) > path.spacing * path.queue;
            let bits = u64::from(out.packet.wire_size());
            leaves = start + path.spacing.mul_ratio(bits, 1000);
            if !lost {
                self.free_at[number] = leaves;
            }
        }
        if lost {
            carried.lost += 1;
            return;
        }
        self.departures += 1;
        self.flight.insert((leaves + path.delay, self.departures), (forward, number, out.packet));
    }

    /// Sent = arrived + lost + in flight, on each path and direction.
    pub(crate) fn check_conservation(&self) {
        for (number, both) in self.carried.iter().enumerate() {
            for (carried, forward) in both.iter().zip([true, false]) {
                let under_way =
                    self.flight.values().filter(|(f, p, _)| (*f, *p) == (forward, number)).count();
                assert_eq!(carried.sent, carried.arrived + carried.lost + under_way as u64);
            }
        }
    }
}
