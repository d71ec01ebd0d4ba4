//! The MAC alone: stations that always have packets, no transport.

use cogtcp_link::queue::DropTail;
use cogtcp_link::{DropCause, Frame, Link, LinkConfig, LinkPayload, OfferOutcome, QueueLimit};
use cogtcp_network::{Finished, LinkHop, MacCounters, Occupation, PairEvent, StationPair};
use cogtcp_scenario::Scenario;
use cogtcp_spectrum::{Channel, ChannelId, ChannelTable, Radio};
use cogtcp_units::{Duration, Power, Probability, RandomStream, Rate, Time};
use std::collections::VecDeque;

/// A packet that carries nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Packet;

impl LinkPayload for Packet {}

const SCENARIO: &str = r#"
name = "mac"
[run]
duration = "1000 s"
[topology.single_hop]
link = { rate = "1 Mbit/s", delay = "1 us" }
[spectrum]
bands = 1
channels = { uniform = "1 Mbit/s" }
[[radio]]
name = "cr"
links = ["link"]
[radio.cr]
sensing_time = "1 s"
transmission_time = "1000 s"
start = "1000 s"
detector = "perfect"
[[flow]]
from = "sender"
to = "receiver"
transport = "newreno"
"#;

/// A pair whose stations are fed packets of 1040 bytes.
struct Bench {
    pair: StationPair,
    directions: Vec<LinkHop<Packet>>,
    now: Time,
    events: VecDeque<PairEvent>,
    delivered: [u64; 2],
    dropped: Vec<(Time, DropCause)>,
}

fn bench_direction() -> LinkConfig {
    LinkConfig {
        rate: Rate::from_bits_per_second(1_000_000),
        delay: Duration::from_micros(1),
        queue: DropTail::of(QueueLimit::Packets(100)),
        loss: Probability::ZERO,
        loss_run: None,
        drops: Vec::new(),
        schedule: None,
    }
}

impl Bench {
    fn new(changes: &[(&str, &str)], seed: u64) -> Self {
        Self::on_channel(changes, seed, |_| {})
    }

    /// The same on a channel that `edit` has changed.
    fn on_channel(changes: &[(&str, &str)], seed: u64, edit: impl Fn(&mut Channel)) -> Self {
        let mut scenario = Scenario::parse(SCENARIO, "mac.toml").unwrap();
        for (path, value) in changes {
            scenario = scenario.set(path, value).unwrap();
        }
        let mut experiment = scenario.resolve().unwrap();
        let spectrum = experiment.spectrum.as_mut().unwrap();
        let mut channel = spectrum.channels.get(ChannelId(0)).unwrap().clone();
        edit(&mut channel);
        let interval = Some(Duration::from_secs(100));
        spectrum.channels = ChannelTable::new(1, 1, vec![channel], interval).unwrap();
        let (mut pairs, _) =
            cogtcp_network::build::station_pairs(&experiment, experiment.run.duration, seed).unwrap();
        let mut pair = pairs.remove(0).pair;
        let config = bench_direction();
        let mut directions: Vec<LinkHop<Packet>> =
            (0..2).map(|_| Link::new(&config, None, || RandomStream::new(1, "loss", 0)).into()).collect();
        pair.begin(&mut directions);
        Self {
            pair,
            directions,
            now: Time::ZERO,
            events: VecDeque::new(),
            delivered: [0; 2],
            dropped: Vec::new(),
        }
    }

    /// Offers a packet to each of these ends whose queue is empty.
    fn feed(&mut self, ends: &[usize]) {
        for &end in ends {
            let waiting = self.directions[end].len();
            if waiting < 2 {
                let frame = Frame::new(Packet, 1040);
                let _ = self.directions[end].offer(self.now, frame);
            }
        }
        self.pair.feed(self.now, &self.directions);
    }

    /// One step of the pair at the time that it is due.
    fn step(&mut self) -> Finished {
        self.now = self.pair.next_change();
        let finished = self.pair.step(self.now, &mut self.directions, &mut self.events);
        if let Some((direction, cause)) = finished.dropped {
            self.directions[direction as usize].end_service(self.now, Some(cause));
            self.dropped.push((self.now, cause));
        }
        if let Some(direction) = finished.delivered {
            self.directions[direction as usize].end_service(self.now, None);
            self.delivered[direction as usize] += 1;
        }
        self.pair.feed(self.now, &self.directions);
        finished
    }

