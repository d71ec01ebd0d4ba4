//! Conformance of a transport: drawn paths of one to four hops that lose packets, fall silent and hold or
//! drop what they carry, primary users, news of radios. A case opens the connection twice.
//!
//! [`check`] asserts that
//!
//! - no data appears, and a reliable transport delivers all of it, once;
//! - the connection closes whatever happens on the way, if all silences end (no deadlock), and then no timer
//!   runs;
//! - no end asks for the same instant for ever, none waits for nothing while it has data;
//! - the state of both ends stays small;
//! - the same case gives the same packets at the same times.
//!
//! `COGTCP_CASES` sets the number of drawn cases; `make fuzz` draws 100,000.

use crate::{
    BoxedEndpoint, Connection, Datagram, EndpointEvent, Outgoing, PathId, Protocol, Received,
    SpectrumDatabase, Supply,
};
use cogtcp_crosslayer::{LinkEvent, StampingHop, Verdict};
use cogtcp_units::{Duration, RandomStream, Rate, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns the number of cases to draw: 1,000, or what `COGTCP_CASES` says.
pub fn cases() -> u64 {
    std::env::var("COGTCP_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1000)
}

/// Longest time without progress. Timers back off to two minutes, and at a loss of 30 % both ways 40 attempts
/// in a row fail with a probability of 10^-12.
const PATIENCE: Duration = Duration::from_secs(4800);

/// Most calls at one instant.
const MOST_AT_ONCE: u32 = 20_000;

/// Most characters of both ends' state in its debugging form: some thousand packets.
const MOST_STATE: usize = 2_000_000;

/// One hop, in both directions alike.
#[derive(Clone, Debug)]
struct Hop {
    /// Bytes per second.
    rate: f64,
    delay: Duration,
    /// Longest wait in its queue.
    queue: Duration,
    loss: f64,
    /// When it is silent.
    silences: Vec<(Time, Time)>,
    /// A silent hop holds packets; else it drops them.
    holds: bool,
    /// When each direction has sent all that it queues.
    free: [Time; 2],
    /// What it writes into packets.
    stamping: StampingHop,
}

impl Hop {
    fn draw(random: &mut RandomStream) -> Self {
        let rate = 1e3 * [8.0, 64.0, 256.0, 2500.0][random.below(4) as usize];
        let mut silences = Vec::new();
        let mut at = 0;
        for _ in 0..random.below(6) {
            let from = at + random.below(6000);
            at = from + random.below(5000);
            silences.push((Time::from_millis(from), Time::from_millis(at)));
        }
        let delay = Duration::from_millis(1 + random.below(100));
        Self {
            rate,
            delay,
            stamping: StampingHop::new(
                Rate::from_bits_per_second(8 * rate as u64),
                delay,
                random.below(2) == 0,
            ),
            queue: Duration::from_secs_f64((2 + random.below(60)) as f64 * 1500.0 / rate),
            loss: [0.0, 0.0, 0.01, 0.1, 0.2][random.below(5) as usize],
            silences,
            holds: random.below(2) == 0,
            free: [Time::ZERO; 2],
        }
    }

    /// A packet of `size` bytes is offered. Returns when it arrives at the other end; `None`: it is lost.
    fn carry(&mut self, now: Time, size: u32, direction: usize, random: &mut RandomStream) -> Option<Time> {
        let silence = self.silences.iter().find(|(from, until)| (*from..*until).contains(&now));
        let mut start = self.free[direction].max(now);
        match silence {
            Some(_) if !self.holds => return None,
            Some((_, until)) => start = start.max(*until),
            None => {}
        }
        // An idle hop takes any packet: a silence longer than its queue would otherwise let nothing wait.
        if start.saturating_since(now) > self.queue && self.free[direction] > now {
            return None;
        }
        // A packet that is lost below has used the hop's time.
        self.free[direction] = start + Duration::from_secs_f64(f64::from(size) / self.rate);
        (random.uniform() >= self.loss).then(|| self.free[direction] + self.delay)
    }
}

/// A primary user.
#[derive(Debug)]
struct User(Vec<(Time, Time)>);

impl SpectrumDatabase for User {
    fn departure(&self, now: Time, span: Duration) -> Option<Time> {
        self.0.iter().find(|(from, until)| *from < now + span && now < *until).map(|(_, until)| *until)
    }
}

/// A packet on its way: when it was sent, its direction (0: data) and the hops behind it.
struct Flying {
    packet: Datagram,
    sent: Time,
    direction: usize,
    passed: usize,
}

/// Both ends and the hops between them.
struct Net {
    ends: [BoxedEndpoint; 2],
    hops: Vec<Hop>,
    now: Time,
    /// By arrival.
    flying: BTreeMap<(Time, u64), Flying>,
    order: u64,
    random: RandomStream,
    closed: bool,
    digest: u64,
    /// When this was the present time before, and how often.
    at_once: (Time, u32),
    /// Packets that each end sent, and that reached the other.
    sent: [u64; 2],
    arrived: [u64; 2],
    lost: u64,
}

impl Net {
    fn enter(&mut self, Flying { packet, sent, direction, passed }: Flying) {
        let place = if direction == 0 { passed } else { self.hops.len() - 1 - passed };
        let size = packet.wire_size();
        match self.hops[place].carry(self.now, size, direction, &mut self.random) {
            Some(at) => {
                self.order += 1;
                let passed = passed + 1;
                self.flying.insert((at, self.order), Flying { packet, sent, direction, passed });
            }
            None => self.lost += 1,
        }
    }

    fn pump(&mut self) {
        for direction in 0..2 {
            let mut packets = 0;
            while let Some(Outgoing { packet, .. }) = self.ends[direction].poll_transmit(self.now) {
                packets += 1;
                assert!(packets < MOST_AT_ONCE, "endless packets at {:?}", self.now);
                let word = self.now.as_nanos() ^ u64::from(packet.payload_size()) ^ (direction as u64) << 63;
                self.digest = (self.digest ^ word).wrapping_mul(0x100_0000_01b3).rotate_left(9);
                self.sent[direction] += 1;
                self.enter(Flying { packet, sent: self.now, direction, passed: 0 });
            }
            while let Some(event) = self.ends[direction].poll_event() {
                // The sender alone knows that all is delivered.
                self.closed |= direction == 0 && event == EndpointEvent::Closed;
            }
        }
    }

    fn next(&self) -> Time {
        let packet = self.flying.first_key_value().map_or(Time::MAX, |((at, _), _)| *at);
        self.ends.iter().map(|end| end.poll_timeout()).fold(packet, Time::min)
    }

    fn run_until(&mut self, until: Time) {
        self.pump();
        while self.next() <= until {
            let next = self.next().max(self.now);
            self.at_once = if next == self.now { (next, self.at_once.1 + 1) } else { (next, 0) };
            assert!(self.at_once.1 < MOST_AT_ONCE, "time does not go on after {next:?}: {:?}", self.ends);
            self.now = next;
            if self.flying.first_key_value().is_some_and(|((at, _), _)| *at <= next)
                && let Some((_, Flying { mut packet, sent, direction, passed })) = self.flying.pop_first()
            {
                // Only data are stamped: the receiver returns what it reads.
                if direction == 0 {
                    let hop = &mut self.hops[passed - 1].stamping;
                    packet.stamp.pass(next, next - sent, None, hop);
                }
                if passed < self.hops.len() {
                    self.enter(Flying { packet, sent, direction, passed });
                } else {
                    self.arrived[direction] += 1;
                    let received = Received { packet: &packet, path: PathId(0), marked: false };
                    self.ends[1 - direction].handle_packet(next, received);
                }
            }
            for end in &mut self.ends {
                if end.poll_timeout() <= next {
                    end.handle_timeout(next);
                }
            }
            self.pump();
        }
        self.now = until;
    }

    /// Some news of a radio at the sender's node, true or not.
    fn tell(&mut self) {
        let until = self.now + Duration::from_millis(self.random.below(500));
        let event = match self.random.below(6) {
            0 => LinkEvent::SensingStart { until },
            1 => LinkEvent::SensingEnd { verdict: Verdict::Clear },
            2 => LinkEvent::SwitchingStart { until: Time::MAX },
            3 => LinkEvent::SwitchingEnd,
            4 => LinkEvent::LinkDown,
            _ => LinkEvent::LinkUp,
        };
        if self.random.below(2) == 0 {
            self.ends[0].handle_link_event(self.now, event);
        } else {
            self.ends[0].handle_route_event(self.now, until, event);
        }
    }
}

/// Plays case `seed` of the transport with `settings`. Returns a digest of all packets.
///
/// # Panics
///
/// The transport breaks a rule above.
pub fn check(settings: &dyn Protocol, seed: u64) -> u64 {
    let mut random = RandomStream::new(seed, "endpoint/case", 0);
    let connection = Connection { segment_size: 100 + random.below(1400) as u32, paths: 1, seed };
    let hops: Vec<Hop> = (0..1 + random.below(4)).map(|_| Hop::draw(&mut random)).collect();
    let bytes = 1 + random.below(100_000);
    let tells = random.below(2) == 0;
    let what = format!("case {seed}: {settings:?}, {bytes} bytes over {hops:?}");
    let pair = settings.build(connection);
    let mut net = Net {
        ends: [pair.sender, pair.receiver],
        hops,
        now: Time::ZERO,
        flying: BTreeMap::new(),
        order: 0,
        random: RandomStream::new(seed, "endpoint/net", 0),
        closed: false,
        digest: 0xcbf2_9ce4_8422_2325,
        at_once: (Time::ZERO, 0),
        sent: [0; 2],
        arrived: [0; 2],
        lost: 0,
    };
    let spans = (0..4).map(|place| {
        let from = Time::from_millis(10_000 * place + random.below(5000));
        (from, from + Duration::from_millis(random.below(5000)))
    });
    let database: Arc<dyn SpectrumDatabase> = Arc::new(User(spans.collect()));
    net.ends[0].use_database(&database);
    for round in 1..=2 {
        net.closed = false;
        net.ends[1].open(net.now);
        net.ends[0].supply(net.now, Supply::Bytes(bytes));
        net.ends[0].open(net.now);
        net.ends[0].close(net.now);
        let mut progress = (0, net.now);
        loop {
            if tells && net.now < Time::from_millis(60_000) {
                net.tell();
            }
            net.run_until(net.now + Duration::from_secs(1));
            let [sent, received] = [0, 1].map(|end| net.ends[end].progress());
            let carried = net.arrived[0] + net.arrived[1] + net.lost + net.flying.len() as u64;
            assert_eq!(net.sent[0] + net.sent[1], carried, "{what}");
            assert!(received.received_bytes <= sent.sent_bytes, "{what}");
            assert!(received.delivered_bytes <= round * bytes, "{what}");
            assert!(sent.sent_packets == net.sent[0], "{what}");
            // An unreliable sender makes progress by sending, whatever arrives.
            let done = received.delivered_bytes + if settings.is_reliable() { 0 } else { sent.sent_bytes };
            if done > progress.0 {
                progress = (done, net.now);
            }
            let is_whole = !settings.is_reliable() || received.delivered_bytes == round * bytes;
            if is_whole && net.closed {
                break;
            }
            let stall = net.now.saturating_since(progress.1);
            assert!(
                stall < PATIENCE,
                "connection {round} makes no progress after {progress:?}: {:?}; {what}",
                net.ends
            );
            assert!(net.next() != Time::MAX, "connection {round} waits for nothing: {:?}; {what}", net.ends);
        }
        let state = format!("{:?}", net.ends).len();
        assert!(state < MOST_STATE, "{state} characters of state; {what}");
        if !settings.is_reliable() {
            assert_eq!(net.ends[0].progress().sent_bytes, round * bytes, "{what}");
        }
        // What is under way arrives late, and changes nothing.
        net.run_until(net.now + Duration::from_secs(600));
        assert_eq!(net.ends[0].poll_timeout(), Time::MAX, "a timer after the end: {:?}; {what}", net.ends);
    }
    net.digest
}
