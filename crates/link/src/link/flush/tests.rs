//! By hand: 10 Mbit/s and 1000-byte frames, so a transmission takes 800 us; 2 ms of propagation.

use super::*;
use crate::capacity::Capacity;
use crate::frame::LinkPayload;
use crate::gate::Gate;
use crate::link::{LinkConfig, OfferOutcome};
use crate::queue::{DisciplineSpec, Site};
use cogtcp_units::{Duration, RandomStream, Rate};

const TX: u64 = 800_000;
const DELAY: u64 = 2_000_000;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Packet(u32);
impl LinkPayload for Packet {}

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

fn frame(number: u32) -> Frame<Packet> {
    Frame::new(Packet(number), 1000)
}

/// Five frames come at time zero. At 2.5 transmissions 0 and 1 are on their way, 2 is on the air, 3 and 4
/// wait.
fn loaded(discipline: Option<&str>) -> Link<Packet> {
    let config = LinkConfig::new(Rate::from_bits_per_second(10_000_000), Duration::from_nanos(DELAY));
    let site = || Site { rate: config.rate, stream: RandomStream::new(1, "queue", 0) };
    let discipline = discipline.map(|name| DisciplineSpec::of_name(name).unwrap().kind().build(site()));
    let mut link = Link::new(&config, discipline, || RandomStream::new(1, "loss", 0));
    (0..5).for_each(|number| _ = link.offer(at(0), frame(number)));
    if link.is_managed() {
        [TX, 2 * TX].into_iter().for_each(|now| link.transmit(at(now)));
    }
    link
}

/// What is destroyed, with whether it was carried; what arrives when; the link.
type Fates = (Vec<(u32, bool)>, Vec<(u32, u64)>, Link<Packet>);

/// The link is down from 2.5 to 4.5 transmissions.
fn fates(flush: Flush, discipline: Option<&str>) -> Fates {
    let mut link = loaded(discipline);
    let down = TX * 5 / 2;
    link.set_channel(at(down), Gate::Down(flush), None);
    let flushed = std::iter::from_fn(|| link.take_flushed());
    let flushed = flushed.map(|it| (it.frame.packet.0, it.was_carried)).collect();
    assert_eq!(link.offer(at(3 * TX), frame(9)), OfferOutcome::Refused);
    link.set_channel(at(4 * TX), Gate::Down(flush), None);
    assert!(link.take_flushed().is_none(), "once");
    let up = TX * 9 / 2;
    let mut arrivals = Vec::new();
    let mut take = |link: &mut Link<Packet>, until: u64| {
        while let Some(time) = link.next_arrival().filter(|time| time.as_nanos() <= until) {
            let departure = link.arrive(time);
            assert_eq!(departure.lost, None);
            arrivals.push((departure.frame.packet.0, time.as_nanos()));
        }
    };
    take(&mut link, up);
    link.set_channel(at(up), Gate::Open, None);
    link.offer(at(up), frame(5));
    while !link.is_empty() {
        take(&mut link, u64::MAX);
        if let Some(next) = link.next_transmission() {
            link.transmit(next);
        }
    }
    let counters = link.counters();
    assert_eq!(counters.offered, 7);
    assert_eq!(counters.offered, counters.delivered + counters.drops.iter().sum::<u64>());
    (flushed, arrivals, link)
}

