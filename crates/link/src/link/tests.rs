//! Timing by hand: 10 Mbit/s and 1000-byte frames, so a transmission takes 800 us; 40 ms of propagation.

use super::*;
use crate::gate::Flush;
use crate::queue::{CoDel, DisciplineSpec, QueueLimit, Site};
use cogtcp_units::Duration;

const TX: u64 = 800_000;
const DELAY: u64 = 40_000_000;
const FLUSHES: [Flush; 3] = [Flush::Queue, Flush::Wire, Flush::Both];

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Packet(u32);
impl LinkPayload for Packet {}

fn packets(limit: u32) -> DropTail {
    DropTail::of(QueueLimit::Packets(limit))
}

fn config() -> LinkConfig {
    LinkConfig {
        rate: Rate::from_bits_per_second(10_000_000),
        delay: Duration::from_nanos(DELAY),
        queue: packets(1000),
        loss: Probability::ZERO,
        loss_run: None,
        drops: Vec::new(),
        schedule: None,
    }
}

fn made(config: &LinkConfig) -> Link<Packet> {
    Link::new(config, None, || RandomStream::new(1, "loss/test/forward", 0))
}

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

fn frame(number: u32) -> Frame<Packet> {
    Frame::new(Packet(number), 1000)
}

/// Lets every packet arrive; returns (number, arrival, waited, fate).
fn drain(link: &mut Link<Packet>) -> Vec<(u32, u64, u64, Option<DropCause>)> {
    let mut arrivals = Vec::new();
    while let Some(time) = link.next_arrival() {
        let Departure { frame, lost } = link.arrive(time);
        arrivals.push((frame.packet.0, time.as_nanos(), frame.waited, lost));
    }
    arrivals
}

#[test]
fn an_idle_link_delivers_after_transmission_and_propagation() {
    let mut link = made(&config());
    assert_eq!(link.offer(at(5), frame(0)), OfferOutcome::Schedule { at: at(5 + TX + DELAY), since: at(5) });
    assert_eq!(drain(&mut link), [(0, 5 + TX + DELAY, 0, None)]);
    assert_eq!(link.next_arrival(), None);
}

#[test]
fn a_burst_is_spaced_by_the_transmission_time() {
    let mut link = made(&config());
    assert!(matches!(link.offer(at(0), frame(0)), OfferOutcome::Schedule { .. }));
    for number in 1..4 {
        assert_eq!(link.offer(at(0), frame(number)), OfferOutcome::Taken);
    }
    let expected: Vec<_> = (0..4).map(|n| (n as u32, (n + 1) * TX + DELAY, n * TX, None)).collect();
    assert_eq!(drain(&mut link), expected);
    assert_eq!(link.counters().waited, (1 + 2 + 3) * TX);
}

/// With a short propagation delay the link is empty between arrivals, and the next transmission has still
/// begun.
#[test]
fn without_propagation_delay_transmissions_follow_one_another() {
    let mut link = made(&LinkConfig { delay: Duration::ZERO, ..config() });
    for number in 0..3 {
        link.offer(at(0), frame(number));
    }
    assert_eq!(drain(&mut link), [(0, TX, 0, None), (1, 2 * TX, TX, None), (2, 3 * TX, 2 * TX, None)]);
}

/// A queue of 2: one frame on the air, two wait, the fourth is dropped; room is there once the second starts.
#[test]
fn drop_tail_counts_waiting_packets_only() {
    let mut link = made(&LinkConfig { queue: packets(2), ..config() });
    let offers: Vec<_> = (0..4).map(|n| link.offer(at(0), frame(n))).collect();
    assert_eq!(offers[1..], [OfferOutcome::Taken, OfferOutcome::Taken, OfferOutcome::Dropped]);
    assert_eq!(link.offer(at(TX - 1), frame(4)), OfferOutcome::Dropped);
    assert_eq!(link.offer(at(TX), frame(5)), OfferOutcome::Taken);
    let numbers: Vec<_> = drain(&mut link).into_iter().map(|(number, ..)| number).collect();
    assert_eq!(numbers, [0, 1, 2, 5]);
    assert_eq!((link.counters().drops[0], link.queue_max()), (2, 2));
}

/// Frames are counted as the link carries them, so a frame that the queue refuses has no number; a listed
/// frame has used the link.
#[test]
fn drops_strike_frames_by_their_number() {
    let mut link = made(&LinkConfig { queue: packets(3), drops: vec![1, 3], ..config() });
    let offers: Vec<_> = (0..5).map(|n| link.offer(at(0), frame(n))).collect();
    assert_eq!(offers[3..], [OfferOutcome::Taken, OfferOutcome::Dropped]);
    let fates: Vec<_> =
        drain(&mut link).into_iter().map(|(number, time, _, cause)| (number, time, cause)).collect();
    let arrival = |n: u64| (n + 1) * TX + DELAY;
    let loss = Some(DropCause::Loss);
    assert_eq!(
        fates,
        [(0, arrival(0), loss), (1, arrival(1), None), (2, arrival(2), loss), (3, arrival(3), None)]
    );
    assert_eq!(link.counters().drops[..6], [1, 2, 0, 0, 0, 0]);
}

#[test]
fn a_list_of_drops_moves_no_random_loss() {
    let half = Probability::new(0.5).unwrap();
    let fates = |drops: &[u64]| -> Vec<bool> {
        let mut link = made(&LinkConfig { loss: half, drops: drops.to_vec(), ..config() });
        for number in 0..100 {
            link.offer(at(0), frame(number));
        }
        drain(&mut link).into_iter().map(|(_, _, _, cause)| cause.is_some()).collect()
    };
    let (chance, listed) = (fates(&[]), fates(&[1, 2, 3, 4, 5, 6, 7, 8]));
    assert!(listed[..8].iter().all(|lost| *lost) && !chance[..8].iter().all(|lost| *lost));
    assert_eq!(listed[8..], chance[8..]);
}

