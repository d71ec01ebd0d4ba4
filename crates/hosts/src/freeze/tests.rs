use super::*;
use cogtcp_transport::congestion::make;
use cogtcp_transport::{
    Parameters, Preset, Receiver, ReceiverConfig, Sender, SenderConfig, TransportEvent, with,
};
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

/// A sender and a receiver over a path of constant delay, with a manager beside one of them. In silence
/// nothing arrives.
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
        let config = with!(
            SenderConfig::default(),
            handshake.mss = MSS as u32,
            recovery.algorithm = cogtcp_transport::Recovery::NewReno,
            restart_after_idle = false,
            handshake.timestamps = timestamps,
            max_window = Some(20 * MSS)
        );
        let receiver = with!(
            ReceiverConfig::default(),
            handshake.mss = MSS as u32,
            delayed_ack = cogtcp_transport::DelayedAck::Off
        );
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

/// The dialogue of section III. Warned one RTT_TCP ahead, the source stops and waits 3 s with probes alone.
/// Within a round trip of the all-clear it continues with its earlier cwnd.
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

/// Without a warning the same outage costs the window; with one half an RTT ahead the last flight is lost all
/// the same.
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

/// A source that asks for reports in its SYN gets its real window and the time left, never a zero, and no
/// all-clear.
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

/// Whatever order warnings and all-clears come in, and whatever silences they meet, data flow again once the
/// last announced outage is over.
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

/// Data of full size, zero-window acknowledgements and probes by their times: one freeze of 3 s, by the
/// millisecond. (Goff et al., INFOCOM 2000; section III.B of Singh et al.; probes: RFC 9293 section 3.8.6.1.)
#[test]
fn one_freeze_message_by_message() {
    let mut world = World::new(Beside::Receiver, false, &[(10_000, 13_000)]);
    world.going_down(9_900, 13_000);
    world.going_up(13_000);
    world.run_until(ms(13_300));
    let millis = |time: Time| time.as_nanos() / 1_000_000;
    // 9.900: the freeze, twice. Until 10.000: what was under way arrives and is acknowledged with window 0.
    let acks: Vec<(u64, u16)> =
        world.acks.iter().map(|(at, window)| (millis(*at), *window)).filter(|(at, _)| *at >= 9_900).collect();
    assert_eq!((acks[0], acks[1]), ((9_900, 0), (9_900, 0)));
    assert!(acks.iter().filter(|(at, _)| *at < 13_000).all(|(_, window)| *window == 0), "{acks:?}");
    // 9.950: the source hears of it and sends no more data of its own accord.
    let data: Vec<(u64, u32)> =
        world.sent.iter().map(|(at, len)| (millis(*at), *len)).filter(|(at, _)| *at >= 9_951).collect();
    let probes: Vec<(u64, u32)> = data.iter().copied().filter(|(at, _)| *at < 13_050).collect();
    assert!(!probes.is_empty() && probes.iter().all(|(_, len)| *len == 1), "{probes:?}");
    // Each probe waits twice as long as the one before.
    let gaps: Vec<u64> = probes.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert!(gaps.windows(2).all(|pair| pair[1].abs_diff(2 * pair[0]) <= 2), "{gaps:?}");
    // 13.000: the all-clear, three times, with the real window. 13.050: the source goes on where it was.
    let open: Vec<(u64, u16)> = acks.iter().copied().filter(|(_, window)| *window > 0).collect();
    assert!(open[..3].iter().all(|ack| *ack == (13_000, open[0].1)), "{open:?}");
    assert_eq!(data.iter().find(|(_, len)| *len > 1), Some(&(13_050, MSS as u32)));
}

