//! Timing by hand: 10 Mbit/s and 1000-byte frames, so a transmission takes 800 us; 40 ms of propagation.

use super::*;
use cogtcp_units::Duration;

const TX: u64 = 800_000;
const DELAY: u64 = 40_000_000;

fn config() -> PipeConfig {
    PipeConfig {
        rate: Rate::from_bits_per_second(10_000_000),
        delay: Duration::from_nanos(DELAY),
        limit_packets: 1000,
        limit_bytes: u64::MAX,
        loss: Probability::ZERO,
        drops: Vec::new(),
    }
}

fn pipe(config: &PipeConfig) -> Pipe {
    Pipe::new(config, || RandomStream::new(1, "loss/test/forward", 0))
}

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

fn frame(number: u32) -> Transit {
    Transit { stream: number, wire: 1000, ..Transit::default() }
}

/// Lets every packet arrive; returns (number, arrival, waited, fate).
fn drain(pipe: &mut Pipe) -> Vec<(u32, u64, u64, Option<DropCause>)> {
    let mut arrivals = Vec::new();
    while let Some(time) = pipe.next_arrival() {
        let (transit, cause) = pipe.arrive(time);
        arrivals.push((transit.stream, time.as_nanos(), transit.waited, cause));
    }
    arrivals
}

#[test]
fn an_idle_link_delivers_after_transmission_and_propagation() {
    let mut pipe = pipe(&config());
    assert_eq!(pipe.offer(at(5), frame(0)), Offer::Schedule(at(5 + TX + DELAY)));
    assert_eq!(drain(&mut pipe), [(0, 5 + TX + DELAY, 0, None)]);
    assert_eq!(pipe.next_arrival(), None);
}

#[test]
fn a_burst_is_spaced_by_the_transmission_time() {
    let mut pipe = pipe(&config());
    assert!(matches!(pipe.offer(at(0), frame(0)), Offer::Schedule(_)));
    for number in 1..4 {
        assert_eq!(pipe.offer(at(0), frame(number)), Offer::Taken);
    }
    let expected: Vec<_> = (0..4).map(|n| (n as u32, (n + 1) * TX + DELAY, n * TX, None)).collect();
    assert_eq!(drain(&mut pipe), expected);
    assert_eq!(pipe.counters().waited, (1 + 2 + 3) * TX);
}

/// With a short propagation delay the link is empty between arrivals, and the next transmission has still begun.
#[test]
fn without_propagation_delay_transmissions_follow_one_another() {
    let mut pipe = pipe(&PipeConfig { delay: Duration::ZERO, ..config() });
    for number in 0..3 {
        pipe.offer(at(0), frame(number));
    }
    assert_eq!(drain(&mut pipe), [(0, TX, 0, None), (1, 2 * TX, TX, None), (2, 3 * TX, 2 * TX, None)]);
}

/// A queue of 2: one frame on the air, two wait, the fourth is dropped; room is there once the second starts.
#[test]
fn drop_tail_counts_waiting_packets_only() {
    let mut pipe = pipe(&PipeConfig { limit_packets: 2, ..config() });
    let offers: Vec<_> = (0..4).map(|n| pipe.offer(at(0), frame(n))).collect();
    assert_eq!(offers[1..], [Offer::Taken, Offer::Taken, Offer::Dropped]);
    assert_eq!(pipe.offer(at(TX - 1), frame(4)), Offer::Dropped);
    assert_eq!(pipe.offer(at(TX), frame(5)), Offer::Taken);
    let numbers: Vec<_> = drain(&mut pipe).into_iter().map(|(number, ..)| number).collect();
    assert_eq!(numbers, [0, 1, 2, 5]);
    assert_eq!((pipe.counters().drops, pipe.queue_max()), ([2, 0, 0, 0, 0], 2));
}