#[test]
fn what_waits_and_what_is_under_way_is_destroyed() {
    let up = TX * 9 / 2;
    for discipline in [None, Some("codel"), Some("red"), Some("fq_codel")] {
        let (flushed, arrivals, mut link) = fates(Flush::Both, discipline);
        assert_eq!(flushed, [(0, true), (1, true), (2, false), (3, false), (4, false)], "{discipline:?}");
        assert_eq!(arrivals, [(5, up + TX + DELAY)]);
        // 3 and 4 waited 2.5 transmissions each, 1 and 2 one and two; 5 none.
        assert_eq!(link.counters().waited, TX * (1 + 2 + 5));
        // 0, 1 and 5 were carried. 2 used half a transmission of what was available.
        assert_eq!(link.carried(at(2 * up)), 3000.0);
        assert_eq!(Capacity::bytes(link.capacity(at(up + TX)).available), 3500.0);

        let (flushed, arrivals, mut link) = fates(Flush::Queue, discipline);
        assert_eq!(flushed, [(3, false), (4, false)], "{discipline:?}");
        let sent = [1, 2, 3].map(|number| number * TX + DELAY);
        assert_eq!(arrivals, [(0, sent[0]), (1, sent[1]), (2, sent[2]), (5, up + TX + DELAY)]);
        assert_eq!(link.carried(at(2 * up)), 4000.0);
        assert_eq!(
            Capacity::bytes(link.capacity(at(up + TX)).available),
            4000.0,
            "2 completes into the silence"
        );

        let (flushed, arrivals, mut link) = fates(Flush::Wire, discipline);
        assert_eq!(flushed, [(0, true), (1, true), (2, false)], "{discipline:?}");
        let sent = [1, 2, 3].map(|number| up + number * TX + DELAY);
        assert_eq!(arrivals, [(3, sent[0]), (4, sent[1]), (5, sent[2])]);
        assert_eq!(link.carried(at(3 * up)), 5000.0);
    }
}

/// At the very instant at which a frame arrives the link does not destroy it: on a slower clock it might have
/// been taken already.
#[test]
fn what_has_arrived_is_not_under_way() {
    let mut link = loaded(None);
    link.set_channel(at(TX + DELAY), Gate::Down(Flush::Both), None);
    assert_eq!(link.next_arrival(), Some(at(TX + DELAY)));
    assert_eq!(link.arrive(at(TX + DELAY)).frame.packet, Packet(0));
    assert_eq!((link.next_arrival(), link.len()), (None, 0));
    assert_eq!(std::iter::from_fn(|| link.take_flushed()).count(), 4);
}

/// A silence that is over before the frame on the air would have been: the transmitter is free when it would
/// have been.
#[test]
fn the_transmitter_is_at_the_frame_to_its_end() {
    let mut link = loaded(None);
    link.set_channel(at(TX * 10 / 4), Gate::Down(Flush::Both), None);
    link.set_channel(at(TX * 11 / 4), Gate::Open, None);
    link.offer(at(TX * 11 / 4), frame(5));
    assert_eq!(link.next_arrival(), None);
    assert_eq!(link.queue_length(at(3 * TX)), 0);
    assert_eq!(link.next_arrival(), Some(at(4 * TX + DELAY)));
}

/// An emptied queue is as new: RED's average is an empty queue's, FQ-CoDel's turns begin again.
#[test]
fn disciplines_begin_anew() {
    for name in DisciplineSpec::NAMES {
        let site = || Site {
            rate: Rate::from_bits_per_second(10_000_000),
            stream: RandomStream::new(1, "queue", 0),
        };
        let mut used = DisciplineSpec::of_name(name).unwrap().kind::<Packet>().build(site());
        let mut signals = Default::default();
        let mut enqueued = 0;
        for number in 0..400 {
            let now = at(TX * number);
            (0..3).for_each(|_| used.enqueue(now, frame(number as u32), &mut signals));
            used.dequeue(now, &mut signals);
            enqueued += 3;
        }
        let dropped = std::iter::from_fn(|| signals.take_dropped()).count() as u64;
        let (now, waiting) = (400 * TX, used.packets());
        assert!(waiting > 0, "{name}");
        let gone = used.reset(at(now));
        assert!(gone.is_sorted_by_key(|frame| frame.time) && gone.len() as u64 == waiting, "{name}");
        assert!(enqueued >= dropped + waiting, "{name}");
        assert_eq!(
            (used.packets(), used.oldest(), used.room(1000)),
            (0, None, {
                let new = DisciplineSpec::of_name(name).unwrap().kind::<Packet>().build(site());
                new.room(1000)
            })
        );
        // A short burst that a queue under congestion would drop from.
        for number in 0..4 {
            used.enqueue(at(now + number), frame(number as u32), &mut signals);
        }
        let order: Vec<_> = (0..4).filter_map(|_| used.dequeue(at(now + 5), &mut signals)).collect();
        assert_eq!(order.iter().map(|frame| frame.packet.0).collect::<Vec<_>>(), [0, 1, 2, 3], "{name}");
        assert!(signals.take_dropped().is_none(), "{name}");
    }
}
