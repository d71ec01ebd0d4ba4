//! Packets that are handed on early fare as those that an event hands on at each arrival.

use super::*;
use crate::gate::Gate;
use crate::queue::DropTail;
use crate::{Departure, LinkConfig};
use cogtcp_units::{Duration, Rate};

/// 1000 bytes at 10 Mbit/s.
const TX: u64 = 800_000;

/// A packet that knows how many links took it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Packet {
    number: u32,
    links: u32,
    is_marked: bool,
}

impl LinkPayload for Packet {
    fn mark(&mut self) {
        self.is_marked = true;
    }
    fn enter(&mut self) {
        self.links += 1;
    }
}

fn link(megabits: u64, delay: u64, packets: u64) -> Link<Packet> {
    let rate = Rate::from_bits_per_second(1_000_000 * megabits);
    let queue = DropTail { packets, ..DropTail::UNLIMITED };
    Link::plain(&LinkConfig { queue, ..LinkConfig::new(rate, Duration::from_nanos(delay)) })
}

fn packet(number: u32) -> Packet {
    Packet { number, ..Packet::default() }
}

fn frame(number: u32, size: u32) -> Frame<Packet> {
    Frame::new(packet(number), size)
}

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

/// When packets come and their sizes: onto an idle link, behind others, as the transmitter becomes free, a
/// nanosecond before and after, in bursts, and after a pause.
const OFFERS: [(u64, u32); 16] = [
    (0, 1000),
    (0, 1000),
    (TX, 500),
    (TX + TX / 2, 1000),
    (3 * TX + TX / 2, 1000),
    (4 * TX + TX / 2 - 1, 250),
    (4 * TX + TX / 2 + 1, 1000),
    (20 * TX, 1000),
    (21 * TX, 1000),
    (22 * TX + 1, 500),
    (40 * TX, 1000),
    (40 * TX, 1000),
    (40 * TX, 1000),
    (40 * TX, 1000),
    (40 * TX, 1000),
    (60 * TX, 1000),
];

/// What leaves the link by `now`.
fn leave(link: &mut Link<Packet>, now: Time) -> Vec<(Time, Packet, Duration)> {
    let mut left = Vec::new();
    while let Some(time) = link.next_arrival().filter(|time| *time <= now) {
        let Departure { frame, lost } = link.arrive(time);
        assert_eq!(lost, None);
        left.push((time, frame.packet, frame.waited()));
    }
    left
}

/// A packet that is made in the link is taken where one made elsewhere goes on the air at once.
#[test]
fn a_new_packet_goes_the_way_of_any_other() {
    for delay in [0, 3 * TX] {
        let (mut new, mut other) = (link(10, delay, 3), link(10, delay, 3));
        let mut at_once = Vec::new();
        for (number, (time, size)) in OFFERS.into_iter().enumerate() {
            let (now, number) = (at(time), number as u32);
            assert_eq!(leave(&mut new, now), leave(&mut other, now));
            let taken = new.offer_new(now, packet(number), size);
            at_once.push(taken.is_some());
            let outcome = taken.unwrap_or_else(|| new.offer(now, frame(number, size)));
            assert_eq!(outcome, other.offer(now, frame(number, size)), "packet {number}, delay {delay}");
            assert_eq!(new.counters(), other.counters());
            assert_eq!((new.free_at(), new.len()), (other.free_at(), other.len()));
            assert_eq!(new.next_arrival(), other.next_arrival());
        }
        let expected = [0, 4, 7, 8, 9, 10, 15];
        let places: Vec<usize> = (0..OFFERS.len()).filter(|place| at_once[*place]).collect();
        assert_eq!(places, expected, "delay {delay}");
        assert_eq!(leave(&mut new, Time::MAX), leave(&mut other, Time::MAX));
        // The queue of 3 drops the last of five that come at once.
        assert_eq!(new.counters().drops, [1, 0, 0, 0, 0, 0]);
        assert_eq!((new.counters().offered, new.counters().delivered), (16, 15));
    }
    let mut held = link(10, 0, 3);
    held.set_channel(at(0), Gate::Hold, None);
    assert!(held.offer_new(at(1), packet(0), 1000).is_none());
    assert_eq!(held.counters().offered, 0);
}