/// Frames are counted as the link carries them, so the one that the queue refuses has no number; a listed frame has used
/// the link.
#[test]
fn drops_strike_frames_by_their_number() {
    let mut pipe = pipe(&PipeConfig { limit_packets: 3, drops: vec![1, 3], ..config() });
    let offers: Vec<_> = (0..5).map(|n| pipe.offer(at(0), frame(n))).collect();
    assert_eq!(offers[3..], [Offer::Taken, Offer::Dropped]);
    let fates: Vec<_> =
        drain(&mut pipe).into_iter().map(|(number, time, _, cause)| (number, time, cause)).collect();
    let arrival = |n: u64| (n + 1) * TX + DELAY;
    let loss = Some(DropCause::Loss);
    assert_eq!(
        fates,
        [(0, arrival(0), loss), (1, arrival(1), None), (2, arrival(2), loss), (3, arrival(3), None)]
    );
    assert_eq!(pipe.counters().drops, [1, 2, 0, 0, 0]);
}

#[test]
fn a_list_of_drops_moves_no_random_loss() {
    let half = Probability::new(0.5).unwrap();
    let fates = |drops: &[u64]| -> Vec<bool> {
        let mut pipe = pipe(&PipeConfig { loss: half, drops: drops.to_vec(), ..config() });
        for number in 0..100 {
            pipe.offer(at(0), frame(number));
        }
        drain(&mut pipe).into_iter().map(|(_, _, _, cause)| cause.is_some()).collect()
    };
    let (chance, listed) = (fates(&[]), fates(&[1, 2, 3, 4, 5, 6, 7, 8]));
    assert!(listed[..8].iter().all(|lost| *lost) && !chance[..8].iter().all(|lost| *lost));
    assert_eq!(listed[8..], chance[8..]);
}

#[test]
fn drop_tail_in_bytes_lets_small_packets_in() {
    let mut pipe = pipe(&PipeConfig { limit_bytes: 1999, limit_packets: u64::MAX, ..config() });
    let small = Transit { wire: 40, ..Transit::default() };
    assert!(matches!(pipe.offer(at(0), frame(0)), Offer::Schedule(_)));
    assert_eq!(pipe.offer(at(0), frame(1)), Offer::Taken);
    assert_eq!(pipe.offer(at(0), frame(2)), Offer::Dropped);
    assert_eq!(pipe.offer(at(0), small), Offer::Taken);
    // At TX the second frame is on the air: 40 bytes wait, 1000 more fit.
    assert_eq!(pipe.offer(at(TX), frame(3)), Offer::Taken);
}

/// Frame 0 is on the air when the silence starts and completes; 1 waits for the end of the silence.
#[test]
fn hold_completes_the_frame_on_the_air_and_keeps_the_rest() {
    let mut pipe = pipe(&config());
    pipe.offer(at(0), frame(0));
    pipe.offer(at(0), frame(1));
    assert_eq!(pipe.set_channel(at(TX / 2), Gate::Hold, None), None);
    let (first, cause) = pipe.arrive(at(TX + DELAY));
    assert_eq!((first.stream, cause), (0, None));
    assert_eq!(pipe.next_arrival(), None, "frame 1 waits: nothing is scheduled");
    assert_eq!(pipe.queue_length(at(TX + DELAY)), 1);
    let reopen = 100_000_000;
    assert_eq!(pipe.set_channel(at(reopen), Gate::Open, None), Some(at(reopen + TX + DELAY)));
    assert_eq!(drain(&mut pipe), [(1, reopen + TX + DELAY, reopen, None)]);
}

/// A silence shorter than the frame on the air: the next frame follows the frame, not the end of the silence.
#[test]
fn hold_shorter_than_the_frame_delays_nothing() {
    let mut pipe = pipe(&config());
    pipe.offer(at(0), frame(0));
    pipe.offer(at(0), frame(1));
    pipe.set_channel(at(100), Gate::Hold, None);
    assert_eq!(pipe.set_channel(at(200), Gate::Open, None), None, "an arrival is scheduled already");
    assert_eq!(drain(&mut pipe), [(0, TX + DELAY, 0, None), (1, 2 * TX + DELAY, TX, None)]);
}

#[test]
fn hold_makes_an_idle_link_queue() {
    let mut pipe = pipe(&PipeConfig { limit_packets: 1, ..config() });
    pipe.set_channel(at(0), Gate::Hold, None);
    assert_eq!(pipe.offer(at(10), frame(0)), Offer::Taken);
    assert_eq!(pipe.offer(at(20), frame(1)), Offer::Dropped);
    assert_eq!(pipe.set_channel(at(30), Gate::Open, None), Some(at(30 + TX + DELAY)));
}