/// 2 % of the frames are lost in runs of 5 on average. Gilbert's chain: r = 1/5 back, p = r 0.02/0.98 =
/// 0.00408 into the bad state. Over n = 200,000 frames the share has a standard deviation of at most
/// sqrt(0.02 0.98 (2 5 - 1) / n) = 0.00094. The some 800 runs, geometric with mean 5, have a mean within
/// sqrt(20 / 800) = 0.16. Four of each are allowed.
#[test]
fn losses_in_runs_have_their_share_and_their_length() {
    let share = Probability::new(0.02).unwrap();
    let mut losses = crate::losses::Losses::new(share, Some(5.0), &[], RandomStream::new(7, "loss", 0));
    let fates: Vec<bool> = (0..200_000).map(|_| losses.next()).collect();
    let lost = fates.iter().filter(|lost| **lost).count() as f64;
    let runs = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
    assert!((lost / 200_000.0 - 0.02).abs() < 0.0038, "{lost}");
    assert!((lost / runs - 5.0).abs() < 0.65, "{}", lost / runs);
    // A run of one frame: no two losses follow each other.
    let mut alone = crate::losses::Losses::new(share, Some(1.0), &[], RandomStream::new(7, "loss", 0));
    let fates: Vec<bool> = (0..20_000).map(|_| alone.next()).collect();
    assert!(fates.contains(&true) && !fates.windows(2).any(|pair| pair[0] && pair[1]));
}

/// A share of all frames in runs of five is none that a chain can have: the nearest chain loses a frame after each
/// that arrived. Runs of less than a frame are of one.
#[test]
fn shares_that_no_chain_has_end_at_the_nearest() {
    let mut all =
        crate::losses::Losses::new(Probability::ONE, Some(5.0), &[], RandomStream::new(7, "loss", 0));
    let fates: Vec<bool> = (0..2000).map(|_| all.next()).collect();
    assert!(fates.contains(&false) && fates.windows(2).all(|pair| pair[0] || pair[1]));
    let lost = fates.iter().filter(|lost| **lost).count();
    assert!((1600..1740).contains(&lost), "five of six: {lost}");
    let mut short =
        crate::losses::Losses::new(Probability::ONE, Some(0.5), &[], RandomStream::new(7, "loss", 0));
    let fates: Vec<bool> = (0..9).map(|_| short.next()).collect();
    assert!(fates.windows(2).all(|pair| pair[0] != pair[1]), "{fates:?}");
}

#[test]
fn drop_tail_in_bytes_lets_small_packets_in() {
    let mut link = made(&LinkConfig { queue: DropTail::of(QueueLimit::Bytes(1999)), ..config() });
    let small = Frame::new(Packet(9), 40);
    assert!(matches!(link.offer(at(0), frame(0)), OfferOutcome::Schedule { .. }));
    assert_eq!(link.offer(at(0), frame(1)), OfferOutcome::Taken);
    assert_eq!(link.offer(at(0), frame(2)), OfferOutcome::Dropped);
    assert_eq!(link.offer(at(0), small), OfferOutcome::Taken);
    // At TX the second frame is on the air: 40 bytes wait, 1000 more fit.
    assert_eq!(link.offer(at(TX), frame(3)), OfferOutcome::Taken);
}

/// Frame 0 is on the air when the silence starts and completes; 1 waits for the end of the silence.
#[test]
fn hold_completes_the_frame_on_the_air_and_keeps_the_rest() {
    let mut link = made(&config());
    link.offer(at(0), frame(0));
    link.offer(at(0), frame(1));
    assert_eq!(link.set_channel(at(TX / 2), Gate::Hold, None), None);
    let first = link.arrive(at(TX + DELAY));
    assert_eq!((first.frame.packet, first.lost), (Packet(0), None));
    assert_eq!(link.next_arrival(), None, "frame 1 waits: nothing is scheduled");
    assert_eq!(link.queue_length(at(TX + DELAY)), 1);
    let reopen = 100_000_000;
    assert_eq!(link.set_channel(at(reopen), Gate::Open, None), Some(at(reopen + TX + DELAY)));
    assert_eq!(drain(&mut link), [(1, reopen + TX + DELAY, reopen, None)]);
}

/// A silence shorter than the frame on the air: the next frame follows the frame, not the end of the silence.
#[test]
fn hold_shorter_than_the_frame_delays_nothing() {
    let mut link = made(&config());
    link.offer(at(0), frame(0));
    link.offer(at(0), frame(1));
    link.set_channel(at(100), Gate::Hold, None);
    assert_eq!(link.set_channel(at(200), Gate::Open, None), None, "an arrival is scheduled already");
    assert_eq!(drain(&mut link), [(0, TX + DELAY, 0, None), (1, 2 * TX + DELAY, TX, None)]);
}

#[test]
fn hold_makes_an_idle_link_queue() {
    let mut link = made(&LinkConfig { queue: packets(1), ..config() });
    link.set_channel(at(0), Gate::Hold, None);
    assert_eq!(link.offer(at(10), frame(0)), OfferOutcome::Taken);
    assert_eq!(link.offer(at(20), frame(1)), OfferOutcome::Dropped);
    assert_eq!(link.set_channel(at(30), Gate::Open, None), Some(at(30 + TX + DELAY)));
}

