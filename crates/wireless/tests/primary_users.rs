//! Primary users and noise among the frames, and silences of the radios.

use crate::common::{Bench, config, mbit, packet};
use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::{Channel, ChannelTable, Intervals, OnInterval, PrimaryUser, PuActivity, Reach};
use cogtcp_units::{Duration, Position, Power, RandomStream, Time};
use cogtcp_wireless::{
    Dcf, ExchangeFailure, FrameKind, InterfaceId, MacConfig, MediumConfig, MediumEvent, PathLoss, PhyConfig,
    PrimaryUsers, Propagation, QueuedPacket, RetryLimit, Rules, SilenceRules,
};
use std::sync::Arc;

/// One PU at `place` that is ON for the given seconds; noise of 1e-9 W.
fn air(place: (f64, f64), reach: Reach, on: &[(u64, u64)]) -> Arc<Air> {
    let interval = |(from, until): &(u64, u64)| OnInterval {
        arrival: Time::from_millis(from * 1000),
        departure: Time::from_millis(until * 1000),
    };
    let activity = Intervals::new(on.iter().map(interval).collect()).unwrap();
    let user = PrimaryUser { id: 1, position: Position::new(place.0, place.1), band: 1, reach, activity };
    let mut channel = Channel::clean(mbit(1));
    channel.noise = vec![Power::from_watts(1e-9)];
    Arc::new(Air::new(
        PuActivity { users: vec![user] },
        ChannelTable::new(1, 1, vec![channel], None).unwrap(),
    ))
}

/// The paper's radio: d^-2, heard to 500 m.
fn paper(mac: MacConfig) -> MediumConfig {
    let propagation = Propagation::new(PathLoss::Paper(2.0));
    let phy = PhyConfig::for_ranges(propagation, Power::from_watts(0.281_838_15), 500.0, 500.0);
    let rules = Rules::two_stations();
    MediumConfig { phy, ..config(MacConfig { rules, ..mac }) }
}

fn patient() -> MacConfig {
    let limit = RetryLimit::Times(1000);
    Dcf { short_retry_limit: limit, long_retry_limit: Some(limit), ..Dcf::default() }.into()
}

/// A PU within 60 m of the sender alone, ON every other second: it destroys CTS and ACK there and nothing at
/// the receiver. A packet whose ACK is lost is sent again and handed up once.
#[test]
fn a_primary_user_destroys_what_is_received_near_it() {
    let on: Vec<(u64, u64)> = (0..25).map(|n| (2 * n, 2 * n + 1)).collect();
    let users = PrimaryUsers::new(air((-50.0, 0.0), Reach::Range(60.0), &on));
    let mut bench = Bench::among(users, paper(patient()), &[(0.0, 0.0), (100.0, 0.0)], &[(0, 1)], 1);
    bench.keep_events = true;
    bench.run(Time::from_millis(50_000));
    let mut causes = [0, 0];
    for event in &bench.events {
        match event {
            MediumEvent::AttemptFailed {
                cause: ExchangeFailure::Interfered(FrameKind::Cts), time, ..
            } => {
                assert_eq!(time.as_secs_f64() as u64 % 2, 0, "while it is ON");
                causes[0] += 1;
            }
            MediumEvent::AttemptFailed { cause: ExchangeFailure::Interfered(FrameKind::Ack), .. } => {
                causes[1] += 1
            }
            MediumEvent::AttemptFailed { cause, .. } => panic!("{cause:?}"),
            _ => {}
        }
    }
    assert!(causes[0] > 500 && causes[1] > 5, "{causes:?}");
    let duplicates = bench.medium.counters(InterfaceId(1)).duplicates;
    assert!(duplicates > 5 && duplicates <= causes[1], "{duplicates} of {causes:?}");
    // 25 s are free: about 98 packets each.
    assert!((2300..2600).contains(&bench.total()), "{}", bench.total());
}

