//! Hidden and exposed terminals by hand.

mod common;

use cogtcp_units::{Duration, Length, Power, Time};
use cogtcp_wireless::{
    Cause, Dcf, Event, FrameKind, InterfaceId, MacConfig, MediumConfig, PathLoss, PhyConfig, Profile,
    Propagation, RetryLimit, Rules, TwoRay,
};
use common::{Bench, config, packet};

fn us(micros: u64) -> Time {
    Time::ZERO + Duration::from_micros(micros)
}

/// Frames by sender with start in microseconds, and why attempts failed.
type Log = (Vec<(u32, FrameKind, u64)>, Vec<(u32, Cause)>);

/// Packets at times in microseconds, from one to another.
fn play(config: &MediumConfig, places: &[(f64, f64)], packets: &[(u64, u32, u32)]) -> Log {
    let mut bench = Bench::new(MediumConfig { reports_frames: true, ..config.clone() }, places, &[], 1);
    for (number, (at, from, to)) in packets.iter().enumerate() {
        bench.medium.advance(us(*at));
        bench.medium.enqueue(us(*at), InterfaceId(*from), packet(number as u32, *to));
    }
    bench.medium.advance(us(40_000));
    let (mut frames, mut failures) = (Vec::new(), Vec::new());
    while let Some(event) = bench.medium.poll_event() {
        match event {
            Event::OnAir { from, kind, start, .. } => {
                frames.push((from.0, kind, (start - Time::ZERO).as_nanos() / 1000));
            }
            Event::AttemptFailed { from, cause, .. } => failures.push((from.0, cause)),
            _ => {}
        }
    }
    (frames, failures)
}

/// A radio that senses no further than it receives, 250 m: what two senders on both sides of a receiver need to be hidden.
fn deaf(mac: MacConfig) -> MediumConfig {
    let propagation = Propagation::new(PathLoss::NS2_TWO_RAY);
    let phy = PhyConfig::for_ranges(propagation, Power::from_watts(0.281_838_15), 250.0, 250.0);
    MediumConfig { phy, ..config(mac) }
}

const HIDDEN: [(f64, f64); 3] = [(-200.0, 0.0), (0.0, 0.0), (200.0, 0.0)];

/// A and C do not hear each other; both are heard by B between them. Without RTS the second frame begins in the middle of
/// the first, and both are lost at B.
#[test]
fn hidden_terminals_collide_at_the_receiver_between_them() {
    let mac: MacConfig = Dcf { rts_threshold: Dcf::NO_RTS, ..Dcf::default() }.into();
    let (frames, failures) = play(&deaf(mac.clone()), &HIDDEN, &[(0, 0, 1), (4000, 2, 1)]);
    assert_eq!(frames[..2], [(0, FrameKind::Data, 0), (2, FrameKind::Data, 4000)]);
    assert_eq!(failures[..2], [(0, Cause::Collided), (2, Cause::Collided)]);
    // A stands ten times nearer: 10^4 times the power of C, which is no collision any more.
    let near = [(-20.0, 0.0), (0.0, 0.0), (240.0, 0.0)];
    let (_, failures) = play(&deaf(mac), &near, &[(0, 0, 1), (4000, 2, 1)]);
    assert!(failures.iter().all(|(sender, _)| *sender == 2), "{failures:?}");
}

/// With RTS, C hears B's CTS and leaves the medium alone until A's ACK has ended (864 + 304 + 8893 + 10 us and what the
/// NAV does not count): C's own RTS comes a DIFS and its backoff later. Nothing collides.
#[test]
fn a_cts_silences_the_hidden_terminal() {
    let (frames, failures) = play(&deaf(MacConfig::default()), &HIDDEN, &[(0, 0, 1), (4000, 2, 1)]);
    let rts = frames.iter().find(|(sender, kind, _)| *sender == 2 && *kind == FrameKind::Rts).unwrap();
    let ack_ends = 352 + 1 + 10 + 304 + 1 + 10 + 8576 + 1 + 10 + 304 + 1;
    assert!(rts.2 >= ack_ends + 50 && (rts.2 - ack_ends - 50).is_multiple_of(20), "{rts:?} {ack_ends}");
    assert!(rts.2 <= ack_ends + 50 + 31 * 20);
    assert!(failures.is_empty(), "{failures:?}");
}

/// A <- B  C -> D in a row of 200 m: C hears B and waits for the whole of its exchange, though D would have heard it and A
/// would not have minded.
#[test]
fn an_exposed_terminal_waits_for_nothing() {
    let places = [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0), (600.0, 0.0)];
    let (frames, failures) = play(&deaf(MacConfig::default()), &places, &[(0, 1, 0), (4000, 2, 3)]);
    let rts = frames.iter().find(|(sender, ..)| *sender == 2).unwrap();
    let data_ends = 352 + 1 + 10 + 304 + 1 + 10 + 8576 + 1;
    // The ACK is out of C's hearing; the data frame's NAV covers SIFS and 304 us of it.
    assert!(rts.2 >= data_ends + 10 + 304 + 50, "{rts:?}");
    assert!(failures.is_empty());
}

