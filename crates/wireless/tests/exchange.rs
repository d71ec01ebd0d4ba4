//! Exchanges of frames by hand, to the nanosecond.

use crate::common::{Bench, config, mbit, packet};
use cogtcp_spectrum::ChannelId;
use cogtcp_units::{Bytes, Duration, Position, Time};
use cogtcp_wireless::{
    AnswerRate, ChannelConfig, Dcf, Destination, EnqueueOutcome, ExchangeFailure, FrameKind, InterfaceConfig,
    InterfaceId, MacConfig, Medium, MediumConfig, MediumEvent, PhyConfig, Positions, Profile, QueuedPacket,
    Rules,
};

fn us(micros: u64) -> Time {
    Time::ZERO + Duration::from_micros(micros)
}

/// Packets offered at these times in microseconds, by sender and receiver; everything that happens.
fn play(
    mac: MacConfig,
    places: &[(f64, f64)],
    packets: &[(u64, u32, Destination)],
    seed: u64,
) -> Vec<MediumEvent<u32>> {
    let config = cogtcp_wireless::MediumConfig { reports_frames: true, ..config(mac) };
    let mut bench = Bench::new(config, places, &[], seed);
    let mut events = Vec::new();
    for (number, (at, from, to)) in packets.iter().enumerate() {
        bench.medium.advance(us(*at));
        let packet = QueuedPacket { to: *to, ..packet(number as u32, 0) };
        assert_eq!(bench.medium.enqueue(us(*at), InterfaceId(*from), packet), EnqueueOutcome::Queued);
    }
    bench.medium.advance(Time::from_secs_f64(10.0));
    assert!(bench.medium.is_conserved());
    assert_eq!(bench.medium.next_change(), Time::MAX, "nothing is left to do");
    events.extend(std::iter::from_fn(|| bench.medium.poll_event()));
    events
}

fn to(number: u32) -> Destination {
    Destination::Interface(InterfaceId(number))
}

/// The frames in the order of their starts: sender, kind, start and end in microseconds.
fn frames(events: &[MediumEvent<u32>]) -> Vec<(u32, FrameKind, u64, u64)> {
    let micros = |time: Time| (time - Time::ZERO).as_nanos() / 1000;
    let frame = |event: &MediumEvent<u32>| match event {
        MediumEvent::OnAir { from, kind, start, end, .. } => {
            Some((from.0, *kind, micros(*start), micros(*end)))
        }
        _ => None,
    };
    events.iter().filter_map(frame).collect()
}

/// An idle medium needs no backoff. RTS 352 us, CTS and ACK 304 us, 1048 bytes at 1 Mbit/s with preamble 8576
/// us, SIFS 10 us, delay 1 us: the packet is there 9255 us after the start, its ACK 315 us later. Without
/// RTS, 8577 us.
#[test]
fn one_exchange_takes_what_the_standard_says() {
    use FrameKind::{Ack, Cts, Data, Rts};
    let events = play(MacConfig::default(), &[(0.0, 0.0), (100.0, 0.0)], &[(500, 0, to(1))], 1);
    let expected = [(0, Rts, 500, 852), (1, Cts, 863, 1167), (0, Data, 1178, 9754), (1, Ack, 9765, 10_069)];
    assert_eq!(frames(&events), expected);
    let (from, at) = (InterfaceId(0), InterfaceId(1));
    let first_in_line = us(500);
    let arrived =
        MediumEvent::Received { time: us(9755), at, from, broadcast: false, first_in_line, payload: 0 };
    assert!(events.contains(&arrived));
    let service = Duration::from_micros(9570);
    let sent = MediumEvent::Sent { time: us(10_070), from, to: to(1), payload: 0, attempts: 1, service };
    assert_eq!(events.last(), Some(&sent));

    let mac = Dcf { rts_threshold: Bytes::new(1048), ..Dcf::default() }.into();
    let events = play(mac, &[(0.0, 0.0), (100.0, 0.0)], &[(500, 0, to(1))], 1);
    assert_eq!(frames(&events), [(0, Data, 500, 9076), (1, Ack, 9087, 9391)]);
    // The frame with its header is what the threshold is about.
    let mac = Dcf { rts_threshold: Bytes::new(1047), ..Dcf::default() }.into();
    let events = play(mac, &[(0.0, 0.0), (100.0, 0.0)], &[(500, 0, to(1))], 1);
    assert_eq!(frames(&events)[0], (0, Rts, 500, 852));
}