/// 0.2818 W over 100 m arrive as 2.8e-5 W, 28 184 times the noise. A PU of 0.1 W at 50 m arrives with 4e-5 W:
/// too much. At 200 m with 2.5e-6 W: 11 to 1, just enough, but not beside another frame's 1e-6 W.
#[test]
fn signals_noise_and_primary_users_add_up() {
    for (distance, delivers) in [(50.0, false), (200.0, true)] {
        let reach = Reach::Power(Power::from_watts(0.1));
        let users = PrimaryUsers::new(air((100.0 + distance, 0.0), reach, &[(0, 1000)]));
        let mut bench = Bench::among(users, paper(patient()), &[(0.0, 0.0), (100.0, 0.0)], &[(0, 1)], 1);
        bench.run(Time::from_millis(10_000));
        assert_eq!(bench.total() > 900, delivers, "{distance}: {}", bench.total());
    }
    let reach = Reach::Power(Power::from_watts(0.1));
    let users = PrimaryUsers::new(air((300.0, 0.0), reach, &[(0, 1000)]));
    // A third station at 530 m is not sensed, but its 1e-6 W count: 28.2 to 3.5.
    let places = [(0.0, 0.0), (100.0, 0.0), (630.0, 0.0), (800.0, 0.0)];
    let mac = Dcf { rts_threshold: Dcf::NO_RTS, ..patient().dcf }.into();
    let mut bench = Bench::among(users, paper(mac), &places, &[(0, 1), (2, 3)], 1);
    bench.run(Time::from_millis(10_000));
    let interfered = bench.medium.counters(InterfaceId(0)).interfered;
    assert!(interfered > 500, "{interfered}");
}

/// As released a tenth of the RTS and of the data escape a PU in range, each by itself, and no CTS or ACK is
/// ever lost: 1 % of the exchanges succeed, of 10,000 attempts within five standard errors.
#[test]
fn as_released_one_frame_in_ten_escapes() {
    let streams = (0..2).map(|end| RandomStream::new(3, "escape", end)).collect();
    let users = PrimaryUsers::as_released(air((0.0, 0.0), Reach::Range(500.0), &[(0, 1000)]), 1e-9, streams);
    let mut bench = Bench::among(users, paper(patient()), &[(0.0, 0.0), (100.0, 0.0)], &[(0, 1)], 1);
    bench.run(Time::from_millis(200_000));
    let counters = bench.medium.counters(InterfaceId(0));
    let share = bench.total() as f64 / counters.attempts as f64;
    let error = (0.01 * 0.99 / counters.attempts as f64).sqrt();
    assert!(
        counters.attempts > 5000 && (share - 0.01).abs() < 5.0 * error,
        "{share} of {}",
        counters.attempts
    );
}

/// A receiver that is silent for good costs its sender 35.4 ms a packet: seven RTS with the wait for their
/// CTS (668 us) and DIFS, the backoff after the packet before and six doubled ones (15.5 + 1501 slots on
/// average). 1000 packets, 4 %.
#[test]
fn a_silent_receiver_costs_35_ms_a_packet() {
    let mut bench = Bench::new(paper(MacConfig::default()), &[(0.0, 0.0), (100.0, 0.0)], &[(0, 1)], 7);
    bench.keep_events = true;
    bench.medium.set_silent(Time::ZERO, &[InterfaceId(1)], true, Time::MAX);
    bench.run(Time::from_secs_f64(35.4));
    let given_up = bench.medium.counters(InterfaceId(0)).given_up;
    let theory = 35.4 / (7.0 * 718e-6 + 1516.5 * 20e-6);
    assert!((given_up as f64 / theory - 1.0).abs() < 0.04, "{given_up}, theory {theory}");
    let all = bench.events.iter().filter_map(|event| match event {
        MediumEvent::Failed { cause, attempts, .. } => Some((*cause, *attempts)),
        _ => None,
    });
    assert!(all.into_iter().all(|failed| failed == (ExchangeFailure::Unanswered, 7)));
}

/// A sender that knows of silences begins nothing that would reach into its own or its receiver's, and loses
/// nothing.
#[test]
fn a_sender_that_waits_ends_before_the_silence() {
    let mut config = paper(MacConfig::default());
    config.silence = SilenceRules { waits_for_peer: true, sends_while_silent: false };
    config.reports_frames = true;
    let mut bench = Bench::new(config, &[(0.0, 0.0), (100.0, 0.0)], &[(0, 1), (1, 0)], 11);
    bench.keep_events = true;
    let (open, silent) = (Duration::from_millis(50), Duration::from_millis(30));
    let mut silences = Vec::new();
    let mut now = Time::ZERO;
    for _ in 0..250 {
        // Either end in turn is silent for a while, the other with it every third time.
        let ends = [vec![InterfaceId(0)], vec![InterfaceId(1)], vec![InterfaceId(0), InterfaceId(1)]];
        let ends = &ends[silences.len() % 3];
        bench.medium.set_silent(now, &[InterfaceId(0), InterfaceId(1)], false, now + open);
        bench.run(now + open);
        now += open;
        bench.medium.set_silent(now, ends, true, now + silent);
        silences.push((now, now + silent));
        bench.run(now + silent);
        now += silent;
    }
    for event in &bench.events {
        if let MediumEvent::OnAir { start, end, .. } = event {
            assert!(silences.iter().all(|(from, until)| *end <= *from || start >= until), "{event:?}");
        }
        assert!(!matches!(
            event,
            MediumEvent::Failed { .. }
                | MediumEvent::AttemptFailed { cause: ExchangeFailure::Unanswered, .. }
        ));
    }
    assert!(bench.total() > 1000, "{}", bench.total());
}

