//! Handovers: what is lost, what is delayed, and when event A3 triggers, worked out by hand.

use crate::cell::support::*;
use cogtcp_cell::handover::{Handover, Kind, Move, Track};
use cogtcp_cell::rlc::Mode;
use cogtcp_cell::{CellConfig, Load};
use cogtcp_units::{Decibel, RandomStream, Time};

/// User 0 moves to station 1 at `at` milliseconds, for 50 ms.
fn moves(kind: Kind, at: u64) -> Handover {
    Handover {
        stations: 2,
        kind,
        interruption: MS * 50,
        moves: vec![Move { at: Time::from_millis(at), user: 0, to: 1, sinr: None }],
        tracks: Vec::new(),
        offset: Decibel(3.0),
        time_to_trigger: MS * 160,
    }
}

fn with(handover: Handover, mode: Mode) -> CellConfig {
    CellConfig { handover: Some(handover), mode, ..config(1) }
}

fn millis(time: Time) -> u64 {
    time.as_nanos() / 1_000_000
}

/// A packet a millisecond, and a burst of 20 that waits when the user moves at 100 ms. No packet leaves in
/// the 50 ms of the interruption, and none is lost but where the source forwards nothing.
#[test]
fn the_queue_is_forwarded_or_lost() {
    for (kind, lost) in [(Kind::Lossless, 0), (Kind::Seamless, 0), (Kind::Unforwarded, 20)] {
        let mut run = Run::new(with(moves(kind, 100), Mode::Acknowledged), [false, false]);
        for number in 0..200 {
            let at = Time::from_millis(number);
            run.play(at, &mut clear());
            run.offer(at + MS.mul_ratio(1, 2), 0, DOWN, 100);
            if number == 99 {
                // After the last slot of the source has begun.
                for _ in 0..19 {
                    run.offer(at + MS.mul_ratio(1, 2), 0, DOWN, 1500);
                }
            }
        }
        run.play(Time::from_millis(400), &mut clear());
        assert_eq!(run.left.len(), 219, "{kind:?}");
        let dropped: Vec<u64> =
            run.left.iter().filter(|(_, it)| it.is_lost).map(|(at, _)| millis(*at)).collect();
        assert_eq!(dropped, vec![100; lost], "{kind:?}");
        let arrived = |from, until| {
            run.left.iter().filter(|(at, it)| !it.is_lost && (from..until).contains(&millis(*at))).count()
        };
        // The slot from 99 ms ends at 100; the first of the target begins at 150 and ends at 151.
        assert_eq!(arrived(101, 151), 0, "{kind:?}");
        assert!(arrived(151, 152) > 0, "{kind:?}");
    }
}

/// A block of 1 packet is destroyed at 95 ms and would be repeated at 103: seamless loses it, lossless sends
/// it again from the target. The packets that follow in the slots from 96 to 99 ms wait for it in both.
#[test]
fn a_packet_that_has_begun_is_lost_seamlessly_and_sent_again_losslessly() {
    for (kind, mode) in [(Kind::Seamless, Mode::Unacknowledged), (Kind::Lossless, Mode::Acknowledged)] {
        let mut run = Run::new(with(moves(kind, 100), mode), [false, false]);
        let mut air = Struck(Time::from_millis(95), Time::from_millis(96));
        for number in 90..120 {
            let at = Time::from_millis(number);
            run.offer(at, 0, DOWN, 100);
            run.play(at, &mut air);
        }
        run.play(Time::from_millis(300), &mut air);
        let fates: Vec<(u64, bool)> = run.left.iter().map(|(at, it)| (millis(*at), it.is_lost)).collect();
        assert_eq!(fates.len(), 30);
        let (before, at_the_move, after) = (&fates[..5], &fates[5..10], &fates[10..]);
        assert_eq!(before, (91..96).map(|at| (at, false)).collect::<Vec<_>>());
        if kind == Kind::Seamless {
            // Its fate is known at the move, and those behind it are delivered.
            assert_eq!(at_the_move, [(100, true), (100, false), (100, false), (100, false), (100, false)]);
        } else {
            assert_eq!(at_the_move, [(151, false); 5]);
        }
        assert_eq!(after, [(151, false); 20]);
    }
}