/// Frame 0 was sent whole, 1 is cut by the silence, 2 and 3 start in it (3 ends after it), 4 starts after it.
#[test]
fn drop_loses_every_frame_that_meets_the_silence() {
    let mut link = made(&config());
    for number in 0..5 {
        link.offer(at(0), frame(number));
    }
    link.set_channel(at(TX + TX / 2), Gate::Drop, None);
    link.set_channel(at(3 * TX + TX / 2), Gate::Open, None);
    let silence = Some(DropCause::Silence);
    let fates: Vec<_> =
        drain(&mut link).into_iter().map(|(number, time, _, cause)| (number, time, cause)).collect();
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
    assert_eq!(link.counters().drops[..6], [0, 0, 3, 0, 0, 0]);
    assert_eq!(link.carried(at(DELAY)), 2000.0);
}

/// Frames 0 to 2 were there before the silence: they are sent, through it. 3 comes in it, 4 after it, behind
/// what is left.
#[test]
fn refuse_loses_what_comes_and_sends_what_waits() {
    let mut link = made(&LinkConfig { queue: packets(3), ..config() });
    for number in 0..3 {
        link.offer(at(0), frame(number));
    }
    link.set_channel(at(TX / 2), Gate::Refuse, None);
    assert_eq!(link.busy_until(), at(3 * TX));
    assert_eq!(link.offer(at(TX), frame(3)), OfferOutcome::Refused);
    assert_eq!((link.queue_length(at(TX + 1)), link.available_rate()), (1, Rate::ZERO));
    link.set_channel(at(2 * TX + TX / 2), Gate::Open, None);
    link.offer(at(2 * TX + TX / 2), frame(4));
    let fates: Vec<_> = drain(&mut link).into_iter().map(|(number, time, ..)| (number, time)).collect();
    assert_eq!(fates, [(0, TX + DELAY), (1, 2 * TX + DELAY), (2, 3 * TX + DELAY), (4, 4 * TX + DELAY)]);
    assert_eq!(link.counters().drops[DropCause::Silence as usize], 1);
    assert_eq!(link.carried(at(4 * TX)), 4000.0);
    assert_eq!(Capacity::bytes(link.capacity(at(4 * TX)).available), 4000.0, "it was busy throughout");
}

/// With nothing in the queue the silence is all of the link's time; a rate that changes in it holds for what
/// is still to be sent.
#[test]
fn a_gate_that_refuses_counts_what_it_still_carries() {
    let mut link = made(&config());
    link.set_channel(at(0), Gate::Refuse, None);
    assert_eq!(link.offer(at(1), frame(0)), OfferOutcome::Refused);
    link.set_channel(at(TX), Gate::Open, None);
    assert_eq!(link.capacity(at(TX)).available, 0);
    (1..4).for_each(|number| _ = link.offer(at(TX), frame(number)));
    link.set_channel(at(TX), Gate::Refuse, None);
    let rate = link.channel_rate().bits_per_second();
    link.set_channel(at(TX + TX / 2), Gate::Refuse, Some(Rate::from_bits_per_second(rate / 2)));
    assert_eq!(link.busy_until(), at(2 * TX + 4 * TX), "one on the air, two at half the rate");
    assert_eq!(Capacity::bytes(link.capacity(at(9 * TX)).available), 3000.0);
    assert_eq!(link.carried(at(9 * TX)), 3000.0);
}

/// A frame that ends as the silence starts, or starts as it ends, is not lost.
#[test]
fn frames_that_touch_the_silence_survive() {
    let mut link = made(&config());
    link.offer(at(0), frame(0));
    link.set_channel(at(TX), Gate::Drop, None);
    link.set_channel(at(2 * TX), Gate::Open, None);
    link.offer(at(2 * TX), frame(1));
    assert!(drain(&mut link).iter().all(|(.., cause)| cause.is_none()));
}

/// A new rate holds for frames that start later: the one on the air keeps its own.
#[test]
fn a_rate_change_spares_the_frame_on_the_air() {
    let mut link = made(&config());
    for number in 0..3 {
        link.offer(at(0), frame(number));
    }
    let slow = Some(Rate::from_bits_per_second(1_000_000));
    link.set_channel(at(TX / 2), Gate::Open, slow);
    assert_eq!(link.carried(at(TX / 2)), 500.0);
    let times: Vec<_> = drain(&mut link).into_iter().map(|(_, time, ..)| time).collect();
    assert_eq!(times, [TX + DELAY, 11 * TX + DELAY, 21 * TX + DELAY]);
    link.set_channel(at(100_000_000), Gate::Open, None);
    assert_eq!(
        link.offer(at(100_000_000), frame(3)),
        OfferOutcome::Schedule { at: at(100_000_000 + TX + DELAY), since: at(100_000_000) }
    );
}

#[test]
fn available_capacity_is_the_integral_of_the_gated_rate() {
    let mut link = made(&config());
    let second = 1_000_000_000;
    link.set_channel(at(second), Gate::Hold, None);
    link.set_channel(at(2 * second), Gate::Open, Some(Rate::from_bits_per_second(4_000_000)));
    let capacity = link.capacity(at(4 * second));
    assert_eq!(Capacity::bytes(capacity.available), (10e6 + 2.0 * 4e6) / 8.0);
    assert_eq!(Capacity::bytes(capacity.channel), (10e6 + 10e6 + 2.0 * 4e6) / 8.0);
    assert_eq!(capacity.silence, second);
}

/// A frame that completes in a silence counts as capacity at its own rate, and so does one under a new rate.
#[test]
fn what_completes_after_a_change_is_capacity() {
    let mut link = made(&config());
    let slow = Some(Rate::from_bits_per_second(1_000_000));
    link.offer(at(0), frame(0));
    link.set_channel(at(TX / 4), Gate::Hold, slow);
    link.set_channel(at(TX / 2), Gate::Hold, None);
    let bytes = |capacity: Capacity| (Capacity::bytes(capacity.available), Capacity::bytes(capacity.channel));
    assert_eq!(bytes(link.capacity(at(TX))), (1000.0, 1000.0));
    assert_eq!(bytes(link.capacity(at(2 * TX))), (1000.0, 2000.0));
    assert_eq!((link.carried(at(2 * TX)), link.capacity(at(2 * TX)).silence), (1000.0, 2 * TX - TX / 4));
}