/// On a channel of 2 Mbit/s: RTS, CTS, ACK and broadcasts at the basic rate of 1 Mbit/s, data at twice that
/// (192 + 4192 us); ACKs too where the rule says so (192 + 56 us).
#[test]
fn what_goes_at_the_basic_rate() {
    use FrameKind::{Ack, Cts, Data, Rts};
    for (answer_rate, ack) in [(AnswerRate::Basic, 304), (AnswerRate::Same, 248)] {
        let rules = Rules { answer_rate, ..Rules::default() };
        let mac = MacConfig { rules, ..MacConfig::default() };
        let config = MediumConfig::new(mac, PhyConfig::ns2(), mbit(2));
        let mut bench =
            Bench::new(MediumConfig { reports_frames: true, ..config }, &[(0.0, 0.0), (100.0, 0.0)], &[], 1);
        bench.medium.enqueue(us(0), InterfaceId(0), packet(1, 1));
        bench.medium.advance(us(20_000));
        let broadcast = QueuedPacket { to: Destination::Broadcast, ..packet(2, 0) };
        bench.medium.enqueue(us(20_000), InterfaceId(0), broadcast);
        bench.medium.advance(us(40_000));
        let events: Vec<_> = std::iter::from_fn(|| bench.medium.poll_event()).collect();
        let spans: Vec<_> =
            frames(&events).iter().map(|(_, kind, start, end)| (*kind, end - start)).collect();
        assert_eq!(spans, [(Rts, 352), (Cts, 304), (Data, 4384), (Ack, ack), (Data, 8576)]);
    }
}

/// Two broadcasts that begin in one slot: who sends hears nothing, and a third hears a collision.
#[test]
fn who_sends_hears_nothing() {
    let places = [(0.0, 0.0), (100.0, 0.0), (50.0, 86.6)];
    let both = [(0, 0, Destination::Broadcast), (0, 1, Destination::Broadcast)];
    let events = play(MacConfig::default(), &places, &both, 1);
    assert!(!events.iter().any(|event| matches!(event, MediumEvent::Received { .. })), "{events:?}");
}

/// A broadcast is one frame, heard by all within 250 m, answered by nobody.
#[test]
fn a_broadcast_is_for_everybody_in_range() {
    let places = [(0.0, 0.0), (249.0, 0.0), (0.0, -249.0), (251.0, 0.0), (5000.0, 0.0)];
    let events = play(MacConfig::default(), &places, &[(0, 0, Destination::Broadcast)], 1);
    assert_eq!(frames(&events), [(0, FrameKind::Data, 0, 8576)]);
    let hearers: Vec<u32> = events
        .iter()
        .filter_map(|event| match event {
            MediumEvent::Received { at, broadcast: true, time, .. } => {
                assert_eq!(*time, us(8577));
                Some(at.0)
            }
            _ => None,
        })
        .collect();
    assert_eq!(hearers, [1, 2]);
    assert!(
        matches!(events.last(), Some(MediumEvent::Sent { attempts: 1, .. })),
        "done with though nobody says so"
    );
}

/// Nobody there: seven RTS, then the link has failed. What ns-2 and the pair of stations waited for each CTS
/// is 668 us after the RTS began; by the standard's text 574 us: RTS, SIFS, a slot and the preamble.
#[test]
fn a_missing_neighbour_is_a_failed_link() {
    for (profile, wait) in [(Profile::Standard, 352 + 10 + 20 + 192), (Profile::Ns2, 352 + 1 + 10 + 304 + 1)]
    {
        for places in [vec![(0.0, 0.0), (300.0, 0.0)], vec![(0.0, 0.0), (1e6, 0.0)]] {
            let events = play(MacConfig::of(profile), &places, &[(0, 0, to(1))], 1);
            let frames = frames(&events);
            assert_eq!(frames.len(), 7);
            let Some(MediumEvent::Failed { time, cause, attempts, arrived, .. }) = events.last() else {
                panic!("no failure")
            };
            assert_eq!((*cause, *attempts, *arrived), (ExchangeFailure::OutOfReach, 7, false));
            assert_eq!(*time, us(frames[6].2 + wait));
        }
    }
}