/// The uplink needs no request after a handover: random access brings its first grant.
#[test]
fn the_uplink_goes_on_at_the_target() {
    for (kind, mode) in [(Kind::Seamless, Mode::Unacknowledged), (Kind::Lossless, Mode::Acknowledged)] {
        let mut run = Run::new(with(moves(kind, 100), mode), [false, false]);
        for number in 95..130 {
            let at = Time::from_millis(number);
            run.offer(at, 0, UP, 200);
            run.play(at, &mut clear());
        }
        run.play(Time::from_millis(400), &mut clear());
        assert_eq!(run.left.len(), 35, "{kind:?}");
        assert!(run.left.iter().all(|(_, it)| !it.is_lost), "{kind:?}: nothing was under way");
        // 100 bytes in the slot from 150 ms, whose report brings the rest in the slot from 158 ms.
        assert_eq!(millis(run.left[0].0), 159, "{kind:?}");
        assert_eq!(run.cell.packets(0, UP), 0);
    }
}

/// Stations have resource blocks of their own: a user leaves a loaded one behind, and its share becomes the
/// whole.
#[test]
fn a_user_has_the_blocks_of_its_station() {
    let load = Load { saturated: 1, sinr: Decibel(60.0), share: 0.0 };
    let handover = Handover { interruption: cogtcp_units::Duration::ZERO, ..moves(Kind::Lossless, 5000) };
    let config = CellConfig { handover: Some(handover), load, ..config(3) };
    let mut run = Run::new(config, [true, false]);
    run.play(Time::from_millis(5000), &mut clear());
    let before: Vec<f64> = (0..3).map(|user| run.of(user, DOWN)).collect();
    run.left.clear();
    run.play(Time::from_millis(10_000), &mut clear());
    // Four share station 0 before; then two share station 1 and three station 0.
    for (user, share) in [(0, 2.0), (1, 4.0 / 3.0), (2, 4.0 / 3.0)] {
        close(run.of(user, DOWN), before[user] * share, 0.02);
    }
}

/// The SINR of station 1 rises by 1 dB in 100 ms from 20 dB below that of station 0: it is 3 dB better at 2.3
/// s, and the user moves after the time to trigger of 160 ms, at 2.46 s. On the way back it moves at the
/// mirror's time.
#[test]
fn event_a3_triggers_where_the_lines_cross() {
    let point = |at: u64, one: f64, two: f64| (Time::from_millis(at), vec![Decibel(one), Decibel(two)]);
    let points = vec![point(0, 30.0, 10.0), point(4000, 10.0, 30.0), point(8000, 30.0, 10.0)];
    let track = Track { user: 0, points };
    assert!((track.sinr(Time::from_millis(1000), 0).0 - 25.0).abs() < 1e-9);
    let handover = Handover { moves: Vec::new(), tracks: vec![track], ..moves(Kind::Lossless, 0) };
    let found: Vec<(u64, usize)> = handover.all_moves().iter().map(|it| (millis(it.at), it.to)).collect();
    // 10 dB in a second of the difference: 23 dB after 2.3 s; back from 20 dB at 4 s to -3 dB at 6.3 s.
    assert_eq!(found, [(2460, 1), (6460, 0)]);
    // A station that is better for less than the time to trigger does not win.
    let short = vec![point(0, 30.0, 10.0), point(100, 10.0, 30.0), point(200, 30.0, 10.0)];
    let handover = Handover { tracks: vec![Track { user: 0, points: short }], ..handover };
    assert!(handover.all_moves().is_empty());
}