/// Frame 0 was sent whole, 1 is cut by the silence, 2 and 3 start in it (3 ends after it), 4 starts after it.
#[test]
fn drop_loses_every_frame_that_meets_the_silence() {
    let mut pipe = pipe(&config());
    for number in 0..5 {
        pipe.offer(at(0), frame(number));
    }
    pipe.set_channel(at(TX + TX / 2), Gate::Drop, None);
    pipe.set_channel(at(3 * TX + TX / 2), Gate::Open, None);
    let silence = Some(DropCause::Silence);
    let fates: Vec<_> =
        drain(&mut pipe).into_iter().map(|(number, time, _, cause)| (number, time, cause)).collect();
    assert_eq!(
        fates,
        [
            (0, TX + DELAY, None),
            (1, 2 * TX + DELAY, silence),
            (2, 3 * TX + DELAY, silence),
            (3, 4 * TX + DELAY, silence),
            (4, 5 * TX + DELAY, None),
        ]
    );
    assert_eq!(pipe.counters().drops, [0, 0, 3, 0, 0]);
    assert_eq!(pipe.carried(at(DELAY)), 2000.0);
}

/// A frame that ends as the silence starts, or starts as it ends, is not lost.
#[test]
fn frames_that_touch_the_silence_survive() {
    let mut pipe = pipe(&config());
    pipe.offer(at(0), frame(0));
    pipe.set_channel(at(TX), Gate::Drop, None);
    pipe.set_channel(at(2 * TX), Gate::Open, None);
    pipe.offer(at(2 * TX), frame(1));
    assert!(drain(&mut pipe).iter().all(|(.., cause)| cause.is_none()));
}

/// A new rate holds for frames that start later: the one on the air keeps its own.
#[test]
fn a_rate_change_spares_the_frame_on_the_air() {
    let mut pipe = pipe(&config());
    for number in 0..3 {
        pipe.offer(at(0), frame(number));
    }
    let slow = Some(Rate::from_bits_per_second(1_000_000));
    pipe.set_channel(at(TX / 2), Gate::Open, slow);
    assert_eq!(pipe.carried(at(TX / 2)), 500.0);
    let times: Vec<_> = drain(&mut pipe).into_iter().map(|(_, time, ..)| time).collect();
    assert_eq!(times, [TX + DELAY, 11 * TX + DELAY, 21 * TX + DELAY]);
    pipe.set_channel(at(100_000_000), Gate::Open, None);
    assert_eq!(pipe.offer(at(100_000_000), frame(3)), Offer::Schedule(at(100_000_000 + TX + DELAY)));
}

#[test]
fn available_capacity_is_the_integral_of_the_gated_rate() {
    let mut pipe = pipe(&config());
    let second = 1_000_000_000;
    pipe.set_channel(at(second), Gate::Hold, None);
    pipe.set_channel(at(2 * second), Gate::Open, Some(Rate::from_bits_per_second(4_000_000)));
    let capacity = pipe.capacity(at(4 * second));
    assert_eq!(Capacity::bytes(capacity.available), (10e6 + 2.0 * 4e6) / 8.0);
    assert_eq!(Capacity::bytes(capacity.channel), (10e6 + 10e6 + 2.0 * 4e6) / 8.0);
    assert_eq!(capacity.silence, second);
}

/// A frame that completes in a silence counts as capacity at its own rate, and so does one under a new rate.
#[test]
fn what_completes_after_a_change_is_capacity() {
    let mut pipe = pipe(&config());
    let slow = Some(Rate::from_bits_per_second(1_000_000));
    pipe.offer(at(0), frame(0));
    pipe.set_channel(at(TX / 4), Gate::Hold, slow);
    pipe.set_channel(at(TX / 2), Gate::Hold, None);
    let bytes = |capacity: Capacity| (Capacity::bytes(capacity.available), Capacity::bytes(capacity.channel));
    assert_eq!(bytes(pipe.capacity(at(TX))), (1000.0, 1000.0));
    assert_eq!(bytes(pipe.capacity(at(2 * TX))), (1000.0, 2000.0));
    assert_eq!((pipe.carried(at(2 * TX)), pipe.capacity(at(2 * TX)).silence), (1000.0, 2 * TX - TX / 4));
}