    /// Whether an exchange of this end is not over.
    fn is_under_way(&self, end: usize) -> bool {
        let occupation = self.pair.occupation(end, &self.directions);
        matches!(occupation, Occupation::Exchange(_) | Occupation::Undecided)
    }

    /// Runs to `end` with these stations saturated.
    fn saturate(&mut self, ends: &[usize], end: Time) {
        self.feed(ends);
        while self.pair.next_change() <= end {
            assert!(
                self.pair.next_change() >= self.now,
                "{:?} before {:?}",
                self.pair.next_change(),
                self.now
            );
            self.step();
            self.feed(ends);
        }
    }
}

/// One packet on an idle medium, to the nanosecond: no backoff precedes it. RTS 352 us, CTS and ACK 304 us,
/// 1068 bytes at 1 Mbit/s with preamble 8736 us, SIFS 10 us, propagation 1 us.
#[test]
fn one_exchange_takes_what_the_standard_says() {
    let us = |micros: u64| Time::ZERO + Duration::from_micros(micros);
    for (rts, data_at, over) in [("0 B", 352 + 1 + 10 + 304 + 1 + 10, 315), ("2000 B", 0, 315)] {
        let mut bench = Bench::new(&[("radio.cr.cr.mac.rts_threshold", rts)], 1);
        let frame = Frame::new(Packet, 1040);
        assert_eq!(bench.directions[0].offer(us(500), frame), OfferOutcome::Wake);
        bench.pair.feed(us(500), &bench.directions);
        assert_eq!(bench.pair.next_change(), us(500), "the medium has been idle for longer than DIFS");
        bench.step();
        let delivery = us(500 + data_at + 8736 + 1);
        assert_eq!(bench.pair.next_change(), delivery, "threshold {rts}");
        assert_eq!(bench.step().delivered, Some(0));
        let end = delivery + Duration::from_micros(over);
        assert_eq!(bench.pair.next_change(), end);
        bench.step();
        assert_eq!(bench.pair.measured(0), MacCounters { attempts: 1, ..MacCounters::default() });
    }
}

/// One saturated sender never collides: a packet takes DIFS, 15.5 slots of backoff on average, and the
/// exchange (Bianchi's model for n = 1). 20 000 packets: five standard errors of the mean backoff (9.2 slots
/// each) are 0.33 slots, 0.07 %.
#[test]
fn one_saturated_sender_has_the_throughput_of_the_closed_form() {
    for (rts, exchange) in
        [("0 B", 352 + 304 + 2 * (10 + 1) + 8736 + 304 + 10 + 2), ("2000 B", 8736 + 304 + 10 + 2)]
    {
        let mut bench = Bench::new(&[("radio.cr.cr.mac.rts_threshold", rts)], 3);
        let span = 200.0;
        bench.saturate(&[0], Time::from_secs_f64(span));
        let theory = span / ((50.0 + 15.5 * 20.0 + f64::from(exchange)) * 1e-6);
        let off = bench.delivered[0] as f64 / theory - 1.0;
        assert!(off.abs() < 0.0012, "{} packets, theory {theory}: off by {off}", bench.delivered[0]);
        assert_eq!(bench.pair.measured(0).collided, 0);
    }
}

/// Two saturated senders: the collision probability is that of Bianchi's fixed point (2000), p = tau for n =
/// 2, with W = 32 and five doublings, and both get the same share. His chain spends a slot on every busy
/// period, ours none, so that the tolerance is 10 %.
#[test]
fn two_saturated_senders_collide_as_bianchi_says() {
    let tau = |p: f64| {
        let doubled: f64 = (0..5).map(|i| (2.0 * p).powi(i)).sum();
        2.0 / (1.0 + 32.0 + p * 32.0 * doubled)
    };
    let p = (0..200).fold(0.05, |p, _| 0.5 * p + 0.5 * tau(p));
    let mut bench = Bench::new(&[], 5);
    bench.saturate(&[0, 1], Time::from_secs_f64(400.0));
    let [a, b] = [0, 1].map(|end| bench.pair.measured(end));
    let measured = (a.collided + b.collided) as f64 / (a.attempts + b.attempts) as f64;
    assert!((measured / p - 1.0).abs() < 0.1, "measured {measured}, theory {p}");
    let share = bench.delivered[0] as f64 / (bench.delivered[0] + bench.delivered[1]) as f64;
    assert!((share - 0.5).abs() < 0.01, "share {share}");
}