/// A fast link hands on to a slow one, whose queue overflows: packet by packet at the arrivals, and early.
#[test]
fn what_is_handed_on_early_arrives_as_what_an_event_hands_on() {
    for (delay, slow_delay, room) in [(0, 0, 2), (3 * TX, 5 * TX, 2), (TX / 4, 9 * TX, 1), (TX, 0, 9)] {
        let chain = || (link(10, delay, 9), link(7, slow_delay, room));
        let (mut first, mut second) = chain();
        let mut arrived = Vec::new();
        // Arrivals before offers at one time.
        let mut pass = |first: &mut Link<Packet>, until: Time| {
            while let Some(time) = first.next_arrival().filter(|time| *time <= until) {
                let frame = first.arrive(time).frame;
                arrived.extend(leave(&mut second, time));
                second.offer(time, frame);
            }
            (arrived.clone(), *second.counters())
        };
        for (number, (time, size)) in OFFERS.into_iter().enumerate() {
            pass(&mut first, at(time));
            first.offer(at(time), frame(number as u32, size));
        }
        let (mut before, _) = pass(&mut first, Time::MAX);
        before.extend(leave(&mut second, Time::MAX));

        let (mut early, mut next) = chain();
        let mut after = Vec::new();
        let mut hand_on = |early: &mut Link<Packet>, now: Time| {
            while let Some(going) = early.first_going(now) {
                after.extend(leave(&mut next, going.arrival));
                let frame = *early.first().unwrap();
                if next.take_ahead(going, &frame, true).is_none() {
                    // It finds the queue full, and is dropped there.
                    next.offer(going.arrival, frame.handed_on(&going));
                }
                early.pass_first(going);
            }
            after.extend(leave(&mut next, now));
            after.len()
        };
        for (number, (time, size)) in OFFERS.into_iter().enumerate() {
            let (now, frame) = (at(time), frame(number as u32, size));
            hand_on(&mut early, now);
            early.catch_up_to(now);
            if early.new_going(now, size).is_none() {
                early.offer_behind(now, &frame);
                hand_on(&mut early, now);
            } else {
                early.offer(now, frame);
            }
        }
        hand_on(&mut early, Time::MAX);
        after.extend(leave(&mut next, Time::MAX));
        assert_eq!(before, after, "{delay} {slow_delay} {room}");
        assert_eq!(first.counters(), early.counters());
        assert_eq!(second.counters(), next.counters());
        assert!(before.iter().all(|(_, packet, _)| packet.links == 2));
        assert_eq!(second.counters().drops[0] > 0, room < 9);
    }
}

/// 1000 B at 10 Mbit/s take 0.8 ms, and the link's delay is as long. While a packet is on the air none goes
/// at once; the next one does at the very end.
#[test]
fn what_goes_at_once_needs_an_idle_link() {
    let mut link = link(10, TX, 9);
    let going = link.new_going(at(7), 1000).unwrap();
    assert_eq!((going.arrival, link.going_since(&going)), (at(7 + 2 * TX), at(7)));
    link.pass_new(going);
    assert_eq!((link.counters().offered, link.counters().delivered), (1, 1));
    assert_eq!((link.counters().carried_bytes, link.free_at()), (1000, at(7 + TX)));
    assert!(link.new_going(at(6 + TX), 1000).is_none());
    // Half the size takes half the time. It is the first once the packet before has arrived.
    let going = link.new_going(at(7 + TX), 500).unwrap();
    assert_eq!(going.arrival, at(7 + TX + TX / 2 + TX));
    assert_eq!(link.going_since(&going), at(7 + 2 * TX));
    link.offer(at(7 + TX), frame(1, 500));
    assert!(link.new_going(at(90 * TX), 1000).is_none(), "others are before it");
}

