//! The network under a clock made by hand: links, radios with and without a MAC, ad hoc networks.

use cogtcp_crosslayer::LinkEvent;
use cogtcp_link::{DropCause, Frame};
use cogtcp_network::{
    Arrival, Due, Hop, Network, Observer, PacketLocation, PacketStep, Payload, RadioIndex, Recording, Routes,
    StreamCounters, StreamId, Transit,
};
use cogtcp_scenario::{Experiment, Scenario};
use cogtcp_units::{Rate, Time};
use std::path::Path;

/// What the hosts of these tests send: a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct TestPacket {
    number: u32,
    transit: Transit,
}

impl cogtcp_link::LinkPayload for TestPacket {
    fn enter(&mut self) {
        self.transit.enter();
    }
}

impl Payload for TestPacket {
    fn transit(&self) -> Transit {
        self.transit
    }

    fn set_transit(&mut self, transit: Transit) {
        self.transit = transit;
    }
}

/// Records what the network reports.
#[derive(Debug, Default)]
struct Seen {
    drops: Vec<(u64, u32, DropCause, bool)>,
    lost: usize,
    steps: Vec<(u64, PacketStep, PacketLocation)>,
    radio: Vec<(RadioIndex, u64)>,
    tells: bool,
}

impl Observer<TestPacket> for Seen {
    const FOLLOWS_OFFERS: bool = true;

    fn follows_packets(&self) -> bool {
        true
    }

    fn packet(&mut self, at: Time, step: PacketStep, place: PacketLocation, _: &Frame<TestPacket>) {
        self.steps.push((millis(at), step, place));
    }

    fn dropped(
        &mut self,
        at: Time,
        place: PacketLocation,
        frame: &Frame<TestPacket>,
        cause: DropCause,
        refused: bool,
    ) {
        self.drops.push((millis(at), frame.packet.number, cause, refused));
        assert!(place.direction < 4);
    }

    fn lost(&mut self, _: Time, _: u32, _: &Frame<TestPacket>, _: &'static str) {
        self.lost += 1;
    }

    fn radio(&mut self, at: Time, radio: RadioIndex, _: LinkEvent, _: Rate) {
        self.radio.push((radio, millis(at)));
    }

    fn source(&self, packet: &TestPacket) -> Option<u64> {
        self.tells.then_some(u64::from(packet.transit.stream.0))
    }

    /// About a packet: its number and 1000.
    fn notice(&mut self, _: Time, _: Option<u32>, about: &TestPacket) -> Option<(TestPacket, u32)> {
        Some((TestPacket { number: about.number + 1000, ..TestPacket::default() }, 56))
    }
}

fn millis(at: Time) -> u64 {
    at.as_nanos() / 1_000_000
}

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// A clock that a test moves.
struct Driven {
    network: Network<TestPacket>,
    seen: Seen,
    sent: Vec<StreamCounters>,
    arrivals: Vec<(u64, u32, Option<u32>)>,
    entries: Vec<(u64, u32)>,
}

impl Driven {
    /// The network of `experiment`, with a stream for each pair of nodes.
    fn new(experiment: &Experiment, ends: &[(usize, usize)]) -> Self {
        let end = Time::ZERO + experiment.run.duration;
        let mut network = Network::build(experiment, 1, end, Recording::default()).unwrap();
        let mut routes = Routes::new(experiment);
        for (number, (from, to)) in ends.iter().enumerate() {
            let path = routes.find(*from, *to).unwrap();
            let stream = network.add_stream(*from, *to, &path);
            assert_eq!(stream.index(), number);
            assert_eq!(network.ends(stream), (*from as u32, *to as u32));
        }
        let streams: Vec<StreamId> = (0..ends.len() as u32).map(StreamId).collect();
        network.tell_sources(experiment, &mut routes, &streams).unwrap();
        let sent = vec![StreamCounters::default(); ends.len()];
        let mut made =
            Self { network, seen: Seen::default(), sent, arrivals: Vec::new(), entries: Vec::new() };
        made.network.begin(&mut made.seen);
        made.network.begin_air(&mut made.seen);
        made
    }

    fn play(&mut self, until: Time) {
        while let Some((at, due)) = self.network.peek().filter(|(at, _)| *at <= until) {
            match due {
                Due::Network(change) => {
                    let arrival = self.network.step(at, change, &mut self.seen);
                    self.take(arrival);
                }
                Due::Batch(_) => unreachable!("no host was asked for batches"),
                Due::Host(code) => {
                    self.network.agenda().pop(due);
                    self.entries.push((millis(at), code));
                }
            }
            self.take_news(at);
        }
        let sent = (0..).map(StreamId).zip(self.sent.iter().copied());
        self.network.check_conservation(sent, |_| {}).unwrap();
    }

