use super::*;
use crate::congestion::make;
use crate::{Parameters, Preset, Receiver, ReceiverConfig, Sender, SenderConfig, TransportEvent};
use cogtcp_units::RandomStream;

const MSS: u64 = 1000;
const DELAY: Duration = Duration::from_millis(50);

/// What crosses the path, in the direction of the data or against it.
#[derive(Clone, Copy, Debug)]
struct Wire {
    at: Time,
    data: bool,
    segment: Segment,
}

/// A sender and a receiver over a path of constant delay, with a manager beside one of them. In silence nothing arrives.
struct World {
    now: Time,
    sender: Sender,
    receiver: Receiver,
    manager: ConnectionManager,
    wires: Vec<Wire>,
    silences: Vec<(Time, Time)>,
    /// Data that entered the path: when, where, how much.
    sent: Vec<(Time, u32)>,
    /// Windows of the acknowledgements that entered the path.
    acks: Vec<(Time, u16)>,
    events: Vec<(Time, TransportEvent)>,
}

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

impl World {
    fn new(beside: Beside, timestamps: bool, silences: &[(u64, u64)]) -> Self {
        let config = SenderConfig {
            mss: MSS as u32,
            recovery: crate::Recovery::NewReno,
            restart_after_idle: false,
            timestamps,
            max_window: Some(20 * MSS),
            ..SenderConfig::default()
        };
        let receiver = ReceiverConfig {
            mss: MSS as u32,
            delayed_ack: crate::DelayedAck::Off,
            ..ReceiverConfig::default()
        };
        let preset = Preset::find("newreno").unwrap();
        let control = make(preset.control, &preset.parameters(&Parameters::new())).unwrap();
        let mut sender = Sender::new(config, control);
        sender.set_saturated(true);
        sender.open(Time::ZERO);
        let silences = silences.iter().map(|(from, to)| (ms(*from), ms(*to))).collect();
        let mut world = Self {
            now: Time::ZERO,
            sender,
            receiver: Receiver::new(receiver),
            manager: ConnectionManager::new(beside),
            wires: Vec::new(),
            silences,
            sent: Vec::new(),
            acks: Vec::new(),
            events: Vec::new(),
        };
        world.pump();
        world
    }

    fn send(&mut self, data: bool, segment: Segment) {
        if data {
            self.sent.push((self.now, segment.len));
        } else {
            self.acks.push((self.now, segment.window));
        }
        let silent = self.silences.iter().any(|(from, to)| (*from..*to).contains(&self.now));
        if !silent {
            self.wires.push(Wire { at: self.now + DELAY, data, segment });
        }
    }

    fn pump(&mut self) {
        let (now, beside) = (self.now, self.manager.beside());
        while let Some(mut segment) = self.sender.poll_transmit(now) {
            if beside == Beside::Sender {
                self.manager.handle_outgoing(now, &mut segment);
            }
            self.send(true, segment);
        }
        while let Some(mut segment) = self.receiver.poll_transmit(now) {
            if beside == Beside::Receiver {
                self.manager.handle_outgoing(now, &mut segment);
            }
            self.send(false, segment);
        }
        while let Some(event) = self.sender.poll_event() {
            self.events.push((now, event));
        }
    }

    fn run_until(&mut self, end: Time) {
        loop {
            let wire =
                self.wires.iter().enumerate().min_by_key(|(i, wire)| (wire.at, *i)).map(|(i, w)| (w.at, i));
            let timer = self.sender.poll_timeout().min(self.receiver.poll_timeout());
            let next = wire.map_or(Time::MAX, |(at, _)| at).min(timer);
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            match wire.filter(|(at, _)| *at == next) {
                Some((_, index)) => {
                    let Wire { data, mut segment, .. } = self.wires.remove(index);
                    let managed = data == (self.manager.beside() == Beside::Receiver);
                    if managed {
                        self.manager.handle_incoming(next, &mut segment);
                    }
                    if data {
                        self.receiver.handle_segment(next, &segment);
                    } else {
                        self.sender.handle_segment(next, &segment);
                    }
                }
                None => {
                    if self.sender.poll_timeout() <= next {
                        self.sender.handle_timeout(next);
                    }
                    if self.receiver.poll_timeout() <= next {
                        self.receiver.handle_timeout(next);
                    }
                }
            }
            self.pump();
        }
    }

    fn going_down(&mut self, at: u64, until: u64) {
        self.run_until(ms(at));
        if let Some(ack) = self.manager.freeze(self.now, ms(until)) {
            self.tell(ack, ConnectionManager::FREEZE_ACKS);
        }
    }

    fn going_up(&mut self, at: u64) {
        self.run_until(ms(at));
        if let Some(ack) = self.manager.thaw() {
            self.tell(ack, ConnectionManager::THAW_ACKS);
        }
    }

    fn tell(&mut self, ack: Segment, times: usize) {
        if self.manager.beside() == Beside::Sender {
            self.sender.handle_segment(self.now, &ack);
        } else {
            for _ in 0..times {
                self.send(false, ack);
            }
        }
        self.pump();
    }