/// The MCS follows the track: the rate is that of a user with the SINR of the moment.
#[test]
fn the_rate_follows_the_track() {
    let point = |at: u64, one: f64, two: f64| (Time::from_millis(at), vec![Decibel(one), Decibel(two)]);
    let track =
        Track { user: 0, points: vec![point(0, 60.0, 0.0), point(999, 60.0, 0.0), point(1000, 10.0, 0.0)] };
    let handover = Handover { moves: Vec::new(), tracks: vec![track], ..moves(Kind::Lossless, 0) };
    let mut run = Run::new(with(handover, Mode::Acknowledged), [true, false]);
    let packets = |run: &mut Run, until| {
        run.left.clear();
        run.play(Time::from_millis(until), &mut clear());
        run.of(0, DOWN)
    };
    let (high, low) = (packets(&mut run, 900), {
        run.play(Time::from_millis(1100), &mut clear());
        packets(&mut run, 2000)
    });
    let alone = |sinr: f64| {
        let mut config = config(1);
        config.users[0].sinr = [Decibel(sinr); 2];
        let mut run = Run::new(config, [true, false]);
        packets(&mut run, 900)
    };
    close(high, alone(60.0), 0.01);
    close(low, alone(10.0), 0.01);
}

/// Random packets, moves and destruction: every packet leaves once and in order, lossless loses none, and the
/// same run is the same.
#[test]
fn every_packet_of_a_user_that_moves_has_one_fate() {
    let mut lost = [0; 3];
    for seed in 0..60 {
        let (kind, mode) = [
            (Kind::Lossless, Mode::Acknowledged),
            (Kind::Seamless, Mode::Unacknowledged),
            (Kind::Unforwarded, Mode::Acknowledged),
        ][(seed % 3) as usize];
        let mut record = Vec::new();
        for _ in 0..2 {
            let mut stream = RandomStream::new(seed, "moves", 0);
            let moves = (0..30).map(|number| Move {
                at: Time::from_nanos(40_000_000 * number + stream.below(30_000_000)),
                user: stream.below(2) as usize,
                to: stream.below(3) as usize,
                sinr: (stream.below(3) == 0).then(|| Decibel(5.0 + stream.below(20) as f64)),
            });
            let handover = Handover {
                stations: 3,
                interruption: MS * (seed % 4) * 10,
                moves: moves.collect(),
                ..super::handover::moves(kind, 0)
            };
            let mut config = CellConfig { handover: Some(handover), mode, ..config(2) };
            config.users.iter_mut().for_each(|user| user.sinr = [Decibel(12.0), Decibel(9.0)]);
            config.coherence = Some(MS * 15);
            let mut run = Run::new(config, [false, false]);
            let mut air = Struck(Time::from_millis(300), Time::from_millis(340));
            let mut sent = [[0_u64; 2]; 2];
            let mut at = Time::ZERO;
            while at < Time::from_millis(1300) {
                at += cogtcp_units::Duration::from_nanos(stream.below(1_500_000));
                run.play(at, &mut air);
                let (user, place) = (stream.below(2) as usize, stream.below(2) as usize);
                sent[user][place] += 1;
                run.offer(at, user, [DOWN, UP][place], 40 + stream.below(1460) as u32);
            }
            // Later data reveals what UM has lost at the end.
            for step in 0..20 {
                at += MS * 200;
                run.play(at, &mut air);
                for (user, sent) in sent.iter_mut().enumerate().filter(|_| step < 10) {
                    for (place, direction) in [DOWN, UP].into_iter().enumerate() {
                        sent[place] += 1;
                        run.offer(at, user, direction, 100);
                    }
                }
            }
            assert!(run.left.is_sorted_by_key(|(at, _)| *at));
            for (user, sent) in sent.iter().enumerate() {
                for (place, direction) in [DOWN, UP].into_iter().enumerate() {
                    let left = run.left.iter().filter(|(_, it)| (it.user, it.direction) == (user, direction));
                    let held = run.cell.packets(user, direction) as u64;
                    assert_eq!(
                        left.count() as u64 + held,
                        sent[place],
                        "seed {seed}, user {user}, {direction:?}"
                    );
                    assert!(
                        held == 0 || mode == Mode::Unacknowledged && held <= 3,
                        "seed {seed}: {held} held"
                    );
                }
            }
            record.push(run.left);
        }
        assert_eq!(record[0], record[1], "seed {seed}");
        lost[(seed % 3) as usize] += record[0].iter().filter(|(_, it)| it.is_lost).count();
    }
    assert_eq!(lost[0], 0);
    assert!(lost[1] > 0 && lost[2] > lost[1], "{lost:?}");
}
