//! Rates, fairness and delays against closed forms, HARQ and RLC against what is destroyed.

use crate::cell::support::*;
use cogtcp_cell::errors::ErrorModel;
use cogtcp_cell::frame::{Direction, Slot, SlotPattern};
use cogtcp_cell::request::RequestTimes;
use cogtcp_cell::rlc::Mode;
use cogtcp_cell::scheduler::Rule;
use cogtcp_cell::{CellConfig, Load, UserConfig};
use cogtcp_units::{Decibel, Duration, RandomStream, Time};

const MODEL: ErrorModel = ErrorModel::Awgn;

/// Share of the slots that carry a direction.
fn direction_share(frame: &SlotPattern, direction: Direction) -> f64 {
    let slots = frame.slots();
    slots.iter().filter(|it| it.symbols(direction) > 0).count() as f64 / slots.len() as f64
}

/// Saturated users share the peak rate of the pattern, less the headers of layer 2, whatever their number.
#[test]
fn users_share_the_peak_of_the_pattern() {
    for users in [1, 2, 5, 7, 50] {
        for frame in [
            SlotPattern::fdd(MS).unwrap(),
            SlotPattern::lte_tdd(1, 7).unwrap(),
            SlotPattern::lte_tdd(5, 7).unwrap(),
        ] {
            for (place, direction) in [DOWN, UP].into_iter().enumerate() {
                let config = CellConfig { frame: frame.clone(), ..config(users) };
                let peak = config.carrier.peak(&frame, direction).bits_per_second() as f64;
                let mut run = Run::new(config, [place == 0, place == 1]);
                run.play(Time::from_millis(10_000), &mut clear());
                let packets: Vec<f64> = (0..users).map(|user| run.of(user, direction)).collect();
                // 1500 bytes and `rlc::PACKET_HEADER`, in 10 s.
                let total = packets.iter().sum::<f64>() * 1504.0 * 8.0 / 10.0;
                close(total, peak, 0.02);
                // Within the data of two slots, and 0.5 %. Of five users in turn one would always have the slots with
                // broadcast: 6 % less.
                let slot_packets = peak / direction_share(&frame, direction) / 1000.0 / (1504.0 * 8.0);
                let mean = packets.iter().sum::<f64>() / users as f64;
                for own in packets {
                    assert!(
                        (own - mean).abs() <= 2.0 * slot_packets + 0.005 * mean,
                        "{users} users: {own}, mean {mean}"
                    );
                }
            }
        }
    }
}

/// Users that load the cell take their share; so does a share that is taken in advance.
#[test]
fn load_takes_what_it_is_said_to_take() {
    let alone = {
        let mut run = Run::new(config(1), [true, false]);
        run.play(Time::from_millis(10_000), &mut clear());
        run.of(0, DOWN)
    };
    for (load, share) in [
        (Load { saturated: 3, sinr: Decibel(10.0), share: 0.0 }, 0.25),
        (Load { saturated: 0, sinr: Decibel(10.0), share: 0.4 }, 0.6),
    ] {
        let mut run = Run::new(CellConfig { load, ..config(1) }, [true, false]);
        run.play(Time::from_millis(10_000), &mut clear());
        close(run.of(0, DOWN), alone * share, 0.02);
    }
}

/// Users of equal mean SINR under Rayleigh fading. Proportional fair serves the best MCS: the gain served is
/// the maximum of as many independent gains. A block that is lost takes its resources once more.
#[test]
fn proportional_fair_gains_what_the_law_of_the_maximum_says() {
    let mean = Decibel(12.0);
    for users in [1_usize, 2, 5, 10, 50] {
        let carrier = config(1).carrier;
        let slot = Slot { downlink: 14, uplink: 14 };
        let codings = carrier.codings(slot, DOWN);
        let at = |level: usize| {
            codings.get(level).map_or(f64::INFINITY, |it| MODEL.needed(it.efficiency) / mean.linear())
        };
        let below = |gain: f64| 1.0 - libm::exp(-gain);
        let (mut bits, mut lost) = (0.0, 0.0);
        for (level, coding) in codings.iter().enumerate() {
            let (from, until) = (at(level), at(level + 1));
            let share = below(until).powi(users as i32) - below(from).powi(users as i32);
            // BLER of a gain of this level, mean over the exponential law.
            let steps = 400;
            // The last level has no end; beyond this e^-12 of it is left.
            let top = until.min(from + 12.0);
            let (mut weight, mut errors) = (0.0, 0.0);
            for step in 0..steps {
                let gain = from + (top - from) * (f64::from(step) + 0.5) / f64::from(steps);
                weight += libm::exp(-gain);
                errors += libm::exp(-gain) * MODEL.block_error_rate(gain * mean.linear(), coding.efficiency);
            }
            bits += share * coding.bits;
            lost += share * errors / weight;
        }
        let usable = 1.0 - below(at(0)).powi(users as i32);
        // Of 50 blocks 48.8 carry data in the mean: broadcast has six in two of ten subframes.
        let expected = bits / (usable + lost) * usable * 48.8 * 1000.0;
        let config = CellConfig {
            rule: Rule::ProportionalFair { slots: 20_000.0 },
            coherence: Some(MS * 25),
            users: vec![UserConfig { sinr: [mean; 2], delay: [Duration::ZERO; 2] }; users],
            ..config(users)
        };
        let mut run = Run::new(config, [true, false]);
        // The means of the scheduler settle.
        run.play(Time::from_millis(60_000), &mut clear());
        run.left.clear();
        run.play(Time::from_millis(360_000), &mut clear());
        let total: f64 = (0..users).map(|user| run.of(user, DOWN)).sum();
        // Blocks of fewer users have more packets: their headers are a share of 5 bytes in some hundreds.
        close(total * 1504.0 * 8.0 / 300.0, expected * 0.995, 0.015);
    }
}