/// A radio hears its own channel alone; a frame that it comes to in the middle keeps it silent, and is not
/// received. So it is where nodes stand still and where they might move.
#[test]
fn channels_are_apart() {
    are_apart(vec![Position::default(); 4]);
    are_apart(Moving { nodes: vec![(0.0, 0.0); 4], speed: 1.0 });
}

/// Nodes that go east from where they are, as fast as they say.
struct Moving {
    nodes: Vec<(f64, f64)>,
    speed: f64,
}

impl Positions for Moving {
    fn position(&mut self, node: u32, now: Time) -> Position {
        let (x, speed) = self.nodes[node as usize];
        Position::new(x + speed * now.as_secs_f64(), 0.0)
    }

    fn max_speed(&self) -> f64 {
        self.speed
    }
}

/// A node 560 m away comes nearer at 20 m/s. 0.6 s later it is within carrier sense, 550 m, though nodes are
/// still in the squares of time zero: these serve for 1.4 s, in which a node goes 5 % of 550 m. It waits for
/// a frame that it hears begin; so does one that has been there all the time. One behind it waits for
/// nothing.
#[test]
fn who_comes_near_is_heard_before_the_squares_are_drawn_anew() {
    let nodes =
        Moving { nodes: vec![(0.0, 0.0), (560.0, -20.0), (-545.0, 0.0), (600.0, -20.0)], speed: 20.0 };
    let mut medium = Medium::<u32, _>::new(config(MacConfig::default()), nodes, (), 1);
    (0..4).for_each(|node| {
        medium.add_interface(InterfaceConfig::new(node));
    });
    let broadcast = |number| QueuedPacket { to: Destination::Broadcast, ..packet(number, 0) };
    // The squares are those of time zero.
    medium.enqueue(us(0), InterfaceId(0), broadcast(0));
    let begins = us(600_000);
    medium.advance(begins);
    medium.enqueue(begins, InterfaceId(0), broadcast(1));
    // In the middle of the frame, which takes 8576 us.
    let asks = begins + Duration::from_micros(2000);
    medium.advance(asks);
    (1..4).for_each(|node| {
        medium.enqueue(asks, InterfaceId(node), broadcast(node));
    });
    medium.advance(begins + Duration::from_micros(8500));
    let sent = [1, 2, 3].map(|node| medium.counters(InterfaceId(node)).frames);
    assert_eq!(sent, [0, 0, 1]);
}

/// The node's only radio: it visits the channel of its receiver for a packet and comes back, where it can be
/// reached again.
#[test]
fn the_only_radio_comes_back() {
    let mut config = config(MacConfig::default());
    config.channels = vec![ChannelConfig { rate: mbit(1), error_rate: 0.0 }; 2];
    let mut medium = Medium::<u32, _>::new(config, vec![Position::default(); 3], (), 1);
    medium.add_interface(InterfaceConfig {
        follows_receiver: true,
        returns: true,
        ..InterfaceConfig::new(0)
    });
    medium.add_interface(InterfaceConfig { channel: ChannelId(1), ..InterfaceConfig::new(1) });
    medium.add_interface(InterfaceConfig::new(2));
    medium.enqueue(us(0), InterfaceId(0), packet(0, 1));
    medium.advance(us(5000));
    assert_eq!(medium.channel(InterfaceId(0)), ChannelId(1), "in the middle of it");
    medium.advance(us(20_000));
    assert_eq!(medium.channel(InterfaceId(0)), ChannelId(0));
    medium.enqueue(us(20_000), InterfaceId(2), packet(1, 0));
    medium.advance(us(40_000));
    let received = [0, 1].map(|at| medium.counters(InterfaceId(at)).received);
    assert_eq!(received, [1, 1]);
}