/// Three packets come at once. The first is on the air; the second begins as it ends, not before.
#[test]
fn the_next_goes_as_the_transmitter_is_free() {
    let mut link = link(10, TX, 9);
    assert!(link.first_going(Time::MAX).is_none() && link.first_arrival().is_none());
    (0..3).for_each(|number| _ = link.offer(at(0), frame(number, 1000)));
    assert_eq!(link.waiting_at(2).map(|it| it.packet.number), Some(2));
    assert!(link.waiting_at(3).is_none());
    let going = link.first_going(at(0)).unwrap();
    assert_eq!((going.arrival, link.first_arrival()), (at(2 * TX), Some((at(2 * TX), at(0)))));
    assert_eq!(frame(0, 1).handed_on(&going).waited(), Duration::ZERO);
    link.pass_first(going);
    assert_eq!((link.backlog(), link.counters().delivered), ((2000, 2), 1));
    assert!(link.first_going(at(TX - 1)).is_none());
    let going = link.first_going(at(TX)).unwrap();
    assert_eq!((going.arrival, link.first_arrival()), (at(3 * TX), Some((at(3 * TX), at(2 * TX)))));
    assert_eq!(frame(0, 1).handed_on(&going).waited(), Duration::from_nanos(TX));
    link.pass_first(going);
    assert_eq!((link.backlog(), link.counters().delivered), ((1000, 1), 2));
    assert_eq!((link.counters().waited, link.counters().carried_bytes), (TX, 2000));
}

/// A link takes a packet ahead of its arrival: the first schedules its arrival, and a full queue takes none.
#[test]
fn a_link_takes_ahead_what_its_queue_will_hold() {
    let mut before = link(10, 0, 9);
    let mut link = link(10, TX, 1);
    let mut take = |time: u64, has_entered: bool| {
        before.free_at = 0;
        let going = before.new_going(at(time), 1000).unwrap();
        link.take_ahead(going, &frame(0, 1000), has_entered)
    };
    // They arrive a transmission later.
    let schedule = |now: u64, since: u64| OfferOutcome::Schedule { at: at(now), since: at(since) };
    assert_eq!(take(0, true), Some(schedule(3 * TX, TX)));
    assert_eq!(take(TX, false), Some(OfferOutcome::Taken), "as the one before it ends");
    assert_eq!(take(TX, false), Some(OfferOutcome::Taken), "it waits");
    assert_eq!(take(TX, true), None, "the queue is full");
    assert_eq!(link.counters().offered, 3);
    let left: Vec<_> = leave(&mut link, Time::MAX).iter().map(|it| (it.0, it.1.links, it.2)).collect();
    let none = Duration::ZERO;
    assert_eq!(
        left,
        [(at(3 * TX), 1, none), (at(4 * TX), 2, none), (at(5 * TX), 2, Duration::from_nanos(TX))]
    );
}

/// A packet that finds two waiting is marked, whatever it is.
#[test]
fn a_queue_marks_from_its_threshold_on() {
    let queue = DropTail { mark_at: 2, ..DropTail::UNLIMITED };
    let rate = Rate::from_bits_per_second(10_000_000);
    let mut link = Link::plain(&LinkConfig { queue, ..LinkConfig::new(rate, Duration::ZERO) });
    (0..5).for_each(|number| _ = link.offer(at(0), frame(number, 1000)));
    assert_eq!((link.marked(), link.queue_max()), (2, 4));
    let marked: Vec<bool> = leave(&mut link, Time::MAX).iter().map(|it| it.1.is_marked).collect();
    assert_eq!(marked, [false, false, false, true, true]);
    link.restart_maximum(at(9 * TX));
    assert_eq!(link.queue_max(), 0);
}