    fn count(&self, wanted: impl Fn(&TransportEvent) -> bool) -> usize {
        self.events.iter().filter(|(_, event)| wanted(event)).count()
    }

    fn rtos(&self) -> usize {
        self.count(|event| matches!(event, TransportEvent::Rto { .. }))
    }

    /// Payload of the segments sent in a span.
    fn sent_in(&self, from: u64, to: u64) -> Vec<u32> {
        self.sent.iter().filter(|(at, _)| *at >= ms(from) && *at < ms(to)).map(|(_, len)| *len).collect()
    }
}

/// The dialogue of section III: warned one RTT_TCP ahead, the source stops, waits out 3 s with probes alone, and goes on
/// within a round trip of the all-clear with the cwnd it had.
#[test]
fn trigger_freeze_probe_thaw() {
    for beside in [Beside::Receiver, Beside::Sender] {
        let mut world = World::new(beside, false, &[(10_000, 13_000)]);
        world.going_down(9_900, 13_000);
        let cwnd = world.sender.state().cwnd;
        assert!(cwnd > 20 * MSS, "{cwnd}");
        world.run_until(ms(9_999));
        assert_eq!(world.count(|event| *event == TransportEvent::ZeroWindow), 1);
        if beside == Beside::Receiver {
            // Twice on the warning, then all others.
            let closed = world.acks.iter().filter(|(at, _)| *at >= ms(9_900)).map(|(_, window)| *window);
            assert!(closed.clone().count() > 2 && closed.max() == Some(0));
        }
        world.going_up(13_000);
        assert!(world.sent_in(10_000, 13_000).iter().all(|len| *len <= 1), "{beside:?} sends only probes");
        assert!(world.sender.stats().window_probes > 0);
        world.run_until(ms(13_300));
        assert_eq!((world.rtos(), world.sender.stats().fast_retransmits), (0, 0));
        assert!(world.sender.state().cwnd >= cwnd, "{} {cwnd}", world.sender.state().cwnd);
        let burst = world.sent_in(13_000, 13_060).iter().filter(|len| **len == 1000).count();
        assert!(burst >= 19, "resumes at its window: {burst}");
    }
}

/// Without a warning the same outage costs the window; with one half an RTT ahead the last flight is lost all the same.
#[test]
fn no_warning_and_a_late_one_cost_a_timeout() {
    let mut plain = World::new(Beside::Receiver, false, &[(10_000, 13_000)]);
    plain.run_until(ms(14_500));
    assert!(plain.rtos() > 0);
    let mut late = World::new(Beside::Receiver, false, &[(10_000, 13_000)]);
    late.going_down(9_960, 13_000);
    late.going_up(13_000);
    late.run_until(ms(16_000));
    assert!(late.rtos() > 0 || late.sender.stats().fast_retransmits > 0);
}

/// The all-clear is lost: the first probe that gets through after the announced end thaws the source.
#[test]
fn a_lost_all_clear_recovers_by_probe() {
    for beside in [Beside::Receiver, Beside::Sender] {
        let mut world = World::new(beside, true, &[(10_000, 13_000)]);
        world.going_down(9_900, 13_000);
        let cwnd = world.sender.state().cwnd;
        let before = world.receiver.delivered();
        world.run_until(ms(25_000));
        assert!(world.receiver.delivered() > before + 100 * MSS, "{beside:?}");
        assert_eq!(world.rtos(), 0);
        assert!(world.sender.state().cwnd >= cwnd);
        assert!(!world.manager.is_frozen());
    }
}

/// Before the announced end a segment proves nothing: those sent before the warning are still arriving.
#[test]
fn what_was_under_way_does_not_thaw() {
    let mut world = World::new(Beside::Receiver, false, &[]);
    world.going_down(5_000, 8_000);
    world.run_until(ms(7_900));
    assert!(world.manager.is_frozen());
}

/// Without a silence, timestamps tell the round-trip time; the freeze leaves no trace in it.
#[test]
fn round_trips_are_measured_at_either_end() {
    for (beside, timestamps) in [(Beside::Receiver, true), (Beside::Sender, false)] {
        let mut world = World::new(beside, timestamps, &[]);
        world.going_down(4_000, 9_000);
        world.going_up(8_000);
        world.run_until(ms(12_000));
        let known = world.manager.round_trips().unwrap();
        for rtt in [known.least, known.smoothed, known.greatest] {
            let millis = rtt.as_nanos() / 1_000_000;
            assert!((99..=101).contains(&millis), "{beside:?} {known:?}");
        }
    }
    // The handshake alone, without timestamps.
    let mut world = World::new(Beside::Receiver, false, &[]);
    world.run_until(ms(3_000));
    assert_eq!(world.manager.round_trips().unwrap().greatest, DELAY * 2);
}