fn are_apart(positions: impl Positions) {
    let mut config = config(MacConfig::default());
    config.channels = vec![ChannelConfig { rate: mbit(1), error_rate: 0.0 }; 3];
    let mut medium = Medium::<u32, _>::new(config, positions, (), 1);
    for (node, channel) in [(0, 0), (1, 1), (2, 1), (3, 2)] {
        let interface = InterfaceConfig { channel: ChannelId(channel), ..InterfaceConfig::new(node) };
        medium.add_interface(interface);
    }
    for node in [0, 1] {
        medium.enqueue(
            us(0),
            InterfaceId(node),
            QueuedPacket { to: Destination::Broadcast, ..packet(node, 0) },
        );
    }
    // In the middle of both frames the fourth station comes to channel 1 with a packet of its own.
    medium.advance(us(4000));
    medium.tune(us(4000), InterfaceId(3), ChannelId(1));
    medium.enqueue(us(4000), InterfaceId(3), QueuedPacket { to: Destination::Broadcast, ..packet(3, 0) });
    medium.advance(us(1_000_000));
    let received: Vec<(u32, u32)> = std::iter::from_fn(|| medium.poll_event())
        .filter_map(|event| match event {
            MediumEvent::Received { at, payload, time, .. } => {
                assert!(
                    payload != 3 || time >= us(8577 + 50 + 8577),
                    "it waited for the end of the frame, and DIFS"
                );
                Some((at.0, payload))
            }
            _ => None,
        })
        .collect();
    assert_eq!(received, [(2, 1), (1, 3), (2, 3)]);
}

/// A transmitter that follows its receivers goes where each listens, and is deaf for a millisecond when it
/// changes.
#[test]
fn a_transmitter_follows_its_receivers() {
    let mut config = config(MacConfig::default());
    config.channels = vec![ChannelConfig { rate: mbit(1), error_rate: 0.0 }; 3];
    config.reports_frames = true;
    let mut medium = Medium::<u32, _>::new(config, vec![cogtcp_units::Position::default(); 3], (), 1);
    let follower = InterfaceConfig { follows_receiver: true, ..InterfaceConfig::new(0) };
    medium.add_interface(follower);
    for node in [1, 2] {
        medium.add_interface(InterfaceConfig { channel: ChannelId(node), ..InterfaceConfig::new(node) });
    }
    for (number, peer) in [(0, 1), (1, 2), (2, 2)] {
        medium.enqueue(us(0), InterfaceId(0), packet(number, peer));
    }
    medium.advance(us(1_000_000));
    let events: Vec<MediumEvent<u32>> = std::iter::from_fn(|| medium.poll_event()).collect();
    let channels: Vec<u32> = events
        .iter()
        .filter_map(|event| match event {
            MediumEvent::OnAir { kind: FrameKind::Rts, channel, .. } => Some(channel.0),
            _ => None,
        })
        .collect();
    assert_eq!(channels, [1, 2, 2]);
    let first = frames(&events)[0];
    let after = first.2 - 1050;
    assert!(
        after.is_multiple_of(20) && after <= 31 * 20,
        "a millisecond to tune, DIFS, and a backoff: {first:?}"
    );
}

/// None, one, and many on one point: everything ends, nothing is lost that need not be.
#[test]
fn no_station_one_station_and_a_crowd_on_one_point() {
    let mut bench = Bench::new(config(MacConfig::default()), &[], &[], 1);
    bench.run(us(1_000_000));
    assert!(bench.medium.is_empty() && bench.medium.next_change() == Time::MAX);

    let alone = play(MacConfig::default(), &[(0.0, 0.0)], &[(0, 0, Destination::Broadcast)], 1);
    assert!(matches!(alone[..], [MediumEvent::OnAir { .. }, MediumEvent::Sent { .. }]), "{alone:?}");

    let flows: Vec<(u32, u32)> = (1..10).map(|station| (station, 0)).collect();
    let mut crowd = Bench::new(config(MacConfig::default()), &[(5.0, 5.0); 10], &flows, 1);
    crowd.run(Time::from_secs_f64(20.0));
    // An exchange takes 9.62 ms with DIFS: at most 2079 in 20 s.
    assert!(crowd.total() > 1900, "{}", crowd.total());
}

