//! What must hold whatever happens: random places, movement, traffic, silences, channels and rules.

use crate::committed::{compare_cases, hash};
use crate::common::{config, mbit};
use cogtcp_spectrum::ChannelId;
use cogtcp_units::{Bytes, Decibel, Duration, Position, Power, RandomStream, Time};
use cogtcp_wireless::{
    ChannelConfig, Dcf, Destination, EnqueueOutcome, Errors, Fading, FrameKind, InterfaceConfig, InterfaceId,
    MacConfig, Medium, MediumConfig, MediumEvent, PhyRate, Positions, Profile, QueuedPacket, RateControl,
    Shadowing, SilenceRules,
};
use std::collections::{BTreeMap, BTreeSet};

/// Nodes that go straight on and come back at the border.
#[derive(Debug)]
struct Straight {
    nodes: Vec<(Position, f64, f64)>,
    side: f64,
    speed: f64,
}

impl Positions for Straight {
    fn position(&mut self, node: u32, now: Time) -> Position {
        let (start, x, y) = self.nodes[node as usize];
        let fold = |place: f64| {
            let place = place.rem_euclid(2.0 * self.side);
            if place > self.side { 2.0 * self.side - place } else { place }
        };
        let time = now.as_secs_f64();
        Position::new(fold(start.x + x * time), fold(start.y + y * time))
    }

    fn max_speed(&self) -> f64 {
        self.speed
    }
}

fn random_config(stream: &mut RandomStream) -> MediumConfig {
    let profile = [Profile::Standard, Profile::Ns2, Profile::Ns3][stream.below(3) as usize];
    let mut mac = MacConfig::of(profile);
    mac.dcf.rts_threshold = [Bytes::new(0), Bytes::new(500), Dcf::NO_RTS][stream.below(3) as usize];
    mac.queue_packets = 1 + stream.below(10) as usize;
    let mut config = config(mac);
    if profile == Profile::Ns3 {
        config.phy.errors = Errors::Dsss;
    }
    config.channels = vec![ChannelConfig { rate: mbit(2), error_rate: 0.02 }; 3];
    config.reports_frames = true;
    config.silence =
        SilenceRules { waits_for_peer: stream.below(2) == 0, sends_while_silent: stream.below(2) == 0 };
    config.phy.delay = Duration::from_micros(stream.below(3));
    config.phy.cutoff =
        Power::from_watts(config.phy.carrier_sense.watts() * [1.0, 0.1][stream.below(2) as usize]);
    if stream.below(3) == 0 {
        config.phy.propagation.fading = Fading::Rayleigh;
    }
    if stream.below(3) == 0 {
        config.phy.propagation.shadowing =
            Some(Shadowing { deviation: Decibel(4.0), per_pair: stream.below(2) == 0 });
    }
    if stream.below(2) == 0 {
        let rate = |mbps, capture| PhyRate { rate: mbit(mbps), capture, sensitivity: config.phy.sensitivity };
        config.phy.rates = vec![rate(1, 5.0), rate(2, 10.0), rate(11, 30.0)];
        config.rate_control = Some([RateControl::ARF, RateControl::MINSTREL][stream.below(2) as usize]);
    }
    config
}