/// A silence in the middle of an exchange: the answers still come, the ACK is sent although sensing has
/// begun.
#[test]
fn an_exchange_that_was_answered_is_completed() {
    let mut bench = Bench::new(paper(MacConfig::default()), &[(0.0, 0.0), (100.0, 0.0)], &[(0, 1)], 1);
    // The first RTS begins at zero; the data are on the air from 678 us on.
    bench.medium.advance(Time::ZERO);
    bench.run(Time::ZERO + Duration::from_micros(1000));
    bench.medium.set_silent(bench.medium.now(), &[InterfaceId(0), InterfaceId(1)], true, Time::MAX);
    bench.run(Time::from_millis(1000));
    assert_eq!((bench.total(), bench.medium.counters(InterfaceId(0)).sent), (1, 1));
}

/// What waits for a silent receiver is taken out: the packet for another, which was behind it, goes at once,
/// though no radio changes. So does one of routing for another that comes before it.
#[test]
fn a_silent_receiver_keeps_nobody_else_waiting() {
    let mut config = config(MacConfig::default());
    config.silence = SilenceRules { waits_for_peer: true, sends_while_silent: false };
    for removes in [true, false] {
        let mut bench = Bench::new(config.clone(), &[(0.0, 0.0), (100.0, 0.0), (0.0, 100.0)], &[], 1);
        bench.medium.set_silent(Time::ZERO, &[InterfaceId(1)], true, Time::MAX);
        bench.medium.enqueue(Time::ZERO, InterfaceId(0), packet(1, 1));
        bench.medium.advance(Time::from_millis(50));
        assert_eq!(bench.medium.counters(InterfaceId(0)).attempts, 0, "it waits");
        let now = Time::from_millis(50);
        if removes {
            bench.medium.enqueue(now, InterfaceId(0), packet(2, 2));
            assert_eq!(
                bench.medium.remove_waiting(now, InterfaceId(0), |packet| packet.payload == 1).len(),
                1
            );
        } else {
            bench.medium.enqueue(now, InterfaceId(0), QueuedPacket { goes_first: true, ..packet(2, 2) });
        }
        bench.medium.advance(Time::from_millis(70));
        assert_eq!(bench.medium.counters(InterfaceId(2)).received, 1, "taken out: {removes}");
        // The first goes when its receiver opens, if it is still there.
        bench.medium.set_silent(Time::from_millis(70), &[InterfaceId(1)], false, Time::MAX);
        bench.medium.advance(Time::from_millis(100));
        assert_eq!(bench.medium.counters(InterfaceId(1)).received, u64::from(!removes));
    }
}

/// A backoff stands still in a silence of its own station, and of the receiver where that is waited for, and
/// goes on where it stood: the RTS comes as many slots after the radio opens as it would have come after the
/// exchange before.
#[test]
fn a_backoff_stands_still_in_a_silence() {
    let mut set = config(MacConfig::default());
    set.silence = SilenceRules { waits_for_peer: true, sends_while_silent: false };
    set.reports_frames = true;
    let slots = |silent: Option<u32>| {
        let mut bench = Bench::new(set.clone(), &[(0.0, 0.0), (100.0, 0.0)], &[], 1);
        for number in 0..2 {
            bench.medium.enqueue(Time::ZERO, InterfaceId(0), packet(number, 1));
        }
        // The first exchange is over after 9570 us.
        let ends = Time::ZERO + Duration::from_micros(9570);
        bench.medium.advance(ends);
        let mut from = ends;
        if let Some(station) = silent {
            bench.medium.set_silent(ends, &[InterfaceId(station)], true, Time::from_millis(100));
            from = Time::from_millis(100);
            bench.medium.advance(from);
            bench.medium.set_silent(from, &[InterfaceId(station)], false, Time::MAX);
        }
        bench.medium.advance(Time::from_millis(200));
        let rts = std::iter::from_fn(|| bench.medium.poll_event()).filter_map(|event| match event {
            MediumEvent::OnAir { kind: FrameKind::Rts, start, .. } if start > ends => Some(start),
            _ => None,
        });
        let waited = (rts.min().unwrap() - from).as_nanos() / 1000;
        assert!(waited >= 50 && (waited - 50).is_multiple_of(20), "{waited}");
        (waited - 50) / 20
    };
    let undisturbed = slots(None);
    assert!(undisturbed > 0, "else nothing is tested");
    assert_eq!((slots(Some(0)), slots(Some(1))), (undisturbed, undisturbed));
}