/// A lone packet of the uplink waits for its opportunity to ask, for the grant and for the data: 14 ms in the
/// mean at a period of 10 ms, and the slot of the data.
#[test]
fn the_delay_of_a_request_is_half_a_period_and_two_processing_times() {
    for period in [5, 10, 40] {
        let request = RequestTimes { period: MS * period, ..config(1).request };
        let mut run = Run::new(CellConfig { request, ..config(1) }, [false, false]);
        let mut waited = 0.0;
        for number in 0..2000 {
            let at = Time::from_nanos(number * 200_043_117);
            run.play(at, &mut clear());
            run.offer(at, 0, UP, 40);
            run.play(at + MS * 150, &mut clear());
            waited += run.left.pop().unwrap().0.saturating_since(at).as_secs_f64();
        }
        close(waited / 2000.0, 1e-3 * (period as f64 / 2.0 + 9.0 + 1.0), 0.02);
    }
}

/// What is granted on a request is small; the rest follows by the report that it carries, one turnaround
/// later.
#[test]
fn a_report_brings_the_rest() {
    let mut run = Run::new(config(1), [false, false]);
    for _ in 0..3 {
        run.offer(Time::ZERO, 0, UP, 1000);
    }
    run.play(Time::from_millis(100), &mut clear());
    // Request at 3 ms, grant at 8, 100 bytes at 12; its report at 16, and all the rest at 20, which ends at
    // 21.
    let times: Vec<u64> = run.left.iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect();
    assert_eq!(times, [21, 21, 21]);
}

/// HARQ repeats 8 ms later, and first attempts fail as often as the curve says.
#[test]
fn harq_repeats_after_its_round_trip() {
    let slot = Slot { downlink: 14, uplink: 14 };
    let coding = config(1).carrier.codings(slot, DOWN)[12];
    // A little above what it needs, and far below what the next one does.
    let sinr = Decibel(10.0 * (1.02 * MODEL.needed(coding.efficiency)).log10());
    let users = vec![UserConfig { sinr: [sinr; 2], delay: [Duration::ZERO; 2] }];
    let config = CellConfig { users, ..config(1) };
    let expected = MODEL.block_error_rate(sinr.linear(), coding.efficiency);
    assert!((0.005..0.1).contains(&expected), "{expected}");
    let mut run = Run::new(config, [false, false]);
    let mut late = 0;
    const PACKETS: u64 = 200_000;
    for number in 0..PACKETS {
        let at = Time::from_millis(20 * number);
        run.offer(at, 0, DOWN, 500);
        run.play(at + MS * 19, &mut clear());
        match run.left.pop().unwrap().0.saturating_since(at).as_nanos() / 1_000_000 {
            1 => {}
            9 => late += 1,
            other => assert_eq!(other, 17, "a third attempt"),
        }
    }
    close(late as f64 / PACKETS as f64, expected, 0.02);
}