/// Warned a round trip ahead or more, whatever the outage and whenever the all-clear comes after it: nothing
/// but probes between, cwnd and ssthresh after as before, no timeout.
#[test]
fn a_timely_warning_saves_the_window_whatever_the_outage() {
    for case in 0..80 {
        let mut random = RandomStream::new(case, "outages", 0);
        let start = 5_000 + random.below(10_000);
        let end = start + 1 + random.below(20_000);
        let lead = 101 + random.below(2_000);
        let up = end + random.below(1_000);
        let beside = if case % 2 == 0 { Beside::Receiver } else { Beside::Sender };
        let mut world = World::new(beside, case % 3 == 0, &[(start, end)]);
        world.going_down(start - lead, up);
        world.run_until(ms(start));
        let before = world.sender.state();
        let sent = (before.cwnd, before.ssthresh);
        let losses = (world.sender.stats().timeouts, world.sender.stats().fast_retransmits);
        // All that was under way has arrived; a probe may be.
        assert!(before.in_flight <= 1, "case {case}");
        world.going_up(up);
        let after = (world.sender.state().cwnd, world.sender.state().ssthresh);
        assert_eq!(after, sent, "case {case}");
        assert!(world.sent_in(start, up).iter().all(|len| *len <= 1), "case {case}");
        world.run_until(ms(up + 2_000));
        let gained = world.sender.stats();
        assert_eq!(gained.timeouts, losses.0, "case {case}");
        // A probe that crosses the three acknowledgements is answered by one more duplicate: the third.
        let crossing = world.sent_in(end.max(up - 100), up + 50).contains(&1);
        let needless = gained.fast_retransmits - losses.1;
        assert!(needless <= u64::from(crossing), "case {case}");
        assert!(needless > 0 || world.sender.state().cwnd >= sent.0, "case {case}");
        assert!(
            world.sent_in(up, up + 2_000).iter().filter(|len| **len == 1000).count() > 200,
            "case {case}"
        );
    }
}

/// A warning of an outage that does not come costs the time frozen and nothing else.
#[test]
fn a_false_warning_costs_its_time_alone() {
    let mut frozen = World::new(Beside::Receiver, false, &[]);
    frozen.going_down(10_000, 12_000);
    let cwnd = frozen.sender.state().cwnd;
    frozen.going_up(12_000);
    frozen.run_until(ms(20_000));
    let mut free = World::new(Beside::Receiver, false, &[]);
    free.run_until(ms(20_000));
    assert_eq!((frozen.rtos(), frozen.sender.stats().fast_retransmits), (0, 0));
    assert!(frozen.sender.state().cwnd >= cwnd);
    // 2 s of 20 segments each 100 ms, to a window.
    let lost = (free.receiver.delivered() - frozen.receiver.delivered()) / MSS;
    assert!((360..=420).contains(&lost), "{lost}");
}

/// The warning was lost: the three acknowledgements of the all-clear are duplicates to the source, which then
/// need not wait for its timer. After a timeout they would say nothing new.
#[test]
fn a_lost_warning_leaves_the_all_clear_its_use() {
    let silence = [(10_000, 10_600)];
    let goes_on = |world: &World| world.sent.iter().find(|(at, _)| *at >= ms(10_601)).map(|(at, _)| *at);
    let mut told = World::new(Beside::Receiver, false, &silence);
    told.going_up(10_600);
    told.run_until(ms(12_500));
    let mut alone = World::new(Beside::Receiver, false, &silence);
    alone.run_until(ms(12_500));
    assert_eq!((told.sender.stats().fast_retransmits, alone.sender.stats().fast_retransmits), (1, 0));
    assert!(alone.rtos() >= 1);
    assert_eq!(goes_on(&told), Some(ms(10_650)));
    assert!(goes_on(&alone) > goes_on(&told), "{:?}", goes_on(&alone));
}