    fn take(&mut self, arrival: Option<Arrival<TestPacket>>) {
        let Some(Arrival { at, direction, frame }) = arrival else { return };
        if let Some(sent) = self.sent.get_mut(frame.packet.transit.stream.index()) {
            sent.arrived += 1;
        }
        self.arrivals.push((millis(at), frame.packet.number, direction));
    }

    fn take_news(&mut self, at: Time) {
        while self.network.has_news() {
            while let Some(arrival) = self.network.take_arrival() {
                self.take(Some(arrival));
            }
            while self.network.boards().take_heard().is_some() {}
            while let Some(told) = self.network.tell_source(at, &mut self.seen) {
                self.take(Some(told));
            }
        }
    }

    fn offer(&mut self, at: Time, stream: u32, number: u32, bytes: u32) {
        self.play(at);
        self.sent[stream as usize].injected += 1;
        let note = TestPacket { number, ..TestPacket::default() };
        self.network.offer(at, StreamId(stream), note, bytes, &mut self.seen);
        self.take_news(at);
    }
}

fn experiment(text: &str) -> Experiment {
    let text = format!("name = \"t\"\n{text}");
    Scenario::parse(&text, "t.toml").and_then(|scenario| scenario.resolve()).unwrap()
}

fn shipped(name: &str, changes: &[(&str, &str)]) -> Experiment {
    let file = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let mut scenario = Scenario::read(Path::new(&file)).unwrap();
    for (path, value) in changes {
        scenario = scenario.set(path, value).unwrap_or_else(|error| panic!("{error}"));
    }
    scenario.resolve().unwrap_or_else(|error| panic!("{error}"))
}

/// Two links in a row, of 8 Mbit/s and 10 ms, then of 4 Mbit/s and 5 ms with room for one packet.
const ROW: &str = "[run]\nduration = \"10 s\"\n[topology.graph]\nnodes = [\"a\", \"b\", \"c\"]\nlinks = [\n\
    { name = \"one\", from = \"a\", to = \"b\", rate = \"8 Mbit/s\", delay = \"10 ms\" },\n\
    { name = \"two\", from = \"c\", to = \"b\", rate = \"4 Mbit/s\", delay = \"5 ms\", queue = \"1 packets\" },\n]\n\
    [[flow]]\nfrom = \"a\"\nto = \"c\"\ntransport = \"reno\"\n";

/// 1000 bytes take 1 ms and 10 ms, then 2 ms and 5 ms. Of four packets at once the fourth finds the second
/// queue full at 14 ms. The driver's own entries are due among the network's, and the network leaves them
/// alone.
#[test]
fn packets_go_from_link_to_link() {
    let mut driven = Driven::new(&experiment(ROW), &[(0, 2), (2, 0)]);
    driven.network.agenda().push_host(ms(18), cogtcp_network::host_code(1, 7));
    (0..4).for_each(|number| driven.offer(Time::ZERO, 0, number, 1000));
    driven.offer(ms(3), 1, 9, 1000);
    driven.play(ms(1000));
    assert_eq!(driven.arrivals, [(18, 0, Some(3)), (20, 1, Some(3)), (21, 9, Some(1)), (22, 2, Some(3))]);
    assert_eq!(driven.seen.drops, [(14, 3, DropCause::Queue, true)]);
    assert_eq!(driven.entries, [(18, cogtcp_network::host_code(1, 7))]);
    assert_eq!(
        (driven.network.hops(), driven.network.dropped(StreamId(0)), driven.network.next_change()),
        (9, 1, Time::MAX)
    );
    // What followed the first packet, with the hops before each link.
    let first =
        [(0, PacketStep::Offered, 0, 0), (0, PacketStep::Queued, 0, 0), (11, PacketStep::Received, 0, 0)];
    for (at, step, direction, hops) in first {
        let place = PacketLocation { direction, ends: (0, 2), hops };
        assert!(driven.seen.steps.contains(&(at, step, place)), "{at} {step:?} {:?}", driven.seen.steps);
    }
    let place = PacketLocation { direction: 3, ends: (0, 2), hops: 1 };
    assert!(driven.seen.steps.contains(&(18, PacketStep::Received, place)));
    assert_eq!(driven.network.route(StreamId(0)).collect::<Vec<_>>(), [0, 3]);
}