/// One random run: its events, after the invariants have been checked.
fn run(seed: u64) -> Vec<MediumEvent<u32>> {
    let mut stream = RandomStream::new(seed, "fuzz", 0);
    let config = random_config(&mut stream);
    let own_radio = !config.silence.sends_while_silent;
    let speed = [0.0, 5.0, 300.0][stream.below(3) as usize];
    let nodes = 1 + stream.below(20) as u32;
    let side = 800.0;
    let place =
        |stream: &mut RandomStream| Position::new(stream.uniform_in(0.0, side), stream.uniform_in(0.0, side));
    // East and north together are no more than `max_speed` says.
    let velocity = speed / std::f64::consts::SQRT_2;
    let starts = (0..nodes).map(|_| {
        let start = place(&mut stream);
        (start, stream.uniform_in(-velocity, velocity), stream.uniform_in(-velocity, velocity))
    });
    let positions = Straight { nodes: starts.collect(), side, speed };
    let mut medium = Medium::<u32, _>::new(config, positions, (), seed);
    for node in 0..nodes {
        let channel = ChannelId(stream.below(2) as u32);
        let follows_receiver = stream.below(5) == 0;
        medium.add_interface(InterfaceConfig { channel, follows_receiver, ..InterfaceConfig::new(node) });
    }
    let (mut now, mut number, mut offered, mut refused) = (Time::ZERO, 0, 0u64, 0u64);
    let mut events = Vec::new();
    let mut silent = vec![false; nodes as usize];
    let mut silences: Vec<(u32, Time, bool)> = Vec::new();
    for _ in 0..1500 {
        now += Duration::from_micros(stream.below(4000));
        medium.advance(now);
        assert!(medium.next_change() > now);
        events.extend(std::iter::from_fn(|| medium.poll_event()));
        let at = InterfaceId(stream.below(u64::from(nodes)) as u32);
        match stream.below(20) {
            0 => {
                let is_silent = stream.below(4) == 0;
                silent[at.0 as usize] = is_silent;
                silences.push((at.0, now, is_silent));
                let until = now + Duration::from_millis(stream.below(100));
                medium.set_silent(now, &[at], is_silent, until);
            }
            1 => medium.tune(now, at, ChannelId(stream.below(3) as u32)),
            // What is taken out of a queue ends in no event.
            2 => offered -= medium.remove_waiting(now, at, |packet| packet.payload % 3 == 0).len() as u64,
            _ => {
                let peer = stream.below(u64::from(nodes)) as u32;
                let broadcast = stream.below(4) == 0 || peer == at.0;
                let to = if broadcast {
                    Destination::Broadcast
                } else {
                    Destination::Interface(InterfaceId(peer))
                };
                number += 1;
                let bytes = 40 + stream.below(1400) as u32;
                let packet = QueuedPacket {
                    payload: number,
                    bytes,
                    to,
                    channel: None,
                    goes_first: stream.below(4) == 0,
                };
                match medium.enqueue(now, at, packet) {
                    EnqueueOutcome::Queued => offered += 1,
                    // One more is in, and one that was counted is out.
                    EnqueueOutcome::Displaced(_) => {}
                    EnqueueOutcome::Refused(_) => refused += 1,
                }
            }
        }
        assert!(medium.is_conserved(), "seed {seed}");
    }
    // All radios open for good: everything comes to an end.
    let all: Vec<InterfaceId> = (0..nodes).map(InterfaceId).collect();
    medium.set_silent(now, &all, false, Time::MAX);
    silences.extend(all.iter().map(|at| (at.0, now, false)));
    for _ in 0..600 {
        now += Duration::from_millis(100);
        medium.advance(now);
    }
    events.extend(std::iter::from_fn(|| medium.poll_event()));
    assert_eq!(medium.next_change(), Time::MAX, "seed {seed}: nobody is left waiting");
    let left: usize = all.iter().map(|at| medium.waiting(*at)).sum();
    assert_eq!(left, 0, "seed {seed}");
    let done = events
        .iter()
        .filter(|event| matches!(event, MediumEvent::Sent { .. } | MediumEvent::Failed { .. }))
        .count();
    assert_eq!(done as u64, offered, "seed {seed}: each packet ends once; {refused} were refused");
    check(&events, &silences, own_radio, seed);
    events
}

fn check(events: &[MediumEvent<u32>], silences: &[(u32, Time, bool)], own_radio: bool, seed: u64) {
    let mut busy_until: BTreeMap<u32, Time> = BTreeMap::new();
    let mut arrived: BTreeSet<(u32, u32)> = BTreeSet::new();
    let mut unicast: BTreeSet<u32> = BTreeSet::new();
    let mut last = Time::ZERO;
    for event in events {
        match event {
            MediumEvent::OnAir { from, kind, start, end, .. } => {
                assert!(*start >= last, "seed {seed}: in the order of time");
                last = *start;
                let until = busy_until.insert(from.0, *end).unwrap_or(Time::ZERO);
                assert!(*start >= until, "seed {seed}: a radio sends one frame at a time");
                let was = silences.iter().rev().find(|(who, at, _)| *who == from.0 && at <= start);
                let is_silent = was.is_some_and(|(.., silent)| *silent);
                // Data may follow a CTS in a silence: only of an RTS is it sure that it begins an exchange.
                let begins = *kind == FrameKind::Rts;
                assert!(!(begins && own_radio && is_silent), "seed {seed}: nobody begins in its own silence");
            }
            MediumEvent::Received { at, payload, broadcast, .. } => {
                assert!(arrived.insert((at.0, *payload)), "seed {seed}: handed up once");
                assert!(*broadcast || unicast.insert(*payload), "seed {seed}: by its receiver alone");
            }
            MediumEvent::Sent { to: Destination::Interface(peer), payload, .. } => {
                assert!(arrived.contains(&(peer.0, *payload)), "seed {seed}: acknowledged, so it arrived");
            }
            MediumEvent::Failed { to: Destination::Interface(peer), payload, arrived: was_there, .. } => {
                assert_eq!(*was_there, arrived.contains(&(peer.0, *payload)), "seed {seed}");
            }
            _ => {}
        }
    }
}

#[test]
fn whatever_happens_packets_are_conserved_and_radios_half_duplex() {
    let mut received = 0;
    let mut digests = Vec::new();
    for seed in 0..300 {
        let events = run(seed);
        received += events.iter().filter(|event| matches!(event, MediumEvent::Received { .. })).count();
        digests.push(hash(format!("{events:?}").as_bytes()));
    }
    compare_cases("random", digests.into_iter());
    assert!(received > 15_000, "{received}: something happens");
}

#[test]
fn same_seed_same_events() {
    for seed in [1, 2, 3, 4, 5, 6] {
        assert_eq!(run(seed), run(seed));
    }
    assert_ne!(run(1), run(2));
}