/// Said twice, or in the wrong order, the messages leave nobody frozen and cost no timeout. An all-clear to a
/// source that is not held is three duplicates to it: a fast retransmit without need.
#[test]
fn repeated_and_misordered_messages_do_no_harm() {
    for (downs, ups) in [(&[9_900, 9_950][..], &[13_000, 13_001][..]), (&[9_900], &[9_880, 13_000])] {
        let mut world = World::new(Beside::Receiver, false, &[(10_000, 13_000)]);
        let mut said: Vec<(u64, bool)> =
            downs.iter().map(|at| (*at, true)).chain(ups.iter().map(|at| (*at, false))).collect();
        said.sort_unstable();
        for (at, down) in said {
            if down {
                world.going_down(at, 13_000);
            } else {
                world.going_up(at);
            }
        }
        world.run_until(ms(16_000));
        assert_eq!(world.rtos(), 0);
        assert!(!world.manager.is_frozen());
        assert_eq!(world.sender.stats().fast_retransmits, 1);
        assert!(world.sent_in(13_000, 16_000).iter().filter(|len| **len == 1000).count() > 250);
    }
}

/// The first warning closes the window. Further ones say nothing to the source; the latest announced end counts.
#[test]
fn further_warnings_prolong_a_freeze_and_never_shorten_it() {
    let mut manager = ConnectionManager::new(Beside::Receiver);
    let number = cogtcp_transport::SeqNumber::new(1);
    let mut ack = Segment::new(number, number, 0, 1000, Flags::ACK);
    manager.handle_outgoing(ms(0), &mut ack);
    let closed = manager.freeze(ms(200), ms(900)).expect("the window is closed");
    assert_eq!((closed.window, closed.ack), (0, number));
    for (until, counts) in [(500, 900), (1500, 1500), (900, 1500)] {
        assert!(manager.freeze(ms(210), ms(until)).is_none());
        assert_eq!(manager.until, ms(counts));
    }
    // Over: the next outage is a new one.
    assert!(manager.is_frozen() && manager.thaw().is_some() && !manager.is_frozen());
    assert!(manager.freeze(ms(2000), ms(2100)).is_some());
    assert_eq!(manager.until, ms(2100));
}

/// Beside the receiver, with timestamps: the handshake gives the first sample, 100 ms, and each echo another
/// with gain 1/8.
#[test]
fn echoes_of_timestamps_are_smoothed() {
    let mut manager = ConnectionManager::new(Beside::Receiver);
    let mut syn_ack = Segment::new(
        cogtcp_transport::SeqNumber::new(0),
        cogtcp_transport::SeqNumber::new(1),
        0,
        1000,
        Flags::SYN | Flags::ACK,
    );
    manager.handle_outgoing(ms(0), &mut syn_ack);
    let mut ack = Segment::new(
        cogtcp_transport::SeqNumber::new(1),
        cogtcp_transport::SeqNumber::new(1),
        0,
        1000,
        Flags::ACK,
    );
    manager.handle_incoming(ms(100), &mut ack);
    for (sent, back, value) in [(200, 380, 7), (400, 500, 8)] {
        let mut own = Segment::new(
            cogtcp_transport::SeqNumber::new(1),
            cogtcp_transport::SeqNumber::new(1),
            0,
            1000,
            Flags::ACK,
        );
        own.set_timestamps(value, 0);
        manager.handle_outgoing(ms(sent), &mut own);
        let mut data = Segment::new(
            cogtcp_transport::SeqNumber::new(1),
            cogtcp_transport::SeqNumber::new(1),
            100,
            1000,
            Flags::ACK,
        );
        data.set_timestamps(1, value);
        manager.handle_incoming(ms(back), &mut data);
    }
    // An echo that came before, and one of nothing that was sent, are no samples.
    for echo in [8, 99] {
        let (seq, ack) = (cogtcp_transport::SeqNumber::new(101), cogtcp_transport::SeqNumber::new(1));
        let mut data = Segment::new(seq, ack, 100, 1000, Flags::ACK);
        data.set_timestamps(2, echo);
        manager.handle_incoming(ms(900), &mut data);
    }
    let known = manager.round_trips.unwrap();
    // 100 -> 7/8 100 + 1/8 180 = 110 -> 7/8 110 + 1/8 100 = 108.75.
    assert_eq!(known.smoothed, Duration::from_micros(108_750));
    assert_eq!((known.least, known.greatest), (Duration::from_millis(100), Duration::from_millis(180)));
}