/// A stretch of 100 ms destroys every block. AM delivers all packets in order, UM those that were not hit.
#[test]
fn acknowledged_mode_repeats_what_unacknowledged_mode_loses() {
    for (mode, lost) in [(Mode::Acknowledged, 0), (Mode::Unacknowledged, 40)] {
        let mut run = Run::new(CellConfig { mode, ..config(1) }, [false, false]);
        let mut air = Struck(Time::from_millis(1000), Time::from_millis(1100));
        for number in 0..3000_u64 {
            let at = Time::from_millis(number);
            run.play(at, &mut air);
            run.offer(at, 0, DOWN, 500);
        }
        run.play(Time::from_millis(4000), &mut air);
        assert_eq!(run.left.len(), 3000, "{mode:?}: every packet has its fate");
        assert!(run.left.is_sorted_by_key(|(at, _)| *at));
        let missing = run.left.iter().filter(|(_, it)| it.is_lost).count();
        assert!(missing >= lost && (lost > 0 || missing == 0) && missing < 110, "{mode:?}: {missing}");
        assert_eq!(run.cell.packets(0, DOWN), 0);
    }
}

/// Nothing is sent while the channel is closed, nor in a slot that would not end in time.
#[test]
fn slots_end_before_the_channel_closes() {
    let mut run = Run::new(config(1), [true, false]);
    run.cell.set_open(Time::ZERO, Some(Time::from_nanos(10_500_000)));
    run.play(Time::from_millis(100), &mut clear());
    let last = run.left.iter().map(|(at, _)| at.as_nanos()).max().unwrap();
    // The slot from 10 ms on would end at 11 ms.
    assert_eq!(last, 10_000_000);
    run.cell.set_open(Time::from_nanos(100_200_000), Some(Time::MAX));
    run.left.clear();
    run.play(Time::from_millis(103), &mut clear());
    // The first slot that begins after the opening is that from 101 ms on.
    assert_eq!(run.left[0].0.as_nanos(), 102_000_000);
}

/// Random arrivals, silences and destruction: every packet leaves once, in the order in which it came, and
/// the same run is the same.
#[test]
fn every_packet_has_one_fate() {
    for seed in 0..40 {
        let mut stream = RandomStream::new(seed, "fuzz", 0);
        let mut config = config(3);
        config.frame = match seed % 3 {
            0 => SlotPattern::fdd(MS).unwrap(),
            1 => SlotPattern::lte_tdd((seed % 7) as usize, 7).unwrap(),
            _ => SlotPattern::tdd("DDDSU", (10, 2, 2), MS).unwrap(),
        };
        config.mode = if seed % 2 == 0 { Mode::Acknowledged } else { Mode::Unacknowledged };
        config.users.iter_mut().for_each(|user| user.sinr = [Decibel(15.0), Decibel(9.0)]);
        config.coherence = (seed % 4 == 0).then_some(MS * 15);
        config.attempts = 1 + (seed % 4) as u32;
        let mut record = Vec::new();
        for _ in 0..2 {
            let mut stream = stream.clone();
            let mut run = Run::new(config.clone(), [false, false]);
            let mut sent = [[0_u64; 2]; 3];
            let mut at = Time::ZERO;
            let mut air = Struck(Time::from_millis(300), Time::from_millis(400));
            for _ in 0..600 {
                at += Duration::from_nanos(stream.below(4_000_000));
                run.play(at, &mut air);
                match stream.below(20) {
                    0 => run.cell.set_open(at, None),
                    1 | 2 => run.cell.set_open(at, Some(at + Duration::from_nanos(stream.below(90_000_000)))),
                    _ => {
                        let (user, place) = (stream.below(3) as usize, stream.below(2) as usize);
                        sent[user][place] += 1;
                        run.offer(at, user, [DOWN, UP][place], 40 + stream.below(1460) as u32);
                    }
                }
            }
            run.cell.set_open(at, Some(Time::MAX));
            // Later data reveals what UM has lost at the end.
            for step in 0..20 {
                at += MS * 200;
                run.play(at, &mut air);
                for (user, sent) in sent.iter_mut().enumerate() {
                    for place in [0, 1] {
                        if step < 10 {
                            sent[place] += 1;
                            run.offer(at, user, [DOWN, UP][place], 100);
                        }
                    }
                }
            }
            for (user, sent) in sent.iter().enumerate() {
                for (place, direction) in [DOWN, UP].into_iter().enumerate() {
                    let left = run.left.iter().filter(|(_, it)| (it.user, it.direction) == (user, direction));
                    let held = run.cell.packets(user, direction) as u64;
                    let waiting = run.queues.packets[user][place].len() as u64;
                    let left = left.count() as u64;
                    assert_eq!(left + held + waiting, sent[place], "seed {seed}, user {user}, {direction:?}");
                    assert!(held <= 3 && waiting == 0, "seed {seed}: {held} held, {waiting} wait");
                    assert!(config.mode == Mode::Unacknowledged || held == 0);
                }
            }
            record.push(run.left);
        }
        assert_eq!(record[0], record[1]);
        stream.uniform();
    }
}