/// Between any two looks no more is carried than the capacity: random offers, gates and rates.
#[test]
fn nothing_is_carried_beyond_the_capacity() {
    for seed in 0..20 {
        let mut stream = RandomStream::new(seed, "pipe-capacity", 0);
        let mut link = made(&LinkConfig { delay: Duration::ZERO, ..config() });
        let (mut now, mut before) = (0, (0.0, 0));
        for number in 0..2000 {
            let next = now + stream.below(3 * TX);
            while let Some(time) = link.next_arrival().filter(|time| time.as_nanos() <= next) {
                link.arrive(time);
            }
            now = next;
            let after = (link.carried(at(now)), link.capacity(at(now)).available);
            let (carried, available) = (after.0 - before.0, Capacity::bytes(after.1 - before.1));
            assert!(carried <= available + 1e-6, "seed {seed}, {number}: {carried} of {available} bytes");
            before = after;
            let rate = [None, Some(3_000_000), Some(50_000_000)][stream.below(3) as usize];
            let rate = rate.map(Rate::from_bits_per_second);
            match stream.below(8) {
                0 => _ = link.set_channel(at(now), Gate::Hold, rate),
                1 => _ = link.set_channel(at(now), Gate::Refuse, rate),
                2 => _ = link.set_channel(at(now), Gate::Drop, rate),
                3 => _ = link.set_channel(at(now), Gate::Open, rate),
                _ => _ = link.offer(at(now), frame(number)),
            }
        }
        assert!(before.0 > 100_000.0, "{before:?}");
    }
}

/// The queue's integral equals the sum of rectangles: 1 packet for TX, then none.
#[test]
fn queue_integral_counts_packets_that_still_wait() {
    let mut link = made(&config());
    link.offer(at(0), frame(0));
    link.offer(at(0), frame(1));
    assert_eq!(link.queue_integral(at(TX / 2)), TX / 2);
    assert_eq!(link.queue_integral(at(2 * TX)), TX);
}

/// 100,000 frames at 2 %: five standard deviations of the binomial are 221.
#[test]
fn random_loss_has_its_rate() {
    let loss = Probability::new(0.02).unwrap();
    let mut link = made(&LinkConfig { loss, ..config() });
    let mut now = 0;
    for number in 0..100_000 {
        link.offer(at(now), frame(number));
        now = link.next_arrival().unwrap().as_nanos();
        link.arrive(at(now));
    }
    let lost = link.counters().drops[DropCause::Loss as usize];
    assert!(lost.abs_diff(2000) < 221, "{lost}");
    assert_eq!(link.counters().delivered + lost, 100_000);
}

/// Looking at a link never changes what it does: random offers, gates and rates, with and without an
/// observer.
#[test]
fn observation_changes_nothing() {
    let run = |observe: bool| {
        let mut stream = RandomStream::new(11, "pipe-test", 0);
        let mut link = made(&LinkConfig { queue: packets(5), delay: Duration::from_micros(300), ..config() });
        let (mut now, mut log) = (0, Vec::new());
        for number in 0..5000 {
            let next = now + stream.below(2 * TX);
            while let Some(time) = link.next_arrival().filter(|time| time.as_nanos() <= next) {
                log.push((time, link.arrive(time).lost));
            }
            now = next;
            if observe {
                link.queue_length(at(now));
                link.carried(at(now));
                link.capacity(at(now));
            }
            let slow = Some(Rate::from_bits_per_second(3_000_000));
            match stream.below(10) {
                0 => _ = link.set_channel(at(now), Gate::Hold, None),
                1 => _ = link.set_channel(at(now), Gate::Drop, None),
                5 => _ = link.set_channel(at(now), Gate::Refuse, None),
                6 => _ = link.set_channel(at(now), Gate::Down(FLUSHES[number as usize % 3]), None),
                2 | 3 => _ = link.set_channel(at(now), Gate::Open, slow),
                4 => _ = link.set_channel(at(now), Gate::Open, None),
                _ => _ = link.offer(at(now), frame(number)),
            }
        }
        (log, *link.counters(), link.len())
    };
    let (log, counters, inside) = run(false);
    assert_eq!(run(true), (log, counters, inside));
    let dropped: u64 = counters.drops.iter().sum();
    assert_eq!(counters.offered, counters.delivered + dropped + u64::from(inside));
    assert!(counters.drops[0] > 0 && counters.drops[2] > 0, "{counters:?}");
}

/// Plays a link as a driver does, in virtual time: calls it when it asks for it, or later by up to
/// `lateness`.
struct Driver {
    link: Link<Packet>,
    arrival: Option<u64>,
    transmission: Option<u64>,
    log: Vec<(u32, u64)>,
    dropped: u64,
}

impl Driver {
    fn new(discipline: &DisciplineSpec) -> Self {
        let site = || Site { rate: config().rate, stream: RandomStream::new(1, "queue", 0) };
        let link =
            Link::new(&config(), Some(discipline.kind().build(site())), || RandomStream::new(1, "loss", 0));
        Self { link, arrival: None, transmission: None, log: Vec::new(), dropped: 0 }
    }

    /// Looks what the discipline has done.
    fn attend(&mut self) {
        while self.link.take_dropped().is_some() || self.link.take_flushed().is_some() {
            self.dropped += 1;
        }
        // What went down with the link does not arrive.
        self.arrival = self.arrival.filter(|_| self.link.next_arrival().is_some());
        self.arrival = self.link.take_arrival().map(Time::as_nanos).or(self.arrival);
        self.transmission = self.link.take_transmission().map(Time::as_nanos).or(self.transmission);
    }