/// A receiver that is silent for good: RTS after RTS goes unanswered. To give up takes seven of them (668 us
/// each with the wait for the CTS, and DIFS), the backoff after the packet before (15.5 slots on average) and
/// six doubled ones (1501 slots): 35.4 ms. 1000 packets: five standard errors are 4 %.
#[test]
fn a_silent_receiver_costs_35_ms_a_packet() {
    let silent = [
        ("radio.cr.cr.start", "0 s"),
        ("radio.cr.cr.sensing_time", "500 s"),
        ("radio.cr.cr.while_peer_senses", "retry"),
        ("radio.cr.cr.transmit_radio", "separate"),
    ];
    let mut bench = Bench::new(&silent, 7);
    bench.saturate(&[0], Time::from_secs_f64(35.4));
    assert!(bench.dropped.iter().all(|(_, cause)| *cause == DropCause::Retry));
    let theory = 7.0 * (668e-6 + 50e-6) + (15.5 + 1501.0) * 20e-6;
    let mean = bench.dropped.last().unwrap().0.as_secs_f64() / bench.dropped.len() as f64;
    assert!((mean / theory - 1.0).abs() < 0.04, "mean {mean}, theory {theory}");
    let counters = bench.pair.measured(0);
    assert_eq!(counters.attempts, counters.unanswered);
    assert!((counters.attempts as usize).abs_diff(7 * bench.dropped.len()) <= 6);

    let infinite = [&silent[..], &[("radio.cr.cr.mac.short_retry_limit", "infinite")]].concat();
    let mut bench = Bench::new(&infinite, 7);
    bench.saturate(&[0], Time::from_secs_f64(10.0));
    assert_eq!((bench.dropped.len(), bench.delivered), (0, [0, 0]));
    assert!(bench.pair.measured(0).attempts > 800, "on it goes at the largest window");
}

/// Nobody gets access before the exchange of the other is over, though its own EIFS and backoff may be: on a
/// channel slower than the basic rate, where answers take long, and over a way longer than DIFS. (`saturate`
/// checks it.)
#[test]
fn nobody_sends_in_the_past() {
    let busy = ("spectrum.pu", "{ exponential = { alpha = 20.0, beta = 20.0 } }");
    let slow = ("spectrum.channels.uniform", "500 kbit/s");
    let far = ("topology.single_hop.link.delay", "100 us");
    let eager = ("radio.cr.cr.mac.cw_max", "31");
    for changes in [&[busy, eager, slow][..], &[busy, eager, far], &[busy, eager, slow, far]] {
        let mut bench = Bench::new(&[changes, &PATIENT].concat(), 31);
        // Now and then the other end has a packet too: it draws a backoff while the exchange is under way.
        for step in 1..5000 {
            bench.saturate(&[0], Time::from_millis(10 * step));
            bench.now = Time::from_millis(10 * step);
            bench.feed(&[1]);
        }
        let [a, b] = [0, 1].map(|end| bench.pair.measured(end).interfered);
        assert!(
            a > 100 && b > 100 && bench.delivered.iter().all(|n| *n > 10),
            "{a} {b} {:?}",
            bench.delivered
        );
    }
}

/// A sender that knows of the silence begins nothing that would reach into it.
#[test]
fn a_sender_that_waits_ends_before_the_silence() {
    let sensing = [
        ("radio.cr.cr.start", "50 ms"),
        ("radio.cr.cr.sensing_time", "30 ms"),
        ("radio.cr.cr.transmission_time", "50 ms"),
        ("radio.cr.cr.detector", "perfect"),
    ];
    let mut bench = Bench::new(&sensing, 11);
    bench.feed(&[0, 1]);
    while bench.now < Time::from_secs_f64(20.0) {
        bench.now = bench.pair.next_change();
        let known = |end| match bench.pair.occupation(end, &bench.directions) {
            Occupation::Exchange(exchange) => Some(exchange.end),
            _ => None,
        };
        let end = (0..2).filter_map(known).max();
        let radio = bench.pair.first_radio();
        if let Some(end) = end {
            assert!(!radio.phase().is_silent() && end <= radio.phase_end(), "{end:?} at {:?}", bench.now);
        }
        bench.saturate(&[0, 1], bench.now);
    }
    assert!(bench.delivered[0] > 500 && bench.delivered[1] > 500, "{:?}", bench.delivered);
    let unanswered = [0, 1].map(|end| bench.pair.measured(end).unanswered);
    assert_eq!(unanswered, [0, 0]);
}