/// An RTS that nobody answers reserves the medium for the data that never come; by the standard's text it is forgotten
/// after 2 SIFS, a CTS and 2 slots, by ns-2 it is not.
#[test]
fn a_reservation_that_nothing_follows_may_be_forgotten() {
    let places = [(9000.0, 0.0), (200.0, 0.0), (400.0, 0.0), (600.0, 0.0)];
    for nav_reset in [true, false] {
        let rules = Rules { nav_reset, ..Rules::default() };
        let mac =
            MacConfig { rules, ..Dcf { short_retry_limit: RetryLimit::Times(1), ..Dcf::default() }.into() };
        let (frames, _) = play(&deaf(mac), &places, &[(0, 1, 0), (100, 2, 3)]);
        let rts = frames.iter().find(|(sender, ..)| *sender == 2).unwrap();
        let heard = 352 + 1;
        let from = if nav_reset { heard + 20 + 304 + 40 + 2 } else { heard + 30 + 304 + 8576 + 304 };
        assert!(rts.2 >= from + 50 && rts.2 <= from + 50 + 31 * 20, "{nav_reset}: {rts:?}, from {from}");
    }
}

/// A receiver whose own neighbourhood is reserved does not answer.
#[test]
fn a_reserved_receiver_gives_no_cts() {
    // D (600) talks to C (400); B (200) hears C's CTS, and A (0), which hears none of it, asks B.
    let places = [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0), (600.0, 0.0)];
    let (frames, failures) = play(&deaf(MacConfig::default()), &places, &[(0, 3, 2), (2000, 0, 1)]);
    assert_eq!(failures[0], (0, Cause::Refused));
    let cts = frames.iter().find(|(sender, kind, _)| *sender == 1 && *kind == FrameKind::Cts).unwrap();
    assert!(cts.2 > 9571, "{cts:?}");
}

/// Three hidden senders at once: each alone leaves 10 to 1 and more, the three together do not.
#[test]
fn interference_adds_up_over_all_that_is_in_the_air() {
    let mac: MacConfig = Dcf { rts_threshold: Dcf::NO_RTS, ..Dcf::default() }.into();
    // 16 times the power of one at twice the distance; 5.3 times that of three.
    let places = [(100.0, 0.0), (0.0, 0.0), (-200.0, 0.0), (0.0, 200.0), (0.0, -200.0)];
    let mut config = config(mac);
    // Only what is within 150 m is sensed, so that all send at once.
    let power = Power::from_watts(0.281_838_15);
    config.phy = PhyConfig::for_ranges(
        Propagation::new(PathLoss::TwoRay(TwoRay { height: Length(1.0), ..TwoRay::default() })),
        power,
        150.0,
        150.0,
    );
    config.phy.cutoff = Power::from_watts(1e-13);
    let others = |count: u32| (0..count).map(|n| (1000 + u64::from(n), 2 + n, 1)).collect::<Vec<_>>();
    for (count, lost) in [(1, false), (3, true)] {
        let packets: Vec<_> = std::iter::once((0, 0, 1)).chain(others(count)).collect();
        let (_, failures) = play(&config, &places, &packets);
        assert_eq!(failures.contains(&(0, Cause::Collided)), lost, "{count}: {failures:?}");
    }
    // With a cut-off above their power they are not there at all.
    config.phy.cutoff = config.phy.carrier_sense;
    let packets: Vec<_> = std::iter::once((0, 0, 1)).chain(others(3)).collect();
    assert!(!play(&config, &places, &packets).1.contains(&(0, Cause::Collided)));
}

/// Capture pair by pair: what is too weak to be sensed is nothing, whatever the cut-off (ns-2 discards it in the radio), and takes no
/// receiver from a frame that comes later. Where powers are added, it is too weak to matter here.
#[test]
fn a_frame_that_is_not_sensed_takes_no_receiver() {
    for profile in [Profile::Ns2, Profile::Standard] {
        let mut set = config(MacConfig::of(profile));
        set.phy.cutoff = Power::from_watts(set.phy.carrier_sense.watts() * 0.1);
        // C is 600 m from B, which senses up to 550 m, and sends to D; A is 50 m from B and cannot sense C either.
        let places = [(0.0, 0.0), (50.0, 0.0), (650.0, 0.0), (850.0, 0.0)];
        let (frames, failures) = play(&set, &places, &[(0, 2, 3), (2000, 0, 1)]);
        let kinds: Vec<FrameKind> = frames.iter().filter(|it| it.0 == 1).map(|it| it.1).collect();
        assert_eq!(kinds, [FrameKind::Cts, FrameKind::Ack], "{profile:?}: {frames:?}");
        assert_eq!(failures, [], "{profile:?}");
    }
}