    /// Everything that is due by `until`, each `lateness` late.
    fn play(&mut self, until: u64, lateness: u64) {
        while let Some(due) =
            self.arrival.into_iter().chain(self.transmission).min().filter(|due| *due <= until)
        {
            let now = at(due + lateness);
            if self.transmission == Some(due) {
                self.transmission = None;
                self.link.transmit(now);
            } else {
                self.log.push((self.link.arrive(now).frame.packet.0, due));
                self.arrival = self.link.next_arrival().map(Time::as_nanos);
            }
            self.attend();
        }
    }

    fn offer(&mut self, now: u64, frame: Frame<Packet>) {
        let refuses = self.link.gate().refuses();
        assert_eq!(
            self.link.offer(at(now), frame),
            if refuses { OfferOutcome::Refused } else { OfferOutcome::Managed }
        );
        self.attend();
    }
}

/// A discipline that neither drops nor reorders gives the departures of drop-tail, and a driver that is late
/// does not change them.
#[test]
fn a_discipline_that_does_nothing_is_drop_tail() {
    let calm = DisciplineSpec::CoDel(CoDel {
        target: Duration::from_secs(10),
        interval: Duration::from_secs(10),
        ..CoDel::default()
    });
    let mut plain = made(&config());
    let mut drivers = [(Driver::new(&calm), 0), (Driver::new(&calm), TX / 3)];
    let mut expected = Vec::new();
    let mut stream = RandomStream::new(3, "managed", 0);
    let mut now = 0;
    for number in 0..500 {
        let next = now + stream.below(2 * TX);
        while let Some(time) = plain.next_arrival().filter(|time| time.as_nanos() <= next) {
            expected.push((plain.arrive(time).frame.packet.0, time.as_nanos()));
        }
        now = next;
        plain.offer(at(now), frame(number));
        for (driver, _) in &mut drivers {
            driver.play(now, 0);
            driver.offer(now, frame(number));
        }
    }
    expected.extend(drain(&mut plain).into_iter().map(|(number, time, ..)| (number, time)));
    for (driver, lateness) in &mut drivers {
        driver.play(u64::MAX - 1, *lateness);
        assert!(driver.log == expected, "lateness {lateness}");
        assert_eq!(driver.link.counters().waited, plain.counters().waited);
    }
}

/// In a silence nothing leaves; what waited leaves from its end on.
#[test]
fn a_discipline_waits_for_the_gate() {
    let mut driver = Driver::new(&DisciplineSpec::of_name("fq_codel").unwrap());
    driver.offer(0, frame(0));
    driver.offer(0, frame(1));
    driver.link.set_channel(at(TX / 2), Gate::Hold, None);
    driver.play(10 * TX, 0);
    assert_eq!(
        (driver.link.queue_length(at(10 * TX)), driver.log.len()),
        (1, 0),
        "on the air and propagating"
    );
    driver.link.set_channel(at(10 * TX), Gate::Open, None);
    driver.attend();
    driver.play(u64::MAX - 1, 0);
    assert_eq!(driver.log, [(0, TX + DELAY), (1, 11 * TX + DELAY)]);
}

/// A silence that refuses begins at 300 ms. CoDel drops packets of the queue on the way: the link transmits the
/// rest and nothing else.
#[test]
fn a_discipline_that_drops_shortens_the_time_that_a_silence_transmits() {
    for name in ["codel", "fq_codel"] {
        let mut driver = Driver::new(&DisciplineSpec::of_name(name).unwrap());
        (0..600).for_each(|number| driver.offer(0, frame(number)));
        let begins = 300_000_000;
        driver.play(begins, 0);
        driver.link.set_channel(at(begins), Gate::Refuse, None);
        driver.attend();
        let promised = driver.link.busy_until();
        let (drops, _) = (driver.link.counters().drops, driver.play(u64::MAX - 1, 0));
        let dropped = driver.link.counters().drops[DropCause::Early as usize];
        let later = dropped - drops[DropCause::Early as usize];
        assert!(later > 2, "{name}: {later}");
        let busy = (600 - dropped) * TX;
        assert_eq!(driver.link.busy_until(), at(busy), "{name}");
        assert_eq!(promised, at(busy + later * TX), "{name}");
        let end = at(1_000_000_000);
        assert_eq!(Capacity::bytes(driver.link.capacity(end).available), driver.link.carried(end), "{name}");
        assert_eq!(driver.link.carried(end), (600 - dropped) as f64 * 1000.0, "{name}");
    }
}

/// Every packet that is offered arrives or is dropped, once, whatever gate, rate and discipline.
#[test]
fn disciplines_lose_no_packet_uncounted() {
    let mut early = 0;
    for (seed, name) in (0..10).flat_map(|seed| DisciplineSpec::NAMES.iter().map(move |name| (seed, name))) {
        let mut stream = RandomStream::new(seed, "managed", 0);
        let mut driver = Driver::new(&DisciplineSpec::of_name(name).unwrap());
        let mut now = 0;
        for number in 0..3000 {
            now += stream.below(3 * TX / 2);
            driver.play(now, 0);
            let rate = [None, Some(3_000_000)][stream.below(2) as usize].map(Rate::from_bits_per_second);
            match stream.below(300) {
                0 => _ = driver.link.set_channel(at(now), Gate::Hold, rate),
                1 => _ = driver.link.set_channel(at(now), Gate::Drop, rate),
                2 => _ = driver.link.set_channel(at(now), Gate::Refuse, rate),
                10 | 11 => {
                    _ = driver.link.set_channel(at(now), Gate::Down(FLUSHES[number as usize % 3]), rate)
                }
                3..=9 => _ = driver.link.set_channel(at(now), Gate::Open, rate),
                _ => driver.offer(now, frame(number)),
            }
            driver.attend();
            let inside = u64::from(driver.link.len());
            let counters = driver.link.counters();
            let dropped: u64 = counters.drops.iter().sum();
            assert_eq!(counters.offered, counters.delivered + dropped + inside, "{name}, seed {seed}");
            let (mut shown, mut carried) = (0, driver.link.carried(at(now)));
            driver.link.visit(&mut |_| shown += 1);
            carried -= Capacity::bytes(driver.link.capacity(at(now)).available);
            assert!(shown == inside && carried <= 1.0, "{name}, seed {seed}: {carried}");
        }
        driver.link.set_channel(at(now), Gate::Open, None);
        driver.attend();
        driver.play(u64::MAX - 1, 0);
        assert!(driver.link.is_empty(), "{name}, seed {seed}");
        early += driver.link.counters().drops[DropCause::Early as usize];
    }
    assert!(early > 100, "{early}");
}