/// An ACK that a primary user destroys: the packet has arrived once, is sent again, and does not arrive
/// twice. The PU is within range of the sender alone.
#[test]
fn a_lost_ack_repeats_the_frame_but_not_the_packet() {
    let near_sender = [
        (
            "spectrum.pu",
            "{ exponential = { alpha = 100.0, beta = 100.0, position = [\"-50 m\", \"0 m\"], reach = { range = \"60 m\" } } }",
        ),
        ("radio.cr.cr.mac.rts_threshold", "2000 B"),
        ("radio.cr.cr.mac.long_retry_limit", "1000"),
        ("radio.cr.cr.mac.short_retry_limit", "1000"),
    ];
    let mut bench = Bench::new(&near_sender, 13);
    bench.saturate(&[0], Time::from_secs_f64(100.0));
    let counters = bench.pair.measured(0);
    let interfered = counters.interfered;
    assert!(interfered > 500, "{counters:?}");
    let succeeded = counters.attempts - interfered - u64::from(bench.is_under_way(0));
    // Every packet arrives once, whatever became of its ACK.
    assert!(bench.delivered[0].abs_diff(succeeded) <= 1, "{} {succeeded}", bench.delivered[0]);
    assert!(bench.dropped.is_empty());
    assert!(
        bench
            .events
            .iter()
            .all(|event| !matches!(event, PairEvent::Interference(_, frame) if *frame != "ack"))
    );
}

/// A PU that is always ON, within range of both ends.
const ALWAYS_ON: (&str, &str) = (
    "spectrum.pu",
    "{ laws = { on = { deterministic = \"3000 s\" }, off = { deterministic = \"1 s\" }, start = \"on\" } }",
);
const PATIENT: [(&str, &str); 2] =
    [("radio.cr.cr.mac.short_retry_limit", "1000"), ("radio.cr.cr.mac.long_retry_limit", "1000")];

/// The share of attempts that failed for a cause is `expected` within five standard errors.
fn assert_share(failed: u64, attempts: u64, expected: f64) {
    let (n, share) = (attempts as f64, failed as f64 / attempts as f64);
    let error = (expected * (1.0 - expected) / n).sqrt();
    assert!(n > 1000.0 && (share - expected).abs() <= 5.0 * error, "{share} of {n}, expected {expected}");
}

/// By SINR nothing gets past a PU in range. As released 10 % of the frames escape it, RTS and data each on
/// their own, and no ACK is ever lost to it: what is delivered is acknowledged.
#[test]
fn as_released_one_frame_in_ten_escapes_a_primary_user() {
    let sinr = [&[ALWAYS_ON][..], &PATIENT].concat();
    let mut bench = Bench::new(&sinr, 17);
    bench.saturate(&[0], Time::from_secs_f64(50.0));
    let counters = bench.pair.measured(0);
    assert_eq!(bench.delivered[0], 0);
    assert!(counters.interfered + 1 >= counters.attempts, "{counters:?}");

    let released = [&sinr[..], &[("radio.cr.cr.reception", "as_released")]].concat();
    for (rts, fails) in [("2000 B", 0.9), ("0 B", 0.99)] {
        let mut bench = Bench::new(&[&released[..], &[("radio.cr.cr.mac.rts_threshold", rts)]].concat(), 17);
        bench.saturate(&[0], Time::from_secs_f64(900.0));
        let counters = bench.pair.measured(0);
        assert_share(counters.interfered, counters.attempts, fails);
        assert!(bench.delivered[0].abs_diff(counters.attempts - counters.interfered) <= 1);
        assert!(!bench.events.iter().any(|event| matches!(event, PairEvent::Interference(_, "cts" | "ack"))));
    }
    // Out of range there is nothing to escape from.
    let far = ("spectrum.pu.laws.position", "[\"0 m\", \"600 m\"]");
    let mut bench = Bench::new(&[&released[..], &[far]].concat(), 17);
    bench.saturate(&[0], Time::from_secs_f64(50.0));
    assert_eq!(bench.pair.measured(0).interfered, 0);
}