/// A queue of 49 packets, as ns-2's of 50 has, beside the one that the MAC is at; it tells when it has room
/// again, once.
#[test]
fn a_full_queue_refuses_and_says_when_it_has_room() {
    let mut bench = Bench::new(config(MacConfig::of(Profile::Ns2)), &[(0.0, 0.0), (100.0, 0.0)], &[], 1);
    let offers: Vec<bool> = (0..53)
        .map(|n| bench.medium.enqueue(us(0), InterfaceId(0), packet(n, 1)) == EnqueueOutcome::Queued)
        .collect();
    assert_eq!(offers.iter().filter(|queued| **queued).count(), 50);
    bench.medium.advance(Time::from_secs_f64(5.0));
    let events: Vec<MediumEvent<u32>> = std::iter::from_fn(|| bench.medium.poll_event()).collect();
    let free = events.iter().filter(|event| matches!(event, MediumEvent::QueueFree { .. })).count();
    let sent = events.iter().filter(|event| matches!(event, MediumEvent::Sent { .. })).count();
    assert_eq!((free, sent), (1, 50));
}

/// A packet after 65,535 others of its sender is no copy of the last one that its receiver had: the numbers
/// by which copies are known do not come again.
#[test]
fn after_65536_packets_nothing_is_taken_for_a_copy() {
    let mut bench = Bench::new(config(MacConfig::default()), &[(0.0, 0.0), (100.0, 0.0)], &[], 1);
    let mut now = Time::ZERO;
    let mut received = 0;
    for number in 0..=65_536_u32 {
        // Broadcasts take numbers too.
        let to = if number % 65_536 == 0 { to(1) } else { Destination::Broadcast };
        // Short, so that each is over within 10 ms.
        let packet = QueuedPacket { to, bytes: 20, ..packet(number, 0) };
        assert_eq!(bench.medium.enqueue(now, InterfaceId(0), packet), EnqueueOutcome::Queued);
        now += Duration::from_millis(10);
        bench.medium.advance(now);
        while let Some(event) = bench.medium.poll_event() {
            received += u32::from(matches!(event, MediumEvent::Received { broadcast: false, .. }));
        }
    }
    assert_eq!(received, 2);
}

/// A MAC that takes its packets at once (ns-2) takes the next after a failure when its host has had his say:
/// what waits for the same neighbour leaves the queue, all of it, and a packet of routing goes first. A host
/// that says so later finds one taken.
#[test]
fn a_failure_is_told_before_the_next_packet_is_taken() {
    for (profile, late, left) in
        [(Profile::Ns2, false, 2), (Profile::Ns2, true, 1), (Profile::Standard, true, 2)]
    {
        let mut bench = Bench::new(config(MacConfig::of(profile)), &[(0.0, 0.0), (300.0, 0.0)], &[], 1);
        let station = InterfaceId(0);
        for number in 0..3 {
            bench.medium.enqueue(us(0), station, packet(number, 1));
        }
        let failed = loop {
            bench.medium.step();
            let mut events = std::iter::from_fn(|| bench.medium.poll_event());
            let failure =
                |event| if let MediumEvent::Failed { time, .. } = event { Some(time) } else { None };
            if let Some(time) = events.find_map(failure) {
                break time;
            }
        };
        let now = failed + Duration::from_nanos(u64::from(late));
        assert_eq!(bench.medium.remove_waiting(now, station, |_| true).len(), left, "{profile:?} {late}");
        let routing = QueuedPacket { to: Destination::Broadcast, goes_first: true, ..packet(9, 0) };
        bench.medium.enqueue(now, station, routing);
        bench.medium.advance(Time::from_secs_f64(2.0));
        let done: Vec<u32> = std::iter::from_fn(|| bench.medium.poll_event())
            .filter_map(|event| match event {
                MediumEvent::Sent { payload, .. } | MediumEvent::Failed { payload, .. } => Some(payload),
                _ => None,
            })
            .collect();
        assert_eq!(done, if left == 2 { vec![9] } else { vec![1, 9] }, "{profile:?} {late}");
        assert!(bench.medium.is_conserved());
    }
}