/// A MAC gets one packet at a time from the discipline, which keeps the rest.
#[test]
fn a_mac_is_served_by_the_discipline() {
    let mut driver = Driver::new(&DisciplineSpec::of_name("fq_codel").unwrap());
    driver.link.set_channel(at(0), Gate::Served, None);
    (0..3).for_each(|number| driver.offer(0, frame(number)));
    assert!(driver.link.take_wake());
    assert_eq!((driver.link.head_size(), driver.link.queue_length(at(0))), (Some(1000), 3));
    for number in 0..3 {
        driver.link.begin_service(at(TX));
        assert_eq!(driver.link.end_service(at(2 * TX), None).packet, Packet(number));
        assert!(!driver.link.take_wake(), "the MAC knows that more wait");
    }
    assert!(driver.link.is_empty() && driver.link.head_size().is_none());
}

/// What a hop reads and writes of a link leaves 16 bytes of two cache lines to its owner.
#[test]
fn a_hop_touches_112_bytes() {
    use std::mem::offset_of;
    let counters = offset_of!(Link<Packet>, counters);
    assert!(counters + offset_of!(LinkCounters, drops) <= 112, "{counters}");
}

/// The delay falls from 40 to 10 ms at 1 ms. The frame on the air keeps its 40 ms; later frames wait for it
/// at the far end.
#[test]
fn no_packet_overtakes_another_when_the_delay_falls() {
    let mut link = made(&config());
    let _ = link.offer(at(0), frame(0));
    let _ = link.offer(at(0), frame(1));
    let _ = link.offer(at(0), frame(2));
    link.set_delay(at(1_000_000), Duration::from_millis(10));
    // Frame 1 is on the air from 0.8 ms to 1.6 ms.
    let last = 2 * TX + DELAY;
    let _ = link.offer(at(45_000_000), frame(3));
    let later = 45_000_000 + TX + 10_000_000;
    let arrivals: Vec<(u32, u64)> = drain(&mut link).iter().map(|(number, at, ..)| (*number, *at)).collect();
    assert_eq!(arrivals, [(0, TX + DELAY), (1, last), (2, last), (3, later)]);
}

/// The delay rises from 40 to 70 ms: what is under way arrives as before.
#[test]
fn what_is_under_way_keeps_its_delay() {
    let mut link = made(&config());
    let _ = link.offer(at(0), frame(0));
    let _ = link.offer(at(0), frame(1));
    link.set_delay(at(TX / 2), Duration::from_millis(70));
    let arrivals: Vec<u64> = drain(&mut link).iter().map(|arrival| arrival.1).collect();
    assert_eq!(arrivals, [TX + DELAY, 2 * TX + 70_000_000]);
    assert_eq!(link.delay(), Duration::from_millis(70));
}

/// A frame fills a cache line; a link fills eight, and a hop touches the first two.
#[test]
fn a_link_takes_eight_cache_lines() {
    assert!(size_of::<Link<[u8; 44]>>() <= 512, "{} bytes", size_of::<Link<[u8; 44]>>());
}

/// A MAC sends a packet three times over: it waits until the first time, and is carried as it arrives. A
/// packet that is given up is carried not at all.
#[test]
fn a_mac_serves_one_packet_at_a_time() {
    let mut link = made(&LinkConfig { queue: packets(2), ..config() });
    link.set_channel(at(0), Gate::Served, None);
    assert!(link.head_size().is_none() && !link.is_plain());
    link.begin_service(at(0));
    let outcomes: Vec<_> = (0..3).map(|number| link.offer(at(number), frame(number as u32))).collect();
    assert_eq!(outcomes, [OfferOutcome::Wake, OfferOutcome::Taken, OfferOutcome::Dropped]);
    assert_eq!((link.head_size(), link.backlog(), link.room(1000)), (Some(1000), (2000, 2), 0));
    link.begin_service(at(100));
    link.begin_service(at(300));
    assert_eq!((link.backlog(), link.room(1000), link.counters().waited), ((1000, 1), 1000, 100));
    // On the air from 400 to 1400 ns, and known to arrive: half of it is over at 900.
    link.put_on_air(at(400), at(400), at(1400), link.channel_rate(), true);
    assert_eq!(
        [300, 400, 900, 1400, 9000].map(|now| link.carried(at(now))),
        [0.0, 0.0, 500.0, 1000.0, 1000.0]
    );
    // One waits: a MAC that is busy asks for the next by itself, whether others wait or not.
    let mut other = made(&config());
    other.set_channel(at(0), Gate::Served, None);
    assert_eq!(other.offer(at(0), frame(0)), OfferOutcome::Wake);
    other.begin_service(at(0));
    assert_eq!([1, 2].map(|number| other.offer(at(1), frame(number))), [OfferOutcome::Taken; 2]);
    let first = link.end_service(at(1400), None);
    assert_eq!((first.packet, first.waited()), (Packet(0), Duration::from_nanos(100)));
    assert_eq!((link.counters().delivered, link.counters().carried_bytes), (1, 1000));
    link.begin_service(at(2000));
    // Whether it arrives is not known: nothing is carried.
    link.put_on_air(at(2000), at(2000), at(3000), link.channel_rate(), false);
    assert_eq!(link.carried(at(3000)), 1000.0);
    let second = link.end_service(at(3000), Some(DropCause::Retry));
    assert_eq!((second.packet, second.waited()), (Packet(1), Duration::from_nanos(1999)));
    let counters = link.counters();
    assert_eq!((counters.delivered, counters.carried_bytes, counters.waited), (1, 1000, 2099));
    assert_eq!((counters.drops, link.backlog(), link.len()), ([1, 0, 0, 1, 0, 0], (0, 0), 0));
    assert_eq!(link.offer(at(3000), frame(3)), OfferOutcome::Wake, "the queue is empty again");
}