/// The error rate of a channel strikes data frames, as released RTS too, and has draws of its own: it moves
/// no loss of the link.
#[test]
fn channel_errors_are_drawn_for_each_frame() {
    let errors = |channel: &mut Channel| channel.error_rate = Probability::new(0.2).unwrap();
    for (reception, garbled) in [("sinr", 0.2), ("as_released", 1.0 - 0.8 * 0.8)] {
        let changes = [&PATIENT[..], &[("radio.cr.cr.reception", reception)]].concat();
        let mut bench = Bench::on_channel(&changes, 19, errors);
        bench.saturate(&[0], Time::from_secs_f64(100.0));
        let counters = bench.pair.measured(0);
        assert_share(counters.garbled, counters.attempts, garbled);
    }
    // With the loss of the link: either strikes, independently.
    let lossy = [&PATIENT[..], &[("topology.single_hop.link.loss", "10 %")]].concat();
    let mut bench = Bench::on_channel(&lossy, 19, errors);
    bench.saturate(&[0], Time::from_secs_f64(100.0));
    let counters = bench.pair.measured(0);
    assert_share(counters.garbled, counters.attempts, 1.0 - 0.8 * 0.9);
}

/// Noise of the CH-log that rises from silence above what the capture threshold stands, for 100 s, and falls
/// again.
#[test]
fn noise_that_rises_with_time_silences_the_link_while_it_lasts() {
    // 0.2818 W over 100 m arrive as 2.8e-5 W: 2.8 dB over this noise.
    let noisy = |channel: &mut Channel| channel.noise = [0.0, 1.5e-5, 1e-7].map(Power::from_watts).to_vec();
    let mut bench = Bench::on_channel(&PATIENT, 23, noisy);
    let mut seen = 0;
    let during = [100.0, 200.0, 300.0].map(|end| {
        bench.saturate(&[0], Time::from_secs_f64(end));
        let delivered = bench.delivered[0] - seen;
        seen += delivered;
        delivered
    });
    assert!(during[0] > 9000 && during[1] <= 1 && during[2] > 9000, "{during:?}");
    assert!(bench.pair.measured(0).garbled > 1000, "{:?}", bench.pair.measured(0));
}

/// What the boards of both nodes say, in the order of the radio's life: it finds a PU, moves, and opens; and
/// a queue that had dropped has room again.
#[test]
fn boards_say_what_radio_link_and_queue_do() {
    let moving = [
        (
            "spectrum.pu",
            "{ laws = { on = { deterministic = \"1 s\" }, off = { deterministic = \"9 s\" }, start = \"on\" } }",
        ),
        ("radio.cr.cr.start", "100 ms"),
        ("radio.cr.cr.sensing_time", "200 ms"),
        ("radio.cr.cr.transmission_time", "500 ms"),
    ];
    let mut bench = Bench::new(&moving, 29);
    let mut read = Vec::new();
    let config = LinkConfig { queue: DropTail::of(QueueLimit::Packets(3)), ..bench_direction() };
    bench.directions[0] = Link::new(&config, None, || RandomStream::new(1, "loss", 0)).into();
    bench.pair.begin(&mut bench.directions);
    for _ in 0..9 {
        let frame = Frame::new(Packet, 1040);
        let _ = bench.directions[0].offer(bench.now, frame);
        bench.pair.feed(bench.now, &bench.directions);
    }
    while bench.pair.next_change() <= Time::from_secs_f64(1.7) {
        bench.step();
        for event in bench.events.drain(..) {
            let PairEvent::Board(0, _, event) = event else { continue };
            let Some(known) = event.as_known(Rate::ZERO) else { continue };
            let what = format!("{known:?}");
            read.push(what.split([' ', '{']).next().unwrap_or_default().to_owned());
        }
    }
    // One channel, with a PU until 1 s: round-robin returns to it, from sensing to sensing, until it has
    // gone.
    let mut expected = vec!["QueueFree", "SensingStart", "LinkDown"];
    expected.extend(["SensingEnd", "SwitchingStart", "SwitchingEnd", "SensingStart"].repeat(5));
    expected.extend(["SensingEnd", "Handoff", "LinkUp"]);
    assert_eq!(read, expected);
}