/// A radio is silent from 1 s to 1.1 s. What it destroys the node in front tells the source, by a packet of
/// 56 bytes, or without one where the source itself is in front: once a second.
#[test]
fn sources_hear_of_what_silence_destroys() {
    let radio = "[[radio]]\nname = \"r\"\nlinks = [\"two\"]\nsilence = \"drop\"\nunreachable = true\n\
                 sensing = { off = \"100 ms\", on = \"1 s\" }\n";
    let mut driven = Driven::new(&experiment(&format!("{ROW}{radio}")), &[(0, 2), (2, 0)]);
    driven.seen.tells = true;
    for (number, at) in [(1, 1030), (2, 1040)] {
        driven.offer(ms(at), 0, number, 1000);
        driven.offer(ms(at), 1, number + 10, 1000);
    }
    driven.play(ms(1090));
    let lost: Vec<u32> = driven.seen.drops.iter().map(|(_, number, ..)| *number).collect();
    assert_eq!(lost, [11, 12, 1, 2]);
    // 2 ms and 5 ms after it was sent the frame of "c" would have arrived. That of "a" is on its way for 11
    // ms before, and the message for 56 us and 10 ms after.
    assert_eq!(driven.arrivals, [(1037, 1011, None), (1058, 1001, Some(1))]);
    assert!(driven.seen.radio.contains(&((0, 0), 1000)));
    driven.play(ms(10_000));
}

/// Two CR users with their MAC share the link with primary users: what arrives, and what is lost, is all that
/// was sent.
#[test]
fn a_pair_of_cr_users_serves_its_link() {
    let experiment = shipped("cr-single-hop", &[("run.duration", "10 s")]);
    let mut driven = Driven::new(&experiment, &[(0, 1), (1, 0)]);
    for number in 0..400 {
        driven.offer(ms(20 * u64::from(number)), number % 2, number, 800);
    }
    driven.play(ms(10_000));
    assert!(driven.arrivals.len() > 250, "{}", driven.arrivals.len());
    assert_eq!(driven.arrivals.len() + driven.seen.drops.len(), 400);
    assert!(driven.arrivals.iter().all(|(_, number, direction)| *direction == Some(number % 2)));
    assert!(driven.network.mac(0).attempts > 100 && driven.network.pair(0).is_some());
    let table = driven.network.radio_table(&experiment, ms(10_000));
    assert!(table.number("sensings", 0).unwrap() > 5.0);
}

/// A CR user without a MAC: 8 Mbit/s and 10 ms, so 1000 bytes take 1 ms on the air. It senses for 100 ms from
/// each whole second on. A PU is on the first of two channels from 9.5 s to 10.5 s: the sensing at 10 s finds
/// it, and after 1 ms of switching and 100 ms of sensing the radio is open on the other channel at 10.201 s.
#[test]
fn a_channel_without_a_mac_is_shared_with_primary_users() {
    let text = "[run]\nduration = \"18 s\"\n[topology.single_hop]\nlink = { rate = \"1 Mbit/s\", delay = \"10 ms\" }\n\
        [spectrum]\nbands = 2\nchannels = { uniform = \"8 Mbit/s\" }\n\
        pu = { laws = { start = \"off\", count = 1, on = { deterministic = \"1 s\" }, off = { deterministic = \"9.5 s\" } } }\n\
        [[radio]]\nname = \"r\"\nlinks = [\"link\"]\n[radio.cr]\naccess = \"none\"\ndetector = \"perfect\"\n\
        sensing_time = \"100 ms\"\ntransmission_time = \"900 ms\"\nswitching_delay = \"1 ms\"\n\
        [[flow]]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"reno\"\n";
    let experiment = experiment(text);
    let mut driven = Driven::new(&experiment, &[(0, 1), (1, 0)]);
    let micros = |micros: u64| Time::from_nanos(1000 * micros);
    for (number, (at, stream)) in (0..).zip([
        (9_498_000, 0),
        (9_499_500, 0), // half of it meets the PU
        (9_700_000, 0),
        (9_700_000, 1),  // at the same time the other way: the PU suffers once
        (10_050_000, 0), // waits until the other channel is open
    ]) {
        driven.offer(micros(at), stream, number, 1000);
    }
    driven.play(ms(18_000));
    assert_eq!(driven.arrivals, [(9_509, 0, Some(0)), (10_212, 4, Some(0))]);
    let lost = [(9_510, 1), (9_711, 2), (9_711, 3)];
    assert_eq!(driven.seen.drops, lost.map(|(at, number)| (at, number, DropCause::Interference, false)));
    let table = driven.network.radio_table(&experiment, ms(18_000));
    let number = |column| table.number(column, 0).unwrap();
    assert_eq!((number("pu_interfered_s"), number("pu_collisions"), number("handoffs")), (0.0015, 1.0, 1.0));
    assert_eq!((number("pu_exposed_share"), number("pu_airtime_s")), (0.5, 1.0));
    let link = driven.network.link_table(&experiment, ms(18_000), &[0; 2]);
    assert_eq!(
        (link.number("delivered_packets", 0), link.number("drops_interference", 0)),
        (Some(2.0), Some(2.0))
    );
}