/// A MAC of slots takes several packets; what it loses is not carried.
#[test]
fn a_mac_of_slots_takes_several_packets() {
    let mut link = made(&config());
    link.serve_many(1500);
    assert_eq!(link.rounding(0), 1.0 + 10e6 / 16e9 + 1500.0);
    link.set_channel(at(0), Gate::Served, None);
    assert_eq!(link.take_next(at(0)), None);
    let outcomes: Vec<_> = (0..3).map(|number| link.offer(at(0), frame(number))).collect();
    assert_eq!(outcomes, [OfferOutcome::Wake, OfferOutcome::Taken, OfferOutcome::Taken]);
    assert_eq!((link.take_next(at(5)), link.take_lost(at(6))), (Some(1000), Some(1000)));
    assert_eq!((link.backlog(), link.len(), link.counters().carried_bytes), ((1000, 1), 3, 1000));
    assert_eq!((link.counters().waited, link.take_next(at(7))), (11, Some(1000)));
    assert_eq!(link.take_next(at(8)), None);
    // The MAC has all three: the next one finds nothing that waits.
    assert_eq!(link.offer(at(8), frame(3)), OfferOutcome::Wake);
    let first = link.finish(None);
    assert_eq!((first.packet, first.waited()), (Packet(0), Duration::from_nanos(5)));
    assert_eq!(link.finish(Some(DropCause::Loss)).packet, Packet(1));
    assert_eq!(link.finish(None).packet, Packet(2));
    assert_eq!((link.counters().delivered, link.counters().drops), (2, [0, 1, 0, 0, 0, 0]));
    assert_eq!((link.len(), link.backlog()), (1, (1000, 1)));
}

/// A frame of 1000 B is cut after a quarter of its time: what was read before is given back.
#[test]
fn a_silence_cuts_the_frame_on_the_air() {
    let mut link = made(&config());
    link.offer(at(100), frame(0));
    assert_eq!(link.carried(at(100 + TX / 4)), 250.0);
    link.set_channel(at(100 + TX / 2), Gate::Drop, None);
    let cut = *link.cut().unwrap();
    let readings = [0, 100, 100 + TX / 4, 100 + TX / 2, 100 + TX].map(|time| cut.sent_by(at(time)));
    assert_eq!(readings, [0.0, 0.0, 250.0, 500.0, 500.0]);
    assert_eq!((link.carried(at(9 * TX)), link.on_air(at(TX))), (0.0, Some((at(100), true))));
    // A frame that has just ended is not cut, nor is one that met a silence before.
    link.set_channel(at(100 + TX), Gate::Open, None);
    assert!(link.cut().is_none());
    link.offer(at(2 * TX), frame(1));
    link.set_channel(at(3 * TX), Gate::Drop, None);
    assert!(link.cut().is_none());
    link.offer(at(4 * TX), frame(2));
    link.set_channel(at(4 * TX + 1), Gate::Open, None);
    link.set_channel(at(4 * TX + 2), Gate::Drop, None);
    assert!(link.cut().is_none());
    let fates: Vec<_> = drain(&mut link).into_iter().map(|(number, .., cause)| (number, cause)).collect();
    let silence = Some(DropCause::Silence);
    assert_eq!(fates, [(0, silence), (1, None), (2, silence)]);
}

/// At the very end of a frame the transmitter is free for the next, but counts as busy.
#[test]
fn a_transmitter_is_idle_after_its_frame() {
    let mut link = made(&config());
    assert_eq!((link.idle_since(at(0)), link.idle_since(at(1))), (None, Some(at(0))));
    link.offer(at(10), frame(0));
    link.offer(at(10), frame(1));
    let end = 10 + 2 * TX;
    assert_eq!([end - 1, end].map(|now| link.idle_since(at(now))), [None, None]);
    assert_eq!([end - 1, end].map(|now| link.is_free(at(now))), [false, false]);
    assert_eq!([end - 1, end].map(|now| link.on_air(at(now))), [Some((at(10 + TX), false)), None]);
    assert_eq!((link.idle_since(at(end + 1)), link.is_free(at(end + 1))), (Some(at(end)), true));
    // Nobody looked: the second is on the air all the same, or over.
    let (later, between) = (end + 5, end + 5 + TX + TX / 2);
    let busy = |look: fn(&mut Link<Packet>, Time) -> bool| {
        let mut link = made(&config());
        (0..2).for_each(|number| _ = link.offer(at(later), frame(number)));
        [look(&mut link, at(between)), look(&mut link, at(later + 2 * TX + 1))]
    };
    assert_eq!(busy(|link, now| !link.is_free(now)), [true, false]);
    assert_eq!(busy(|link, now| link.on_air(now).is_some()), [true, false]);
    assert_eq!(busy(|link, now| link.idle_since(now).is_none()), [true, false]);
    link.offer(at(later), frame(2));
    link.offer(at(later), frame(3));
    assert_eq!(link.queue_length(at(end + 6 + 2 * TX)), 0);
    // What a silence holds does not keep the transmitter, but it is not idle.
    link.set_channel(at(9 * TX), Gate::Hold, None);
    link.offer(at(9 * TX), frame(4));
    assert!(link.is_free(at(10 * TX)) && link.idle_since(at(10 * TX)).is_none());
}