/// Between any two looks no more is carried than the capacity: random offers, gates and rates.
#[test]
fn nothing_is_carried_beyond_the_capacity() {
    for seed in 0..20 {
        let mut stream = RandomStream::new(seed, "pipe-capacity", 0);
        let mut pipe = pipe(&PipeConfig { delay: Duration::ZERO, ..config() });
        let (mut now, mut before) = (0, (0.0, 0));
        for number in 0..2000 {
            let next = now + stream.below(3 * TX);
            while let Some(time) = pipe.next_arrival().filter(|time| time.as_nanos() <= next) {
                pipe.arrive(time);
            }
            now = next;
            let after = (pipe.carried(at(now)), pipe.capacity(at(now)).available);
            let (carried, available) = (after.0 - before.0, Capacity::bytes(after.1 - before.1));
            assert!(carried <= available + 1e-6, "seed {seed}, {number}: {carried} of {available} bytes");
            before = after;
            let rate = [None, Some(3_000_000), Some(50_000_000)][stream.below(3) as usize];
            let rate = rate.map(Rate::from_bits_per_second);
            match stream.below(8) {
                0 | 1 => _ = pipe.set_channel(at(now), Gate::Hold, rate),
                2 => _ = pipe.set_channel(at(now), Gate::Drop, rate),
                3 => _ = pipe.set_channel(at(now), Gate::Open, rate),
                _ => _ = pipe.offer(at(now), frame(number)),
            }
        }
        assert!(before.0 > 100_000.0, "{before:?}");
    }
}

/// The queue's integral equals the sum of rectangles: 1 packet for TX, then none.
#[test]
fn queue_integral_counts_packets_that_still_wait() {
    let mut pipe = pipe(&config());
    pipe.offer(at(0), frame(0));
    pipe.offer(at(0), frame(1));
    assert_eq!(pipe.queue_integral(at(TX / 2)), TX / 2);
    assert_eq!(pipe.queue_integral(at(2 * TX)), TX);
}

/// 100,000 frames at 2 %: five standard deviations of the binomial are 221.
#[test]
fn random_loss_has_its_rate() {
    let loss = Probability::new(0.02).unwrap();
    let mut pipe = pipe(&PipeConfig { loss, ..config() });
    let mut now = 0;
    for number in 0..100_000 {
        pipe.offer(at(now), frame(number));
        now = pipe.next_arrival().unwrap().as_nanos();
        pipe.arrive(at(now));
    }
    let lost = pipe.counters().drops[DropCause::Loss as usize];
    assert!(lost.abs_diff(2000) < 221, "{lost}");
    assert_eq!(pipe.counters().delivered + lost, 100_000);
}

/// Looking at a pipe never changes what it does: random offers, gates and rates, with and without an observer.
#[test]
fn observation_changes_nothing() {
    let run = |observe: bool| {
        let mut stream = RandomStream::new(11, "pipe-test", 0);
        let mut pipe = pipe(&PipeConfig { limit_packets: 5, delay: Duration::from_micros(300), ..config() });
        let (mut now, mut log) = (0, Vec::new());
        for number in 0..5000 {
            let next = now + stream.below(2 * TX);
            while let Some(time) = pipe.next_arrival().filter(|time| time.as_nanos() <= next) {
                log.push((time, pipe.arrive(time).1));
            }
            now = next;
            if observe {
                pipe.queue_length(at(now));
                pipe.carried(at(now));
                pipe.capacity(at(now));
            }
            let slow = Some(Rate::from_bits_per_second(3_000_000));
            match stream.below(10) {
                0 => _ = pipe.set_channel(at(now), Gate::Hold, None),
                1 => _ = pipe.set_channel(at(now), Gate::Drop, None),
                2 | 3 => _ = pipe.set_channel(at(now), Gate::Open, slow),
                4 => _ = pipe.set_channel(at(now), Gate::Open, None),
                _ => _ = pipe.offer(at(now), frame(number)),
            }
        }
        (log, *pipe.counters(), pipe.packets().count())
    };
    let (log, counters, inside) = run(false);
    assert_eq!(run(true), (log, counters, inside));
    let dropped: u64 = counters.drops.iter().sum();
    assert_eq!(counters.offered, counters.delivered + dropped + inside as u64);
    assert!(counters.drops[0] > 0 && counters.drops[2] > 0, "{counters:?}");
}