/// Nodes of an ad hoc network find routes; a packet crosses it as one hop of its path.
#[test]
fn an_ad_hoc_network_carries_packets() {
    let experiment = shipped("adhoc-mobile", &[("run.duration", "20 s")]);
    let ends = [(0, 5), (7, 2)];
    let mut driven = Driven::new(&experiment, &ends);
    for number in 0..200 {
        driven.offer(ms(1000 + 50 * u64::from(number)), number % 2, number, 500);
    }
    driven.play(ms(20_000));
    assert!(driven.arrivals.len() > 100, "{}", driven.arrivals.len());
    assert!(driven.arrivals.iter().all(|(.., direction)| direction.is_none()));
    assert!(driven.network.hops() > driven.arrivals.len() as u64);
    let dropped: u64 = (0..2).map(|stream| driven.network.dropped(StreamId(stream))).sum();
    assert_eq!(driven.seen.lost as u64, dropped);
    assert_eq!(Routes::new(&experiment).find(0, 5), Some(vec![Hop::Air((0, 5))]));
    assert!(driven.network.air_tables(ms(20_000)).len() >= 5);
}

/// What arrived on a stream, or was lost, is counted; a host that sends without counting is found out.
#[test]
fn packets_that_nobody_counted_are_missed() {
    let mut driven = Driven::new(&experiment(ROW), &[(0, 2)]);
    driven.offer(Time::ZERO, 0, 1, 1000);
    let none = [(StreamId(0), StreamCounters::default())];
    let wrong = driven.network.check_conservation(none.into_iter(), |_| {}).unwrap_err();
    assert!(wrong.contains("stream 0") && wrong.contains("1 under way"), "{wrong}");
    driven.play(ms(1000));
}

/// A gateway: a host on a wire of 8 Mbit/s and 10 ms sends to a node two hops away, and hears from it. A
/// packet arrives with the link by which it came, or over the air; a silence of the wire's radio is told of
/// across the air.
#[test]
fn a_gateway_joins_air_and_wire() {
    let text = "routing = \"static\"\n[run]\nduration = \"20 s\"\n[area]\nwidth = \"1 km\"\nheight = \"0 m\"\n\
                [topology.ad_hoc]\nnodes = 3\nplacement = { chain = \"200 m\" }\n\
                [topology.ad_hoc.wired]\nnodes = [\"router\", \"server\"]\nlinks = [\n\
                { name = \"up\", from = \"n0\", to = \"router\", rate = \"8 Mbit/s\", delay = \"10 ms\" },\n\
                { name = \"on\", from = \"router\", to = \"server\", rate = \"8 Mbit/s\", delay = \"10 ms\" }]\n\
                [[radio]]\nname = \"r\"\nlinks = [\"on\"]\nsilence = \"drop\"\nunreachable = true\n\
                sensing = { off = \"1 s\", on = \"10 s\" }\n\
                [[flow]]\nfrom = \"server\"\nto = \"n2\"\ntransport = \"reno\"\n";
    let experiment = experiment(text);
    let (router, server) = (3, 4);
    let mut routes = Routes::new(&experiment);
    assert_eq!(routes.find(server, 2), Some(vec![Hop::Link(3), Hop::Link(1), Hop::Air((0, 2))]));
    assert_eq!(routes.find(2, router), Some(vec![Hop::Air((2, 0)), Hop::Link(0)]));
    assert_eq!(routes.find(server, 0), Some(vec![Hop::Link(3), Hop::Link(1)]));
    assert_eq!(routes.find(1, 2), Some(vec![Hop::Air((1, 2))]));
    let mut driven = Driven::new(&experiment, &[(server, 2), (2, server), (1, 0)]);
    driven.seen.tells = true;
    assert_eq!([0, 1, 2].map(|stream| driven.network.crosses_air(StreamId(stream))), [true; 3]);
    for number in 0..30 {
        driven.offer(ms(100 * u64::from(number)), number % 3, number, 500);
    }
    driven.play(ms(9_000));
    assert_eq!((driven.arrivals.len(), driven.seen.lost, driven.seen.drops.len()), (30, 0, 0));
    let by = |direction, stream| {
        driven.arrivals.iter().filter(|it| it.1 % 3 == stream && it.2 == direction).count()
    };
    assert_eq!([by(None, 0), by(Some(2), 1), by(None, 2)], [10, 10, 10]);
    // 0.5 ms and 10 ms over each wire at least, the air beside.
    let first = driven.arrivals.iter().find(|(_, number, _)| *number == 0).unwrap();
    assert!((21..60).contains(&first.0), "{first:?}");
    // The silence begins at 10 s: the router tells the node of what it destroys.
    driven.offer(ms(10_100), 1, 100, 500);
    driven.play(ms(20_000));
    assert_eq!(driven.arrivals[30..].iter().map(|it| (it.1, it.2)).collect::<Vec<_>>(), [(1100, None)]);
    assert!(driven.arrivals[30].0 > 10_120, "{:?}", driven.arrivals[30]);
}
