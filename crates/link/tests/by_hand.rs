//! Link, transport and spectrum driven by a clock that is made by hand: no simulator, two ends over a link
//! that senses.

use cogtcp_link::queue::{DropTail, QueueLimit, Red};
use cogtcp_link::{
    Departure, DisciplineSpec, Flush, Frame, Gate, Link, LinkConfig, LinkPayload, OfferOutcome, Silence,
};
use cogtcp_spectrum::{CognitiveCycle, CycleConfig, DurationLaw, Radio, SensingClock, SensingCycle};
use cogtcp_transport::{Parameters, Receiver, ReceiverConfig, Segment, Sender, SenderConfig, make};
use cogtcp_units::{Duration, Rate, Time};

#[derive(Clone, Copy, Debug, Default)]
struct Packet(Segment);
impl LinkPayload for Packet {}

/// Offers all that an end has to send.
fn offer(link: &mut Link<Packet>, now: Time, segments: impl Iterator<Item = Segment>) {
    for segment in segments {
        assert_ne!(link.offer(now, Frame::new(Packet(segment), segment.wire_size())), OfferOutcome::Dropped);
    }
}

#[test]
fn two_ends_over_a_sensed_link() {
    let fixed = |ms| DurationLaw::Fixed(Duration::from_millis(ms));
    let sensing = SensingCycle { off: fixed(100), on: fixed(900), start: None, clock: SensingClock::Restart };
    let mut radio =
        CognitiveCycle::new(&CycleConfig { sensing: Some(sensing), ..CycleConfig::default() }, 1, "r");
    let config = LinkConfig::new(Rate::from_bits_per_second(10_000_000), Duration::from_millis(10));
    let [mut data, mut acks]: [Link<Packet>; 2] = [Link::plain(&config), Link::plain(&config)];
    let mut sender = Sender::new(SenderConfig::default(), make("aimd", &Parameters::new()).unwrap());
    let mut receiver = Receiver::new(ReceiverConfig::default());

    let (mut now, end) = (Time::ZERO, Time::from_millis(10_000));
    sender.set_saturated(true);
    sender.open(now);
    while now < end {
        if radio.next_change() <= now {
            let silent = radio.advance(now).is_silent();
            let _ = [&mut data, &mut acks].map(|link| {
                link.set_channel(now, Gate::of(silent, Silence::Hold, Flush::default()), radio.rate())
            });
        }
        while data.next_arrival().is_some_and(|at| at <= now) {
            let Departure { frame, lost } = data.arrive(now);
            assert_eq!(lost, None);
            receiver.handle_segment(now, &frame.packet.0);
        }
        while acks.next_arrival().is_some_and(|at| at <= now) {
            sender.handle_segment(now, &acks.arrive(now).frame.packet.0);
        }
        if sender.poll_timeout() <= now {
            sender.handle_timeout(now);
        }
        if receiver.poll_timeout() <= now {
            receiver.handle_timeout(now);
        }
        offer(&mut data, now, std::iter::from_fn(|| sender.poll_transmit(now)));
        offer(&mut acks, now, std::iter::from_fn(|| receiver.poll_transmit(now)));
        // The hand of the clock goes to whatever is due next.
        let ends = [sender.poll_timeout(), receiver.poll_timeout(), radio.next_change()];
        now = ends
            .into_iter()
            .chain(data.next_arrival())
            .chain(acks.next_arrival())
            .min()
            .unwrap_or(end)
            .max(now);
    }

    // Ten silences of 100 ms, and 1460 of 1500 bytes of the rest: only the slow start is missing. In each
    // silence the frame on the air completes: 1.2 ms.
    let could = 10e6 / 8.0 * 9.012 * 1460.0 / 1500.0;
    let share = receiver.delivered() as f64 / could;
    assert!((0.95..=1.0).contains(&share), "{share}");
    assert_eq!(data.capacity(end).silence, 1_000_000_000);
    assert_eq!(sender.stats().segments_retransmitted, 0);
}

/// Three packets of 1250 bytes at once over 10 Mbit/s take 1 ms each: they wait for none, one and two of
/// them.
#[test]
fn a_frame_says_how_long_it_waited() {
    let config = LinkConfig::new(Rate::from_bits_per_second(10_000_000), Duration::from_millis(10));
    let mut link: Link<Packet> = Link::plain(&config);
    for _ in 0..3 {
        link.offer(Time::ZERO, Frame::new(Packet::default(), 1250));
    }
    let mut waited = Vec::new();
    while let Some(at) = link.next_arrival() {
        waited.push(link.arrive(at).frame.waited());
    }
    assert_eq!(waited, [0, 1, 2].map(Duration::from_millis));
}

/// A full queue is reported once for the drops since the last time, and not where nothing was dropped.
#[test]
fn an_overflow_is_told_once() {
    let queue = DropTail::of(QueueLimit::Packets(1));
    let rate = Rate::from_bits_per_second(10_000_000);
    let mut link: Link<Packet> =
        Link::plain(&LinkConfig { queue, ..LinkConfig::new(rate, Duration::from_millis(10)) });
    assert!(!link.take_overflow());
    let offers = [0; 4].map(|_| link.offer(Time::ZERO, Frame::new(Packet::default(), 1250)));
    assert_eq!(offers.map(|offer| offer == OfferOutcome::Dropped), [false, false, true, true]);
    assert!(link.take_overflow() && !link.take_overflow());
}

/// A wrong parameter is refused in words: which, and what would be right.
#[test]
fn a_wrong_parameter_says_which() {
    let wrong = DisciplineSpec::Red(Red { min_threshold: 0.0, ..Red::default() }).first_wrong();
    let message = wrong.unwrap_err().to_string();
    assert!(message.contains("min_threshold"), "{message}");
}