/// What is offered while a packet is under way is the first since that arrived.
#[test]
fn a_packet_is_the_first_since_the_one_before_arrived() {
    let mut link = made(&LinkConfig { delay: Duration::ZERO, ..config() });
    link.offer(at(0), frame(0));
    assert_eq!(link.first().map(|it| it.packet), Some(Packet(0)));
    link.arrive(at(TX));
    assert!(link.first().is_none());
    let outcome = OfferOutcome::Schedule { at: at(2 * TX), since: at(TX) };
    assert_eq!(link.offer(at(TX), frame(1)), outcome);
    link.arrive(at(2 * TX));
    assert_eq!(
        link.offer(at(3 * TX), frame(2)),
        OfferOutcome::Schedule { at: at(4 * TX), since: at(3 * TX) }
    );
    link.lose(DropCause::Interference);
    // A host that is played late offers a packet at a time before the arrival.
    let mut late = made(&config());
    late.offer(at(0), frame(0));
    late.arrive(at(TX + DELAY));
    let outcome = OfferOutcome::Schedule { at: at(2 * TX + 5 + DELAY), since: at(TX + DELAY) };
    assert_eq!(late.offer(at(TX + 5), frame(1)), outcome);
    assert_eq!((link.counters().delivered, link.counters().drops), (1, [0, 0, 0, 0, 1, 0]));
}

/// A payload says nothing of itself unless it must; a wait elsewhere adds to a frame's own.
#[test]
fn a_plain_packet_is_of_one_flow_and_cannot_be_marked() {
    let mut frame = frame(7);
    assert_eq!(
        (frame.packet.flow(), frame.packet.is_ecn_capable(), frame.packet.is_l4s()),
        (0, false, false)
    );
    frame.add_wait(Duration::from_nanos(5));
    frame.add_wait(Duration::from_nanos(6));
    assert_eq!((frame.waited(), frame.size()), (Duration::from_nanos(11), 1000));
}

/// A link of one rate tells so, and the rate whatever the gate; a rate that changes is remembered.
#[test]
fn a_link_tells_its_rate() {
    let mut link = made(&config());
    let [own, twice] = [10_000_000, 20_000_000].map(Rate::from_bits_per_second);
    assert!(link.has_one_rate() && link.is_plain() && !link.is_managed());
    assert_eq!(
        (link.rate_at(at(0)), link.available_rate(), link.rounding(1)),
        (own, own, 1.0 + 2.0 * 10e6 / 16e9)
    );
    link.set_channel(at(0), Gate::Open, Some(own));
    assert!(link.has_one_rate());
    link.set_channel(at(0), Gate::Open, Some(twice));
    assert!(!link.has_one_rate());
    link.set_channel(at(1), Gate::Hold, None);
    assert_eq!(
        (link.channel_rate(), link.available_rate(), link.rate_at(at(1))),
        (own, Rate::ZERO, Rate::ZERO)
    );
    assert_eq!((link.rounding(1), link.gate()), (1.0 + 2.0 * 20e6 / 16e9, Gate::Hold));
    let lossy = LinkConfig { drops: vec![1], ..config() };
    assert!(
        !made(&lossy).is_plain()
            && !made(&LinkConfig { loss: Probability::new(0.1).unwrap(), ..config() }).is_plain()
    );
    // The queue of 4000 B has room for what is left; one of 3 packets counts them at a size.
    let bytes = LinkConfig { queue: DropTail::of(QueueLimit::Bytes(4000)), ..config() };
    let (mut bytes, mut three) = (made(&bytes), made(&LinkConfig { queue: packets(3), ..config() }));
    for link in [&mut bytes, &mut three] {
        assert!(!link.take_overflow());
        (0..9).for_each(|number| _ = link.offer(at(0), frame(number)));
        assert!(link.take_overflow() && !link.take_overflow());
    }
    assert_eq!((bytes.backlog(), three.backlog()), ((4000, 4), (3000, 3)));
    bytes.queue_length(at(TX));
    three.queue_length(at(TX));
    assert_eq!((bytes.room(40), three.room(40)), (1000, 40));
}

/// A link that nothing has crossed: a byte at time 0 takes its time, and one at a very high rate none.
#[test]
fn a_new_link_has_seen_nothing() {
    let mut link = made(&LinkConfig { delay: Duration::ZERO, ..config() });
    assert_eq!((link.queue_max(), link.take_overflow(), link.free_at()), (0, false, at(0)));
    let outcome = OfferOutcome::Schedule { at: at(800), since: at(0) };
    assert_eq!(link.offer(at(0), Frame::new(Packet(0), 1)), outcome);
    let rate = Rate::from_bits_per_second(u64::MAX);
    let mut fast = made(&LinkConfig { rate, delay: Duration::ZERO, ..config() });
    assert_eq!(fast.offer(at(0), frame(0)), OfferOutcome::Schedule { at: at(0), since: at(0) });
    assert_eq!(fast.carried(at(0)), 1000.0);
    let mut managed = Driver::new(&DisciplineSpec::of_name("codel").unwrap()).link;
    assert!(managed.is_managed() && managed.is_empty() && !managed.take_wake());
    assert_eq!((managed.take_arrival(), managed.take_transmission()), (None, None));
    assert!(managed.take_dropped().is_none() && managed.next_transmission().is_none());
}