/// A MAC that takes its packets at once (ns-2) has the next when the host hears that one was sent: what the
/// host then says of routing goes behind it. Otherwise it goes first.
#[test]
fn after_a_success_the_next_packet_is_taken_at_once() {
    for (profile, order) in [(Profile::Ns2, [0, 1, 9, 2]), (Profile::Standard, [0, 9, 1, 2])] {
        let mut bench = Bench::new(config(MacConfig::of(profile)), &[(0.0, 0.0), (100.0, 0.0)], &[], 1);
        let station = InterfaceId(0);
        for number in 0..3 {
            bench.medium.enqueue(us(0), station, packet(number, 1));
        }
        let mut done = Vec::new();
        while done.len() < order.len() {
            bench.medium.step();
            while let Some(event) = bench.medium.poll_event() {
                if let MediumEvent::Sent { time, payload, .. } = event {
                    if done.is_empty() {
                        let routing =
                            QueuedPacket { to: Destination::Broadcast, goes_first: true, ..packet(9, 0) };
                        bench.medium.enqueue(time, station, routing);
                    }
                    done.push(payload);
                }
            }
        }
        assert_eq!(done, order, "{profile:?}");
    }
}

/// In ns-2 the packet after a failed one goes before what routing has to say of the failure, which its link
/// layer holds: not one for the neighbour that is gone, which has left the queue.
#[test]
fn what_routing_says_of_a_failure_waits_behind_the_next_packet() {
    for (profile, waits, order) in
        [(Profile::Ns2, true, [2, 9]), (Profile::Ns2, false, [9, 2]), (Profile::Standard, false, [9, 2])]
    {
        let mut mac = MacConfig::of(profile);
        assert_eq!(mac.rules.takes_next_before_routing, profile == Profile::Ns2);
        mac.rules.takes_next_before_routing = waits;
        let places = [(0.0, 0.0), (300.0, 0.0), (-200.0, 0.0)];
        let mut bench = Bench::new(config(mac), &places, &[], 1);
        let station = InterfaceId(0);
        for (number, to) in [(0, 1), (1, 1), (2, 2)] {
            bench.medium.enqueue(us(0), station, packet(number, to));
        }
        let failed = loop {
            bench.medium.step();
            let mut events = std::iter::from_fn(|| bench.medium.poll_event());
            let failure =
                |event| if let MediumEvent::Failed { time, .. } = event { Some(time) } else { None };
            if let Some(time) = events.find_map(failure) {
                break time;
            }
        };
        let gone = Destination::Interface(InterfaceId(1));
        assert_eq!(bench.medium.remove_waiting(failed, station, |packet| packet.to == gone).len(), 1);
        bench.medium.failure_told();
        let routing = QueuedPacket { to: Destination::Broadcast, goes_first: true, ..packet(9, 0) };
        bench.medium.enqueue(failed, station, routing);
        bench.medium.advance(Time::from_secs_f64(2.0));
        let done: Vec<u32> = std::iter::from_fn(|| bench.medium.poll_event())
            .filter_map(
                |event| if let MediumEvent::Sent { payload, .. } = event { Some(payload) } else { None },
            )
            .collect();
        assert_eq!(done, order, "{profile:?} {waits}");
    }
}

/// Who leaves a channel in the middle of a frame receives nothing of it, and finds the medium of the new one
/// idle.
#[test]
fn who_leaves_a_channel_hears_its_frames_no_more() {
    let mut config = config(MacConfig::default());
    config.channels = vec![ChannelConfig { rate: mbit(1), error_rate: 0.0 }; 2];
    config.reports_frames = true;
    let mut bench = Bench::new(config, &[(0.0, 0.0), (100.0, 0.0)], &[], 1);
    let broadcast = |number| QueuedPacket { to: Destination::Broadcast, ..packet(number, 0) };
    bench.medium.enqueue(us(0), InterfaceId(0), broadcast(0));
    bench.medium.advance(us(4000));
    bench.medium.tune(us(4000), InterfaceId(1), ChannelId(1));
    bench.medium.enqueue(us(4000), InterfaceId(1), broadcast(1));
    bench.medium.advance(us(40_000));
    let events: Vec<_> = std::iter::from_fn(|| bench.medium.poll_event()).collect();
    assert!(!events.iter().any(|event| matches!(event, MediumEvent::Received { .. })), "{events:?}");
    let starts: Vec<_> = frames(&events).iter().map(|(sender, _, start, _)| (*sender, *start)).collect();
    assert_eq!(starts, [(0, 0), (1, 4050)]);
}