/// What a manager replays keeps the real window and answers no segment.
#[test]
fn the_real_window_comes_back() {
    let mut manager = ConnectionManager::new(Beside::Receiver);
    assert_eq!((manager.freeze(ms(0), Time::MAX), manager.thaw()), (None, None));
    let ack = |number, window| {
        let mut segment = Segment::new(SeqNumber::new(1), SeqNumber::new(number), 0, window, Flags::ACK);
        segment.tag = 9;
        segment
    };
    let mut first = ack(1000, 500);
    manager.handle_outgoing(ms(1), &mut first);
    assert_eq!(first.window, 500);
    let zero = manager.freeze(ms(1), ms(100)).unwrap();
    assert_eq!((zero.window, zero.ack, zero.tag), (0, SeqNumber::new(1000), 0));
    assert_eq!(manager.freeze(ms(1), ms(200)), None);
    let mut second = ack(3000, 400);
    manager.handle_outgoing(ms(2), &mut second);
    assert_eq!((second.window, second.ack), (0, SeqNumber::new(3000)));
    let open = manager.thaw().unwrap();
    assert_eq!((open.window, open.ack, open.tag), (400, SeqNumber::new(3000), 0));
    let mut syn = Segment::new(SeqNumber::new(0), SeqNumber::new(1), 0, 700, Flags::SYN | Flags::ACK);
    manager.freeze(ms(0), Time::MAX);
    manager.handle_outgoing(ms(3), &mut syn);
    assert_eq!(syn.window, 700, "a SYN passes as it is");
}

/// A source that asks for reports in its SYN gets its real window and the time left, never a zero, and no all-clear.
#[test]
fn a_source_that_wants_reports_is_told_and_not_held() {
    for beside in [Beside::Receiver, Beside::Sender] {
        let mut manager = ConnectionManager::new(beside);
        let mut syn = Segment::new(SeqNumber::new(0), SeqNumber::new(0), 0, 700, Flags::SYN);
        syn.set_custom(WANTS_REPORTS);
        let mut ack = Segment::new(SeqNumber::new(1), SeqNumber::new(1000), 0, 500, Flags::ACK);
        match beside {
            Beside::Receiver => {
                manager.handle_incoming(ms(0), &mut syn);
                manager.handle_outgoing(ms(5), &mut ack);
            }
            Beside::Sender => {
                manager.handle_outgoing(ms(0), &mut syn);
                manager.handle_incoming(ms(5), &mut ack);
            }
        }
        let report = manager.freeze(ms(10), ms(2_010)).unwrap();
        assert_eq!((report.window, report.custom(), report.ack), (500, Some(2_000), SeqNumber::new(1000)));
        assert!(!manager.is_frozen());
        // An outage that should be over already.
        assert_eq!(manager.freeze(ms(3_000), ms(2_010)).unwrap().custom(), Some(0));
        assert_eq!(manager.thaw(), None);
        let mut later = ack;
        manager.handle_outgoing(ms(20), &mut later);
        assert_eq!((later.window, later.custom()), (500, None));
    }
    // The option of another control asks for nothing.
    let mut manager = ConnectionManager::new(Beside::Receiver);
    let mut syn = Segment::new(SeqNumber::new(0), SeqNumber::new(0), 0, 700, Flags::SYN);
    syn.set_custom(0);
    manager.handle_incoming(ms(0), &mut syn);
    manager
        .handle_outgoing(ms(5), &mut Segment::new(SeqNumber::new(1), SeqNumber::new(9), 0, 500, Flags::ACK));
    assert_eq!(manager.freeze(ms(10), ms(20)).unwrap().window, 0);
}

/// Whatever order warnings and all-clears come in, and whatever silences they meet, data flow again once the last
/// announced outage is over.
#[test]
fn no_order_of_triggers_deadlocks() {
    for case in 0..60 {
        let mut random = RandomStream::new(case, "triggers", 0);
        let mut silences = Vec::new();
        let mut at = 1_000 + random.below(4_000);
        for _ in 0..random.below(4) {
            let end = at + random.below(3_000);
            silences.push((at, end));
            at = end + random.below(3_000);
        }
        let beside = if case % 2 == 0 { Beside::Receiver } else { Beside::Sender };
        let mut world = World::new(beside, case % 3 == 0, &silences);
        let mut triggers: Vec<(u64, u64)> =
            (0..random.below(12)).map(|_| (random.below(14_000), random.below(6_000))).collect();
        triggers.sort_unstable();
        for (at, ahead) in triggers {
            if random.below(2) == 0 {
                world.going_down(at, at + ahead);
            } else {
                world.going_up(at);
            }
        }
        world.run_until(ms(20_000));
        let before = world.receiver.delivered();
        // A backed-off timer or probe may wait for tens of seconds.
        world.run_until(ms(100_000));
        let gained = world.receiver.delivered() - before;
        assert!(gained > 100 * MSS, "case {case}: {gained} bytes, {silences:?}");
        assert!(!world.manager.is_frozen(), "case {case}");
    }
}
